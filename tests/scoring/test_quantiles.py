"""Quantiles, and the exact interval of a median, against scipy and numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tabwb.scoring.estimate import median_interval, quantile


def test_the_median_has_its_exact_interval() -> None:
    """P[X_(k) <= median <= X_(n-k+1)], k = 2 of 10: 1 - 2 P[Bin(10, 1/2) <= 1] = 0.979."""
    values = [float(n) for n in range(1, 11)]
    found = median_interval(values)
    assert found is not None and (found.low, found.high) == (2, 9)
    assert 1 - 2 * stats.binom(10, 0.5).cdf(1) > 0.95 > 1 - 2 * stats.binom(10, 0.5).cdf(2)


@pytest.mark.parametrize("n", [6, 7, 17, 60, 181, 14_000])
def test_the_interval_is_the_narrowest_that_covers(n: int) -> None:
    found = median_interval([float(k) for k in range(1, n + 1)])
    assert found is not None
    outside = 2 * stats.binom(n, 0.5).cdf(found.low - 1)
    assert outside <= 0.05 < 2 * stats.binom(n, 0.5).cdf(found.low)
    assert found.low + found.high == n + 1


def test_quantiles_are_those_of_numpy() -> None:
    values = [0.3, 1.7, 0.2, 5.0, 0.9, 2.2]
    for share in (0.0, 0.05, 0.25, 0.5, 0.95, 1.0):
        assert quantile(values, share) == pytest.approx(float(np.quantile(values, share)))
