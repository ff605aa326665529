"""Comparisons from Python: two sides, and one participant over sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tabwb.report.summaries.load import AdministrationData
    from tabwb.store.store import Store
    from tabwb.tables.table import Table

Changes = Literal["change", "sessions", "items"]


def compare_stored(
    store: Store, first: Sequence[int | str], second: Sequence[int | str], primary: str
) -> Table:
    """Return the differences of two sides; see :meth:`tabwb.Study.compare`.

    Args:
        store: where they are.
        first: numbers or uids of one side.
        second: of the other.
        primary: the rater whose scores of spoken responses count.
    """
    from tabwb.report.summaries.difference import difference
    from tabwb.report.summaries.groups import unlike
    from tabwb.report.summaries.load import load_columns, sources_of
    from tabwb.report.tables.differences import differences_table

    left, right = (load_columns(store, side, primary=primary) for side in (first, second))
    return differences_table(
        difference(
            sources_of(left), sources_of(right), (_side(left), _side(right)), unlike(left, right)
        )
    )


def _side(side: Sequence[AdministrationData]) -> str:
    from tabwb.report.summaries.counted import name_of

    numbers = ", ".join(f"#{data.administration.id}" for data in side)
    names = dict.fromkeys(name_of(data.administration.conditions) for data in side)
    return f"{numbers} {', '.join(names)}"


def change_stored(
    store: Store,
    participant: str,
    battery: str | None,
    sets: str | None,
    baselines: int | None,
    rows: Changes,
    primary: str,
) -> Table:
    """Return one participant's change; see :meth:`tabwb.Study.change`.

    Args:
        store: where the sessions are.
        participant: study ID.
        battery: its id, or None.
        sets: tags of items, or a CSV file.
        baselines: number of sessions before treatment.
        rows: what a row is.
        primary: the rater whose scores of spoken responses count.
    """
    from tabwb.report.summaries.change import change_of
    from tabwb.report.summaries.load import load_columns
    from tabwb.report.summaries.sessions import named_sets, sessions_of
    from tabwb.report.tables import change as tables

    numbers = [one.id for one in sessions_of(store, participant, battery)]
    members = load_columns(store, numbers, primary=primary)
    found = change_of(members, named_sets(members, sets), baselines)
    if rows == "items":
        return tables.change_items_table(found)
    return tables.change_table(found) if rows == "change" else tables.sessions_table(found)
