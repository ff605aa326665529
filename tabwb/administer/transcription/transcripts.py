"""What a transcriber gives, looked at before anything rests on it: transcribers are plugins."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import isfinite
from typing import get_args

from tabwb.phonology.inventory import PHONEMES, SILENT
from tabwb.records.speech import Segment, Transcript, TranscriptStatus

KNOWN = frozenset((*PHONEMES, *SILENT))
HIGHEST = 1.0 + 1e-6
"""Confidence; a probability that was added up in single precision may be a hair above 1."""


def checked(transcript: object, spec: str) -> Transcript:
    """Return a transcript that keeps the contract, under the spec it was asked by.

    One that breaks the contract becomes a transcript in error that says what is wrong.

    Args:
        transcript: what a plugin gave.
        spec: of the transcriber.

    >>> checked(Transcript("x", "ok", (Segment("QQ", 0.0, 0.1),)), "x").error
    "'QQ' is not a phoneme: a transcriber must map its own labels"
    >>> checked(None, "x").status, checked(Transcript("y", "ok"), "x").status
    ('error', 'empty')
    """
    if not isinstance(transcript, Transcript):
        return Transcript(spec, "error", error=f"no transcript came but {transcript!r}")
    try:
        return _looked_at(transcript, spec)
    except Exception as error:  # noqa: BLE001 - a plugin's own values, of any type
        said = f"its values are not what they should be: {type(error).__name__}: {error}"
        return Transcript(spec, "error", error=said)


def _looked_at(transcript: Transcript, spec: str) -> Transcript:
    if wrong := _wrong(transcript):
        return Transcript(spec, "error", error=wrong, seconds=transcript.seconds)
    empty = transcript.status == "ok" and all(each in SILENT for each in transcript.phonemes)
    return replace(
        transcript,
        transcriber=spec,
        status="empty" if empty else transcript.status,
        dropped=dict(transcript.dropped),
        metadata={name: str(value) for name, value in transcript.metadata.items()},
    )


def _wrong(transcript: Transcript) -> str:
    if transcript.status not in get_args(TranscriptStatus):
        return f"'{transcript.status}' is not a valid status"
    if not isfinite(transcript.seconds):
        return "its length is not a finite number"
    for each in transcript.segments:
        if transcript.unit == "phonemes" and each.phoneme not in KNOWN:
            return f"'{each.phoneme}' is not a phoneme: a transcriber must map its own labels"
        if not _has_times(each):
            return (
                f"'{each.phoneme}' from {each.start_s} s to {each.end_s} s is not a valid stretch"
            )
        if each.confidence is not None and not 0.0 <= each.confidence <= HIGHEST:
            return f"{each.confidence} is not a confidence from 0 to 1"
    if any(one.start_s > two.start_s for one, two in pairwise(transcript.segments)):
        return "its segments are not in order of time"
    score = transcript.accepted_likelihood
    return (
        "its likelihood is not a finite number" if score is not None and not isfinite(score) else ""
    )


def _has_times(segment: Segment) -> bool:
    return 0.0 <= segment.start_s <= segment.end_s and isfinite(segment.end_s)
