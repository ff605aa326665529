"""Differences of two examinees on the same items: intervals, and the smallest detectable one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum

from tabwb.scoring.distributions import noncentral_t_tail, t_quantile, t_tail
from tabwb.scoring.estimate import (
    NO_VALUE,
    ONE_ITEM,
    ONE_RESPONSE,
    UPPER,
    Estimand,
    Estimate,
    EstimatedInterval,
    Interval,
    missing_reason,
)
from tabwb.scoring.intervals import effective_responses, sum_of_squares

LEAST_FAMILIES = 3
FEW_FAMILIES = "fewer than three families"
NO_VARIATION = "neither families nor items differ: the variance cannot be estimated"
Values = Sequence[Sequence[float]]
"""For each item the values of the responses to it."""


def difference_interval(
    first: Values,
    second: Values,
    n_features: int | None,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    deterministic: tuple[bool, bool] = (False, False),
) -> EstimatedInterval:
    """Return the 95 % interval of first - second, both answering the same items.

    The estimate is the mean over items of the difference of item means.

    Args:
        first: for each item the values of the first examinee's responses.
        second: likewise, the items in the same order. Items without a value on either side are
            left out.
        n_features: size of the feature set where the values are burdens; None for a rate, whose
            values are 0 and 1.
        estimand: what the interval is for.
        deterministic: whether each side is deterministic, without error for these prompts.

    >>> right, wrong = [[1.0]] * 15, [[0.0]] * 15
    >>> found = difference_interval(wrong[:5], right[:5], None).interval
    >>> found.low, round(found.high, 2)
    (-1.0, -0.51)
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if len(a) and len(b)]
    most = [max(len(a), len(b)) for a, b in pairs]
    if reason := missing_reason(estimand, most, all(deterministic)):
        return EstimatedInterval(estimand, None, reason)
    if estimand is Estimand.THESE_PROMPTS:
        return _these_prompts(pairs, n_features, deterministic)
    means = [[fsum(pair[side]) / len(pair[side]) for pair in pairs] for side in (0, 1)]
    sizes = [effective_responses([len(pair[side]) for pair in pairs]) for side in (0, 1)]
    return EstimatedInterval(estimand, paired_t(means[0], means[1], sizes[0], sizes[1], n_features))


def paired_t(
    first: Sequence[float],
    second: Sequence[float],
    n_first: float,
    n_second: float,
    n_features: int | None,
) -> Interval:
    """Return the paired interval for prompts like these (two items or more).

    With d the k differences of item means: ``mean(d) +- t_{k-1} se``,
    ``se^2 = max(var(d) / k, f_a + f_b)``. The lower limit f is the :func:`sampling_floor` of a side
    with its responses. Truncated at the largest possible difference. Source: docs/uncertainty.md.

    Args:
        first: item means.
        second: likewise, in the same order.
        n_first: responses behind them, see :func:`effective_responses`.
        n_second: likewise.
        n_features: size of the feature set for burdens; None for rates.

    Raises:
        ValueError: fewer than two items.

    >>> found = paired_t([1.0, 1.0, 0.4], [1.5, 1.0, 0.9], 30, 30, 19)
    >>> round(found.low, 4), round(found.high, 4)
    (-1.435, 0.7683)
    """
    mean, se = _mean_and_error(first, second, n_first, n_second, n_features)
    return _around(mean, t_quantile(UPPER, len(first) - 1) * se, n_features)


def paired_t_p(
    first: Sequence[float],
    second: Sequence[float],
    n_first: float,
    n_second: float,
    n_features: int | None,
) -> float:
    """Return the two-sided p of ``t = mean(d) / se`` with k - 1 degrees of freedom.

    ``se^2 = max(var(d) / k, f_a + f_b, f_0)``: that of :func:`paired_t`, and at least f_0, the
    variance from the draws alone if both sides have one mean m, that of all responses:
    ``f_0 = m (1/n_a + 1/n_b)`` for a burden, ``m (1 - m) (1/n_a + 1/n_b)`` for a rate (a score
    test). p is below .05 only where the interval does not contain 0. Without f_0 few answers that
    are all alike make the test reject too often.

    Signs can only be flipped if the item differences are symmetric around 0 where the sides do not
    differ; with unequal numbers of responses they are not, and sign flips reject too often.

    Args:
        first: item means.
        second: likewise, in the same order.
        n_first: responses behind them, see :func:`effective_responses`.
        n_second: likewise.
        n_features: size of the feature set for burdens; None for rates.

    Raises:
        ValueError: fewer than two items.

    >>> round(paired_t_p([1.0, 1.0, 0.4], [1.5, 1.0, 0.9], 30, 30, 19), 4)
    0.3227
    """
    mean, se = _mean_and_error(first, second, n_first, n_second, n_features)
    k = len(first)
    pooled = (fsum(first) * n_first + fsum(second) * n_second) / (n_first + n_second) / k
    spread = pooled if n_features is not None else pooled * (1 - pooled)
    null = math.sqrt(max(0.0, spread * (1 / n_first + 1 / n_second)))
    return 2 * t_tail(abs(mean) / max(se, null), k - 1)


def _mean_and_error(
    first: Sequence[float],
    second: Sequence[float],
    n_first: float,
    n_second: float,
    n_features: int | None,
) -> tuple[float, float]:
    k = len(first)
    if k < 2:
        raise ValueError("an interval for prompts like these needs two items or more")
    d = [a - b for a, b in zip(first, second, strict=True)]
    floor = sampling_floor(fsum(first) / k, n_first, n_features) + sampling_floor(
        fsum(second) / k, n_second, n_features
    )
    variance = max(sum_of_squares(d) / (k - 1) / k, floor)
    return fsum(d) / k, math.sqrt(variance)


def sampling_floor(mean: float, n: float, n_features: int | None) -> float:
    """Return the least variance of a mean m of n responses, above 0 also where all are equal.

    ``(m + 0.5/n) / n`` for a burden (Poisson), ``p (1 - p) / n`` with ``p = (mn + 0.5) / (n + 1)``
    for a rate.

    Args:
        mean: of the responses.
        n: number of responses, above 0; may be an effective number.
        n_features: size of the feature set for a burden; None for a rate.

    >>> sampling_floor(0.0, 50, 19), round(sampling_floor(1.0, 9, None), 6)
    (0.0002, 0.005278)
    """
    if n_features is not None:
        return (mean + 0.5 / n) / n
    p = (mean * n + 0.5) / (n + 1)
    return p * (1 - p) / n


def _these_prompts(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]],
    n_features: int | None,
    deterministic: tuple[bool, bool],
) -> EstimatedInterval:
    """Return the Welch interval by item.

    ``se^2 = max(sum (s_ai^2 / r_ai + s_bi^2 / r_bi) / k^2, f_a + f_b)`` with the lower limits of
    :func:`paired_t`, t with Welch and Satterthwaite's degrees of freedom over the 2k samples. An
    item with one response takes the pooled variance of its side. A deterministic side adds no
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
    half = t_quantile(UPPER, welch) * math.sqrt(max(variance, floor))
    return EstimatedInterval(estimand, _around(means[0] - means[1], half, n_features))


def _around(middle: float, half: float, n_features: int | None) -> Interval:
    most = 1.0 if n_features is None else float(n_features)
    return Interval(max(middle - half, -most), min(middle + half, most))


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

    Raises:
        ValueError: rows of unequal length.

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


POWER = 0.8
"""The chance that a difference of the printed size is found."""
DISPERSION = 2.0
"""phi: variance of a burden over its mean, within an item, unless piloted."""
ITEM_VARIATION = 0.25
"""CV: how much item means differ, as a share of the burden, unless piloted."""
ITEM_CORRELATION = 0.6
"""Between two examinees' item means; 1.2 in the formula is twice this."""
ACCURACY_BETWEEN_ITEMS = 0.3
"""Share of the variance of right and wrong that lies between items, unless piloted [ours]."""
BURDEN = 1.0
"""Of the first examinee, unless piloted."""
ACCURACY = 0.5
"""Of the first examinee, unless piloted: where a difference is hardest to show."""
OUT_OF_RANGE = "no possible difference is large enough"


@dataclass(frozen=True, slots=True)
class Design:
    """The k items that both of two examinees are given, and r responses to each.

    The harmonic mean where they are unequal; where nothing is drawn, one response to an item.
    """

    items: int
    replicates: float

    def degrees_of_freedom(self, estimand: Estimand) -> float:
        """Return k - 1 for prompts like these, 2k(r - 1) for these prompts."""
        like = estimand is Estimand.PROMPTS_LIKE_THESE
        return self.items - 1 if like else 2 * self.items * (self.replicates - 1)


@lru_cache(maxsize=256)
def detection_factor(df: float) -> float:
    """Return c(df): how many standard errors a difference must have to be found.

    The noncentrality at which a two-sided t test at .05 rejects with power .8:
    ``P(T_df(c) > t_{.975, df}) = 0.8``.

    >>> [round(detection_factor(df), 2) for df in (4, 9, 190)]
    [3.76, 3.15, 2.82]
    """
    critical = t_quantile(UPPER, df)
    low, high = 0.0, 4 * critical + 4
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        detected = noncentral_t_tail(critical, df, middle) >= POWER
        low, high = (low, middle) if detected else (middle, high)
    return high


def detectable_burden(
    design: Design,
    n_features: int,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    burden: float = BURDEN,
) -> Estimate:
    """Return the smallest difference in burden that two examinees on the same items can show.

    ``delta = c(df) sqrt(V)``, ``V = phi (A + B) / (kr)`` and, for prompts like these,
    ``+ CV^2 (A^2 + B^2 - 1.2 AB) / k``, with burdens A and B = A + delta, phi 2 and CV 0.25 unless
    piloted. Source: docs/uncertainty.md.

    Args:
        design: items and replicates of each of the two.
        n_features: size of the feature set: the largest burden there is.
        estimand: what the difference is to be shown for.
        burden: A.

    >>> like = detectable_burden(Design(5, 20), 19)
    >>> these = detectable_burden(Design(5, 20), 19, Estimand.THESE_PROMPTS)
    >>> round(these.value, 2), round(like.value, 1)
    (0.65, 1.2)
    """

    def variance(delta: float) -> float:
        other = burden + delta
        total = DISPERSION * (burden + other) / (design.items * design.replicates)
        if estimand is Estimand.PROMPTS_LIKE_THESE:
            total += ITEM_VARIATION**2 * _of_items(burden, other) / design.items
        return total

    return _smallest(design, estimand, variance, n_features - burden)


def detectable_accuracy(
    design: Design,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    accuracy: float = ACCURACY,
) -> Estimate:
    """Return the smallest difference in accuracy that two examinees on the same items can show.

    ``delta = c(df) sqrt(V)``, with a = A(1 - A) and b = B(1 - B) for accuracies A and B = A +
    delta. These prompts: ``V = (a + b) / (kr)``. Prompts like these: the share rho = 0.3 of a and b
    lies between items, ``V = (1 - rho)(a + b) / (kr) + rho (a + b - 1.2 sqrt(ab)) / k``, and no
    less than for these prompts. Ours, after the formula of the burden.

    Args:
        design: items and replicates of each of the two.
        estimand: what the difference is to be shown for.
        accuracy: A.

    >>> round(detectable_accuracy(Design(15, 10)).value, 2)
    0.23
    >>> detectable_accuracy(Design(5, 1)).reason
    'no possible difference is large enough'
    """

    def variance(delta: float) -> float:
        other = min(accuracy + delta, 1.0)
        a, b = accuracy * (1 - accuracy), other * (1 - other)
        draws = (a + b) / (design.items * design.replicates)
        if estimand is Estimand.THESE_PROMPTS:
            return draws
        items = _of_items(math.sqrt(a), math.sqrt(b)) / design.items
        share = ACCURACY_BETWEEN_ITEMS
        return max(draws, (1 - share) * draws + share * items)

    return _smallest(design, estimand, variance, 1 - accuracy)


def _of_items(first: float, second: float) -> float:
    """Return the variance of a difference of item means, of spreads correlated by 0.6."""
    return first * first + second * second - 2 * ITEM_CORRELATION * first * second


def _smallest(
    design: Design, estimand: Estimand, variance: Callable[[float], float], largest: float
) -> Estimate:
    """Return the smallest delta from 0 to ``largest`` with ``delta >= c sqrt(variance(delta))``."""
    if estimand is Estimand.PROMPTS_LIKE_THESE and design.items < 2:
        return Estimate(None, ONE_ITEM)
    df = design.degrees_of_freedom(estimand)
    if df <= 0:
        return Estimate(None, ONE_RESPONSE)
    factor = detection_factor(df)

    def shown(delta: float) -> bool:
        return delta >= factor * math.sqrt(variance(delta))

    if not shown(largest):
        return Estimate(None, OUT_OF_RANGE)
    low, high = 0.0, largest
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return Estimate(high)
