"""``tabwb report``: methods, tables, figures and cautions of results in one file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    document_options,
    inform,
    note,
    open_store,
    opened_plugins,
    print_json,
    statistics_of,
)
from tabwb.cli.selecting import (
    option_words,
    requested_selection,
    resolved_selection,
    selection_options,
)
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import is_stdout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@click.command()
@click.argument("administrations", nargs=-1)
@selection_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The report: FILE.html, one file with everything in it, or FILE.md. "
    "'-' for HTML on standard output.",
)
@click.option(
    "--methods", is_flag=True, help="Print the methods and the references as text instead."
)
@click.option(
    "--bib",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the references as BibTeX to FILE.",
)
@click.option("--title", metavar="TEXT", default="", help="The title of the report.")
@click.option(
    "--responses",
    "n_responses",
    type=click.IntRange(0, 100),
    default=0,
    metavar="N",
    help="Show the first N responses of each group with what raters gave to them.",
)
@document_options
def report(
    administrations: tuple[str, ...],
    out: Path | None,
    methods: bool,
    bib: Path | None,
    title: str,
    n_responses: int,
    study_ids: bool,
    force: bool,
    within_study: bool,
    primary: str,
    store_location: str | None,
    as_json: bool,
    **chosen_by: Any,
) -> None:
    """Write a report on ADMINISTRATIONS (numbers or uids); without any, on all of the store.

    Grouped as --by says; without it each administration that is named is a group, and without
    names each model.

    A report has the methods in sentences with references, the table for a paper, figures, tables
    of every measure with intervals, cautions, the meaning of each column, and the commands that
    give the batteries again.
    """
    _check_options(out, bib, methods=methods, as_json=as_json, n_responses=n_responses)
    from tabwb.analysis.selection import selected_groups
    from tabwb.media.destination import check_destination
    from tabwb.media.methods import methods_about, with_rating_sets
    from tabwb.media.report import write_report
    from tabwb.media.studied import studied
    from tabwb.plugin_api.writing import write_bytes

    remedy = "choose another name, or use --force"
    places = {
        file: check_destination(file, force=force, remedy=remedy)
        for file in (out, bib)
        if file is not None and not is_stdout(file)
    }
    with opened_plugins() as plugins:
        choice = requested_selection(chosen_by, "administration" if administrations else "model")
        choice = resolved_selection(choice, plugins, primary)
        with open_store(store_location, plugins, create=False) as store:
            statistics = statistics_of(plugins)
            rows = selected_groups(store, administrations, choice, statistics=statistics)
            if not rows:
                raise TabwbError(
                    "there are no administrations to report",
                    where=store.location,
                    hint="start one with: tabwb run tab --model bundled",
                )
            about = studied(rows, study_ids=study_ids)
            if out is not None:
                permit = write_report(
                    store, plugins, about, places.get(out, out),
                    title=title, n_responses=n_responses, within_study=within_study,
                    command=about.unless_named(_command(
                        administrations,
                        {**chosen_by, "title": title, "responses": n_responses,
                         "study_ids": study_ids, "counts": primary},
                        out,
                    )),
                )  # fmt: skip
                if permit.notice:
                    note(f"warning: {permit.notice}")
                if not is_stdout(out):
                    inform(f"{places[out]} written")
            told = methods_about(with_rating_sets(about, store))
    if methods and as_json:
        print_json({"format": 1, **told.to_json()})
    elif methods:
        click.echo(told.text, nl=False)
    if bib is not None:
        write_bytes(places[bib], told.bibtex.encode())
        inform(f"{places[bib]} written")


def _check_options(
    out: Path | None, bib: Path | None, *, methods: bool, as_json: bool, n_responses: int
) -> None:
    if out is None and bib is None and not methods:
        raise UsageError(
            "a report needs a file", hint="tabwb report --by model --out report.html, or --methods"
        )
    if out is None and n_responses:
        raise UsageError("--responses needs a report", hint="add --out report.html")
    if as_json and not methods:
        raise UsageError("--json prints the methods", hint="tabwb report --methods --json")
    if out is not None and not is_stdout(out):
        from tabwb.media.report import check_ending

        check_ending(out)
    if bib is not None and is_stdout(bib):
        raise UsageError("--bib needs a file", hint="tabwb report --methods --json has BibTeX too")
    if methods and out is not None and is_stdout(out):
        raise UsageError("--methods and --out - both write to standard output")


def _command(administrations: Sequence[str], options: Mapping[str, Any], out: Path) -> str:
    """Return the command that makes the report; files are named without their folders."""
    from tabwb.analysis.file_names import without_folders

    words = map(without_folders, option_words(options))
    place = "-" if is_stdout(out) else out.name
    return shlex.join(["tabwb", "report", *administrations, *words, "--out", place])
