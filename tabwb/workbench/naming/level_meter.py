"""How loud it is: a bar, a figure and a word."""

from __future__ import annotations

import time

from textual.content import Content

from tabwb.workbench.naming.snapshots import LevelNow
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET

CELLS = 10
LEAST_DBFS = -60.0
"""The bar begins here; a quiet room lies about there."""
QUIET_DBFS = -40.0
"""Speech that never comes above this is too quiet to be transcribed well."""
CLIP_HELD_S = 2.0
"""The clip light stays on for so long."""


def level_words(level: LevelNow | None, *, clipped: bool = False) -> Content:
    """Bar, figure, word.

    >>> level_words(LevelNow(-14.2)).plain
    'level ▮▮▮▮▮▮▮▯▯▯  -14 dBFS  ok'
    >>> level_words(LevelNow(-90.0)).plain, level_words(LevelNow(-0.0), clipped=True).plain
    ('level ▯▯▯▯▯▯▯▯▯▯  -90 dBFS  quiet', 'level ▮▮▮▮▮▮▮▮▮▮    0 dBFS  ! clipped')
    >>> level_words(None).plain
    'level ▯▯▯▯▯▯▯▯▯▯  no sound yet'
    """
    if level is None:
        return Content.assemble(("level ", QUIET), ("▯" * CELLS, QUIET), ("  no sound yet", QUIET))
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
        ("▮" * full, AMBER if hot else ACCENT),
        ("▯" * (CELLS - full), QUIET),
        f" {round(level.peak_dbfs):4d} dBFS  ",
        (word, style),
    )


class LevelMeter(WidthAwareWidget):
    """The level as it stands; the clip light stays on for a moment."""

    DEFAULT_CSS = "LevelMeter { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._level: LevelNow | None = None
        self._clipped_at = float("-inf")
        self._words = level_words(None)

    def show(self, level: LevelNow | None) -> None:
        """Show this level; None before sound arrives."""
        self._level = level
        now = time.monotonic()
        if level is not None and level.clipped:
            self._clipped_at = now
        words = level_words(level, clipped=now - self._clipped_at < CLIP_HELD_S)
        if not words.is_same(self._words):
            self._words = words
            self.refresh()

    def paint(self, width: int) -> Content:
        """One line."""
        words = self._words if self._words.cell_length <= width else self._words[len("level ") :]
        return words.truncate(width)
