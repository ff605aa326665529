"""Results on standard output: a list, one administration, groups, tables; or groups in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.cli.common import note, print_json
from tabwb.cli.result_formats import (
    DOCUMENT_FORMATS,
    column_names,
    print_captioned,
    print_csv,
    print_list,
    print_tables,
)
from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean, plural

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData
    from tabwb.analysis.selection import Selection
    from tabwb.records.trials import Administration
    from tabwb.store.store import Store
    from tabwb.tables.table import Table


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be printed, and how.

    Attributes:
        printed: one of :data:`tabwb.cli.result_formats.FORMATS`.
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
