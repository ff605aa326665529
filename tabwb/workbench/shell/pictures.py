"""Pictures: read by Pillow on white paper, scaled to cells, and the widget that shows them.

A cell shows two pixels by an upper half-block, or the terminal draws the picture itself. The
colours are the picture's own on white paper in every theme: every speaker sees the same picture.
"""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.events import Resize
from textual.strip import Strip
from textual.widget import Widget

from tabwb.records.errors import UsageError
from tabwb.workbench.shell import settings

Pixels = NDArray[np.uint8]
"""Height x width x 3 (red, green, blue), 0 to 255."""
MOST_PIXELS = 25_000_000
"""Larger pictures are refused unread: a small file can unfold to any size."""


@lru_cache(maxsize=64)
def read_picture(data: bytes, name: str = "picture") -> Pixels:
    """Return the pixels of a picture on white paper; arguments as for :func:`read_rgba`."""
    rgba = read_rgba(data, name)
    alpha = rgba[..., 3:].astype(np.uint16)
    pixels = ((rgba[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)
    pixels.flags.writeable = False
    return pixels


def read_rgba(data: bytes, name: str = "picture") -> NDArray[np.uint8]:
    """Return the pixels of a picture, height x width x 4 (red, green, blue, alpha), 0 to 255."""
    from PIL import Image

    try:
        with Image.open(BytesIO(data)) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise _too_large(f"{width} x {height} pixels", name)
            if picture.mode.startswith("I"):  # Pillow would cut 16 bits off at 255
                grey = (np.asarray(picture).astype(np.uint32) * 255 // 65535).astype(np.uint8)
                return np.dstack([grey, grey, grey, np.full_like(grey, 255)])
            return np.asarray(picture.convert("RGBA"), dtype=np.uint8)
    except Image.DecompressionBombError as error:
        raise _too_large("too many pixels", name) from error
    except (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error) as error:
        raise UsageError(
            f"the picture cannot be read or is damaged: {error}",
            where=name,
            hint="save it again as PNG or JPEG",
        ) from error


def _too_large(what: str, name: str) -> UsageError:
    return UsageError(
        f"a picture of {what} is not read", where=name, allowed=f"at most {MOST_PIXELS:,} pixels"
    )


def fitted(width: int, height: int, most_width: int, most_height: int) -> tuple[int, int]:
    """Return the largest size with these proportions that fits; at least one pixel each way.

    >>> fitted(400, 300, 40, 40), fitted(300, 400, 40, 20), fitted(1000, 1, 10, 10)
    ((40, 30), (15, 20), (10, 1))
    """
    scale = min(most_width / width, most_height / height)
    return (
        max(1, min(most_width, round(width * scale))),
        max(1, min(most_height, round(height * scale))),
    )


def scaled(pixels: Pixels, width: int, height: int) -> Pixels:
    """Return a scaled picture; every new pixel is the mean of the area it covers.

    >>> import numpy as np
    >>> board = np.array([[[0] * 3, [200] * 3], [[200] * 3, [0] * 3]], dtype=np.uint8)
    >>> scaled(board, 1, 1).tolist()
    [[[100, 100, 100]]]
    """
    rows = _shares(pixels.shape[0], height)
    columns = _shares(pixels.shape[1], width)
    mean = np.einsum("yh,hwc,xw->yxc", rows, pixels.astype(np.float32), columns, optimize=True)
    made: Pixels = np.clip(np.rint(mean), 0, 255).astype(np.uint8)
    return made


def _shares(old: int, new: int) -> NDArray[np.float32]:
    """Return the share of each new pixel (row) that each old pixel makes up; rows add up to 1."""
    edges = np.arange(new + 1) * (old / new)
    starts = np.arange(old)
    overlap = np.minimum(edges[1:, None], starts + 1) - np.maximum(edges[:-1, None], starts)
    shares = np.clip(overlap, 0, None)
    made: NDArray[np.float32] = (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)
    return made


HALF = "▀"


class Picture(Widget):
    """Shows one picture as large as it fits, in the middle; nothing at all without one."""

    DEFAULT_CSS = """
    Picture { width: 1fr; height: 1fr; }
    Picture > #drawn { width: 100%; height: 100%; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pixels: Pixels | None = None
        self._strips: list[Strip] = []
        self._made_for: tuple[int, int] | None = None
        self._drawn_by_terminal = settings.picture_widget() is not None

    def compose(self) -> ComposeResult:
        """Yield the terminal's own picture, where it draws any."""
        drawn = settings.picture_widget()
        if drawn is not None:
            yield drawn(id="drawn")

    def show(self, pixels: Pixels | None) -> None:
        """Show a picture, or nothing."""
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
        """Whether a picture is shown."""
        return self._pixels is not None

    def on_resize(self, event: Resize) -> None:
        """Scale the picture again."""
        self._made_for = None

    def render_line(self, y: int) -> Strip:
        """Return one row of cells."""
        width, height = self.size
        if self._pixels is None or not width or not height or self._drawn_by_terminal:
            return Strip.blank(width, self.rich_style)
        if self._made_for != (width, height):
            self._strips = half_blocks(self._pixels, width, height)
            self._made_for = (width, height)
        top = (height - len(self._strips)) // 2
        if not top <= y < top + len(self._strips):
            return Strip.blank(width, self.rich_style)
        strip = self._strips[y - top]
        blank = Strip.blank((width - strip.cell_length) // 2, self.rich_style)
        return Strip.join([blank, strip]).extend_cell_length(width, self.rich_style)


def half_blocks(pixels: Pixels, width: int, height: int) -> list[Strip]:
    """Return a picture as rows of cells, each two square pixels one above the other.

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
    cells = [
        Segment(HALF * (end - start), _style(*pairs[start].tolist()))
        for start, end in pairwise(edges)
    ]
    return Strip(cells, len(pairs))


def _style(*rgb: int) -> Style:
    return Style.from_color(Color.from_rgb(*rgb[:3]), Color.from_rgb(*rgb[3:]))
