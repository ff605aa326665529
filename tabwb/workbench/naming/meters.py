"""Meters on the naming page: the level, the waveform of a response with its onset, the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.timer import Timer

from tabwb.workbench.naming.view_models import AttemptSpan, OnsetMark
from tabwb.workbench.shell.envelopes import BARS, LEAST_DBFS, Envelope, bars
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET

if TYPE_CHECKING:
    from tabwb.speech.level import Level

TICK_S = 1 / 15
"""So often level and waveform are drawn while a microphone is open."""
CELLS = 10
QUIET_DBFS = -40.0
"""Speech that never comes above this is too quiet to be transcribed well."""
CLIP_HELD_S = 2.0
"""The clip light stays on for so long."""


def level_words(level: Level | None, *, clipped: bool = False) -> Content:
    """Return bar, figure and word; the level is None before sound arrives.

    Args:
        level: of the latest block.
        clipped: whether something reached full scale a moment ago.

    >>> from tabwb.speech.level import Level
    >>> level_words(Level(-14.2)).plain
    'level ▮▮▮▮▮▮▮▯▯▯  -14 dBFS  ok'
    >>> level_words(Level(-90.0)).plain, level_words(Level(-0.0), clipped=True).plain
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


STEP_S = 0.01
STRIDE_S = 0.05
SETTLED_S = 0.8
"""So long after the last step a moved onset is kept: many steps are one correction."""


def column_of(at_s: float, envelope: Envelope, width: int) -> int:
    """Return the column of a second; the nearest where it lies outside.

    >>> column_of(0.5, Envelope(0.0, 1.0, ()), 10), column_of(7.0, Envelope(0.0, 1.0, ()), 10)
    (5, 9)
    """
    length = max(envelope.end_s - envelope.start_s, 1e-9)
    return max(0, min(width - 1, int((at_s - envelope.start_s) / length * width)))


def onset_words(onset: OnsetMark) -> str:
    """Return the onset in words: ``onset 0.61 s after picture ±0.05``.

    >>> onset_words(OnsetMark(4.2, 0.611, 0.05, "energy"))
    'onset 0.61 s after picture ±0.05'
    >>> onset_words(OnsetMark(4.2, 0.6, None, "person:R2"))
    'onset 0.60 s after picture, set by person:R2'
    >>> onset_words(OnsetMark(4.2))
    'onset at 4.20 s'
    """
    words = f"onset at {onset.at_s:.2f} s"
    if onset.latency_s is not None:
        words = f"onset {onset.latency_s:.2f} s after picture"
    if onset.uncertainty_s is not None:
        return f"{words} ±{onset.uncertainty_s:.2f}"
    return f"{words}, set by {onset.by}" if onset.by else words


def marker_line(onset: OnsetMark, envelope: Envelope, width: int) -> Content:
    """Return the marker at its place, with as many words beside it as there is room for.

    >>> marker_line(OnsetMark(0.5), Envelope(0.0, 1.0, ()), 40).plain
    '                    ┃ onset at 0.50 s'
    >>> marker_line(OnsetMark(0.9), Envelope(0.0, 1.0, ()), 40).plain
    '                    onset at 0.90 s ┃'
    >>> marker_line(OnsetMark(0.5, 0.5, 0.05), Envelope(0.0, 1.0, ()), 40).plain
    '                    ┃ onset 0.50 s ±0.05'
    """
    at = column_of(onset.at_s, envelope, width)
    mark = ("┃", f"bold {ACCENT}")
    whole = onset_words(onset)
    shorter = whole.replace(" after picture", "")
    for words in (whole, shorter, shorter.partition(" ±")[0].partition(",")[0]):
        if at + 2 + len(words) <= width:
            return Content.assemble(" " * at, mark, " ", (words, QUIET))
        if len(words) + 1 <= at:
            return Content.assemble(" " * (at - len(words) - 1), (words, QUIET), " ", mark)
    return Content.assemble(" " * at, mark)


def attempts_line(attempts: Sequence[AttemptSpan], envelope: Envelope, width: int) -> str:
    """Return each attempt as a bracket with its number; square corners: marked by a person.

    >>> spans = [AttemptSpan(0.1, 0.45), AttemptSpan(0.6, 0.9, marked=True)]
    >>> attempts_line(spans, Envelope(0.0, 1.0, ()), 20)
    '  ╰──1───╯  └──2──┘'
    """
    line = [" "] * width
    for number, attempt in enumerate(attempts, 1):
        first = column_of(attempt.start_s, envelope, width)
        last = max(column_of(attempt.end_s, envelope, width), first)
        left, right = "└┘" if attempt.marked else "╰╯"
        line[first : last + 1] = "─" * (last - first + 1)
        line[first] = left
        if last > first:
            line[last] = right
        name = str(number)
        if last - first > len(name):
            at = (first + last + 1 - len(name)) // 2
            line[at : at + len(name)] = name
    return "".join(line).rstrip()


class Waveform(WidthAwareWidget, can_focus=True):
    """A response over time. **left** and **right** move the onset once there is one."""

    DEFAULT_CSS = "Waveform { height: 3; width: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", f"move({-STEP_S})", "Earlier", show=False),
        Binding("right", f"move({STEP_S})", "Later", show=False),
        Binding("shift+left", f"move({-STRIDE_S})", "Earlier", show=False),
        Binding("shift+right", f"move({STRIDE_S})", "Later", show=False),
    ]
    HELP = """\
# Waveform

How loud the response is over time, from the picture on. **┃** is where speech begins, as measured;
the brackets below are attempts: round ones are proposed at pauses, square ones were marked (**m**).

- **left**, **right** move the onset by 10 ms, with **shift** by 50 ms; it is kept a moment after
  the last step, and **u** takes it back
"""

    class OnsetMoved(Message):
        """A person has put the onset at this second of the recording."""

        def __init__(self, at_s: float) -> None:
            self.at_s = at_s
            super().__init__()

    def __init__(self, *, id: str | None = None, rows: int = 1) -> None:
        super().__init__(id=id)
        self.rows = rows
        self._envelope: Envelope | None = None
        self._onset: OnsetMark | None = None
        self._moved: float | None = None
        self._attempts: tuple[AttemptSpan, ...] = ()
        self._settling: Timer | None = None

    def show(
        self,
        envelope: Envelope | None,
        onset: OnsetMark | None = None,
        attempts: Sequence[AttemptSpan] = (),
    ) -> None:
        """Show a response; an onset that is being moved stays until it is kept."""
        shown = (envelope, onset, tuple(attempts))
        if shown == (self._envelope, self._onset, self._attempts):
            return
        if onset != self._onset:
            self._drop_move()
        self._envelope, self._onset, self._attempts = shown
        self.refresh(layout=True)

    def action_move(self, step_s: float) -> None:
        """Move the onset, within the response."""
        onset, envelope = self._shown_onset(), self._envelope
        if onset is None or envelope is None:
            return
        self._moved = round(max(envelope.start_s, min(envelope.end_s, onset.at_s + step_s)), 3)
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(SETTLED_S, self.keep)
        self.refresh()

    def keep(self) -> None:
        """Keep the onset where it is now, if it was moved."""
        moved = self._moved
        self._drop_move()
        if moved is not None and self._onset is not None and moved != self._onset.at_s:
            self.post_message(self.OnsetMoved(moved))

    def _drop_move(self) -> None:
        if self._settling is not None:
            self._settling.stop()
            self._settling = None
        self._moved = None

    def paint(self, width: int) -> Content:
        """Return bars, marker and brackets."""
        envelope = self._envelope
        if envelope is None or width < 1:
            return Content.styled(BARS[0] * max(width, 1), QUIET)
        lines = [Content.styled(row, ACCENT) for row in bars(envelope, width, self.rows)]
        onset = self._shown_onset()
        lines.append(marker_line(onset, envelope, width) if onset else Content(""))
        if self._attempts:
            lines.append(Content.styled(attempts_line(self._attempts, envelope, width), QUIET))
        return Content("\n").join(lines)

    def _shown_onset(self) -> OnsetMark | None:
        onset, moved = self._onset, self._moved
        if onset is None or moved is None:
            return onset
        latency = None if onset.latency_s is None else onset.latency_s + moved - onset.at_s
        return OnsetMark(moved, latency, None, "you")


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
        """Show a running time: the seconds since the picture was drawn, and the limit."""
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
