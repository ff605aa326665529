"""The ratings of a trial as other tools have scores: by rater, with numbers and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum, sqrt
from typing import Any


@dataclass(slots=True)
class Scores:
    """What one rater says of one response.

    Attributes:
        values: measure to number; None where it is undefined, unparsed or in error.
        reasons: measure to reason, where there is one.
        statuses: measure to status, where it is not ``value``.
    """

    values: dict[str, float | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)

    @property
    def explanation(self) -> str:
        """Measures with their reasons, one in a line."""
        return "\n".join(f"{measure}: {reason}" for measure, reason in self.reasons.items())


def scores_of(trial: Mapping[str, Any]) -> dict[str, Scores]:
    """Return the scores of a trial by rater, in the order of its ratings."""
    scores: dict[str, Scores] = {}
    for rating in trial["ratings"]:
        own = scores.setdefault(rating["rater"], Scores())
        measure = rating["measure"]
        own.values[measure] = rating["value"]
        if rating["reason"]:
            own.reasons[measure] = rating["reason"]
        if rating["status"] != "value":
            own.statuses[measure] = rating["status"]
    return scores


@dataclass(slots=True)
class Mean:
    """The mean of the scores of a measure, and its standard error, as they come in.

    >>> mean = Mean()
    >>> for value in (1.0, 0.0, None, 1.0, 1.0): mean.add(value)
    >>> mean.n, mean.missing, mean.value, mean.standard_error
    (4, 1, 0.75, 0.25)
    """

    _values: dict[float, int] = field(default_factory=dict)
    missing: int = 0

    def add(self, value: float | None) -> None:
        """Count a score."""
        if value is None:
            self.missing += 1
        else:
            self._values[value] = self._values.get(value, 0) + 1

    @property
    def n(self) -> int:
        """How many scores have a number."""
        return sum(self._values.values())

    @property
    def value(self) -> float | None:
        """The arithmetic mean; None without scores."""
        n = self.n
        return fsum(value * count for value, count in self._values.items()) / n if n else None

    @property
    def standard_error(self) -> float | None:
        """``sqrt(sum (x - mean)^2 / (n - 1) / n)``; None for fewer than two scores."""
        n, mean = self.n, self.value
        if mean is None or n < 2:
            return None
        squares = fsum((value - mean) ** 2 * count for value, count in self._values.items())
        return sqrt(squares / (n - 1) / n)
