"""All rules together: what holds of every response, whatever it is."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.states import ResponseKind, ResponseStatus
from tabwb.scoring import lexicon
from tabwb.scoring.rules import vocabulary
from tabwb.scoring.rules.judge import judge
from tabwb.scoring.rules.passage import (
    CURRENT,
    FEATURES,
    NEVER,
    ONE_SIDED,
    RULES_1,
    RULES_2,
    TWO_SIDED,
    Outcome,
    RuleVerdict,
    TextContext,
    Thresholds,
    rater_id,
)
from tests.scoring.readings import cases

PIECES = (
    "the The a I she go going store pen pencil pa st ca- I mean no sorry um blorf snizz dammit yes "
    "you know thing stuff two dog . ... ? ! , - _ \n house. kite is"
)
WORDS = PIECES.split(" ")
contexts = st.builds(
    TextContext,
    st.text() | st.lists(st.sampled_from(WORDS)).map(" ".join),
    kind=st.sampled_from(ResponseKind),
    status=st.sampled_from(ResponseStatus),
    prompt=st.just("") | st.text(),
    sent=st.just("") | st.text(),
    expected=st.none() | st.text() | st.just("The sun rises in the East."),
    spoken=st.booleans(),
    previous=st.lists(st.text(), max_size=4).map(tuple),
    dialect=st.sampled_from(["", "Scots"]),
)


def outcomes(verdicts: Mapping[str, RuleVerdict]) -> set[Outcome]:
    return {each.outcome for each in verdicts.values()}


@given(contexts)
def test_every_feature_has_one_verdict_for_any_response(context: TextContext) -> None:
    assert set(judge(context)) == set(FEATURES)
    assert len(FEATURES) == len(set(FEATURES)) == 19


@given(contexts)
def test_one_sided_features_are_never_absent(context: TextContext) -> None:
    verdicts = judge(context)
    for feature in ONE_SIDED:
        known_target = feature == "omission-of-function-words" and context.kind == "verbatim"
        assert known_target or verdicts[feature].outcome is not Outcome.ABSENT


@given(contexts)
def test_features_without_a_rule_are_always_undefined(context: TextContext) -> None:
    verdicts = judge(context)
    assert {verdicts[feature].outcome for feature in NEVER} == {Outcome.UNDEFINED}


@given(contexts)
def test_present_shows_words_and_undefined_says_why(context: TextContext) -> None:
    for verdict in judge(context).values():
        assert bool(verdict.words) == (verdict.outcome is Outcome.PRESENT)
        assert verdict.note or verdict.outcome is not Outcome.UNDEFINED


@given(contexts)
def test_the_same_response_is_judged_the_same(context: TextContext) -> None:
    assert judge(context) == judge(context)


@given(st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_apostrophes_of_either_kind_are_judged_the_same(text: str) -> None:
    straight = judge(TextContext(f"We'd go. {text}"))
    assert straight == judge(TextContext(f"We’d go. {text}"))


@pytest.mark.parametrize(
    "context",
    [
        TextContext(""),
        TextContext(" \n"),
        TextContext("anything", status=ResponseStatus.EMPTY),
    ],
)
def test_an_empty_response_leaves_everything_undefined(context: TextContext) -> None:
    assert outcomes(judge(context)) == {Outcome.UNDEFINED}


@pytest.mark.parametrize(
    "text", ["Ich hätte gern Brötchen gekauft", "Дом у моря", "12 + 12", "Xqzt wbrt plimf", "。。"]
)
def test_what_is_not_english_leaves_everything_undefined(text: str) -> None:
    verdicts = judge(TextContext(text))
    assert outcomes(verdicts) == {Outcome.UNDEFINED}
    assert "not-language" in verdicts["neologisms"].note


def test_one_non_word_is_an_answer_in_repetition() -> None:
    context = TextContext("catastroph", ResponseKind.VERBATIM, expected="catastrophe.")
    assert judge(context)["phonemic-paraphasias"].outcome is Outcome.PRESENT


def test_healthy_prose_shows_no_sign() -> None:
    text = (
        "The best trip I ever took was to the mountains with my sister. We hiked for three days, "
        "slept in a tent, and watched the sun come up over a lake. On the last evening it rained "
        "so hard that we laughed until we cried. I still think about it whenever I smell pine."
    )
    verdicts = judge(TextContext(text, prompt="Tell me about the best trip you ever took."))
    assert {verdicts[feature].outcome for feature in TWO_SIDED} == {Outcome.ABSENT}
    assert not [name for name, said in verdicts.items() if said.outcome is Outcome.PRESENT]


def test_the_rater_is_named_after_the_version() -> None:
    assert rater_id(dataclasses.replace(RULES_1, version=7)) == "rules-7"


def test_a_change_of_numbers_or_lists_needs_a_new_version() -> None:
    """When this fails: raise the version of the thresholds, then write the new fingerprint here."""
    of_statuses = {"FOREIGN", "FOREIGN_SHARE", "FOREIGN_WORDS", "KNOWN_SHARE"}
    of_files = {"LEVELS", "RARER", "_DATA"}
    lists = {
        name: sorted(map(str, value)) if isinstance(value, frozenset) else str(value)
        for name, value in sorted((vars(lexicon) | vars(vocabulary)).items())
        if name.isupper() and name not in of_statuses | of_files
    }
    data = repr((sorted(dataclasses.asdict(CURRENT).items()), sorted(lists.items())))
    fingerprint = hashlib.sha256(data.encode()).hexdigest()[:16]
    assert (CURRENT.version, fingerprint) == (2, "3a1c93c796de1c36")


@pytest.mark.parametrize("limits", [RULES_1, RULES_2], ids=["rules-1", "rules-2"])
@pytest.mark.parametrize(
    "case", cases("passages"), ids=lambda case: f"{case['feature']}: {case['text'][:40]}"
)
def test_each_version_says_of_a_passage_what_it_says(
    case: dict[str, str], limits: Thresholds
) -> None:
    """Column ``rules_1`` was made with the code of the first version, before there was a second."""
    context = TextContext(case["text"], prompt=case["prompt"], spoken=case["mode"] == "spoken")
    assert judge(context, limits)[case["feature"]].outcome == case[f"rules_{limits.version}"]
