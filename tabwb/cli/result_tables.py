"""``tabwb results --table``: groups as one of several tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tabwb.records.errors import UsageError
from tabwb.report.tables.named import DEFAULT_BY, SECTIONS, TABLES

if TYPE_CHECKING:
    from tabwb.report.summaries.groups import Grouped
    from tabwb.tables.table import Table

table_option = click.option(
    "--table",
    "table_name",
    type=click.Choice(list(TABLES)),
    help="Show groups as this table: "
    + "; ".join(f"{name}: {words}" for name, words in TABLES.items())
    + ".",
)
baseline_option = click.option(
    "--baseline",
    metavar="NAME",
    help="Of --table differences: the group that is subtracted; a part of its name is enough.",
)


def default_by(table_name: str) -> tuple[str, ...]:
    """Return the keys by which a table groups if nothing else is asked for."""
    return (DEFAULT_BY.get(table_name, "model"),)


def check_options(
    table_name: str | None, baseline: str | None, excluded: dict[str, object]
) -> None:
    """Check that options of tables go together.

    Args:
        table_name: of ``--table``.
        baseline: of ``--baseline``.
        excluded: options that ``--table`` excludes, by name; those that were given are true.

    Raises:
        UsageError: they do not.
    """
    if baseline is not None and table_name != "differences":
        raise UsageError(
            "--baseline belongs to the table of differences",
            hint="--table differences --baseline NAME",
        )
    if table_name == "differences" and baseline is None:
        raise UsageError(
            "--table differences needs --baseline NAME: the group that is subtracted",
            hint="tabwb results --by model --table differences --baseline NAME",
        )
    for name, given in excluded.items():
        if table_name is not None and given:
            raise UsageError(f"--table and --{name} exclude each other")


def print_named_table(
    rows: Sequence[Grouped],
    table_name: str,
    baseline: str | None,
    printed: str,
    columns: str | None,
) -> None:
    """Print groups as a table.

    Args:
        rows: with their summaries.
        table_name: one of the tables.
        baseline: of the table of differences.
        printed: a format of :mod:`tabwb.cli.result_formats`.
        columns: names with commas between them; None: those that people are shown, or all.
    """
    from tabwb.report.tables.named import named_table

    caption = TABLES[table_name]
    print_tables(
        [(named_table(table_name, rows, baseline), caption[:1].upper() + caption[1:])],
        printed,
        columns,
    )


def print_tables(tables: Sequence[tuple[Table, str]], printed: str, columns: str | None) -> None:
    """Print typed tables.

    Args:
        tables: each with the words above it.
        printed: a format of :mod:`tabwb.cli.result_formats`; with CSV only the first is printed.
        columns: names with commas between them; None: those that people are shown, or all.
    """
    from tabwb.cli.result_formats import print_csv, print_document

    names = None if columns is None else [name.strip() for name in columns.split(",")]
    if printed == "json":
        from tabwb.cli.common import print_json
        from tabwb.report.documents.formats import table_json

        print_json({"format": 1, "tables": [table_json(table) for table, _ in tables]})
    elif printed == "csv":
        from tabwb.report.documents.captions import checked_columns

        table = tables[0][0]
        print_csv(table if names is None else checked_columns(table, names))
    elif printed in ("markdown", "latex"):
        from tabwb.records.words import RESEARCH_ONLY
        from tabwb.report.tables.captioned import Captioned, Footnote
        from tabwb.report.tables.named import shown_columns

        made = []
        for table, caption in tables:
            notes = tuple(Footnote(note) for note in (*table.notes, RESEARCH_ONLY))
            shown = table.select(shown_columns(table)) if names is None else table
            captioned = Captioned(shown, caption, notes)
            made.append(captioned if names is None else captioned.select(names))
        print_document(made, printed)
    else:
        from rich.console import Group
        from rich.text import Text

        from tabwb.report.render.printing import print_view
        from tabwb.report.render.typed import explained_view
        from tabwb.report.tables.named import shown_columns

        views = [
            Group(
                Text(caption, style="bold"),
                explained_view(table, shown_columns(table), SECTIONS.get(table.name, ())),
                Text(),
            )
            for table, caption in tables
        ]
        print_view(Group(*views))
