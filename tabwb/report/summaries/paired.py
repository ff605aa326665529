"""Two sides on the same items: values by item, intervals and tests of their difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from tabwb.battery.model import Battery, Subtest
from tabwb.report.summaries.counted import CountedResponse, Source, counted
from tabwb.report.summaries.draws import without_draws
from tabwb.report.summaries.subtests import decider
from tabwb.scoring.differences import difference_interval, sampling_floor
from tabwb.scoring.estimate import Estimand, EstimatedInterval
from tabwb.scoring.intervals import effective_responses
from tabwb.scoring.permutation import PairedTest, paired_permutation

Place = tuple[str, str]
"""Subtest and item."""


@dataclass(frozen=True, slots=True)
class Side:
    """Values of one side's responses.

    Attributes:
        values: by item; items without a value are not in it.
        deterministic: nothing was drawn for any of them.
        shares_stream: some were drawn from a random stream that others share
            (:mod:`tabwb.report.summaries.draws`), so that they do not show how much draws differ.
    """

    values: Mapping[Place, tuple[float, ...]]
    deterministic: bool = False
    shares_stream: bool = False


@dataclass(frozen=True, slots=True)
class Paired:
    """A measure of both sides over the items that both have a value for; None without such items.

    Attributes:
        first, second: mean over these items of each side's mean over its responses to the item.
        n_first, n_second: responses behind them.
        like, these: intervals of first - second, for prompts like these and for these prompts.
        test: of the mean difference over items.
        differences: of item means, by item.
        floor: the least variance of the mean difference, from the draws alone.
    """

    items: int
    first: float | None
    second: float | None
    n_first: int
    n_second: int
    like: EstimatedInterval
    these: EstimatedInterval
    test: PairedTest | None
    differences: Mapping[Place, float]
    floor: float


def side_of(valued: Iterable[tuple[CountedResponse, float | None]]) -> Side:
    """Return responses with their values as one side; those without a value are left out."""
    values: dict[Place, list[float]] = {}
    deterministic, shares_stream = True, False
    for row, value in valued:
        if value is None:
            continue
        values.setdefault((row.subtest.id, row.item.id), []).append(value)
        deterministic = deterministic and row.fixed
        shares_stream = shares_stream or row.shares_stream
    by_item = {place: tuple(given) for place, given in values.items()}
    return Side(by_item, bool(values) and deterministic, shares_stream)


def right(row: CountedResponse, rater: str, policy: str = "exact") -> float | None:
    """Return 1 where a scorer calls a response right, 0 where wrong, None without a verdict.

    Args:
        row: the response.
        rater: the scorer.
        policy: under which it is right.
    """
    rating = row.verdict(rater, policy)
    return None if rating is None or rating.value is None else float(rating.value == 1.0)


def accuracy_sides(
    battery: Battery, first: Sequence[Source], second: Sequence[Source]
) -> Iterator[tuple[Subtest, str, Side, Side]]:
    """Yield each subtest with verdicts on any side: its deciding scorer, and right answers.

    Args:
        battery: that both sides were given.
        first: administrations of one side.
        second: of the other.
    """
    if all(source.columns for source in (*first, *second)):
        from tabwb.report.summaries.columns import subtests
        from tabwb.report.summaries.columns.table import table_of

        yield from subtests.accuracy_sides(table_of(first), table_of(second))
        return
    rows = [counted(side) for side in (first, second)]
    for subtest in battery.subtests:
        given = [[row for row in side if row.subtest.id == subtest.id] for side in rows]
        rater = decider(subtest, [row for side in given for row in side])
        if rater is not None:
            one, other = (side_of((row, right(row, rater)) for row in own) for own in given)
            yield subtest, rater, one, other


def compare_sides(first: Side, second: Side, n_features: int | None) -> Paired:
    """Return means, intervals and the sign-flip test of two sides over their shared items.

    Args:
        first: values of one side.
        second: values of the other.
        n_features: size of the feature set where the values are burdens; None for rates.
    """
    places = [place for place in first.values if place in second.values]
    values = [[side.values[place] for place in places] for side in (first, second)]
    pairs = [(fsum(a) / len(a), fsum(b) / len(b)) for a, b in zip(*values, strict=True)]
    deterministic = first.deterministic, second.deterministic
    like, these = (
        difference_interval(values[0], values[1], n_features, estimand, deterministic=deterministic)
        for estimand in (Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_PROMPTS)
    )
    if first.shares_stream or second.shares_stream:
        these = without_draws(these)
    return Paired(
        items=len(pairs),
        first=fsum(a for a, _ in pairs) / len(pairs) if pairs else None,
        second=fsum(b for _, b in pairs) / len(pairs) if pairs else None,
        n_first=sum(map(len, values[0])),
        n_second=sum(map(len, values[1])),
        like=like,
        these=these,
        test=paired_permutation(pairs),
        differences={place: a - b for place, (a, b) in zip(places, pairs, strict=True)},
        floor=sum(
            sampling_floor(
                fsum(pair[at] for pair in pairs) / len(pairs),
                effective_responses([len(given) for given in side]),
                n_features,
            )
            for at, side in enumerate(values)
            if pairs
        ),
    )
