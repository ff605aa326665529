"""Ratings: what one rater gives to one measure of one response."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tabwb.records.states import RatingStatus


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
    """Return a rating with a number (True and False become 1.0 and 0.0)."""
    return Rating(rater, measure, float(value), RatingStatus.VALUE, reason)


def undefined(rater: str, measure: str, reason: str) -> Rating:
    """Return a rating for which the measure has no value, with the reason why."""
    return Rating(rater, measure, None, RatingStatus.UNDEFINED, reason)


def failed(rater: str, measure: str, reason: str) -> Rating:
    """Return a rating that could not be made because the rater failed."""
    return Rating(rater, measure, None, RatingStatus.ERROR, reason)
