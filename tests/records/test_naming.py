"""Observations go into the store as one line of JSON and come back equal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.errors import StoreError
from tabwb.records.naming import (
    Coded,
    Cued,
    ExaminerSpoke,
    Heard,
    Marked,
    Observation,
    OnsetSet,
    PictureShown,
    RecordingBegan,
    RecordingEnded,
    RePrompted,
    Revealed,
    Scored,
    Take,
    TextSet,
    Transcribed,
    observation_of_json,
    observation_to_json,
    undoable_observation,
)
from tabwb.records.speech import Segment, Transcript

seconds = st.floats(0, 1e5, allow_nan=False)
words = st.text(max_size=12)
numbers = st.integers(0, 99)
segments = st.builds(Segment, words, seconds, seconds, st.none() | st.floats(0, 1))
transcripts = st.builds(
    Transcript,
    transcriber=words,
    status=st.sampled_from(["ok", "empty", "error"]),
    segments=st.lists(segments, max_size=4).map(tuple),
    unit=st.sampled_from(["phonemes", "words"]),
    seconds=seconds,
    dropped=st.dictionaries(words, numbers, max_size=3),
    accepted_likelihood=st.none() | st.floats(-1e3, 0),
    error=words,
    metadata=st.dictionaries(words, words, max_size=3),
)
several = st.lists(words, max_size=3).map(tuple)
observations = st.one_of(
    st.builds(RecordingBegan, words, words, words, numbers),
    st.builds(RecordingEnded, words, words, seconds, words),
    st.builds(PictureShown, words, st.none() | seconds, st.none() | seconds),
    st.builds(Cued, numbers, words, st.booleans(), st.none() | seconds),
    st.builds(RePrompted, st.none() | seconds),
    st.builds(Marked, seconds),
    st.builds(ExaminerSpoke, seconds, seconds),
    st.builds(OnsetSet, numbers, seconds, words),
    st.builds(Scored, numbers, st.sampled_from(["right", "error"]), words, words, st.booleans()),
    st.builds(Heard, numbers, words, words, several, words),
    st.builds(Coded, numbers, words, words, several),
    st.builds(Revealed, numbers),
    st.builds(Transcribed, numbers, transcripts),
    st.builds(TextSet, numbers, words, words, words, words),
)


@given(observations)
def test_what_is_kept_comes_back_equal(observation: Observation) -> None:
    text = observation_to_json(observation)
    assert "\n" not in text
    assert observation_of_json(text) == observation


@given(
    st.builds(Take, words.filter(bool), seconds, seconds, *[st.none() | seconds] * 3, words, words)
)
def test_a_take_comes_back_from_an_attempts_strings_equal(take: Take) -> None:
    assert Take.of_metadata(take.to_metadata()) == take


def test_latency_is_from_the_picture_to_the_onset() -> None:
    assert Take("r", 10.0, 14.0, shown_s=10.5, onset_s=11.25).latency_s == 0.75
    assert Take("r", 10.0, 14.0, onset_s=11.25).latency_s is None


def test_what_the_machine_or_the_microphone_did_is_not_taken_back() -> None:
    kept: list[Observation] = [
        Revealed(1),
        RecordingBegan("r", "f", "d", 1),
        PictureShown(),
        RecordingEnded("r", "", 1),
    ]
    for observation in kept:
        assert undoable_observation(observation_to_json(observation)) is None
    assert undoable_observation(observation_to_json(Scored(1, "right", "R1"))) == "score"


@pytest.mark.parametrize("text", ["{}", '{"what":"sung"}', '{"what":"marked","at":1}', "[1]", "no"])
def test_what_cannot_be_read_is_said_to_be_damaged(text: str) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        observation_of_json(text)


def test_segments_take_little_room() -> None:
    transcript = Transcript("t", "ok", (Segment("D", 0.1, 0.2, 0.9),))
    plain = json.loads(observation_to_json(Transcribed(1, transcript)))
    assert plain["transcript"]["segments"] == [["D", 0.1, 0.2, 0.9]]
