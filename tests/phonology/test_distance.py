"""Distances and traces, one by one and thousands at once; confusions, rates, panphon."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.batch import (
    Scores,
    _table,
    changed_features,
    class_rates,
    confusions,
    panphon_costs,
    psst_costs,
    rates_by,
    score,
    segment,
)
from tabwb.phonology.distance import (
    Alignment,
    align_features,
    align_phonemes,
    feature_changes,
    indel_cost,
    substitution_cost,
)
from tabwb.phonology.inventory import FEATURES, PHONEMES, SILENT
from tabwb.records.errors import MissingExtra
from tabwb.records.speakers import AQ

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
    nothing = score([], [])
    assert (nothing.per, nothing.fer, nothing.traces()) == (None, None, [])
    sizes = [(0, 0), (400, 380), (1, 30), (0, 12), (60, 0), (17, 19), (18, 18), (1, 1)]
    refs = [chance.choices(PHONEMES + SILENT, k=size) for size, _ in sizes]
    hyps = [chance.choices(PHONEMES + SILENT, k=size) for _, size in sizes]
    assert_same(score(refs, hyps), refs, hyps)


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


def scored(*pairs: tuple[str, str]) -> Scores:
    return score([ref.split() for ref, _ in pairs], [hyp.split() for _, hyp in pairs])


def test_confusions_are_counted_the_most_frequent_first() -> None:
    found = confusions(scored(("B AE T", "P AE T"), ("B", "P"), ("K AE T", "K AE T S"), ("D", "")))
    assert [(each.step.op, each.step.ref, each.step.hyp, each.count) for each in found] == [
        ("SUB", "B", "P", 2),
        ("DEL", "D", None, 1),
        ("INS", None, "S", 1),
    ]
    assert confusions(scored(("K <sil> AE T", "K AE <spn> T"))) == []  # silence is none


def test_features_that_changed_in_figure_1(psst: Any) -> None:
    figure = next(case for case in psst["cases"] if case["category"] == "paper_figure1")
    found = confusions(scored((figure["ref"], figure["hyp"])))
    changed = changed_features(found)
    assert len(changed) == 9  # four from P to M, five from Y to AH; the deleted ER changes none
    assert sum(each.count * each.change.cost for each in changed) == 3.5 + 5


def test_class_rates_add_up_to_the_corpus(psst: Any) -> None:
    cases = psst["cases"]
    whole = score([c["ref"].split() for c in cases], [c["hyp"].split() for c in cases])
    steps = [step for case in cases for step in case["feature_steps"] if step[1] or step[2]]
    spoken = [s for s in steps if not {"<sil>", "<spn>", "<unk>"} & {s[1], s[2]}]
    found = class_rates(whole)
    assert sum(each.phonemes for each in found) == sum(case["per_length"] for case in cases)
    assert sum(each.substituted for each in found) == sum(s[0] == "SUB" for s in spoken)
    assert sum(each.deleted for each in found) == sum(s[0] == "DEL" for s in spoken)
    assert sum(each.inserted for each in found) == sum(s[0] == "INS" for s in spoken)
    assert sum(each.fer_distance for each in found) == sum(s[3] for s in spoken if s[0] != "INS")


def test_a_class_tells_errors_within_it() -> None:
    stops, *_, diphthongs = class_rates(scored(("B AY T", "P AA M")))
    assert (stops.phonemes, stops.substituted, stops.kept_class) == (2, 2, 1)
    assert (stops.fer_distance, stops.error_rate) == (
        1 + 7,
        1.0,
    )  # those of figure 1 and five of the place
    assert (diphthongs.substituted, diphthongs.kept_class, diphthongs.fer_distance) == (1, 0, 1.75)


def test_a_class_that_never_stood_has_no_rate() -> None:
    affricates = class_rates(scored(("B", "B")))[1]
    assert (affricates.name, affricates.phonemes, affricates.error_rate) == ("affricates", 0, None)


def test_rates_of_groups_are_fractions_of_their_own_sums() -> None:
    scores = scored(("B", "P"), ("", "F"), ("B AE T", "B AE T"))
    cat, nothing = rates_by(scores, ["cat", "nothing", "cat"])
    assert (cat.utterances, cat.per, cat.fer) == (2, 1 / 4, 1 / 96)
    assert (nothing.per_distance, nothing.per, nothing.fer) == (1, None, None)


def test_bands_of_severity_hold_their_upper_bound() -> None:
    assert [AQ.band(each) for each in (0, 25, 25.1, 50, 50.1, 75, 75.1, 100)] == [
        "very severe", "very severe", "severe", "severe", "moderate", "moderate", "mild", "mild",
    ]  # fmt: skip


PAIRS = [
    ("kʰæt", "kæd"), ("ʃtɔl", "stoːl"), ("nyːtse", "nutsə"), ("ɲo", ""), ("ʁa", "xam"),
    ("pfɛʁd", "fɛɐt"), ("θɾiː", "fri"),
]  # fmt: skip


def test_distances_are_panphons_own() -> None:
    distance = pytest.importorskip("panphon.distance").Distance()
    refs = [segment(ref).phonemes for ref, _ in PAIRS]
    hyps = [segment(hyp).phonemes for _, hyp in PAIRS]
    found = score(refs, hyps, panphon_costs([*refs, *hyps]))
    for k, (ref, hyp) in enumerate(PAIRS):
        expected = distance.feature_edit_distance(ref, hyp)
        assert found.quarters[k] / 4 / 24 == pytest.approx(expected, abs=1e-12), (ref, hyp)
    assert found.fer == pytest.approx(
        distance.feature_error_rate([hyp for _, hyp in PAIRS], [ref for ref, _ in PAIRS]), abs=1e-12
    )


def test_what_panphon_does_not_know_is_counted() -> None:
    pytest.importorskip("panphon")
    found = segment("ˈbɝd <SIL> d ɔː g")
    assert found.phonemes == ("b", "d", "<sil>", "d", "ɔː", "ɡ")
    assert found.dropped == {"ɝ": 1}


def test_without_panphon_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _table.cache_clear()
    monkeypatch.setitem(sys.modules, "panphon", None)
    with pytest.raises(MissingExtra, match=r"tabwb\[panphon\]"):
        segment("a")


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
        "-syllabic → +syllabic", "+high → -high", "+front → -front", "-back → +back",
        "+tense → -tense",
    }  # fmt: skip


def test_each_change_costs_what_table_5_says() -> None:
    table_5 = {
        ("-", "+"): 1.0, ("-", "+-"): 0.75, ("-+", "+"): 0.75, ("-", "0"): 0.5, ("-+", "+-"): 0.5,
        ("0", "+"): 0.5, ("-", "-+"): 0.25, ("-+", "0"): 0.25, ("0", "+-"): 0.25,
        ("+-", "+"): 0.25,
    }  # fmt: skip
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
