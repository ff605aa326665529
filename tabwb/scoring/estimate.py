"""Values and intervals that may be missing, with the reason why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, or None with the reason why there is none. Undefined is never 0.

    >>> Estimate(0.5).defined, Estimate(None, "no items").defined
    (True, False)
    """

    value: float | None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError("an estimate without a value needs a reason")

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None


def ratio(numerator: float, denominator: float, reason: str) -> Estimate:
    """Return ``numerator / denominator``, undefined where the denominator is 0.

    Args:
        numerator: any number.
        denominator: any number.
        reason: why there is no value, where the denominator is 0.

    >>> ratio(1, 4, "nothing counted")
    Estimate(value=0.25, reason='')
    >>> ratio(0, 0, "nothing counted")
    Estimate(value=None, reason='nothing counted')
    """
    return Estimate(numerator / denominator) if denominator else Estimate(None, reason)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, its ends included."""

    low: float
    high: float


class Estimand(StrEnum):
    """The quantity that an interval is for. Every printed interval names it.

    Attributes:
        PROMPTS_LIKE_THESE: the mean over all prompts of this kind. The items are a sample, so the
            interval includes how much items differ from each other. The default.
        THESE_PROMPTS: the mean over exactly these items, if each were answered infinitely often.
            The interval includes only how much new draws of the same prompts vary: for
            repeatability, and for a lesion against the intact model.
    """

    PROMPTS_LIKE_THESE = "prompts like these"
    THESE_PROMPTS = "these prompts"


DETERMINISTIC = "deterministic"
"""Nothing was drawn: another run of these prompts gives the same answers."""
ONE_ITEM = "one item: how much items differ is unknown"
NO_VALUE = "no item has a value"
ONE_RESPONSE = "one response per item: how much draws differ is unknown"


@dataclass(frozen=True, slots=True)
class EstimatedInterval:
    """A 95 % interval with its estimand, or the reason why there is none.

    Attributes:
        estimand: what the interval is for.
        interval: its ends, included; None where there is none.
        reason: why there is none, else empty; :data:`DETERMINISTIC` where there is no error to
            estimate.

    >>> EstimatedInterval(Estimand.THESE_PROMPTS, None, DETERMINISTIC).deterministic
    True
    """

    estimand: Estimand
    interval: Interval | None
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.interval is None) != bool(self.reason):
            raise ValueError("an interval is missing exactly when there is a reason")

    @property
    def deterministic(self) -> bool:
        """Whether there is no interval because nothing was drawn."""
        return self.reason == DETERMINISTIC
