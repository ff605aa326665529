"""Intervals against reference values, scipy, and their algebra."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats

from tabwb.scoring import intervals
from tabwb.scoring.differences import (
    NO_VARIATION,
    difference_interval,
    draw_variance,
    family_interval,
    paired_t,
    sampling_floor,
)
from tabwb.scoring.estimate import (
    DETERMINISTIC,
    NO_VALUE,
    ONE_ITEM,
    ONE_RESPONSE,
    Estimand,
    EstimatedInterval,
    Interval,
)
from tabwb.scoring.intervals import (
    burden_interval,
    dispersed_garwood,
    effective_responses,
    korn_graubard,
    rate_interval,
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
    k = len(case["ya"])
    found = paired_t(case["ya"], case["yb"], k * case["ra"], k * case["rb"], case["F"])
    assert ends(found) == pytest.approx(case["interval"], abs=1e-6)


@pytest.mark.parametrize("case", REFERENCE["groups"])
def test_reference_groups(case: dict[str, Any]) -> None:
    assert ends(family_interval(case["D"]).interval) == pytest.approx(case["interval"], abs=1e-6)


# Burden ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("r", "high"), [(1, 0.72), (10, 0.14), (50, 0.09)])
def test_five_empty_profiles_are_not_zero_for_certain(r: int, high: float) -> None:
    found = burden_interval([[0.0] * r] * 5, 19)
    assert ends(found.interval) == pytest.approx((0.0, high), abs=0.005)


def ratio_jackknife(values: list[list[float]]) -> float:
    """The variance of a mean over responses when items are left out one by one."""
    total = sum(map(sum, values))
    count = sum(map(len, values))
    kept = [(total - sum(item)) / (count - len(item)) for item in values]
    k = len(values)
    return (k - 1) / k * sum((each - statistics.fmean(kept)) ** 2 for each in kept)


def test_missing_responses_weigh_items_by_what_they_have() -> None:
    # Derived a second time: the variance by the jackknife, the rest from scipy.
    rng = np.random.default_rng(4)
    values = [
        [float(each) for each in rng.poisson(2 + item % 3, 20 + item % 4)] for item in range(20)
    ]
    sizes = [len(item) for item in values]
    total = sum(sizes)
    p = sum(map(sum, values)) / total / 19
    df = total**2 / sum(size**2 for size in sizes) - 1
    q = (stats.t.ppf(0.975, total * 19 - 1) / stats.t.ppf(0.975, df)) ** 2
    n = p * (1 - p) / (ratio_jackknife(values) / 19**2) * q
    low = 19 * stats.beta.ppf(0.025, n * p, n - n * p + 1)
    high = 19 * stats.beta.ppf(0.975, n * p + 1, n - n * p)
    found = ends(burden_interval(values, 19).interval)
    assert found == pytest.approx((low, high), rel=0.01)


def garwood_by_scipy(values: np.ndarray[Any, Any]) -> tuple[float, float]:
    k, r = values.shape
    m = values.mean()
    v = values.var(axis=1, ddof=1).sum() / (k * k * r)
    phi = max(1.0, v * k * r / m) if m else 1.0
    n = k * r / phi * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, k * (r - 1))) ** 2
    low = stats.chi2.ppf(0.025, 2 * m * n) / (2 * n) if m else 0.0
    return float(low), float(stats.chi2.ppf(0.975, 2 * m * n + 2) / (2 * n))


@pytest.mark.parametrize("rate", [0.02, 0.4, 2.0])
@pytest.mark.parametrize("r", [2, 10])
def test_a_burden_of_these_prompts_by_scipy(rate: float, r: int) -> None:
    values = np.random.default_rng(7).poisson(rate, (5, r)).astype(float)
    found = burden_interval(values.tolist(), 19, THESE)
    assert ends(found.interval) == pytest.approx(garwood_by_scipy(values), rel=1e-9)


def test_how_items_differ_does_not_widen_the_interval_of_these_prompts() -> None:
    alike = [[1.0, 2.0, 3.0]] * 4
    apart = [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [2.0, 3.0, 4.0], [2.0, 3.0, 4.0]]
    assert dispersed_garwood(alike, 19) == dispersed_garwood(apart, 19)
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


def test_a_rate_of_these_prompts_is_of_all_responses_where_some_are_missing() -> None:
    expected = stats.binomtest(10, 12).proportion_ci(0.95, method="exact")
    found = rate_interval([10, 0], [10, 2], THESE)
    assert ends(found.interval) == pytest.approx((expected.low, expected.high))


def test_a_burden_of_these_prompts_where_responses_are_missing() -> None:
    # By hand: R = 16, m = 36/16; sum of r s^2 = 12 x 12/11, of r (1 - r/12) (y - m)^2 =
    # 4 x 2/3 x 3.75^2 = 37.5; phi = (144/11 + 37.5) / 16 / m; t with 14 degrees of freedom.
    values, m = [[6.0] * 4, [2.0, 0.0] * 6], 2.25
    n = 16 / ((144 / 11 + 37.5) / 16 / m) * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 14)) ** 2
    low = stats.chi2.ppf(0.025, 2 * m * n) / (2 * n)
    expected = low, stats.chi2.ppf(0.975, 2 * m * n + 2) / (2 * n)
    assert ends(burden_interval(values, 19, THESE).interval) == pytest.approx(expected)


@given(
    st.lists(
        st.lists(st.integers(0, 7).map(float), min_size=1, max_size=12), min_size=2, max_size=8
    )
)
@example([[4.0], *[[0.0, 0.0, 0.0, 0.0, 1.0] * 4] * 4])
@example([[1.0] * 20, [0.0], [0.0], [0.0], [0.0]])
def test_every_interval_holds_the_printed_estimate(values: list[list[float]]) -> None:
    every = [each for item in values for each in item]
    hits, sizes = [sum(each > 0 for each in item) for item in values], [len(i) for i in values]
    for estimand in (LIKE, THESE):
        burden = burden_interval(values, 7, estimand).interval
        rate = rate_interval(hits, sizes, estimand).interval
        for found, estimate in (
            (burden, sum(every) / len(every)),
            (rate, sum(hits) / sum(sizes)),
        ):
            assert found is None or found.low - 1e-9 <= estimate <= found.high + 1e-9


def test_more_hits_than_responses_are_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and"):
        rate_interval([3], [2])


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


def test_greedy_answers_still_have_an_interval_for_prompts_like_these() -> None:
    burden = burden_interval([[1.0]] * 5, 19, LIKE, deterministic=True).interval
    rate = rate_interval([1] * 5, [1] * 5, LIKE, deterministic=True).interval
    assert burden is not None and rate is not None
    exact = stats.beta.ppf((0.025, 0.975), (5, 6), (91, 90)) * 19  # Clopper-Pearson of 5 of 5 * 19
    assert (burden.low, burden.high) == pytest.approx(exact)
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
def test_every_burden_interval_has_width_and_holds_the_mean(
    profile: tuple[list[list[float]], int], estimand: Estimand
) -> None:
    values, features = profile
    found = burden_interval(values, features, estimand)
    if found.interval is None:
        assert estimand is THESE and found.reason == ONE_RESPONSE
        return
    mean = sum(map(sum, values)) / sum(map(len, values))
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
def test_every_rate_interval_has_width(items: list[tuple[int, int]], estimand: Estimand) -> None:
    found = rate_interval([x for x, _ in items], [n for _, n in items], estimand)
    if found.interval is not None:
        low, high = ends(found.interval)
        assert 0 <= low < high <= 1
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
