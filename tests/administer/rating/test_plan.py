"""Samples and their weights, who rates which, in which order, and what can be expected."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.administer.rating.planning import (
    Design,
    Judged,
    Rules,
    allocated,
    assigned,
    consensus_of_set,
    drawn,
    expected_widths,
    hybrid_queue,
    pair_counts,
    ratings_needed,
    with_repeats,
)
from tabwb.battery.forms import form_from_canonical
from tabwb.records.errors import UsageError
from tabwb.records.rating_sets import AUDIT, FREQUENT, UNCERTAIN, Adjudication, SampleRating
from tabwb.records.trials import AttemptEntry, RatingsEntry
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, rated_set, scores

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
    one = next(one for one in expected_widths(600) if (one.prevalence, one.kappa) == (0.5, 0.3))
    # At prevalence 1/2, kappa is 2a - 1 with a the agreement; its standard error is
    # 2 sqrt(a(1-a)/n) with a = (1 + k) / 2.
    theory = 2 * 1.96 * 2 * (0.65 * 0.35 / 600) ** 0.5
    assert one.of_kappa == pytest.approx(theory, rel=0.05)
    rare = expected_widths(5, raters=3, each=3)[0]
    assert (rare.pairs, rare.of_kappa) == (3, None)


def judged(n: int, seed: int = 0, *, probabilities: bool = True) -> Judged:
    """Return verdicts on a frequent, a rare and a one-sided feature that is never absent."""
    generator = np.random.default_rng(seed)
    verdicts = (generator.random((n, 3)) < [0.4, 0.05, 0.1]).astype(float)
    verdicts[verdicts[:, 2] == 0, 2] = np.nan
    told = np.where(verdicts == 1, 0.9, 0.1) if probabilities else np.full((n, 3), np.nan)
    return Judged("j", ("often", "rare", "one-sided"), verdicts, told, np.zeros(n, bool))


def test_each_response_goes_to_a_person_for_the_first_reason_that_applies() -> None:
    given_to = judged(200)
    given_to.probabilities[3, 1] = 0.45
    given_to.failed[7] = True
    draws, queue = hybrid_queue(range(200), given_to, Rules(), 1)
    strata = {one.unit: one.stratum for one in draws}
    assert (strata[3], strata[7], queue.uncertain) == (UNCERTAIN, UNCERTAIN, 2)
    often = {place for place in range(200) if given_to.verdicts[place, 0] == 1} - {3, 7}
    assert {unit for unit, stratum in strata.items() if stratum == FREQUENT} == often
    # One-sided features are present in 1 of 10, not in all that have a verdict.
    assert [name for name, _ in queue.frequent] == ["often"]
    assert queue.frequent[0][1] == np.mean(given_to.verdicts[:, 0])
    assert queue.rest == 200 - 2 - len(often)
    assert queue.audited == int(np.ceil(queue.rest / 10))
    assert queue.to_person == len(draws)
    assert not hybrid_queue(range(9), judged(9, probabilities=False), Rules(), 1)[
        1
    ].has_probabilities


@given(st.integers(1, 80), st.floats(0, 1), st.integers(0, 9))
def test_weights_stand_for_every_response_of_the_judge(n: int, audit: float, seed: int) -> None:
    draws, queue = hybrid_queue(range(n), judged(n, seed), Rules(audit=audit), seed)
    stands_for = sum(one.weight for one in draws)
    assert stands_for == pytest.approx(n if queue.audited or not queue.rest else n - queue.rest)
    assert sum(one.stratum == AUDIT for one in draws) == queue.audited


def test_a_share_out_of_range_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--margin: 0\.6 is out of range"):
        hybrid_queue(range(3), judged(3), Rules(margin=0.6), 0)


def test_samples_with_a_settled_or_common_answer_to_every_question_are_taken(store: Store) -> None:
    number = begin(store, 3).id
    store.append(number, [AttemptEntry(trial, attempt()) for trial in (1, 2, 3)])
    store.append(number, [RatingsEntry(trial, 1, scores()) for trial in (1, 2, 3)])
    kept = rated_set(store, number)
    form = form_from_canonical(kept.form)
    with pytest.raises(UsageError, match="no sample of set 'pilot' has a consensus"):
        consensus_of_set(store, "pilot", form)
    for sample, first, second in (
        (1, {"jargon": 1.0, "anomia": 3.0}, {"jargon": 1.0, "anomia": 3.0}),
        (2, {"jargon": 0.0, "anomia": 0.0}, {"jargon": 1.0, "anomia": 0.0}),
        (3, {"jargon": 0.0, "anomia": 0.0}, {"jargon": 1.0, "anomia": 0.0}),
    ):
        for rater, answers in (("R1", first), ("R2", second)):
            positions = store.sets.assignments(kept.id, rater)
            (at,) = (one.position for one in positions if one.sample == sample)
            store.sets.rate(kept.id, SampleRating(rater, at, sample, "rate", answers, True))
    store.sets.adjudicate(kept.id, Adjudication(3, "jargon", 0.0, "real words", "A1"))
    assert consensus_of_set(store, "pilot", form) == {
        (number, 1): {"jargon": 1.0, "anomia": 3.0},
        (number, 3): {"jargon": 0.0, "anomia": 0.0},
    }
    with pytest.raises(UsageError, match="has another form"):
        consensus_of_set(store, "pilot", replace(form, version="other"))
