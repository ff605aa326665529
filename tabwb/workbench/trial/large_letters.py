"""Large letters made of half blocks, for a participant's screen."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import ImageFont

SIZES = (24, 20, 16, 14, 12)
"""Heights of the letters in half cells, the largest first; smaller ones are hard to read."""
INK = 110
"""A half cell is filled from this share of 255 up."""
_CELLS = " ▀▄█"
_PUNCTUATION = "–—‘’“”…"


def fitting(texts: tuple[str, ...], width: int, height: int) -> list[str] | None:
    """Return texts in the largest letters that fit, below each other, or None if none fit."""
    if not all(character in _PUNCTUATION or ord(character) < 0x250 for character in "".join(texts)):
        return None
    for size in SIZES:
        if _font(size) is None:
            return None
        rows: list[str] | None = []
        for text in texts:
            drawn = large(text, size, width)
            rows = None if drawn is None or rows is None else [*rows, *drawn]
        if rows is not None and len(rows) <= height:
            return rows
    return None


@lru_cache(maxsize=64)
def large(text: str, size: int, width: int) -> tuple[str, ...] | None:
    """Return a text as rows of half blocks, wrapped at blanks; None if a word is too wide.

    >>> rows = large("cat", 16, 60)
    >>> len(rows), max(map(len, rows)) <= 60, large("cat", 16, 6)
    (10, True, None)
    """
    from PIL import Image, ImageDraw

    font = _font(size)
    if font is None:
        return None
    lines: list[str] = []
    for word in text.split(" "):
        if font.getlength(word) > width:
            return None
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    height = sum(font.getmetrics())
    height += height % 2
    rows = []
    for line in lines:
        image = Image.new("L", (width, height))
        ImageDraw.Draw(image).text((0, 0), line, fill=255, font=font)
        ink = image.tobytes()
        for upper in range(0, height, 2):
            above, below = (ink[at * width : (at + 1) * width] for at in (upper, upper + 1))
            cells = (
                _CELLS[(one > INK) + 2 * (two > INK)] for one, two in zip(above, below, strict=True)
            )
            rows.append("".join(cells).rstrip())
    return tuple(rows)


@lru_cache(maxsize=len(SIZES))
def _font(size: int) -> ImageFont.FreeTypeFont | None:
    """Return Pillow's own font, or None where Pillow cannot draw it."""
    from PIL import ImageFont, features

    if not features.check("freetype2"):
        return None
    font = ImageFont.load_default(size)
    return font if isinstance(font, ImageFont.FreeTypeFont) else None
