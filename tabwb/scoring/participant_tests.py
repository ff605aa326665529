"""One participant on the same items in two or more sessions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from tabwb.scoring.distributions import t_tail
from tabwb.scoring.intervals import sum_of_squares


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

    Args:
        before: whether each item was right in the first session.
        after: likewise in the second session, the items in the same order.

    >>> mcnemar([False] * 6 + [True] * 4, [True] * 10)
    McNemar(gained=6, lost=0, p=0.03125, mid_p=0.015625)
    """
    pairs = [(bool(a), bool(b)) for a, b in zip(before, after, strict=True)]
    gained, lost = pairs.count((False, True)), pairs.count((True, False))
    n, most = gained + lost, max(gained, lost)
    tail = sum(math.comb(n, count) for count in range(most, n + 1)) / 2**n
    at = math.comb(n, most) / 2**n
    return McNemar(gained, lost, min(1.0, 2 * tail), min(1.0, 2 * tail - at))


@dataclass(frozen=True, slots=True)
class WeightedTest:
    """A weighted sum over sessions, tested over items.

    Attributes:
        mean: over items of ``s_i = sum_t w_t y_it``.
        t, df, p: of the one-sided one-sample t test that the mean is above 0.
        reason: why there is no t and p, else empty.
    """

    mean: float
    t: float | None
    df: int
    p: float | None
    reason: str = ""


def trend_weights(sessions: int) -> tuple[float, ...]:
    """Return the weights of a linear trend over sessions, ``t - mean(t)``.

    >>> trend_weights(4)
    (-1.5, -0.5, 0.5, 1.5)
    """
    middle = (sessions - 1) / 2
    return tuple(t - middle for t in range(sessions))


def rate_of_change_weights(baselines: int, sessions: int) -> tuple[float, ...]:
    """Return the weights of the change of slope when treatment begins.

    The least-squares slope from the last baseline to the last session, minus that over the
    baselines: derived after Howard, Best and Nickels, Aphasiology 29 (2015), 526.

    Args:
        baselines: sessions before treatment, 2 or more.
        sessions: all of them, more than the baselines.

    Raises:
        ValueError: fewer than two baselines, or no session after them.

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


def weighted_test(scores: Sequence[Sequence[float]], weights: Sequence[float]) -> WeightedTest:
    """Return the one-sided t test over items of a weighted sum over sessions.

    ``s_i = sum_t w_t y_it`` with ``sum w = 0``; ``t = mean(s) / (sd(s) / sqrt(n))``, n - 1 degrees
    of freedom, p = P(T > t). Improvement is specific to treatment only where trend and rate of
    change both show it. The form of the day affects all items at once: at the level .05 both tests
    reject .07 to .14 of true null hypotheses.

    Args:
        scores: for each item (two or more) its score in each session.
        weights: of the sessions, adding up to 0.

    Raises:
        ValueError: weights that do not add up to 0, or fewer than two items.

    >>> found = weighted_test([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]], trend_weights(4))
    >>> round(found.t, 6), found.df
    (10.0, 2)
    """
    if abs(fsum(weights)) > 1e-9 * (fsum(map(abs, weights)) or 1.0):
        raise ValueError("the weights of the sessions must add up to 0")
    n = len(scores)
    if n < 2:
        raise ValueError("a test over items needs two items or more")
    sums = [fsum(w * y for w, y in zip(weights, row, strict=True)) for row in scores]
    mean = fsum(sums) / n
    variance = sum_of_squares(sums) / (n - 1)
    if variance <= (1e-12 * max(map(abs, sums))) ** 2:
        return WeightedTest(mean, None, n - 1, None, "every item has the same weighted sum")
    t = mean / math.sqrt(variance / n)
    return WeightedTest(mean, t, n - 1, t_tail(t, n - 1))
