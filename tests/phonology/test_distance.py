"""Distances and traces, exact to the quarter."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.distance import (
    Alignment,
    align_features,
    align_phonemes,
    feature_changes,
    indel_cost,
    substitution_cost,
)
from tabwb.phonology.inventory import FEATURES, PHONEMES, SILENT

labels = st.lists(st.sampled_from(PHONEMES + SILENT), max_size=8)


def as_lists(found: Alignment) -> list[list[Any]]:
    return [list(step) for step in found.steps]


def test_every_case_of_the_challenges_scorer_with_its_trace(psst: Any) -> None:
    assert len(psst["cases"]) == 137
    for case in psst["cases"]:
        ref, hyp = case["ref"].split(), case["hyp"].split()
        features, phonemes = align_features(ref, hyp), align_phonemes(ref, hyp)
        assert features.distance == case["fer_distance"], case["id"]
        assert features.length == case["fer_length"], case["id"]
        assert phonemes.distance == case["per_distance"], case["id"]
        assert phonemes.length == case["per_length"], case["id"]
        assert as_lists(features) == case["feature_steps"], case["id"]
        assert as_lists(phonemes) == case["phoneme_steps"], case["id"]


def test_what_a_phoneme_too_many_or_missing_costs(psst: Any) -> None:
    assert {phoneme: indel_cost(phoneme) for phoneme in PHONEMES} == psst["phoneme_indel"]


def test_figure_1_names_the_features_that_changed() -> None:
    assert [str(change) for change in feature_changes("P", "M")] == [
        "-sonorant → +sonorant",
        "-delayedrelease → 0delayedrelease",
        "-nasal → +nasal",
        "-voice → +voice",
    ]
    assert {str(change) for change in feature_changes("Y", "AH")} == {
        "-syllabic → +syllabic",
        "+high → -high",
        "+front → -front",
        "-back → +back",
        "+tense → -tense",
    }


def test_each_change_costs_what_table_5_says() -> None:
    table_5 = {
        ("-", "+"): 1.0,
        ("-", "+-"): 0.75,
        ("-+", "+"): 0.75,
        ("-", "0"): 0.5,
        ("-+", "+-"): 0.5,
        ("0", "+"): 0.5,
        ("-", "-+"): 0.25,
        ("-+", "0"): 0.25,
        ("0", "+-"): 0.25,
        ("+-", "+"): 0.25,
    }
    seen = set()
    for one, other in product(PHONEMES, PHONEMES):
        for change in feature_changes(one, other):
            pair = (change.before, change.after)
            expected = table_5.get(pair, table_5.get(pair[::-1]))
            assert change.cost == expected, (one, other, change)
            seen.add(frozenset(pair))
    assert len(seen) >= 8


def test_a_substitution_costs_the_sum_of_its_changes() -> None:
    for one, other in product(PHONEMES, PHONEMES):
        assert substitution_cost(one, other) == sum(c.cost for c in feature_changes(one, other))


@given(labels, labels)
def test_distance_is_the_sum_of_the_steps_and_symmetric(ref: list[str], hyp: list[str]) -> None:
    for align in (align_features, align_phonemes):
        found = align(ref, hyp)
        assert found.distance == sum(step.cost for step in found.steps)
        assert found.distance == align(hyp, ref).distance
        assert [step.ref for step in found.steps if step.ref is not None] == ref
        assert [step.hyp for step in found.steps if step.hyp is not None] == hyp


@given(labels, labels, labels)
def test_no_way_round_is_shorter(one: list[str], other: list[str], third: list[str]) -> None:
    for align in (align_features, align_phonemes):
        direct = align(one, third).distance
        assert direct <= align(one, other).distance + align(other, third).distance


@given(labels)
def test_silence_is_free(ref: list[str]) -> None:
    spoken = [label for label in ref if label not in SILENT]
    found = align_features(ref, spoken)
    assert (found.distance, found.length) == (0.0, len(FEATURES) * len(spoken))
    assert all(step.op != "SUB" for step in found.steps)


@pytest.mark.parametrize("align", [align_features, align_phonemes])
def test_of_two_equal_phonemes_in_a_row_the_first_is_left_out(align: Any) -> None:
    """A tie of the dynamic program: walking back from the end, the last two are paired first."""
    assert [step.op for step in align(["AA", "AA"], ["AA"]).steps] == ["DEL", "EQ"]


def test_an_empty_reference_has_no_rate() -> None:
    found = align_features([], ["F"])
    assert (found.distance, found.length, found.rate) == (20.0, 0, None)
