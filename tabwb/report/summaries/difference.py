"""Two examinees on the same items, side by side, with a test of the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from tabwb.battery.model import Battery, Subtest
from tabwb.records.errors import UsageError
from tabwb.report.plain import Json, picked, plain
from tabwb.report.summaries.compared import Compared, Tested, accuracies, burdens
from tabwb.report.summaries.counted import CountedResponse, Source, counted
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
        items: those that are answered in text.
        left_out: raters of which a burden cannot be compared, with the reason.
        named: subtests that are named aloud, item by item.
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
        return {
            "first": self.first,
            "second": self.second,
            "compared": [_compared(each) for each in self.compared],
            "items": plain(self.items),
            "left_out": [{"rater": rater, "reason": why} for rater, why in self.left_out],
            "unlike": {name: {"first": a, "second": b} for name, a, b in self.unlike},
            "shared_streams": {
                side: shared
                for side, (shared, _) in zip(("first", "second"), self.shared_streams, strict=True)
            },
            **({"naming": [each.to_json() for each in self.named]} if self.named else {}),
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
    if len(batteries) != 1:
        names = " and ".join(f"{one.id} {one.version}" for one in batteries.values())
        raise UsageError(f"only administrations of one battery can be compared, not {names}")
    battery = next(iter(batteries.values()))
    one, other = counted(first), counted(second)
    judged, left_out = burdens((pool(first).judges, pool(second).judges))
    return Difference(
        labels[0],
        labels[1],
        (*accuracies(battery, (one, other)), *judged),
        _side_by_side(battery, one, other),
        left_out,
        _named(battery, first, second),
        unlike,
        (_shared(one), _shared(other)),
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


def _decider(
    subtest: Subtest, one: Sequence[CountedResponse], other: Sequence[CountedResponse]
) -> str | None:
    return decider(subtest, [row for row in (*one, *other) if row.subtest.id == subtest.id])


def _exact(row: CountedResponse, rater: str) -> float | None:
    rating = row.verdict(rater)
    return None if rating is None else rating.value


def _side_by_side(
    battery: Battery, one: Sequence[CountedResponse], other: Sequence[CountedResponse]
) -> tuple[SideBySide, ...]:
    made: list[SideBySide] = []
    for subtest in battery.subtests:
        if subtest.task.coded:
            continue
        rater = _decider(subtest, one, other)
        for item in subtest.items:
            mine, theirs = (
                [r for r in rows if (r.subtest.id, r.item.id) == (subtest.id, item.id)]
                for rows in (one, other)
            )
            if mine or theirs:
                made.append(
                    SideBySide(
                        subtest.id,
                        item.id,
                        item.prompt,
                        item.expected,
                        _said(mine),
                        _said(theirs),
                        _right(mine, rater),
                        _right(theirs, rater),
                    )
                )
    return tuple(made)


def _said(rows: Sequence[CountedResponse]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.attempt.response for row in rows))


def _right(rows: Sequence[CountedResponse], rater: str | None) -> float | None:
    given = [] if rater is None else [_exact(row, rater) for row in rows]
    values = [value for value in given if value is not None]
    return fsum(values) / len(values) if values else None


def _compared(each: Compared) -> Json:
    test = each.sides.test
    return {
        "measure": each.measure,
        "subtest": each.subtest or None,
        "rater": each.rater or None,
        "policy": each.policy or None,
        "feature": each.feature or None,
        **picked(each.sides, "items", "first", "second"),
        **picked(each, "difference", "smallest_p", "items_left_out"),
        "features": [] if each.terms is None else list(each.terms.features),
        "scope": None if each.terms is None else each.terms.scope,
        "prompt_hash": None if each.terms is None else each.terms.prompt_hash,
        "p": None if test is None else test.p,
        "test": each.like.test or None,
        "smallest_difference": each.showable.value,
        "smallest_difference_reason": each.showable.reason,
        "estimates": [_tested(one) for one in (each.like, each.these)],
        "usable": [one.to_json() for one in each.usable],
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
