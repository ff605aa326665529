"""Measures of words, and known and common words, against a plain set of the shipped lists."""

from __future__ import annotations

import json
import string
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.scoring.lexical import mattr, mtld, ttr
from tabwb.scoring.lexicon import Lexicon, load_lexicon, one_edit_away
from tabwb.scoring.text import words as tokens
from training.lexicon.build import build, plain

ORACLE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "lexical.json").read_text(encoding="utf-8")
)["texts"]


@pytest.mark.parametrize("text", ORACLE)
def test_the_measures_agree_with_the_oracle(text: dict[str, Any]) -> None:
    words = text["tokens"]
    assert len(words) == text["words"]
    assert ttr(words).value == text["ttr"]
    assert mtld(words, 0.72, shortest=1).value == pytest.approx(text["mtld_0.72"], rel=1e-12)
    assert mattr(words, 10).value == pytest.approx(text["mattr_window_10"], rel=1e-12)
    assert mattr(words, 25).value == pytest.approx(text["mattr_window_25"], rel=1e-12)


TEXTS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60)


@given(TEXTS, st.integers(1, 20))
def test_mattr_is_the_mean_over_all_windows(text: list[str], window: int) -> None:
    ratios = [len(set(text[at : at + window])) / window for at in range(len(text) - window + 1)]
    expected = sum(ratios) / len(ratios) if ratios else None
    assert mattr(text, window).value == pytest.approx(expected)


@given(TEXTS)
def test_mtld_reads_both_ways_alike(text: list[str]) -> None:
    found = mtld(text, shortest=1).value
    assert found == pytest.approx(mtld(text[::-1], shortest=1).value)
    assert found is None or found <= len(text)


DATA = files("tabwb.scoring") / "data"
WORDS = frozenset((DATA / "words.txt").read_text("ascii").split())
COMMON = frozenset((DATA / "common.txt").read_text("ascii").split())
letters = st.text(string.ascii_lowercase, max_size=8)


@given(letters | st.sampled_from(sorted(WORDS)))
def test_known_is_membership_in_either_list(word: str) -> None:
    assert load_lexicon().known(word) == (word in WORDS or word in COMMON)


@given(st.text())
def test_any_text_can_be_asked_for(word: str) -> None:
    load_lexicon().known(word)
    assert load_lexicon().common(word) == (word.lower() in COMMON)


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


def test_words_are_folded_and_keep_their_apostrophes() -> None:
    found = tokens("We’d like a well-made “Kite”, in 1980!")
    assert found == ["we'd", "like", "a", "well", "made", "kite", "in", "1980"]
    assert plain(["boat", "Boat", "boat2", "boat's", ""]) == {"boat"}


def test_what_is_too_short_has_no_measure() -> None:
    for measure in (ttr, mattr, mtld):
        assert measure([]).value is None and measure([]).reason
    assert mattr(["a"] * 49).reason == "49 words, fewer than the window of 50"
    assert mattr(["a"] * 50).value == 0.02
    # Every third word completes a factor: only the length leaves it undefined.
    assert mtld(["a", "b"] * 24 + ["a"]).reason == "49 words, fewer than 50"
    assert mtld(["a", "b"] * 25).value == 50 / 16
    # Nearly every word is new, so that an extrapolated value would exceed the text's length.
    text = [f"word{n}" for n in range(58)] + ["word1", "word2"]
    assert mtld(text).reason == "no factor is complete in 60 words"
    assert mtld(text[:3], shortest=1).reason == "no factor is complete in 3 words"
    with pytest.raises(ValueError, match="window"):
        mattr(["a"], 0)
    with pytest.raises(ValueError, match="threshold"):
        mtld(["a"], 1.0)


def test_ordinary_words_are_known_and_the_papers_invented_ones_are_not() -> None:
    known = load_lexicon().known
    assert all(map(known, [*sorted(WORDS)[::97], min(WORDS), max(WORDS)]))
    assert all(map(known, ["catastrophe", "colour", "color", "Smartphone", "dammit"]))
    assert not any(map(known, ["blorf", "republice", "coffah", "flimby", "gorp", "snizz"]))
