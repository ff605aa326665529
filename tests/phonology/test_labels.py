"""Labels of other transcribers."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tabwb.phonology.inventory import PHONEMES, SILENT
from tabwb.phonology.labels import (
    LABEL_SETS,
    LabelSet,
    best_possible,
    label_set,
    map_labels,
)
from tabwb.records.errors import TabwbError

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
