"""What is drawn only where it has changed looks as if all of it were drawn again."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from textual.strip import Strip

from tabwb.workbench.comparison.page import ModelsPage
from tabwb.workbench.comparison.plots import PlotPane
from tabwb.workbench.home.page import HomePage
from tests.workbench.models_page import WIDE, by_model
from tests.workbench.seat import Seat, Sit
from tests.workbench.stocked import stock

NARROW = (100, 30)


@pytest.fixture(autouse=True)
def stocked(tmp_path: Path) -> None:
    stock(tmp_path / "store.db")


def drawn(seat: Seat) -> list[Strip]:
    """Text and colours of the page in the middle."""
    region = seat.desk.query_one("#pages").region
    lines = seat.app.screen._compositor.render_strips()[region.y : region.bottom]
    return [line.crop(region.x, region.right).simplify() for line in lines]


def differs(seat: Seat, before: list[Strip]) -> bool:
    """Whether something else is drawn than before."""
    return drawn(seat) != before


async def drawn_again(seat: Seat) -> list[Strip]:
    """The same, after everything that was kept has been forgotten."""
    if page := next(iter(seat.desk.query(ModelsPage)), None):
        page.query_one(PlotPane)._drawn_for = None
        page.lay_out()
    seat.desk.query_one(HomePage).update_page()
    await seat.pilot.pause()
    seat.desk.refresh(layout=True)
    await seat.pilot.pause(0.05)
    return drawn(seat)


async def changes(seat: Seat) -> None:
    """Change theme and size, and check what is drawn after each change."""
    theme = "dark" if seat.app.theme == "light" else "light"
    size = NARROW if seat.app.size == WIDE else WIDE
    for what in (theme, size):
        before = drawn(seat)
        if what == theme:
            seat.app.theme = theme
        else:
            await seat.pilot.resize_terminal(*size)
        await seat.until(partial(differs, seat, before), str(what))
        await seat.pilot.pause(0.05)
        shown = drawn(seat)
        assert shown == await drawn_again(seat), what


async def test_pages_are_redrawn_for_another_theme_and_size_shown_or_hidden(sit: Sit) -> None:
    async with sit(WIDE) as seat:
        await by_model(seat, "tab-2026:x")
        await changes(seat)
        await seat.press("g")  # plots
        await changes(seat)
        await seat.press("g")
        first = drawn(seat)
        await seat.desk.go("home")
        await seat.until(lambda: drawn(seat) != first, "the first page")
        await changes(seat)
        await seat.press("m", reads="3 of 3 models")
        shown = drawn(seat)
        assert shown == await drawn_again(seat)
