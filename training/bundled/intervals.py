"""Exact confidence intervals for proportions."""

from __future__ import annotations

from collections.abc import Callable
from math import comb


def _at_least(k: int, n: int, p: float) -> float:
    return sum(comb(n, i) * p**i * (1.0 - p) ** (n - i) for i in range(k, n + 1))


def _root(rising: Callable[[float], float], target: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < target else (low, middle)
    return (low + high) / 2


def clopper_pearson(k: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided interval for ``k`` successes in ``n`` trials.

    The lower bound is the p at which k or more successes have probability (1 - level) / 2, the
    upper bound the p at which k or fewer have it (Clopper and Pearson 1934).

    >>> [round(x, 4) for x in clopper_pearson(18, 20)]
    [0.683, 0.9877]
    >>> [round(x, 4) for x in clopper_pearson(0, 10)]
    [0.0, 0.3085]
    """
    tail = (1.0 - level) / 2
    lower = 0.0 if k == 0 else _root(lambda p: _at_least(k, n, p), tail)
    upper = 1.0 if k == n else _root(lambda p: _at_least(k + 1, n, p), 1.0 - tail)
    return lower, upper
