"""Results as Markdown, LaTeX, CSV and JSON on standard output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from tabwb.records.trials import Administration
    from tabwb.report.summaries.groups import Grouped
    from tabwb.report.tables.captioned import Captioned
    from tabwb.tables.table import Table

DOCUMENT_FORMATS = ("markdown", "latex", "csv")
FORMATS = ("table", *DOCUMENT_FORMATS, "json")
format_option = click.option(
    "--format",
    "format_id",
    type=click.Choice(FORMATS),
    help="How to print: a table of the terminal (the default), a table for a document (markdown, "
    "latex), every value in a row of its own (csv), or one JSON document (as --json).",
)
columns_option = click.option(
    "--columns",
    metavar="NAME[,NAME...]",
    help="Columns of --format markdown, latex and csv, in this order.",
)


def chosen_format(
    format_id: str | None,
    columns: str | None,
    *,
    as_json: bool,
    excluded: Mapping[str, object],
) -> str:
    """Return the format that options name.

    Args:
        format_id: of ``--format``.
        columns: of ``--columns``.
        as_json: whether ``--json`` was given.
        excluded: options that go with the table only, by name; those that were given are true.

    Raises:
        UsageError: options contradict each other.
    """
    if as_json and format_id not in (None, "json"):
        raise UsageError(f"--json and --format {format_id} exclude each other")
    chosen = format_id or ("json" if as_json else "table")
    if columns is not None and chosen not in DOCUMENT_FORMATS:
        raise UsageError(
            f"--columns does not apply to the format {chosen}",
            allowed="with --format markdown, latex or csv",
        )
    for name, given in excluded.items():
        if given and chosen in DOCUMENT_FORMATS:
            raise UsageError(f"--{name} and --format {chosen} exclude each other")
    return chosen


def print_groups(rows: Sequence[Grouped], format_id: str, columns: str | None) -> None:
    """Print groups as Markdown, LaTeX or CSV.

    Args:
        rows: with their summaries.
        format_id: ``markdown``, ``latex`` or ``csv``.
        columns: names with commas between them; None: all.
    """
    from tabwb.report.documents.captions import captioned_groups, checked_columns
    from tabwb.report.tables.results import results_table

    names = None if columns is None else [name.strip() for name in columns.split(",")]
    if format_id == "csv":
        table = results_table(rows)
        table = table if names is None else checked_columns(table, names)
        print_csv(table)
        return
    print_document(captioned_groups(rows, names), format_id)


def print_list(
    administrations: Sequence[Administration], format_id: str, columns: str | None
) -> None:
    """Print the list of administrations as Markdown, LaTeX or CSV.

    Args:
        administrations: of the store.
        format_id: ``markdown``, ``latex`` or ``csv``.
        columns: names with commas between them; None: all.
    """
    from tabwb.report.documents.captions import checked_columns
    from tabwb.report.tables.administrations import administrations_table
    from tabwb.report.tables.captioned import Captioned

    table = administrations_table(administrations)
    if columns is not None:
        table = checked_columns(table, [name.strip() for name in columns.split(",")])
    if format_id == "csv":
        print_csv(table)
    else:
        print_document([Captioned(table, "Administrations")], format_id)


def print_csv(table: Table) -> None:
    """Print a table as CSV."""
    from tabwb.report.documents.formats import table_csv

    # Standard output shows a carriage return as an escape: its lines end as those of other texts.
    click.echo(table_csv(table).replace("\r\n", "\n"), nl=False)


def print_document(tables: Sequence[Captioned], format_id: str) -> None:
    """Print tables for a document.

    Args:
        tables: with their captions.
        format_id: ``markdown`` or ``latex``.
    """
    from tabwb.report.documents.formats import markdown
    from tabwb.report.documents.latex import latex

    write = markdown if format_id == "markdown" else latex
    click.echo("\n".join(map(write, tables)), nl=False)
