"""Events: frozen facts, made by the engine after each commit and shown by its two faces.

``Streamed``, ``Waiting`` and ``Asked`` are transient: they are shown and never stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from tabwb.records.judgements import Judgement
from tabwb.records.naming import Observation
from tabwb.records.ratings import Rating
from tabwb.records.trials import Attempt, PlannedTrial


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in one administration."""

    administration: int


@dataclass(frozen=True, slots=True)
class TrialStarted(Event):
    """A trial was put before the examinee."""

    trial: PlannedTrial


@dataclass(frozen=True, slots=True)
class Streamed(Event):
    """A piece of a reply arrived (transient)."""

    trial: int
    text: str


@dataclass(frozen=True, slots=True)
class Waiting(Event):
    """The back end rests before it goes on with a trial (transient): a rate limit, a retry."""

    trial: int
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Asked(Event):
    """Several trials were put to a back end together (transient); answers come one by one.

    ``at_once`` is how many of them the back end has under way at one time, where it tells.
    """

    trials: tuple[int, ...]
    at_once: int | None = None


@dataclass(frozen=True, slots=True)
class AttemptRecorded(Event):
    """What came back is safe in the store."""

    trial: int
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Rated(Event):
    """Scorers and judges have rated an attempt."""

    trial: int
    attempt: int
    ratings: tuple[Rating, ...]


@dataclass(frozen=True, slots=True)
class JudgementRecorded(Event):
    """A judge behind which a model stands has judged an answer."""

    trial: int
    attempt: int
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class TrialSkipped(Event):
    """A trial was passed over, for a reason."""

    trial: int
    reason: str


@dataclass(frozen=True, slots=True)
class TrialVoided(Event):
    """A trial was declared void, for a reason; what was recorded stays and does not count."""

    trial: int
    reason: str


@dataclass(frozen=True, slots=True)
class Undone(Event):
    """The last command was taken back; its rows stay. ``trial`` is None for a discontinuation."""

    trial: int | None
    what: str


@dataclass(frozen=True, slots=True)
class Noted(Event):
    """A note was written; ``trial`` is None for a note on the whole."""

    trial: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Observed(Event):
    """Something was seen or heard of a person; ``trial`` is None for the whole administration."""

    trial: int | None
    observation: Observation


@dataclass(frozen=True, slots=True)
class Paused(Event):
    """The administration rests; it can be resumed."""

    reason: str


@dataclass(frozen=True, slots=True)
class Resumed(Event):
    """The administration goes on."""


@dataclass(frozen=True, slots=True)
class Discontinued(Event):
    """The administration was ended early; trials not yet given are *not administered*."""

    reason: str


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """Every planned trial has been dealt with."""
