"""The one list of rows: keys, mouse, headings, sizes, many rows."""

from __future__ import annotations

from textual.content import Content
from textual.pilot import Pilot

from tabwb.workbench.shell.columns import Column, Heading
from tabwb.workbench.shell.row_list import RowList
from tests.workbench.seat import Stage

KEYS = ("up", "down", "pageup", "pagedown", "home", "end", "enter")
COLUMNS: list[Column[str]] = [
    Column("name", lambda row: row, least=8),
    Column("n", lambda row: str(len(row)), right=True),
]


class Told(Stage):
    """A list, and what it tells."""

    def __init__(self) -> None:
        self.list = RowList(id="rows")
        super().__init__(self.list)
        self.told: list[tuple[str, int]] = []

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        if not isinstance(message, RowList.Selected):
            self.told.append(("at", message.row))

    def on_row_list_selected(self, message: RowList.Selected) -> None:
        self.told.append(("opened", message.row))

    def on_row_list_left(self, message: RowList.Left) -> None:
        self.told.append(("left", message.step))

    async def after(self, pilot: Pilot[None], *keys: str) -> list[tuple[str, int]]:
        """Press keys; what the list has told since."""
        await pilot.press(*keys)
        await pilot.pause()
        told, self.told = self.told, []
        return told


async def test_keys_and_mouse_go_to_rows_and_never_to_headings() -> None:
    app = Told()
    async with app.run_test(size=(40, 10)) as pilot:
        rows = app.list
        rows.focus()
        rows.show(COLUMNS, [])
        assert await app.after(pilot, *KEYS) == [("left", -1), ("left", 1)]
        rows.show(COLUMNS, [Heading(Content("Only a heading"))])
        await app.after(pilot, *KEYS)
        assert rows.current == -1
        rows.show(COLUMNS, ["a", "b"], usable=lambda row: False)
        await app.after(pilot, *KEYS)
        assert rows.current == -1
        rows.show(COLUMNS, ["a", Heading(Content("Others")), "b", "c"])
        assert await app.after(pilot) == [("at", 0)]
        assert await app.after(pilot, "down", "enter") == [("at", 2), ("opened", 2)]
        assert await app.after(pilot, "up", "up", "end", "down") == [
            ("at", 0), ("left", -1), ("at", 3), ("left", 1)
        ]  # fmt: skip
        for x, told in ((1, [("at", 0)]), (1, [("opened", 0)]), (2, []), (3, [("at", 2)])):
            await pilot.click(rows, offset=(4, x))
            assert await app.after(pilot) == told
        await pilot.click(rows, offset=(4, 4), times=2)
        assert await app.after(pilot) == [("at", 3), ("opened", 3)]
        await pilot.click(rows, offset=(4, 4), times=2)
        assert await app.after(pilot) == [("opened", 3)], "and not once more"
        rows.show(COLUMNS, ["c", "a"])
        assert rows.chosen == "c", "the row stays the same where it is among others"


async def test_it_is_drawn_at_every_size_and_with_ten_thousand_rows() -> None:
    app, names = (
        Told(),
        [f"replay:/study/{n}/model-{n}-{'with-words-' * 6}{n}" for n in range(10_000)],
    )
    async with app.run_test(size=(60, 10)) as pilot:
        rows = app.list
        rows.focus()
        rows.show(COLUMNS, names)
        assert (await app.after(pilot, "end"))[-1] == ("at", 9_999)
        assert "▌" in app.text.splitlines()[-1]
        for width in (1, 2, 3, 4, 80):
            await pilot.resize_terminal(width, 3)
            assert await app.after(pilot, "up", "down")
        assert "9999" in app.text


async def test_a_drag_selects_what_is_seen_and_opens_no_row() -> None:
    app = Told()
    async with app.run_test(size=(40, 8)) as pilot:
        rows = app.list
        rows.focus()
        rows.show(COLUMNS, [f"row {at:02}" for at in range(20)])
        await app.after(pilot, *["down"] * 9)
        top = rows.scroll_offset.y
        assert top > 0
        await pilot.mouse_down(rows, offset=(2, 2))
        await pilot.hover(rows, offset=(2, 3))
        await pilot.hover(rows, offset=(8, 3))
        await pilot.mouse_up(rows, offset=(8, 3))
        first, second = (app.screen.get_selected_text() or "").splitlines()
        assert first.split() == [f"row {top + 1:02}".split()[0], f"{top + 1:02}", "6"]
        assert second.startswith(f"  row {top + 2:02}")
        assert await app.after(pilot) == []
        await pilot.click(rows, offset=(2, 3))
        assert app.screen.get_selected_text() is None
        assert await app.after(pilot) == [("at", top + 2)]
