"""The rules judge as a component: a rating for each feature of the battery."""

from __future__ import annotations

import pytest
from tabwb_builtin.judges import JUDGES

from tabwb.battery.model import Feature
from tabwb.plugin_api.components import Judge, Response
from tabwb.records.ratings import Rating
from tabwb.records.specs import Spec
from tabwb.records.states import RatingStatus, ResponseKind, ResponseStatus
from tabwb.records.words import FORM_BASED_CAUTION, RULES_CAUTION
from tabwb.scoring.rules.passage import TWO_SIDED


def feature(name: str) -> Feature:
    return Feature(name, name, name, "")


def rate(text: str, *features: str, status: ResponseStatus = ResponseStatus.OK) -> list[Rating]:
    judge = JUDGES[0].factory(Spec("rules-2"), None)
    response = Response(text, status, "A prompt.", "A prompt.", ResponseKind.CONNECTED_TEXT)
    return list(judge.judge(response, [feature(name) for name in features]))


def test_the_judge_is_found_as_rules_and_stored_as_rules_2() -> None:
    assert (JUDGES[0].id, JUDGES[0].aliases) == ("rules-2", ("rules",))
    judge = JUDGES[0].factory(Spec("rules-2"), None)
    assert isinstance(judge, Judge)
    assert (judge.rater, judge.features, judge.caution) == (
        "rules-2",
        TWO_SIDED,
        FORM_BASED_CAUTION,
    )


def test_the_first_version_stays_for_studies_that_were_judged_with_it() -> None:
    assert (JUDGES[1].id, JUDGES[1].aliases) == ("rules-1", ())
    judge = JUDGES[1].factory(Spec("rules-1"), None)
    assert (judge.rater, judge.features, judge.caution) == ("rules-1", TWO_SIDED, RULES_CAUTION)
    text = "It was the best day of my life... I will never forget it."
    response = Response(text, ResponseStatus.OK, "A.", "A.", ResponseKind.CONNECTED_TEXT)
    (first,) = judge.judge(response, [feature("abandoned-utterances")])
    assert (first.rater, first.value) == ("rules-1", 1.0)
    (second,) = rate(text, "abandoned-utterances")
    assert (second.rater, second.value) == ("rules-2", 0.0)


@pytest.mark.parametrize("status", [each for each in ResponseStatus if not each.usable])
def test_an_unusable_response_has_every_feature_undefined_with_its_status(
    status: ResponseStatus,
) -> None:
    for rating in rate("I loved the ball, the ball, the ball.", *TWO_SIDED, status=status):
        assert (rating.status, rating.value) == (RatingStatus.UNDEFINED, None)
        assert status.value in rating.reason


def test_what_an_absence_covers_is_said_with_it() -> None:
    jargon, perseverations = rate("I like ice cream a lot.", "jargon", "perseverations")
    assert "neologistic jargon (rule)" in jargon.reason
    assert "words that come again" in perseverations.reason


def test_present_is_one_with_the_words_and_absent_is_nought() -> None:
    ratings = rate("I need to buy a blorf from the store.", "neologisms", "retracing")
    assert [(each.measure, each.value, each.reason) for each in ratings] == [
        ("neologisms", 1.0, '"blorf"'),
        ("retracing", 0.0, ""),
    ]
    assert {each.rater for each in ratings} == {"rules-2"}


def test_undefined_says_why() -> None:
    (rating,) = rate("I like ice cream.", "off-topic")
    assert rating.status is RatingStatus.UNDEFINED
    assert rating.reason


def test_only_features_of_the_battery_are_rated_in_its_order() -> None:
    ratings = rate("I like ice cream.", "jargon", "retracing")
    assert [each.measure for each in ratings] == ["jargon", "retracing"]


def test_a_feature_of_another_battery_is_undefined() -> None:
    (rating,) = rate("I like ice cream.", "halting-and-effortful")
    assert rating.status is RatingStatus.UNDEFINED


@pytest.mark.parametrize("name", TWO_SIDED)
def test_an_empty_response_is_undefined_and_not_nought(name: str) -> None:
    (rating,) = rate("", name, status=ResponseStatus.EMPTY)
    assert (rating.status, rating.value) == (RatingStatus.UNDEFINED, None)
