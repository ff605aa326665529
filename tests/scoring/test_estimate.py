"""Intervals of shares, medians, quantiles and baselines, and tails, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats
from scipy.stats import binomtest

from tabwb.records.states import Protocol
from tabwb.scoring.distributions import (
    beta_quantile,
    chi2_quantile,
    incomplete_beta,
    incomplete_gamma,
    noncentral_t_tail,
    t_quantile,
    t_tail,
)
from tabwb.scoring.estimate import (
    Estimate,
    always_first,
    always_yes,
    chance_corrected,
    clopper_pearson,
    guessing_rate,
    median_interval,
    quantile,
)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_the_exact_one(share: tuple[int, int]) -> None:
    correct, n = share
    interval = clopper_pearson(correct, n)
    oracle = binomtest(correct, n).proportion_ci(0.95, method="exact")
    assert interval is not None
    assert interval.low == pytest.approx(oracle.low, rel=1e-9, abs=1e-12)
    assert interval.high == pytest.approx(oracle.high, rel=1e-9, abs=1e-12)


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


@pytest.mark.parametrize(("correct", "n"), [(0, 112_000), (1, 112_000), (56_000, 112_000)])
def test_the_interval_holds_for_large_counts(correct: int, n: int) -> None:
    interval = clopper_pearson(correct, n)
    oracle = binomtest(correct, n).proportion_ci(0.95, method="exact")
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((oracle.low, oracle.high), rel=1e-8)


def test_an_interval_needs_a_count_within_bounds() -> None:
    assert clopper_pearson(0, 0) is None
    with pytest.raises(ValueError, match="6 of 5"):
        clopper_pearson(6, 5)
    with pytest.raises(ValueError, match="reason"):
        Estimate(None)


def test_tabs_baselines() -> None:
    # Every word-comprehension key is the first option; "always Yes" scores 3 of 5.
    options = ("boot", "boat", "lion", "drum", "violin", "giraffe")
    assert always_first([("boot", options)] * 5).value == 1.0
    assert always_first([("boot", options[1:] + options[:1])]).value == 0.0
    assert always_yes(["Yes", "No", "No", "Yes", "Yes"]).value == 0.6
    assert guessing_rate([6] * 5).value == pytest.approx(1 / 6)
    assert [baseline([]).value for baseline in (always_first, always_yes, guessing_rate)] == (
        [None] * 3
    )


@pytest.mark.parametrize("protocol", [Protocol.ENFORCED, Protocol.LIKELIHOOD])
def test_chance_correction_is_not_clipped_and_not_of_free_answers(protocol: Protocol) -> None:
    guess = Estimate(1 / 6)
    for share, corrected in ((1 / 6, 0.0), (1.0, 1.0), (0.0, -0.2)):
        found = chance_corrected(Estimate(share), guess, protocol)
        assert found.value == pytest.approx(corrected)
    unknown = Estimate(None, "no item")
    assert chance_corrected(unknown, Estimate(0.5), protocol) == unknown
    free = chance_corrected(Estimate(0.8), guess, Protocol.GENERATE)
    assert free.value is None and "need not be one of the options" in free.reason
    assert chance_corrected(Estimate(0.8), guess, None).value is None


SHARES = st.floats(1e-4, 1 - 1e-4)


# Nearer to 1 scipy loses digits: of x = 1 - 1.1e-16 and shapes of 0.5 it is off by 3e-9.
@given(st.floats(0, 1 - 1e-6) | st.just(1.0), st.floats(0.5, 300), st.floats(0.5, 300))
def test_the_incomplete_beta_function(x: float, a: float, b: float) -> None:
    assert incomplete_beta(x, a, b) == pytest.approx(float(special.betainc(a, b, x)), abs=1e-11)


@given(SHARES, st.floats(0.02, 3000), st.floats(0.02, 3000))
def test_beta_quantiles(share: float, a: float, b: float) -> None:
    assert beta_quantile(share, a, b) == pytest.approx(
        float(stats.beta.ppf(share, a, b)), rel=1e-7, abs=1e-9
    )


@given(st.floats(0.003, 0.02), st.floats(1, 500))
def test_beta_quantiles_near_the_least_float(a: float, b: float) -> None:
    exact = float(special.betaincinv(a, b, 0.025))
    assert beta_quantile(0.025, a, b) == pytest.approx(exact, rel=1e-9, abs=1e-290)


def test_a_beta_quantile_too_small_for_a_float_is_0() -> None:
    assert beta_quantile(0.025, 0.001, 3.0) == 0.0


@given(st.floats(0.0, 500), st.floats(0.01, 500))
def test_the_incomplete_gamma_function(x: float, a: float) -> None:
    assert incomplete_gamma(x, a) == pytest.approx(float(special.gammainc(a, x)), abs=1e-10)


@given(SHARES, st.floats(0.05, 20_000))
def test_chi_squared_quantiles(share: float, df: float) -> None:
    assert chi2_quantile(share, df) == pytest.approx(
        float(stats.chi2.ppf(share, df)), rel=1e-8, abs=1e-200
    )


@given(st.floats(0.01, 0.99), st.floats(0.7, 100_000))
def test_t_quantiles(share: float, df: float) -> None:
    assert t_quantile(share, df) == pytest.approx(float(stats.t.ppf(share, df)), rel=1e-7, abs=1e-9)


@given(st.floats(-30, 30), st.floats(0.7, 1000))
def test_tails_of_t(t: float, df: float) -> None:
    assert t_tail(t, df) == pytest.approx(float(stats.t.sf(t, df)), abs=1e-10)


@pytest.mark.parametrize("df", [1, 2, 4, 9, 190])
@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0, 5.0])
def test_tails_of_the_noncentral_t(df: int, shift: float) -> None:
    t = float(stats.t.ppf(0.975, df))
    expected = float(stats.nct.sf(t, df, shift))
    assert noncentral_t_tail(t, df, shift) == pytest.approx(expected, abs=1e-8)
