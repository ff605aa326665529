"""Progress on stderr: a line that renews itself on a terminal; elsewhere one for each 5 %."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from tabwb.cli.common import note, renew_line
from tabwb.records import events
from tabwb.records.states import AttemptState

if TYPE_CHECKING:
    from tabwb.administer.cost import Spending


STEPS = 20
"""Lines of a whole administration elsewhere than on a terminal: one for each 5 %."""


class StatusLine:
    """A line on stderr that replaces itself; nothing where stderr is not a terminal.

    Args:
        quiet: show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.live = sys.stderr.isatty() and not quiet

    def show(self, text: str = "") -> None:
        """Replace the line by a text, cut to the width of a small terminal."""
        if self.live:
            renew_line(text[:78])

    def interrupt(self, message: str) -> None:
        """Print a line that stays."""
        self.show()
        note(message)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self.show()


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
        self._status = StatusLine(quiet=quiet)
        self._place = ""
        self._spending = spending

    def show(self, event: events.Event) -> None:
        """Take note of one event."""
        self._spending = self._spending.after(event)
        if isinstance(event, events.TrialStarted):
            self._place = f"{event.trial.subtest} {event.trial.item}"
            self._line(event.trial.number)
        elif isinstance(event, events.Waiting):
            self._status.interrupt(
                f"item {event.trial}: {event.reason}, waiting {event.seconds:.0f} s"
            )
        elif isinstance(event, events.AttemptRecorded):
            self._given += 1
            if self._given == 1:
                self._first = time.monotonic()
            if event.attempt.state is AttemptState.ERROR:
                first, *_ = event.attempt.error.splitlines() or ["no reason was given"]
                self._status.interrupt(f"item {event.trial} in error: {first}")
            else:
                self._done += 1

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._status.close()

    def _line(self, number: int) -> None:
        if self._quiet or not (self._status.live or self._each or self._is_due(number)):
            return
        text = f"item {number}/{self._planned}  {self._place}{self._spent()}{self._remaining()}"
        if self._status.live:
            self._status.show(text)
        else:
            note(text)

    def _is_due(self, number: int) -> bool:
        """Whether this item is the first of this run, or begins another 5 % of all items."""
        step = number * STEPS // max(self._planned, 1)
        due = step > self._step
        self._step = max(step, self._step)
        return due

    def _spent(self) -> str:
        """Requests under way and what they have taken."""
        from tabwb.administer.cost import format_spending

        said = format_spending(self._spending)
        return f"  {said}" if said else ""

    def _remaining(self) -> str:
        # The first item pays for loading the model: the estimate is made of those after it.
        if self._given < 3:
            return ""
        each = (time.monotonic() - self._first) / (self._given - 1)
        return time_left(each * max(self._planned - self._done, 0))


class Countdown:
    """Shows ``response 7/20`` with the time that is left, on a terminal.

    Args:
        what: is counted.
        planned: how many there are.
        quiet: show nothing.
    """

    def __init__(self, what: str, planned: int, *, quiet: bool = False) -> None:
        self._what, self._planned, self._done = what, planned, 0
        self._began = time.monotonic()
        self.status = StatusLine(quiet=quiet)

    def advance(self) -> None:
        """Count one more as done."""
        self._done += 1
        self.show(self._done)

    def show(self, done: int, detail: str = "", *, timed: int | None = None) -> None:
        """Show how many are done.

        Args:
            done: of those planned.
            detail: stands after the count.
            timed: how many of those done took time: the others were stored already.
        """
        timed = done if timed is None else timed
        text = f"{self._what} {done}/{self._planned}{detail}"
        if timed:
            seconds = (time.monotonic() - self._began) / timed
            text += time_left(seconds * (self._planned - done))
        self.status.show(text)

    def wait(self, words: str) -> None:
        """Show that a back end waits, and why."""
        if self.status.live:
            self.status.show(words)
        else:
            note(words)


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
