"""A number that may have no value, with the reason why."""

from __future__ import annotations

from dataclasses import dataclass


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
