"""One participant on the same items in two or more sessions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from tabwb.scoring.distributions import t_quantile, t_tail
from tabwb.scoring.estimate import ALPHA, UPPER, Interval
from tabwb.scoring.intervals import Z, sum_of_squares
from tabwb.scoring.permutation import paired_permutation, sign_flip_interval

_EXACT = 500


@dataclass(frozen=True, slots=True)
class McNemar:
    """Items right only later and only first; exact two-sided p, and mid-p, close to the level."""

    gained: int
    lost: int
    p: float
    mid_p: float


def mcnemar(before: Sequence[bool], after: Sequence[bool]) -> McNemar:
    """Return McNemar's exact test of right answers to the same items in two sessions.

    With b gained and c lost, ``p = min(1, 2 P[Bin(b + c, 1/2) >= max(b, c)])``; the mid-p value
    takes ``P[Bin = max(b, c)]`` off. Without a change both are 1. Source: McNemar, Psychometrika 12
    (1947), 153; mid-p: Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13 (2013),
    91.

    >>> mcnemar([False] * 6 + [True] * 4, [True] * 10)
    McNemar(gained=6, lost=0, p=0.03125, mid_p=0.015625)
    """
    pairs = [(bool(a), bool(b)) for a, b in zip(before, after, strict=True)]
    return mcnemar_of_counts(pairs.count((False, True)), pairs.count((True, False)))


def mcnemar_of_counts(gained: int, lost: int) -> McNemar:
    """Return McNemar's exact test from the numbers of changes; see :func:`mcnemar`."""
    n, most = gained + lost, max(gained, lost)
    if n <= _EXACT:
        at = math.comb(n, most) / 2**n
        tail = sum(math.comb(n, count) for count in range(most, n + 1)) / 2**n
    else:
        logs = math.lgamma(n + 1) - math.lgamma(most + 1) - math.lgamma(n - most + 1)
        at = tail = term = math.exp(logs - n * math.log(2))
        for count in range(most, n):  # each term from the one before, until they add nothing
            term *= (n - count) / (count + 1)
            if tail + term == tail:
                break
            tail += term
    return McNemar(gained, lost, min(1.0, 2 * tail), min(1.0, 2 * tail - at))


def mcnemar_interval(gained: int, lost: int, n: int) -> Interval:
    """Return the 95 % interval of the difference of two shares of the same n items.

    Tango's score interval: every delta with ``|b - c - n delta| <= 1.96 sqrt(n (2 q + delta (1 -
    delta)))``, where q is the likeliest share of lost items for this delta. Where McNemar's exact
    test has p of .05 or more, which the score test may not, it is extended to 0, so that p is below
    .05 just where 0 is outside. It has a width also without any change.
    Source: Tango, Statistics in Medicine 17 (1998), 891.

    >>> found = mcnemar_interval(6, 0, 40)
    >>> round(found.low, 3), round(found.high, 3)
    (0.049, 0.291)
    """
    if n < 1:
        raise ValueError("an interval needs an item")

    def score(delta: float) -> float:
        b = (2 * n - gained + lost) * delta - gained - lost
        q = (math.sqrt(max(0.0, b * b + 8 * n * lost * delta * (1 - delta))) - b) / (4 * n)
        variance = n * (2 * q + delta * (1 - delta))
        away = gained - lost - n * delta
        return math.copysign(math.inf, away) if variance <= 0 else away / math.sqrt(variance)

    middle = (gained - lost) / n
    ends = []
    for side in (-1.0, 1.0):
        inside, outside = middle, side
        for _ in range(60):
            at = (inside + outside) / 2
            inside, outside = (at, outside) if abs(score(at)) <= Z else (inside, at)
        ends.append(inside)
    low, high = ends
    if mcnemar_of_counts(gained, lost).p >= ALPHA:
        low, high = min(low, 0.0), max(high, 0.0)
    return Interval(low, high)


@dataclass(frozen=True, slots=True)
class WeightedTest:
    """Weighted sums over sessions, ``s_i = sum_t w_t y_it``, tested over items of one set or two.

    Attributes:
        value: the mean over items; of two sets the first's less the second's.
        t, df: ``mean / (sd(s) / sqrt(n))`` and n - 1, for comparison; of two sets Welch's.
        p: two-sided: of sign flips over items; of two sets that of t.
        reason: why there is no t and interval, of two sets no p either; else empty.
        interval: 95 %: the inverted test, within the possible sums; of two sets that of t.
        one_sided: p of H1 that the value is above 0: the share of the same assignments of signs
            whose sum is as large or larger; of two sets that of t.
    """

    value: float
    t: float | None
    df: float | None
    p: float | None
    reason: str = ""
    interval: Interval | None = None
    one_sided: float | None = None


def trend_weights(sessions: int) -> tuple[float, ...]:
    """Return the weights of a linear trend over sessions, ``t - mean(t)``.

    >>> trend_weights(4)
    (-1.5, -0.5, 0.5, 1.5)
    """
    middle = (sessions - 1) / 2
    return tuple(t - middle for t in range(sessions))


def slope_weights(sessions: int) -> tuple[float, ...]:
    """Return the weights of the least-squares slope over equally spaced sessions.

    Those of :func:`trend_weights` divided by the sum of their squares; t and p are the same.

    >>> slope_weights(3)
    (-0.5, 0.0, 0.5)
    """
    weights = trend_weights(sessions)
    size = fsum(weight * weight for weight in weights)
    return tuple(weight / size for weight in weights)


def rate_of_change_weights(baselines: int, sessions: int) -> tuple[float, ...]:
    """Return the weights of the change of slope when treatment begins.

    The least-squares slope from the last baseline to the last session, minus that over the
    baselines: derived after Howard, Best and Nickels, Aphasiology 29 (2015), 526.

    >>> rate_of_change_weights(2, 4)
    (1.0, -1.5, 0.0, 0.5)
    """
    if baselines < 2 or sessions <= baselines:
        raise ValueError("a rate of change needs two baselines and a session after them")
    weights = [0.0] * sessions
    for start, end, sign in ((0, baselines, -1), (baselines - 1, sessions, 1)):
        slope = trend_weights(end - start)
        size = fsum(weight * weight for weight in slope)
        for t, weight in enumerate(slope, start):
            weights[t] += sign * weight / size
    return tuple(weights)


def compare_sets(
    first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], weights: Sequence[float]
) -> WeightedTest:
    """Return Welch's test that one set of items (trained) changes more than another (untrained).

    Both sets are scored in the same sessions, so that the form of the day affects both alike; what
    is tested is the difference of change, after Howard, Best and Nickels, Aphasiology 29 (2015),
    526. ``t = (mean(s_1) - mean(s_2)) / sqrt(v_1/n_1 + v_2/n_2)``; Welch, Biometrika 34 (1947), 28.

    Scores are for each item (two or more) those of the sessions; weights add up to 0.

    >>> found = compare_sets([[0, 1], [0, 1], [1, 1]], [[0, 0], [1, 1], [1, 0]], (-0.5, 0.5))
    >>> round(found.value, 6), round(found.t, 6), round(found.df, 6)
    (0.5, 2.12132, 4.0)
    """
    sums = [_weighted_sums(scores, weights) for scores in (first, second)]
    means = [fsum(own) / len(own) for own in sums]
    parts = [sum_of_squares(own) / (len(own) - 1) / len(own) for own in sums]
    difference, variance = means[0] - means[1], fsum(parts)
    if variance <= (1e-12 * max(abs(value) for own in sums for value in own)) ** 2:
        return WeightedTest(difference, None, None, None, SAME_SUMS)
    df = variance**2 / fsum(part**2 / (len(own) - 1) for part, own in zip(parts, sums, strict=True))
    error = math.sqrt(variance)
    t = difference / error
    interval = _around(difference, error, df)
    tail = t_tail(abs(t), df)
    return WeightedTest(
        difference, t, df, 2 * tail, interval=interval, one_sided=tail if t > 0 else 1 - tail
    )


SAME_SUMS = "every item has the same weighted sum"


def _weighted_sums(scores: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    if abs(fsum(weights)) > 1e-9 * (fsum(map(abs, weights)) or 1.0):
        raise ValueError("the weights of the sessions must add up to 0")
    if len(scores) < 2:
        raise ValueError("a test over items needs two items or more")
    return [fsum(w * y for w, y in zip(weights, row, strict=True)) for row in scores]


def weighted_test(scores: Sequence[Sequence[float]], weights: Sequence[float]) -> WeightedTest:
    """Return the sign-flip test over items of a weighted sum over sessions.

    ``s_i = sum_t w_t y_it`` with ``sum w = 0``. Where few answers are right the s_i are far from
    normal and t rejects too often; the signs of the s_i are flipped instead
    (:func:`tabwb.scoring.permutation.paired_permutation`). The interval inverts the test
    (:func:`~tabwb.scoring.permutation.sign_flip_interval`). Improvement is specific to treatment
    only where trend and rate of change both show it. The form of the day affects all items at once,
    so that both tests reject too often: docs/uncertainty.md has how often.

    Scores are for each item (two or more) those of the sessions; weights add up to 0.

    >>> found = weighted_test([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]], trend_weights(4))
    >>> round(found.t, 6), found.df
    (10.0, 2)
    """
    sums = _weighted_sums(scores, weights)
    n = len(sums)
    mean = fsum(sums) / n
    flipped = paired_permutation([(value, 0.0) for value in sums])
    assert flipped is not None
    variance = sum_of_squares(sums) / (n - 1)
    if variance <= (1e-12 * max(map(abs, sums))) ** 2:
        return WeightedTest(mean, None, n - 1, flipped.p, SAME_SUMS, one_sided=flipped.greater)
    low, high, p = sign_flip_interval(sums)
    # Both are of the same draws where all signs are counted, or where the draws alone disagree.
    if (flipped.p < ALPHA) == (low > 0 or high < 0):
        p = flipped.p
    greater = flipped.greater if mean <= 0 or p == flipped.p else p / 2
    most = fsum(w for w in weights if w > 0)
    interval = Interval(max(low, -most), min(high, most))
    t = mean / math.sqrt(variance / n)
    return WeightedTest(mean, t, n - 1, p, interval=interval, one_sided=greater)


def _around(middle: float, error: float, df: float) -> Interval:
    half = t_quantile(UPPER, df) * error
    return Interval(middle - half, middle + half)
