"""The page of results by model, as tests read it."""

from __future__ import annotations

from textual.widgets import OptionList

from tabwb.workbench.comparison.table import ModelsTable
from tests.workbench.seat import Seat

WIDE = (160, 48)


async def by_model(seat: Seat, judge: str = "") -> None:
    """Open the page, wait for all models, choose a judge."""
    await seat.press("m")
    await seat.reads("3 of 3 models")
    if judge:
        await seat.press("j")
        await seat.until(lambda: seat.app.screen.query("#lines"))
        lines = seat.app.screen.query_one("#lines", OptionList)
        names = [str(one.prompt) for one in lines.options]
        lines.highlighted = next(at for at, name in enumerate(names) if judge in name)
        await seat.press("enter")
        await seat.reads(f"rated by {judge}")


def table(seat: Seat) -> ModelsTable:
    return seat.desk.query_one(ModelsTable)


def rows(seat: Seat) -> list[list[str]]:
    shown = table(seat)
    return [[str(cell) for cell in shown.get_row_at(at)] for at in range(shown.row_count)]


def column(seat: Seat, name: str) -> list[str]:
    """The cells of one column, from top to bottom."""
    at = table(seat).columns_shown.index(name) + 1
    return [row[at].strip() for row in rows(seat)]


def names(seat: Seat) -> list[str]:
    return column(seat, "model")
