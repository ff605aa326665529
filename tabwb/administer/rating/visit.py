"""The time that a rater spends on a sample, over all visits to it."""

from __future__ import annotations

from collections.abc import Callable

Clock = Callable[[], float]
"""Returns seconds."""


class Visit:
    """Counts the seconds of one visit; pauses are left out.

    >>> at = 0.0
    >>> visit = Visit(lambda: at)
    >>> visit.begin(10); at = 5.0; visit.pause(); at = 99.0
    >>> visit.total(), visit.total(2.5)
    (15.0, 12.5)
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._before = self._spent = 0.0
        self._since: float | None = None

    def begin(self, before: float) -> None:
        """Begin a visit after so many seconds of earlier ones."""
        self._before, self._spent, self._since = before, 0.0, self._clock()

    def end(self) -> None:
        """Count no more: nothing is shown."""
        self._since = None

    def pause(self) -> None:
        """Stop: the rater is away from the screen."""
        self._spent, self._since = self._seconds, None

    def resume(self) -> None:
        """Go on."""
        if self._since is None:
            self._since = self._clock()

    def total(self, seconds: float | None = None) -> float:
        """Return the seconds of all visits; ``seconds`` of this one, where the caller counts."""
        return self._before + (self._seconds if seconds is None else seconds)

    @property
    def _seconds(self) -> float:
        return self._spent + (0.0 if self._since is None else self._clock() - self._since)
