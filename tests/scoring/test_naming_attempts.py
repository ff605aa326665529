"""Attempts as a machine proposes them: pauses, noise, marks, fragments."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.speech import Segment
from tabwb.scoring.naming.attempts import is_fragment, propose_attempts
from tests.scoring.naming_parts import timed


def split(said: str, **options: object) -> list[str]:
    found = propose_attempts(timed(said), **options)  # type: ignore[arg-type]
    return [" ".join(attempt.phonemes) for attempt in found]


@pytest.mark.parametrize(
    ("said", "attempts"),
    [
        ("", []),
        ("<sil> <spn> <unk>", []),
        ("D AO G", ["D AO G"]),
        ("D AO 0.9 G", ["D AO G"]),
        ("D AO 1.0 G", ["D AO", "G"]),
        ("D AO 0.5 <spn> 0.5 G", ["D AO", "G"]),
        ("D AO <spn> G", ["D AO G"]),
        ("K AE T 1.5 D 2 D AO G", ["K AE T", "D", "D AO G"]),
    ],
)
def test_pauses_part_attempts(said: str, attempts: list[str]) -> None:
    assert split(said) == attempts


def test_the_pause_is_data() -> None:
    assert split("D AO 0.6 G", pause_s=0.5) == ["D AO", "G"]


def test_times_are_those_of_the_first_and_the_last_phoneme() -> None:
    one, two = propose_attempts(timed("K AE T 1.5 D AO G", start_s=0.25))
    assert (one.onset_s, one.offset_s) == pytest.approx((0.25, 0.55))
    assert (two.onset_s, two.offset_s) == pytest.approx((2.05, 2.35))


def test_a_silence_that_is_written_without_times_parts_attempts() -> None:
    typed = [Segment(label, 0.0, 0.0) for label in ["K", "AE", "T", "<sil>", "D", "AO", "G"]]
    assert [one.phonemes for one in propose_attempts(typed)] == [
        ("K", "AE", "T"),
        ("D", "AO", "G"),
    ]


def test_a_typed_transcript_has_one_time_for_all_of_it() -> None:
    typed = [Segment(label, 0.0, 3.2) for label in ("K", "AE", "<sil>", "<spn>", "D", "AO", "G")]
    assert [one.phonemes for one in propose_attempts(typed)] == [("K", "AE"), ("D", "AO", "G")]
    noise = [Segment(label, 0.0, 3.2) for label in ("K", "AE", "<spn>", "T")]
    assert len(propose_attempts(noise)) == 1


def test_a_short_silence_with_times_does_not() -> None:
    said = (Segment("D", 0.0, 0.1), Segment("<sil>", 0.1, 0.3), Segment("AO", 0.3, 0.4))
    assert len(propose_attempts(said)) == 1


@given(st.lists(st.sampled_from(["D", "AO", "G", "0.5", "1.5", "<spn>"]), max_size=12))
def test_no_phoneme_is_lost_or_moved(labels: list[str]) -> None:
    said = timed(" ".join(labels))
    attempts = propose_attempts(said)
    spoken = [segment for segment in said if segment.phoneme != "<spn>"]
    assert [one for attempt in attempts for one in attempt.segments] == spoken
    for one, two in itertools.pairwise(attempts):
        assert two.onset_s - one.offset_s > 1.0 - 1e-9


@pytest.mark.parametrize(
    ("said", "complete"),
    [
        ("D", False),  # no vowel
        ("AO", False),  # no consonant
        ("D R", False),
        ("D AO", True),  # CV
        ("AO G", True),  # VC
        ("D AH", False),  # schwa is not counted as a vowel
        ("B AH T", True),  # the vowel of "but" is
        ("AH B", True),
    ],
)
def test_complete_is_a_consonant_and_a_vowel(said: str, complete: bool) -> None:
    # PNT scoring guide: minimally CV or VC, schwa not counted.
    assert is_fragment(said.split()) is not complete
