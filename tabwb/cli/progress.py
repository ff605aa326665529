"""Progress on stderr: a line that renews itself on a terminal; elsewhere one for each 5 %."""

from __future__ import annotations

import sys
import time

from tabwb.administer.cost import Spending, format_spending
from tabwb.cli.common import note, renew_line
from tabwb.records import events
from tabwb.records.states import AttemptState
from tabwb.records.words import time_left

STEPS = 20
"""Lines of a whole administration elsewhere than on a terminal: one for each 5 %."""


MANY = 5_000
"""Responses that take long enough to write for their progress to be shown."""


class StatusLine:
    """A line on stderr that replaces itself; nothing where stderr is not a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.live = sys.stderr.isatty() and not quiet

    def show(self, text: str = "") -> None:
        """Replace the line by a text, cut to the width of a small terminal."""
        if self.live:
            renew_line(text[:78])

    def renew(self, text: str) -> None:
        """Replace the line; elsewhere than on a terminal, print one that stays."""
        if self.live:
            self.show(text)
        else:
            note(text)

    def interrupt(self, message: str) -> None:
        """Print a line that stays."""
        self.show()
        note(message)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self.show()


class Progress:
    """Shows ``item 7/20`` with what is left of the time, fed with the engine's events."""

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
        self._shown = ""
        self._silent = False
        self.status = StatusLine(quiet=quiet)
        self._spending = spending

    def show(self, event: events.Event) -> None:
        """Take note of one event."""
        self._spending = self._spending.after(event)
        if isinstance(event, events.TrialStarted):
            self._line(event.trial.number, f"{event.trial.subtest} {event.trial.item}")
        elif isinstance(event, events.Waiting) and event.seconds >= 0.5:
            words = f"item {event.trial}: {event.reason}"
            if event.voids:
                self.status.interrupt(f"{words}, waiting {event.seconds:.0f} s")
            elif not self._quiet:
                self._silent = True
                self.status.renew(words)
        elif isinstance(event, events.Streamed) and self._silent:
            self._silent = False
            self.status.show(self._shown)
        elif isinstance(event, events.AttemptRecorded):
            self._given += 1
            if self._given == 1:
                self._first = time.monotonic()
            if event.attempt.state is AttemptState.ERROR:
                first, *_ = event.attempt.error.splitlines() or ["no reason was given"]
                self.status.interrupt(f"item {event.trial} in error: {first}")
            else:
                self._done += 1

    def _line(self, number: int, place: str) -> None:
        if self._quiet or not (self.status.live or self._each or self._is_due(number)):
            return
        spent = format_spending(self._spending)
        spent = f"  {spent}" if spent else ""
        text = f"item {number}/{self._planned}  {place}{spent}{self._remaining()}"
        self._shown = text
        self.status.renew(text)

    def _is_due(self, number: int) -> bool:
        """Whether this item is the first of this run, or begins another 5 % of all items."""
        step = number * STEPS // max(self._planned, 1)
        due = step > self._step
        self._step = max(step, self._step)
        return due

    def _remaining(self) -> str:
        # The first item pays for loading the model: the estimate is made of those after it.
        if self._given < 3:
            return ""
        seconds_each = (time.monotonic() - self._first) / (self._given - 1)
        return time_left(seconds_each * max(self._planned - self._done, 0))


class Countdown:
    """Shows ``response 7/20`` with the time that is left, on a terminal."""

    def __init__(self, what: str, planned: int = 0, *, quiet: bool = False) -> None:
        self._what, self.planned, self._done = what, planned, 0
        self._began = time.monotonic()
        self.status = StatusLine(quiet=quiet)

    def begin(self) -> None:
        """Count the time from now on."""
        self._began = time.monotonic()

    def advance(self) -> None:
        """Count one more as done."""
        self._done += 1
        self.show(self._done, timed=self._done)

    def show(self, done: int, detail: str = "", *, timed: int) -> None:
        """Show how many are done."""
        text = f"{self._what} {done}/{self.planned}{detail}"
        if timed:
            text += time_left((time.monotonic() - self._began) / timed * (self.planned - done))
        self.status.show(text)

    def of(self, done: int, planned: int) -> None:
        """Show how many are done, and of how many, where there are many."""
        if planned >= MANY:
            self.planned = planned
            self.show(done, timed=done)

    def wait(self, words: str) -> None:
        """Show that a back end waits, and why."""
        self.status.renew(words)
