"""Progress on stderr: a line that renews itself on a terminal; elsewhere one for each 5 %."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from tabwb.cli.common import note, renew_line
from tabwb.records import events
from tabwb.records.states import AttemptState

if TYPE_CHECKING:
    from tabwb.administer.spending import Spending


STEPS = 20
"""Lines of a whole administration elsewhere than on a terminal: one for each 5 %."""


class Progress:
    """Shows ``item 7/20`` with what is left of the time, fed with the engine's events.

    Args:
        planned: items of the administration.
        answered: of these, how many are answered already.
        quiet: report only what went wrong.
        each: elsewhere than on a terminal, one line for each item.
        spending: what the run has taken so far.
    """

    def __init__(
        self,
        planned: int,
        answered: int,
        spending: Spending,
        *,
        quiet: bool = False,
        each: bool = False,
    ) -> None:
        self._planned = planned
        self._done = answered
        self._given = 0
        self._first = 0.0
        self._quiet = quiet
        self._each = each
        self._step = -1
        self._live = sys.stderr.isatty() and not quiet
        self._place = ""
        self._spending = spending

    def show(self, event: events.Event) -> None:
        """Take note of one event."""
        self._spending = self._spending.after(event)
        if isinstance(event, events.TrialStarted):
            self._place = f"{event.trial.subtest} {event.trial.item}"
            self._line(event.trial.number)
        elif isinstance(event, events.Waiting):
            self._say(f"item {event.trial}: {event.reason}, waiting {event.seconds:.0f} s")
        elif isinstance(event, events.AttemptRecorded):
            self._given += 1
            if self._given == 1:
                self._first = time.monotonic()
            if event.attempt.state is AttemptState.ERROR:
                first, *_ = event.attempt.error.splitlines() or ["no reason was given"]
                self._say(f"item {event.trial} in error: {first}")
            else:
                self._done += 1

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._live:
            renew_line()

    def _line(self, number: int) -> None:
        if self._quiet or not (self._live or self._each or self._is_due(number)):
            return
        text = f"item {number}/{self._planned}  {self._place}{self._spent()}{self._remaining()}"
        if self._live:
            renew_line(text[:78])
        else:
            note(text)

    def _is_due(self, number: int) -> bool:
        """Whether this item is the first of this run, or begins another 5 % of all items."""
        step = number * STEPS // max(self._planned, 1)
        due = step > self._step
        self._step = max(step, self._step)
        return due

    def _say(self, message: str) -> None:
        if self._live:
            renew_line()
        note(message)

    def _spent(self) -> str:
        """Requests under way and what they have taken."""
        from tabwb.administer.spending import told

        said = told(self._spending)
        return f"  {said}" if said else ""

    def _remaining(self) -> str:
        # The first item pays for loading the model: the estimate is made of those after it.
        if self._given < 3:
            return ""
        each = (time.monotonic() - self._first) / (self._given - 1)
        return time_left(each * max(self._planned - self._done, 0))


class Countdown:
    """Shows ``response 7/20`` with what is left of the time, one call for each that is done.

    Args:
        what: is counted.
        planned: how many there are.
    """

    def __init__(self, what: str, planned: int) -> None:
        self._what, self._planned, self._done = what, planned, 0
        self._began = time.monotonic()
        self._live = sys.stderr.isatty()

    def one(self) -> None:
        """One more is done."""
        self._done += 1
        each = (time.monotonic() - self._began) / self._done
        text = f"{self._what} {self._done}/{self._planned}"
        text += time_left(each * (self._planned - self._done))
        if self._live:
            renew_line(text)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._live:
            renew_line()


def time_left(seconds: float) -> str:
    """What is left of the time, in words with two spaces before them; nothing below 2 s.

    >>> time_left(1), time_left(30), time_left(600), time_left(7200)
    ('', '  about 30 s left', '  about 10 min left', '  about 2.0 h left')
    """
    if seconds < 2:
        return ""
    if seconds < 90:
        return f"  about {seconds:.0f} s left"
    minutes = seconds / 60
    if minutes < 90:
        return f"  about {minutes:.0f} min left"
    return f"  about {minutes / 60:.1f} h left"
