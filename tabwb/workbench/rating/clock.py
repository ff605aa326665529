"""How long a rater works on a sample; pauses are left out."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

PAUSE_S = 180.0
"""After so long without a key a rater is taken to have paused: the rest until the next key does not
count [ours]."""


class WorkClock:
    """Counts the seconds of work on one sample.

    >>> at = 0.0
    >>> clock = WorkClock(lambda: at)
    >>> at = 10.0; clock.touch(); at = 1010.0; clock.touch(); at = 1015.0
    >>> clock.seconds
    195.0
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._since: float | None = now()
        self._counted = 0.0

    def touch(self) -> None:
        """Note that the rater works."""
        self._counted = self.seconds
        self._since = self._now()

    def hold(self) -> None:
        """Stop: something else covers the sample. :meth:`touch` continues."""
        self._counted, self._since = self.seconds, None

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        if self._since is None:
            return self._counted
        return self._counted + min(self._now() - self._since, PAUSE_S)
