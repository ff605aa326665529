"""Rules 4, 5, 8 and 9, and what is English."""

from __future__ import annotations

import pytest

from tabwb.scoring.lexicon import is_english
from tabwb.scoring.rules.lexical import (
    anomia,
    empty_speech,
    is_word,
    jargon,
    neologisms,
)
from tabwb.scoring.rules.passage import Outcome, read


@pytest.mark.parametrize("word", ["blorf", "republice", "coffah", "flimby", "gorp", "snizz"])
def test_the_papers_invented_words_are_neologisms(word: str) -> None:
    assert neologisms(read(f"I need to buy a {word} from the store.")).words == (word,)


@pytest.mark.parametrize(
    "text",
    [
        "I met Blorf at the store.",
        "Zlatko Horvat came to the store. Then Zlatko left.",
        "The BLORF is closed.",
        "We flew on a blorf737 and wrote to blorf@blorf.org or blorf.org.",
        "We went to the café in Dubrovník, naïve as we were.",
        "It was unplannable, sooooo rewatchable, backpatio-like, unsinglable.",
        "I was goin' and talkin', it doesn't matter, dont worry, y'all.",
        "My favourite colour was grey.",
        "A blo at the gor.",
    ],
)
def test_names_addresses_and_derived_words_are_no_neologisms(text: str) -> None:
    assert neologisms(read(text)).outcome is Outcome.ABSENT


def test_a_slip_of_the_keys_is_shown_and_not_counted() -> None:
    verdict = neologisms(read("I recieve teh beleive and a blorf."))
    assert verdict.words == ("blorf",)
    assert verdict.note == "not counted: recieve (receive?), beleive (believe?)"
    assert neologisms(read("I recieve it.")).outcome is Outcome.ABSENT


def test_a_word_before_an_apostrophe_decides() -> None:
    assert is_word("mother's")
    assert not is_word("blorf's")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Flimby gorp snizz and blah.", "present"),
        ("Flimby gorp snizz, I said to the man.", "absent"),
        ("Flimby gorp.", "absent"),
        ("the blorf and the snizz are in the gorp " * 3, "present"),
        ("the blorf and the snizz are in the gorp " + "and we went home to eat " * 2, "absent"),
    ],
)
def test_jargon_is_many_non_words(text: str, outcome: str) -> None:
    assert jargon(read(text)).outcome == outcome


@pytest.mark.parametrize(
    "text",
    [
        "I can't find the word for that.",
        "I cant remember the right name.",
        "I couldn't think of the word.",
        "What's it called again?",
        "I had a good _ with my parents.",
        "I had a good \\_ with my parents.",
        "I want a pa pen, I mean, pencil.",
    ],
)
def test_a_word_that_is_looked_for_is_anomia(text: str) -> None:
    assert anomia(read(text)).outcome is Outcome.PRESENT


@pytest.mark.parametrize(
    "text",
    [
        "Um, uh, er, I, um, went to, uh, the store.",
        "It was _really_ good, a snake_case name.",
        "I can't find the keys.",
        "A pen, I mean, pencil.",
    ],
)
def test_fillers_and_one_approach_are_no_anomia(text: str) -> None:
    assert anomia(read(text)).outcome is Outcome.UNDEFINED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("You know, stuff and things.", ("stuff", "things")),
        ("There was something nice.", ()),
        (
            "I packed things and stuff, drove north along the coast, ate fish in every harbour, "
            "swam twice, slept badly and returned home tanned.",
            (),
        ),
    ],
)
def test_empty_speech_is_a_share_of_content_words(text: str, words: tuple[str, ...]) -> None:
    assert empty_speech(read(text)).words == words


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("The blorf snizz gorp flimby.", True),
        ("House garden river.", True),
        ("Xqzt wbrt plimf drogg.", False),
    ],
)
def test_half_known_words_or_a_function_word_make_english(text: str, english: bool) -> None:
    assert is_english([token.word for token in read(text).tokens]) is english


def test_a_drawn_out_word_is_known_by_its_plain_form() -> None:
    assert is_word("soooo")
    assert not is_word("blorrrf")
