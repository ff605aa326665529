"""``tabwb export``: results to a file, in the formats that plugins bring."""

from __future__ import annotations

from pathlib import Path

import click

from tabwb.cli.common import (
    inform,
    note,
    open_store,
    opened_plugins,
    primary_option,
    store_option,
    verbosity_options,
)
from tabwb.records.standard_streams import is_stdout


@click.command()
@click.argument("administrations", nargs=-1, required=True)
@click.option("--format", "format_id", metavar="F", default="jsonl", show_default=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The file, never overwritten; '-' for standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--within-study",
    is_flag=True,
    help="The file stays within the study that collected the data; otherwise speakers must have "
    "agreed to 'share'.",
)
@primary_option
@verbosity_options
@store_option
def export(
    administrations: tuple[str, ...],
    format_id: str,
    out: Path,
    force: bool,
    within_study: bool,
    primary: str,
    store_location: str | None,
) -> int:
    """Write ADMINISTRATIONS (numbers or uids) to a file.

    jsonl has one line per counted response and can be read by the model replay:FILE.
    """
    from tabwb.report.documents import exporting
    from tabwb.report.documents.exporting import check_destination

    with opened_plugins() as plugins:
        plugins.resolve("exporters", format_id)
        if not is_stdout(out):
            out = check_destination(out, force=force, remedy="choose another name, or use --force")
        with open_store(store_location, plugins, create=False) as store:
            permit = exporting.export(
                store,
                plugins,
                administrations,
                format_id,
                out,
                within_study=within_study,
                primary=primary,
            )
            if permit.notice:
                note(f"warning: {permit.notice}")
        if not is_stdout(out):
            inform(f"{out} written")
        return 0
