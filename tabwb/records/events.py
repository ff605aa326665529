"""Events: what happened in an administration, made by the engine after each commit.

The command line and the workbench show them; observers of plugins are called with them.
``Streamed``, ``Waiting`` and ``Asked`` are transient: they are never stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tabwb.records.ratings import Judgement, Rating
from tabwb.records.trials import Attempt, PlannedTrial

if TYPE_CHECKING:
    from tabwb.records.naming import Observation


@dataclass(frozen=True, slots=True)
class Event:
    """An event in one administration.

    Attributes:
        administration: its number in the store.
        uid: its UUIDv7, unique across stores.
        examinee: the model's spec, or the speaker's study ID.
        battery, battery_version: what is given.
        store: where it is kept: a path, or a URL without its password.
        task: what the item of the event asks for (``choice``, ``yes-no``, ``verbatim``,
            ``connected-text``, ``description``, ``naming``, ``free``);
            empty where the event is not of one item.
        trial: its number in the administration; None for the administration as a whole.
        attempt: its number within the trial.
        reason: why; may be empty.
    """

    administration: int
    uid: str = field(default="", kw_only=True, compare=False, repr=False)
    examinee: str = field(default="", kw_only=True, compare=False, repr=False)
    battery: str = field(default="", kw_only=True, compare=False, repr=False)
    battery_version: str = field(default="", kw_only=True, compare=False, repr=False)
    store: str = field(default="", kw_only=True, compare=False, repr=False)
    task: str = field(default="", kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TrialStarted(Event):
    """The examinee got a trial; ``trial`` is the trial as planned, with its number."""

    trial: PlannedTrial


@dataclass(frozen=True, slots=True)
class Streamed(Event):
    """A piece of a reply arrived (transient)."""

    trial: int
    text: str


@dataclass(frozen=True, slots=True)
class Waiting(Event):
    """The back end waits before it continues with a trial (transient): a rate limit, a retry.

    Attributes:
        seconds: how long it waits.
        voids: the pieces before it are void; False where the service is silent, and the reply may
            go on.
    """

    trial: int
    seconds: float
    reason: str
    voids: bool = True


@dataclass(frozen=True, slots=True)
class Asked(Event):
    """A back end got several trials together (transient); replies come one by one.

    Attributes:
        at_once: the number that the back end processes at one time, or None if unknown.
    """

    trials: tuple[int, ...]
    at_once: int | None = None


@dataclass(frozen=True, slots=True)
class AttemptRecorded(Event):
    """An attempt is in the store; ``attempt`` is the attempt itself."""

    trial: int
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Rated(Event):
    """Scorers, judges or a person have rated an attempt."""

    trial: int
    attempt: int
    ratings: tuple[Rating, ...]


@dataclass(frozen=True, slots=True)
class JudgementRecorded(Event):
    """A judge with a model has judged a response."""

    trial: int
    attempt: int
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class TrialSkipped(Event):
    """A trial was skipped."""

    trial: int
    reason: str


@dataclass(frozen=True, slots=True)
class TrialVoided(Event):
    """A trial was declared void; what was recorded stays and does not count."""

    trial: int
    reason: str


@dataclass(frozen=True, slots=True)
class Undone(Event):
    """The last command was taken back; its rows stay.

    Attributes:
        what: what was taken back (``the answer``, ``the skip``).
    """

    trial: int | None
    what: str


@dataclass(frozen=True, slots=True)
class Noted(Event):
    """A note was written."""

    trial: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Observed(Event):
    """An observation of a person: a cue, an onset, a score, a code, a transcript."""

    trial: int | None
    observation: Observation


@dataclass(frozen=True, slots=True)
class Paused(Event):
    """The administration is paused; it can be resumed."""

    reason: str


@dataclass(frozen=True, slots=True)
class Resumed(Event):
    """A paused administration continues."""


@dataclass(frozen=True, slots=True)
class Discontinued(Event):
    """The administration was ended early; trials not yet given are *not administered*."""

    reason: str


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """Every planned trial is answered, skipped or void."""
