"""The options that choose and group results, their formats, and how a terminal shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tabwb.cli.command import parameter
from tabwb.cli.common import note, print_json
from tabwb.media.views.tables import VIEWS, check_baseline
from tabwb.operations.files import SELECTING, DrawFigure, ExportResults
from tabwb.operations.operation import Operation, values_of
from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean, plural

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData
    from tabwb.analysis.selection import Selection
    from tabwb.analysis.tables.captioned import Captioned
    from tabwb.host.plugins import Plugins
    from tabwb.records.trials import Administration
    from tabwb.store.store import Store
    from tabwb.tables.table import Table

Command = TypeVar("Command", bound=Callable[..., Any])


def options_of(kind: type[Operation], *names: str) -> Callable[[Command], Command]:
    """Return what gives a command the options of some values of an operation."""
    values = {value.name: value for value in values_of(kind)}

    def add(function: Command) -> Command:
        for name in reversed(names):
            made = parameter(values[name])
            function = click.option(cls=lambda *_, made=made, **__: made)(function)  # type: ignore[arg-type]
        return function

    return add


selection_options = options_of(DrawFigure, *SELECTING)
"""Give a command the options that choose and group results."""
where_option = options_of(ExportResults, "where")
"""Chooses whole administrations."""
filter_option = options_of(DrawFigure, "where")
"""Chooses administrations, and responses of them."""
sort_option = options_of(DrawFigure, "sort")


def requested_selection(options: Mapping[str, Any], by: str = "administration") -> Selection:
    """Return the selection that the options of a command ask for."""
    from tabwb.analysis.selection import Selection

    given = {name: options[name] for name in SELECTING}
    given |= {"by": given["by"] or by, "together": given["together"] or ()}
    return Selection.of(**given, sort=options.get("sort"))


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
    """Warn whose data must stay within the study, where they are printed for more than reading.

    What is printed is shown to those who collected it: nobody's consent to share is required, as it
    is for a file.
    """
    if printed == "table":
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

        for place, (table, _) in enumerate(tables):
            click.echo("\n" * (place > 0), nl=False)  # an empty line between tables
            print_csv(checked_columns(table, names))
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


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be printed, and how.

    Attributes:
        printed: one of :data:`tabwb.cli.result_printing.FORMATS`.
        single: one administration is named, and not grouped.
        measures: the only ones of a table; empty: all.
        cautions: returns the text of the cautions.
    """

    printed: str
    columns: str | None
    details: bool
    arpabet: bool
    csv_file: Path | None
    table_name: str | None
    baseline: str | None
    single: bool
    measures: tuple[str, ...] = ()
    cautions: Callable[[Iterable[str]], str] = "\n".join


_Chosen = Sequence["AdministrationData"]
_Print = Callable[[_Chosen, "Selection", Asked], None]


def check_form(asked: Asked, choice: Selection, *, listing: bool) -> None:
    """Check that options suit a list, one administration or groups."""
    if asked.measures and asked.table_name is None:
        raise UsageError("--measure needs a table", hint="--table doses --measure burden")
    if asked.csv_file is not None and listing:
        raise UsageError(
            "--csv writes groups of administrations",
            hint="tabwb results --by model --csv FILE",
        )
    if asked.csv_file is not None and (asked.details or asked.printed == "json"):
        other = "json" if asked.printed == "json" else "details"
        raise UsageError(f"--csv and --{other} exclude each other")
    if listing and (choice.sort or choice.judge or choice.features or asked.details):
        raise UsageError(
            "--sort, --judge and --details need groups of administrations",
            hint="tabwb results --by model, or name administrations",
        )
    if asked.single and choice.sort:
        raise UsageError(
            "a single administration cannot be sorted",
            hint="name several administrations, or use --by",
        )


def printer(asked: Asked) -> _Print:
    """Return what prints the chosen administrations: the first of these that applies."""
    printers: tuple[tuple[bool, _Print], ...] = (
        (asked.csv_file is not None, _write_groups),
        (asked.table_name is not None, _print_table),
        (asked.printed in DOCUMENT_FORMATS, _print_groups),
        (asked.single and asked.printed == "table", _show_one),
    )
    return next((prints for applies, prints in printers if applies), _show_groups)


def _print_table(chosen: _Chosen, choice: Selection, asked: Asked) -> None:
    from tabwb.analysis.selection import groups_of
    from tabwb.media.views.tables import VIEWS, named_table

    name = asked.table_name or ""
    made = _of_measures(
        named_table(name, groups_of(chosen, choice), asked.baseline), asked.measures
    )
    print_tables([(made, VIEWS[name].caption)], asked.printed, asked.columns)


def _of_measures(made: Table, measures: Sequence[str]) -> Table:
    """Return the rows of these measures; all rows if none is named."""
    if not measures:
        return made
    if "measure" not in made.names:
        raise UsageError(f"the table of {made.name} has no measures", where="--measure")
    known = dict.fromkeys(made["measure"].to_list())
    for name in measures:
        if name not in known:
            raise UsageError(
                f"no row is of '{name}'{did_you_mean(name, known)}",
                where="--measure",
                allowed=", ".join(known),
            )
    return made.where(measure=list(measures))


def _print_groups(chosen: _Chosen, choice: Selection, asked: Asked) -> None:
    from tabwb.analysis.selection import groups_of
    from tabwb.analysis.tables.results import results_table
    from tabwb.media.paper import captioned_groups, checked_columns

    rows = groups_of(chosen, choice) if chosen else ()
    names = column_names(asked.columns)
    if asked.printed == "csv":
        print_csv(checked_columns(results_table(rows), names))
    else:
        print_captioned(captioned_groups(rows, names), asked.printed)


def listed(store: Store, choice: Selection) -> Sequence[Administration]:
    """Return the administrations of a list."""
    from tabwb.analysis.selection import outlined

    if not choice.where:
        return store.administrations()
    return [data.administration for data in outlined(store, (), choice)]


def _write_groups(chosen: _Chosen, choice: Selection, asked: Asked) -> None:
    from tabwb.analysis.selection import groups_of
    from tabwb.media.destination import check_destination
    from tabwb.media.wide import left_out, of_models, write_groups

    assert asked.csv_file is not None
    check_destination(asked.csv_file)  # before anything is computed
    models, people, unknown = of_models(chosen)
    place = write_groups(groups_of(models, choice), asked.csv_file)
    for sentence in left_out(people, unknown, " (use 'tabwb export')"):
        note(sentence)
    note(f"{place} written")


def show_list(administrations: Sequence[Administration], choice: Selection, asked: Asked) -> None:
    """Print the list of administrations."""
    if asked.printed in DOCUMENT_FORMATS:
        print_list(administrations, asked.printed, asked.columns)
        return
    from tabwb.media.terminal import print_view
    from tabwb.media.views import administration as tables

    shown = administrations if choice.limit is None else administrations[-choice.limit :]
    if asked.printed == "json":
        from tabwb.media.documents.document import list_document

        print_json(list_document(shown))
    else:
        print_view(tables.list_view(shown))
    if left := len(administrations) - len(shown):
        note(f"{plural(left, 'older administration')} not shown (--limit)")


def _show_one(chosen: _Chosen, choice: Selection, asked: Asked) -> None:
    from tabwb.analysis.selection import limited
    from tabwb.analysis.statistics.summary import pool
    from tabwb.media.terminal import print_view
    from tabwb.media.views import administration as tables

    (only,) = chosen
    results = limited(pool([only], interval=True), choice)
    print_view(
        tables.administration_view(
            only.administration,
            only.battery,
            results,
            details=asked.details,
            arpabet=asked.arpabet,
            written=asked.cautions,
        )
    )


def _show_groups(chosen: _Chosen, choice: Selection, asked: Asked) -> None:
    from tabwb.analysis.contrast import pairs_of
    from tabwb.analysis.grouping import as_shown
    from tabwb.analysis.selection import groups_of
    from tabwb.media.terminal import print_view
    from tabwb.media.views.groups import groups_view

    every = groups_of(chosen, replace(choice, limit=None))
    made = as_shown(every[: choice.limit])
    # A base and an instruct model are compared under like conditions, whatever is pooled above.
    by_model = replace(choice, by=("model",), together=(), limit=None, features=())
    models = (
        every
        if choice.by == ("model",) and not choice.together
        else groups_of(chosen, by_model, interval=False)
    )
    pairs = pairs_of(models)
    if asked.printed == "json":
        from tabwb.media.documents.document import groups_document

        print_json(groups_document(made, pairs))
    else:
        print_view(groups_view(made, pairs, details=asked.details, written=asked.cautions))
    if left := len(every) - len(made):
        note(f"{plural(left, 'further group')} not shown (--limit)")
