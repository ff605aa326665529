"""What an interval is about, and an interval that may be missing with the reason why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tabwb.scoring.accuracy import Interval


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
        reason: why there is none, else empty; :data:`DETERMINISTIC` is the one that says that
            there is no error to estimate.

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
