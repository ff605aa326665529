"""The smallest difference a design can show, by another simulation with the program's test."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tabwb.analysis.paired import Side, compare_sides
from tabwb.scoring.detectable import (
    MOST_OF_ALL,
    OUT_OF_RANGE,
    Design,
    detectable_accuracy,
    detectable_burden,
    detectable_over_seeds,
    detection_factor,
    never,
)
from tabwb.scoring.differences import agreeing
from tabwb.scoring.estimate import ONE_ITEM, ONE_RESPONSE, Estimand
from tabwb.scoring.permutation import label_permutation

LIKE, THESE = Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_PROMPTS
Floats = NDArray[np.float64]


@pytest.mark.parametrize(("df", "c"), [(4, 3.76), (9, 3.15), (190, 2.82)])
def test_the_factors_of_the_formula(df: int, c: float) -> None:
    assert detection_factor(df) == pytest.approx(c, abs=0.005)
    power = stats.nct.sf(stats.t.ppf(0.975, df), df, detection_factor(df))
    assert power == pytest.approx(0.8, abs=1e-6)


def _item_terms(studies: int, k: int, rng: np.random.Generator) -> Floats:
    """Normal terms of items of two examinees, correlated by .6: (studies, k, 2)."""
    return rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=(studies, k))


def _power(drawn: Iterable[Floats], n_features: int | None, estimand: Estimand) -> float:
    """How often the program's own test of two sides, (2, items, responses), has p < .05."""
    found = []
    for first, second in drawn:
        sides = [
            Side({("a", str(at)): tuple(given) for at, given in enumerate(side.tolist())})
            for side in (first, second)
        ]
        made = compare_sides(sides[0], sides[1], n_features)
        assert made.like.p is not None
        p: float | None = made.like.p
        if estimand is THESE:
            values = [[[[x] for x in item] for item in side.values.values()] for side in sides]
            labels = label_permutation(values[0], values[1], draws=400)
            assert labels is not None
            p = agreeing(made.these.interval, labels.p[0])[1]
        assert p is not None
        found.append(p < 0.05)
    return float(np.mean(found))


@pytest.mark.parametrize(("k", "r"), [(6, 20), (8, 20), (10, 5), (14, 1)])
def test_a_burden_of_that_size_is_found_by_the_test_in_four_of_five_studies(k: int, r: int) -> None:
    delta = detectable_burden(Design(k, r), 19).value
    assert delta is not None
    rng = np.random.default_rng(1)
    means = np.array([1.0, 1.0 + delta]) * (1 + 0.25 * _item_terms(250, k, rng))
    counts = rng.negative_binomial(np.maximum(means, 0.01)[..., None] + np.zeros(r), 0.5)
    assert _power(np.moveaxis(counts, 2, 1), 19, LIKE) == pytest.approx(0.8, abs=0.07)


@pytest.mark.parametrize(("k", "r"), [(7, 20), (15, 1), (15, 10), (40, 1)])
def test_an_accuracy_of_that_size_is_found_by_the_test_in_four_of_five_studies(
    k: int, r: int
) -> None:
    delta = detectable_accuracy(Design(k, r)).value
    assert delta is not None
    rng = np.random.default_rng(2)
    # Shares from Beta distributions with a correlation of .3 within items, joined by a copula.
    s = 0.7 / 0.3
    means = np.array([0.5, 0.5 + delta])
    ranks = stats.norm.cdf(_item_terms(200, k, rng))
    shares = stats.beta.ppf(ranks, means * s, (1 - means) * s)
    right = rng.random((*shares.shape, r)) < shares[..., None]
    assert _power(np.moveaxis(right, 2, 1) * 1.0, None, LIKE) == pytest.approx(0.8, abs=0.09)


@pytest.mark.parametrize(("k", "r"), [(5, 20), (3, 6)])
@pytest.mark.parametrize("rate", [True, False])
def test_for_these_prompts_labels_find_it_in_four_of_five_studies(
    k: int, r: int, rate: bool
) -> None:
    design = Design(k, r)
    made = detectable_accuracy(design, THESE) if rate else detectable_burden(design, 19, THESE)
    assert made.value is not None
    rng = np.random.default_rng(3)
    shape = (100, 2, k, r)
    if rate:
        level = np.array([0.5, 0.5 + made.value])[:, None, None]
        drawn = (rng.random(shape) < level).astype(float)
    else:
        level = np.array([1.0, 1.0 + made.value])[:, None, None]
        drawn = rng.negative_binomial(level + np.zeros(shape), 0.5).astype(float)
    assert _power(drawn, None if rate else 19, THESE) == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize("estimand", Estimand)
def test_more_items_and_more_replicates_show_smaller_differences(estimand: Estimand) -> None:
    def burden(k: int, r: int) -> float:
        return detectable_burden(Design(k, r), 19, estimand).value or math.inf

    assert burden(8, 2) > burden(8, 10) > burden(20, 10)


def test_what_a_design_cannot_show_has_a_reason() -> None:
    assert detectable_burden(Design(1, 10), 19).reason == ONE_ITEM
    assert detectable_burden(Design(5, 1), 19, THESE).reason == ONE_RESPONSE
    assert detectable_accuracy(Design(6, 1)).reason == OUT_OF_RANGE
    assert detectable_burden(Design(7, 1), 7).reason == MOST_OF_ALL
    for items in range(2, 6):
        design = Design(items, 50)
        for made in (detectable_burden(design, 19), detectable_accuracy(design)):
            assert (made.value, made.reason) == (None, never(items))
    assert never(6) == ""
    # Two of six arrangements of two and two responses are as far apart.
    assert detectable_accuracy(Design(1, 2), THESE).value is None


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
