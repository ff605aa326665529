"""The contrast of the themes, computed by WCAG 2."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import Theme

from tabwb.workbench.shell import settings

PAGES = ("background", "surface", "panel", "hover")
"""What texts, fields and borders lie on."""
CURSORS = ("block-cursor-background", "block-cursor-blurred-background")


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""

    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(part) for part in Color.parse(colour).rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """(lighter + 0.05) / (darker + 0.05)."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("theme", settings.THEMES, ids=lambda theme: theme.name)
def test_texts_and_borders_stand_out_from_what_is_behind_them(theme: Theme) -> None:
    """1.4.3: 4.5 for text, also on the row of the cursor (1.4.6: 7 in high contrast); 1.4.11: 3
    for the edges of fields and panes, and for the focused one against an unfocused background.
    """
    colours = {name: getattr(theme, name) for name in ("background", "surface", "panel")}
    colours |= {name: getattr(theme, name) for name in ("foreground", "accent", "warning", "error")}
    colours |= theme.variables
    text = 7.0 if theme is settings.HIGH_CONTRAST else 4.5
    least = [
        (front, behind, ratio)
        for fronts, behinds, ratio in (
            (("foreground", "accent", "warning", "error", "quiet"), PAGES[:3], text),
            (("foreground", "accent", "warning", "error", "quiet"), PAGES[3:] + CURSORS, 4.5),
            (("block-cursor-foreground",), CURSORS, text),
            (("on-accent",), ("accent",), text),
            (("line", "accent", "scrollbar"), PAGES, 3.0),
        )
        for front in fronts
        for behind in behinds
    ]
    assert {
        (front, behind): contrast(colours[front], colours[behind])
        for front, behind, ratio in least
        if contrast(colours[front], colours[behind]) < ratio
    } == {}
