"""Entries: what the engine hands to the store, one after the other, never changed afterwards.

Attempts and events of one administration share one sequence, numbered from 1 in the order in which
they were appended. Ratings belong to an attempt and take no number, nor do declarations of raters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tabwb.records.ratings import Declaration, Rating
from tabwb.records.trials import Attempt

EventKind = Literal[
    "model-opened",
    "trial-started",
    "skipped",
    "not-needed",
    "voided",
    "undone",
    "noted",
    "observed",
    "paused",
    "resumed",
    "discontinued",
    "finished",
]


@dataclass(frozen=True, slots=True)
class AttemptEntry:
    """What came back for a trial.

    Attributes:
        trial: number of the trial.
        attempt: its number within the trial must be new.
    """

    trial: int
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class RatingsEntry:
    """Ratings of one attempt; for the same attempt and rater a later entry replaces an earlier one.

    Attributes:
        trial, attempt: numbers of the trial and of the attempt within it.
        ratings: by one or several raters; per rater the whole of what it says.
    """

    trial: int
    attempt: int
    ratings: tuple[Rating, ...]


@dataclass(frozen=True, slots=True)
class DeclarationEntry:
    """What a rater says of itself, beside its first ratings; of one rater the last one holds."""

    declaration: Declaration


@dataclass(frozen=True, slots=True)
class EventEntry:
    """Something that happened besides an answer.

    Attributes:
        kind: what happened.
        trial: number of the trial, or None for the whole administration.
        text: reason, note, or as JSON the model's facts (``model-opened``) or what was seen and
            heard of a person (``observed``, :mod:`tabwb.records.naming`).
        undoes: of an ``undone`` event, the sequence number of what it takes back.
    """

    kind: EventKind
    trial: int | None = None
    text: str = ""
    undoes: int | None = None

    def __post_init__(self) -> None:
        if (self.kind == "undone") == (self.undoes is None):
            raise ValueError(f"exactly an 'undone' event names what it undoes: {self!r}")


NumberedEntry = AttemptEntry | EventEntry
"""The entries that take a number of the administration's sequence."""
Entry = AttemptEntry | RatingsEntry | DeclarationEntry | EventEntry
