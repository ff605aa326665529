from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given as with_any
from hypothesis import strategies as st
from scipy.stats import binomtest

from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Declaration, failed, undefined, valued
from tabwb.records.states import Protocol, ResponseStatus
from tabwb.records.trials import Trial
from tabwb.report.documents.summary_json import summary_json
from tabwb.report.summaries.subtests import SubtestSummary
from tabwb.report.summaries.summary import Summary, pool
from tests.report.given import (
    ANIMALS,
    ANSWERS,
    BATTERY,
    CONDITIONS,
    SAMPLED,
    answered,
    data_of,
    summarise,
    trials,
)


def summary_of(answers: Mapping[str, str], conditions: Conditions = CONDITIONS) -> Summary:
    return summarise(BATTERY, trials(answers), conditions)


def subtest(summary: Summary, name: str) -> SubtestSummary:
    return next(one for one in summary.subtests if one.id == name)


def test_the_interval_is_exact() -> None:
    interval = subtest(summary_of(ANSWERS), "words").share.interval()
    assert interval is not None
    # Clopper-Pearson, 1 of 3: 1 - (1 - 0.025)^(1/3) and its mirror image from tables.
    assert interval.low == pytest.approx(0.008403759, abs=1e-9)
    assert interval.high == pytest.approx(0.905700675, abs=1e-9)


def test_what_was_not_given_is_undefined_and_not_zero() -> None:
    words = subtest(summary_of({}), "words")
    assert words.share.correct == {"exact": None, "normalised": None, "extracted": None}
    assert words.share.accuracy().value is None
    assert words.share.interval() is None
    assert words.baselines["always_first"].value is None


def test_errors_are_shown_by_foil_kind() -> None:
    by_foil = subtest(summary_of(ANSWERS), "words").by_foil
    assert by_foil["phonological"].errors == {"exact": 1, "normalised": 1, "extracted": 1}
    assert by_foil["phonological"].of == 2
    assert by_foil["semantic"].errors["exact"] == 0
    assert by_foil["semantic"].of == 1
    # "Answer: lion. ..." names no option exactly; extracted, one that is not a listed foil.
    assert by_foil["no-option"].errors == {"exact": 1, "normalised": 1, "extracted": 0}
    assert by_foil["other-option"].errors == {"exact": 0, "normalised": 0, "extracted": 1}


def test_baselines_and_rates_stand_beside_the_accuracy() -> None:
    summary = summary_of({**ANSWERS, "sc4": "Yes"})
    assert subtest(summary, "words").baselines["always_first"].value == 1.0
    sentences = subtest(summary, "sentences")
    assert sentences.baselines["always_yes"].value == pytest.approx(2 / 3)
    assert sentences.estimate("yes_rate").value == 1.0
    assert sentences.estimate("balanced_accuracy").value == 0.5
    assert subtest(summary, "words").estimate("yes_rate").value is None


def test_always_first_follows_the_order_shown() -> None:
    turned = answered("wc1", "lion", options=ANIMALS[1:] + ANIMALS[:1])
    words = subtest(summarise(BATTERY, [turned], CONDITIONS), "words")
    assert words.baselines["always_first"].value == 0.0
    assert words.share.correct["exact"] == 1


def test_chance_is_corrected_only_where_an_answer_must_be_an_option() -> None:
    free = subtest(summary_of(ANSWERS), "words")
    assert free.estimate("chance_corrected").value is None
    assert "need not be one of the options" in free.estimate("chance_corrected").reason
    enforced = subtest(
        summary_of(ANSWERS, replace(CONDITIONS, protocol=Protocol.ENFORCED)), "words"
    )
    assert enforced.estimate("chance_corrected").value == pytest.approx(
        (1 / 3 - 1 / 6) / (1 - 1 / 6)
    )
    like, _ = enforced.chance_corrected_intervals
    exact = binomtest(1, 3).proportion_ci(method="exact")
    assert like.interval is not None
    assert (like.interval.low, like.interval.high) == pytest.approx(
        [(end - 1 / 6) / (1 - 1 / 6) for end in exact]
    )
    assert not free.chance_corrected_intervals


def noted(trial: Trial, **metadata: str) -> Trial:
    (attempt,) = trial.attempts
    return replace(trial, attempts=(replace(attempt, metadata=metadata),))


@pytest.mark.parametrize(
    ("protocol", "notes", "n"),
    [
        ("likelihood", {"protocol": "likelihood"}, 1),
        ("likelihood", {}, 1),
        ("enforced", {"protocol": "enforced", "sampled": "no"}, 1),
        # A service that is held to the options draws among them.
        ("enforced", {"protocol": "enforced", "constrained": "yes"}, 4),
        # An item that had no options to hold to.
        ("likelihood", {"protocol": "generate"}, 4),
        ("generate", {"protocol": "generate"}, 4),
    ],
)
def test_what_is_drawn_from_nothing_counts_once_at_any_temperature(
    protocol: str, notes: dict[str, str], n: int
) -> None:
    conditions = replace(SAMPLED, protocol=Protocol(protocol))
    replicates = [noted(answered("wc1", "lion", replicate=number), **notes) for number in range(4)]
    summary = summarise(BATTERY, replicates, conditions)
    assert subtest(summary, "words").share.n == n
    texts = [answered("ct1", "We went.", replicate=number) for number in range(4)]
    assert subtest(summarise(BATTERY, texts, conditions), "text").share.n == 4
    questions = [answered("sc1", "Yes", replicate=number) for number in range(4)]
    once = 1 if protocol == "likelihood" else 4
    assert subtest(summarise(BATTERY, questions, conditions), "sentences").share.n == once


@pytest.mark.parametrize(
    ("rating", "cause"),
    [
        (failed("j", "jargon", "timeout"), "error"),
        (undefined("j", "jargon", "one-sided"), "jargon undefined: one-sided"),
        (undefined("j", "jargon", "not-language: not an English text"), "not-language"),
        (valued("j", "anomia", 1), "not-rated"),
    ],
)
def test_why_a_response_has_no_burden_is_named(rating: object, cause: str) -> None:
    trial = replace(answered("ct1", "We went."), ratings=(rating,))  # type: ignore[arg-type]
    told = {"j": Declaration("j", ("jargon",))}
    (judge,) = summarise(BATTERY, [trial], CONDITIONS, declarations=told).judges
    assert judge.burden.no_burden == {cause: 1}
    assert judge.burden.symptom_burden.value is None


def test_several_speakers_are_the_clusters_of_the_interval_and_one_is_not() -> None:
    first, second = (Conditions(speaker, "speaker") for speaker in ("S-1", "S-2"))
    given = trials(ANSWERS)
    one, both = (
        [data_of(BATTERY, given, first)],
        [data_of(BATTERY, given, each) for each in (first, second)],
    )
    items, speakers = (
        subtest(pool(given), "words").share.by_item["exact"] for given in (one, both)
    )
    assert items == ((1, 1), (0, 1), (0, 1))
    assert speakers == ((1, 3), (1, 3))


def test_administrations_of_different_batteries_are_not_pooled() -> None:
    changed = replace(BATTERY, content_hash="1" * 64)
    with pytest.raises(ValueError, match="one battery version"):
        pool([data_of(BATTERY, (), None), data_of(changed, (), None)])


ANY_ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        item.id: st.sampled_from(["lion", "boot", "Yes", "No.", "", "house.", "We went. We went."])
        for subtest in BATTERY.subtests
        for item in subtest.items
    },
)


@with_any(ANY_ANSWERS, st.sampled_from(list(Protocol)))
def test_every_summary_is_json_without_nan_and_within_its_bounds(
    answers: dict[str, str], protocol: Protocol
) -> None:
    summary = summary_of(answers, replace(CONDITIONS, protocol=protocol))
    json.dumps(summary_json(summary), allow_nan=False)
    for one in summary.subtests:
        assert one.share.scored <= one.share.n <= one.answered <= one.planned
        for right in one.share.correct.values():
            assert right is None or 0 <= right <= one.share.n
        if one.share.scored and one.by_foil:
            wrong = sum(kind.errors["exact"] or 0 for kind in one.by_foil.values())
            assert wrong + (one.share.correct["exact"] or 0) == one.share.n


def test_a_reply_whose_limit_went_into_reasoning_has_no_burden() -> None:
    (attempt,) = answered("ct1", "").attempts
    cut = replace(
        attempt, status=ResponseStatus.TRUNCATED, metadata={"cause": "thinking used the limit"}
    )
    thought = replace(answered("ct1", ""), attempts=(cut,))
    summary = summarise(BATTERY, [thought], CONDITIONS)
    assert summary.answers.empty_causes == {"thinking used the limit": 1}
    (judge,) = summary.judges or (None,)
    assert judge is None or judge.burden.n_burden == 0
    assert summary.answers.usable.usable == 0
