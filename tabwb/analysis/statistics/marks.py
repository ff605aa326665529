"""Which answers of a group are right, answer by answer: what item analyses read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.frame import Table, table_of
from tabwb.analysis.statistics.accuracy import decider
from tabwb.battery.model import Item, Subtest
from tabwb.scoring.choice import StoredAnswer, read_reason
from tabwb.scoring.naming.summary import RatingSource, right_by
from tabwb.store.columns import Ints

OUTCOME: RatingSource = "outcome"
"""What decides of pictures named aloud: the battery's rule."""


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """The answers to one subtest that have a verdict, in order of administrations and trials.

    Attributes:
        scorer: whose verdicts decide; :data:`OUTCOME` for pictures named aloud.
        items: those that were answered, in the battery's order.
        item: of each answer, its place in ``items``; source: that of its administration.
        right: whether it is right, by the policy *exact*.
        options: of subtests with options, these in the order shown; else empty.
        named: of subtests with options, what the policy *extracted* read; None without a verdict.
        fixed: nothing was drawn; shared: some were drawn from a random stream that others share.
    """

    subtest: Subtest
    scorer: str
    items: tuple[Item, ...]
    item: Ints
    source: Ints
    right: NDArray[np.bool_]
    options: tuple[tuple[str, ...], ...] = ()
    named: tuple[StoredAnswer | None, ...] = ()
    fixed: bool = False
    shared: bool = False

    def __len__(self) -> int:
        return len(self.right)


def marks_of(sources: Sequence[AdministrationData]) -> tuple[Marks, ...]:
    """Return the answers with a verdict of each subtest that has any, in the battery's order."""
    made = {marks.subtest.id: marks for marks in _written(table_of(sources))}
    if sources[0].battery.coded and sources[0].is_speaker:
        made |= {marks.subtest.id: marks for marks in _aloud(sources)}
    return tuple(made[subtest.id] for subtest in sources[0].battery.subtests if subtest.id in made)


def _written(table: Table) -> Iterator[Marks]:
    for number, subtest in enumerate(table.battery.subtests):
        rows = np.flatnonzero(table.counts & (table.subtest == number))
        scorer = None if subtest.task.coded else decider(subtest, number, [table])
        if scorer is None:
            continue
        values = table.verdict(scorer, "exact", rows).values
        rows, values = rows[~np.isnan(values)], values[~np.isnan(values)]
        offers = subtest.task.options
        used, place = np.unique(table.place[rows], return_inverse=True)
        order = {item.id: at for at, item in enumerate(subtest.items)}
        rank = np.argsort([order[table.item(at).id] for at in used.tolist()])
        shown = table.columns.options[table.rows[rows]].tolist()
        yield Marks(
            subtest,
            scorer,
            tuple(table.item(int(used[at])) for at in rank.tolist()),
            np.argsort(rank)[place],
            table.source[rows],
            values == 1.0,
            tuple(table.columns.shown[at] for at in shown) if offers else (),
            _named(table, scorer, rows, shown) if offers else (),
            bool(len(rows)) and bool(table.fixed[rows].all()),
            bool(table.shared[rows].any()),
        )


def _named(
    table: Table, scorer: str, rows: Ints, shown: Sequence[int]
) -> tuple[StoredAnswer | None, ...]:
    given = table.verdict(scorer, "extracted")
    keys = zip(
        table.place[rows].tolist(),
        shown,
        given.values[rows].tolist(),
        given.reasons[rows].tolist(),
        strict=True,
    )
    read: dict[tuple[int, int, float, int], StoredAnswer | None] = {}
    named = []
    for key in keys:
        if key not in read:
            place, options, value, reason = key
            item = table.item(place)
            read[key] = (
                None
                if np.isnan(value) or item.expected is None
                else read_reason(
                    value == 1.0,
                    table.columns.reasons.get(reason, ""),
                    item.expected,
                    table.columns.shown[options],
                    item.foils,
                )
            )
        named.append(read[key])
    return tuple(named)


def _aloud(sources: Sequence[AdministrationData]) -> Iterator[Marks]:
    from tabwb.analysis.statistics.summary import named_of

    by_source = [{subtest.id: subtest for subtest in named_of([source])} for source in sources]
    for of_battery in sources[0].battery.subtests:
        known = {item.id: item for item in of_battery.items}
        verdicts = [
            (item.item, place, right)
            for place, named in enumerate(by_source)
            if of_battery.id in named
            for item in named[of_battery.id].items
            if item.status == "answered" and (right := right_by(item, OUTCOME)) is not None
        ]
        given = {name for name, _, _ in verdicts}
        places = {name: at for at, name in enumerate(name for name in known if name in given)}
        if verdicts:
            yield Marks(
                of_battery,
                OUTCOME,
                tuple(known[name] for name in places),
                np.array([places[name] for name, _, _ in verdicts]),
                np.array([place for _, place, _ in verdicts]),
                np.array([right for _, _, right in verdicts], bool),
            )
