"""Two examinees on the same items, side by side, with a test of the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum

from tabwb.battery.model import Battery
from tabwb.records.errors import UsageError
from tabwb.records.states import ResponseKind
from tabwb.report.counted import Counted, Source, counted
from tabwb.report.summary import Json, Summary, pool
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
        features: of a burden: its fixed set; empty for an accuracy.
        first, second: mean over the shared items of each side's mean over its responses to the
            item; None without shared items.
        test: of the mean difference (first - second) over items; None without shared items.
        items: shared.
    """

    subtest: str
    rater: str
    measure: str
    features: tuple[str, ...]
    first: float | None
    second: float | None
    test: PairedTest | None
    items: int


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
        left_out: judges whose burdens cannot be compared, with the reason.
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
    summaries = pool(first), pool(second)
    compared = [
        _accuracy(subtest.id, rater, one, other)
        for subtest in battery.subtests
        if (rater := _decider(battery, subtest.id, (*one, *other))) is not None
    ]
    burdens, left_out = _burdens(summaries, one, other)
    return Difference(
        labels[0],
        labels[1],
        (*compared, *burdens),
        _side_by_side(battery, one, other),
        left_out,
    )


def _decider(battery: Battery, subtest: str, rows: Sequence[Counted]) -> str | None:
    raters = {
        rating.rater
        for row in rows
        if row.subtest.id == subtest
        for rating in row.trial.ratings
        if rating.measure == "exact"
    }
    return next((each for each in battery.subtest(subtest).scorers if each in raters), None)


def _accuracy(
    subtest: str, rater: str, one: Sequence[Counted], other: Sequence[Counted]
) -> Compared:
    def right(row: Counted) -> float | None:
        rating = row.rating(rater, "exact") if row.subtest.id == subtest else None
        return None if rating is None else rating.value

    return _compare(subtest, rater, "accuracy", (), right, one, other)


def _burdens(
    summaries: tuple[Summary, Summary], one: Sequence[Counted], other: Sequence[Counted]
) -> tuple[list[Compared], tuple[tuple[str, str], ...]]:
    """Burdens of the judges that both sides have, over the same set and scope."""
    mine, theirs = ({judge.rater: judge for judge in summary.judges} for summary in summaries)
    compared: list[Compared] = []
    left_out: list[tuple[str, str]] = []
    for rater in dict.fromkeys((*mine, *theirs)):
        if rater not in mine or rater not in theirs:
            left_out.append((rater, "judged only one side"))
            continue
        judge, peer = mine[rater], theirs[rater]
        features = judge.burden.features
        if (features, judge.scope) != (peer.burden.features, peer.scope):
            left_out.append((rater, "burdens over different features or scopes"))
            continue

        def burden(
            row: Counted,
            rater: str = rater,
            features: Sequence[str] = features,
            everything: bool = judge.scope == "all",
        ) -> float | None:
            if not everything and row.subtest.response is not ResponseKind.CONNECTED_TEXT:
                return None
            given = {r.measure: r.value for r in row.trial.ratings if r.rater == rater}
            values = [given.get(name) for name in features]
            found = [value for value in values if value is not None]
            return fsum(found) if values and len(found) == len(values) else None

        compared.append(_compare("", rater, "symptom burden", features, burden, one, other))
    return compared, tuple(left_out)


def _compare(
    subtest: str,
    rater: str,
    measure: str,
    features: tuple[str, ...],
    value: Callable[[Counted], float | None],
    one: Sequence[Counted],
    other: Sequence[Counted],
) -> Compared:
    mine, theirs = _means(one, value), _means(other, value)
    shared = [place for place in mine if place in theirs]
    pairs = [(mine[place], theirs[place]) for place in shared]
    first = fsum(a for a, _ in pairs) / len(pairs) if pairs else None
    second = fsum(b for _, b in pairs) / len(pairs) if pairs else None
    test = paired_permutation(pairs)
    return Compared(subtest, rater, measure, features, first, second, test, len(pairs))


def _means(rows: Sequence[Counted], value: Callable[[Counted], float | None]) -> dict[Place, float]:
    """The mean over the responses to each item, for items with any value."""
    found: dict[Place, list[float]] = {}
    for row in rows:
        given = value(row)
        if given is not None:
            found.setdefault((row.subtest.id, row.item.id), []).append(given)
    return {place: fsum(values) / len(values) for place, values in found.items()}


def _side_by_side(
    battery: Battery, one: Sequence[Counted], other: Sequence[Counted]
) -> tuple[SideBySide, ...]:
    made: list[SideBySide] = []
    for subtest in battery.subtests:
        rater = _decider(battery, subtest.id, (*one, *other))
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
    given = [] if rater is None else [row.rating(rater, "exact") for row in rows]
    values = [rating.value for rating in given if rating and rating.value is not None]
    return fsum(values) / len(values) if values else None


def _compared(each: Compared) -> Json:
    test = each.test
    return {
        "subtest": each.subtest or None,
        "rater": each.rater,
        "measure": each.measure,
        "features": list(each.features),
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
