"""Rules 6, 12 and 13 outside repetition."""

from __future__ import annotations

import pytest

from tabwb.records.states import ResponseKind
from tabwb.scoring.rules.morphosyntax import (
    omitted_bound_morphemes,
    omitted_function_words,
    short_utterances,
)
from tabwb.scoring.rules.passage import RULES_2, Outcome, TextContext, read

TELEGRAM = "Mother kitchen. Water running floor. Boy cookie jar falling stool. Girl laughing hand."
LONG = "we went out to the river early in the morning"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("I go store. I buy carrot.", "present"),
        ("I went to the big store.", "present"),
        ("I went to the big store today too.", "absent"),
        (f"I ran. {LONG}. {LONG}.", "absent"),
        (f"I ran. We ate. {LONG}. {LONG}.", "absent"),
        (f"I ran. We ate. It rained. {LONG}.", "present"),
    ],
)
def test_short_utterances_are_half_of_all_or_the_only_one(text: str, outcome: str) -> None:
    assert short_utterances(read(text)).outcome == outcome


@pytest.mark.parametrize("kind", [each for each in ResponseKind if each != "connected-text"])
def test_short_utterances_are_judged_in_connected_text_only(kind: ResponseKind) -> None:
    assert short_utterances(read(TextContext("House.", kind))).outcome is Outcome.UNDEFINED


def test_a_long_transcript_without_stops_has_no_utterances_to_measure() -> None:
    verdict = short_utterances(read(TextContext(f"{LONG} {LONG} {LONG}", spoken=True)))
    assert verdict.outcome is Outcome.UNDEFINED
    assert short_utterances(read(f"{LONG} {LONG} {LONG}")).outcome is Outcome.ABSENT


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I going store.", ("I going", "going store")),
        ("And then she running home.", ("she running",)),
        ("It rained, he going home.", ("he going",)),
        ("I go to bank and eat.", ("go to bank",)),
        ("They went to store yesterday.", ()),
        ("I saw him going home.", ()),
        ("I was at home, he, laughing, left.", ()),
        ("You going home?", ()),
        ("I bring it; they sing.", ()),
        ("We go to store it in the shed.", ()),
        ("We walked to the store.", ()),
        ("We went to beach towns.", ()),
    ],
)
def test_missing_be_and_missing_articles(text: str, words: tuple[str, ...]) -> None:
    assert omitted_function_words(read(text)).words == words


def test_few_function_words_are_a_telegram() -> None:
    assert omitted_function_words(read(TELEGRAM)).note == "0 function words in 13 words"


def test_steps_to_make_a_meal_may_be_a_telegram() -> None:
    prompt = "Describe the steps to make a simple meal."
    context = TextContext(TELEGRAM, prompt=prompt)
    assert omitted_function_words(read(context)).outcome is Outcome.UNDEFINED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("She go home. He has two dog.", ("She go", "two dog")),
        ("And he want many apple.", ("he want", "many apple")),
        ("It rained and it make a mess.", ()),
        ("It make a mess.", ("It make",)),
        ("Does she go home?", ()),
        ("Where did he go?", ()),
        ("I saw it work and let him go.", ()),
        ("Let it go, make it look good.", ()),
        ("They asked that she go home.", ()),
        ("He and she go home.", ()),
        ("Those who want it go home.", ()),
        ("She goes home with two dogs.", ()),
        ("We saw a two car garage and 12 horse carts.", ()),
        ("We saw 12 horse in a field.", ("12 horse",)),
    ],
)
def test_missing_endings_of_a_closed_list(text: str, words: tuple[str, ...]) -> None:
    assert omitted_bound_morphemes(read(text)).words == words


def test_a_recorded_dialect_leaves_endings_and_be_unjudged() -> None:
    context = TextContext("She go home. He going home.", dialect="African American English")
    assert omitted_bound_morphemes(read(context)).outcome is Outcome.UNDEFINED
    assert "dialect" in omitted_bound_morphemes(read(context)).note
    assert omitted_function_words(read(context)).outcome is Outcome.UNDEFINED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Boy running home.", ("Boy running",)),
        ("Dogs chase cats.", ()),
        ("Yesterday we ate. My mother cooked soup.", ()),
    ],
)
def test_a_subject_before_a_participle_lacks_its_auxiliary(
    text: str, words: tuple[str, ...]
) -> None:
    assert omitted_function_words(read(text, RULES_2)).words == words
