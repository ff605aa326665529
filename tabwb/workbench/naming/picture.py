"""A picture in cells: two pixels in each, drawn by an upper half-block; or by the terminal itself.

The colours are the picture's own on white paper in every theme: what a person is to name looks the
same for everybody.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.events import Resize
from textual.strip import Strip
from textual.widget import Widget

from tabwb.workbench.naming import graphics
from tabwb.workbench.naming.pictures import Pixels, fitted, scaled

HALF = "▀"


class Picture(Widget):
    """Shows one picture as large as it fits, in the middle; nothing at all without one."""

    DEFAULT_CSS = """
    Picture { width: 1fr; height: 1fr; }
    Picture > #drawn { width: 100%; height: 100%; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._pixels: Pixels | None = None
        self._strips: list[Strip] = []
        self._made_for: tuple[int, int] | None = None

    def compose(self) -> ComposeResult:
        """The terminal's own picture, where it draws any."""
        drawn = graphics.widget()
        if drawn is not None:
            yield drawn(id="drawn")

    def show(self, pixels: Pixels | None) -> None:
        """Show this one, or nothing."""
        if pixels is self._pixels:
            return
        self._pixels = pixels
        self._made_for = None
        exact: Any = next(iter(self.query("#drawn")), None)
        if exact is not None:
            from PIL import Image

            exact.image = None if pixels is None else Image.fromarray(np.asarray(pixels))
        self.refresh()

    @property
    def shown(self) -> bool:
        """Whether a picture stands here."""
        return self._pixels is not None

    def on_resize(self, event: Resize) -> None:
        """Draw again for the new size."""
        self._made_for = None

    def render_line(self, y: int) -> Strip:
        """One row of cells."""
        width, height = self.size
        if self._pixels is None or not width or not height or graphics.widget() is not None:
            return Strip.blank(width, self.rich_style)
        if self._made_for != (width, height):
            self._strips = half_blocks(self._pixels, width, height)
            self._made_for = (width, height)
        top = (height - len(self._strips)) // 2
        if not top <= y < top + len(self._strips):
            return Strip.blank(width, self.rich_style)
        strip = self._strips[y - top]
        left = (width - strip.cell_length) // 2
        background = self.rich_style
        return Strip.join(
            [
                Strip.blank(left, background),
                strip,
                Strip.blank(width - left - strip.cell_length, background),
            ]
        )


def half_blocks(pixels: Pixels, width: int, height: int) -> list[Strip]:
    """A picture as rows of cells, each two square pixels one above the other.

    Args:
        pixels: height x width x 3.
        width: the most columns.
        height: the most rows.

    >>> import numpy as np
    >>> rows = half_blocks(np.zeros((4, 4, 3), dtype=np.uint8), 10, 2)
    >>> [row.text for row in rows]
    ['▀▀▀▀', '▀▀▀▀']
    """
    across, down = fitted(pixels.shape[1], pixels.shape[0], width, height * 2)
    down += down % 2
    small = scaled(pixels, across, min(down, height * 2))
    return [_row(small[y], small[y + 1]) for y in range(0, small.shape[0], 2)]


def _row(upper: Pixels, lower: Pixels) -> Strip:
    pairs = np.concatenate([upper, lower], axis=1)
    changes = np.flatnonzero((pairs[1:] != pairs[:-1]).any(axis=1)) + 1
    edges = [0, *changes.tolist(), len(pairs)]
    return Strip(
        [
            Segment(HALF * (end - start), _style(*pairs[start].tolist()))
            for start, end in pairwise(edges)
        ],
        len(pairs),
    )


def _style(red: int, green: int, blue: int, red2: int, green2: int, blue2: int) -> Style:
    return Style.from_color(Color.from_rgb(red, green, blue), Color.from_rgb(red2, green2, blue2))
