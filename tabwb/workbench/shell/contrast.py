"""The contrast of the themes by WCAG 2.2: of texts, fields, borders and cursors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual.color import Color
from textual.theme import Theme

from tabwb.workbench.shell import settings

TEXT, PART = 4.5, 3.0
"""The least contrast of texts, and of what shows a state: borders, bars, scroll bars."""
PAGES = ("background", "surface", "panel")
"""What texts, fields and borders lie on."""
CURSORS = ("block-cursor-background", "block-cursor-blurred-background")
WORDS = ("foreground", "accent", "warning", "error", "quiet")
PAIRS = (
    (WORDS, (*PAGES, "hover", "field", *CURSORS), TEXT),
    (("block-cursor-foreground",), CURSORS, TEXT),
    (("on-accent",), ("accent",), TEXT),
    (("line", "accent", "scrollbar"), (*PAGES, "hover"), PART),
)
"""What is drawn, what it is drawn on, and the least contrast."""


class Contrast(NamedTuple):
    """The contrast of two colours of a theme, and the least that is allowed."""

    front: str
    behind: str
    ratio: float
    least: float


def luminance(colour: str) -> float:
    """Return the relative luminance."""

    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(part) for part in Color.parse(colour).rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return (lighter + 0.05) / (darker + 0.05).

    >>> round(contrast("#000000", "#ffffff"), 2), round(contrast("#767676", "#ffffff"), 2)
    (21.0, 4.54)
    """
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def contrasts(theme: Theme) -> Iterator[Contrast]:
    """Yield the contrast of everything that is drawn in a theme.

    In high contrast texts on pages have 7 or more.
    """
    own = ("background", "surface", "panel", "foreground", "accent", "warning", "error")
    colours = {name: getattr(theme, name) for name in own} | theme.variables
    for fronts, behinds, least in PAIRS:
        for front in fronts:
            for behind in behinds:
                high = theme is settings.HIGH_CONTRAST and least == TEXT
                # On the cursor and under the mouse other texts than the row's own have 4.5.
                seven = high and (behind in PAGES or front not in WORDS)
                ratio = contrast(colours[front], colours[behind])
                yield Contrast(front, behind, ratio, 7.0 if seven else least)


def contrast_table() -> Iterator[str]:
    """Yield the contrasts of the three themes as lines of Markdown."""
    yield f"| what | on | least | {' | '.join(settings.THEME_NAMES)} |"
    yield "|---|---|---:|---:|---:|---:|"
    for row in zip(*map(contrasts, settings.THEMES), strict=True):
        front, behind, _, least = row[0]
        values = " | ".join(f"{one.ratio:.1f}" for one in row)
        yield f"| {front} | {behind} | {least:.1f} | {values} |"
