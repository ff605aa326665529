"""Quantiles and tails against scipy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from tabwb.scoring.distributions import (
    beta_quantile,
    chi2_quantile,
    incomplete_beta,
    incomplete_gamma,
    noncentral_t_tail,
    t_quantile,
    t_tail,
)

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
