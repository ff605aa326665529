"""Two examinees on the same items, side by side, with a test of the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from tabwb.battery.model import Battery, Subtest
from tabwb.records.errors import UsageError
from tabwb.report.counted import Counted, Source, counted
from tabwb.report.judges import JudgeSummary, Terms, alike
from tabwb.report.subtests import decider
from tabwb.report.summary import Json, pool
from tabwb.scoring.permutation import PairedTest, paired_permutation

Place = tuple[str, str]
"""Subtest and item."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure of both sides over the items that both have.

    Attributes:
        subtest: its id; empty for a burden.
        rater: the scorer or judge.
        measure: ``accuracy`` (share right by the exact policy) or ``symptom burden``.
        first, second: mean over the shared items of each side's mean over its responses to the
            item; None without shared items.
        test: of the mean difference (first - second) over items; None without shared items.
        items: shared.
        terms: of a burden: under which both sides were judged; None for an accuracy.
    """

    subtest: str
    rater: str
    measure: str
    first: float | None
    second: float | None
    test: PairedTest | None
    items: int
    terms: Terms | None = None


@dataclass(frozen=True, slots=True)
class SideBySide:
    """What both sides said to one item.

    Attributes:
        first, second: different responses, in order of appearance.
        first_right, second_right: share right by the exact policy, or None where nothing is.
    """

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
        left_out: raters of which a burden cannot be compared, with the reason.
    """

    first: str
    second: str
    compared: tuple[Compared, ...]
    items: tuple[SideBySide, ...]
    left_out: tuple[tuple[str, str], ...]

    def to_json(self) -> Json:
        """As plain data; what is undefined is None."""
        return {
            "first": self.first,
            "second": self.second,
            "compared": [_compared(each) for each in self.compared],
            "items": [_item(each) for each in self.items],
            "left_out": [{"rater": rater, "reason": why} for rater, why in self.left_out],
        }


def difference(
    first: Sequence[Source], second: Sequence[Source], labels: tuple[str, str]
) -> Difference:
    """Compare two sides, each of one or more administrations of one battery.

    Responses to an item are first averaged, because they are not independent; the test then flips
    the sign of each item's difference.

    Raises:
        UsageError: the sides were given different batteries or battery versions.
    """
    batteries = {source.battery.content_hash: source.battery for source in (*first, *second)}
    if len(batteries) != 1:
        names = " and ".join(f"{one.id} {one.version}" for one in batteries.values())
        raise UsageError(f"only administrations of one battery can be compared, not {names}")
    battery = next(iter(batteries.values()))
    one, other = counted(first), counted(second)
    compared = [
        _accuracy(subtest.id, rater, one, other)
        for subtest in battery.subtests
        if (rater := _decider(subtest, one, other)) is not None
    ]
    burdens, left_out = _burdens(pool(first).judges, pool(second).judges)
    return Difference(
        labels[0],
        labels[1],
        (*compared, *burdens),
        _side_by_side(battery, one, other),
        left_out,
    )


def _decider(subtest: Subtest, one: Sequence[Counted], other: Sequence[Counted]) -> str | None:
    return decider(subtest, [row for row in (*one, *other) if row.subtest.id == subtest.id])


def _accuracy(
    subtest: str, rater: str, one: Sequence[Counted], other: Sequence[Counted]
) -> Compared:
    sides = (
        [(row, _exact(row, rater)) for row in rows if row.subtest.id == subtest]
        for rows in (one, other)
    )
    return Compared(subtest, rater, "accuracy", *_compare(*sides))


def _exact(row: Counted, rater: str) -> float | None:
    rating = row.verdict(rater)
    return None if rating is None else rating.value


def _burdens(
    first: Sequence[JudgeSummary], second: Sequence[JudgeSummary]
) -> tuple[list[Compared], tuple[tuple[str, str], ...]]:
    """Burdens of the judges that judged both sides under the same terms."""
    pairs, left_out = alike(first, second)
    compared = []
    for mine, theirs in pairs:
        sides = ([(row, rated.burden) for row, rated in judge.judged] for judge in (mine, theirs))
        found = _compare(*sides)
        compared.append(Compared("", mine.rater, "symptom burden", *found, terms=mine.terms))
    return compared, left_out


Valued = Sequence[tuple[Counted, float | None]]
"""Responses with what is compared of them, or None."""


def _compare(
    one: Valued, other: Valued
) -> tuple[float | None, float | None, PairedTest | None, int]:
    """Both means over the shared items, the test, and how many items they are."""
    mine, theirs = _means(one), _means(other)
    pairs = [(mine[place], theirs[place]) for place in mine if place in theirs]
    first = fsum(a for a, _ in pairs) / len(pairs) if pairs else None
    second = fsum(b for _, b in pairs) / len(pairs) if pairs else None
    return first, second, paired_permutation(pairs), len(pairs)


def _means(rows: Valued) -> dict[Place, float]:
    """The mean over the responses to each item, for items with any value."""
    found: dict[Place, list[float]] = {}
    for row, value in rows:
        if value is not None:
            found.setdefault((row.subtest.id, row.item.id), []).append(value)
    return {place: fsum(values) / len(values) for place, values in found.items()}


def _side_by_side(
    battery: Battery, one: Sequence[Counted], other: Sequence[Counted]
) -> tuple[SideBySide, ...]:
    made: list[SideBySide] = []
    for subtest in battery.subtests:
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


def _said(rows: Sequence[Counted]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.attempt.response for row in rows))


def _right(rows: Sequence[Counted], rater: str | None) -> float | None:
    given = [] if rater is None else [_exact(row, rater) for row in rows]
    values = [value for value in given if value is not None]
    return fsum(values) / len(values) if values else None


def _compared(each: Compared) -> Json:
    test = each.test
    return {
        "subtest": each.subtest or None,
        "rater": each.rater,
        "measure": each.measure,
        "features": [] if each.terms is None else list(each.terms.features),
        "scope": None if each.terms is None else each.terms.scope,
        "prompt_hash": None if each.terms is None else each.terms.prompt_hash,
        "items": each.items,
        "first": each.first,
        "second": each.second,
        "difference": None if test is None else test.difference,
        "p": None if test is None else test.p,
        "test": None if test is None else "sign flip, exact" if test.exact else "sign flip, drawn",
        "status": "undefined" if test is None else "value",
    }


def _item(each: SideBySide) -> Json:
    return {
        "subtest": each.subtest,
        "item": each.item,
        "prompt": each.prompt,
        "expected": each.expected,
        "first": list(each.first),
        "second": list(each.second),
        "first_right": each.first_right,
        "second_right": each.second_right,
    }
