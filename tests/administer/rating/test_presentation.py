"""Texts of people and of models are shown alike: their form does not tell where they are from."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabwb.administer.rating.presentation import CUT, LONGER, PROMPT, Shown, presented, signs_of
from tabwb.records.rating_sets import Presentation

PLAIN = Presentation("lower", "none")
WORDS = st.lists(st.from_regex(r"[a-z]{1,8}('[a-z]{1,2})?", fullmatch=True), min_size=1)


def as_a_model_writes(words: list[str]) -> str:
    """Return words as language models write: a list with bold words and curly quotes."""
    curly = [word.replace("'", "’") for word in words]
    return "\n\n".join(f"{n}. **{word.capitalize()}** —" for n, word in enumerate(curly, start=1))


@given(WORDS)
def test_the_strictest_policy_shows_a_transcript_and_a_models_page_alike(words: list[str]) -> None:
    assert presented(" ".join(words), PLAIN) == presented(as_a_model_writes(words), PLAIN)


@given(st.text())
def test_a_shown_text_is_one_line_and_showing_it_again_changes_nothing(text: str) -> None:
    for policy in (PLAIN, Presentation(), Presentation("lower"), Presentation("as-said", "none")):
        once = presented(text, policy)
        assert len(once.splitlines()) <= 1 and once == once.strip()
        assert presented(once, policy) == once


@given(WORDS, st.integers(1, 12))
def test_words_beyond_the_limit_are_cut_with_the_same_mark_for_all(
    words: list[str], most: int
) -> None:
    policy = Presentation("lower", "none", max_words=most)
    shown = presented(" ".join(words), policy)
    assert shown.removesuffix(f" {CUT}").split() == words[:most]
    assert shown.endswith(CUT) == (len(words) > most)
    # A text that a model's token limit ended has the same mark, once.
    assert presented(" ".join(words), policy, cut=True).count(CUT) == 1


@pytest.mark.parametrize(
    ("text", "policy", "shown"),
    [
        ("I want a ca- cat.", PLAIN, "i want a ca- cat"),
        ("the kids' self-made kite's", PLAIN, "the kids' self-made kite's"),
        ("It was a _ you know", PLAIN, "it was a _ you know"),
        ("# My trip\n\n* We *left* at 3.", Presentation(), "My trip We left at 3."),
        ("“Well”—he said…", Presentation(), '"Well" - he said...'),
        ("--0", Presentation(), "0"),
        (
            "I see a kite .  It flies , I think ...",
            Presentation(),
            "I see a kite. It flies, I think ...",
        ),
        ("no\u200bwhere\u00a0else", Presentation(), "nowhere else"),
        ("2 * 3 * 4, 3*4*5", Presentation(), "2 * 3 * 4, 3*4*5"),
    ],
)
def test_what_raters_judge_is_kept_and_typesetting_is_made_alike(
    text: str, policy: Presentation, shown: str
) -> None:
    assert presented(text, policy) == shown


def test_signs_that_tell_the_source_are_counted_with_their_remedy() -> None:
    people = [Shown("i went home", "Hello", False)] * 4
    models = [Shown("I went home.", "Hello", True), Shown("We w [cut]", "Hello", True)] * 2
    found = {sign.name: sign for sign in signs_of([*people, *models])}
    assert (found["capital letters"].people, found["capital letters"].models) == (0, 4)
    assert (found[CUT].people, found[CUT].models, found[CUT].tells) == (0, 2, True)
    assert "--max-words" in found[CUT].remedy
    assert not (found[LONGER].tells or found[PROMPT].tells)
    assert signs_of(models) == ()


def test_lengths_and_prompts_of_one_source_tell_it_too() -> None:
    people = [Shown("a b c d", "Your stroke?", False), Shown("a b c", "Your job?", False)]
    models = [Shown("a b", "Your job?", True), Shown("a", "Your trip?", True)]
    found = {sign.name: sign for sign in signs_of([*people, *models])}
    assert (found[LONGER].people, found[LONGER].models) == (2, 0)
    # As many of each have their own prompt: the difference is 0, and yet both are told.
    assert (found[PROMPT].people, found[PROMPT].models, found[PROMPT].tells) == (1, 1, True)


@settings(max_examples=20)
@given(st.lists(st.tuples(WORDS, st.booleans()), min_size=2, max_size=8))
def test_no_sign_is_left_after_the_strictest_policy(texts: list[tuple[list[str], bool]]) -> None:
    policy = Presentation("lower", "none", cut_mark=False)
    shown = [
        Shown(presented(as_a_model_writes(words) if model else " ".join(words), policy), "", model)
        for words, model in texts
    ]
    signs = [sign for sign in signs_of(shown) if sign.name != LONGER]
    assert not any(sign.people or sign.models for sign in signs)
    assert not any(re.search(r"[^a-z' ]", one.text) for one in shown)
