"""What the terminal sends and gets: bytes that are not UTF-8, control characters in texts."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from functools import partial

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from tabwb.records.visible import without_controls


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
