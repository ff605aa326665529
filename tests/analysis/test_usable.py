"""Answers that cannot be described never look like a healthy profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.frame import effective_statuses
from tabwb.analysis.grouping import grouped, in_order, summarised
from tabwb.analysis.statistics.results import Results
from tabwb.battery.model import Item
from tabwb.media.documents.document import administration_document
from tabwb.media.views.groups import groups_view
from tabwb.records.ratings import Declaration, undefined, valued
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import Trial
from tabwb.scoring.rules.passage import FEATURES
from tests.analysis import given
from tests.analysis.given import (
    BATTERY,
    DECLARED,
    SAMPLED,
    administration,
    answered,
    printed,
    summarise,
    unwrapped,
)

TEXTS = tuple(f"ct{number}" for number in range(1, 6))
FIVE = replace(
    BATTERY,
    subtests=(
        replace(
            BATTERY.subtests[0],
            items=tuple(Item(name, f"Tell me about number {name}.") for name in TEXTS),
        ),
        *BATTERY.subtests[1:],
    ),
)
HEALTHY = (
    "We went to the sea and swam until the evening.",
    "I sold bread in a small shop near the station.",
    "My sister has two children and a garden.",
    "The winter was long and the roads were closed.",
    "First I boil the water, then I add the rice.",
)
CHAT = "tab-2026:gemini:x"
JUDGES = {**DECLARED, CHAT: Declaration(CHAT, FEATURES)}


@pytest.fixture(autouse=True)
def five_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "BATTERY", FIVE)


def texts(
    answers: Sequence[str], status: ResponseStatus = ResponseStatus.OK, *, found: bool = False
) -> tuple[Trial, ...]:
    """Five connected texts with the verdicts of rules-2 and of a model judge."""
    trials = []
    for number, (name, text) in enumerate(zip(TEXTS, answers, strict=True), 1):
        trial = answered(name, text, number=number)
        attempt = replace(trial.attempts[0], status=status)
        ratings = tuple(valued(CHAT, feature, found) for feature in FEATURES)
        trials.append(replace(trial, attempts=(attempt,), ratings=(*trial.ratings, *ratings)))
    return tuple(trials)


def summary(trials: Sequence[Trial]) -> Results:
    return summarise(FIVE, trials, SAMPLED, declarations=JUDGES)


@pytest.mark.parametrize("status", [one for one in ResponseStatus if not one.usable])
def test_unusable_answers_have_no_burden_under_any_judge(status: ResponseStatus) -> None:
    found = summary(texts(HEALTHY, status, found=True))
    assert [judge.rater for judge in found.judges] == ["rules-2", CHAT]
    for judge in found.judges:
        burden = judge.burden
        assert burden.symptom_burden.value is None
        assert burden.interval is None
        assert not any(burden.present.values())
        assert all(one.count.value is None for one in judge.burden.categories.values())
        assert all(burden.rate(feature).value is None for feature in burden.features)
        assert burden.words_mean.value is None
        assert (burden.usable.usable, burden.usable.n) == (0, 5)
        assert burden.usable.causes == {status.value: 5}
        assert burden.usable.few
    assert all(one.value.value is None for one in found.parts[0].measures.values())
    assert found.value("words_mean") is None


def test_truncated_answers_keep_their_burden_and_are_not_named_as_without() -> None:
    # Ten of fifteen truncated answers had a burden; "truncated 5" was said of the others, whose
    # stored cause was another one.
    trials = list(texts(HEALTHY, ResponseStatus.TRUNCATED))
    reason = "not-language: not an English text in Latin script"
    trials[0] = replace(
        trials[0],
        ratings=tuple(
            undefined(one.rater, one.measure, reason) if one.rater == "rules-2" else one
            for one in trials[0].ratings
        ),
    )
    rules = summary(trials).judges[0].burden
    assert (rules.n_burden, rules.symptom_burden.value) == (4, 0.0)
    assert rules.no_burden == {"not-language": 1}
    assert (rules.usable.usable, rules.usable.causes) == (5, {})


def test_one_sentence_for_every_prompt_is_a_repeated_answer() -> None:
    same = ("I was happy.", "I was happy!", "i was  happy", *HEALTHY[3:])
    trials = texts(same)
    stored = [trial.attempts[0].status for trial in trials]
    found = effective_statuses(FIVE, trials)
    assert found == (ResponseStatus.REPEATED_ANSWER,) * 3 + (ResponseStatus.OK,) * 2
    assert [trial.attempts[0].status for trial in trials] == stored
    burden = summary(trials).judges[1].burden
    assert (burden.usable.usable, burden.usable.causes) == (2, {"repeated-answer": 3})
    assert burden.usable.few
    assert burden.symptom_burden.value == 0.0
    assert burden.ranked is None


def test_the_same_text_twice_or_to_one_prompt_is_not_a_repeated_answer() -> None:
    twice = texts(("I was happy.", "I was happy.", *HEALTHY[2:]))
    assert set(effective_statuses(FIVE, twice)) == {ResponseStatus.OK}
    replicates = tuple(
        answered("ct1", "I was happy.", number=number, replicate=number) for number in range(5)
    )
    assert set(effective_statuses(FIVE, replicates)) == {ResponseStatus.OK}


def test_the_same_word_for_every_question_is_shown_and_scored() -> None:
    always = tuple(
        answered(name, "Yes", number=at) for at, name in enumerate(("sc1", "sc2", "sc4"))
    )
    sentences = summary(always).part("sentences")
    assert sentences is not None and list(sentences.of("status")) == ["repeated-answer"]
    assert sentences.number("status", "repeated-answer") == 3
    assert (sentences.right.total, sentences.right.n) == (2, 3)
    assert sentences.usable.usable == 3
    # A key that several questions share is not a repeated answer.
    varied = tuple(
        answered(name, text, number=at)
        for at, (name, text) in enumerate((("sc1", "Yes"), ("sc2", "No"), ("sc4", "Yes")))
    )
    assert set(effective_statuses(FIVE, varied)) == {ResponseStatus.OK}


def test_stored_values_of_diversity_in_short_texts_are_left_out() -> None:
    trials = [
        replace(trial, ratings=(*trial.ratings[:1], valued("lexical", "mtld", 2173.0)))
        for trial in texts(HEALTHY)
    ]
    results = summary(trials)
    measures = results.parts[0].measures
    lost = results.number("undefined", part="text", rater="lexical", feature="mtld")
    assert (measures["words"].n, measures["mtld"].n, lost) == (5, 0, 5)


def groups() -> tuple[AdministrationData, ...]:
    """The worst answers, some usable ones with a finding, healthy ones."""
    given_to = {
        "echo": texts(HEALTHY, ResponseStatus.PROMPT_ECHO),
        "few": texts(("I was happy.",) * 3 + HEALTHY[3:], found=True),
        "healthy": texts(HEALTHY),
    }
    return tuple(
        AdministrationData(
            administration(number, replace(SAMPLED, examinee=name)),
            FIVE,
            trials,
            declarations=JUDGES,
        )
        for number, (name, trials) in enumerate(given_to.items(), 1)
    )


def test_few_usable_responses_are_marked_and_sorted_last() -> None:
    made = summarised(grouped(groups(), "model"), judge=CHAT, interval=False)
    assert [one.label for one in in_order(made, "burden")] == ["healthy", "echo", "few"]
    text = unwrapped(printed(groups_view(made)))
    assert "5 prompt echo (echo 5)" in text and "3 repeated answer (few 3)" in text
    assert "19.00†" in text


def test_a_reply_cut_before_any_text_is_not_usable_as_in_the_summary() -> None:
    empty = answered("ct1", "")
    attempt = replace(empty.attempts[0], status=ResponseStatus.TRUNCATED)
    cut = replace(empty, attempts=(attempt,))
    data = AdministrationData(administration(), BATTERY, (cut,), declarations=DECLARED)
    made: Any = administration_document(data)
    assert [trial["usable"] for trial in made["trials"]] == [False]
    assert made["summary"]["answers"]["usable"] == 0
