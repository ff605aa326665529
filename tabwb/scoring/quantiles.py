"""Quantiles of a sample, and the interval of a median without a distribution."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.scoring.distributions import incomplete_beta
from tabwb.scoring.estimate import LEVEL, Interval


def quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile of a sample, interpolated between its values.

    With x_0 <= ... <= x_{n-1} and h = (n - 1) share: x_floor(h) + (h - floor(h)) (x_{floor(h)+1} -
    x_floor(h)). Source: Hyndman and Fan 1996, The American Statistician 50, definition 7.

    Raises:
        ValueError: there are no values.

    >>> quantile([4.0, 1.0, 2.0, 3.0], 0.5), quantile([1.0, 2.0], 0.25)
    (2.5, 1.25)
    """
    if not values:
        raise ValueError("no values, no quantile")
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def median_interval(values: Sequence[float]) -> Interval | None:
    """Return the exact 95 % interval of a median; None below six values, which have none.

    It goes from the k-th smallest to the k-th largest value, k the largest number for which
    P[Bin(n, 1/2) < k] <= 0.025, so that it covers at least 0.95 whatever the distribution.
    Values are taken as independent. Source: Thompson 1936, Ann. Math. Stat. 7, 122.

    >>> median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    True
    >>> median_interval([float(n) for n in range(1, 11)])
    Interval(low=2.0, high=9.0)
    """
    n, tail = len(values), (1 - LEVEL) / 2
    k, above = 0, n // 2 + 1
    while above - k > 1:
        middle = (k + above) // 2
        # P[Bin(n, p) < k] = I_{1-p}(n - k + 1, k)
        if incomplete_beta(0.5, n - middle + 1, middle) <= tail:
            k = middle
        else:
            above = middle
    if k == 0:
        return None
    ordered = sorted(values)
    return Interval(ordered[k - 1], ordered[n - k])
