"""How far an administration is: bar, time, tokens per second, and the map of its items."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.events import Click, MouseMove
from textual.timer import Timer

from tabwb.workbench.engine.presenters import short_titles
from tabwb.workbench.engine.transcript import Pace, Row, Transcript
from tabwb.workbench.engine.view_models import SubtestScore, Work
from tabwb.workbench.shell.drawn import bar
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import QUIET
from tabwb.workbench.trial.transcript import glyph_of_row

TICK_S = 0.5
MOST_MARKS = 240
"""With more trials than this a subtest has a bar instead of one mark for each trial."""
LEAST_BAR, MOST_BAR = 10, 40
BAR = 12
"""Columns of the bar of one subtest."""


def clock(seconds: float) -> str:
    """Return a duration as minutes and seconds, or hours.

    >>> clock(0.4), clock(74.6), clock(3723)
    ('0:00', '1:14', '1:02:03')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def pace_words(pace: Pace, now: float) -> list[str]:
    """Return elapsed time, remaining time and speed, in words; what is not known is left out.

    >>> pace_words(Pace(12.0, 100.0, 21.0, 61.7), 102.5)
    ['0:14 elapsed', 'about 0:18 left', '62 tokens/s']
    >>> pace_words(Pace(), 5.0)
    []
    """
    asked = 0.0 if pace.since is None else now - pace.since
    words = []
    if pace.asked_s or pace.since is not None:
        words.append(f"{clock(pace.asked_s + asked)} elapsed")
    if pace.left_s:
        words.append(f"about {clock(max(pace.left_s - asked, 1.0))} left")
    if pace.tokens_per_s is not None:
        rate = pace.tokens_per_s
        words.append(f"{rate:.0f} tokens/s" if rate >= 10 else f"{rate:.1f} tokens/s")
    return words


class ProgressLine(WidthAwareWidget):
    """One line: items given, bar, time, tokens per second."""

    def __init__(self) -> None:
        super().__init__(id="trial-progress")
        self._given, self._planned = 0, 0
        self._pace: Pace | None = None
        self._ticking: Timer | None = None

    def on_mount(self) -> None:
        """Create the timer of the clock."""
        self._ticking = self.set_interval(TICK_S, self.refresh, pause=True)

    def show(self, work: Work) -> None:
        """Show how far an administration is; the clock runs while the model is asked."""
        rows = () if work.transcript is None else work.transcript.rows
        self._given, self._planned = len(rows) - work.remaining, len(rows)
        self._pace = work.pace
        if self._ticking is not None:
            running = work.pace is not None and work.pace.since is not None
            (self._ticking.resume if running else self._ticking.pause)()
        self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line; what does not fit is left out from its end."""
        count = Content.styled(f"{self._given} of {self._planned} given", "bold")
        words = [] if self._pace is None else pace_words(self._pace, time.monotonic())
        while words and count.cell_length + len("   ".join(words)) + LEAST_BAR + 6 > width:
            words.pop()
        tail = "   ".join(words)
        room = width - count.cell_length - len(tail) - 3 - 3 * bool(tail)
        share = self._given / self._planned if self._planned else 0.0
        line = Content.assemble(count, "   ", bar(share, max(min(room, MOST_BAR), 4)))
        return Content.assemble(line, "   " if tail else "", (tail, QUIET))


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark: where it is drawn, and of which trial."""

    line: int
    column: int
    row: Row


class ItemMap(WidthAwareWidget):
    """One mark for each item, by subtest; a click shows the item."""

    HELP = """\
# Items

One mark for each item: ✓ right, ✗ wrong, ● given (nothing to be right or wrong), ▸ current, · not
given, › skipped, ∅ void, ! needs attention, - not administered. A click on a mark shows the item.
"""

    def __init__(self, choose: Callable[[int], object]) -> None:
        super().__init__(id="item-map")
        self._choose = choose
        """Called with the trial whose mark was clicked."""
        self._transcript: Transcript | None = None
        self._subtests: Sequence[SubtestScore] = ()
        self._current: int | None = None
        self._shown: int | None = None
        self._waits = self._hidden = self._person = False
        self._marks: list[Mark] = []

    def show(self, work: Work, shown: int | None, *, hidden: bool) -> None:
        """Show the items of an administration."""
        lines = self._marks[-1].line if self._marks else 0
        self._transcript = work.transcript
        self._subtests = work.scores.subtests
        self._current = None if work.item is None else work.item.place[0]
        self._shown, self._hidden, self._person = shown, hidden, work.of_person
        self._waits = work.awaiting or (work.asking and not work.together)
        self.paint(self.content_size.width)
        changed = lines != (self._marks[-1].line if self._marks else 0) or not self.size.height
        self.refresh(layout=changed)

    def paint(self, width: int) -> Content:
        """Return the marks, subtests beside each other where they fit."""
        self._marks = []
        lines: list[Content] = []
        line, used = Content(""), 0
        for label, marks in self._groups():
            if used and used + 4 + len(label) + len(marks) > width:
                lines.append(line)
                line, used = Content(""), 0
            gap = "   " if used else ""
            line = Content.assemble(line, gap, (f"{label} ", QUIET))
            used = line.cell_length
            for mark in marks:
                if used >= width > 0:
                    lines.append(line)
                    line, used = Content("  "), 2
                if isinstance(mark, Row):
                    self._marks.append(Mark(len(lines), used, mark))
                line = Content.assemble(line, self._mark(mark) if isinstance(mark, Row) else mark)
                used += 1
        return Content("\n").join([*lines, line])

    def _groups(self) -> Iterator[tuple[str, Sequence[Row | Content]]]:
        transcript = self._transcript
        if transcript is None:
            return
        if len(transcript.rows) > MOST_MARKS:
            for one in self._subtests:
                drawn = bar(one.given / one.planned if one.planned else 0.0, BAR)
                yield one.short, [drawn[at] for at in range(BAR)]
            return
        by_subtest: dict[str, list[Row]] = {}
        for row in transcript.rows:
            by_subtest.setdefault(row.trial.plan.subtest, []).append(row)
        short = short_titles(tuple(subtest.title for subtest in transcript.battery.subtests))
        for name, rows in by_subtest.items():
            yield short[transcript.battery.subtest(name).title], rows

    def _mark(self, row: Row) -> Content:
        number = row.trial.plan.number
        waits = self._waits and number == self._current
        glyph, style = glyph_of_row(row, waits=waits, hidden=self._hidden, person=self._person)
        return Content.styled(glyph, f"{style} reverse" if number == self._shown else style)

    def _at(self, event: Click | MouseMove) -> Row | None:
        offset = event.get_content_offset(self)
        if offset is None:
            return None
        places = {(mark.column, mark.line): mark.row for mark in self._marks}
        return places.get((offset.x, offset.y))

    def on_click(self, event: Click) -> None:
        """Show the item whose mark was clicked."""
        if (row := self._at(event)) is not None:
            self._choose(row.trial.plan.number)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say in a tooltip which item the mark under the mouse is of."""
        row = self._at(event)
        if row is None:
            self.tooltip = None
            return
        hides = self._hidden and row.mark in {"right", "wrong"}
        words = {"open": "not given", "error": "in error", "not-administered": "not administered"}
        state = "given" if hides else words.get(row.mark, row.mark)
        self.tooltip = f"item {row.trial.plan.number}: {state}"
