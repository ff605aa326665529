"""Shaded cells can be read in every theme, also as cells of a table."""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import App
from textual.color import Color
from textual.content import Content

from tabwb.workbench.shell.drawn import DARKEST, heat, interval_bar, table_cell
from tabwb.workbench.shell.settings import THEMES


def _luminance(colour: Color) -> float:
    """Return the relative luminance of WCAG 2.2."""
    return sum(
        weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        for weight, part in zip((0.2126, 0.7152, 0.0722), colour.normalized, strict=True)
    )


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: str(theme.name))
def test_text_on_the_darkest_shade_keeps_its_contrast(theme: Any) -> None:
    ground = Color.parse(theme.background).blend(Color.parse(theme.accent), DARKEST / 100)
    light, dark = sorted(map(_luminance, (Color.parse(theme.foreground), ground)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


async def test_a_cell_of_a_table_has_the_colours_of_the_theme() -> None:
    app: App[None] = App()
    for theme in THEMES:
        app.register_theme(theme)
    app.theme = "dark"
    async with app.run_test(size=(20, 5)):
        cell = table_cell(Content.assemble("m ", heat(1.0)), app)
        assert cell.plain == "m 1.00"
        (shade,) = cell.spans
        style = shade.style
        assert not isinstance(style, str) and style.bgcolor is not None
        assert (
            style.bgcolor.name
            == Color.parse("#14171c").blend(Color.parse("#7fb4ca"), 0.45).hex.lower()
        )
        interval = table_cell(interval_bar(0.1, 0.5, 0.9, width=5), app)
        assert all(
            not isinstance(span.style, str) and span.style.bgcolor is None
            for span in interval.spans
        )
