"""Ratings of responses, judgements of models, and what raters declare about themselves."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Literal

from tabwb.records.states import RatingStatus, StopReason

Scope = Literal["connected-text", "all"]
"""Over which answers a burden is computed: connected text only, or all that the rater rated."""
RaterKind = Literal["judge", "scorer", "person"]
TAKEN_BACK = "taken back"
"""The reason of a rating whose person took it back."""
PROBABILITY = ".probability"
"""Ends the measure with which a judge tells a feature's probability beside its verdict."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a rater declared when it rated; kept with the administration, never changed.

    Attributes:
        rater: its id in the ratings.
        features: of a judge the fixed set of its burden: every feature that it can call present
            *and* absent. Of a scorer the one measure that decides, or nothing where it decides
            nothing; a scorer without a declaration decides by ``exact``.
        scope: over which answers the burden is computed.
        kind: what the rater is.
        caution: the sentence shown with its verdicts, or empty.
        prompt_text: the canonical text of everything that the rater's model is given besides the
            response; empty for a rater without a model.
    """

    rater: str
    features: tuple[str, ...]
    scope: Scope = "connected-text"
    kind: RaterKind = "judge"
    caution: str = ""
    prompt_text: str = ""

    @property
    def prompt_hash(self) -> str | None:
        """SHA-256 (hex) of the prompt's text, or None where there is none.

        >>> Declaration("rules-1", ("jargon",)).prompt_hash is None
        True
        """
        return prompt_hash(self.prompt_text)


def prompt_hash(text: str) -> str | None:
    """Return the SHA-256 (hex) of a prompt's canonical text, or None without a text."""
    return hashlib.sha256(text.encode()).hexdigest() if text else None


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater, one measure, one response.

    Attributes:
        rater: the spec of the scorer or judge, or a person's study id.
        measure: what was rated (``exact``, ``perseverations``, ``ttr``).
        value: a finite number when ``status`` is ``value``, else None. Verdicts are 1.0 and 0.0.
        status: see :class:`RatingStatus`.
        reason: for people: the words that fired, the error, why it is undefined; may be empty.
    """

    rater: str
    measure: str
    value: float | None
    status: RatingStatus
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.value is None) == (self.status is RatingStatus.VALUE):
            raise ValueError(f"a rating has a value exactly when its status is 'value': {self!r}")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"a rating's value is a finite number, or undefined: {self!r}")


def valued(rater: str, measure: str, value: float | bool, reason: str = "") -> Rating:
    """Return a rating with a number (True and False become 1.0 and 0.0).

    Args:
        rater: id of the rater.
        measure: what was rated.
        value: a finite number or a verdict.
        reason: for people.
    """
    return Rating(rater, measure, float(value), RatingStatus.VALUE, reason)


def undefined(rater: str, measure: str, reason: str) -> Rating:
    """Return a rating for which the measure has no value, with the reason why.

    Args:
        rater: id of the rater.
        measure: what was rated.
        reason: for people.
    """
    return Rating(rater, measure, None, RatingStatus.UNDEFINED, reason)


def failed(rater: str, measure: str, reason: str) -> Rating:
    """Return a rating that could not be made because the rater failed.

    Args:
        rater: id of the rater.
        measure: what was rated.
        reason: for people.
    """
    return Rating(rater, measure, None, RatingStatus.ERROR, reason)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One call of a judge for one response.

    Attributes:
        rater: the judge's resolved spec.
        ratings: one for each measure.
        repeat: 0 for the judgement whose ratings count; 1 and up ask the same again to see how far
            the judge agrees with itself.
        prompt_text: everything that is put to the model besides the response (canonical JSON).
        raw: the model's reply, unaltered.
        first_raw: the words that could not be read before a repair was asked for; else empty.
        repaired, structured: see :class:`tabwb.plugin_api.components.Verdict`.
        stop_reason: why the last reply ended.
        requests: number of requests; 0 if the verdict was copied from another one.
        prompt_tokens, reply_tokens: of all requests together, or None where not counted.
        latency_s: seconds, of all requests together.
        key: SHA-256 (hex) of judge and exact request, equal for equal calls.
        same_as: id of the earlier judgement of the same key that this one was taken from, or None.
        id: in the store; 0 before it is there.
        recorded_at: UTC, ISO 8601; empty before it is there.
    """

    rater: str
    ratings: tuple[Rating, ...]
    repeat: int = 0
    prompt_text: str = ""
    raw: str = ""
    first_raw: str = ""
    repaired: bool = False
    structured: bool = False
    stop_reason: StopReason = StopReason.END
    requests: int = 1
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    latency_s: float = 0.0
    key: str = ""
    same_as: int | None = None
    id: int = 0
    recorded_at: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement with the trial and the attempt, by number, that it judges."""

    trial: int
    attempt: int
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class FailedRater:
    """A scorer or judge that failed on ``n`` of ``of`` answers; ``reason`` is of the first one."""

    rater: str
    n: int
    of: int
    reason: str

    def __str__(self) -> str:
        return f"'{self.rater}' failed on {self.n} of {self.of} responses: {self.reason}"
