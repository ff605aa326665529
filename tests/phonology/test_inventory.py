"""The 40 phonemes, and how pronunciations are read and written."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.inventory import (
    CLASSES,
    FEATURE_SYMBOLS,
    FEATURE_TABLE,
    FEATURES,
    PHONEMES,
    Notation,
    is_vowel,
    mapped_letters,
    parse_arpabet,
    parse_ipa,
    parse_pronunciation,
    to_ipa,
)
from tabwb.records.errors import TabwbError

pronunciations = st.lists(st.sampled_from(PHONEMES), min_size=1, max_size=12).map(tuple)


def test_features_are_those_of_the_challenges_scorer(psst: Any) -> None:
    assert list(FEATURES) == psst["features"]
    assert set(PHONEMES) == set(psst["feature_table"])
    for phoneme, cells in psst["feature_table"].items():
        assert dict(zip(FEATURES, FEATURE_SYMBOLS[phoneme], strict=True)) == cells, phoneme


def test_only_diphthongs_move() -> None:
    """Table 4."""
    moving = {
        phoneme: {
            f"{symbol}{feature}"
            for feature, symbol in zip(FEATURES, symbols, strict=True)
            if symbol in ("-+", "+-")
        }
        for phoneme, symbols in FEATURE_SYMBOLS.items()
    }
    assert {phoneme: cells for phoneme, cells in moving.items() if cells} == {
        "EY": {"-+high", "+-tense"},
        "OW": {"-+high", "+-tense"},
        "OY": {"-+high", "-+front", "+-back", "+-round"},
        "AW": {"-+high", "+-low", "-+back", "-+round"},
        "AY": {"-+high", "+-low", "-+front"},
    }


def test_each_class_is_what_its_features_say() -> None:
    def having(**wanted: float) -> set[str]:
        return {
            phoneme
            for phoneme, row in FEATURE_TABLE.items()
            if wanted.items() <= dict(zip(FEATURES, row, strict=True)).items()
        }

    obstruent = {"sonorant": -1.0, "continuant": -1.0}
    assert set(CLASSES["stops"]) == having(**obstruent, delayedrelease=-1.0)
    assert set(CLASSES["affricates"]) == having(**obstruent, delayedrelease=1.0)
    assert set(CLASSES["fricatives"]) == having(sonorant=-1.0, continuant=1.0)
    assert set(CLASSES["nasals"]) == having(nasal=1.0)
    assert set(CLASSES["approximants"]) == having(approximant=1.0, syllabic=-1.0)
    assert {each for each in PHONEMES if is_vowel(each)} == having(syllabic=1.0)


@given(pronunciations)
def test_what_is_written_in_ipa_reads_back(phonemes: tuple[str, ...]) -> None:
    assert parse_ipa(to_ipa(phonemes)) == phonemes
    assert parse_pronunciation(" ".join(phonemes)) == phonemes


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        # The examples of table 8, stressed and unstressed.
        ("bʌɾɚ", "B AH DX ER"),
        ("hɝd", "HH ER D"),
        ("pɚˈhæps", "P ER HH AE P S"),
        ("əloʊn", "AH L OW N"),
        ("tʃɝtʃ", "CH ER CH"),
        ("t͡ʃɝt͡ʃ", "CH ER CH"),
        ("dʒʌdʒ", "JH AH JH"),
        ("ʤʌʤ", "JH AH JH"),
        ("əkeɪʒən", "AH K EY ZH AH N"),
        ("kɑʔn̩", "K AA AH N"),
        # Two letters that are two phonemes.
        ("nʌt.ʃɛl", "N AH T SH EH L"),
        # Other letters for the same.
        ("ɡoʊt", "G OW T"),
        ("goʊt", "G OW T"),
        ("ɹɛd", "R EH D"),
        ("bɜːrd", "B ER D"),
        ("bə˞d", "B ER D"),
        ("d ɔ g", "D AO G"),
    ],
)
def test_ipa(text: str, phonemes: str) -> None:
    assert parse_ipa(text) == tuple(phonemes.split())
    assert parse_pronunciation(text) == tuple(phonemes.split())


@pytest.mark.parametrize("text", ["D AO1 G", "d ao g", "D  AO\tG ", "D AO0 G"])
def test_arpabet_in_other_writing(text: str) -> None:
    assert parse_arpabet(text) == ("D", "AO", "G")
    assert parse_pronunciation(text) == ("D", "AO", "G")


@pytest.mark.parametrize(
    ("text", "named", "hint"),
    [
        ("D AX G", "'AX'", "AH"),
        ("D1 AO G", "'D1'", "D"),
        ("D AO3 G", "'AO3'", "AO"),
        ("D <sil> G", "'<sil>'", "<sil>"),
        ("SPN", "'SPN'", "'<spn>'"),
        ("D ÀO G", "'ÀO'", ""),
        ("Ⅾ AO G", "'Ⅾ'", ""),  # a Roman numeral that looks like a D
    ],
)
def test_a_label_outside_is_named(text: str, named: str, hint: str) -> None:
    with pytest.raises(TabwbError) as caught:
        parse_arpabet(text)
    assert named in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "notation", "phonemes", "mapped"),
    [
        ("dɒɡ", "us", "D AA G", ("ɒ=AA",)),
        ("hɒt", "uk", "HH AA T", ("ɒ=AA",)),
        ("bɜːd", "uk", "B ER D", ("ɜ=ER",)),
        ("ɡəʊt", "uk", "G OW T", ()),
        ("bed", "us", "B EY D", ()),
        ("bed", "uk", "B EH D", ()),
        ("hat", "uk", "HH AE T", ("a=AE",)),
        ("eə", "uk", "EH AH", ()),
        ("hɪə", "uk", "HH IH AH", ()),
        ("lɒx", "us", "L AA K", ("ɒ=AA", "x=K")),
        ("ɬan", "us", "L AE N", ("ɬ=L", "a=AE")),
        ("haʊs", "uk", "HH AW S", ()),
        ("ɪç", "us", "IH HH", ("ç=HH",)),
    ],
)
def test_sounds_outside_the_forty_are_mapped_and_told(
    text: str, notation: Notation, phonemes: str, mapped: tuple[str, ...]
) -> None:
    assert parse_ipa(text, notation) == tuple(phonemes.split())
    assert mapped_letters(text, notation) == mapped


def test_the_inventory_is_light() -> None:
    """The command line's help may import it."""
    code = "import sys, tabwb.phonology.inventory; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d§g", "'§'"), ("dɔ̥g", "'̥'"), ("ʘ", "'ʘ'"),
        ("D AX G", "'AX' is not a phoneme"),  # misspelt ARPAbet is not taken for IPA
        *((nothing, "holds no phoneme") for nothing in ("", "  ", "ʔ", "//")),
    ],
)  # fmt: skip
def test_what_is_no_pronunciation_is_named(text: str, message: str) -> None:
    with pytest.raises(TabwbError, match=message):
        parse_pronunciation(text)
