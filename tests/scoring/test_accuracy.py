from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tabwb.records.states import Protocol
from tabwb.scoring.estimate import (
    Estimate,
    Interval,
    always_first,
    always_yes,
    chance_corrected,
    clopper_pearson,
    guessing_rate,
)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_the_exact_one(share: tuple[int, int]) -> None:
    correct, n = share
    interval = clopper_pearson(correct, n)
    oracle = binomtest(correct, n).proportion_ci(0.95, method="exact")
    assert interval is not None
    assert interval.low == pytest.approx(oracle.low, rel=1e-9, abs=1e-12)
    assert interval.high == pytest.approx(oracle.high, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("correct", "n"), [(0, 112_000), (1, 112_000), (56_000, 112_000)])
def test_the_interval_holds_for_large_counts(correct: int, n: int) -> None:
    interval = clopper_pearson(correct, n)
    oracle = binomtest(correct, n).proportion_ci(0.95, method="exact")
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((oracle.low, oracle.high), rel=1e-8)


def test_nothing_counted_has_no_interval() -> None:
    assert clopper_pearson(0, 0) is None


def test_more_right_than_asked_is_an_error() -> None:
    with pytest.raises(ValueError, match="6 of 5"):
        clopper_pearson(6, 5)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_right_and_wrong_mirror_each_other(share: tuple[int, int]) -> None:
    correct, n = share
    one, other = clopper_pearson(correct, n), clopper_pearson(n - correct, n)
    assert one is not None
    assert other is not None
    assert one.low == pytest.approx(1 - other.high, abs=1e-12)
    assert one.low <= correct / n <= one.high


def test_a_wider_level_gives_a_wider_interval() -> None:
    narrow, wide = clopper_pearson(3, 5, 0.5), clopper_pearson(3, 5, 0.99)
    assert isinstance(narrow, Interval)
    assert isinstance(wide, Interval)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_tabs_baselines() -> None:
    # Every word-comprehension key is the first option; "always Yes" scores 3 of 5.
    options = ("boot", "boat", "lion", "drum", "violin", "giraffe")
    assert always_first([("boot", options)] * 5).value == 1.0
    assert always_first([("boot", options[1:] + options[:1])]).value == 0.0
    assert always_yes(["Yes", "No", "No", "Yes", "Yes"]).value == 0.6
    assert guessing_rate([6] * 5).value == pytest.approx(1 / 6)


def test_baselines_of_nothing_are_undefined() -> None:
    assert always_first([]).value is None
    assert always_yes([]).value is None
    assert guessing_rate([]).value is None


@pytest.mark.parametrize("protocol", [Protocol.ENFORCED, Protocol.LIKELIHOOD])
def test_chance_correction_is_not_clipped(protocol: Protocol) -> None:
    guess = Estimate(1 / 6)
    assert chance_corrected(Estimate(1 / 6), guess, protocol).value == pytest.approx(0)
    assert chance_corrected(Estimate(1.0), guess, protocol).value == pytest.approx(1)
    assert chance_corrected(Estimate(0.0), guess, protocol).value == pytest.approx(-0.2)


def test_a_free_answer_is_not_corrected_for_chance() -> None:
    corrected = chance_corrected(Estimate(0.8), Estimate(1 / 6), Protocol.GENERATE)
    assert corrected.value is None
    assert "need not be one of the options" in corrected.reason
    assert chance_corrected(Estimate(0.8), Estimate(1 / 6), None).value is None


def test_an_undefined_accuracy_stays_undefined() -> None:
    corrected = chance_corrected(Estimate(None, "no item"), Estimate(0.5), Protocol.ENFORCED)
    assert corrected == Estimate(None, "no item")


def test_an_estimate_without_a_value_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="reason"):
        Estimate(None)
