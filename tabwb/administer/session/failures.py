"""Raters that failed: which scorer or judge could not rate how many of the answers, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tabwb.records.states import RatingStatus
from tabwb.records.trials import Trial


@dataclass(frozen=True, slots=True)
class FailedRater:
    """A scorer or judge that gave ratings in error.

    Attributes:
        rater: its spec.
        n: answers that it failed on.
        of: answers that it was given.
        reason: of the first failure.
    """

    rater: str
    n: int
    of: int
    reason: str

    def __str__(self) -> str:
        return f"'{self.rater}' failed on {self.n} of {self.of} responses: {self.reason}"


def failed_raters(
    trials: Iterable[Trial], except_for: Collection[str] = ()
) -> tuple[FailedRater, ...]:
    """Return the raters with ratings in error, in the order in which they come.

    Args:
        trials: with the ratings of the attempts that count.
        except_for: raters whose failures are reported elsewhere.
    """
    given: dict[str, int] = {}
    failures: dict[str, list[str]] = {}
    for trial in trials:
        seen: dict[str, str | None] = {}
        for rating in trial.ratings:
            if rating.status is RatingStatus.ERROR:
                seen[rating.rater] = seen.get(rating.rater) or rating.reason
            elif rating.rater not in seen:
                seen[rating.rater] = None
        for rater, reason in seen.items():
            given[rater] = given.get(rater, 0) + 1
            if reason is not None and rater not in except_for:
                failures.setdefault(rater, []).append(reason)
    return tuple(
        FailedRater(rater, len(reasons), given[rater], reasons[0])
        for rater, reasons in failures.items()
    )
