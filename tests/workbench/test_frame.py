"""The frame: docks, drawers, menus, palette, help, themes, what is remembered."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

import pytest
from rich.segment import Segment
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.color import Color
from textual.command import CommandPalette
from textual.content import Content
from textual.events import Resize, Show
from textual.geometry import Size
from textual.screen import Screen

from tabwb.records.words import RESEARCH_ONLY
from tabwb.workbench.shell.app import TOO_SMALL, ControlFilter
from tabwb.workbench.shell.frame import MenuList, TitleBar, TitleState
from tabwb.workbench.shell.width_aware import Flow
from tests.workbench.seat import SIZES, Sit


async def test_the_first_opening_shows_what_tabwb_is_not_and_only_once(sit: Sit) -> None:
    async with sit(new=True) as seat:
        await seat.reads("I have read this")
        words = " ".join(seat.text.replace("│", " ").split())
        assert words.count("person's care") == 1, "nothing looks out from below"
        assert RESEARCH_ONLY in words
        await seat.press("enter")
        await seat.until(lambda: not seat.asked)
    async with sit(new=True) as seat:
        await seat.pilot.pause(0.2)
        assert not seat.asked


async def test_a_wish_opens_the_dialog_filled_in(sit: Sit, battery: str) -> None:
    async with sit(battery=battery, model="echo") as seat:
        await seat.dialog()
        await seat.press("enter")
        await seat.until(lambda: seat.desk.work)
        assert seat.work.administration.conditions.examinee == "echo"


async def test_nothing_that_closed_dialogs_have_drawn_is_kept(sit: Sit) -> None:
    def kept() -> int:
        gc.collect()
        return sum(type(one) is StylesCache for one in gc.get_objects())

    async with sit() as seat:
        counts = []
        for _ in range(3):
            await seat.press("question_mark")
            await seat.until(lambda: seat.asked)
            await seat.press("escape")
            await seat.until(lambda: not seat.asked)
            counts.append(kept())
        assert counts[1] == counts[2]


async def test_a_page_has_its_own_styles_when_it_is_opened_first(sit: Sit) -> None:
    async with sit() as seat:
        await seat.desk.go("participants")
        assert seat.desk.current.styles.padding == (0, 0, 0, 0), "not that of every page"


async def test_docks_stand_while_the_page_keeps_72_columns(sit: Sit, battery: str) -> None:
    async with sit((132, 32)) as seat:
        await seat.begin(battery=battery, model="echo")

        def columns() -> list[int]:
            parts = ("#explorer-dock", "#pages", "#scores-dock")
            return [
                part.region.width if part.display else 0 for part in map(seat.desk.query_one, parts)
            ]

        assert columns() == [28, 72, 32]
        await seat.pilot.resize_terminal(120, 32)
        await seat.until(lambda: columns() == [28, 92, 0])
        await seat.press("f4")
        assert columns()[1:] == [92, 46], "the scores are a drawer over the page"
        await seat.press("escape", "f3", "f3")
        assert columns() == [28, 92, 0]
        await seat.pilot.resize_terminal(95, 30)
        await seat.until(lambda: columns() == [0, 95, 0])


@pytest.mark.parametrize(("key", "dock"), [("f3", "#explorer-dock"), ("f4", "#scores-dock")])
async def test_without_room_docks_are_drawers(sit: Sit, battery: str, key: str, dock: str) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.reads("words -")
        await seat.press(key)
        assert seat.desk.query_one(dock).display
        assert seat.desk.query_one("#pages").size.width == 80, "the middle keeps its place"
        await seat.press("escape")
        await seat.until(lambda: not seat.desk.query_one(dock).display)
        assert seat.app.focused is not None
        assert seat.app.focused.id == "transcript"


async def test_the_border_of_a_dock_is_dragged(sit: Sit) -> None:
    async with sit((160, 48)) as seat:
        dock = seat.desk.query_one("#explorer-dock")
        await seat.pilot.mouse_down(offset=(dock.region.right - 1, 8))
        await seat.pilot.hover(offset=(38, 8))
        await seat.pilot.mouse_up(offset=(38, 8))
        await seat.until(lambda: seat.app.remembered.explorer_width == 39)
        assert dock.region.width == 39


async def test_no_color_leaves_greys_only(sit: Sit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with sit() as seat:
        for strip in seat.app.screen._compositor.render_strips():
            for segment in strip.apply_filter(seat.app._filters[-1], Color(0, 0, 0)):
                style = segment.style
                for colour in (style.color, style.bgcolor) if style else ():
                    if colour is not None and colour.triplet is not None:
                        assert len(set(colour.triplet)) == 1


@pytest.mark.parametrize("size", [(79, 24), (80, 23), (40, 10)])
async def test_too_small_a_terminal_is_told_so(sit: Sit, size: tuple[int, int]) -> None:
    async with sit((80, 24)) as seat:
        await seat.pilot.resize_terminal(*size)
        await seat.reads("tabwb needs 80x24")
        await seat.reads(f"this terminal is {size[0]}x{size[1]}")
        await seat.pilot.resize_terminal(80, 24)
        await seat.until(lambda: not seat.asked)


async def test_the_palette_opens_once(sit: Sit) -> None:
    async with sit((80, 24)) as seat:
        await seat.press("ctrl+p", "f1", "ctrl+p")
        assert sum(isinstance(one, CommandPalette) for one in seat.app.screen_stack) == 1


async def test_nothing_opens_over_the_size_notice(sit: Sit) -> None:
    async with sit((80, 24)) as seat:
        await seat.press("ctrl+p")
        await seat.pilot.resize_terminal(70, 20)
        await seat.reads("tabwb needs 80x24")
        await seat.press("f1", "ctrl+p")
        assert seat.app.screen.name == TOO_SMALL
        await seat.pilot.resize_terminal(60, 20)
        await seat.reads("this terminal is 60x20")
        assert [one.name for one in seat.app.screen_stack].count(TOO_SMALL) == 1
        await seat.pilot.resize_terminal(80, 24)
        for size in ((60, 20), (80, 24), (60, 20), (90, 24)):  # as fast as a mouse draws a window
            seat.app.post_message(Resize(Size(*size), Size(*size)))
        await seat.until(lambda: isinstance(seat.app.screen, CommandPalette))


def test_no_control_character_is_drawn() -> None:
    before = [Segment("a\x1b]0;t\x07"), Segment("b\x9b31mc\u202e"), Segment("plain")]
    after = ControlFilter().apply(before, Color(0, 0, 0))
    assert [text for text, _, _ in after] == ["a]0;t", "b31mc", "plain"]
    assert sum(one.cell_length for one in after) == sum(one.cell_length for one in before)


@pytest.mark.parametrize("size", SIZES)
async def test_f10_opens_the_menus_and_enter_chooses(
    sit: Sit, size: tuple[int, int], battery: str
) -> None:
    async with sit(size) as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.press("f10")
        await seat.reads("Next item")
        assert "space" in seat.text
        await seat.press("enter")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt)


async def test_menus_turn_with_arrows_and_close_with_esc(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f10")
        await seat.reads("New administration…")
        await seat.press("left")
        await seat.reads("About tabwb")
        await seat.press("escape")
        assert not seat.asked


async def test_menus_show_only_keys_that_work_on_the_page(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await seat.press("f10")
        await seat.reads("New administration…")
        menu = seat.app.screen.query_one(MenuList)
        assert str(menu.get_option("file.sweep-page").prompt).split()[-1] == "w"
        await seat.press("escape")
        await seat.begin(battery=battery, model="echo")
        await seat.press("f10", "left")
        await seat.reads("Quit")
        menu = seat.app.screen.query_one(MenuList)
        assert str(menu.get_option("file.sweep-page").prompt).strip() == "Sweeps of lesions"
        assert str(menu.get_option("file.open").prompt).split()[-1] == "F7"
        assert str(menu.get_option("file.quit").prompt).split()[-1] == "ctrl+q"


async def test_a_click_opens_a_menu_and_chooses(sit: Sit, battery: str) -> None:
    async with sit((160, 48)) as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.pilot.click("#title-bar", offset=(16, 0))
        await seat.reads("Discontinue…")
        await seat.pilot.click("#menu-list", offset=(6, 1))
        await seat.until(lambda: seat.work.item)


async def test_a_click_at_the_foot_does_what_it_says(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.pilot.click("#foot", offset=(3, 0))
        await seat.until(lambda: seat.work.item)


async def test_the_network_has_words_and_help(sit: Sit) -> None:
    async with sit() as seat:
        await seat.reads("offline   saved")
        await seat.press("f9")
        await seat.reads("offline: no other machine is contacted")
        await seat.press("escape", "f1")
        await seat.reads("At the right of the title bar")
    bar = TitleBar()
    bar.state = TitleState(offline=False, saved=True, narrow=True)
    assert "network allowed   saved" in bar.paint(78).plain


async def test_a_flow_shows_the_same_words_in_another_style() -> None:
    class Stage(App[None]):
        def compose(self) -> ComposeResult:
            yield Flow()

    app = Stage()
    async with app.run_test(size=(20, 2)) as pilot:
        flow = app.query_one(Flow)
        for style in ("", "bold"):
            flow.show([[Content.styled("right", style)]], 2)
            await pilot.pause()
            drawn = next(iter(app.screen._compositor.render_strips()[0]))
            assert drawn.text.startswith("right")
            assert bool(drawn.style and drawn.style.bold) == (style == "bold")


OPENED = """
import asyncio, sys
from tabwb.workbench.app import make_workbench
async def main():
    app = make_workbench(location=sys.argv[1], offline=True)
    async with app.run_test(size=(120, 40)) as pilot:
        for _ in range(3000):
            await pilot.pause(0.02)
            if app.desk.catalogue is not None:
                break
        assert app.desk.catalogue.batteries
        app.desk.close_worker()
    heavy = {"torch", "transformers", "numpy", "scipy", "click"}
    print(sorted(heavy & set(sys.modules)))
asyncio.run(main())
"""


def test_nothing_heavy_is_imported_when_the_workbench_has_opened(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OPENED, str(tmp_path / "store.db")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


async def test_sizes_that_follow_each_other_at_once_are_laid_out_to_an_end(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out: list[Size] = []
    layout = Screen._screen_resized

    def counted(screen: Screen[None], size: Size) -> None:
        laid_out.append(size)
        layout(screen, size)

    async with sit((80, 24)) as seat:
        await seat.pilot.resize_terminal(107, 31)
        monkeypatch.setattr(Screen, "_screen_resized", counted)
        for size in (Size(89, 26), Size(107, 31), Size(89, 26), Size(107, 31)):
            seat.app.screen.post_message(Resize(size, size))
            seat.app.screen.post_message(Show())  # sizes with nothing between them are one
        await asyncio.sleep(1.0)
        assert set(laid_out) == {Size(107, 31)} and len(laid_out) < 10
        assert seat.app.screen.size == Size(107, 31)
