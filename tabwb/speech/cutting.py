"""Stretches of speech, each transcribed by itself, as one transcript of the whole recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabwb.records.speech import Clip, Segment, Stretch, Transcript
from tabwb.speech.finding import windows

OTHER_SOUND = "<spn>"
AROUND_S = 0.15
"""Seconds of sound before and after each stretch, where there is room."""


def pieces(clip: Clip, seconds: float, least_s: float = 0.0) -> tuple[Clip, ...]:
    """Return the pieces of a clip that a transcriber is given.

    Args:
        clip: with its stretches of speech; of a file's whole length.
        seconds: how long the file is.
        least_s: shortest piece, where there is room.

    >>> [(one.start_s, one.end_s) for one in pieces(Clip("a", speech=(Stretch(1, 2),)), 9.0)]
    [(0.85, 2.15)]
    """
    cut = windows(clip.speech or (), seconds, least_s, AROUND_S)
    return tuple(replace(clip, start_s=window.start_s, end_s=window.end_s) for window in cut)


def joined(
    heard: Sequence[Transcript], given: Sequence[Clip], whole: Clip, seconds: float, spec: str
) -> Transcript:
    """Return the transcripts of all pieces joined, on the clock of the whole clip.

    Args:
        heard: of each piece, in order of time; none without speech.
        given: the pieces.
        whole: the clip that they are of.
        seconds: how long it is.
        spec: of the transcriber.

    Returns:
        In status ``error`` where any piece is; ``empty`` where nothing was heard. Other sounds are
        ``<spn>``. The likelihood of an accepted form is that of the piece where it is highest.
    """
    failed = next((transcript for transcript in heard if transcript.status == "error"), None)
    if failed is not None:
        return replace(failed, segments=(), seconds=round(seconds, 4))
    segments: list[Segment] = []
    dropped: dict[str, int] = {}
    for transcript, piece in zip(heard, given, strict=True):
        segments += shifted(transcript.segments, piece.start_s)
        for label, count in transcript.dropped.items():
            dropped[label] = dropped.get(label, 0) + count
    known = [e.accepted_likelihood for e in heard if e.accepted_likelihood is not None]
    unit = heard[0].unit if heard else "phonemes"
    return Transcript(
        spec,
        "ok" if segments else "empty",
        with_sounds(segments, whole.sounds) if unit == "phonemes" else tuple(segments),
        unit=unit,
        seconds=round(seconds, 4),
        dropped=dropped,
        accepted_likelihood=max(known, default=None),
        metadata=heard[0].metadata if heard else {},
    )


def shifted(segments: Sequence[Segment], by_s: float) -> list[Segment]:
    """Return segments shifted in time.

    Args:
        segments: in order of time.
        by_s: seconds to add.
    """
    return [
        replace(
            segment, start_s=round(segment.start_s + by_s, 4), end_s=round(segment.end_s + by_s, 4)
        )
        for segment in segments
    ]


def with_sounds(segments: Sequence[Segment], sounds: Sequence[Stretch]) -> tuple[Segment, ...]:
    """Return segments with ``<spn>`` for each other sound, in order of time.

    Args:
        segments: in order of time.
        sounds: stretches on the same clock.

    >>> [one.phoneme for one in with_sounds([Segment("AH", 2, 3)], [Stretch(0.5, 1)])]
    ['<spn>', 'AH']
    """
    noises = [
        Segment(OTHER_SOUND, round(sound.start_s, 4), round(sound.end_s, 4)) for sound in sounds
    ]
    return tuple(sorted((*segments, *noises), key=lambda sound: sound.start_s))
