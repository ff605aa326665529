"""How long the picture has been shown; at the limit it says so, and nothing is cut."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.timer import Timer

from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import AMBER, QUIET

TICK_S = 0.1


def clock_words(elapsed_s: float | None, limit_s: float | None) -> Content:
    """The limit and the time; past the limit the word *limit* becomes amber.

    >>> clock_words(3.21, 20.0).plain, clock_words(20.0, 20.0).plain
    ('limit 20 s     03.2 s', '! limit 20 s   20.0 s')
    >>> clock_words(None, 20.0).plain, clock_words(63.0, None).plain
    ('limit 20 s', '63.0 s')
    """
    time = "" if elapsed_s is None else f"{elapsed_s:04.1f} s"
    if limit_s is None:
        return Content(time)
    limit = f"limit {limit_s:g} s"
    if elapsed_s is None:
        return Content.styled(limit, QUIET)
    if elapsed_s < limit_s:
        return Content.assemble((limit, QUIET), "     ", time)
    return Content.assemble((f"! {limit}", f"bold {AMBER}"), "   ", time)


class ResponseClock(WidthAwareWidget):
    """Ticks while a picture is shown; stands still afterwards."""

    DEFAULT_CSS = "ResponseClock { height: 1; width: 24; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._elapsed: Callable[[], float | None] = lambda: None
        self._limit_s: float | None = None
        self._words = Content("")
        self._ticking: Timer | None = None

    def on_mount(self) -> None:
        """It stands still until something is shown."""
        self._ticking = self.set_interval(TICK_S, self._tick, pause=True)

    def run(self, elapsed: Callable[[], float | None], limit_s: float | None) -> None:
        """Show this time again and again.

        Args:
            elapsed: seconds since the picture was drawn.
            limit_s: of the item, or None.
        """
        self._elapsed, self._limit_s = elapsed, limit_s
        if self._ticking is not None:
            self._ticking.resume()
        self._tick()

    def stand(self, elapsed_s: float | None, limit_s: float | None) -> None:
        """Show one time that does not change."""
        if self._ticking is not None:
            self._ticking.pause()
        self._elapsed, self._limit_s = lambda: elapsed_s, limit_s
        self._tick()

    def paint(self, width: int) -> Content:
        """One line, at the right."""
        return Content.assemble(" " * max(width - self._words.cell_length, 0), self._words)

    def _tick(self) -> None:
        words = clock_words(self._elapsed(), self._limit_s)
        # Drawing behind a dialog would draw the whole screen each time.
        if self.screen.is_current and not words.is_same(self._words):
            self._words = words
            self.refresh()
