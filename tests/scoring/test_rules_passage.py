"""Words, utterances, and what of a response is prompt text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.states import ResponseKind
from tabwb.scoring.rules.passage import TextContext, echoed, is_content, normalise, read


def utterances(text: str) -> list[list[str]]:
    return [[token.word for token in each.tokens] for each in read(text).utterances]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We went. It rained!", [["we", "went"], ["it", "rained"]]),
        ("One\ntwo", [["one"], ["two"]]),
        ("Dr. Bell paid 3.5 dollars.", [["dr", "bell", "paid", "dollars"]]),
        ("It was J. Smith. He left.", [["it", "was", "j", "smith"], ["he", "left"]]),
        ("So do I. Then we left.", [["so", "do", "i"], ["then", "we", "left"]]),
        ('"Go!" she said.', [["go"], ["she", "said"]]),
        ("I had a… dog", [["i", "had", "a"], ["dog"]]),
        ("1. Boil water.\n2. Add salt.", [["boil", "water"], ["add", "salt"]]),
        ("She said no. I left.", [["she", "said", "no"], ["i", "left"]]),
        ("...", []),
    ],
)
def test_utterances_end_at_stops_and_newlines(text: str, expected: list[list[str]]) -> None:
    assert utterances(text) == expected


def test_curly_apostrophes_are_straight_ones() -> None:
    assert utterances("we’d") == utterances("we'd") == [["we'd"]]


def test_a_hyphen_is_kept_before_a_space_or_a_comma_only() -> None:
    hyphens = [(token.word, token.hyphen) for token in read("ca- cat, pe-, well-known st-").tokens]
    assert hyphens == [
        ("ca", True),
        ("cat", False),
        ("pe", True),
        ("well", False),
        ("known", False),
        ("st", False),
    ]


def test_fillers_are_words_but_not_plain_ones() -> None:
    passage = read("Um, the uh kite")
    assert [token.word for token in passage.tokens] == ["um", "the", "uh", "kite"]
    assert [token.word for token in passage.plain] == ["the", "kite"]


@given(st.text())
def test_tokens_stand_where_they_say(text: str) -> None:
    passage = read(text)
    assert all(passage.text[each.start : each.end] == each.text for each in passage.tokens)
    assert [each.start for each in passage.tokens] == sorted(each.start for each in passage.tokens)
    assert all(each.text.isascii() and each.text for each in passage.tokens)


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_a_stretch_of_the_prompt_is_an_echo() -> None:
    context = TextContext(
        "Tell me about your first job. My first job was hard.",
        prompt="Tell me about your first job.",
    )
    assert echoed(read(context), 3) == frozenset(range(6))


def test_the_target_of_a_repetition_is_no_prompt_text() -> None:
    prompt = "Please repeat exactly: The sun rises in the East."
    context = TextContext(
        prompt, ResponseKind.VERBATIM, prompt=prompt, expected="The sun rises in the East."
    )
    assert echoed(read(context), 3) == frozenset(range(3))


@pytest.mark.parametrize("word", ["the", "she's", "won't", "can't", "because", "i'm"])
def test_function_words_are_no_content_words(word: str) -> None:
    assert not is_content(word)


@pytest.mark.parametrize("word", ["kite", "going", "mother's", "want"])
def test_other_words_are_content_words(word: str) -> None:
    assert is_content(word)
