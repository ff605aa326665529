"""Meters on the naming page: the level and the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer

from tabwb.workbench.shell.sound import LEAST_DBFS
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET

if TYPE_CHECKING:
    from tabwb.speech.level import Level

TICK_S = 1 / 15
"""So often level and waveform are drawn while a microphone is open."""
CELLS = 10
QUIET_DBFS = -40.0
"""Speech that never comes above this is too quiet to be transcribed well."""
NO_SIGNAL_DBFS = -120.0
"""Below the noise of any microphone: the input is muted or not connected."""
CLIP_HELD_S = 2.0
"""The clip light stays on for so long."""


def level_words(level: Level | None, *, clipped: bool = False) -> Content:
    """Return bar, figure and word; the level is None before sound arrives.

    >>> from tabwb.speech.level import Level
    >>> level_words(Level(-14.2)).plain
    'level ━━━━━━━╌╌╌  -14 dBFS  ok'
    >>> level_words(Level(-90.0)).plain, level_words(Level(-0.0), clipped=True).plain
    ('level ╌╌╌╌╌╌╌╌╌╌  -90 dBFS  quiet', 'level ━━━━━━━━━━    0 dBFS  ! clipped')
    >>> level_words(None).plain, level_words(Level(-144.0)).plain
    ('level ╌╌╌╌╌╌╌╌╌╌  no sound yet', 'level ╌╌╌╌╌╌╌╌╌╌  no signal')
    """
    if level is None:
        return Content.assemble(("level ", QUIET), ("╌" * CELLS, QUIET), ("  no sound yet", QUIET))
    if level.peak_dbfs <= NO_SIGNAL_DBFS:
        return Content.assemble(("level ", QUIET), ("╌" * CELLS, QUIET), ("  no signal", AMBER))
    share = (level.peak_dbfs - LEAST_DBFS) / -LEAST_DBFS
    full = max(0, min(CELLS, int(share * CELLS)))
    hot = clipped or level.clipped
    if hot:
        word, style = "! clipped", f"bold {AMBER}"
    elif level.peak_dbfs < QUIET_DBFS:
        word, style = "quiet", QUIET
    else:
        word, style = "ok", QUIET
    return Content.assemble(
        ("level ", QUIET),
        ("━" * full, AMBER if hot else ACCENT),
        ("╌" * (CELLS - full), QUIET),
        f" {round(level.peak_dbfs):4d} dBFS  ",
        (word, style),
    )


class LevelMeter(WidthAwareWidget):
    """Shows the level; the clip light stays on for a moment."""

    DEFAULT_CSS = "LevelMeter { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clipped_at = float("-inf")
        self._words = level_words(None)

    def show(self, level: Level) -> None:
        """Show this level."""
        now = time.monotonic()
        if level.clipped:
            self._clipped_at = now
        words = level_words(level, clipped=now - self._clipped_at < CLIP_HELD_S)
        if not words.is_same(self._words):
            self._words = words
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line."""
        words = self._words if self._words.cell_length <= width else self._words[len("level ") :]
        return words.truncate(width)


CLOCK_TICK_S = 0.1


def clock_words(elapsed_s: float | None, limit_s: float | None) -> Content:
    """Return the limit and the time; past the limit the word *limit* becomes amber.

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
        """Start the timer, paused until a picture is shown."""
        self._ticking = self.set_interval(CLOCK_TICK_S, self._tick, pause=True)

    def run(self, elapsed: Callable[[], float | None], limit_s: float | None) -> None:
        """Show a running time and the limit."""
        self._elapsed, self._limit_s = elapsed, limit_s
        if self._ticking is not None:
            self._ticking.resume()
        self._tick()

    def stand(self, elapsed_s: float | None, limit_s: float | None) -> None:
        """Show a time that does not change."""
        if self._ticking is not None:
            self._ticking.pause()
        self._elapsed, self._limit_s = lambda: elapsed_s, limit_s
        self._tick()

    def paint(self, width: int) -> Content:
        """Return the line, at the right."""
        return Content.assemble(" " * max(width - self._words.cell_length, 0), self._words)

    def _tick(self) -> None:
        words = clock_words(self._elapsed(), self._limit_s)
        # Drawing behind a dialog would draw the whole screen each time.
        if self.screen.is_current and not words.is_same(self._words):
            self._words = words
            self.refresh()
