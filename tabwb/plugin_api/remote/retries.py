"""Pauses between the tries of a request, and the gate that makes all threads wait."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is tried, and the pauses in between.

    Attributes:
        attempts: number of tries.
        first_s: the longest first pause, seconds.
        factor: by which pauses grow.
        longest_s: the longest pause of our own, seconds. A service may ask for ten times as much;
            a request whose service asks for more fails at once.
    """

    attempts: int = 6
    first_s: float = 1.0
    factor: float = 2.0
    longest_s: float = 60.0

    def pause_s(self, attempt: int, retry_after_s: float | None, chance: float) -> float:
        """Return the seconds to wait after a failed attempt.

        min(longest, first x factor^(attempt - 1)) x (1 + chance) / 2, or ``retry_after_s``.

        Args:
            attempt: number of the failed attempt, from 1.
            retry_after_s: the pause that the service asks for, or None.
            chance: jitter in [0, 1), so that many requests do not return at one moment.

        >>> [Retries().pause_s(attempt, None, 0.5) for attempt in (1, 2, 3, 20)]
        [0.75, 1.5, 3.0, 45.0]
        >>> Retries().pause_s(1, 7.0, 0.5)
        7.0
        """
        if retry_after_s is not None:
            return retry_after_s
        pause = self.first_s * math.pow(self.factor, min(attempt - 1, 64))
        return min(self.longest_s, pause) * (1 + chance) / 2

    def too_long(self, retry_after_s: float | None) -> bool:
        """Return whether a service asks for a longer pause than a run should wait for.

        >>> Retries().too_long(None), Retries().too_long(600.0), Retries().too_long(86_400.0)
        (False, False, True)
        """
        return retry_after_s is not None and retry_after_s > 10 * self.longest_s


class Gate:
    """Makes every thread wait while a service asks one of them to wait.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = -math.inf
        self._lock = threading.Lock()

    def close_for(self, seconds: float) -> None:
        """Stay closed for at least so many seconds from now."""
        with self._lock:
            self._until = max(self._until, self._clock() + seconds)

    @property
    def remaining_s(self) -> float:
        """Seconds until the gate opens; 0 when it is open."""
        with self._lock:
            return max(0.0, self._until - self._clock())
