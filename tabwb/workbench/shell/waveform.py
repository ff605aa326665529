"""The waveform of a response: seconds, marks, attempts; the onset and the limits can be moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import MouseDown, MouseMove, MouseScrollDown, MouseScrollUp, MouseUp
from textual.message import Message
from textual.timer import Timer

from tabwb.workbench.shell import waveform_lines as lines
from tabwb.workbench.shell.envelopes import BARS
from tabwb.workbench.shell.sound import OnsetMark, Sound, Span
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET

STEP_S = 0.01
STRIDE_S = 0.05
SETTLED_S = 0.8
"""So long after the last step a moved mark is kept: many steps are one correction."""
EDGE_S = 0.1
"""So much before and after a response is drawn at first; zooming out shows more."""
LEAST_S = 0.2
"""The shortest stretch to which the waveform is zoomed."""
FRAME_S = 1 / 15
"""So often the second that is played is drawn."""
NEAR = 1
"""So many columns beside a mark still take it."""
SAME_S = 0.0015
"""Seconds are kept in thousandths; so much apart they are the same."""
UNSAVED_S = 3.0
"""So long a mark stays where it was moved to without being saved there."""
Handle = Literal["onset", "start", "end"]
ALL: tuple[Handle, ...] = ("onset", "start", "end")
WORDS = {"start": "the response begins", "end": "the response ends"}
TOOLTIP = """\
┃ onset   [ ] limits of the response   ┊ time limit
c1 cue   r asked again   x── examiner speaks
╰─1─╯ attempt, proposed   └─1─┘ attempt, marked
= as the target   ~æ in place of æ   + inserted   -t left out
drag a mark to move it; the wheel zooms"""


class Waveform(WidthAwareWidget, can_focus=True):
    """A response over time, as high as the widget; a mark is moved by keys or by the mouse."""

    DEFAULT_CSS = "Waveform { height: 6; width: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", f"move({-STEP_S})", "Earlier", show=False),
        Binding("right", f"move({STEP_S})", "Later", show=False),
        Binding("shift+left", f"move({-STRIDE_S})", "Earlier", show=False),
        Binding("shift+right", f"move({STRIDE_S})", "Later", show=False),
        Binding("o", "other_mark", "Other mark", show=False),
        Binding("plus,equals_sign", "zoom(0.5)", "Zoom in", show=False),
        Binding("minus", "zoom(2)", "Zoom out", show=False),
        Binding("ctrl+left", "pan(-0.25)", "Earlier part", show=False),
        Binding("ctrl+right", "pan(0.25)", "Later part", show=False),
    ]
    HELP = """\
# Waveform

How loud the response is over time. Second 0 is the picture. **┃** is where speech begins; **[** and
**]** are the limits of the response; **┊** the time limit; **c1** a cue; **r** the question asked
again; **x──** the examiner. Brackets below are attempts: round ones are proposed at pauses, square
ones were marked (**m**). Below the phonemes that were said: **=** as in the target, **~æ** in place
of æ, **+** inserted, **-t** before it t was left out.

- **left**, **right** move the onset by 10 ms, with **shift** by 50 ms; **o** changes to the
  beginning and to the end of the response, and back. A move is kept a moment after the last step,
  and **u** takes it back. A mark can be dragged with the mouse too
- **+** and **-** zoom, **ctrl+left** and **ctrl+right** show another part; the wheel zooms too
"""

    class OnsetMoved(Message):
        """A person has put the onset at this second of the recording."""

        def __init__(self, at_s: float) -> None:
            self.at_s = at_s
            super().__init__()

    class LimitsMoved(Message):
        """A person has set from where to where in the recording the response lies."""

        def __init__(self, start_s: float, end_s: float) -> None:
            self.start_s, self.end_s = start_s, end_s
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.tooltip = TOOLTIP
        self.ipa = True
        """Whether phonemes are shown in IPA; else in ARPAbet."""
        self._sound: Sound | None = None
        self._stretch: Span | None = None
        self._handle: Handle = "onset"
        self._moved: dict[Handle, float] = {}
        self._sent: dict[Handle, float] = {}
        """Where marks were moved to that are being saved."""
        self._settling: Timer | None = None
        self._dragging = False
        self._playing: Callable[[], float | None] | None = None
        self._played_s: float | None = None
        self._following: Timer | None = None

    # ---------------------------------------------------------------- what is shown

    @property
    def sound(self) -> Sound | None:
        """The response that is shown."""
        return self._sound

    def show(self, sound: Sound | None) -> None:
        """Show a response; a mark that is being moved stays until it is kept."""
        before = self._sound
        if sound == before:
            return
        if before is None or sound is None or before.response != sound.response:
            self._drop_move()
            self._sent.clear()
            self._stretch, self._handle = _near_limits(sound), "onset"
        else:
            self._take_saved(before, sound)
        self._sound = sound
        self.refresh()

    def _take_saved(self, before: Sound, sound: Sound) -> None:
        """Forget what is saved now; further moves stay, unless somebody else moved that mark."""
        for handle in ALL:
            is_at, sent = _stored(sound, handle), self._sent.get(handle)
            if is_at == _stored(before, handle):
                continue
            self._sent.pop(handle, None)
            if sent is None or is_at is None or abs(is_at - sent) > SAME_S:
                self._moved.pop(handle, None)

    def follow(self, position: Callable[[], float | None]) -> None:
        """Show the second that is played, until there is none any more."""
        self._playing = position
        if self._following is None:
            self._following = self.set_interval(FRAME_S, self._follow)

    def _follow(self) -> None:
        position = self._playing() if self._playing is not None else None
        if position is None and self._following is not None:
            self._following.stop()
            self._following = self._playing = None
        if position != self._played_s:
            self._played_s = position
            self.refresh()

    @property
    def stretch(self) -> Span:
        """The stretch that is drawn."""
        if self._sound is None:
            return 0.0, 1.0
        return self._stretch or self._sound.window

    # ---------------------------------------------------------------- zoom

    def action_zoom(self, factor: float) -> None:
        """Draw a stretch that is so many times as long, around the mark that can be moved."""
        at = self._place(self._handle)
        self._zoom(factor, sum(self.stretch) / 2 if at is None else at)

    def _zoom(self, factor: float, around_s: float) -> None:
        if self._sound is None:
            return
        low, high = self.stretch
        length = max((high - low) * factor, LEAST_S)
        around = min(max(around_s, low), high)
        share = (around - low) / max(high - low, 1e-9)
        self._show_part(around - share * length, length)

    def action_pan(self, share: float) -> None:
        """Draw a stretch that lies so many of its lengths later."""
        low, high = self.stretch
        self._show_part(low + share * (high - low), high - low)

    def _show_part(self, start_s: float, length_s: float) -> None:
        if self._sound is None:
            return
        low, high = self._sound.window
        if length_s >= high - low:
            self._stretch = None
        else:
            start = min(max(start_s, low), high - length_s)
            self._stretch = start, start + length_s
        self.refresh()

    # ---------------------------------------------------------------- marks that move

    @property
    def handles(self) -> tuple[Handle, ...]:
        """The marks that can be moved now."""
        if self._sound is None or self._sound.limits is None:
            return ()
        return ALL

    def action_other_mark(self) -> None:
        """Move another mark from now on: the onset, the beginning, the end of the response."""
        if self.handles:
            self.keep()
            self._handle = self.handles[(self.handles.index(self._handle) + 1) % 3]
            self._into_view()

    def action_move(self, step_s: float) -> None:
        """Move the chosen mark; an onset stays within the response."""
        at = self._place(self._handle)
        if at is None and self._handle == "onset":
            at = self._place("start")  # no onset was found: a person sets it
        if at is not None and self.handles:
            self._put(at + step_s)
            self._settle()

    def _settle(self) -> None:
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(SETTLED_S, self.keep)

    def _put(self, at_s: float) -> None:
        sound = self._sound
        if sound is None or sound.limits is None:
            return
        envelope, (start, end) = sound.envelope, self._limits(sound.limits)
        low, high = {
            "onset": (start, end),
            "start": (envelope.start_s, end - STEP_S),
            "end": (start + STEP_S, envelope.end_s),
        }[self._handle]
        self._moved[self._handle] = round(max(low, min(high, at_s)), 3)
        self._into_view()

    def _into_view(self) -> None:
        at, (low, high) = self._place(self._handle), self.stretch
        if at is not None and not low <= at <= high:
            self._show_part(at - (high - low) / 2, high - low)
        self.refresh()

    def keep(self) -> None:
        """Keep the mark where it is now, if it was moved."""
        moved, sound = dict(self._moved), self._sound
        self._drop_move()
        if sound is None or sound.limits is None:
            return
        changed = {handle: at for handle, at in moved.items() if at != self._place(handle)}
        if not changed:
            return
        self._sent |= changed
        self.set_timer(UNSAVED_S, partial(self._give_up, changed))
        if "onset" in changed:
            self.post_message(self.OnsetMoved(changed["onset"]))
        if "start" in changed or "end" in changed:
            self.post_message(self.LimitsMoved(*self._limits(sound.limits)))

    def _give_up(self, changed: dict[Handle, float]) -> None:
        """Show marks where they are stored that could not be saved."""
        for handle, at_s in changed.items():
            if self._sent.get(handle) == at_s:
                del self._sent[handle]
                self.refresh()

    def _drop_move(self) -> None:
        if self._settling is not None:
            self._settling.stop()
            self._settling = None
        self._moved.clear()
        self.refresh()

    def _place(self, handle: Handle) -> float | None:
        """Where a mark is now, or None."""
        for places in (self._moved, self._sent):
            if handle in places:
                return places[handle]
        return None if self._sound is None else _stored(self._sound, handle)

    def _limits(self, limits: Span) -> Span:
        """Return the limits as they are moved now."""
        start, end = self._place("start"), self._place("end")
        return limits[0] if start is None else start, limits[1] if end is None else end

    # ---------------------------------------------------------------- mouse

    def on_mouse_down(self, event: MouseDown) -> None:
        """Take the mark at the pointer."""
        width = self.content_size.width
        for handle in self.handles:
            at = self._place(handle)
            if at is None or not lines.inside(at, self.stretch):
                continue
            if abs(lines.column_of(at, self.stretch, width) - event.x) <= NEAR:
                if handle != self._handle:
                    self.keep()
                self._handle, self._dragging = handle, True
                self.capture_mouse()
                self.refresh()
                event.stop()
                return

    def on_mouse_move(self, event: MouseMove) -> None:
        """Move the mark with the pointer."""
        if self._dragging:
            self._put(lines.second_of(event.x, self.stretch, self.content_size.width))

    def on_mouse_up(self, event: MouseUp) -> None:
        """Keep the mark where the button is released."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()
            self.keep()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Zoom in at the pointer."""
        event.stop()
        self._zoom(0.8, lines.second_of(event.x, self.stretch, self.content_size.width))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Zoom out."""
        event.stop()
        self._zoom(1.25, lines.second_of(event.x, self.stretch, self.content_size.width))

    # ---------------------------------------------------------------- drawing

    def paint(self, width: int) -> Content:
        """Return marks, bars, marker, attempts, phonemes and axis, as many as there is room for."""
        height = max(self.content_size.height, 1)
        sound = self._shown()
        if sound is None or width < 1:
            return Content.styled("\n" * (height - 1) + BARS[0] * max(width, 1), QUIET)
        view = self.stretch
        marks = lines.marks_line(sound, view, width)
        attempts = lines.attempts_line(sound.attempts, view, width)
        said = lines.phonemes_line(sound.phonemes, view, width, ipa=self.ipa)
        steps = lines.steps_line(sound.phonemes, view, width, ipa=self.ipa)
        below = [
            (0, self._marker(sound, view, width)),
            (4 if len(sound.attempts) == 1 else 2, Content.styled(attempts, QUIET)),
            (3, Content.styled(said, "bold")),
            (6, Content.styled(steps, ACCENT)),
            (1, Content.styled(lines.axis_line(sound.zero_s, view, width), QUIET)),
        ]
        above = [(5, marks)]
        # Lines give way where there is no room, those that are needed least first.
        ranked = sorted(rank for rank, line in (*above, *below) if line.plain or rank < 2)
        kept = set(ranked[: max(height - (1 if height < 8 else 2), 0)])
        top = [line for rank, line in above if rank in kept]
        bottom = [line for rank, line in below if rank in kept]
        rows = max(height - len(top) - len(bottom), 1)
        bars = lines.bar_rows(sound, view, width, rows, self._played_s)
        return Content("\n").join([*top, bars, *bottom])

    def _marker(self, sound: Sound, view: Span, width: int) -> Content:
        onset = sound.onset
        if self._handle != "onset" and sound.limits is not None:
            at = self._limits(sound.limits)[self._handle == "end"]
            words = f"{WORDS[self._handle]} at {at - sound.zero_s:.2f} s"
            return lines.marker_line(at, words, view, width, onset.at_s if onset else None)
        if onset is None:
            found = "no onset was found" if sound.limits else ""
            return Content.styled(found, QUIET)
        return lines.marker_line(onset.at_s, lines.onset_words(onset), view, width)

    def _shown(self) -> Sound | None:
        """The response with the marks where they are moved to."""
        sound = self._sound
        if sound is None or not (self._moved or self._sent):
            return sound
        if (at := {**self._sent, **self._moved}.get("onset")) is not None:
            latency = None if sound.picture_s is None else at - sound.picture_s
            sound = replace(sound, onset=OnsetMark(at, latency, None, "you"))
        if sound.limits is not None:
            sound = replace(sound, limits=self._limits(sound.limits))
        return sound


def _stored(sound: Sound, handle: Handle) -> float | None:
    """Return where a mark of a response is stored, or None."""
    if handle == "onset":
        return None if sound.onset is None else sound.onset.at_s
    return None if sound.limits is None else sound.limits[handle == "end"]


def _near_limits(sound: Sound | None) -> Span | None:
    """Return a response with a little before and after it; None while it is being given."""
    if sound is None or sound.limits is None:
        return None
    low, high = sound.window
    return max(sound.limits[0] - EDGE_S, low), min(sound.limits[1] + EDGE_S, high)
