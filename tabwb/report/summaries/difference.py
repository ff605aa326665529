"""Two examinees on the same items, side by side, with a test of the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from tabwb.battery.model import Battery
from tabwb.records.errors import UsageError
from tabwb.report.plain import Json, picked, plain
from tabwb.report.summaries.columns.judged import summarise_judges
from tabwb.report.summaries.columns.subtests import decider, right_side
from tabwb.report.summaries.columns.table import Table, first_of, table_of
from tabwb.report.summaries.compared import Compared, Tested, accuracies, burdens
from tabwb.report.summaries.counted import Source, name_of
from tabwb.report.summaries.groups import unlike
from tabwb.report.summaries.load import AdministrationData, sources_of
from tabwb.report.summaries.paired import Place
from tabwb.report.summaries.summary import interval_json
from tabwb.scoring.detectable import simulated_test
from tabwb.scoring.estimate import Estimand

if TYPE_CHECKING:
    from tabwb.report.summaries.naming import NamedDifference


Counts = tuple[int, int]
"""How many, of how many."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """What both sides said to one item, and the share right by the exact policy."""

    subtest: str
    item: str
    prompt: str
    expected: str | None
    first: tuple[str, ...]
    second: tuple[str, ...]
    first_right: float | None
    second_right: float | None

    @property
    def differs(self) -> bool:
        """Whether the two sides said different things."""
        return set(self.first) != set(self.second)


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that is said of two sides.

    Attributes:
        items: those that are answered in text; named: subtests that are named aloud.
        left_out: raters of which a burden cannot be compared, with the reason.
        unlike: conditions beside the examinee that the sides do not share: name, both values.
        shared_streams: for each side, how many responses were drawn from a random stream that
            others share, of how many (:mod:`tabwb.report.summaries.draws`).
    """

    first: str
    second: str
    compared: tuple[Compared, ...]
    items: tuple[SideBySide, ...]
    left_out: tuple[tuple[str, str], ...]
    named: tuple[NamedDifference, ...] = ()
    unlike: tuple[tuple[str, str, str], ...] = ()
    shared_streams: tuple[Counts, Counts] = ((0, 0), (0, 0))

    def to_json(self) -> Json:
        """Return plain data; what is undefined is None."""
        first, second = self.shared_streams
        return {
            "first": self.first,
            "second": self.second,
            "compared": [_compared(row) for row in self.compared],
            "items": plain(self.items),
            "left_out": [{"rater": rater, "reason": why} for rater, why in self.left_out],
            "unlike": {name: {"first": a, "second": b} for name, a, b in self.unlike},
            "shared_streams": {"first": first[0], "second": second[0]},
            **({"naming": [subtest.to_json() for subtest in self.named]} if self.named else {}),
        }


def difference(
    first: Sequence[Source],
    second: Sequence[Source],
    labels: tuple[str, str],
    differing: tuple[tuple[str, str, str], ...] = (),
) -> Difference:
    """Compare two sides, each of one or more administrations of one battery.

    Responses to an item are first averaged, because they are not independent.
    """
    batteries = {source.battery.content_hash: source.battery for source in (*first, *second)}
    battery, *others = batteries.values()
    if others:
        names = " and ".join(f"{given.id} {given.version}" for given in batteries.values())
        raise UsageError(
            f"only administrations of one battery can be compared, not {names}",
            hint="tabwb results lists the battery of each",
        )
    tables = table_of(first), table_of(second)
    judged, left_out = burdens(*map(summarise_judges, tables))
    return Difference(
        labels[0],
        labels[1],
        (*accuracies(*tables), *judged),
        _side_by_side(*tables),
        left_out,
        _named(battery, first, second),
        differing,
        (_shared(tables[0]), _shared(tables[1])),
    )


def members_compared(
    first: Sequence[AdministrationData],
    second: Sequence[AdministrationData],
    labels: tuple[str, str] | None = None,
) -> Difference:
    """Compare two sides with the conditions that they do not share."""
    labels = labels or (_label(first), _label(second))
    return difference(sources_of(first), sources_of(second), labels, unlike(first, second))


def _label(side: Sequence[AdministrationData]) -> str:
    numbers = ", ".join(f"#{data.administration.id}" for data in side)
    names = dict.fromkeys(name_of(data.administration.conditions) for data in side)
    return f"{numbers} {', '.join(names)}"


def _shared(table: Table) -> Counts:
    return int(table.shared[table.counts].sum()), int(table.counts.sum())


def _named(
    battery: Battery, first: Sequence[Source], second: Sequence[Source]
) -> tuple[NamedDifference, ...]:
    if not battery.coded:
        return ()
    from tabwb.report.summaries.naming import naming_difference

    return naming_difference(first, second)


def _side_by_side(first: Table, second: Table) -> tuple[SideBySide, ...]:
    tables = first, second
    items: list[SideBySide] = []
    for number, subtest in enumerate(first.battery.subtests):
        if subtest.task.coded:
            continue
        scorer = decider(subtest, number, tables)
        said = [_by_item(table, number, scorer) for table in tables]
        for item in subtest.items:
            place = (subtest.id, item.id)
            if any(place in side for side in said):
                (mine, my_share), (theirs, their_share) = (
                    side.get(place, ((), None)) for side in said
                )
                items.append(
                    SideBySide(
                        subtest.id, item.id, item.prompt, item.expected, mine, theirs, my_share,
                        their_share,
                    )
                )  # fmt: skip
    return tuple(items)


def _by_item(
    table: Table, number: int, scorer: str | None
) -> dict[Place, tuple[tuple[str, ...], float | None]]:
    """Return, by item of a subtest, the different responses and the share of them that is right."""
    right = {} if scorer is None else right_side(table, number, scorer).values
    rows = np.flatnonzero(table.counts & (table.subtest == number))
    given = {}
    for at in np.unique(table.place[rows]).tolist():
        place = table.columns.places[at]
        texts = first_of(table.text[rows[table.place[rows] == at]])
        values = right.get(place, ())
        given[place] = (
            tuple(table.columns.responses[text] for text in texts),
            fsum(values) / len(values) if values else None,
        )
    return given


def _compared(row: Compared) -> Json:
    test = row.sides.test
    return {
        "measure": row.measure,
        "subtest": row.subtest or None,
        "rater": row.rater or None,
        "policy": row.policy or None,
        "feature": row.feature or None,
        **picked(row.sides, "items", "first", "second"),
        **picked(row, "difference", "smallest_p", "items_left_out"),
        "features": [] if row.terms is None else list(row.terms.features),
        "scope": None if row.terms is None else row.terms.scope,
        "prompt_hash": None if row.terms is None else row.terms.prompt_hash,
        "p": None if test is None else test.p,
        "test": row.like.test or None,
        "smallest_difference": row.showable.value,
        "smallest_difference_reason": row.showable.reason,
        "smallest_difference_test": (
            simulated_test(Estimand.PROMPTS_LIKE_THESE) if row.showable.defined else None
        ),
        "estimates": [_tested(row.like), _tested(row.these)],
        "usable": [usable.to_json() for usable in row.usable],
        "status": "undefined" if test is None else "value",
    }


def _tested(tested: Tested) -> Json:
    return {
        **interval_json(tested.interval),
        "p": tested.p,
        "test": tested.test or None,
        "p_adjusted": tested.adjusted,
        "correction": tested.correction or None,
    }
