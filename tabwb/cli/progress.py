"""Progress on stderr: one line that renews itself on a terminal, quiet lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from tabwb.cli.common import note
from tabwb.records import events
from tabwb.records.states import AttemptState

Cost = Callable[[int, int], float | None]
"""US dollars of so many tokens sent and received; None where nobody knows."""


class Progress:
    """Shows ``item 7/20`` with what is left of the time, fed with the engine's events.

    Args:
        planned: items of the administration.
        answered: of these, how many are answered already.
        quiet: say only what went wrong.
        cost: of tokens, where something is charged for them.
    """

    def __init__(
        self, planned: int, answered: int, *, quiet: bool = False, cost: Cost | None = None
    ) -> None:
        self._planned = planned
        self._done = answered
        self._given = 0
        self._first = 0.0
        self._quiet = quiet
        self._live = sys.stderr.isatty() and not quiet
        self._place = ""
        self._in_flight = 0
        self._tokens: list[int | None] = [0, 0]
        self._cost = cost

    def show(self, event: events.Event) -> None:
        """Take note of one event."""
        if isinstance(event, events.TrialStarted):
            self._place = f"{event.trial.subtest} {event.trial.item}"
            self._line(event.trial.number)
        elif isinstance(event, events.Asked):
            self._in_flight = len(event.trials)
        elif isinstance(event, events.Waiting):
            self._say(f"item {event.trial}: {event.reason}, waiting {event.seconds:.0f} s")
        elif isinstance(event, events.AttemptRecorded):
            self._given += 1
            self._in_flight = max(self._in_flight - 1, 0)
            for at, key in enumerate(("prompt_tokens", "reply_tokens")):
                given, so_far = event.attempt.metadata.get(key), self._tokens[at]
                failed = event.attempt.state is AttemptState.ERROR
                # What one reply did not count is not known of the sum either.
                if given is not None and so_far is not None:
                    self._tokens[at] = so_far + int(given)
                elif not failed:
                    self._tokens[at] = None
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
            note("\r\x1b[K", newline=False)

    def _line(self, number: int) -> None:
        if self._quiet:
            return
        text = f"item {number}/{self._planned}  {self._place}{self._spent()}{self._remaining()}"
        if self._live:
            note(f"\r\x1b[K{text[:78]}", newline=False)
        else:
            note(text)

    def _say(self, message: str) -> None:
        if self._live:
            note("\r\x1b[K", newline=False)
        note(message)

    def _spent(self) -> str:
        """Requests under way and what they have cost, where something is charged."""
        said = f"  {self._in_flight} in flight" if self._in_flight > 1 else ""
        if self._cost is None:
            return said
        sent, received = self._tokens
        if sent is None or received is None:
            return f"{said}  tokens not counted, cost unknown"
        spent = self._cost(sent, received)
        money = "cost unknown" if spent is None else f"{spent:.4f} USD"
        return f"{said}  {sent + received:,} tokens, {money}"

    def _remaining(self) -> str:
        # The first item pays for loading the model: the estimate is made of those after it.
        if self._given < 3:
            return ""
        each = (time.monotonic() - self._first) / (self._given - 1)
        seconds = each * max(self._planned - self._done, 0)
        if seconds < 2:
            return ""
        if seconds < 90:
            return f"  about {seconds:.0f} s left"
        minutes = seconds / 60
        if minutes < 90:
            return f"  about {minutes:.0f} min left"
        return f"  about {minutes / 60:.1f} h left"
