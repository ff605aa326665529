"""Rules 12, 13 and 14 in repetition, where the target is known."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.states import ResponseKind
from tabwb.scoring.repetition import edit_counts
from tabwb.scoring.rules.morphosyntax import (
    align,
    lost_function_words,
    lost_suffixes,
    phonemic_paraphasias,
)
from tabwb.scoring.rules.passage import Outcome, Passage, TextContext, read

SUN = "The sun rises in the East."
JOURNALIST = "The ambitious journalist discovered where we'd be going."
sentences = st.lists(st.sampled_from(["the", "sun", "suns", "rises", "rise"]), max_size=5)


def said(answer: str, target: str = SUN) -> Passage:
    return read(TextContext(answer, ResponseKind.VERBATIM, expected=target))


@given(sentences, sentences)
def test_an_alignment_holds_all_words_of_both_in_order(
    target: list[str], answer: list[str]
) -> None:
    pairs = align(target, answer)
    assert [word for word, _ in pairs if word is not None] == target
    assert [word for _, word in pairs if word is not None] == answer


@given(sentences)
def test_equal_sentences_align_word_by_word(words: list[str]) -> None:
    assert align(words, words) == tuple(zip(words, words, strict=True))


def edit_distance(one: str, other: str) -> int:
    return sum(edit_counts(one, other))


@given(st.text("abc", max_size=4), st.text("abc", max_size=4))
def test_edit_distance_is_a_metric_on_words(one: str, other: str) -> None:
    assert edit_distance(one, other) == edit_distance(other, one)
    assert (edit_distance(one, other) == 0) == (one == other)
    assert edit_distance(one, other) >= abs(len(one) - len(other))


def test_edit_distance_one_is_one_edit() -> None:
    words = ["".join(letters) for size in range(4) for letters in product("ab", repeat=size)]
    for one, other in product(words, repeat=2):
        edits = {other[:at] + other[at + 1 :] for at in range(len(other))}
        edits |= {other[:at] + x + other[at:] for at in range(len(other) + 1) for x in "ab"}
        edits |= {other[:at] + x + other[at + 1 :] for at in range(len(other)) for x in "ab"}
        assert (edit_distance(one, other) == 1) == (one in edits - {other})


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (SUN, "absent", ()),
        ("Sun rises in East.", "present", ("the",)),
        ("The East.", "present", ("the", "in")),
        ("the sun rise in the east", "absent", ()),
        ("Okay.", "undefined", ()),
    ],
)
def test_function_words_missing_from_the_target(
    answer: str, outcome: str, words: tuple[str, ...]
) -> None:
    verdict = lost_function_words(said(answer))
    assert (verdict.outcome, set(verdict.words)) == (outcome, set(words))


def test_a_target_without_function_words_shows_none_missing() -> None:
    assert lost_function_words(said("house.", "house.")).outcome is Outcome.UNDEFINED


@pytest.mark.parametrize(
    ("answer", "target", "words"),
    [
        ("The sun rise in the East.", SUN, ("rise",)),
        ("The ambitious journalist discover where we'd be go.", JOURNALIST, ("discover", "go")),
        ("The moon rises in the East.", SUN, ()),
        (SUN, SUN, ()),
    ],
)
def test_suffixes_missing_from_the_target(answer: str, target: str, words: tuple[str, ...]) -> None:
    verdict = lost_suffixes(said(answer, target))
    assert verdict.words == words
    assert verdict.outcome is not Outcome.ABSENT


@pytest.mark.parametrize(
    ("answer", "target", "words"),
    [
        ("catastroph.", "catastrophe.", ("catastroph",)),
        ("coffah", "coffee.", ("coffah",)),
        ("brekfust", "breakfast.", ("brekfust",)),
        ("mouse.", "house.", ()),
        ("blorf.", "catastrophe.", ()),
        ("The sun rizes in the East.", SUN, ("rizes",)),
        ("house.", "house.", ()),
    ],
)
def test_a_non_word_near_the_target_is_a_phonemic_paraphasia(
    answer: str, target: str, words: tuple[str, ...]
) -> None:
    verdict = phonemic_paraphasias(said(answer, target))
    assert verdict.words == words
    assert verdict.outcome is not Outcome.ABSENT


def test_outside_repetition_the_target_is_unknown() -> None:
    assert phonemic_paraphasias(read("I need coffah.")).outcome is Outcome.UNDEFINED
