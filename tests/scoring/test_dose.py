"""Numbers over seeds of lesions, against scipy and numpy; and how often the tests reject."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from tabwb.scoring.dose import (
    EQUAL_CONTROLS,
    EQUAL_SEEDS,
    FEW_SEEDS,
    NO_SEED,
    ONE_CASE,
    PAIRED,
    WELCH,
    against_controls,
    against_intact,
    area,
    mean_over_seeds,
    one_against_controls,
    seed_numbers,
    slope,
)
from tabwb.scoring.estimate import Estimate

values = st.floats(-20, 20)
lines = st.dictionaries(
    st.integers(0, 1000).map(lambda n: n / 1000), values, min_size=2, max_size=9
)


def numbers(given: Sequence[float | None], first: int = 1) -> dict[str, Estimate]:
    return {
        str(seed): Estimate(None, "none") if value is None else Estimate(value)
        for seed, value in enumerate(given, first)
    }


@given(lines)
def test_slope_and_area_are_those_of_scipy(line: dict[float, float]) -> None:
    amounts = sorted(line)
    heights = [line[amount] for amount in amounts]
    assert slope(line) == pytest.approx(
        stats.linregress(amounts, heights).slope, rel=1e-6, abs=1e-6
    )
    width = amounts[-1] - amounts[0]
    assert area(line) == pytest.approx(
        integrate.trapezoid(heights, amounts) / width, rel=1e-9, abs=1e-9
    )


def test_a_seed_that_lacks_a_value_has_no_number() -> None:
    line = {0.1: 0.0, 0.2: 0.5, 0.3: None}
    found = seed_numbers({"1": line, "2": {0.1: 1.0}}, slope, (0.1, 0.2, 0.3))
    assert [found[seed].reason for seed in "12"] == ["no value at 0.3", "no value at 0.2, 0.3"]
    assert seed_numbers({"1": line}, slope, (0.1, 0.2))["1"].value == pytest.approx(5)


def test_the_mean_over_seeds_by_scipy() -> None:
    given = [0.2, 0.5, 0.9, 0.4, 0.7, 0.1]
    found = mean_over_seeds(given)
    peer = stats.ttest_1samp(given, 0)
    low, high = peer.confidence_interval()
    assert found.interval is not None
    assert (found.value, found.df, found.p) == pytest.approx((np.mean(given), 5, peer.pvalue))
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    assert (found.n, found.left_out) == (6, 0)


def test_an_error_that_all_seeds_share_widens_the_interval() -> None:
    given = [0.2, 0.5, 0.9, 0.4, 0.7]
    one = stats.ttest_ind(given, [0.0, 0.1, 0.3, 0.2], equal_var=False)
    extra = float(np.var([0.0, 0.1, 0.3, 0.2], ddof=1) / 4), 3.0
    found = mean_over_seeds(given, shared=extra)
    assert found.df == pytest.approx(one.df)
    low, high = one.confidence_interval()
    assert found.interval is not None
    assert found.interval.high - found.interval.low == pytest.approx(high - low)


def test_a_difference_ends_where_the_two_values_end() -> None:
    near = [1.0, 0.9, 1.0, 0.6, 1.0]
    own = mean_over_seeds([0.0, 0.0, 0.0, 0.0, 1.0], (0.0, 1.0))
    assert own.interval is not None and own.interval.low == 0.0
    assert own.interval.high == pytest.approx(0.2 + 0.2 * stats.t.ppf(0.975, 4))
    greedy = against_intact(near, 0.95, 0.0, limits=(0.0, 1.0))
    assert greedy.interval is not None and greedy.interval.high == pytest.approx(0.05)
    drawn = against_intact([1.0, 0.0, 1.0, 0.0, 1.0], 0.0, 0.1, 9, (0.0, 1.0))
    assert drawn.interval is not None and drawn.interval.high == 1.0
    apart = against_controls(
        numbers([1.0, 1.0, 0.0, 1.0, 1.0]), numbers([0.0, 0.0, 0.0, 0.0, 0.1]), (0.0, 1.0)
    )
    assert apart.interval is not None and apart.interval.high == 1.0


def test_the_same_seeds_are_compared_in_pairs() -> None:
    lesion, control = [3.0, 4.0, 6.5, 5.0, 7.0, 1.0], [1.0, 3.0, 4.0, 4.0, 5.0, 2.0]
    found = against_controls(numbers(lesion), numbers(control))
    peer = stats.ttest_rel(lesion, control)
    low, high = peer.confidence_interval()
    assert found.method == PAIRED and found.interval is not None
    assert (found.df, found.p) == pytest.approx((5, peer.pvalue))
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))


def test_other_seeds_are_compared_by_welch() -> None:
    lesion, control = [3.0, 4.0, 6.5, 5.0, 7.0, 1.0], [1.0, 3.0, 4.0, 4.5, 5.0]
    found = against_controls(numbers(lesion), numbers(control, 11))
    peer = stats.ttest_ind(lesion, control, equal_var=False)
    low, high = peer.confidence_interval()
    assert found.method == WELCH and found.interval is not None
    assert (found.n, found.n_control) == (6, 5)
    assert (found.df, found.p) == pytest.approx((peer.df, peer.pvalue))
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))


def test_few_controls_or_none_have_a_difference_at_most() -> None:
    lesion = numbers([3.0, 4.0, 6.5, 5.0, 7.0])
    few = against_controls(lesion, numbers([1.0, 2.0, 3.0, 4.0], 11))
    assert few.value == pytest.approx(2.6)
    assert few.reason == FEW_SEEDS and few.interval is None
    none = against_controls(lesion, numbers([None], 11))
    assert (none.value, none.reason, none.left_out) == (None, NO_SEED, 1)


def test_a_side_without_variation_leaves_the_error_of_the_other() -> None:
    control = [0.9, 0.8, 1.0, 0.7, 0.9]
    found = against_controls(numbers([0.0] * 5), numbers(control, 11))
    assert found.df == pytest.approx(4)
    assert found.p == pytest.approx(stats.ttest_1samp(control, 0).pvalue)
    both = against_controls(numbers([0.0] * 5), numbers([0.1] * 5, 11))
    assert (both.reason, both.p) == (EQUAL_SEEDS, None)


def test_the_error_of_the_intact_model_counts() -> None:
    given = [1.0, 2.0, 3.0, 4.0, 5.0]
    greedy = against_intact(given, 1.0, 0.0)
    assert greedy.p == pytest.approx(stats.ttest_1samp(given, 1.0).pvalue)
    # Two samples with a variance each are Welch's test.
    intact = [0.0, 1.5, 1.0, 2.0]
    drawn = against_intact(given, float(np.mean(intact)), float(np.var(intact, ddof=1) / 4), 3)
    peer = stats.ttest_ind(given, intact, equal_var=False)
    assert (drawn.df, drawn.p) == pytest.approx((peer.df, peer.pvalue))


def test_a_lesion_that_does_nothing_is_rarely_told_from_a_sampled_intact_model() -> None:
    """Five amounts of five seeds and one intact run, each with sampling error alone."""
    rng = np.random.default_rng(1)
    error, amounts = 0.2, (0.1, 0.2, 0.3, 0.4, 0.5)
    rejected = {"known": 0, "drawn": 0, "slope": 0}
    studies = 400
    for _ in range(studies):
        intact = rng.normal(1, error)
        runs = [dict(zip(amounts, rng.normal(1, error, 5).tolist(), strict=True)) for _ in range(5)]
        areas = [area(run) for run in runs]
        found = {
            "known": against_intact(areas, intact, 0.0),
            "drawn": against_intact(areas, intact, error**2, 95),
            "slope": mean_over_seeds([slope(run) for run in runs]),
        }
        for name, one in found.items():
            assert one.p is not None
            rejected[name] += one.p < 0.05
    assert rejected["drawn"] / studies < 0.08 and rejected["slope"] / studies < 0.08
    assert rejected["known"] / studies > 0.3


@given(values, st.lists(values, min_size=5, max_size=12))
def test_one_lesion_against_controls_is_the_pooled_t_test_of_one_value(
    case: float, controls: list[float]
) -> None:
    found = one_against_controls(Estimate(case), numbers(controls))
    assert found.value == pytest.approx(case - np.mean(controls), abs=1e-9)
    if np.std(controls) < 1e-6:
        return
    # With one value on a side, Student's test for equal variances has the variance of the other.
    peer = stats.ttest_ind([case], controls)
    low, high = peer.confidence_interval()
    assert found.interval is not None and found.method == ONE_CASE
    assert (found.n, found.n_control, found.df) == (1, len(controls), len(controls) - 1)
    assert found.p == pytest.approx(peer.pvalue, rel=1e-6, abs=1e-9)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-6)


def test_one_lesion_against_controls_by_the_example_of_crawford_and_howell() -> None:
    # A score of 33 beside 15 controls with the mean 50 and the standard deviation 10.
    apart = 10 * np.sqrt(7)
    found = one_against_controls(Estimate(33.0), numbers([50 - apart, *[50.0] * 13, 50 + apart]))
    assert found.value == pytest.approx(-17) and found.df == 14
    assert found.p == pytest.approx(2 * stats.t.sf(1.646, 14), abs=1e-4)


def test_one_lesion_has_no_interval_without_five_controls_that_differ() -> None:
    for controls, reason in (
        ([1.0, 2.0, 3.0, 4.0], "fewer than 5 controls"),
        ([1.0, 2.0, 3.0, 4.0, 5.0, None], "1 of 6 controls left out"),
        ([2.0] * 5, EQUAL_CONTROLS),
    ):
        found = one_against_controls(Estimate(6.0), numbers(controls))
        assert found.value is not None and found.reason.startswith(reason)
        assert found.interval is None and found.p is None
    assert one_against_controls(Estimate(None, "none"), numbers([1.0] * 5)).reason == NO_SEED


def test_the_interval_to_one_more_control_ends_where_controls_end() -> None:
    found = one_against_controls(Estimate(0.9), numbers([0.0, 0.2, 0.9, 0.4, 0.5]), (0.0, 1.0))
    assert found.interval is not None
    assert found.interval.low == pytest.approx(-0.1) and found.interval.high == 0.9


def test_rounding_and_one_amount_are_no_slope() -> None:
    assert slope({0.3: 0.0, 0.1: 1.0, 0.2: 0.5}) == pytest.approx(-5)  # in any order
    assert area({0.3: 0.0, 0.1: 1.0, 0.2: 0.5}) == pytest.approx(0.5)
    for line in ({0.02: 1.0, 0.05: 1.0}, {0.1: 0.8, 0.2: 0.6, 0.3: 0.8}, {0.1: 0.3, 0.4: 0.3}):
        assert slope(line) == 0.0
    assert slope({0.1: 1.0, 0.2: 1.0 + 1e-9}) == pytest.approx(1e-8)
    for number in (slope, area):
        with pytest.raises(ValueError, match="two amounts or more"):
            number({0.1: 1.0})


@pytest.mark.parametrize(
    ("own", "value", "reason"),
    [
        ([1.0, 2.0, 3.0, 4.0, None], 2.5, FEW_SEEDS),
        ([0.1 + 0.2, 0.3, 0.3, 0.3, 0.3], 0.3, EQUAL_SEEDS),
        ([0.0] * 5, 0.0, EQUAL_SEEDS),
        ([None, None], None, NO_SEED),
        ([0.2, 0.5, 0.9, 0.4, 0.7, 0.1, None], 2.8 / 6,
         "1 of 7 seeds left out (the others may differ from them)"),
    ],
)  # fmt: skip
def test_few_equal_no_or_lost_seeds_have_a_reason_instead_of_an_interval(
    own: list[float | None], value: float | None, reason: str
) -> None:
    found = mean_over_seeds(own)
    assert (found.reason, found.interval, found.p) == (reason, None, None)
    assert found.value == (None if value is None else pytest.approx(value))
    assert (found.n, found.left_out) == (len(own) - own.count(None), own.count(None))


def test_pairs_that_lack_a_partner_or_differ_by_rounding_alone_have_no_test() -> None:
    lesion, control = [3.0, 4.0, 6.5, 5.0, 7.0, 1.0], [1.0, None, 4.0, 4.0, 5.0, 2.0]
    found = against_controls(numbers(lesion), numbers(control))
    assert (found.method, found.n, found.left_out) == (PAIRED, 5, 1)
    assert found.p is None and found.reason.startswith("1 of 6 seeds left out")
    assert found.value == pytest.approx(np.mean([2.0, 2.5, 1.0, 2.0, -1.0]))
    lesion = [0.1 + 0.2, 1.0, 2.0, 3.0, 4.0]
    found = against_controls(numbers(lesion), numbers([0.3, 1.0, 2.0, 3.0, 4.0]))
    assert (found.reason, found.p) == (EQUAL_SEEDS, None)
