"""The page of results by model, as tests read it."""

from __future__ import annotations

from tabwb.workbench.comparison.table import ModelsTable
from tabwb.workbench.shell.row_list import RowList
from tests.workbench.seat import Seat

WIDE = (160, 48)


async def by_model(seat: Seat, judge: str = "") -> None:
    """Open the page, wait for all models, choose a judge."""
    await seat.press("m", reads="3 of 3 models")
    if judge:
        await seat.press("j")
        await seat.has("lines")
        lines = seat.app.screen.query_one("#lines", RowList)
        lines.go(next(at for at, one in enumerate(lines.rows) if judge in " ".join(one.words)))
        await seat.press("enter")
        await seat.closed()
        await seat.reads(f"rated by {judge}")


def table(seat: Seat) -> ModelsTable:
    return seat.desk.query_one(ModelsTable)


def column(seat: Seat, name: str) -> list[str]:
    """The cells of one column, from top to bottom."""
    return [cell.strip() for cell in drawn(seat, name)]


def drawn(seat: Seat, name: str, *, grown: bool = False) -> list[str]:
    """The same as they are drawn: figures, or intervals in the width that they have."""
    shown = table(seat)._fitted
    assert shown is not None
    named = [one for one in shown.measured if one.column.name == name]
    one = next(one for one in named if bool(one.column.grow) == grown)
    given = (one.width,) if grown else ()
    return [str(one.column.cell(row, *given)) for row in table(seat).rows]


def names(seat: Seat) -> list[str]:
    return column(seat, "model")
