"""The size of texts as they are drawn, and lines that fit a width."""

from __future__ import annotations

import re
from functools import lru_cache

from tabwb.report.figures.style import LINE

_AFTER = re.compile(r"(?<=[\s:/@,=_|+-])(?=\S)")
"""Where a long text may be broken: after a space, or inside a spec after its marks."""


@lru_cache(maxsize=8192)
def text_width(text: str, points: float, *, bold: bool = False) -> float:
    """Return the width of one line in inches, without hinting.

    Args:
        text: one line.
        points: size of its font.
        bold: whether it is bold.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=points, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) / 72


def line_height(points: float) -> float:
    """Return the height of a line in inches."""
    return points * LINE / 72


def wrapped(text: str, points: float, width: float, most: int = 0) -> list[str]:
    """Return a text in lines that fit a width; a word too long for it is broken.

    Args:
        text: any; its own line breaks stay.
        points: size of the font.
        width: of a line, in inches.
        most: number of lines; what is beyond is cut in the middle of the text, which keeps its
            beginning and end. 0: as many as it takes.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for part in _parts(paragraph, points, width):
            if line and text_width((line + part).rstrip(), points) > width:
                lines.append(line.rstrip())
                line = part.lstrip()
            else:
                line += part
        lines.append(line.rstrip())
    if not most or len(lines) <= most:
        return lines
    return _cut(text, points, width, most)


def shortened(text: str, points: float, width: float) -> str:
    """Return a text that fits one line; what does not fit is left out of its middle.

    Args:
        text: any, without line breaks.
        points: size of the font.
        width: inches.
    """
    return wrapped(text, points, width, 1)[0]


def _parts(paragraph: str, points: float, width: float) -> list[str]:
    parts: list[str] = []
    for part in _AFTER.split(paragraph):
        rest = part
        while len(rest) > 1 and text_width(rest.rstrip(), points) > width:
            size = len(rest) - 1
            while size > 1 and text_width(rest[:size], points) > width:
                size -= 1
            parts.append(rest[:size])
            rest = rest[size:]
        parts.append(rest)
    return parts


def _cut(text: str, points: float, width: float, most: int) -> list[str]:
    kept = len(text) - 1
    while kept > 1:
        kept -= 1
        head = (kept + 1) // 2
        lines = wrapped(f"{text[:head]}…{text[len(text) - kept + head :]}", points, width)
        if len(lines) <= most:
            return lines
    return ["…"]
