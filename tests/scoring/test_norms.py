"""Where a value stands in a group, by a second derivation: scipy's t and noncentral t."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.scoring.norms import among, standing

stats = pytest.importorskip("scipy.stats")
optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")


@pytest.mark.parametrize(
    ("value", "mean", "sd", "n"),
    [(70, 100, 10, 20), (80, 100, 15, 5), (120, 100, 15, 50), (100, 100, 15, 10),
     (0.4, 0.6, 0.2, 7), (99, 100, 15, 200), (3, 1, 1, 3)],
)  # fmt: skip
def test_percentile_and_interval(value: float, mean: float, sd: float, n: int) -> None:
    found, c = standing(value, mean, sd, n), (value - mean) / sd
    t = c / math.sqrt(1 + 1 / n)
    assert found.t == pytest.approx(t)
    assert found.df == n - 1
    assert found.percentile == pytest.approx(100 * stats.t.cdf(t, n - 1))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), n - 1))
    at = c * math.sqrt(n)

    def end(share: float) -> float:
        shift = optimize.brentq(
            lambda d: stats.nct.cdf(at, n - 1, d) - share, at - 6 - abs(c), at + 6 + abs(c)
        )
        return float(100 * stats.norm.cdf(shift / math.sqrt(n)))

    assert (found.low, found.high) == pytest.approx((end(0.975), end(0.025)), abs=1e-3)


@pytest.mark.parametrize(("c", "n"), [(5, 2), (20, 2), (-50, 2), (8, 3)])
def test_interval_of_a_small_group_far_from_the_value(c: float, n: int) -> None:
    found, at, df = standing(c, 0, 1, n), abs(c) * math.sqrt(n), n - 1
    share = found.low if c > 0 else 100 - found.high
    shift = math.sqrt(n) * stats.norm.ppf(share / 100)

    def above(chi: float) -> float:  # P(T > at) given the chi of the spread
        phi = stats.norm.cdf(shift - at * chi / math.sqrt(df))
        return float(phi * stats.chi.pdf(chi, df))

    ends = [0.0, (shift + 9) * math.sqrt(df) / at]
    assert integrate.quad(above, *ends)[0] == pytest.approx(0.025, abs=1e-6)


@given(st.floats(-5, 5), st.integers(2, 60))
def test_the_percentile_lies_in_its_interval(z: float, n: int) -> None:
    found, mirrored = standing(z, 0, 1, n), standing(-z, 0, 1, n)
    assert found.percentile is not None
    assert mirrored.percentile is not None
    assert found.low <= found.percentile <= found.high
    assert found.percentile + mirrored.percentile == pytest.approx(100)
    assert found.low + mirrored.high == pytest.approx(100, abs=1e-3)


def test_known_percentiles() -> None:
    known = {5.0: 0.5, 50.0: 0.75, 95.0: 0.75}
    assert among(0.625, known).percentile == 27.5
    assert (among(0.4, known).percentile, among(0.4, known).high) == (None, 5)
    assert (among(0.9, known).percentile, among(0.9, known).low) == (None, 95)
    assert among(0.75, known).percentile == 72.5
