"""Results on standard output: as one of several tables, as Markdown, LaTeX, CSV or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from tabwb.cli.common import note
from tabwb.media.views.tables import VIEWS, check_baseline
from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from tabwb.analysis.tables.captioned import Captioned
    from tabwb.host.plugins import Plugins
    from tabwb.records.trials import Administration
    from tabwb.store.store import Store
    from tabwb.tables.table import Table

DOCUMENT_FORMATS = ("markdown", "latex", "csv")
FORMATS = ("table", *DOCUMENT_FORMATS, "json")
format_option = click.option(
    "--format",
    "format_id",
    type=click.Choice(FORMATS),
    help="Output format: a table for the terminal (the default), a table for a document (markdown, "
    "latex), every value in its own row (csv), or one JSON document (as --json).",
)
columns_option = click.option(
    "--columns",
    metavar="NAME[,NAME...]",
    help="Columns of --format markdown, latex and csv, in this order.",
)

table_option = click.option(
    "--table",
    "table_name",
    type=click.Choice(list(VIEWS)),
    help="Show groups as this table: "
    + "; ".join(f"{name}: {view.has}" for name, view in VIEWS.items())
    + ".",
)
measure_option = click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="With --table: show only rows of this measure, such as burden; repeatable.",
)
baseline_option = click.option(
    "--baseline",
    metavar="NAME",
    help="With --table differences: the group that is subtracted; a part of its name is enough. "
    "With --table profiles: the reference, which may be a CSV file with the columns feature and "
    "rate.",
)


def chosen_format(
    format_id: str | None,
    columns: str | None,
    *,
    as_json: bool,
    excluded: Mapping[str, object],
) -> str:
    """Return the format that options name."""
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


def warn_unshared(
    store: Store, plugins: Plugins, administrations: Iterable[Administration], printed: str
) -> None:
    """Warn whose figures must stay within the study, before a document has them."""
    if printed not in DOCUMENT_FORMATS:
        return
    from tabwb.administer.consent import unshared_speakers

    if unshared := unshared_speakers(store, plugins, list(administrations)):
        note(
            "warning: this stays within the study: not consented to sharing outside it (scope "
            f"'share'): {', '.join(unshared)}"
        )


def check_options(
    table_name: str | None, baseline: str | None, excluded: dict[str, object]
) -> None:
    """Check that options of tables go together."""
    check_baseline(table_name or "results", baseline)
    for name, given in excluded.items():
        if table_name is not None and given:
            raise UsageError(f"--table and --{name} exclude each other")


def column_names(columns: str | None) -> list[str] | None:
    """Return the names in ``--columns``; None where it was not given."""
    return None if columns is None else [name.strip() for name in columns.split(",")]


def print_list(
    administrations: Sequence[Administration], format_id: str, columns: str | None
) -> None:
    """Print the list of administrations as Markdown, LaTeX or CSV."""
    from tabwb.analysis.tables.administrations import listing_table
    from tabwb.analysis.tables.captioned import Captioned
    from tabwb.media.paper import checked_columns

    table = checked_columns(listing_table(administrations), column_names(columns))
    if format_id == "csv":
        print_csv(table)
    else:
        print_captioned([Captioned(table, "Administrations")], format_id)


def print_csv(table: Table) -> None:
    """Print a table as CSV."""
    from tabwb.media.paper import table_csv

    # Standard output shows a carriage return as an escape: its lines end as those of other texts.
    click.echo(table_csv(table).replace("\r\n", "\n"), nl=False)


def print_captioned(tables: Sequence[Captioned], format_id: str) -> None:
    """Print tables for a document."""
    from tabwb.media.paper import latex, markdown

    write = markdown if format_id == "markdown" else latex
    click.echo("\n".join(map(write, tables)), nl=False)


def _with_values(table: Table, names: Sequence[str]) -> Table:
    """Return a table with some columns, without those in which every value is missing."""
    given = [name for name in names if any(value is not None for value in table[name].to_list())]
    return table.select(given if len(table) else names)


def _reasons(table: Table) -> Iterator[str]:
    """Yield why values are missing, from the columns that say so."""
    for column in table.columns:
        if column.name.endswith("reason"):
            found = dict.fromkeys(str(value) for value in table[column.name].to_list() if value)
            if found:
                yield f"{column.meaning[:1].upper()}{column.meaning[1:]}: {'; '.join(found)}."


def print_tables(tables: Sequence[tuple[Table, str]], printed: str, columns: str | None) -> None:
    """Print typed tables."""
    names = column_names(columns)
    if printed == "json":
        from tabwb.cli.common import print_json
        from tabwb.media.paper import table_json

        print_json({"format": 1, "tables": [table_json(table) for table, _ in tables]})
    elif printed == "csv":
        from tabwb.media.paper import checked_columns

        print_csv(checked_columns(tables[0][0], names))
    elif printed in ("markdown", "latex"):
        from tabwb.analysis.tables.captioned import Captioned, Footnote, noted
        from tabwb.media.views.tables import shown_columns
        from tabwb.records.words import RESEARCH_ONLY

        made = []
        for given, caption in tables:
            table = noted(given) if names is None else given
            notes = tuple(
                Footnote(note) for note in (*table.notes, *_reasons(table), RESEARCH_ONLY)
            )
            shown = table if names is not None else _with_values(table, shown_columns(table))
            captioned = Captioned(shown, caption, notes)
            made.append(captioned if names is None else captioned.select(names))
        print_captioned(made, printed)
    else:
        from rich.console import Group
        from rich.text import Text

        from tabwb.media.terminal import print_view
        from tabwb.media.views.typed import explained_view

        views = [
            Group(Text(caption, style="bold"), explained_view(table), Text())
            for table, caption in tables
        ]
        print_view(Group(*views))
