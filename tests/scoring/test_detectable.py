"""The smallest difference a design can show, against its formula and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tabwb.scoring.detectable import (
    OUT_OF_RANGE,
    Design,
    detectable_accuracy,
    detectable_burden,
    detectable_over_seeds,
    detection_factor,
)
from tabwb.scoring.differences import paired_t
from tabwb.scoring.estimate import ONE_ITEM, ONE_RESPONSE, Estimand

THESE = Estimand.THESE_PROMPTS


@pytest.mark.parametrize(("df", "c"), [(4, 3.76), (9, 3.15), (190, 2.82)])
def test_the_factors_of_the_formula(df: int, c: float) -> None:
    assert detection_factor(df) == pytest.approx(c, abs=0.005)
    power = stats.nct.sf(stats.t.ppf(0.975, df), df, detection_factor(df))
    assert power == pytest.approx(0.8, abs=1e-6)


def test_the_published_example() -> None:
    like = detectable_burden(Design(5, 20), 19).value
    these = detectable_burden(Design(5, 20), 19, THESE).value
    assert like == pytest.approx(1.2, abs=0.05)
    assert these == pytest.approx(0.65, abs=0.005)


@pytest.mark.parametrize("estimand", Estimand)
def test_the_difference_is_its_own_standard_error_times_the_factor(estimand: Estimand) -> None:
    k, r = 8, 6
    delta = detectable_burden(Design(k, r), 19, estimand).value
    assert delta is not None
    a, b = 1.0, 1.0 + delta
    variance = 2 * (a + b) / (k * r)
    df = 2 * k * (r - 1)
    if estimand is Estimand.PROMPTS_LIKE_THESE:
        variance += 0.25**2 * (a * a + b * b - 1.2 * a * b) / k
        df = k - 1
    assert delta == pytest.approx(detection_factor(df) * math.sqrt(variance), rel=1e-6)


def power_of_a_burden(k: int, r: int, delta: float, studies: int) -> float:
    """How often the paired interval leaves 0 out: counts with variance twice the mean."""
    rng = np.random.default_rng(1)
    z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=(studies, k))
    means = np.maximum(np.array([1.0, 1.0 + delta]) * (1 + 0.25 * z), 0.01)
    counts = rng.negative_binomial(means[..., None] + np.zeros(r), 0.5).mean(axis=-1)
    found = [
        paired_t(one.tolist(), other.tolist(), k * r, k * r, 19)
        for one, other in counts.swapaxes(1, 2)
    ]
    return sum(not each.low <= 0 <= each.high for each in found) / studies


def power_of_an_accuracy(k: int, r: int, delta: float, studies: int) -> float:
    """Likewise for right answers: shares of items vary, with a correlation of .3 within items."""
    rng = np.random.default_rng(2)
    shares = stats.norm.cdf(rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], (studies, k)))
    s = 0.7 / 0.3
    means = np.array([0.5, 0.5 + delta])
    right = rng.binomial(r, stats.beta.ppf(shares, means * s, (1 - means) * s)) / r
    found = [
        paired_t(one.tolist(), other.tolist(), k * r, k * r, None)
        for one, other in right.swapaxes(1, 2)
    ]
    return sum(not each.low <= 0 <= each.high for each in found) / studies


@pytest.mark.parametrize(("k", "r"), [(5, 20), (10, 5)])
def test_a_burden_difference_of_that_size_is_found_four_times_in_five(k: int, r: int) -> None:
    delta = detectable_burden(Design(k, r), 19).value
    assert delta is not None
    assert 0.76 < power_of_a_burden(k, r, delta, 1500) < 0.88
    assert power_of_a_burden(k, r, delta / 2, 400) < 0.5


@pytest.mark.parametrize(("k", "r"), [(15, 1), (15, 20), (40, 1)])
def test_an_accuracy_difference_of_that_size_is_found_four_times_in_five(k: int, r: int) -> None:
    delta = detectable_accuracy(Design(k, r)).value
    assert delta is not None
    assert 0.71 < power_of_an_accuracy(k, r, delta, 1500) < 0.88


@pytest.mark.parametrize("estimand", Estimand)
def test_more_items_and_more_replicates_show_smaller_differences(estimand: Estimand) -> None:
    def burden(k: int, r: int) -> float:
        return detectable_burden(Design(k, r), 19, estimand).value or math.inf

    assert burden(5, 2) > burden(5, 10) > burden(20, 10)


def test_what_a_design_cannot_show_has_a_reason() -> None:
    assert detectable_burden(Design(1, 10), 19).reason == ONE_ITEM
    assert detectable_burden(Design(5, 1), 19, THESE).reason == ONE_RESPONSE
    assert detectable_accuracy(Design(5, 1)).reason == OUT_OF_RANGE
    assert detectable_burden(Design(2, 1), 7).reason == OUT_OF_RANGE


@pytest.mark.parametrize("controls", [True, False])
@pytest.mark.parametrize(("seeds", "items"), [(5, 5), (10, 15)])
def test_a_sweep_finds_the_difference_over_seeds_with_the_promised_power(
    seeds: int, items: int, controls: bool
) -> None:
    delta = detectable_over_seeds(seeds, items, None, controls=controls).value
    assert delta is not None
    rng = np.random.default_rng(11)
    studies = 4000
    lesion = rng.binomial(items, 0.5 - delta, (studies, seeds)) / items
    other = rng.binomial(items, 0.5, (studies, seeds)) / items if controls else 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        found = stats.ttest_1samp(lesion - other, 0, axis=1).pvalue < 0.05
    # Shares of few items are not normal, and seeds that are all alike have no test.
    assert found.mean() == pytest.approx(0.8, abs=0.07)


def test_four_seeds_show_nothing_and_more_seeds_show_less() -> None:
    assert detectable_over_seeds(4, 5, 7, controls=True).reason == "fewer than 5 seeds"
    few, many = (detectable_over_seeds(n, 5, 7, controls=True).value for n in (5, 20))
    assert few is not None and many is not None and many < few / 2
