"""Shades of a heat map, from 0 to 1, their lightness falling evenly, and the bar that explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.media.figures.lettering import line_height, text_width
from tabwb.media.figures.style import INK, RULE, SHADES, SMALL

if TYPE_CHECKING:
    from tabwb.media.figures.page import Page

STEPS = 50
HATCH = "//////"
"""Of cells that are undefined."""


def shade(value: float) -> str:
    """Return the colour of a value from 0 (white) to 1 (dark), in linear steps of sRGB.

    >>> shade(0.0), shade(1.0)
    ('#FFFFFF', '#00234D')
    """
    at = min(max(value, 0.0), 1.0) * (len(SHADES) - 1)
    low = min(int(at), len(SHADES) - 2)
    ends = [[int(SHADES[n][k : k + 2], 16) for k in (1, 3, 5)] for n in (low, low + 1)]
    mixed = (round(a + (b - a) * (at - low)) for a, b in zip(*ends, strict=True))
    return "#" + "".join(f"{part:02X}" for part in mixed)


def shade_bar(
    page: Page,
    left: float,
    top: float,
    title: str,
    *,
    undefined: bool,
    ends: tuple[str, str] = ("0", "100"),
) -> float:
    """Draw the shades with their numbers and what is undefined; return where they end."""
    from matplotlib.patches import Rectangle

    size = text_width(title, SMALL) + 0.08
    extra = text_width("undefined", SMALL) + 0.45 if undefined else 0.0
    wide = min(1.2, page.width - left - size - extra - 0.2)
    if wide < 0.5:
        left = 0.05
        wide = min(1.2, page.width - left - size - extra - 0.2)
    page.text(left, top + 0.1, title)
    x, tall = left + size, 0.11
    for step in range(STEPS):
        colour = shade((step + 0.5) / STEPS)
        place = (x + step * wide / STEPS, top)
        page.sheet.add_patch(
            Rectangle(place, wide / STEPS, tall, facecolor=colour, edgecolor=colour, linewidth=0.1)
        )
    page.sheet.add_patch(Rectangle((x, top), wide, tall, fill=False, edgecolor=INK, linewidth=0.5))
    for part, words in zip((0.0, 1.0), ends, strict=True):
        page.text(x + part * wide, top + tall + 0.11, words, ha="center")
    if undefined:
        box = x + wide + 0.2
        page.sheet.add_patch(
            Rectangle((box, top), 0.18, tall, facecolor="white", edgecolor=RULE, hatch=HATCH,
                      linewidth=0.4)
        )  # fmt: skip
        page.text(box + 0.23, top + 0.1, "undefined")
    return top + tall + line_height(SMALL) + 0.04
