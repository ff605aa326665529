"""Samples and their weights, who rates which, in which order, and what can be expected."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.administer.rating.expected import expected_widths
from tabwb.administer.rating.plan import (
    Design,
    assigned,
    pair_counts,
    ratings_needed,
    with_repeats,
)
from tabwb.administer.rating.sampling import allocated, drawn
from tabwb.records.errors import UsageError

FIVE = ("R1", "R2", "R3", "R4", "R5")
SIZES = st.dictionaries(st.from_regex(r"[a-z]{1,3}", fullmatch=True), st.integers(1, 50),
                        min_size=1, max_size=8)  # fmt: skip


@given(SIZES, st.integers(1, 100), st.integers())
def test_weights_of_a_sample_add_up_to_the_responses_it_stands_for(
    sizes: dict[str, int], number: int, seed: int
) -> None:
    units = [((name, n), name) for name, size in sizes.items() for n in range(size)]
    total = min(number, len(units))
    for sample in (
        drawn(units, seed=seed, per_stratum=number),
        drawn(units, seed=seed, total=total),
    ):
        assert len({one.unit for one in sample}) == len(sample)
        weights = Counter[str]()
        for one in sample:
            weights[one.stratum] += 1
        for name, n in weights.items():
            (weight,) = {one.weight for one in sample if one.stratum == name}
            assert Fraction(weight).limit_denominator(1000) * n == sizes[name]
    assert len(drawn(units, seed=seed, total=total)) == total


@given(SIZES, st.integers(1, 200))
def test_a_proportional_sample_gives_each_stratum_its_share_within_one_where_it_can(
    sizes: dict[str, int], total: int
) -> None:
    given_to, everything = allocated(sizes, total), sum(sizes.values())
    assert sum(given_to.values()) == min(total, everything)
    assert all(0 <= given_to[name] <= size for name, size in sizes.items())
    if total >= len(sizes):
        assert min(given_to.values()) >= 1


def test_one_more_stratum_changes_no_draw_of_the_others() -> None:
    units = [(n, "a") for n in range(50)]
    first = drawn(units, seed=3, per_stratum=5)
    both = drawn([*units, *((n, "b") for n in range(50, 90))], seed=3, per_stratum=5)
    assert first == both[:5]
    assert drawn(units, seed=4, per_stratum=5) != first


def test_the_study_of_the_paper_is_divided_fairly() -> None:
    design = Design(FIVE, overlap=82, each=2, seed=1)
    given_out = assigned(range(1, 562), design)
    first = [one for one in given_out if one.purpose == "rate"]
    assert len(first) == ratings_needed(561, design) == 643
    assert Counter(Counter(one.sample for one in first).values()) == {1: 479, 2: 82}
    assert set(Counter(one.rater for one in first).values()) == {128, 129}
    pairs = pair_counts(given_out)
    assert len(pairs) == 10 and sum(pairs.values()) == 82
    assert max(pairs.values()) - min(pairs.values()) <= 4
    again = Counter(one.rater for one in given_out if one.purpose == "again")
    assert set(again.values()) == {13}


@given(st.integers(1, 120), st.floats(0, 0.5), st.integers(0, 40), st.integers())
def test_repeats_come_late_enough_and_change_no_order(
    n: int, share: float, distance: int, seed: int
) -> None:
    order = list(range(100, 100 + n))
    shown = with_repeats(order, share, distance, random.Random(seed))
    assert [number for number, purpose in shown if purpose == "rate"] == order
    at = {number: place for place, (number, purpose) in enumerate(shown) if purpose == "rate"}
    repeats = [(place, number) for place, (number, why) in enumerate(shown) if why == "again"]
    assert len({number for _, number in repeats}) == len(repeats)
    assert all(place - at[number] > min(distance, n // 2) for place, number in repeats)
    if n > 1:
        assert len(repeats) in {int(share * n), int(share * n) + 1}


def test_calibration_comes_first_and_each_rater_has_an_order_of_their_own() -> None:
    design = Design(("R1", "R2"), seed=5)
    given_out = assigned(range(1, 41), design, calibration=[41, 42, 43])
    orders = {
        rater: [(one.position, one.sample, one.purpose) for one in given_out if one.rater == rater]
        for rater in design.raters
    }
    for order in orders.values():
        assert [position for position, _, _ in order] == list(range(1, 48))
        assert [purpose for _, _, purpose in order[:3]] == ["calibration"] * 3
        assert {sample for _, sample, _ in order[:3]} == {41, 42, 43}
    assert [sample for _, sample, _ in orders["R1"]] != [sample for _, sample, _ in orders["R2"]]
    assert given_out == assigned(range(1, 41), design, calibration=[41, 42, 43])


@pytest.mark.parametrize(
    ("design", "words"),
    [
        (Design(()), "no rater is named"),
        (Design(("R1", "R1")), "'R1' is named twice"),
        (Design(FIVE, overlap=101), "--overlap: 101 is out of range\nallowed: 0 to 100"),
        (Design(FIVE, each=6), "--raters-per-sample: 6 is out of range\nallowed: 1 to 5"),
        (Design(FIVE, again=0.6), "allowed: 0 to 0.5"),
        (Design(FIVE, overlap=50, each=2, most=29), "need 150 ratings.*5 raters with 29 each give"),
    ],
)
def test_a_design_that_does_not_fit_is_refused(design: Design, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        assigned(range(1, 101), design)


def test_expected_intervals_are_as_wide_as_theory_says() -> None:
    (one,) = expected_widths(600, prevalences=[0.5], kappas=[0.3])
    # At prevalence 1/2, kappa is 2a - 1 with a the agreement; its standard error is
    # 2 sqrt(a(1-a)/n) with a = (1 + k) / 2.
    theory = 2 * 1.96 * 2 * (0.65 * 0.35 / 600) ** 0.5
    assert one.of_kappa == pytest.approx(theory, rel=0.05)
    (rare,) = expected_widths(20, raters=3, each=3, prevalences=[0.01], kappas=[0.3])
    assert (rare.pairs, rare.of_kappa) == (3, None)
