"""naming-demo: what it holds agrees with the dictionary, with itself, and with its drawings."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from tabwb.battery.loader import load_battery
from tabwb.battery.naming import forms_of, naming_item
from tabwb.scoring.lexicon import load_lexicon
from tabwb.tasks.spoken_naming.rules import NamingItem

FOLDER = Path(__file__).parents[2] / "batteries" / "naming-demo"
BATTERY = load_battery(FOLDER / "battery.toml")
ITEMS = [naming_item(item) for item in BATTERY.subtests[0].items]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_the_citation_form_is_the_dictionarys(item: NamingItem) -> None:
    assert item.accept[0].reason == "citation"
    assert item.accept[0].phonemes in [form.phonemes for form in forms_of(item.target)]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_neighbours_are_words_that_can_be_heard(item: NamingItem) -> None:
    words = [*item.semantic, *item.visual, *item.parts]
    assert len(words) == len(set(words))
    assert all(load_lexicon().known(word) and forms_of(word) for word in words)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_a_stimulus_cue_counts_and_a_phonemic_one_does_not(item: NamingItem) -> None:
    assert [(cue.kind, cue.counts) for cue in item.cues] == [
        ("stimulus", True),
        ("phonemic", False),
    ]
    begin = item.cues[1].text.removeprefix("It begins with ").removesuffix(".")
    assert item.target.startswith(begin)


def test_no_accepted_form_is_that_of_another_item() -> None:
    forms = [form for item in ITEMS for form in item.accepted]
    assert len(forms) == len(set(forms))


def test_it_is_for_speakers_and_says_that_it_is_no_test() -> None:
    assert BATTERY.examinees == ("speaker",)
    assert "not a test" in BATTERY.disclaimer
    assert "not a medical device" in BATTERY.disclaimer
    said = (FOLDER / "battery.toml").read_text(encoding="utf-8").lower()
    for word in ("patient", "diagnosis", "impaired", "normal", "validated", "pass", "fail"):
        assert not re.search(rf"\b{word}", said)


def test_there_is_a_drawing_for_each_picture_and_no_other_file() -> None:
    from docs.pictures.naming_demo import PICTURES, SIDE

    assert set(PICTURES) == {item.id for item in ITEMS}
    names = {item.picture for item in ITEMS}
    assert {path.name for path in FOLDER.iterdir()} == names | {"battery.toml", "LICENSE"}
    for name in names:
        header = (FOLDER / name).read_bytes()[16:24]
        assert struct.unpack(">II", header) == (SIDE, SIDE)
