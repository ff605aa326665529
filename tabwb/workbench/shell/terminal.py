"""Input and output of the terminal: keys in their order, text without control characters."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.message import Message

from tabwb.records.visible import without_controls

if TYPE_CHECKING:
    from textual.app import App
    from textual.events import Key
    from textual.message_pump import MessagePump

LAPS = 3
"""A key may make a message that makes another one, each behind what follows the key: so often a
message follows through all queues before the key is taken as acted on."""
LOOK_S = 0.02
"""Seconds between two checks whether a command is done."""
LOST_S = 0.5
"""A key that has gone with its dialog is taken as done after so long; and so long is waited at most
for a new dialog to take the focus."""


class Passed(Message):
    """Follows a key through the message queues; when it arrives, the key was handled."""

    def __init__(self, number: int, lap: int = 1) -> None:
        self.number, self.lap = number, lap
        super().__init__()


class KeyQueue:
    """Passes one key at a time.

    Args:
        app: whose keys they are.
        done: whether everything that was asked for is done.
    """

    def __init__(self, app: App[int], done: Callable[[], bool]) -> None:
        self._app, self._done = app, done
        self._waiting: deque[Key] = deque()
        self._number = 0
        self._under_way = False
        self._acted_on = True
        self._sent: Key | None = None

    def admits(self, event: Key) -> bool:
        """Return whether a key is passed on now; otherwise it is queued."""
        if event is self._sent:
            self._sent = None
            return True
        if self._under_way:
            self._waiting.append(event)
            return False
        self._begin()
        return True

    def follow(self, target: MessagePump) -> None:
        """Send a message after a key to the same widget, to learn when it was handled."""
        number = self._number
        target.post_message(Passed(number))
        self._app.set_timer(LOST_S, lambda: self.passed(number))

    def lapped(self, message: Passed, target: MessagePump) -> None:
        """Handle the message that follows a key."""
        if message.lap < LAPS:
            target.post_message(Passed(message.number, message.lap + 1))
        else:
            self.passed(message.number)

    def passed(self, number: int) -> None:
        """Note that a key was handled; its command may still be running."""
        if number == self._number and not self._acted_on:
            self._acted_on = True
            self._go_on(LOST_S)

    def drop(self) -> None:
        """Discard the queued keys: they were meant for something else."""
        self._waiting.clear()

    def _begin(self) -> None:
        self._number += 1
        self._under_way, self._acted_on = True, False

    def _go_on(self, patience_s: float) -> None:
        if not self._app.screen_stack:
            return  # the program ends
        if not self._done():
            self._app.set_timer(LOOK_S, lambda: self._go_on(patience_s))
        elif self._app.focused is None and patience_s > 0:
            self._app.set_timer(LOOK_S, lambda: self._go_on(patience_s - LOOK_S))
        elif self._waiting:
            self._begin()
            self._sent = self._waiting.popleft()
            self._app.post_message(self._sent)
        else:
            self._under_way = False


def prepare() -> None:
    """Let Textual read bytes that are not UTF-8 as U+FFFD.

    Textual decodes strictly, so one such byte, pasted or typed, would end its input thread and
    with it the workbench. It has no option for this. Windows has another driver, which reads
    characters.
    """
    try:
        from textual.drivers import linux_driver
    except ImportError:
        return
    linux_driver.getincrementaldecoder = _tolerant  # type: ignore[attr-defined, assignment]


def _tolerant(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), "replace")


class ControlFilter(LineFilter):
    """Removes control characters from every line that Textual is about to draw.

    A reply of a model can hold terminal sequences. The rest of such a sequence stays readable;
    removing characters that take no cell leaves the layout as it is.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without control characters."""
        if all(text.isprintable() for text, _, _ in segments):
            return segments
        return [
            Segment(without_controls(text), style, control) for text, style, control in segments
        ]
