"""Requests of one subject that another one fulfils; sent with :meth:`Desk.tell`."""

from __future__ import annotations

from dataclasses import dataclass

from tabwb.records.trials import Trial


@dataclass(frozen=True, slots=True)
class VerdictsWanted:
    """What every judge says of one response is to be shown."""

    number: int
    trial: Trial


@dataclass(frozen=True, slots=True)
class PlaybackWanted:
    """The recorded response to one trial is to be played, or stopped."""

    number: int
    trial: int


@dataclass(frozen=True, slots=True)
class ListenerInput:
    """A person who listens to a stored response scores it, codes it or writes what was heard.

    Attributes:
        number: of the administration.
        trial: its number there.
        what: a score, ``heard``, ``code``, ``not-scorable``, or ``rater``: another person listens.
        rater: the study ID of the person; empty: the one who gave the administration.
        target: the name of the picture.
        code: of the response so far, or empty.
        flags: beside the code.
        rules_seen: whether the person has seen what the rules say of the response.
    """

    number: int
    trial: int
    what: str
    rater: str
    target: str
    code: str = ""
    flags: tuple[str, ...] = ()
    rules_seen: bool = False


@dataclass(frozen=True, slots=True)
class ListenerChanged:
    """Another person listens to the responses of an administration from now on."""

    number: int
    rater: str


@dataclass(frozen=True, slots=True)
class ExportWanted:
    """The responses of administrations are to be written to a file.

    Attributes:
        numbers: of the administrations.
        what: is exported, in words.
        name: of the proposed file, without its ending.
        people: whether people gave the responses, so that consent matters.
    """

    numbers: tuple[int, ...]
    what: str
    name: str
    people: bool


@dataclass(frozen=True, slots=True)
class KeepRecordings:
    """Interrupted recordings of an administration are to be kept."""

    number: int
