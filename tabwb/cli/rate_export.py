"""``tabwb rate export``: the ratings of a set in files."""

from __future__ import annotations

from pathlib import Path

import click

from tabwb.cli.common import (
    inform,
    note,
    opened_store,
    store_option,
    verbosity_options,
    within_study_option,
)


@click.command()
@click.argument("reference", metavar="SET")
@click.option("--out", type=click.Path(path_type=Path), required=True,
              help="The file, or a new folder.")  # fmt: skip
@click.option(
    "--format",
    "format_id",
    type=click.Choice(["csv", "jsonl", "parquet", "folder"]),
    help="The format. [default: by the ending of the name; without one a folder]",
)
@click.option("--judges", is_flag=True,
              help="Include the verdicts of judges; a folder has a file for them.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@within_study_option
@verbosity_options
@store_option
def export(
    reference: str,
    out: Path,
    format_id: str | None,
    judges: bool,
    force: bool,
    within_study: bool,
    store_location: str | None,
) -> None:
    """Write the ratings of SET to a file, or the whole study to a folder.

    One row for each answer, with a description of the columns beside it. 'tabwb agreement' reads
    the file; with --judges it gives the figures of the set.
    """
    from tabwb.media.destination import check_destination
    from tabwb.media.documents.rating_export import FOLDER, export_set, format_of

    chosen = format_of(out, format_id)
    if chosen != FOLDER:
        out = check_destination(out, force=force, remedy="choose another name, or use --force")
    with opened_store(store_location) as (plugins, store):
        permit = export_set(
            store, plugins, reference, chosen, out, judges=judges, within_study=within_study
        )
        if permit.notice:
            note(f"warning: {permit.notice}")
    inform(f"{out} written")
