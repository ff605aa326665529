"""Intervals and tests of the difference of two examinees on the same items."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING, TypeVar

from tabwb.scoring.distributions import t_quantile, t_tail
from tabwb.scoring.estimate import (
    ALPHA,
    NO_VALUE,
    ONE_ITEM,
    ONE_RESPONSE,
    UPPER,
    Estimand,
    EstimatedInterval,
    Interval,
    missing_reason,
)
from tabwb.scoring.intervals import by_cluster, effective_responses, sum_of_squares

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_FAMILIES = 3
FEW_FAMILIES = "fewer than three families"
NO_VARIATION = "neither families nor items differ: the variance cannot be estimated"
Number = TypeVar("Number", float, "NDArray[np.float64]")
Values = Sequence[Sequence[float]]


def difference_interval(
    first: Values,
    second: Values,
    n_features: int | None,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    deterministic: tuple[bool, bool] = (False, False),
    extra: float = 0.0,
    clusters: Sequence[Hashable] | None = None,
) -> EstimatedInterval:
    """Return the 95 % interval of first - second, both answering the same items.

    The estimate is the mean over items of the difference of item means. Its ``p`` is that of the
    same t at 0. For prompts like these, with d the k differences of item means: ``mean(d) +-
    t_{k-1} se``, ``se^2 = max(var(d) / k, f_a + f_b)``. The lower limit f is the
    :func:`sampling_floor` of a side with its responses. Truncated at the largest possible
    difference. Source: docs/uncertainty.md.

    Both sides have for each item, in one order, the values of the responses; items without a value
    on either side are left out. ``n_features`` is the size of the feature set where the values are
    burdens, None for a rate, whose values are 0 and 1. A deterministic side has no error for these
    prompts; ``extra`` is a further variance of the difference, added to that of the items.

    >>> right, wrong = [[1.0]] * 15, [[0.0]] * 15
    >>> found = difference_interval(wrong[:5], right[:5], None).interval
    >>> found.low, round(found.high, 2)
    (-1.0, -0.51)
    """
    named = range(len(first)) if clusters is None else clusters
    kept = [
        (a, b, unit) for a, b, unit in zip(first, second, named, strict=True) if len(a) and len(b)
    ]
    pairs, units = [(a, b) for a, b, _ in kept], [unit for _, _, unit in kept]
    most = [max(len(a), len(b)) for a, b in pairs]
    if estimand is Estimand.PROMPTS_LIKE_THESE:
        most = most[: len(set(units))]
    if reason := missing_reason(estimand, most, all(deterministic)):
        return EstimatedInterval(estimand, None, reason)
    if estimand is Estimand.THESE_PROMPTS:
        return _these_prompts(pairs, n_features, deterministic, extra)
    means = [[fsum(pair[side]) / len(pair[side]) for pair in pairs] for side in (0, 1)]
    sizes = [effective_responses([len(pair[side]) for pair in pairs]) for side in (0, 1)]
    mean, se = _mean_and_error(means[0], means[1], sizes[0], sizes[1], n_features, units)
    df = len(set(units)) - 1
    return _by_t(estimand, mean, math.hypot(se, math.sqrt(extra)), df, n_features)


def agreeing(
    interval: EstimatedInterval, p: float | None
) -> tuple[EstimatedInterval, float | None]:
    """Return an interval and p of one difference so that p is below .05 just where 0 is outside.

    The interval has a lower limit on its variance that the test lacks: p becomes the larger of both
    methods. Where the test cannot or does not reject, the interval is extended to 0.

    >>> found = EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, Interval(0.2, 0.6), p=0.004)
    >>> agreeing(found, 0.0625)[0].interval, agreeing(found, 0.001)[1]
    (Interval(low=0.0, high=0.6), 0.004)
    """
    known = interval.interval
    if p is None or known is None or interval.p is None:
        return interval, p
    p = max(p, interval.p)
    if p >= ALPHA:
        ends = Interval(min(known.low, 0.0), max(known.high, 0.0))
        interval = replace(interval, interval=ends)
    return interval, p


def paired_t_p(
    first: Sequence[float],
    second: Sequence[float],
    n_first: float,
    n_second: float,
    n_features: int | None,
    clusters: Sequence[Hashable] | None = None,
) -> float:
    """Return the two-sided p of ``t = mean(d) / se`` with k - 1 degrees of freedom.

    ``se^2 = max(var(d) / k, f_a + f_b, f_0)``: that of :func:`difference_interval`, and at least
    f_0, the variance from the draws alone if both sides have one mean m, that of all responses:
    ``f_0 = m (1/n_a + 1/n_b)`` for a burden, ``m (1 - m) (1/n_a + 1/n_b)`` for a rate (a score
    test). p is below .05 only where the interval does not contain 0. Without f_0 few answers that
    are all alike make the test reject too often.

    Signs can only be flipped if the item differences are symmetric around 0 where the sides do not
    differ; with unequal numbers of responses they are not, and sign flips reject too often.

    >>> round(paired_t_p([1.0, 1.0, 0.4], [1.5, 1.0, 0.9], 30, 30, 19), 4)
    0.3227
    """
    mean, se = _mean_and_error(first, second, n_first, n_second, n_features, clusters)
    k = len(first)
    units = k if clusters is None else len(set(clusters))
    pooled = (fsum(first) * n_first + fsum(second) * n_second) / (n_first + n_second) / k
    spread = pooled if n_features is not None else pooled * (1 - pooled)
    null = math.sqrt(max(0.0, spread * (1 / n_first + 1 / n_second)))
    return 2 * t_tail(abs(mean) / max(se, null), units - 1)


def _mean_and_error(
    first: Sequence[float],
    second: Sequence[float],
    n_first: float,
    n_second: float,
    n_features: int | None,
    clusters: Sequence[Hashable] | None = None,
) -> tuple[float, float]:
    k = len(first)
    d = [a - b for a, b in zip(first, second, strict=True)]
    units = d if clusters is None else by_cluster(d, clusters)
    if len(units) < 2:
        raise ValueError("an interval for prompts like these needs two items or more")
    floor = sampling_floor(fsum(first) / k, n_first, n_features) + sampling_floor(
        fsum(second) / k, n_second, n_features
    )
    variance = max(sum_of_squares(units) / (len(units) - 1) / len(units), floor)
    return fsum(d) / k, math.sqrt(variance)


def sampling_floor(mean: Number, n: float, n_features: int | None) -> Number:
    """Return the least variance of a mean m of n responses, above 0 also where all are equal.

    ``(m + 0.5/n) / n`` for a burden (Poisson), ``p (1 - p) / n`` with ``p = (mn + 0.5) / (n + 1)``
    for a rate.

    Args:
        mean: of the responses, or an array of such means.
        n: number of responses, above 0; may be an effective number.
        n_features: size of the feature set for a burden; None for a rate.

    >>> sampling_floor(0.0, 50, 19), round(sampling_floor(1.0, 9, None), 6)
    (0.0002, 0.005278)
    """
    if n_features is not None:
        return (mean + 0.5 / n) / n
    p = (mean * n + 0.5) / (n + 1)
    return p * (1 - p) / n


def draw_variance(
    items: Values, n_features: int | None, *, deterministic: bool = False
) -> tuple[float, float] | None:
    """Return the variance of the mean of the item means on these prompts, and its df.

    ``V = max(sum(s_i^2 / r_i) / k^2, f)`` with the variance s_i^2 within an item (the pooled one
    for an item with one response), and f the :func:`sampling_floor`; sum r_i - k degrees of
    freedom. 0 with infinitely many where nothing was drawn; None without two responses to an item.

    >>> draw_variance([[0.0, 1.0], [1.0, 1.0]], None)
    (0.0625, 2)
    """
    if deterministic:
        return 0.0, math.inf
    given = [item for item in items if len(item)]
    k, sizes = len(given), [len(item) for item in given]
    df = sum(sizes) - k
    if df < 1:
        return None
    squares = [sum_of_squares(item) for item in given]
    pooled = fsum(squares) / df
    variance = fsum(
        (square / (r - 1) if r > 1 else pooled) / r
        for r, square in zip(sizes, squares, strict=True)
    )
    mean = fsum(fsum(item) / len(item) for item in given) / k
    return max(variance / k**2, sampling_floor(mean, effective_responses(sizes), n_features)), df


def _these_prompts(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]],
    n_features: int | None,
    deterministic: tuple[bool, bool],
    extra: float,
) -> EstimatedInterval:
    """Return the Welch interval by item.

    ``se^2 = max(sum (s_ai^2 / r_ai + s_bi^2 / r_bi) / k^2, f_a + f_b)`` with the lower limits of
    :func:`sampling_floor`, t with Welch and Satterthwaite's degrees of freedom over the 2k samples.
    An item with one response takes the pooled variance of its side. A deterministic side adds no
    variance and no lower limit.
    """
    estimand = Estimand.THESE_PROMPTS
    k = len(pairs)
    variance = floor = satterthwaite = 0.0
    most_df = 0
    means = []
    for side in (0, 1):
        items = [pair[side] for pair in pairs]
        means.append(fsum(fsum(item) / len(item) for item in items) / k)
        if deterministic[side]:
            continue
        df = sum(map(len, items)) - k
        if df < 1:
            return EstimatedInterval(estimand, None, ONE_RESPONSE)
        squares = [sum_of_squares(item) for item in items]
        pooled = fsum(squares) / df
        most_df += df
        floor += sampling_floor(
            means[side], effective_responses([len(item) for item in items]), n_features
        )
        for item, square in zip(items, squares, strict=True):
            r = len(item)
            part = (square / (r - 1) if r > 1 else pooled) / r / k**2
            variance += part
            satterthwaite += part**2 / (r - 1 if r > 1 else df)
    welch = min(variance**2 / satterthwaite, most_df) if satterthwaite > 0 else most_df
    se = math.sqrt(max(variance, floor) + extra)
    return _by_t(estimand, means[0] - means[1], se, welch, n_features)


def _by_t(
    estimand: Estimand, mean: float, se: float, df: float, n_features: int | None
) -> EstimatedInterval:
    half = t_quantile(UPPER, df) * se
    most = 1.0 if n_features is None else float(n_features)
    interval = Interval(max(mean - half, -most), min(mean + half, most))
    return EstimatedInterval(estimand, interval, p=2 * t_tail(abs(mean) / se, df))


def family_interval(
    differences: Sequence[Sequence[float]], floor: float = 0.0, largest: float = math.inf
) -> EstimatedInterval:
    """Return the 95 % interval of a mean difference over samples of families and items.

    With a row for each of F families and a column for each of k items:
    ``V = var(family means) / F + var(item means) / k``, ``mean +- t sqrt(V)`` with
    ``min(F, k) - 1`` degrees of freedom. The estimand is *prompts like these* and families like
    these. Source: docs/uncertainty.md.

    Args:
        differences: rows of equal length, without gaps: leave out items that a family lacks.
        floor: the least variance of the mean, from sampling alone: the mean over families of
            :func:`sampling_floor` of both sides, divided by F.
        largest: the largest possible difference, where the interval is truncated.

    >>> family_interval([[0.1, 0.2], [0.3, 0.4]]).reason
    'fewer than three families'
    """
    estimand = Estimand.PROMPTS_LIKE_THESE
    families = len(differences)
    if families < LEAST_FAMILIES:
        return EstimatedInterval(estimand, None, FEW_FAMILIES)
    k = len(differences[0])
    if any(len(row) != k for row in differences):
        raise ValueError("every family needs a difference for every item")
    if k < 2:
        return EstimatedInterval(estimand, None, ONE_ITEM if k else NO_VALUE)
    rows = [fsum(row) / k for row in differences]
    columns = [fsum(column) / families for column in zip(*differences, strict=True)]
    variance = max(
        sum_of_squares(rows) / (families - 1) / families + sum_of_squares(columns) / (k - 1) / k,
        floor,
    )
    mean = fsum(rows) / families
    half = t_quantile(UPPER, min(families, k) - 1) * math.sqrt(variance)
    if half <= 1e-9 * max(abs(value) for row in differences for value in row):
        return EstimatedInterval(estimand, None, NO_VARIATION)
    low, high = max(mean - half, -largest), min(mean + half, largest)
    return EstimatedInterval(estimand, Interval(low, high))
