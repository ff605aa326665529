"""Thousands of utterances at once: the same numbers and the same traces."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.batch import Scores, psst_costs, score
from tabwb.phonology.distance import align_features, align_phonemes
from tabwb.phonology.inventory import PHONEMES, SILENT

labels = st.lists(st.sampled_from(PHONEMES + SILENT), max_size=9)


def assert_same(
    scores: Scores, refs: Sequence[Sequence[str]], hyps: Sequence[Sequence[str]]
) -> None:
    traces = scores.traces()
    for k, (ref, hyp) in enumerate(zip(refs, hyps, strict=True)):
        features, phonemes = align_features(ref, hyp), align_phonemes(ref, hyp)
        assert scores.quarters[k] / 4 == features.distance
        assert scores.edits[k] == phonemes.distance
        assert scores.phonemes[k] == phonemes.length
        assert traces[k] == features.steps


def test_every_case_of_the_challenges_scorer_at_once(psst: Any) -> None:
    cases = psst["cases"]
    found = score([c["ref"].split() for c in cases], [c["hyp"].split() for c in cases])
    assert (found.quarters / 4).tolist() == [case["fer_distance"] for case in cases]
    assert found.edits.tolist() == [case["per_distance"] for case in cases]
    assert found.phonemes.tolist() == [case["per_length"] for case in cases]
    assert [[list(step) for step in trace] for trace in found.traces()] == [
        case["feature_steps"] for case in cases
    ]


def test_a_corpus_is_a_fraction_of_sums_and_no_mean(psst: Any) -> None:
    (corpus,) = psst["corpora"]
    refs, hyps = ([row[side].split() for row in corpus["rows"]] for side in (0, 1))
    found = score(refs, hyps)
    assert (found.feature_distance, found.feature_length) == (828.75, 4248)
    assert (found.phoneme_distance, found.phoneme_length) == (55, 177)
    assert (found.fer, found.per) == (corpus["fer"], corpus["per"])
    assert found.fer != pytest.approx(corpus["NOT_the_metric_mean_utterance_fer"])


@given(st.lists(st.tuples(labels, labels), max_size=6))
def test_one_at_a_time_and_all_at_once_agree(pairs: list[tuple[list[str], list[str]]]) -> None:
    refs, hyps = [ref for ref, _ in pairs], [hyp for _, hyp in pairs]
    assert_same(score(refs, hyps), refs, hyps)


def test_utterances_of_all_lengths_in_one_corpus() -> None:
    """Also so long that sums leave 16 bits, and beside empty ones."""
    chance = random.Random(5)
    sizes = [(0, 0), (400, 380), (1, 30), (0, 12), (60, 0), (17, 19), (18, 18), (1, 1)]
    refs = [chance.choices(PHONEMES + SILENT, k=size) for size, _ in sizes]
    hyps = [chance.choices(PHONEMES + SILENT, k=size) for _, size in sizes]
    assert_same(score(refs, hyps), refs, hyps)


def test_no_utterances() -> None:
    found = score([], [])
    assert (found.per, found.fer, found.traces()) == (None, None, [])


def test_some_utterances_in_another_order(psst: Any) -> None:
    rows = psst["corpora"][0]["rows"]
    refs, hyps = ([row[side].split() for row in rows] for side in (0, 1))
    chosen = [40, 3, 0, 17]
    assert_same(
        score(refs, hyps).some(chosen), [refs[k] for k in chosen], [hyps[k] for k in chosen]
    )


def test_steps_are_counted_for_all_or_some() -> None:
    found = score([["P"], ["B", "P"], ["B"]], [["M"], ["B", "M"], ["D"]])
    codes = psst_costs().codes
    every, last = found.step_counts(), found.some([2]).step_counts()
    assert every[codes["P"], codes["M"]] == 2
    assert every[codes["B"], codes["B"]] == 1
    assert (last.sum(), last[codes["B"], codes["D"]]) == (1, 1)
