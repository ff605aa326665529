"""Similarity in sound and its chance rate; distance from target."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.inventory import PHONEMES
from tabwb.scoring.naming.target import distance_from_target
from tabwb.scoring.naming.words import (
    CHANCE_PAIRS,
    chance_rate,
    chance_rate_of,
    most_similar,
    similarity,
)
from tests.scoring.naming_parts import DOG, accept

words = st.lists(st.sampled_from(PHONEMES), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("target", "said", "clauses"),
    [
        ("K AE T", "D AO G", ()),
        ("K AE T", "K IY", ("begins alike",)),
        ("K AE T", "B IY T", ("ends alike", "same place")),
        ("K AE T", "B IY S T", ("ends alike",)),
        ("K AE T", "M AE", ("same place",)),
        ("K AE T", "S P AE", ("same place",)),  # the vowel of the same syllable
        ("K AE T", "T OY K", ("two or more in common",)),
        ("K AE T", "K AE T", ("begins alike", "ends alike", "same place", "two or more in common")),
        # Unstressed vowels do not count: sofa, zebra.
        ("S OW F AH", "Z IY B R AH", ()),
        # The only vowel of a word is stressed: cup, mud.
        ("K AH P", "M AH D", ("same place",)),
    ],
)
def test_each_clause(target: str, said: str, clauses: tuple[str, ...]) -> None:
    assert similarity(target.split(), said.split()).clauses == clauses


@given(one=words, other=words)
def test_it_does_not_matter_which_is_the_target(one: list[str], other: list[str]) -> None:
    there, back = similarity(one, other), similarity(other, one)
    assert there.clauses == back.clauses
    assert sorted(there.shared) == sorted(back.shared)


@given(words)
def test_what_shares_nothing_is_not_similar(one: list[str]) -> None:
    other = [each for each in PHONEMES if each not in one][:4]
    assert not similarity(one, other).related


def test_the_form_with_most_in_common_is_taken() -> None:
    forms = [["HH", "AW", "N", "D"], ["D", "AO", "G"]]
    assert most_similar(forms, [("D", "AO", "V")]).shared == ("D", "AO")


def test_the_chance_rate_is_computed_and_stable() -> None:
    # Other pairs of the same words: within three standard errors of each other.
    mine, other = chance_rate(), chance_rate_of(3000, seed=99)
    error = sqrt(0.25 / CHANCE_PAIRS + 0.25 / 3000)
    assert abs(mine - other) < 3 * error
    # Schwartz 2006's criterion over 4,000 pairs of other picture nouns gave 0.287.
    assert 0.24 < mine < 0.34


@pytest.mark.parametrize(
    ("said", "phonemes", "features"),
    [
        ("D AO G", 0.0, 0.0),
        ("D AO G AH", 1 / 3, 22 / 72),  # AH: 20 features at 1, 4 at 0.5
        ("T AO G", 1 / 3, 1 / 72),  # voice
        ("<sil> D AO <spn> G", 0.0, 0.0),
    ],
)
def test_distance_is_over_the_accepted_forms_length(
    said: str, phonemes: float, features: float
) -> None:
    found = distance_from_target(said.split(), accept("D AO G"))
    assert found is not None
    assert (found.phoneme_rate, found.feature_rate) == (phonemes, features)


def test_the_nearest_accepted_form_is_taken() -> None:
    found = distance_from_target(["D", "AA", "K"], accept("D AO G", "D AA G"))
    assert found is not None
    assert found.form.phonemes == ("D", "AA", "G")
    assert found.to_json()["trace"] == [
        ["EQ", "D", "D", 0.0],
        ["EQ", "AA", "AA", 0.0],
        ["SUB", "G", "K", 1.0],
    ]


def test_nothing_said_has_no_distance() -> None:
    assert distance_from_target(["<sil>"], accept("D AO G")) is None


def test_what_was_said_is_held_against_the_form_that_stands_in_it() -> None:
    """A longer form would be nearer by rate: what is too much weighs less against it."""
    found = distance_from_target(["D", "AA", "G", "L", "EH", "F", "T"], DOG.accept)
    assert found is not None
    assert found.form.phonemes == ("D", "AA", "G")
    assert found.phonemes.distance == 4
