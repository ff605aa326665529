"""What the tests of spoken naming are made of: timed phonemes and accepted forms."""

from __future__ import annotations

from tabwb.records.speech import Segment
from tabwb.scoring.naming.target import Accepted, NamingTarget

PHONEME_S = 0.1


def timed(text: str, start_s: float = 0.0) -> tuple[Segment, ...]:
    """Phonemes of 0.1 s each; a number is so many seconds without any, ``<spn>`` lasts 0.1 s."""
    segments, now = [], start_s
    for label in text.split():
        if label[0].isdigit():
            now += float(label)
            continue
        segments.append(Segment(label, now, now + PHONEME_S))
        now += PHONEME_S
    return tuple(segments)


def accept(*forms: str, reason: str = "citation") -> tuple[Accepted, ...]:
    return tuple(Accepted(tuple(form.split()), reason) for form in forms)


DOG = NamingTarget(
    target="dog",
    accept=(
        Accepted(("D", "AO", "G"), "citation"),
        Accepted(("D", "AA", "G"), "dialect"),
        Accepted(("HH", "AW", "N", "D"), "other name", "hound"),
    ),
    semantic=("cat", "wolf", "frog", "animal"),
    visual=("horse",),
    parts=("tail",),
)
