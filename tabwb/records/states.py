"""The states of the things tabwb keeps. Each is a separate value, never an empty one or a 0."""

from __future__ import annotations

from enum import StrEnum


class AdministrationStatus(StrEnum):
    """State of an administration, derived from its events."""

    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    DISCONTINUED = "discontinued"


class TrialState(StrEnum):
    """State of one presentation of one item."""

    PLANNED = "planned"
    ANSWERED = "answered"
    SKIPPED = "skipped"
    VOID = "void"
    NOT_ADMINISTERED = "not-administered"


class AttemptState(StrEnum):
    """Whether a reply can count. An attempt in error leaves its trial unanswered."""

    OK = "ok"
    ERROR = "error"
    VOID = "void"


class ResponseStatus(StrEnum):
    """Status of a response, from the stop reason and rules."""

    OK = "ok"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    NOT_LANGUAGE = "not-language"
    PROMPT_ECHO = "prompt-echo"
    REPEATED_ANSWER = "repeated-answer"
    """The same text was given to three or more different prompts of one administration."""
    DEGENERATE = "degenerate"
    """One word or phrase fills half the text or more, or there are function words alone."""

    @property
    def usable(self) -> bool:
        """Whether the response can be described: *ok* or *truncated*.

        The features of an unusable response are undefined, whoever rates it.

        >>> ResponseStatus.TRUNCATED.usable, ResponseStatus.REFUSED.usable
        (True, False)
        """
        return self in (ResponseStatus.OK, ResponseStatus.TRUNCATED)


class StopReason(StrEnum):
    """Why a model stopped generating."""

    END = "end"
    LENGTH = "length"
    STOP_STRING = "stop-string"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    ERROR = "error"
    NONE = "none"
    """No machine stopped it: a person answered."""


class RatingStatus(StrEnum):
    """Kind of a rating; only ``value`` has a number."""

    VALUE = "value"
    UNPARSED = "unparsed"
    ERROR = "error"
    UNDEFINED = "undefined"


class Protocol(StrEnum):
    """How a response is obtained from a model."""

    GENERATE = "generate"
    ENFORCED = "enforced"
    LIKELIHOOD = "likelihood"


class ResponseKind(StrEnum):
    """The kinds of response of tabwb's own task types; plugins may add others.

    The modules of :mod:`tabwb.tasks` declare them.
    """

    CHOICE = "choice"
    YES_NO = "yes-no"
    VERBATIM = "verbatim"
    CONNECTED_TEXT = "connected-text"
    SPOKEN_NAMING = "naming"
    FREE = "free"
    DESCRIPTION = "description"
