"""The 40 phonemes, how pronunciations are read, labels of transcribers, the dictionary."""

from __future__ import annotations

import gzip
import random
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.dictionary import guessed_sound, load_dictionary
from tabwb.phonology.inventory import (
    CLASSES,
    FEATURE_SYMBOLS,
    FEATURE_TABLE,
    FEATURES,
    PHONEMES,
    SILENT,
    Notation,
    is_vowel,
    mapped_letters,
    parse_arpabet,
    parse_ipa,
    parse_pronunciation,
    to_ipa,
)
from tabwb.phonology.labels import LABEL_SETS, LabelSet, best_possible, label_set, map_labels
from tabwb.records.errors import TabwbError
from tests.builders import every
from training.lexicon.pronunciations import build

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


# Lee & Hon 1989, table 3: the 61 and what they are folded to.
VOWELS = "iy ih eh ey ae aa aw ay ah ao oy ow uh uw ux er ax ix axr ax-h"
CONSONANTS = "jh ch b d g p t k dx s sh z zh f th v dh m n ng em nx en eng l r w y hh hv el q"
SILENCES = "bcl dcl gcl pcl tcl kcl pau epi h#"
TIMIT_61 = f"{VOWELS} {CONSONANTS} {SILENCES}".split()
FOLDED = {
    "ax": "ah", "ax-h": "ah", "axr": "er", "ix": "ih", "ux": "uw", "hv": "hh", "nx": "n",
    "ao": "aa", "zh": "sh",
    **dict.fromkeys(SILENCES.split(), "sil"),
}  # fmt: skip
SYLLABIC = {"el": "l", "em": "m", "en": "n", "eng": "ng"}


def _unreachable(labels: LabelSet) -> set[str]:
    """The phonemes that no label of a set is read as."""
    return set(PHONEMES) - {phoneme for reading in labels.readings.values() for phoneme in reading}


def test_timit_61_is_read_as_its_folding_with_what_we_can_tell_kept_apart() -> None:
    assert len(TIMIT_61) == 61
    own, folded = label_set("timit-61"), label_set("timit-39")
    for label in TIMIT_61:
        reading = map_labels([label], "timit-61")
        assert not reading.dropped
        if label == "q":
            assert reading.phonemes == ()
        elif label in SYLLABIC:
            assert reading.phonemes == ("AH", SYLLABIC[label].upper())
        else:
            expected = map_labels([FOLDED.get(label, label)], "timit-39").phonemes
            assert best_possible(reading.phonemes, folded) == expected, label
    assert _unreachable(own) == set()


def test_timit_39_has_39_labels() -> None:
    sounds = {
        label
        for label, reading in label_set("timit-39").readings.items()
        if reading and reading[0] in PHONEMES
    }
    assert len(sounds | {"sil"}) == 39


@pytest.mark.parametrize("name", list(LABEL_SETS))
def test_what_cannot_be_reached_is_what_is_named_as_merged(name: str) -> None:
    chosen = label_set(name)
    assert _unreachable(chosen) == set(chosen.merged)
    assert set(best_possible(PHONEMES, chosen)) == set(PHONEMES) - set(chosen.merged)


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="eSpeak NG is not installed")
@pytest.mark.parametrize("voice", ["en-us", "en-gb"])
def test_all_that_espeak_writes_for_english_words_is_read(voice: str) -> None:
    words = (
        "bird butter car four care near tour fire button bottle little kite cow boy dog cat house "
        "tree vision judge church thing water alone red bath hot cup put food see sit happy roses "
        "prism rhythm player lower idea hour oil which nature measure uncle middle story poor cure "
        "orange squirrel hurry mirror earth beer hair curious royal tower higher seven shoe"
    )
    done = subprocess.run(
        ["espeak-ng", "-q", "--ipa=1", "--sep= ", "-v", voice, words.replace(" ", ". ")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = map_labels(done.stdout.split(), "espeak-ipa")
    assert found.dropped == {}
    assert set(PHONEMES) - set(found.phonemes) <= ({"DX"} if voice == "en-gb" else set())
    assert not set(found.phonemes) & set(SILENT)


@pytest.mark.parametrize(
    ("name", "labels", "phonemes", "dropped"),
    [
        ("espeak-ipa", "l ɪ ɾ əl", "L IH DX AH L", {}),  # a label may give two phonemes
        ("espeak-ipa", "k y æ y ø t", "K AE T", {"y": 2, "ø": 1}),
        ("espeak-ipa", "<pad> | ˈ ʔ", "", {}),  # marks of a model, and stress
        ("espeak-ipa", "tʰ t͡ʃ eɪ̯", "T CH EY", {}),  # beyond the table, by letters
        ("arpabet", "D AO1 <SIL> g AX SIL <pad>", "D AO <sil> G", {"AX": 1, "SIL": 1, "<pad>": 1}),
        ("cmu", "B AH1 T ER0 DX", "B AH T ER", {"DX": 1}),  # stress, and no flap
    ],
)
def test_labels_are_read_or_dropped_and_counted(
    name: str, labels: str, phonemes: str, dropped: dict[str, int]
) -> None:
    found = map_labels(labels.split(), name)
    assert found.phonemes == tuple(phonemes.split())
    assert found.dropped == dropped
    with pytest.raises(TabwbError, match="timit-39"):
        map_labels([], "buckeye")


DATA = files("tabwb.phonology") / "data"
LINES = gzip.decompress((DATA / "cmudict.tsv.gz").read_bytes()).decode("ascii").splitlines()


@every([*random.Random(1).sample(LINES, 60), LINES[0], LINES[-1]])
def test_every_line_is_found_both_ways(line: str) -> None:
    word, phonemes, stress = line.split("\t")
    found = load_dictionary().pronunciations(word.upper())
    assert (tuple(phonemes.split()), stress) in [(one.phonemes, one.stress) for one in found]
    assert word in load_dictionary().homophones(phonemes.split())


def test_all_of_it_is_in_the_inventory_without_the_flap() -> None:
    # CMU has 39 phonemes: PSST's 40 without DX.
    assert {label for line in LINES for label in line.split("\t")[1].split()} == set(PHONEMES) - {
        "DX"
    }


def test_variants_keep_the_dictionarys_order() -> None:
    # cmudict.dict: "either IY1 DH ER0" stands before "either(2) AY1 DH ER0".
    found = load_dictionary().pronunciations("either")
    assert [one.arpabet for one in found] == ["IY1 DH ER0", "AY1 DH ER0"]


@pytest.mark.parametrize("word", ["", "blorf", "do", "dog\tD", "dög", "dog\n", "*", "house cat"])
def test_only_whole_words_are_found(word: str) -> None:
    known = {line.partition("\t")[0] for line in LINES}
    assert bool(load_dictionary().pronunciations(word)) is (word in known)
    assert load_dictionary().pronunciations("don’t") == load_dictionary().pronunciations("don't")


def test_no_phonemes_are_no_word() -> None:
    assert load_dictionary().homophones(()) == ()
    # Each flap is T or D: forty of them sound in 2**40 ways.
    assert load_dictionary().homophones(("AH", "DX") * 40) == ()
    assert guessed_sound("zzqx" * 12) is not None
    assert guessed_sound("zzqx" * 20_000) is None
    assert load_dictionary().homophones(("D", "AO")) == tuple(
        sorted({line.partition("\t")[0] for line in LINES if line.split("\t")[1] == "D AO"})
    )


@pytest.mark.parametrize(
    ("word", "flapped"),
    [("water", "W AO DX ER"), ("ladder", "L AE DX ER"), ("party", "P AA R DX IY"),
     ("attack", None), ("dog", None)],
)  # fmt: skip
def test_the_flap_stands_before_an_unstressed_vowel(word: str, flapped: str | None) -> None:
    found = load_dictionary().pronunciations(word)[0].flapped
    assert (found and " ".join(found)) == flapped


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    source = tmp_path / "cmudict.dict"
    source.write_text("zoo Z UW1\ndog D AO1 G # an animal\na AH0\na(2) EY1\n", encoding="utf-8")
    build(source, tmp_path)
    first = (tmp_path / "cmudict.tsv.gz").read_bytes()
    build(source, tmp_path)
    assert (tmp_path / "cmudict.tsv.gz").read_bytes() == first
    assert gzip.decompress(first) == b"a\tAH\t0\na\tEY\t1\ndog\tD AO G\t1\nzoo\tZ UW\t1\n"
