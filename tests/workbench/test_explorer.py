"""The explorer: its rows, its groups, its filter."""

from __future__ import annotations

from tabwb.workbench.shell.explorer import Explorer
from tests.workbench.seat import Seat, Sit


def rows(seat: Seat) -> list[str]:
    """What the explorer shows, without frame and blanks around."""
    explorer = seat.desk.query_one(Explorer)
    assert explorer._fitted is not None
    return [explorer.line_of(row, explorer._fitted).plain for row in explorer.rows]


async def test_rows_have_state_number_battery_examinee_and_count(sit: Sit, battery: str) -> None:
    async with sit((160, 48)) as seat:
        await seat.begin(battery=battery, model="echo@text=dog")
        await seat.begin(battery=battery, model="echo", seed="7")
        await seat.next()

        def row(number: int) -> list[str]:
            return next(one.split() for one in rows(seat) if f" {number} " in one)

        planned = seat.work.administration.planned
        assert row(2) == ["◆▸", "2", "echo", f"1/{planned}"]
        assert row(1) == ["‖", "1", "echo@text=dog", f"0/{planned}"]
        assert len({len(one) for one in rows(seat)[-2:]}) == 1, "counts are below each other"
        await seat.press("a", at="results")
        await seat.until(lambda: row(2) == ["◆✓", "2", "echo", "1/3"], "right of scored")


async def test_rows_are_clicked_found_by_words_and_stay_folded(sit: Sit, battery: str) -> None:
    async with sit((160, 48)) as seat:
        for seed in ("1", "770"):
            await seat.begin(battery=battery, model="echo", seed=seed)
        await seat.press("f8")
        await seat.until(lambda: seat.desk.page == "home" and seat.app.focused)
        explorer = seat.desk.query_one(Explorer)
        last = len(explorer.rows) - 1
        await seat.pilot.click(explorer, offset=(6, last))
        await seat.until(lambda: explorer.current == last, "the row")
        assert len(seat.app.screen_stack) == 1, "a click goes there and opens nothing"
        await seat.pilot.click(explorer, offset=(6, last), times=2)
        await seat.reads("Continue #1?")
        await seat.press("escape")
        await seat.closed()
        explorer.focus()
        await seat.press("home", "down", "enter")  # a battery opens the dialog
        await seat.dialog()
        await seat.press("escape")
        explorer.focus()
        await seat.press("slash", *"seed", "space", *"770")
        await seat.until(lambda: rows(seat)[-2:][0] == "▾ Administrations  1")
        assert rows(seat)[:2] == ["▾ Batteries  0", "  nothing found"]
        await seat.press("enter", "enter", reads="Continue #2?")
        await seat.press("escape")
        await seat.press("slash", "escape")
        await seat.until(lambda: "▾ Administrations  2" in rows(seat))
        await seat.press("home", "space")
        await seat.until(lambda: "Batteries" in seat.app.remembered.folded)
        folded = rows(seat)
    async with sit((160, 48)) as seat:
        await seat.until(lambda: rows(seat) == folded, "the group is folded still")
