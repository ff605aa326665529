"""Deleting a speaker whose responses people rated: nothing of what they saw and said is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tabwb.records.rating_sets import (
    Adjudication,
    Assignment,
    AudioCut,
    Sample,
    SampleRating,
    SetPlan,
)
from tabwb.records.speakers import KeptRecording
from tabwb.store.maintenance import check
from tabwb.store.store import Store
from tests.store.parts import FORM
from tests.store.test_people_deleted import SECRET, give, holding, sound


def rate(store: Store, number: int, word: str, audio: str, others: int) -> None:
    """A set with the first response of an administration and one of another, both rated."""
    own = Sample(
        1, number, 1, 1, f"{word} text", f"{word} prompt", f"{word} before", f"{word} after",
        f"{word} stratum", audio=AudioCut(audio, 0.5, 1.5),
        picture=f"{word}.png", target=word, consensus={word: 1.0},
    )  # fmt: skip
    samples = (own, Sample(2, others, 1, 1, "innocent text", "asked of both"))
    order = [Assignment(rater, n, n) for rater in ("R1", "R2") for n in (1, 2)]
    kept = store.sets.create(SetPlan(f"set-{number}", FORM, "two", samples, tuple(order)))
    for one in order:
        half = SampleRating(one.rater, one.position, one.sample, "rate", {"jargon": 1}, False)
        half = store.sets.rate(kept.id, replace(half, note=word if one.sample == 1 else "plain"))
        store.sets.rate(kept.id, replace(half, complete=True, replaces=half.id))
    for _ in range(2):
        store.sets.adjudicate(kept.id, Adjudication(1, "jargon", 1, f"{word} is said", "ada"))
        store.sets.adjudicate(kept.id, Adjudication(2, "jargon", 0, "settled", "ada"))


def test_no_byte_of_what_raters_saw_and_said_of_a_deleted_speaker_is_left(
    file: Path, tmp_path: Path
) -> None:
    spoken = sound(tmp_path, "mine.wav", f"RIFF {SECRET}".encode())
    with Store.open(file) as store:
        one, other = give(store, "S-014", SECRET), give(store, "S-015", "innocent")
        store.people.keep_recording(one, KeptRecording("mine", 1, 16_000), spoken)
        (recording,) = store.people.recordings(one)
        rate(store, one, SECRET, recording.sha256, other)
        before = store.sets.ratings(1, every=True), store.sets.adjudications(1)
        assert store.people.data_of("S-014")["samples"] == 1
        assert check(file) == ()
        store.people.delete_speaker("S-014", "withdrawn")
        assert holding(file, SECRET) == []
        assert check(file) == ()
        assert [sample.number for sample in store.sets.samples(1)] == [2]
        assert store.sets.ratings(1, every=True) == tuple(
            one for one in before[0] if one.sample == 2
        )
        assert store.sets.adjudications(1) == tuple(one for one in before[1] if one.sample == 2)
        assert [one.position for one in store.sets.assignments(1, "R1")] == [2]
