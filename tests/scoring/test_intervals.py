"""Intervals against reference values, scipy, their algebra, and what they cover when simulated."""

from __future__ import annotations

import json
import math
import re
import statistics
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats
from scipy.stats import binomtest

from benchmarks import (
    analyses,
    simulated_choices,
    simulated_groups,
    simulated_items,
    simulated_lesions,
)
from benchmarks import simulated_burdens as burdens
from benchmarks.coverage import (
    Population,
    Row,
    Study,
    Tally,
    bootstrap_study,
    burden_population,
    burden_study,
    difference_study,
    family_tally,
    rate_population,
    rate_study,
    tally,
)
from tabwb.records.states import Protocol
from tabwb.scoring import intervals
from tabwb.scoring.differences import (
    NO_VARIATION,
    difference_interval,
    draw_variance,
    family_interval,
    sampling_floor,
)
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
    DETERMINISTIC,
    NO_VALUE,
    ONE_ITEM,
    ONE_RESPONSE,
    Estimand,
    Estimate,
    EstimatedInterval,
    Interval,
    always_first,
    always_yes,
    chance_corrected,
    clopper_pearson,
    guessing_rate,
    median_interval,
    quantile,
)
from tabwb.scoring.intervals import (
    burden_interval,
    by_cluster,
    dispersed_garwood,
    effective_responses,
    feature_correlation,
    former_interval,
    korn_graubard,
    rate_interval,
    totals_of,
    unit_values,
)

REFERENCE: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "intervals.json").read_text(encoding="utf-8")
)
LIKE, THESE = Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_PROMPTS


def ends(found: Interval | None) -> tuple[float, float]:
    assert found is not None
    return found.low, found.high


@pytest.mark.parametrize("case", REFERENCE["burden"])
def test_reference_burdens(case: dict[str, Any]) -> None:
    found = korn_graubard(case["y"], [case["r"]] * len(case["y"]), case["F"])
    assert ends(found) == pytest.approx(case["interval"], abs=1e-6)


@pytest.mark.parametrize("case", REFERENCE["rate"])
def test_reference_rates(case: dict[str, Any]) -> None:
    found = rate_interval(case["x"], case["n"])
    assert ends(found.interval) == pytest.approx(case["interval"], abs=2e-3)


@pytest.mark.parametrize("case", REFERENCE["paired"])
def test_reference_differences(case: dict[str, Any]) -> None:
    first, second = ([[y] * case[f"r{side}"] for y in case[f"y{side}"]] for side in "ab")
    found = difference_interval(first, second, case["F"]).interval
    assert ends(found) == pytest.approx(case["interval"], abs=1e-6)


@pytest.mark.parametrize("case", REFERENCE["groups"])
def test_reference_groups(case: dict[str, Any]) -> None:
    assert ends(family_interval(case["D"]).interval) == pytest.approx(case["interval"], abs=1e-6)


# Burden ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("r", "high"), [(1, 0.72), (10, 0.14), (50, 0.09)])
def test_five_empty_profiles_are_not_zero_for_certain(r: int, high: float) -> None:
    independent = korn_graubard([0.0] * 5, [r] * 5, 19)
    assert ends(independent) == pytest.approx((0.0, high), abs=0.005)
    # With the prior correlation, the responses are as many as krF / (1 + 18 x 0.4) features.
    n = 5 * r * 19 / 8.2 / (1 + (r - 1) * 0.1)
    found = burden_interval([[0.0] * r] * 5, 19)
    assert ends(found.interval) == pytest.approx((0.0, 19 * stats.beta.ppf(0.975, 1, n)))


def burden_by_scipy(values: list[list[float]], features: int, these: bool) -> tuple[float, float]:
    """The interval of a burden derived a second time, with numpy and scipy."""
    r = np.array([len(item) for item in values])
    k, every = len(values), np.concatenate(values)
    y = np.array([np.mean(item) for item in values])
    found, m, even = every.sum(), y.mean(), k * k / (1 / r).sum()
    p, prior = m / features, 1 + (features - 1) * 0.4
    if these:
        squares = np.array([np.var(item) * len(item) for item in values])
        df = r.sum() - k
        pooled, inner = squares.sum() / df, squares / np.maximum(r - 1, 1)
        v = (np.where(r > 1, inner, pooled) / r).sum() / k**2
        phi = max(1.0, (found * (v * even / m if m else 1) + 2 * prior) / (found + 2))
        n = even / phi * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, df)) ** 2
        low = stats.gamma.ppf(0.025, m * n) / n if m else 0.0
        return float(low), float(min(stats.gamma.ppf(0.975, m * n + 1) / n, features))
    spread = features * p * (1 - p)
    effect = every.var(ddof=1) / spread if spread else 1.0
    effect = max(1.0, (found * effect + 2 * prior) / (found + 2)) if features > 1 else 1.0
    n = even * features / effect / (1 + 0.1 * (even / k - 1))
    if spread and y.var():
        q = (stats.t.ppf(0.975, r.sum() * features - 1) / stats.t.ppf(0.975, k - 1)) ** 2
        n = min(n, p * (1 - p) / (y.var(ddof=1) / k / features**2) * q)
    low = stats.beta.ppf(0.025, n * p, n - n * p + 1) if p else 0.0
    high = stats.beta.ppf(0.975, n * p + 1, n - n * p) if p < 1 else 1.0
    return float(features * low), float(features * high)


@pytest.mark.parametrize("features", [1, 7, 19])
@pytest.mark.parametrize("rate", [0.0, 0.02, 0.2, 1.0])
@pytest.mark.parametrize("together", [False, True])
def test_burdens_by_scipy(features: int, rate: float, together: bool) -> None:
    rng = np.random.default_rng([features, int(100 * rate), together])
    for sizes in ([3] * 5, [1, 4, 2, 9, 1, 6], [1] * 12):
        values = [
            [
                float(
                    features * (rng.random() < rate) if together else rng.binomial(features, rate)
                )
                for _ in range(size)
            ]
            for size in sizes
        ]
        for estimand in (LIKE, THESE):
            found = burden_interval(values, features, estimand).interval
            if found is not None:
                expected = burden_by_scipy(values, features, estimand is THESE)
                assert ends(found) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_features_that_come_together_widen_the_interval() -> None:
    # 40 responses with 20 features found: one in each of twenty, or ten in each of two.
    apart = [[1.0, 0.0]] * 20
    together = [[10.0, 0.0]] * 2 + [[0.0, 0.0]] * 18
    found = [burden_interval(values, 19).interval for values in (apart, together)]
    widths = [high - low for low, high in map(ends, found)]
    assert widths[1] > 2 * widths[0]
    totals = [totals_of(item) for item in together]
    variance = np.concatenate(together).var(ddof=1)
    rho = (variance / (0.5 * (1 - 0.5 / 19)) - 1) / 18
    expected = (20 * rho + 0.8) / 22
    assert feature_correlation(totals, 19) == pytest.approx(expected)
    # Fewer features in common than by chance are not taken as more information.
    assert feature_correlation([totals_of([1.0])] * 40, 19) == pytest.approx(
        max(0.0, (40 * -1 / 18 + 0.8) / 42)
    )


def test_clusters_take_the_place_of_items() -> None:
    means = [0.2, 0.4, 1.0, 1.4, 0.1, 0.5]
    pairs = korn_graubard(means, [10] * 6, 19, 0.3, "aabbcc")
    of_three = korn_graubard([0.3, 1.2, 0.3], [20] * 3, 19, 0.3)
    assert ends(pairs) == pytest.approx(ends(of_three))
    assert burden_interval([[1.0], [2.0]], 19, LIKE, clusters="aa").reason == ONE_ITEM
    # These prompts: draws within items, whatever the clusters.
    values = [[0.0, 1.0], [2.0, 4.0], [1.0, 1.0]]
    assert burden_interval(values, 19, THESE, clusters="aab") == burden_interval(values, 19, THESE)
    merged = rate_interval([3, 9], [10, 20])
    assert rate_interval([3, 5, 4], [10, 10, 10], clusters="abb") == merged


def test_values_of_clusters_have_the_mean_of_the_items_and_the_variance_of_a_ratio() -> None:
    means, clusters = [0.0, 1.0, 4.0, 2.0, 3.0, 2.5], "abbbcc"
    found = by_cluster(means, clusters)
    sums, counts = np.array([0.0, 7.0, 5.5]), np.array([1, 3, 2])
    middle = sums.sum() / 6
    linear = ((sums - middle * counts) ** 2).sum() / 2 * 3 / 36
    assert statistics.fmean(found) == pytest.approx(middle)
    assert statistics.variance(found) / 3 == pytest.approx(linear)


def test_how_items_differ_does_not_widen_the_interval_of_these_prompts() -> None:
    alike = [[1.0, 2.0, 3.0]] * 4
    apart = [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [2.0, 3.0, 4.0], [2.0, 3.0, 4.0]]
    totals = [[totals_of(item) for item in values] for values in (alike, apart)]
    one, other = (ends(dispersed_garwood(each, 19)) for each in totals)
    assert one == pytest.approx(other)
    one, other = (
        ends(burden_interval(alike, 19).interval),
        ends(burden_interval(apart, 19).interval),
    )
    assert other[1] - other[0] > one[1] - one[0]


# Rates -------------------------------------------------------------------------------------------


def rate_by_integration(hits: list[int], n: list[int]) -> tuple[float, float]:
    """The same posterior on a fine grid, with scipy's gamma function."""
    theta = (np.arange(1500) + 0.5) / 1500
    mu = np.sin(np.pi / 2 * theta) ** 2
    rho = (np.arange(200) + 0.5) / 200
    s = (1 - rho) / rho
    a, b = mu[:, None] * s, (1 - mu)[:, None] * s
    log = sum(
        special.betaln(a + x, b + each - x) - special.betaln(a, b)
        for x, each in zip(hits, n, strict=True)
    )
    mass = np.exp(log - np.max(log)).sum(axis=1)
    low, high = np.interp((0.025, 0.975), np.cumsum(mass / mass.sum()), mu)
    return float(low), float(high)


@pytest.mark.parametrize(
    ("hits", "n"),
    [
        ([3, 1, 5], [10, 10, 10]),
        ([9, 0, 4, 2, 1], [10, 3, 8, 10, 1]),
        ([600, 20, 90], [800, 700, 90]),
    ],
)
def test_a_rate_by_fine_integration(hits: list[int], n: list[int]) -> None:
    found = ends(rate_interval(hits, n).interval)
    assert found == pytest.approx(rate_by_integration(hits, n), abs=6e-3)


@given(st.lists(st.integers(0, 1), min_size=2, max_size=60))
def test_one_response_to_each_item_is_jeffreys_interval(hits: list[int]) -> None:
    x, n = sum(hits), len(hits)
    low, high = ends(rate_interval(hits, [1] * n).interval)
    assert low == pytest.approx(stats.beta.ppf(0.025, x + 0.5, n - x + 0.5) if x else 0, abs=1e-9)
    assert high == pytest.approx(
        stats.beta.ppf(0.975, x + 0.5, n - x + 0.5) if x < n else 1, abs=1e-9
    )


def test_a_rate_of_these_prompts_is_the_exact_interval() -> None:
    expected = stats.binomtest(6, 50).proportion_ci(0.95, method="exact")
    found = rate_interval([2, 0, 1, 1, 2], [10] * 5, THESE)
    assert ends(found.interval) == pytest.approx((expected.low, expected.high))


def test_a_rate_of_these_prompts_gives_items_equal_weights_where_responses_are_missing() -> None:
    # By hand: share (10/10 + 0/2) / 2, of 4 / (1/10 + 1/2) responses.
    n = 4 / 0.6
    expected = (stats.beta.ppf(0.025, n / 2, n / 2 + 1), stats.beta.ppf(0.975, n / 2 + 1, n / 2))
    found = rate_interval([10, 0], [10, 2], THESE)
    assert ends(found.interval) == pytest.approx(expected)


# Differences -------------------------------------------------------------------------------------


def test_all_wrong_against_all_right_has_a_width() -> None:
    # 0 of 5 against 15 of 15 (three replicates each), once printed as -1.00 to -1.00.
    found = difference_interval([[0.0]] * 5, [[1.0] * 3] * 5, None)
    low, high = ends(found.interval)
    # By hand: f = p(1-p)/n with p = 0.5/6 and 15.5/16; t = 2.776445.
    f = 0.5 / 6 * 5.5 / 6 / 5 + 15.5 / 16 * 0.5 / 16 / 15
    assert low == -1.0
    assert high == pytest.approx(-1 + 2.7764451 * math.sqrt(f), abs=1e-6)


def test_a_paired_difference_is_the_t_interval_where_items_vary() -> None:
    rng = np.random.default_rng(8)
    one, other = rng.uniform(0, 9, (12, 1)), rng.uniform(0, 9, (12, 1))
    found = difference_interval(one.tolist(), other.tolist(), 19)
    d = (one - other).ravel()
    expected = stats.t.interval(0.95, 11, d.mean(), stats.sem(d))
    assert ends(found.interval) == pytest.approx(expected)


def test_the_floors() -> None:
    assert sampling_floor(2.0, 50, 19) == pytest.approx((2 + 0.01) / 50)
    assert sampling_floor(np.array([2.0, 0.0]), 50, 19) == pytest.approx([0.0402, 0.0002])
    assert sampling_floor(0.0, 5, None) == pytest.approx((0.5 / 6) * (5.5 / 6) / 5)
    assert effective_responses([10] * 5) == pytest.approx(50)


def test_these_prompts_by_welch() -> None:
    # One item: Welch's interval itself, from scipy.
    one, other = [4.0, 9.0, 1.0, 6.0], [2.0, 2.0, 7.0, 3.0, 1.0, 0.0]
    expected = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    found = difference_interval([one], [other], 19, THESE)
    assert ends(found.interval) == pytest.approx((expected.low, expected.high))


def test_these_prompts_by_hand() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.poisson(3, (5, 8)).astype(float), rng.poisson(2, (5, 8)).astype(float)
    parts = np.array([side.var(axis=1, ddof=1) / 8 / 25 for side in (one, other)])
    df = parts.sum() ** 2 / (parts**2 / 7).sum()
    floors = sum((side.mean() + 0.5 / 40) / 40 for side in (one, other))
    half = stats.t.ppf(0.975, df) * math.sqrt(max(parts.sum(), floors))
    middle = one.mean() - other.mean()
    found = difference_interval(one.tolist(), other.tolist(), 19, THESE)
    assert ends(found.interval) == pytest.approx((middle - half, middle + half))


def test_a_side_that_draws_nothing_has_no_error_for_these_prompts() -> None:
    drawn = [[0.0, 2.0, 3.0, 1.0]] * 5
    fixed = [[1.0]] * 5
    one = difference_interval(fixed, drawn, 19, THESE, deterministic=(True, False))
    assert one.interval is not None
    assert difference_interval(fixed, drawn, 19, THESE).reason == ONE_RESPONSE


def test_families_need_three_and_some_variation() -> None:
    assert family_interval([[0.1, 0.2]] * 2).reason == "fewer than three families"
    assert family_interval([[0.1, 0.1]] * 3).reason == NO_VARIATION
    low, high = ends(family_interval([[0.1, 0.1]] * 3, floor=0.01).interval)
    assert high - low == pytest.approx(2 * stats.t.ppf(0.975, 1) * 0.1)


# What has no interval ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (burden_interval([], 19), NO_VALUE),
        (burden_interval([[]], 19, THESE), NO_VALUE),
        (burden_interval([[1.0, 2.0]], 19), ONE_ITEM),
        (burden_interval([[1.0]] * 5, 19, THESE), ONE_RESPONSE),
        (burden_interval([[1.0]] * 5, 19, THESE, deterministic=True), DETERMINISTIC),
        (rate_interval([], []), NO_VALUE),
        (rate_interval([0, 0], [0, 0], THESE), NO_VALUE),
        (rate_interval([1], [4]), ONE_ITEM),
        (rate_interval([1, 0], [1, 1], THESE), ONE_RESPONSE),
        (rate_interval([1, 0], [1, 1], THESE, deterministic=True), DETERMINISTIC),
        (difference_interval([[1.0]], [[]], 19), NO_VALUE),
        (difference_interval([[1.0]], [[0.0]], 19), ONE_ITEM),
        (difference_interval([[1.0]], [[0.0]], 19, THESE), ONE_RESPONSE),
        (
            difference_interval([[1.0]], [[0.0]], 19, THESE, deterministic=(True, True)),
            DETERMINISTIC,
        ),
    ],
)
def test_no_interval_has_a_reason(found: EstimatedInterval, reason: str) -> None:
    assert (found.interval, found.reason) == (None, reason)
    with pytest.raises(ValueError, match="between 0 and"):
        rate_interval([3], [2])


def test_greedy_answers_still_have_an_interval_for_prompts_like_these() -> None:
    burden = burden_interval([[1.0]] * 5, 19, LIKE, deterministic=True).interval
    rate = rate_interval([1] * 5, [1] * 5, LIKE, deterministic=True).interval
    assert burden is not None and rate is not None
    expected = burden_by_scipy([[1.0]] * 5, 19, these=False)
    assert (burden.low, burden.high) == pytest.approx(expected)
    assert rate.low == pytest.approx(stats.beta.ppf(0.025, 5.5, 0.5))  # Jeffreys
    assert rate.high == 1.0


# Never without width -----------------------------------------------------------------------------


@st.composite
def profiles(draw: st.DrawFn) -> tuple[list[list[float]], int]:
    features = draw(st.sampled_from([1, 7, 19]))
    value = st.integers(0, features).map(float)
    lists = st.lists(value, min_size=1, max_size=6)
    return draw(st.lists(lists, min_size=2, max_size=8)), features


@given(profiles(), st.sampled_from(Estimand))
@example(([[4.0], *[[0.0, 0.0, 0.0, 0.0, 1.0] * 4] * 4], 7), LIKE)
@example(([[1.0] * 20, [0.0], [0.0], [0.0], [0.0]], 7), LIKE)
def test_every_burden_interval_has_width_and_holds_the_mean(
    profile: tuple[list[list[float]], int], estimand: Estimand
) -> None:
    values, features = profile
    found = burden_interval(values, features, estimand)
    if found.interval is None:
        assert estimand is THESE and found.reason == ONE_RESPONSE
        return
    mean = statistics.fmean(map(statistics.fmean, values))
    low, high = ends(found.interval)
    assert 0 <= low < high <= features
    assert low - 1e-9 <= mean <= high + 1e-9


@given(
    st.lists(
        st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
        min_size=2,
        max_size=8,
    ),
    st.sampled_from(Estimand),
)
def test_every_rate_interval_has_width_and_holds_the_rate(
    items: list[tuple[int, int]], estimand: Estimand
) -> None:
    found = rate_interval([x for x, _ in items], [n for _, n in items], estimand)
    if found.interval is not None:
        low, high = ends(found.interval)
        assert 0 <= low < high <= 1
        assert low - 1e-9 <= statistics.fmean(x / n for x, n in items) <= high + 1e-9
        mirrored = rate_interval([n - x for x, n in items], [n for _, n in items], estimand)
        assert ends(mirrored.interval) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(profiles(), profiles(), st.sampled_from(Estimand))
def test_every_difference_has_width_and_its_mirror(
    one: tuple[list[list[float]], int], other: tuple[list[list[float]], int], estimand: Estimand
) -> None:
    pairs = list(zip(one[0], other[0], strict=False))
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = difference_interval(first, second, 19, estimand)
    if found.interval is not None:
        low, high = ends(found.interval)
        assert -19 <= low < high <= 19
        mirrored = difference_interval(second, first, 19, estimand)
        assert ends(mirrored.interval) == pytest.approx((-high, -low), abs=1e-9)


def test_many_responses_to_an_item_give_the_sum_of_all_logarithms() -> None:
    # From 512 responses on, Stirling's series takes the place of the sum.
    counts, parameters = [5, 512, 513, 2000, 2000], intervals._parameters()
    expected = sum(np.log(parameters[..., None] + np.arange(n)).sum(axis=-1) for n in counts)
    found = intervals._rising(counts, 2000)
    assert np.abs(found - expected).max() < 1e-9


def test_the_variance_from_draws_is_that_of_drawn_again_responses() -> None:
    rng = np.random.default_rng(5)
    runs = (rng.random((4000, 4, 6)) < 0.4).astype(float)
    found = [draw_variance(run.tolist(), None) for run in runs[:1500]]
    assert all(one is not None and one[1] == 20 for one in found)
    mean = float(np.mean([one[0] for one in found if one is not None]))
    assert mean == pytest.approx(runs.mean(axis=(1, 2)).var(ddof=1), rel=0.1)
    alike = draw_variance([[1.0] * 9], None)
    assert alike is not None and alike == pytest.approx((0.005278, 8), abs=1e-6)
    assert draw_variance([[1.0], [0.0]], None) is None
    assert draw_variance([[1.0], [0.0]], None, deterministic=True) == (0.0, math.inf)


@pytest.mark.parametrize("features", [1, 7])
def test_the_former_interval_is_the_present_one_without_correlation(features: int) -> None:
    rng = np.random.default_rng(6)
    values = [rng.binomial(features, p, 8).astype(float).tolist() for p in (0.1, 0.3, 0.2, 0.6)]
    totals = [totals_of(item) for item in values]
    means = [item.mean for item in totals]
    former = ends(former_interval(totals, features))
    assert former == pytest.approx(ends(korn_graubard(means, [8] * 4, features)))


def test_the_former_interval_where_responses_are_missing() -> None:
    # By hand: R = 16, m = 36/16; sum of r s^2 = 12 x 12/11, of r (1 - r/12) (y - m)^2 =
    # 4 x 2/3 x 3.75^2 = 37.5; phi = (144/11 + 37.5) / 16 / m; t with 14 degrees of freedom.
    values, m = [[6.0] * 4, [2.0, 0.0] * 6], 2.25
    n = 16 / ((144 / 11 + 37.5) / 16 / m) * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 14)) ** 2
    low = stats.chi2.ppf(0.025, 2 * m * n) / (2 * n)
    expected = low, stats.chi2.ppf(0.975, 2 * m * n + 2) / (2 * n)
    found = former_interval([totals_of(item) for item in values], 19, THESE)
    assert ends(found) == pytest.approx(expected)


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 4), st.integers(0, 3)),
        st.lists(st.integers(0, 3), min_size=1, max_size=3),
        min_size=2,
    )
)
def test_values_of_pooled_speakers_have_the_mean_of_item_means(
    said: dict[tuple[int, int], list[int]],
) -> None:
    """Against fractions: (speaker, item) to values."""
    items: dict[int, list[int]] = {}
    for (_, item), values in said.items():
        items.setdefault(item, []).extend(values)
    means = {item: Fraction(sum(given), len(given)) for item, given in items.items()}
    mean = sum(means.values()) / len(means)
    several = {item: len({who for who, at in said if at == item}) > 1 for item in means}
    speakers = dict.fromkeys(who for who, _ in said)
    expected = [
        mean + Fraction(len(speakers), len(means)) * sum(
            sum(value - (means[item] if several[item] else mean) for value in values)
            / Fraction(len(items[item]))
            for (other, item), values in said.items() if other == who
        )
        for who in speakers
    ]  # fmt: skip
    totals, sizes = [float(sum(own)) for own in said.values()], [len(own) for own in said.values()]
    found = unit_values(totals, sizes, [who for who, _ in said], [item for _, item in said])
    assert found == pytest.approx([float(one) for one in expected])
    if all(several.values()):
        assert sum(expected) / len(expected) == mean


def test_the_interval_of_pooled_speakers_covers_their_mean() -> None:
    """Ten speakers, five items, one to four answers or none: 200 studies."""
    drawn = np.random.default_rng(7)
    shift, items = stats.norm.ppf((np.arange(400) + 0.5) / 400), np.linspace(-1, 1, 5)
    truth = special.expit(items[:, None] + shift).mean()
    covered = 0
    for _ in range(200):
        cells = []
        for who in range(10):
            own = drawn.normal()
            for at, item in enumerate(items.tolist()):
                n = int(drawn.choice([0, 1, 2, 4], p=[0.25, 0.45, 0.2, 0.1]))
                cells.append((int(drawn.binomial(n, special.expit(item + own))), n, who, at))
        hits, sizes, who_, places = zip(*cells, strict=True)
        low, high = ends(rate_interval(hits, sizes, clusters=who_, items=places).interval)
        covered += low <= truth <= high
    assert covered >= 182


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


LOW = burden_population(0.3, 7, (0.8, 1.0))
HIGH = burden_population(2.0, 19, (0.8, 1.0))
RARE, COMMON = rate_population(0.1, 1.5), rate_population(0.6, 1.0)


def over(
    study: Study, populations: list[Population], replicates: tuple[int, ...], studies: int = 80
) -> Row:
    rng = np.random.default_rng(11)
    return Row(
        "",
        tuple(
            tally(study, population, k, r, studies, rng)
            for population in populations
            for k in (5, 10)
            for r in replicates
        ),
    )


@pytest.mark.parametrize(
    ("study", "populations", "replicates"),
    [
        (burden_study(LIKE, 7), [LOW], (1, 6)),
        (burden_study(LIKE, 19), [HIGH], (1, 6)),
        (burden_study(LIKE, 19, missing=True), [HIGH], (6, 20)),
        (burden_study(THESE, 7), [LOW], (2, 10)),
        (burden_study(THESE, 19, missing=True), [HIGH], (10, 20)),
        (rate_study(LIKE), [RARE, COMMON], (1, 6)),
        (rate_study(LIKE, missing=True), [RARE, COMMON], (6,)),
        (rate_study(THESE), [RARE, COMMON], (2, 10)),
        (rate_study(THESE, missing=True), [RARE, COMMON], (10,)),
        (difference_study(LIKE, 19, 1.6), [HIGH], (1, 6)),
        (difference_study(THESE, 19, 1.6), [HIGH], (2, 10)),
        (difference_study(LIKE, None, 1.6), [RARE, COMMON], (1, 6)),
        (difference_study(THESE, None, 1.6), [RARE, COMMON], (2, 10)),
    ],
)
def test_intervals_hold_the_true_value(
    study: Study, populations: list[Population], replicates: tuple[int, ...]
) -> None:
    found = over(study, populations, replicates)
    # 320 studies: three standard errors of .95 are .037.
    assert found.mean >= 0.92
    assert found.least > 0.86
    assert found.without_width == 0


def test_intervals_are_not_far_too_wide() -> None:
    # Where many responses to 10 items say much, coverage near 1 would be waste.
    found = over(burden_study(LIKE, 19), [HIGH], (20,), studies=300)
    assert found.mean < 0.99


def test_the_former_bootstrap_fails_this_simulation() -> None:
    found = over(bootstrap_study, [LOW], (1, 6))
    assert found.mean < 0.9
    assert found.without_width > 0


def test_families_by_items() -> None:
    found: Tally = family_tally(5, 5, (0.4, 0.4, 0.3), False, 300, np.random.default_rng(3))
    assert found.coverage >= 0.92


def test_where_families_differ_and_items_do_not_the_interval_over_families_is_no_wider() -> None:
    # Then it is the t interval over families, whose coverage is exact: .95, standard error .007.
    found = family_tally(5, 20, (0.4, 0.0, 0.01), False, 1000, np.random.default_rng(3))
    assert found.coverage == pytest.approx(0.95, abs=0.02)


def test_the_true_means_of_the_generator() -> None:
    # By drawing, not by quadrature.
    rng = np.random.default_rng(5)
    items = HIGH.draw_items(4000, rng)[0]
    assert HIGH.draw(items, 4, rng).mean() == pytest.approx(HIGH.mean, rel=0.03)
    assert HIGH.draw(items[:3], 4000, rng).mean() == pytest.approx(
        float(HIGH.these(items[:3])), rel=0.03
    )


def test_the_table_in_the_docs_keeps_what_is_promised() -> None:
    page = (Path(__file__).parents[2] / "docs" / "uncertainty.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (0\.\d+) \| (0\.\d+) \| \d+ \| ([\d.]+)% \|$", page, re.M)
    promised = [row for row in rows if "former" not in row[0] and "one prompt" not in row[0]]
    assert len(promised) >= 12
    # Skewed effects of few families are said to cover less, as rates of few draws at the edges are.
    worst = {
        "families by items, skewed effects": (0.92, 0.86),
        "difference (rates), these prompts, one side greedy": (0.93, 0.88),
    }
    for name, mean, least, without_width in promised:
        lowest = worst.get(name, (0.93, 0.9))
        assert lowest[0] <= float(mean) <= 0.98, name
        assert float(least) >= lowest[1], name
        assert float(without_width) == 0, name


def test_the_generator_of_burdens_has_the_correlation_and_the_means_that_it_says() -> None:
    rng = np.random.default_rng(2)
    found = burdens.together(np.full((1, 40_000), 0.1), 19, 0.3, rng)
    expected = 19 * 0.1 * 0.9 * (1 + 18 * 0.3)
    assert found.mean() == pytest.approx(1.9, rel=0.03)
    assert found.var() == pytest.approx(expected, rel=0.05)
    for draw in (
        burdens.plain(0.1, 0.1, "normal"),
        burdens.plain(0.03, 0.0, "skewed"),
        burdens.plain(0.1, 0.1, "five"),
        burdens.collapsing(0.1, 0.5, 0.1, "normal"),
        burdens.clustered(0.1, 0.1, known=True),
    ):
        study = draw(7, 20_000, 2, rng)
        mean = float(np.mean(study.values))
        assert mean == pytest.approx(study.like, rel=0.05)
        assert mean == pytest.approx(study.these, rel=0.05)


def test_what_goes_missing_by_item_biases_the_mean_over_responses_and_not_that_over_items() -> None:
    study = burdens.missing(0.1, 0.1, 0.9)(7, 4000, 20, np.random.default_rng(3))
    kept = [item for item in study.values if len(item)]
    assert np.mean([item.mean() for item in kept]) == pytest.approx(study.like, rel=0.05)
    assert np.concatenate(kept).mean() < 0.85 * study.like


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("correlated features (.1, .3)", 0.9),
        ("collapsing responses (1, 3, 10 %)", 0.9),
        ("missing, moderate, item-weighted", 0.9),
        ("clusters of four items", 0.85),
    ],
)
def test_the_interval_of_a_burden_holds_where_the_former_did_not(name: str, least: float) -> None:
    (group,) = [one for one in burdens.groups() if one.name == name]
    small = replace(group, draws=group.draws[:2], items=group.items[:1], replicates=(5,))
    found = burdens.tallied(small, studies=60, quick=False)
    coverage = [cell.coverage for cells in found.values() for cell in cells]
    assert coverage and np.mean(coverage) >= least
    former = replace(small, former=True)
    before = burdens.tallied(former, studies=60, quick=False)[LIKE]
    assert np.mean([cell.coverage for cell in before]) <= np.mean(coverage)


PAGE = Path(__file__).parents[2] / "docs" / "uncertainty.md"


def test_difficulties_and_discriminations_are_within_their_errors() -> None:
    found = simulated_items.parameters("rasch", 60, 8, 25, np.random.default_rng(1))
    assert found["without"] == 0
    assert min(found["difficulty"], found["discrimination"]) > 0.87


def test_correlations_of_items_are_in_their_intervals() -> None:
    # 90 intervals of three items each of ten batteries: three standard errors are .04.
    found = simulated_items.correlation(30, 5, 30, np.random.default_rng(1))
    assert found["coverage"] > 0.9


def test_items_that_prefer_positions_keep_the_level_of_prompts_like_these() -> None:
    # Three standard errors of .05 over 150 studies are .053.
    rejected = np.zeros(2)
    for seed, design in enumerate(simulated_choices.DESIGNS):
        given = simulated_choices.Items(design, 5, 3, 2, spread=1.0, repeated=0.5)
        found = simulated_choices.positions(given, 25, np.random.default_rng(seed))
        rejected += [found["choices"], found["accuracy"]]
    assert (rejected / len(simulated_choices.DESIGNS) <= 0.104).all()


def test_a_preference_for_the_first_position_is_found() -> None:
    given = simulated_choices.Items("rotations", 10, 3, 5, spread=0.3, bias=1.0)
    found = simulated_choices.positions(given, 20, np.random.default_rng(1))
    assert min(found["these"], found["choices"], found["accuracy"]) > 0.7


def test_positions_and_foils_keep_their_level() -> None:
    rng = np.random.default_rng(2)
    given = simulated_choices.Items("rotations", 5, 3, 1)
    assert simulated_choices.positions(given, 25, rng)["these"] <= 0.2
    fixed = simulated_choices.foils(10, 10, 1, 0.0, 25, rng)
    varied = simulated_choices.foils(10, 10, 1, 0.1, 25, rng)
    assert fixed["these"] <= 0.2 and varied["like"] <= 0.2 and varied["coverage"] > 0.8


def test_groups_keep_their_level_together() -> None:
    found = simulated_groups.groups(10, 5, 0.0, 150, np.random.default_rng(3))
    assert found["alone"] <= found["together"] <= 0.1


@pytest.mark.parametrize("burden", [False, True])
def test_unequal_replicates_keep_level_and_coverage(burden: bool) -> None:
    found = simulated_groups.two_sides(
        12, (1, 20), -2.0, 0.7, burden, 0.0, 120, np.random.default_rng(4)
    )
    assert found["made"] <= 0.1 and found["coverage"] > 0.9
    if not burden:
        assert found["flipped"] > found["made"] + 0.03  # why signs are not flipped


def test_the_form_of_the_day_affects_a_trend_and_not_the_difference_of_two_sets() -> None:
    rng = np.random.default_rng(4)
    trend = simulated_groups.sessions(40, 4, 0.5, simulated_groups.trend, 200, rng)
    sets = simulated_groups.sessions(40, 4, 0.5, simulated_groups.sets, 200, rng)
    assert trend["rejected"] > 0.12 and sets["rejected"] <= 0.1


def test_every_cell_names_the_figures_that_it_makes() -> None:
    cells = analyses.cells()
    kinds = {kind for cell in cells for kind, _ in cell.rows.values()}
    assert kinds == set(analyses.KINDS) and len(cells) > 300


def test_the_table_of_analyses_keeps_what_is_promised() -> None:
    text = PAGE.read_text(encoding="utf-8").split("<!-- analyses: begin -->")[1]
    text = text.split("<!-- analyses: end -->")[0]
    parts = re.split(r"^\| (interval|test|power) \|.*$", text, flags=re.M)[1:]
    rows = {
        kind: re.findall(r"^\| ([^|]+) \| (\d\.\d+) \| (\d\.\d+) \| \d+ \|$", part, re.M)
        for kind, part in zip(parts[::2], parts[1::2], strict=True)
    }
    assert [len(rows[kind]) >= least for kind, least in
            (("interval", 20), ("test", 30), ("power", 9))] == [True] * 3  # fmt: skip
    intervals = [row for row in rows["interval"] if "not in tabwb" not in row[0]]
    assert all(0.9 <= float(mean) <= 0.99 for _, mean, _ in intervals), intervals
    # Sign flips with unequal replicates and the tests that are not in tabwb are there to compare.
    kept = [
        row
        for row in rows["test"]
        if not re.search("form of the day|sign flips$|not in tabwb|varies more", row[0])
        or "against one" in row[0]
    ]
    assert len(kept) >= 25 and all(float(mean) <= 0.07 for _, mean, _ in kept), kept
    positions = [float(mean) for name, mean, _ in kept if ", prompts like these: " in name]
    assert len(positions) == 12 and max(positions) <= 0.055
    sets = [float(mean) for name, mean, _ in rows["test"] if name.startswith("trend of one set")]
    assert len(sets) == 3 and max(sets) <= 0.07


def test_drawn_answers_of_all_seeds_share_an_error() -> None:
    design = simulated_lesions.Design(5, 5, 10, 0.5, 2.0)
    found = simulated_lesions.over_seeds(design, 120, np.random.default_rng(6))
    assert min(found["value"], found["height"], found["slope"], found["intact"]) > 0.9
    assert found["value alone"] < 0.9  # what t over seeds covers without this error


def test_lesions_like_their_controls_are_rarely_told_apart() -> None:
    design = simulated_lesions.Design(5, 5)
    found = simulated_lesions.controls(design, 0.0, 100, np.random.default_rng(7))
    assert all(
        share <= 0.14 for name, share in found.items() if "coverage" not in name
    )  # three standard errors of .05 over 100 studies are .065
    assert all(share > 0.85 for name, share in found.items() if "coverage" in name)


def test_means_of_the_seeds_that_are_left_are_not_those_of_all() -> None:
    design = simulated_lesions.Design(10, 20, 0, 1.0, 5.0)
    found = simulated_lesions.dropout(design, 150, np.random.default_rng(8))
    assert found["rest"] < 0.93 < found["all"] + 0.06
    assert found["share of slope"] < 0.7  # usable texts rise less than all texts would


def test_phi_and_similarities_are_in_their_intervals() -> None:
    rng = np.random.default_rng(9)
    found = simulated_lesions.features_together(10, 10, 0.5, (0.4, 0.8), 100, rng)
    assert found["coverage"] > 0.88
    profile = simulated_lesions.Profile(6, 5, 5, sampled=True)
    alike = simulated_lesions.similarities(profile, 40, rng)
    assert alike["cosine"] > 0.85 and alike["spearman"] > 0.8
