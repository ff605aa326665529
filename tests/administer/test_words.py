"""A transcriber of words is scored by how its words usually sound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabwb.administer.naming.scores import naming_of
from tabwb.administer.session import setup
from tabwb.phonology.dictionary import guessed_phonemes, pronounced
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.naming import RecordingBegan
from tabwb.records.speech import Segment, Transcript
from tabwb.report.documents.naming_document import spoken_json, transcript_json
from tabwb.scoring.naming.case import sounds_of_names
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import propose_response
from tabwb.scoring.naming.target import Accepted, NamingTarget
from tabwb.store.store import Store
from tests.administer.naming_parts import naming_battery, shown, take
from tests.scoring.naming_parts import accept


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


KATZE = NamingTarget(target="Katze", accept=accept("K EY T Z"))
TOMATO = NamingTarget(target="tomato", accept=accept("T AH M AA T OW"))
QUOKKA = NamingTarget(target="quokka", accept=accept("K W AA K AH"))
TREE = NamingTarget(target="tree", accept=accept("T R IY"))
SOFA = NamingTarget(
    target="sofa", accept=(*accept("S OW F AH"), Accepted(("K", "AW", "CH"), "other name", "couch"))
)
PINATA = NamingTarget(target="piñata", accept=accept("P IH N Y AA T AH"))
ICE_CREAM = NamingTarget(target="ice cream", accept=accept("AY S K R IY M"))


@pytest.mark.parametrize(
    ("target", "words", "flags"),
    [
        (KATZE, "Katze.", set()),
        (TOMATO, "tomato", set()),  # the dictionary has /eɪ/ first
        (TOMATO, "a tomato", {"carrier"}),
        (TOMATO, "tomatoes", {"number"}),
        (QUOKKA, "quokka", set()),  # in no dictionary
        (QUOKKA, "it's a quokka", {"carrier"}),
        (QUOKKA, "quokkas", {"number"}),
        (SOFA, "um couch", {"filler"}),
        (PINATA, "a pinata", {"carrier"}),
        (PINATA, "pinatas", {"number"}),
        (ICE_CREAM, "ice cream", set()),
        (ICE_CREAM, "Ice-cream", set()),
    ],
)
def test_a_transcribers_word_that_is_a_name_is_right_as_the_same_word_heard(
    target: NamingTarget, words: str, flags: set[str]
) -> None:
    names, transcript = sounds_of_names(target), said(*words.split())
    segments = pronounced(transcript, names).segments
    guessed = guessed_phonemes(transcript, names)
    by_machine = propose_response(target, segments, guessed=guessed)
    by_ear = propose_response(target, heard=parse_heard(words))
    for found in (by_machine, by_ear):
        assert (found.proposal.code, set(found.proposal.flags)) == ("correct", flags)
        assert {verdict.value for verdict in found.verdicts.values()} == {True}


@pytest.mark.parametrize(
    ("target", "word", "candidates", "first", "anywhere"),
    [
        (QUOKKA, "quakka", {"correct", "nonword-related"}, None, None),  # sounds as the name
        (TREE, "treeb", {"nonword-related"}, False, None),
        (QUOKKA, "blorf", {"nonword-unrelated"}, False, False),
    ],
)
def test_a_guessed_pronunciation_is_undecided(
    target: NamingTarget, word: str, candidates: set[str], first: bool | None, anywhere: bool | None
) -> None:
    names, transcript = sounds_of_names(target), said(word)
    found = propose_response(
        target,
        pronounced(transcript, names).segments,
        guessed=guessed_phonemes(transcript, names),
    )
    assert (found.proposal.code, set(found.proposal.candidates)) == ("undecided", candidates)
    assert "guessed-sound" in found.proposal.flags
    assert found.verdicts["correct-first"].value is first
    assert found.verdicts["correct-any"].value is anywhere


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
