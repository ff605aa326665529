"""Drawn numbers are where their values are; shaded cells can be read in every theme."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App
from textual.color import Color
from textual.content import Content

from tabwb.workbench.shell.drawn import (
    DARKEST,
    EIGHTHS,
    STEPS,
    heat,
    heat_style,
    interval_bar,
    share_bar,
    spark,
    table_cell,
)
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


WIDTHS = st.integers(5, 120)
SHARES = st.floats(0.0, 1.0)
FEW = settings(max_examples=60, deadline=None)


@FEW
@given(WIDTHS, st.tuples(SHARES, SHARES, SHARES).map(sorted), st.floats(0.5, 19.0))
def test_a_drawn_interval_is_where_its_numbers_are(
    width: int, ends: list[float], highest: float
) -> None:
    low, value, high = (share * highest for share in ends)
    drawn = interval_bar(low, value, high, width=width, highest=highest).plain
    assert len(drawn) == width
    at = drawn.index("●")
    # Half a cell is the largest distance between a number and the middle of its cell.
    assert abs(at - ends[1] * (width - 1)) <= 0.5 + 1e-9
    inked = [place for place, glyph in enumerate(drawn) if glyph != " "]
    assert inked[0] <= at <= inked[-1]
    assert abs(inked[0] - ends[0] * (width - 1)) <= 0.5 + 1e-9
    assert abs(inked[-1] - ends[2] * (width - 1)) <= 0.5 + 1e-9
    assert drawn[inked[0] : inked[-1] + 1] == drawn.strip()


@FEW
@given(WIDTHS, SHARES, SHARES)
def test_larger_values_are_drawn_further_right_and_0_and_1_at_the_ends(
    width: int, first: float, second: float
) -> None:
    def place(value: float) -> int:
        return interval_bar(None, value, None, width=width).plain.index("●")

    assert place(min(first, second)) <= place(max(first, second))
    assert (place(0.0), place(1.0)) == (0, width - 1)
    baseline = interval_bar(None, None, None, width=width, baseline=first).plain
    assert baseline.index("◆") == place(first)


@FEW
@given(WIDTHS, st.lists(st.one_of(st.none(), SHARES), min_size=1, max_size=40))
def test_bars_rise_with_their_values_and_undefined_is_not_0(
    width: int, values: list[float | None]
) -> None:
    columns = spark(values, len(values), highest=1.0).plain
    assert [glyph == " " for glyph in columns] == [value is None for value in values]
    known = sorted(
        (value, STEPS.index(glyph))
        for value, glyph in zip(values, columns, strict=True)
        if value is not None
    )
    assert [step for _, step in known] == sorted(step for _, step in known)
    for value, _ in known:
        drawn = share_bar(value, width).plain
        eighths = sum(EIGHTHS.index(part) + 1 for part in drawn.strip())
        assert (len(drawn), eighths == 0) == (width, value == 0.0)
        assert eighths == 1 or abs(eighths - value * 8 * width) <= 0.5 + 1e-9


def test_an_undefined_cell_has_a_dash_and_no_shade_but_0_has_a_number() -> None:
    assert heat(None, width=6).plain.strip() == "-"
    assert heat(0.0, width=6).plain.strip() == "0.00 ▁"
    shades = [int(heat_style(share / 20).split()[-1].rstrip("%")) for share in range(21)]
    assert shades == sorted(set(shades))
    assert share_bar(None, 5).plain == "-    " and share_bar(0.0, 5).plain == "     "


def test_two_baselines_in_the_cell_of_an_end_are_drawn_as_both() -> None:
    assert interval_bar(0.0, 0.5, 1.0, width=5, baseline=(0.99, 1.0)).plain == "├─●─◈"
