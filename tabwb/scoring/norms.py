"""A person's value compared with a group of which number, mean and spread are known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from tabwb.scoring.distributions import noncentral_t_tail, t_tail

EDGE = 0.025
"""The share beyond each end of a 95 % interval."""
NEAR = 1e-7
STEPS = 240
"""Of the integral of the noncentral t; with 2,000 the interval is the same to 1e-6 points."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A value in a group.

    Attributes:
        percentile: the estimated share of the group's people below the value, in percent; None
            where it lies beyond the outermost percentile that is known.
        low, high: of the percentile: the ends of its 95 % interval; of known percentiles: those
            between which the value lies.
        t, df, p: of the comparison with the group, p two-sided; None for known percentiles.
    """

    percentile: float | None
    low: float
    high: float
    t: float | None = None
    df: int | None = None
    p: float | None = None


@lru_cache(maxsize=4096)
def standing(value: float, mean: float, sd: float, n: int) -> Standing:
    """Return a value compared with a group of ``n`` people with this mean and sample sd.

    Crawford and Howell (1998): ``t = (value - mean) / (sd sqrt((n + 1) / n))`` with ``n - 1``
    degrees of freedom; the percentile is ``100 P(T < t)``. Crawford and Garthwaite (2002): with
    ``c = (value - mean) / sd`` the 95 % interval of the percentile is ``100 Phi(d / sqrt(n))``, d
    such that ``c sqrt(n)`` is the .975 and the .025 quantile of the noncentral t of n - 1 degrees
    of freedom and noncentrality d. Both take the group's values as Gaussian.

    >>> found = standing(70, 100, 10, 20)
    >>> round(found.t, 3), found.df, round(found.percentile, 2)
    (-2.928, 19, 0.43)
    >>> round(found.low, 2), round(found.high, 2)
    (0.0, 2.56)
    """
    if n < 2 or sd <= 0:
        raise ValueError("a group needs two people and a spread")
    c, df = (value - mean) / sd, n - 1
    t = c / math.sqrt((n + 1) / n)
    at = c * math.sqrt(n)
    low, high = (_shift(at, df, tail) / math.sqrt(n) for tail in (EDGE, 1 - EDGE))
    percentile = 100 * (1 - t_tail(t, df))
    return Standing(percentile, 100 * _phi(low), 100 * _phi(high), t, df, 2 * t_tail(abs(t), df))


def among(value: float, percentiles: Mapping[float, float]) -> Standing:
    """Return the place of a value among known percentiles, in proportion between two of them.

    >>> among(0.875, {5: 0.5, 50: 0.75, 95: 1.0})
    Standing(percentile=72.5, low=50, high=95, t=None, df=None, p=None)
    >>> among(0.4, {5: 0.5, 50: 0.7, 95: 0.9}).percentile is None
    True
    """
    known = sorted(percentiles.items())
    below = [one for one in known if one[1] <= value]
    above = [one for one in known if one[1] >= value]
    if not below:
        return Standing(None, 0, known[0][0])
    if not above:
        return Standing(None, known[-1][0], 100)
    (low, first), (high, last) = below[-1], above[0]
    if first == last:
        return Standing((low + high) / 2, min(low, high), max(low, high))
    return Standing(low + (high - low) * (value - first) / (last - first), low, high)


def _phi(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def _tail(t: float, df: int, shift: float) -> float:
    """Return P(T > t) of the noncentral t, for any t, to about 1e-9."""
    if t < 0:
        return 1 - noncentral_t_tail(-t, df, -shift, STEPS)
    return noncentral_t_tail(t, df, shift, STEPS)


def _shift(t: float, df: int, tail: float) -> float:
    """Return the noncentrality for which P(T > t) is ``tail``, by false position (Illinois)."""
    low = high = t
    step = 1.0
    while (under := _tail(t, df, low) - tail) > 0:
        low, step = low - step, 2 * step
    step = 1.0
    while (over := _tail(t, df, high) - tail) < 0:
        high, step = high + step, 2 * step
    at = low
    while high - low > NEAR:
        before, at = at, (low * over - high * under) / (over - under)
        found = _tail(t, df, at) - tail
        if abs(at - before) < NEAR or found == 0:
            break
        if found < 0:
            over = over / 2 if before == low else over
            low, under = at, found
        else:
            under = under / 2 if before == high else under
            high, over = at, found
    return at
