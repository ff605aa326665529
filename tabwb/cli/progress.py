"""Progress on stderr: a line that renews itself on a terminal; elsewhere one for each 5 %."""

from __future__ import annotations

import sys
import time

from tabwb.cli.common import inform, note, renew_line
from tabwb.operations.operation import FEW, Told
from tabwb.records.words import time_left

STEPS = 20
"""Lines of a whole operation elsewhere than on a terminal: one for each 5 %."""


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


class Countdown:
    """Shows ``response 7/20`` with the time that is left; see :meth:`tell` for operations."""

    def __init__(
        self, what: str, planned: int = 0, *, quiet: bool = False, each: bool = False
    ) -> None:
        self._what, self.planned, self._done = what, planned, 0
        self._began = time.monotonic()
        self._before = 0
        self._quiet, self._each, self._step = quiet, each, -1
        self._shown, self._silent = "", False
        self.status = StatusLine(quiet=quiet)

    def begin(self) -> None:
        """Begin a part."""
        self._began, self._before, self._step = time.monotonic(), 0, -1

    def advance(self) -> None:
        """Count one more as done."""
        self._done += 1
        self.show(self._done, timed=self._done)

    def show(self, done: int, detail: str = "", *, timed: int) -> None:
        """Show how many are done."""
        self.status.show(self._text(self._what, done, detail, timed))

    def of(self, done: int, planned: int) -> None:
        """Show how many are done, and of how many, where there are many."""
        if planned >= MANY:
            self.planned = planned
            self.show(done, timed=done)

    def tell(self, told: Told) -> None:
        """Show how far an operation is: elsewhere than on a terminal a line for each 5 %."""
        if told.timed and not self._before:
            # The first pays for what is loaded: the estimate is made of those after it.
            self._began, self._before = time.monotonic(), told.timed
        self.planned = told.planned or self.planned
        if told.problem:
            self.status.interrupt(told.problem)
        elif told.part:
            inform(f"{told.part}: {told.words}")
            self.begin()
        elif told.waits:
            self._wait(told)
        elif told.planned and (told.words or told.timed):
            self._silent = False
            timed = told.timed - self._before if told.timed >= FEW else 0
            words = f"  {told.words}" if told.words else ""
            self._shown = self._text(told.what or self._what, told.done, words, timed)
            due = bool(told.words) and self._is_due(told.done)
            if not self._quiet and (self.status.live or (self._each and told.words) or due):
                self.status.renew(self._shown)
        elif told.words:
            if self.status.live:
                inform(told.words)
        elif self._silent:
            self._silent = False
            self.status.show(self._shown)

    def _wait(self, told: Told) -> None:
        if getattr(told.event, "voids", False):
            self.status.interrupt(told.words)
        elif not self._quiet:
            self._silent = True
            self.status.renew(told.words)

    def _text(self, what: str, done: int, detail: str, timed: int) -> str:
        text = f"{what} {done}/{self.planned}{detail}"
        if not timed:
            return text
        left = (time.monotonic() - self._began) / timed * (self.planned - done)
        return text + time_left(left)

    def _is_due(self, done: int) -> bool:
        """Whether this is the first of this run, or begins another 5 % of all."""
        step = done * STEPS // max(self.planned, 1)
        due = step > self._step
        self._step = max(step, self._step)
        return due
