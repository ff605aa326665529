"""A transcriber of words is scored by how its words usually sound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabwb.administer.naming.scores import naming_of
from tabwb.administer.session import setup
from tabwb.phonology.dictionary import pronounced
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.naming import RecordingBegan
from tabwb.records.speech import Segment, Transcript
from tabwb.report.documents.naming_document import spoken_json, transcript_json
from tabwb.store.store import Store
from tests.administer.naming_parts import naming_battery, shown, take


def said(*words: str) -> Transcript:
    segments = tuple(Segment(word, 0.5 + n, 1.1 + n, 0.8) for n, word in enumerate(words))
    return Transcript("hears-words", "ok", segments, "words", seconds=4.0)


def test_words_become_phonemes_within_their_stretch() -> None:
    found = pronounced(said("Dog."))
    assert found.phonemes == ("D", "AO", "G")
    times = [(round(one.start_s, 3), round(one.end_s, 3)) for one in found.segments]
    assert times == [(0.5, 0.7), (0.7, 0.9), (0.9, 1.1)]
    assert {one.confidence for one in found.segments} == {0.8}


def test_words_in_no_dictionary_are_named_and_noise_is_noise() -> None:
    found = pronounced(said("treeb", "42", "dog"))
    assert found.phonemes == ("T", "R", "IY", "B", "<spn>", "D", "AO", "G")
    assert json.loads(found.metadata["words_by_letters"]) == ["treeb"]
    assert json.loads(found.metadata["words_unpronounced"]) == ["42"]


def test_phonemes_are_left_as_they_are() -> None:
    heard = Transcript("x", "ok", (Segment("D", 0.0, 0.1),))
    assert pronounced(heard) is heard


@pytest.mark.parametrize(
    ("word", "right", "phonemes"),
    [("dog", True, ["D", "AO", "G"]), ("tree", False, ["T", "R", "IY"])],
)
def test_a_word_has_a_verdict_a_distance_and_its_unit(
    tmp_path: Path, plugins: Plugins, word: str, right: bool, phonemes: list[str]
) -> None:
    with Store.open(tmp_path / "words.db") as store:
        battery = setup.find_battery(plugins, str(naming_battery(tmp_path)))
        conditions = setup.resolve(plugins, battery, Conditions("S-1", "speaker", judges=()))
        with setup.create_naming(store, plugins, battery, conditions) as session:
            session.spoken.keep(None, RecordingBegan("r1", "r1.wav", "a microphone", 16_000))
            session.spoken.show(shown(0.0))
            session.spoken.score("right", take=take(0.0))
            session.spoken.transcribed(1, 1, said(word))
            view = session.spoken.view(1)
            assert view is not None
            naming = naming_of(view)
    assert naming.verdicts is not None
    assert naming.verdicts["correct-any"].value is right
    assert naming.distance is not None
    assert (naming.distance.phoneme_rate == 0.0) is right
    document = spoken_json(naming)
    assert document["phonemes"] == phonemes
    assert naming.transcript is not None
    written = transcript_json(naming.transcript)
    assert (written["unit"], written["phonemes"]) == ("words", phonemes)
    assert [one["word"] for one in written["words"]] == [word]
