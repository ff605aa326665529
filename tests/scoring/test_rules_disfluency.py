"""Rules 2, 7 and 11: what breaks off, and attempts at a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.states import ResponseStatus
from tabwb.scoring.rules.lexical import (
    abandoned_utterances,
    approaches,
    conduite,
    false_starts,
    similarity,
)
from tabwb.scoring.rules.passage import Outcome, TextContext, read
from tabwb.scoring.text import common_subsequence


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("I was going to say that the How are you doing today?", "present"),
        ("We went to the... It was fun.", "present"),
        ("I was going to -\nIt was fun.", "present"),
        ("I saw the. It was fun.", "present"),
        ("I wanted to go +... It was fun.", "present"),
        ("It was fun, but...", "absent"),
        ("It was fun. And then the", "absent"),
        ("My mother and I went because I wanted to.", "absent"),
        ("We read the How and Why book.", "present"),
        ("We read the Why Not book.", "absent"),
        ("I got an A. It was fun.", "absent"),
    ],
)
def test_an_utterance_is_abandoned_before_another_one(text: str, outcome: str) -> None:
    assert abandoned_utterances(read(text)).outcome == outcome


def test_a_long_transcript_without_stops_has_no_abandoned_utterances_to_see() -> None:
    long = "we went out to the river " * 5
    assert abandoned_utterances(read(TextContext(long, spoken=True))).outcome is Outcome.UNDEFINED
    assert abandoned_utterances(read(TextContext(long[:60], spoken=True))).outcome is Outcome.ABSENT
    assert abandoned_utterances(read(long)).outcome is Outcome.ABSENT


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I want to go to the st store", ("st store",)),
        ("I want a ca- cat.", ("ca- cat",)),
        ("I want a ca-, um, cat.", ("ca-, um, cat",)),
        ("We had two- to three-year plans.", ()),
        ("Pre- and post-war homes.", ()),
        ("A re-read of the co-coordinator.", ()),
        ("The US used it in CA California.", ()),
        ("I am amazed, so sore, on one leg.", ()),
        ("She said it's so.", ()),
        ("On the 5th the 21st street fair began, with 1 c chopped nuts.", ()),
    ],
)
def test_a_false_start_begins_the_word_that_follows(text: str, words: tuple[str, ...]) -> None:
    assert false_starts(read(text)).words == words


@pytest.mark.parametrize("rule", [abandoned_utterances, false_starts])
def test_an_utterance_that_the_limit_cut_does_not_count(rule: object) -> None:
    assert callable(rule)
    text = "It was fun. I went to the st store and to the How are"
    cut = TextContext(text, status=ResponseStatus.TRUNCATED)
    assert rule(read(text)).outcome is Outcome.PRESENT
    assert rule(read(cut)).outcome is Outcome.ABSENT


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("I wanted a pen I mean pencil", [("pen", "pencil")]),
        ("I want a pa- pen, I mean, a pencil.", [("pa", "pen"), ("pen", "pencil")]),
        ("A tapple, no, a table.", [("tapple", "table")]),
        ("The sipper, sorry, slipper.", [("sipper", "slipper")]),
        ("A pen uh pencil.", [("pen", "pencil")]),
        ("There was a heart, no hope.", []),
        ("I went, I mean, I walked.", []),
        ("The kite, I mean, the boat.", []),
        ("The kite, um, the kite.", []),
        ("He had heard and then they thought.", []),
        ("Mr. Martin Martin marries.", []),
    ],
)
def test_approaches_come_nearer_to_a_word(text: str, steps: list[tuple[str, str]]) -> None:
    assert [(one.word, other.word) for one, other in approaches(read(text))] == steps


def test_conduite_quotes_its_steps_and_is_never_absent() -> None:
    assert conduite(read("A pen, I mean, pencil.")).words == ("pen, I mean, pencil",)
    assert conduite(read("A pencil.")).outcome is Outcome.UNDEFINED


def brute_force_subsequence(one: str, other: str) -> int:
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + brute_force_subsequence(one[1:], other[1:])
    return max(brute_force_subsequence(one[1:], other), brute_force_subsequence(one, other[1:]))


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_common_subsequence_is_that_of_the_definition(one: str, other: str) -> None:
    assert common_subsequence(one, other) == brute_force_subsequence(one, other)


@given(st.text("abc", min_size=1, max_size=6), st.text("abc", min_size=1, max_size=6))
def test_similarity_is_symmetric_and_one_for_equal_words(one: str, other: str) -> None:
    assert similarity(one, other) == similarity(other, one)
    assert (similarity(one, other) == 1) == (one == other)
