"""The CMU dictionary: looked up both ways, the same as its own lines say."""

from __future__ import annotations

import gzip
import random
from importlib.resources import files
from pathlib import Path

import pytest

from tabwb.phonology.dictionary import guessed_sound, load_dictionary
from tabwb.phonology.inventory import PHONEMES
from training.lexicon.pronunciations import build

DATA = files("tabwb.phonology") / "data"
LINES = gzip.decompress((DATA / "cmudict.tsv.gz").read_bytes()).decode("ascii").splitlines()


@pytest.mark.parametrize("line", [*random.Random(1).sample(LINES, 60), LINES[0], LINES[-1]])
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
