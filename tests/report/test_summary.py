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
from tabwb.report.summaries.cautions import DETERMINISTIC, UNRELIABLE, cautions
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.subtests import SubtestSummary
from tabwb.report.summaries.summary import Summary, pool
from tabwb.scoring.rules.verdicts import TWO_SIDED
from tests.report.given import (
    ANIMALS,
    ANSWERS,
    BATTERY,
    CONDITIONS,
    SAMPLED,
    answered,
    planned,
    summarise,
    trials,
    voided,
)


def summary_of(answers: Mapping[str, str], conditions: Conditions = CONDITIONS) -> Summary:
    return summarise(BATTERY, trials(answers), conditions)


def subtest(summary: Summary, name: str) -> SubtestSummary:
    return next(one for one in summary.subtests if one.id == name)


def test_right_answers_are_counted_under_each_policy() -> None:
    summary = summary_of(ANSWERS)
    words = subtest(summary, "words")
    assert (words.planned, words.answered, words.share.n, words.share.scored) == (3, 3, 3, 3)
    assert words.share.correct == {"exact": 1, "normalised": 1, "extracted": 1}
    sentences = subtest(summary, "sentences")
    assert sentences.share.correct == {"exact": 1, "normalised": 2, "extracted": 2}
    repetition = subtest(summary, "repetition")
    assert repetition.share.correct == {"exact": 0, "normalised": 1, "extracted": 1}


def test_the_interval_is_exact() -> None:
    interval = subtest(summary_of(ANSWERS), "words").share.interval()
    assert interval is not None
    # Clopper-Pearson, 1 of 3: 1 - (1 - 0.025)^(1/3) and its mirror image from tables.
    assert interval.low == pytest.approx(0.008403759, abs=1e-9)
    assert interval.high == pytest.approx(0.905700675, abs=1e-9)


def test_practice_void_and_open_trials_do_not_count() -> None:
    given = [
        answered("try", "kite"),
        voided("wc1", "lion"),
        planned("wc3"),
        answered("wc4", "kite"),
    ]
    words = subtest(summarise(BATTERY, given, CONDITIONS), "words")
    assert (words.planned, words.answered, words.share.n) == (3, 1, 1)
    assert words.share.correct["exact"] == 0


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


def test_accuracy_is_shown_by_tag() -> None:
    passive = subtest(summary_of(ANSWERS), "sentences").by_tag["passive"]
    assert (passive.scored, passive.correct["exact"], passive.correct["normalised"]) == (2, 1, 2)


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


def test_a_scorer_that_failed_leaves_an_answer_without_a_verdict() -> None:
    broken = answered("wc1", "lion")
    broken = replace(broken, ratings=(failed("choice", "exact", "ValueError: no"),))
    words = subtest(summarise(BATTERY, [broken, answered("wc3", "boot")], CONDITIONS), "words")
    assert (words.share.n, words.share.scored, words.share.correct["exact"]) == (2, 1, 1)


def test_repetition_errors_and_lexical_measures_are_added_up() -> None:
    summary = summary_of({**ANSWERS, "r1": ""})
    measures = subtest(summary, "repetition").measures
    assert measures["deletion"].total == 4
    assert measures["deletion"].nonzero == 1
    assert measures["no-response"].total == 1
    words = subtest(summary, "text").measures["words"]
    assert words.mean.value == 19.0
    assert subtest(summary, "text").measures["mattr"].mean.value is None


def test_identical_greedy_replicates_count_once() -> None:
    replicates = [answered("wc1", "lion", replicate=number) for number in range(10)]
    words = subtest(summarise(BATTERY, replicates, CONDITIONS), "words")
    assert (words.answered, words.share.n, words.share.correct["exact"]) == (10, 1, 1)
    sampled = subtest(summarise(BATTERY, replicates, SAMPLED), "words")
    assert (sampled.share.n, sampled.repeated, words.repeated) == (10, 9, 0)
    said = list(cautions(BATTERY, summarise(BATTERY, replicates, SAMPLED), model=True))
    assert UNRELIABLE in said and DETERMINISTIC not in said
    assert DETERMINISTIC in cautions(
        BATTERY, summarise(BATTERY, replicates, CONDITIONS), model=True
    )
    person = subtest(summarise(BATTERY, replicates, Conditions("S-001", "speaker")), "words")
    assert person.share.n == 10


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


def test_the_same_greedy_answer_counts_again_only_where_it_was_obtained_otherwise() -> None:
    sources = [
        Source(BATTERY, trials(ANSWERS), replace(CONDITIONS, protocol=protocol))
        for protocol in Protocol
    ]
    summary = pool(sources)
    counts = {each.id: each.share.n for each in summary.subtests}
    assert counts == {"text": 2, "words": 9, "sentences": 9, "repetition": 2}
    assert subtest(summary, "text").answered == 6
    longer = replace(CONDITIONS, decoding=replace(CONDITIONS.decoding, max_tokens=512))
    both = pool([sources[0], Source(BATTERY, trials(ANSWERS), longer)])
    assert both.answers.n == 10


def test_rotations_are_no_replicates() -> None:
    rotated = [
        answered("wc1", "lion", options=ANIMALS[shift:] + ANIMALS[:shift]) for shift in range(6)
    ]
    assert subtest(summarise(BATTERY, rotated, CONDITIONS), "words").share.n == 6


def test_the_burden_of_the_rules_is_over_the_seven_two_sided_features() -> None:
    given = [
        answered("ct1", "We went.", features=["perseverations", "retracing"]),
        answered("ct2", "I sold bread."),
    ]
    (judge,) = summarise(BATTERY, given, CONDITIONS).judges
    assert judge.rater == "rules-2"
    assert judge.scope == "connected-text"
    assert set(judge.burden.features) == set(TWO_SIDED)
    assert judge.burden.symptom_burden.value == 1.0
    assert judge.burden.categories["disfluency"].count.value == 0.5
    assert judge.burden.categories["disfluency"].of == 3
    assert judge.burden.categories["overall"].count.value is None


def test_no_response_is_counted_beside_the_burden() -> None:
    given = [answered("ct1", "We went.", features=["jargon"]), answered("ct2", "")]
    (judge,) = summarise(BATTERY, given, CONDITIONS).judges
    assert judge.burden.symptom_burden.value == 1.0
    assert (judge.burden.n_responses, judge.burden.n_burden) == (2, 1)
    assert judge.burden.no_burden == {"no-response": 1}


def test_each_judge_has_its_own_set_and_scope() -> None:
    def judged(trial: Trial, rater: str, present: str) -> Trial:
        ratings = tuple(valued(rater, name, name == present) for name in ("anomia", "jargon"))
        return replace(trial, ratings=trial.ratings + ratings)

    given = [
        judged(answered("ct1", "We went."), "tab-2026:x", "anomia"),
        judged(answered("ct2", "I sold bread."), "tab-2026:x", "jargon"),
        judged(answered("r1", "house."), "tab-2026:x", "off-topic"),
    ]
    rules, other = summarise(BATTERY, given, CONDITIONS).judges
    assert (rules.rater, other.rater) == ("rules-2", "tab-2026:x")
    assert set(other.burden.features) == {"anomia", "jargon"}
    assert (other.burden.n_responses, other.burden.symptom_burden.value) == (2, 1.0)
    everything = Declaration("tab-2026:x", ("jargon",), "all")
    _, scoped = summarise(
        BATTERY, given, CONDITIONS, declarations={"tab-2026:x": everything}
    ).judges
    assert (scoped.scope, scoped.burden.n_responses) == ("all", 3)
    assert scoped.burden.symptom_burden.value == pytest.approx(1 / 3)


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


def test_pooling_puts_responses_together() -> None:
    other = replace(SAMPLED, examinee="echo")
    sources = [
        Source(BATTERY, trials(ANSWERS), SAMPLED),
        Source(BATTERY, trials({**ANSWERS, "wc3": "boot"}), other),
    ]
    words = subtest(pool(sources), "words")
    assert (words.share.n, words.share.correct["exact"]) == (6, 3)


def test_several_speakers_are_the_clusters_of_the_interval_and_one_is_not() -> None:
    first, second = (Conditions(speaker, "speaker") for speaker in ("S-1", "S-2"))
    given = trials(ANSWERS)
    one, both = (
        [Source(BATTERY, given, first)],
        [Source(BATTERY, given, each) for each in (first, second)],
    )
    items, speakers = (
        subtest(pool(given), "words").share.by_item["exact"] for given in (one, both)
    )
    assert items == ((1, 1), (0, 1), (0, 1))
    assert speakers == ((1, 3), (1, 3))


def test_administrations_of_different_batteries_are_not_pooled() -> None:
    changed = replace(BATTERY, content_hash="1" * 64)
    with pytest.raises(ValueError, match="one battery version"):
        pool([Source(BATTERY, (), None), Source(changed, (), None)])


def test_the_interval_of_the_burden_is_made_on_request() -> None:
    given = trials(ANSWERS)
    (without,) = summarise(BATTERY, given, CONDITIONS).judges
    (judge,) = summarise(BATTERY, given, CONDITIONS, interval=True).judges
    assert without.burden.interval is None
    assert judge.burden.interval is not None


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
    json.dumps(summary.to_json(), allow_nan=False)
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
