"""Keeps control characters in text of others away from the terminal."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from tabwb.records.visible import without_controls


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
