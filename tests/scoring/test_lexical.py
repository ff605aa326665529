from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.scoring.lexical import mattr, mtld, ttr
from tabwb.scoring.text import words as tokens

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


def test_words_are_folded_and_keep_their_apostrophes() -> None:
    assert tokens("We’d like a well-made “Kite”, in 1980!") == [
        "we'd",
        "like",
        "a",
        "well",
        "made",
        "kite",
        "in",
        "1980",
    ]


def test_a_text_without_words_has_no_measure() -> None:
    for measure in (ttr, mattr, mtld):
        assert measure([]).value is None
        assert measure([]).reason


def test_a_text_shorter_than_the_window_has_no_mattr() -> None:
    assert mattr(["a"] * 49).reason == "49 words, fewer than the window of 50"
    assert mattr(["a"] * 50).value == 0.02


def test_a_short_text_has_no_mtld() -> None:
    # Every third word completes a factor: only the length leaves it undefined.
    assert mtld(["a", "b"] * 24 + ["a"]).reason == "49 words, fewer than 50"
    assert mtld(["a", "b"] * 25).value == 50 / 16


def test_a_text_without_a_complete_factor_has_no_mtld() -> None:
    # Nearly every word is new, so that an extrapolated value would exceed the text's length.
    text = [f"word{n}" for n in range(58)] + ["word1", "word2"]
    assert mtld(text).reason == "no factor is complete in 60 words"
    assert mtld(text[:3], shortest=1).reason == "no factor is complete in 3 words"


def test_windows_and_thresholds_out_of_range_are_errors() -> None:
    with pytest.raises(ValueError, match="window"):
        mattr(["a"], 0)
    with pytest.raises(ValueError, match="threshold"):
        mtld(["a"], 1.0)


TEXTS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60)


@given(TEXTS)
def test_one_window_over_the_whole_text_is_its_ratio(text: list[str]) -> None:
    assert mattr(text, len(text)).value == pytest.approx(ttr(text).value)


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
