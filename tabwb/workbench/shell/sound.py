"""The sound of a recording as pages show it: envelopes, spans, onsets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.phonology.inventory import SILENT

if TYPE_CHECKING:
    from tabwb.analysis.statistics.naming import Naming, NamingView
    from tabwb.records.naming import Take


BARS = "▁▂▃▄▅▆▇█"
LEAST_DBFS = -60.0
"""The level meter and the bars of the waveform begin here; a quiet room lies about there."""
PARTS_S = 0.01
"""An envelope has one figure for so much of the response, at most :data:`MOST_PARTS` of them."""
MOST_PARTS = 3000
FLOOR_DBFS = -90.0


@dataclass(frozen=True, slots=True)
class Envelope:
    """How loud a stretch of the recording is.

    Attributes:
        peaks_dbfs: the largest sample in each of as many equal parts of it.
    """

    start_s: float
    end_s: float
    peaks_dbfs: tuple[float, ...]


def envelope_of(path: Path, start_s: float, end_s: float) -> Envelope:
    """Return how loud a stretch of a recording is: the peak of each part, dBFS."""
    import numpy as np

    from tabwb.speech.files import read_clip

    samples, _ = read_clip(path, start_s, end_s)
    count = max(1, min(MOST_PARTS, math.ceil((end_s - start_s) / PARTS_S)))
    if not len(samples):
        return Envelope(start_s, end_s, ())
    edges = np.linspace(0, len(samples), count + 1).astype(int)[:-1]
    peaks = np.maximum.reduceat(np.abs(samples), np.minimum(edges, len(samples) - 1))
    floor = 10 ** (FLOOR_DBFS / 20)
    return Envelope(start_s, end_s, tuple((20 * np.log10(np.maximum(peaks, floor))).tolist()))


def bars(envelope: Envelope, width: int, rows: int = 1) -> list[str]:
    """Return a bar for each column, as high as the loudest part; the lowest row comes last.

    >>> bars(Envelope(0.0, 1.0, (-60.0, -30.0, 0.0, -60.0)), 4)
    ['▁▄█▁']
    >>> bars(Envelope(0.0, 1.0, (-60.0, 0.0)), 4), bars(Envelope(0.0, 1.0, ()), 3)
    (['▁▁██'], ['▁▁▁'])
    >>> bars(Envelope(0.0, 1.0, (-60.0, -30.0, 0.0)), 3, 2)
    ['  █', '▁██']
    """
    peaks = envelope.peaks_dbfs or (LEAST_DBFS,)
    steps = len(BARS) * rows
    heights = []
    for column in range(width):
        first = column * len(peaks) // width
        last = max((column + 1) * len(peaks) // width, first + 1)
        share = (max(peaks[first:last]) - LEAST_DBFS) / -LEAST_DBFS
        heights.append(max(1, min(steps, round(share * steps))))
    cells = " " + BARS
    return [
        "".join(cells[max(0, min(len(BARS), height - row * len(BARS)))] for height in heights)
        for row in reversed(range(rows))
    ]


CONTEXT_S = 1.0
"""So much of the recording is shown before and after a response, so that its limits can move."""
AXIS_S = 20.0
"""The least length of the axis where there is no time limit."""
Span = tuple[float, float]
"""Start and end."""


@dataclass(frozen=True, slots=True)
class OnsetMark:
    """Where speech begins.

    Attributes:
        latency_s: from the picture to there, or None where the picture's time is unknown.
        uncertainty_s: of a measured one; None where a person set it.
        by: who or what says so.
    """

    at_s: float
    latency_s: float | None = None
    uncertainty_s: float | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class AttemptSpan:
    """One spoken attempt.

    Attributes:
        phonemes: ARPAbet, or empty where it is not transcribed.
        marked: a person said that it begins here; else it is a proposal.
        by_ear: whether the phonemes are those of what a listener heard.
    """

    start_s: float
    end_s: float
    phonemes: tuple[str, ...] = ()
    marked: bool = False
    by_ear: bool = False


@dataclass(frozen=True, slots=True)
class TimedPhoneme:
    """One phoneme of the transcript (ARPAbet), or of a transcriber of words one word.

    Attributes:
        steps: how it differs from the target: (operation, the target's phoneme or empty), with
            those that were left out before it, and at the end after it; none: not compared.
    """

    start_s: float
    end_s: float
    phoneme: str
    steps: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Sound:
    """A response over time.

    Attributes:
        envelope: how loud it is; it may hold a part of the recording before and after.
        limits: of the response, which a person can move; None while it is being given.
        picture_s: when the picture was drawn, second 0 of the axis; None where it is not known.
        limit_s: where the time limit ends, or None.
        onset: of the response, or None where none was found.
        attempts: spoken ones.
        marks: (second, label) of cues (``c1``) and of the question asked again (``r``).
        examiner: stretches in which the administrator speaks.
        phonemes: of the transcript, where it has times and may be shown.
        until_s: the axis reaches at least to there, or None.
        response: tells this response from others, or empty while it is being given.
    """

    envelope: Envelope
    limits: Span | None = None
    picture_s: float | None = None
    limit_s: float | None = None
    onset: OnsetMark | None = None
    attempts: tuple[AttemptSpan, ...] = ()
    marks: tuple[tuple[float, str], ...] = ()
    examiner: tuple[Span, ...] = ()
    phonemes: tuple[TimedPhoneme, ...] = ()
    until_s: float | None = None
    response: str = ""

    @property
    def window(self) -> Span:
        """From where to where it can be shown."""
        return self.envelope.start_s, max(self.envelope.end_s, self.until_s or 0.0)

    @property
    def zero_s(self) -> float:
        """Second 0 of the axis."""
        return self.envelope.start_s if self.picture_s is None else self.picture_s


def stretch_around(take: Take, recorded_s: float) -> Span:
    """Return a response with :data:`CONTEXT_S` before and after it, within the recording.

    >>> from tabwb.records.naming import Take
    >>> stretch_around(Take("r1", 0.5, 3.0), 3.25)
    (0.0, 3.25)
    """
    return max(take.start_s - CONTEXT_S, 0.0), max(
        min(take.end_s + CONTEXT_S, recorded_s), take.end_s
    )


def sound_of(naming: Naming, envelope: Envelope, *, revealed: bool) -> Sound | None:
    """Return the response that counts as the waveform shows it; None where nothing was recorded."""
    view, take = naming.view, naming.view.take
    if take is None:
        return None
    picture, limit = take.shown_s, view.rules.time_limit
    return Sound(
        envelope,
        (take.start_s, take.end_s),
        picture,
        None if picture is None or limit is None else picture + limit,
        onset_of(view),
        tuple(_spans(naming, take, revealed=revealed)),
        marks_of(view),
        view.examiner,
        tuple(_phonemes(naming, take)) if revealed and not naming.by_ear else (),
        response=f"{take.recording} {view.trial.plan.number}",
    )


def awaited(view: NamingView) -> Sound | None:
    """Return a response that is being given, before it is heard; None where nothing is recorded.

    The axis reaches from the picture to the time limit, or to :data:`AXIS_S` without one.
    """
    shown_s = None if view.shown is None else view.shown.at_s
    if shown_s is None:
        return None
    limit = view.rules.time_limit
    return Sound(
        Envelope(shown_s, shown_s, ()),
        picture_s=shown_s,
        limit_s=None if limit is None else shown_s + limit,
        marks=marks_of(view),
        examiner=view.examiner,
        until_s=shown_s + (limit or AXIS_S),
    )


def marks_of(view: NamingView) -> tuple[tuple[float, str], ...]:
    """Return when cues were given and the question was asked again: (second, label)."""
    cues = [(cue.at_s, f"c{cue.cue + 1}") for cue in view.cues if cue.at_s is not None]
    asked = view.re_prompted
    again = [(asked.at_s, "r")] if asked is not None and asked.at_s is not None else []
    return tuple(sorted([*cues, *again]))


def onset_of(view: NamingView) -> OnsetMark | None:
    """Return the onset of the response that counts, or None."""
    take, onset_s = view.take, view.onset_s
    if onset_s is None or take is None:
        return None
    uncertainty_s = take.onset_uncertainty_s if onset_s == take.onset_s else None
    return OnsetMark(onset_s, view.latency_s, uncertainty_s, view.onset_by)


def _spans(naming: Naming, take: Take, *, revealed: bool) -> Iterator[AttemptSpan]:
    """The attempts: those of the transcript once it is revealed, before that the marked ones."""
    if revealed:
        for attempt, reading in zip(naming.attempts, naming.spoken, strict=True):
            start, end = take.start_s + attempt.onset_s, take.start_s + attempt.offset_s
            yield AttemptSpan(start, end, attempt.phonemes, by_ear=reading.ear)
        return
    starts = [at for at in naming.view.marks if take.start_s <= at < take.end_s]
    for start, end in pairwise([*starts, take.end_s]):
        yield AttemptSpan(start, end, marked=True)


def _phonemes(naming: Naming, take: Take) -> Iterator[TimedPhoneme]:
    transcript = naming.transcript
    if transcript is None or not transcript.timed:
        return
    said = [segment for segment in transcript.segments if segment.phoneme not in SILENT]
    steps = _steps(naming, [segment.phoneme for segment in said])
    for place, segment in enumerate(said):
        start, end = take.start_s + segment.start_s, take.start_s + segment.end_s
        yield TimedPhoneme(start, end, segment.phoneme, tuple(steps.get(place, ())))


def _steps(naming: Naming, said: list[str]) -> dict[int, list[tuple[str, str]]]:
    """By place of a phoneme that was said: the steps from the target, none without a distance."""
    distance = naming.distance
    judged = [step.hyp for step in distance.features.steps if step.hyp] if distance else []
    if distance is None or not judged or not naming.is_by_sound:
        return {}
    starts = range(len(said) - len(judged) + 1)
    first = next((at for at in starts if said[at : at + len(judged)] == judged), None)
    if first is None:
        return {}  # an article or a filler was left out between them
    steps: dict[int, list[tuple[str, str]]] = {}
    at, last = first, first + len(judged) - 1
    for step in distance.features.steps:
        steps.setdefault(min(at, last), []).append((step.op, step.ref or ""))
        at += bool(step.hyp)
    return steps
