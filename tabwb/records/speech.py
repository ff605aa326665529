"""Speech as plain data: where a clip lies, what was heard in it, what is known of a recording.

Times are seconds from the beginning of the file they belong to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Literal, NamedTuple


def is_typed(transcriber: str) -> bool:
    """Return whether a transcriber's spec means a person who types.

    >>> is_typed("manual:R1"), is_typed("bundled-words")
    (True, False)
    """
    return transcriber.partition(":")[0] == "manual"


TranscriptStatus = Literal["ok", "empty", "error"]
"""``empty``: the transcriber ran and heard nothing; ``error``: it did not give a transcript."""


class Stretch(NamedTuple):
    """A stretch of a recording, in seconds."""

    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Clip:
    """A segment of a sound file for a transcriber.

    Attributes:
        path: of the file; absolute for a child process.
        start_s, end_s: the stretch in seconds; ``end_s`` None means to the end.
        accepted: pronunciations (ARPAbet) whose likelihood is requested besides free decoding.
        speech: the stretches of speech, in seconds of the file; None if not detected yet.
        sounds: other sounds above the noise, likewise: coughs, slams, breaths.
    """

    path: str
    start_s: float = 0.0
    end_s: float | None = None
    accepted: tuple[tuple[str, ...], ...] = ()
    speech: tuple[Stretch, ...] | None = None
    sounds: tuple[Stretch, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """One transcribed phoneme (or, of a word transcriber, one word).

    Attributes:
        phoneme: ARPAbet without stress (``AO``), or the word.
        start_s, end_s: seconds from the beginning of the clip.
        confidence: 0 to 1 from the transcriber, or None.
    """

    phoneme: str
    start_s: float
    end_s: float
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """The transcript of one clip by one transcriber.

    Attributes:
        transcriber: its spec.
        status: see :data:`TranscriptStatus`; an error is never an empty transcript.
        segments: in time order.
        unit: what a segment is.
        seconds: how long the clip is.
        dropped: labels without a phoneme, with their counts.
        accepted_likelihood: log likelihood (natural, of the whole clip under CTC) of the best
            accepted form less that of free decoding; None if it was not requested.
        error: the message of a failure, or empty.
        metadata: plain strings: model revision, label set, decoder, conditioning.
    """

    transcriber: str
    status: TranscriptStatus
    segments: tuple[Segment, ...] = ()
    unit: Literal["phonemes", "words"] = "phonemes"
    seconds: float = 0.0
    dropped: Mapping[str, int] = field(default_factory=dict)
    accepted_likelihood: float | None = None
    error: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def phonemes(self) -> tuple[str, ...]:
        """The phonemes (or words) alone, in time order."""
        return tuple(segment.phoneme for segment in self.segments)

    @property
    def timed(self) -> bool:
        """Whether phonemes have their own times; typed ones all begin with the clip.

        One alone has them where it is shorter than the clip, or the clip is of no known length.
        Two that begin together among others, or one of no length, do not take the others' times.

        >>> Transcript("manual", "ok", (Segment("AH", 0, 1), Segment("P", 0, 1))).timed
        False
        """
        if len(self.segments) == 1:
            length_s = self.segments[0].end_s - self.segments[0].start_s
            return 0 < length_s < (self.seconds or inf)
        return len({segment.start_s for segment in self.segments}) != 1
