"""Known and common words, against a plain set of the shipped lists."""

from __future__ import annotations

import string
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.scoring.lexicon import Lexicon, load_lexicon, one_edit_away
from training.lexicon.build import build, plain

DATA = files("tabwb.scoring") / "data"
WORDS = frozenset((DATA / "words.txt").read_text("ascii").split())
COMMON = frozenset((DATA / "common.txt").read_text("ascii").split())
letters = st.text(string.ascii_lowercase, max_size=8)


def test_every_shipped_word_is_known() -> None:
    lexicon = load_lexicon()
    assert all(map(lexicon.known, sorted(WORDS)[::97]))
    assert all(lexicon.known(word) for word in (min(WORDS), max(WORDS)))


@given(letters | st.sampled_from(sorted(WORDS)))
def test_known_is_membership_in_either_list(word: str) -> None:
    assert load_lexicon().known(word) == (word in WORDS or word in COMMON)


@given(st.text())
def test_any_text_can_be_asked_for(word: str) -> None:
    load_lexicon().known(word)
    assert load_lexicon().common(word) == (word.lower() in COMMON)


@pytest.mark.parametrize("word", ["blorf", "republice", "coffah", "flimby", "gorp", "snizz"])
def test_the_papers_invented_words_are_not_known(word: str) -> None:
    assert not load_lexicon().known(word)


@pytest.mark.parametrize("word", ["catastrophe", "colour", "color", "Smartphone", "dammit"])
def test_ordinary_words_are_known(word: str) -> None:
    assert load_lexicon().known(word)


def distance(one: str, other: str) -> int:
    """Letters left out, put in, replaced or swapped, by plain recursion."""
    if not one or not other:
        return len(one) + len(other)
    costs = [
        distance(one[1:], other) + 1,
        distance(one, other[1:]) + 1,
        distance(one[1:], other[1:]) + (one[0] != other[0]),
    ]
    if len(one) > 1 and len(other) > 1 and one[:2] == other[1::-1]:
        costs.append(distance(one[2:], other[2:]) + 1)
    return min(costs)


@given(st.text("abc", max_size=4), st.text("abc", max_size=4))
def test_one_edit_away_is_edit_distance_one(one: str, other: str) -> None:
    assert (other in set(one_edit_away(one)) - {one}) == (distance(one, other) == 1)


@given(letters)
def test_nearest_common_word_is_common_and_one_edit_away(word: str) -> None:
    near = load_lexicon().nearest_common(word)
    if near is not None:
        assert near in COMMON
        assert distance(word, near) == 1


def test_nearest_common_word_is_the_most_frequent_one() -> None:
    lexicon = Lexicon(b"", "house\n\nmouse\n\nblouse\n")
    assert lexicon.nearest_common("nouse") == "house"
    assert lexicon.nearest_common("mlouse") == "mouse"
    assert lexicon.nearest_common("slouse", level=20) is None
    assert lexicon.nearest_common("slouse") == "blouse"


def test_the_lists_bring_their_licences() -> None:
    cmudict = (DATA / "LICENSE-cmudict.txt").read_text("utf-8")
    scowl = (DATA / "LICENSE-scowl.txt").read_text("utf-8")
    assert "Carnegie Mellon University" in cmudict
    assert "Kevin Atkinson" in scowl


def test_build_keeps_plain_words_of_both_sources(tmp_path: Path) -> None:
    cmudict = tmp_path / "cmudict.dict"
    cmudict.write_text("'em AH0 M\nblorp B L AO1 R P\nlead L EH1 D\nlead(2) L IY1 D\n")
    for spelling in ("english", "american", "british"):
        for level in (10, 20, 35, 40, 50, 55, 60, 70):
            (tmp_path / f"{spelling}-words.{level}").write_text("")
    (tmp_path / "english-words.10").write_text("the\ndog's\n")
    (tmp_path / "british-words.20").write_text("colour\n")
    (tmp_path / "english-words.60").write_text("gorp\nrill\n")
    build(cmudict, tmp_path, tmp_path)
    assert (tmp_path / "words.txt").read_text() == "blorp\ncolour\nlead\nrill\nthe\n"
    assert (tmp_path / "common.txt").read_text() == "the\n\ncolour\n\n\n"


def test_plain_words_have_small_letters_only() -> None:
    assert plain(["boat", "Boat", "boat2", "boat's", ""]) == {"boat"}
