"""The frame: docks, drawers, menus, palette, help, themes, what is remembered."""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import pkgutil
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from rich.segment import Segment
from rich.style import Style
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.color import Color
from textual.command import CommandPalette
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click, Resize, Show
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Static

import tabwb.workbench
from tabwb.host.plugins import Plugins
from tabwb.records.errors import UsageError
from tabwb.records.series import Series
from tabwb.records.speakers import Consent
from tabwb.records.words import RESEARCH_ONLY
from tabwb.store.store import Store
from tabwb.workbench.comparison.compare import CompareScreen
from tabwb.workbench.engine.messages import Stored
from tabwb.workbench.home.page import HomePage
from tabwb.workbench.participants.page import ParticipantsPage
from tabwb.workbench.shell import app, own, settings
from tabwb.workbench.shell.app import TOO_SMALL, ControlFilter, Passed
from tabwb.workbench.shell.columns import shortened_apart
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.contrast import contrasts
from tabwb.workbench.shell.dialogs import TextField
from tabwb.workbench.shell.explorer import Explorer
from tabwb.workbench.shell.frame import MenuList, TitleBar, TitleState
from tabwb.workbench.shell.help import GENERAL, help_for
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Flow, Pane
from tabwb.workbench.subjects import SUBJECTS
from tests.workbench.seat import Given, Seat, Sit, Stage
from tests.workbench.stocked import give


async def test_the_first_opening_alone_shows_what_tabwb_is_not_and_no_color_leaves_greys(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sit(new=True) as seat:
        await seat.reads("I have read this")
        words = " ".join(seat.text.replace("│", " ").split())
        assert words.count("person's care") == 1, "nothing looks out from below"
        assert RESEARCH_ONLY in words
        await seat.press("enter")
        await seat.closed()
    monkeypatch.setenv("NO_COLOR", "1")
    async with sit(new=True) as seat:
        await seat.pilot.pause(0.2)
        assert not seat.asked
        for strip in seat.app.screen._compositor.render_strips():
            for segment in strip.apply_filter(seat.app._filters[-1], Color(0, 0, 0)):
                style = segment.style
                for colour in (style.color, style.bgcolor) if style else ():
                    if colour is not None and colour.triplet is not None:
                        assert len(set(colour.triplet)) == 1, "greys only"


async def test_a_wish_opens_the_dialog_filled_in(sit: Sit, battery: str) -> None:
    async with sit(battery=battery, model="echo") as seat:
        await seat.dialog()
        await seat.press("enter")
        await seat.until(lambda: seat.desk.work)
        assert seat.work.administration.conditions.examinee == "echo"


async def test_docks_stand_while_the_page_keeps_72_columns_are_drawers_else_and_remembered(
    sit: Sit, battery: str
) -> None:
    async with sit((132, 32)) as seat:
        await seat.begin(battery=battery, model="echo")

        def columns() -> list[int]:
            parts = ("#explorer-dock", "#pages", "#scores-dock")
            return [
                part.region.width if part.display else 0 for part in map(seat.desk.query_one, parts)
            ]

        assert columns() == [28, 72, 32]
        await seat.pilot.resize_terminal(120, 32)
        await seat.until(lambda: columns() == [28, 92, 0], "no scores")
        await seat.press("f4")
        assert columns()[1:] == [92, 46], "the scores are a drawer over the page"
        await seat.press("escape", "f3", "f3")
        assert columns() == [28, 92, 0]
        await seat.pilot.resize_terminal(95, 30)
        await seat.until(lambda: columns() == [0, 95, 0], "the page alone")
        await seat.pilot.resize_terminal(80, 24)
        await seat.until(lambda: columns() == [0, 80, 0], "the page alone")
        await seat.reads("words -")
        await _opened_and_closed(seat, "f3", "#explorer-dock")
        await _opened_and_closed(seat, "f4", "#scores-dock")

        await seat.pilot.resize_terminal(160, 48)
        dock = seat.desk.query_one("#explorer-dock")
        await seat.until(lambda: columns()[0] == 28, "the explorer")
        await seat.pilot.mouse_down(offset=(dock.region.right - 1, 8))
        await seat.pilot.hover(offset=(38, 8))
        await seat.pilot.mouse_up(offset=(38, 8))
        await seat.until(lambda: seat.app.remembered.explorer_width == 39, "the width")
        assert dock.region.width == 39
        await seat.press("f3", "right_curly_bracket")
        assert not dock.display
        assert seat.app.theme == "dark"
        await seat.press("f5")
        assert seat.app.theme == "light"
    async with sit((160, 48)) as seat:
        assert seat.app.theme == "light"
        assert not seat.desk.query_one("#explorer-dock").display
        await seat.begin(battery=battery, model="echo")
        assert seat.desk.query_one("#scores-dock").region.width == 48


async def _opened_and_closed(seat: Seat, key: str, name: str) -> None:
    dock = seat.desk.query_one(name)
    await seat.press(key)
    assert dock.display
    assert seat.desk.query_one("#pages").size.width == 80, "the middle keeps its place"
    await seat.press("escape")
    await seat.until(lambda: not dock.display)
    assert seat.app.focused is not None
    assert seat.app.focused.id == "transcript"


async def test_too_small_a_terminal_is_told_so_and_the_last_size_is_laid_out(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out: list[Size] = []
    layout = Screen._screen_resized

    def counted(screen: Screen[None], size: Size) -> None:
        laid_out.append(size)
        layout(screen, size)

    async with sit() as seat:
        for size in ((79, 24), (80, 23), (40, 10)):
            await seat.pilot.resize_terminal(*size)
            await seat.reads("tabwb needs 80x24", f"this terminal is {size[0]}x{size[1]}")
            await seat.pilot.resize_terminal(80, 24)
            await seat.closed()
        await seat.press("ctrl+p", "f1", "ctrl+p")
        assert sum(isinstance(one, CommandPalette) for one in seat.app.screen_stack) == 1
        while seat.asked:
            await seat.press("escape")
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
        await seat.until(lambda: isinstance(seat.app.screen, CommandPalette), "the palette")
        while seat.asked:
            await seat.press("escape")

        # Sizes that follow each other at once come to an end.
        await seat.pilot.resize_terminal(107, 31)
        monkeypatch.setattr(Screen, "_screen_resized", counted)
        for size in (Size(89, 26), Size(107, 31), Size(89, 26), Size(107, 31)):
            seat.app.screen.post_message(Resize(size, size))
            seat.app.screen.post_message(Show())  # sizes with nothing between them are one
        await asyncio.sleep(1.0)
        assert set(laid_out) == {Size(107, 31)} and len(laid_out) < 10
        assert seat.app.screen.size == Size(107, 31)


async def test_closed_dialogs_are_let_go_and_what_comes_too_late_is_ignored(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kept() -> int:
        gc.collect()
        return sum(type(one) is StylesCache for one in gc.get_objects())

    async with sit() as seat:
        counts = []
        for _ in range(3):
            await seat.press("question_mark")
            await seat.until(lambda: seat.asked, "the keys")
            await seat.press("escape")
            await seat.closed()
            counts.append(kept())
        assert counts[1] == counts[2]
        await seat.desk.go("participants")
        assert seat.desk.current.styles.padding == (0, 0, 0, 0), "its own, not that of every page"
        options = OptionList("one")
        await seat.app.screen.mount(options)
        for line in (7, 0):
            style = Style.from_meta({"option": line})
            options.post_message(Click(options, 1, 1, 0, 0, 1, False, False, False, style=style))
            await seat.pilot.pause()
        assert seat.app._exception is None
        assert options.highlighted == 0
        close = seat.app._close_all

        async def close_before_a_key_is_done() -> None:
            await close()
            seat.app.post_message(Passed(1))

        monkeypatch.setattr(seat.app, "_close_all", close_before_a_key_is_done)


def test_no_control_character_is_drawn() -> None:
    before = [Segment("a\x1b]0;t\x07"), Segment("b\x9b31mc\u202e"), Segment("plain")]
    after = ControlFilter().apply(before, Color(0, 0, 0))
    assert [text for text, _, _ in after] == ["a]0;t", "b31mc", "plain"]
    assert sum(one.cell_length for one in after) == sum(one.cell_length for one in before)


def menu_words(seat: Seat) -> dict[str, list[str]]:
    """The words of each line of the open menu, its key at the end."""
    menu = seat.app.screen.query_one(MenuList)
    assert menu._fitted is not None
    commands = [row for row in menu.rows if isinstance(row, Command)]
    return {one.id: menu._fitted.line(one).plain.split() for one in commands}


async def test_menus_show_keys_that_work_on_the_page_and_choose_by_key_and_mouse(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await seat.press("f10", reads="New administration…")
        assert menu_words(seat)["file.sweep-page"][-1] == "w"
        await seat.press("left", reads="About tabwb")
        await seat.press("ctrl+p")
        await seat.until(lambda: isinstance(seat.app.screen, CommandPalette), "the palette")
        await seat.press("escape")
        assert not seat.asked, "the menu is closed"
        await seat.begin(battery=battery, model="echo")
        await seat.press("f10", "left", reads="Quit")
        words = menu_words(seat)
        assert words["file.sweep-page"] == ["Sweeps", "of", "lesions"]
        assert words["file.open"][-1] == "F7" and words["file.quit"][-1] == "ctrl+q"
        await seat.press("escape", "f10", reads="Next item")
        assert "space" in seat.text
        await seat.press("enter")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt)
        await seat.pilot.click("#foot", offset=(3, 0))
        await seat.until(lambda: seat.work.item and seat.work.item.place[0] == 2, "item 2")
        await seat.pilot.resize_terminal(160, 48)
        await seat.until(lambda: seat.app.screen.size.width == 160, "the size")
        await seat.pilot.click("#title-bar", offset=(16, 0))
        await seat.reads("Discontinue…")
        await seat.pilot.click("#menu-list", offset=(6, 1))
        await seat.until(lambda: seat.work.item and seat.work.item.place[0] == 3, "item 3")


async def test_a_flow_shows_the_same_words_in_another_style() -> None:
    app = Stage(Flow())
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


async def test_an_empty_store_offers_a_beginning(
    sit: Sit, monkeypatch: pytest.MonkeyPatch, lesionable: None
) -> None:
    monkeypatch.setattr("tabwb.workbench.home.subject.DEMONSTRATION", ("tab", "lesionable"))
    monkeypatch.setattr("tabwb.workbench.lesions.dial.STEPS", 2)
    async with sit((80, 24)) as seat:
        await seat.reads("No administration is stored yet.", "d Demonstration")
        await seat.reads("D Demonstration: naming", "i Import")
        await seat.press("m")
        await seat.pilot.pause(0.2)
        assert seat.desk.page == "home", "there are no models to set side by side"
        assert "results by model" not in seat.text
        await seat.press("r", reads="tabwb rate plan pilot")
        assert not seat.desk.query_one("#sets-pane").display, "there is no empty list"
        assert seat.desk.query_one("#set-scroll").has_focus
        await seat.press("escape", at="home")
        await seat.pilot.resize_terminal(160, 48)
        await seat.reads("20 items  for models  Text Aphasia Battery")
        await seat.reads("echo                     Returns the prompt")
        await seat.pilot.resize_terminal(80, 24)
        await seat.press("d", reads="On the dial you turn the amount")
        await seat.press("escape")
        await seat.pilot.click("#home-begin", offset=(3, 2))  # the line of d
        await seat.reads("On the dial you turn the amount")
        await seat.press("enter", at="dial", reads="intact and lesioned are stored")
        await seat.press("c")  # 4 keys with the notice: enter, d, enter, c
        await seat.until(lambda: isinstance(seat.app.screen, CompareScreen), "the comparison")
    with Store.open(seat.store) as store:
        given = store.administrations()
    assert [one.conditions.lesion for one in given] == [None, "mlp:zero:0.05@seed=1"]
    assert all(one.battery == "tab" and one.tags == ("demonstration",) for one in given)


async def test_recent_administrations_have_scores_and_details(sit: Sit, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(path) as store, closing(Plugins.load()) as plugins:
        give(store, plugins, "oak", wrong=("wc1", "wc2"))
        give(store, plugins, "ash", lesion=None)
        store.people.keep_consents([Consent("S-014", "record", True, "2026-03-01")])
    async with sit((160, 48)) as seat:
        await seat.reads("word ✗✗✓✓✓  sentence ✓✓✓✓✓")
        above = seat.text.splitlines()[_line(seat, "word ✗✗✓✓✓") - 1]
        assert "oak" in above and "13/15" in above
        assert "#2" in seat.text  # details of the latest
        await seat.press("down", reads="tab · oak")
        (word,) = [line for line in seat.text.splitlines() if "Word Comprehension" in line]
        assert "3/5" in word and "├" in word and "●" in word

        await seat.press("down")  # to the participants
        await seat.reads("✓ record")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.query(ParticipantsPage), "the participants")
        await seat.until(lambda: seat.desk.query_one(ParticipantsPage).present, "the participant")
        await seat.press("escape")
        await seat.until(lambda: isinstance(seat.desk.current, HomePage), "home")

        await seat.pilot.resize_terminal(80, 24)
        await seat.until(lambda: "13/15" in seat.text and "Details" not in seat.text)
        assert "S-014" in seat.text


async def test_lesions_and_runs_are_rows_that_open_on_demand(sit: Sit, tmp_path: Path) -> None:
    lesions = [f"mlp.down:zero:0.{dose}@layers=0,seed=1" for dose in (1, 3)]
    with Store.open(tmp_path / "store.db") as store, closing(Plugins.load()) as plugins:
        for seed in range(1, 6):
            give(store, plugins, "oak", seed=seed, wrong=("wc1", "wc2")[:seed])
        for lesion in lesions:
            give(store, plugins, "oak", lesion=lesion)
    async with sit((100, 30)) as seat:
        await seat.reads("oak ▲ mlp.down · 0.3", "oak ▲ mlp.down · 0.1", "oak · 5 runs")
        latest = seat.desk.query_one("#home-latest", RowList)
        assert len(latest.rows) == 3
        await seat.press("down", "down", "enter", reads="seed 5")
        assert [getattr(row, "id", None) for row in latest.rows] == [7, 6, None, 5, 4, 3, 2, 1]
        await seat.press("enter")
        await seat.until(lambda: len(latest.rows) == 3, "the runs are one row again")
        explorer = seat.desk.query_one(Explorer)
        (series,) = [row for row in explorer.rows if isinstance(row, Series)]
        assert [one.id for one in series.members] == [5, 4, 3, 2, 1]
        explorer.choose(series.key)
        explorer.action_select()
        assert sum(getattr(row, "id", 0) in range(1, 6) for row in explorer.rows) == 5


async def test_what_is_paused_is_continued_even_without_scores(
    given: Given, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "store.db") as people:
        people.people.keep_consents([Consent("S-014", "record", True, "2026-03-01")])
    async with given((160, 48), items=1) as seat:
        await seat.press("f8", reads="Continue")
        continued = seat.desk.query_one("#home-open")  # not the participants
        await seat.until(lambda: seat.app.focused is continued, "the focus")
        await seat.reads("Enter continues it.")
        with sqlite3.connect(tmp_path / "store.db") as store:
            store.execute(
                "UPDATE texts SET text = '{}' WHERE id IN (SELECT canonical_id FROM batteries)"
            )
        seat.desk.tell(Stored(1))
        await seat.reads("The scores cannot be read")
        await seat.press("enter", reads="#1?")


def _line(seat: Seat, words: str) -> int:
    return next(at for at, line in enumerate(seat.text.splitlines()) if words in line)


async def test_f1_helps_with_what_is_focused_and_every_part_has_help(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await seat.reads("offline   saved")
        await seat.press("f9", reads="offline: no other machine is contacted")
        await seat.press("escape", "f1", reads="At the right of the title bar")
        bar = TitleBar(str)
        bar.state = TitleState(offline=False, saved=True, narrow=True)
        assert "network allowed   saved" in bar.paint(78).plain
        await seat.press("escape", "f7", "question_mark")  # in a field it is a letter
        await seat.until(lambda: getattr(seat.app.focused, "value", "") == "?", "the letter")
        await seat.press("escape", "escape")
        await seat.closed()

        await seat.press("n")
        await seat.dialog()
        seat.fill(battery=battery, model="ecko")
        await seat.press("enter")
        await seat.focuses("model")
        await seat.reads("allowed:")
        await _helped(seat, "f1", "judges", "Specs of judges with spaces between")
        await _helped(seat, "question_mark", "begin", "enter begins")
        _every_part_has_help(seat.app.screen)
        await seat.press("escape")

        await seat.pilot.resize_terminal(160, 48)
        await seat.press("f1", reads="begins a new administration")
        await seat.press("escape", "f6", "f1", reads="Batteries, examinees, and administrations")
        await seat.press("escape")
        await seat.begin(battery=battery, model="echo")
        _every_part_has_help(seat.desk)
        seat.desk.query_one("#transcript").focus()
        await seat.press("a", at="results")
        await seat.press("e", "f1", reads="right completes a name.")
        await seat.press("f1", "shift+tab", "f1", reads="plugin: see 'tabwb")


def _every_part_has_help(screen: Screen[Any]) -> None:
    chain = list(screen.focus_chain)
    assert len(chain) > 2
    for widget in chain:
        screen.set_focus(widget)
        assert help_for(screen) != GENERAL, widget


async def _helped(seat: Seat, key: str, part: str, words: str) -> None:
    """Ask for help in a part of the dialog, which then stands as it was."""
    dialog = seat.app.screen
    dialog.query_one(f"#{part}").focus()
    before = ""
    while before != seat.text:  # what the dialog tells of the design comes a little later
        before = seat.text
        await seat.pilot.pause(0.5)
    await seat.press(key, reads=words)
    await seat.press(key)
    await seat.until(lambda: seat.app.screen is dialog)
    await seat.until(lambda: seat.text == before, "the dialog as it was")
    assert dialog.focused is not None
    assert dialog.focused.id == part


@pytest.mark.parametrize("theme", settings.THEMES, ids=lambda theme: theme.name)
def test_texts_and_borders_stand_out_from_what_is_behind_them(theme: Theme) -> None:
    found = list(contrasts(theme))
    assert len(found) > 40 and min(one.least for one in found) == 3.0
    assert [one for one in found if one.ratio < one.least] == []


COMMANDS = [one for subject in SUBJECTS for one in subject.all_commands]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[", "keys.toml"),
        ('"file.nothing" = "q"', "file.nothing"),
        ('"results.compare" = "ctrl+c"', "results.compare"),
        ('"results.compare" = []', "results.compare"),
        ('"results.compare" = 3', "results.compare"),
        ('"results.compare" = "nokey"', "results.compare"),
        ('"results.mark" = "g"', "results.mark"),
        ('"results.mark" = "question_mark"', "results.mark"),
        ("a = " + "[" * 5000, "keys.toml"),
    ],
)
def test_a_wrong_file_of_keys_is_refused_by_name(tmp_path: Path, text: str, where: str) -> None:
    (tmp_path / "keys.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        own.with_keys(COMMANDS, tmp_path)
    assert where in (caught.value.where or "")


def test_the_default_keys_and_colours_as_files_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text("\n".join(own.defaults(COMMANDS)))
    for one, other in zip(COMMANDS, own.with_keys(COMMANDS, tmp_path), strict=True):
        assert one.id != other.id or other.key in {of.key for of in COMMANDS if of.id == one.id}
    path = tmp_path / "same.toml"
    path.write_text('base = "light"\naccent = "#1f5f7a"\n')
    assert own.theme_of(path) == replace(settings.LIGHT, name="same")
    wrong = ("bluish", "#fff8", "transparent", "ansi_red")
    lines = [f'accent = "{colour}"' for colour in wrong]
    for line in (*lines, 'colour = "red"', 'base = "pink"', "accent = 1"):
        path.write_text(line)
        with pytest.raises(UsageError, match=line.split()[0]):
            own.theme_of(path)


async def test_own_keys_and_themes_are_used_and_a_wrong_file_is_told(
    sit: Sit, tmp_path: Path
) -> None:
    folder = tmp_path / "tabwb-config"
    (folder / "themes").mkdir(parents=True)
    (folder / "keys.toml").write_text('"file.open-import" = "Q"\n"file.jobs" = ["K", "f12"]\n')
    (folder / "themes" / "paper.toml").write_text('base = "light"\nbackground = "#fffff0"\n')
    (folder / "themes" / "wrong.toml").write_text('accent = "bluish"\n')
    async with sit((120, 40)) as seat:
        assert [one for one in seat.news if "wrong.toml: accent" in one and "#rrggbb" in one]
        await seat.press("K", at="jobs")
        await seat.press("escape", at="home")
        await seat.reads("Q Import")
        await seat.press("f12", at="jobs")
        seat.app.take_theme("high-contrast")
        await seat.press("f5")
        assert seat.app.theme == "paper"
        assert Color.parse(seat.app.theme_variables["background"]) == Color.parse("#fffff0")
    (folder / "keys.toml").write_text('"file.jobs" = "m"\n')
    async with sit((120, 40)) as seat:
        assert seat.app.theme == "paper", "it is remembered"
        assert [one for one in seat.news if "file.jobs" in one and "results.by-model" in one]
        await seat.press("J", at="jobs")


def test_memory_lies_in_the_configuration_folder_and_what_is_damaged_is_as_if_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.json"
    damaged = '{"theme": "pink", "explorer_width": "x", "scores": 3}'
    unshown = r'{"microphone": "\ud800", "begun": {"seed": 1, "model": "\u001b[2J"}}'
    for text in ("", "{", "[]", "[" * 100_000, damaged, unshown):
        path.write_text(text, encoding="utf-8")
        assert settings.load(path) == settings.Remembered()
    path.write_text(json.dumps({"scores_width": 999}), encoding="utf-8")
    assert settings.load(path).scores_width == settings.MAX_WIDTH
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(tmp_path / "here"))
    assert settings.save(settings.Remembered(theme="light"))
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["workbench.json"]
    assert settings.load().theme == "light"


def heirs(widget: type[Widget]) -> Iterator[type[Widget]]:
    for heir in widget.__subclasses__():
        yield heir
        yield from heirs(heir)


def test_no_other_widget_has_the_name_of_a_widget_with_styles_of_its_own() -> None:
    for module in pkgutil.walk_packages(tabwb.workbench.__path__, "tabwb.workbench."):
        importlib.import_module(module.name)
    modules: dict[str, set[str]] = defaultdict(set)
    for widget in heirs(Widget):
        modules[widget.__name__].add(widget.__module__)
    styled = {
        widget.__name__
        for widget in heirs(Widget)
        if widget.__module__.startswith("tabwb.") and "DEFAULT_CSS" in vars(widget)
    }
    assert "Selection" in styled
    assert {name: modules[name] for name in styled if len(modules[name]) > 1} == {}


def test_names_that_would_look_alike_keep_what_differs() -> None:
    given = [f"m{n} (temperature {n}, options as given, whole battery)" for n in (1, 1, 2)]
    given[1] = given[1].replace("temperature 1", "temperature 0.7")
    shown = shortened_apart(given, 20)
    assert len(set(shown)) == 3
    assert all(len(name) <= 20 for name in shown)
    assert "0.7" in shown[1]


def test_names_that_differ_in_several_places_are_told_apart() -> None:
    given = [
        f"Linden-2407-{size}-{tuning}-revision-{revision}"
        for size in ("1b", "70b")
        for tuning in ("base", "instruct")
        for revision in range(3)
    ]
    shown = shortened_apart(given, 24)
    assert len(set(shown)) == len(given)
    assert all(len(name) <= 24 for name in shown)
    for name, cut in zip(given, shown, strict=True):
        assert name.split("-")[2] in cut
        assert cut.endswith(name[-1])
    files = shortened_apart([f"replay:model-{n}.jsonl" for n in range(2)], 10)
    assert ["0." in files[0], "1." in files[1]] == [True, True]
    assert len(set(shortened_apart([f"{'a' * 30}{n}{'b' * 30}" for n in range(12)], 10))) == 12


class Panes(App[None]):
    """Two panes beside each other, in the styles of the workbench."""

    CSS_PATH = Path(app.__file__).parent / "app.tcss"
    VERTICAL_BREAKPOINTS = app.Workbench.VERTICAL_BREAKPOINTS

    def __init__(self) -> None:
        super().__init__()
        for theme in settings.THEMES:
            self.register_theme(theme)
        self.theme = "dark"

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Pane(Input(), title="tab[/b", id="one")
            yield Pane(Static("words"), Input(), title="Scores", id="two")

    @property
    def top(self) -> str:
        return self.screen._compositor.render_strips()[0].text


async def test_a_pane_has_a_title_and_the_focused_one_stands_out() -> None:
    stage = Panes()
    async with stage.run_test(size=(40, 34)) as pilot:
        await pilot.pause()
        assert stage.top.startswith("┏━ tab[/b ━━"), "heavy: seen without its colour"
        assert "┓╭─ Scores ──" in stage.top
        one, two = stage.query_one("#one"), stage.query_one("#two")
        accent = stage.theme_variables["accent"]
        assert one.styles.border_top[1].hex.lower() == accent.lower()
        assert two.styles.border_top[1].hex.lower() != accent.lower()
        await pilot.click("#two", offset=(12, 0))
        assert two.has_focus_within, "a click on the title focuses what is inside"
        assert two.styles.border_top[1].hex.lower() == accent.lower()
        await pilot.resize_terminal(40, 24)
        await pilot.pause()
        assert stage.top.startswith("─ tab[/b ──"), "few rows: the line with the title alone"
        assert "━ Scores ━━" in stage.top
        assert one.region.height - one.content_region.height == 1


PATH = "/home/me/study/of/lesions/grid-of-heads.toml"
LIMIT_S = 60.0
"""How long a line may take on a busy machine; a test that passes does not wait for it."""


class Fields(App[None]):
    """One field of 20 columns, and something else that can have the focus."""

    def compose(self) -> ComposeResult:
        field = TextField("path", PATH, "")
        field.styles.width = 20
        yield field
        yield Button("other")


async def test_a_field_without_the_focus_shows_the_end_of_a_long_path() -> None:
    app = Fields()
    async with app.run_test() as pilot:
        app.query_one(Button).focus()
        assert (await _field_line(pilot, ends=".toml")) == "…" + PATH[-18:]
        app.query_one(Input).focus()
        await pilot.press("home")
        assert (await _field_line(pilot, ends="of/le")).startswith("/home/me")
        app.query_one(Button).focus()
        assert (await _field_line(pilot, ends=".toml")).startswith("…")
        app.query_one(Input).value = "short"
        assert (await _field_line(pilot, ends="short")) == "short"


async def _field_line(pilot: Pilot[None], ends: str) -> str:
    """Return the line of the field once it ends so: it is drawn after the focus has moved."""
    end = monotonic() + LIMIT_S
    line = ""
    while not line.endswith(ends):
        assert monotonic() < end, line
        await pilot.pause()
        line = pilot.app.screen._compositor.render_strips()[0].text[:20].strip()
    return line
