"""Two examinees on the same items, side by side, with a test of the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from tabwb.battery.model import Battery
from tabwb.records.errors import UsageError
from tabwb.report.plain import Json, picked, plain
from tabwb.report.summaries.compared import Compared, Tested, accuracies, burdens
from tabwb.report.summaries.counted import CountedResponse, Source, counted
from tabwb.report.summaries.paired import right
from tabwb.report.summaries.subtests import decider
from tabwb.report.summaries.summary import interval_json, pool

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
    unlike: tuple[tuple[str, str, str], ...] = (),
) -> Difference:
    """Compare two sides, each of one or more administrations of one battery.

    Responses to an item are first averaged, because they are not independent.

    Args:
        first: administrations of one side.
        second: of the other.
        labels: names of the sides.
        unlike: conditions that they do not share (:func:`tabwb.report.summaries.groups.unlike`).

    Raises:
        UsageError: the sides were given different batteries or battery versions.
    """
    batteries = {source.battery.content_hash: source.battery for source in (*first, *second)}
    battery, *others = batteries.values()
    if others:
        names = " and ".join(f"{given.id} {given.version}" for given in batteries.values())
        raise UsageError(f"only administrations of one battery can be compared, not {names}")
    rows = counted(first), counted(second)
    judged, left_out = burdens((pool(first).judges, pool(second).judges))
    return Difference(
        labels[0],
        labels[1],
        (*accuracies(battery, rows), *judged),
        _side_by_side(battery, rows),
        left_out,
        _named(battery, first, second),
        unlike,
        (_shared(rows[0]), _shared(rows[1])),
    )


def _shared(rows: Sequence[CountedResponse]) -> Counts:
    return sum(row.shares_stream for row in rows), len(rows)


def _named(
    battery: Battery, first: Sequence[Source], second: Sequence[Source]
) -> tuple[NamedDifference, ...]:
    if not battery.coded:
        return ()
    from tabwb.report.summaries.naming import naming_difference

    return naming_difference(first, second)


def _side_by_side(
    battery: Battery, sides: tuple[Sequence[CountedResponse], Sequence[CountedResponse]]
) -> tuple[SideBySide, ...]:
    items: list[SideBySide] = []
    for subtest in battery.subtests:
        if subtest.task.coded:
            continue
        own = [[row for row in side if row.subtest.id == subtest.id] for side in sides]
        rater = decider(subtest, [row for side in own for row in side])
        for item in subtest.items:
            mine, theirs = ([row for row in side if row.item.id == item.id] for side in own)
            if mine or theirs:
                texts = _texts(mine), _texts(theirs)
                shares = _right(mine, rater), _right(theirs, rater)
                items.append(
                    SideBySide(subtest.id, item.id, item.prompt, item.expected, *texts, *shares)
                )
    return tuple(items)


def _texts(rows: Sequence[CountedResponse]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.attempt.response for row in rows))


def _right(rows: Sequence[CountedResponse], rater: str | None) -> float | None:
    given = [] if rater is None else [right(row, rater) for row in rows]
    values = [value for value in given if value is not None]
    return fsum(values) / len(values) if values else None


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
