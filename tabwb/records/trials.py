"""Administrations, trials and attempts, and the entries that the engine hands to the store.

Entries are appended one after the other and never changed. Attempts and events of one
administration share one sequence, numbered from 1 in the order in which they were appended. Ratings
belong to an attempt and take no number, nor do declarations of raters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.exchange import REASONING, Message
from tabwb.records.ratings import Declaration, Rating
from tabwb.records.states import (
    AdministrationStatus,
    AttemptState,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.words import did_you_mean

IDENTITY = (
    "model", "revision", "weights_sha256", "file_sha256", "dtype", "template", "template_sha256",
)  # fmt: skip
"""The facts of a model that must not change between a run and its resumption."""
HASHES = ("weights_sha256", "tokenizer_sha256")
"""The facts that are equal where a model is the same at another path."""


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """One presentation of one item, planned before the first prompt is sent.

    Attributes:
        practice: given for practice; never counted.
    """

    number: int
    subtest: str
    item: str
    replicate: int
    options: tuple[str, ...]
    prompt: str
    practice: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply or response. None is overwritten; of several the last one in state ``ok`` counts.

    Attributes:
        number: 1-based within the trial.
        response: the text; empty when in error.
        state: whether it can count.
        status: the status of the text, or None if in error.
        latency_s: seconds from prompt to end (of a spoken answer: from picture to onset), or None
            where unknown.
        messages: the exact messages sent (empty for a person).
    """

    number: int
    response: str
    state: AttemptState
    status: ResponseStatus | None
    stop_reason: StopReason
    latency_s: float | None
    messages: tuple[Message, ...] = ()
    error: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    recorded_at: str = ""

    @property
    def reasoning(self) -> str:
        """What the model wrote in its thinking, which is not part of the response; or empty."""
        return self.metadata.get(REASONING, "")


@dataclass(frozen=True, slots=True)
class Trial:
    """A planned trial with what has happened to it so far.

    ``ratings`` are those of the attempt that counts; ``observations`` what was seen and heard of a
    person and not taken back, in order, as JSON (:mod:`tabwb.records.naming`).
    """

    plan: PlannedTrial
    state: TrialState = TrialState.PLANNED
    attempts: tuple[Attempt, ...] = ()
    ratings: tuple[Rating, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    observations: tuple[str, ...] = ()

    @property
    def counting(self) -> Attempt | None:
        """The attempt that counts: the last one in state ok, or None."""
        for attempt in reversed(self.attempts):
            if attempt.state is AttemptState.OK:
                return attempt
        return None

    @property
    def is_answered(self) -> bool:
        """Whether it has an answer that counts; practice never does."""
        is_answered = self.state is TrialState.ANSWERED and not self.plan.practice
        return is_answered and self.counting is not None


@dataclass(frozen=True, slots=True)
class Administration:
    """One battery given to one examinee under stated conditions.

    Attributes:
        status: derived from events.
        battery, battery_version, battery_hash, battery_title: what is given.
        planned, answered: numbers of trials (practice not counted).
        versions: package versions at creation (``tabwb``, ``python``, ``torch`` ...).
        interrupted: its status is *running*, and no session holds it: the process that gave it was
            killed. It can be resumed. Seen when it is read, never stored.
    """

    id: int
    uid: str
    status: AdministrationStatus
    battery: str
    battery_version: str
    battery_hash: str
    battery_title: str
    conditions: Conditions
    created_at: str
    planned: int
    answered: int
    versions: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    interrupted: bool = False
    title: str = ""
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def status_word(self) -> str:
        """Its status for people: *interrupted* where it only seems to run."""
        return "interrupted" if self.interrupted else self.status.value

    @property
    def session_date(self) -> str:
        """The day on which the answers were given, ISO 8601; empty where it is not known."""
        stated = self.conditions.session_date
        return self.created_at[:10] if stated is None else stated

    @property
    def given_at(self) -> str:
        """When the answers were given, for lists: day and minute (UTC), or the day alone."""
        if self.conditions.session_date is None:
            return self.created_at[:16].replace("T", " ")
        return self.session_date or "date not known"


EventKind = Literal[
    "model-opened", "trial-started", "skipped", "not-needed", "voided", "undone", "noted",
    "titled", "tagged", "untagged", "observed", "paused", "resumed", "discontinued", "finished",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class AttemptEntry:
    """The response, or the failure, of one presentation; the attempt's number is new."""

    trial: int
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class RatingsEntry:
    """Ratings of one attempt; for the same attempt and rater a later entry replaces an earlier one.

    ``ratings`` hold, of each rater in it, all that it says.
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
    """Something that happened besides an answer."""

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


LONGEST_TAG = 64
LONGEST_TITLE = 200
MARKS: frozenset[EventKind] = frozenset({"titled", "tagged", "untagged"})
"""Kinds of events that change a title or tags."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What people call an administration.

    Attributes:
        title: free text, or empty.
        tags: in the order given.
    """

    title: str = ""
    tags: tuple[str, ...] = ()


def marks_of(events: Iterable[tuple[str, str]]) -> Marks:
    """Return the title and the tags after events, each its kind and its text, in order.

    >>> marks_of([("tagged", "pilot"), ("titled", "First"), ("tagged", "a"), ("untagged", "a")])
    Marks(title='First', tags=('pilot',))
    """
    title = ""
    tags: dict[str, None] = {}
    for kind, text in events:
        if kind == "titled":
            title = text
        elif kind == "tagged":
            tags[text] = None
        elif kind == "untagged":
            tags.pop(text, None)
    return Marks(title, tuple(tags))


def check_tag(tag: str) -> str:
    """Return a tag without spaces around it."""
    text = tag.strip()
    if (
        not text
        or len(text) > LONGEST_TAG
        or not text.isprintable()
        or any(sign.isspace() or sign == "," for sign in text)
    ):
        raise UsageError(
            f"'{tag}' cannot be a tag",
            allowed=f"1 to {LONGEST_TAG} letters, digits and signs without spaces and commas, "
            "for example pilot",
        )
    return text


def check_title(title: str) -> str:
    """Return a title without spaces around it; an empty one removes the title."""
    text = title.strip()
    if len(text) > LONGEST_TITLE or not text.isprintable():
        raise UsageError(
            f"'{title[:40]}' cannot be a title", allowed=f"one line of up to {LONGEST_TITLE} signs"
        )
    return text


def changes(
    marks: Marks,
    *,
    title: str | None = None,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
) -> tuple[EventEntry, ...]:
    """Return the events that change a title and tags; nothing for what is so already.

    >>> [event.kind for event in changes(Marks(tags=("a",)), title="T", add=["a", "b"])]
    ['titled', 'tagged']
    """
    made: list[EventEntry] = []
    if title is not None and check_title(title) != marks.title:
        made.append(EventEntry("titled", None, check_title(title)))
    there = dict.fromkeys(marks.tags)
    for tag in map(check_tag, add):
        if tag not in there:
            made.append(EventEntry("tagged", None, tag))
            there[tag] = None
    for tag in map(check_tag, remove):
        if tag not in there:
            raise UsageError(
                f"there is no tag '{tag}'" + did_you_mean(tag, marks.tags),
                allowed=", ".join(marks.tags) or "it has no tags",
            )
        made.append(EventEntry("untagged", None, tag))
        del there[tag]
    return tuple(made)
