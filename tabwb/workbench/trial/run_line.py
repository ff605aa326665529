"""The line with requests, tokens and cost of a run, and the time that the back end waits."""

from __future__ import annotations

import time

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from tabwb.administer.cost import Spending, format_spending
from tabwb.workbench.engine.view_models import Rest
from tabwb.workbench.shell.wording import AMBER, QUIET

TICK_S = 0.25


class RunLine(Static):
    """One line; hidden while it is empty."""

    DEFAULT_CSS = "RunLine { height: auto; width: 1fr; padding: 0 0 0 2; display: none; }"

    def __init__(self) -> None:
        super().__init__(id="run-line", markup=False)
        self._spending: Spending | None = None
        self._rest: Rest | None = None
        self._shown = Content("")
        self._ticking: Timer | None = None

    def on_mount(self) -> None:
        """Create the timer of the countdown."""
        self._ticking = self.set_interval(TICK_S, self._paint, pause=True)

    def show(self, spending: Spending | None, rest: Rest | None) -> None:
        """Show what a run has used, and a wait while it lasts."""
        if (spending, rest) == (self._spending, self._rest):
            return
        self._spending, self._rest = spending, rest
        if self._ticking is not None:
            (self._ticking.pause if rest is None else self._ticking.resume)()
        self._paint()

    def _paint(self) -> None:
        left = self._rest.until - time.monotonic() if self._rest is not None else 0.0
        words = words_of(self._spending, self._rest.reason if self._rest else "", left)
        if not words.is_same(self._shown):
            self._shown = words
            self.display = bool(words)
            self.update(words)


def words_of(spending: Spending | None, reason: str, left_s: float) -> Content:
    """Return the line: first the wait, then what was used.

    >>> words_of(Spending(None, 8, 40, 2), "rate limit, attempt 2 of 6", 11.6).plain
    '… rate limit, attempt 2 of 6: 12 s   8 in flight, 42 tokens, cost unknown'
    >>> words_of(Spending(), "rate limit", 0.0).plain
    ''
    """
    pieces = []
    if reason and left_s > 0:
        pieces.append(Content.styled(f"… {reason}: {left_s:.0f} s", AMBER))
    if spending is not None and (said := format_spending(spending)):
        pieces.append(Content.styled(said, QUIET))
    return Content("   ").join(pieces)
