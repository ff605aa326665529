"""The palette, the table of keys and jump mode."""

from __future__ import annotations

from dataclasses import replace
from threading import Event
from time import perf_counter

import pytest
from textual.command import CommandPalette
from textual.events import Key

from tabwb.workbench.shell import palette
from tabwb.workbench.shell.dialogs import AskWords, ChoiceScreen
from tabwb.workbench.shell.help import KeysScreen
from tabwb.workbench.shell.help_index import topics
from tabwb.workbench.shell.jump import JumpScreen
from tabwb.workbench.shell.search import Finder
from tests.workbench.seat import LIMIT_S, Seat, Sit
from tests.workbench.test_finding import administration


async def find(seat: Seat, words: str, found: str) -> None:
    """Type words into the palette and wait for an entry."""
    await seat.press("ctrl+p")
    await seat.until(lambda: isinstance(seat.app.screen, CommandPalette))
    await seat.type(words)
    await seat.reads(found)


async def test_the_palette_finds_what_there_is_and_says_what_cannot_be_used(
    sit: Sit, battery: str
) -> None:
    async with sit((100, 30)) as seat:
        await seat.begin(battery=battery, model="echo", seed="7")
        await seat.press("f8")
        await find(seat, "judge", "results: judge")
        await seat.reads("Not now: only in the results of an administration")
        await seat.press("enter")
        await seat.until(lambda: any("only in the results" in words for words in seat.news))
        await find(seat, "seed 7", "open: #1 small · echo")
        await seat.press("escape", "escape")
        await find(seat, "bundled", "model: bundled")
        await seat.press("escape", "escape")
        await find(seat, "help scores", "help: scores")
        await seat.press("escape", "escape")
        # Of a part that was not imported yet.
        await find(seat, "help laboratory", "help: laboratory")
        await seat.press("escape", "escape")
        await find(seat, "usually worn feet", "item: wc3 Which item is usually worn on the feet?")
        await seat.press("enter")
        await seat.reads("expected  boot")
        await seat.press("escape")
        await find(seat, "theme high", "view: theme high-contrast")
        await seat.press("enter")
        await seat.until(lambda: seat.app.theme == "high-contrast")


async def test_a_screen_is_closed_once_and_its_command_runs_once(sit: Sit, battery: str) -> None:
    async with sit((100, 30)) as seat:
        await seat.begin(battery=battery, model="echo")
        driver = seat.app._driver
        assert driver is not None

        def send(*keys: str) -> None:
            """Send keys that do not wait for each other."""
            for key in keys:
                driver.send_message(Key(key, key if len(key) == 1 else None))

        await seat.press("ctrl+o")
        await seat.until(lambda: isinstance(seat.app.screen, JumpScreen))
        send(*"zzzz")
        await seat.until(lambda: not seat.asked)
        send(*("ctrl+p", "escape") * 4, "f10", "escape", "f10", "f10")
        await seat.pilot.pause()
        while seat.asked:
            await seat.press("escape")
        await find(seat, "about tabwb", "about tabwb")
        send("enter", "enter", "enter")
        await seat.until(lambda: isinstance(seat.app.screen, ChoiceScreen))
        assert len(seat.app.screen_stack) == 2


async def test_a_covered_dialog_closes_where_it_is(sit: Sit) -> None:
    told: list[str | None] = []
    async with sit() as seat:
        below = AskWords("Below", "words")
        seat.app.push_screen(below, told.append)
        await seat.until(lambda: seat.app.screen is below)
        await seat.press("f1")
        await seat.until(lambda: seat.app.screen is not below)
        over = seat.app.screen
        below.dismiss("yes")
        below.dismiss("no")
        await seat.until(lambda: told)
        assert (told, seat.app.screen_stack) == (["yes"], [seat.desk, over])
        await seat.press("escape")
        assert not seat.asked


async def test_what_is_typed_at_once_is_found(sit: Sit, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = Event()
    monkeypatch.setattr(palette, "topics", lambda: (go_on.wait(LIMIT_S), topics())[1])
    async with sit((100, 30)) as seat:
        await seat.press("ctrl+p", "a", "b", "o", "u", "t")
        go_on.set()
        await seat.reads("help: about")


def test_ten_thousand_administrations_are_searched_within_a_frame() -> None:
    one = administration(1)
    given = [
        replace(one, id=n, conditions=replace(one.conditions, seed=n % 97, examinee=f"m{n % 9}"))
        for n in range(1, 10_001)
    ]
    finder = Finder()
    assert len(finder.ranked(given, "m4")) == 1111
    began = perf_counter()
    found = finder.ranked(given, "m4 done 9999")
    assert perf_counter() - began < 0.25, "0.03 s on an idle machine"
    assert not found, "9999 is of m0"
    assert finder.ranked(given, "m0 done 9999")[0].id == 9999


async def test_the_table_of_keys_begins_with_this_page_and_has_a_filter(sit: Sit) -> None:
    async with sit((80, 24)) as seat:
        await seat.press("question_mark")
        await seat.reads("This page: the first page")
        await seat.reads("esc Close")
        await seat.type("undo")
        await seat.reads("Take back the last answer")
        assert "This page" not in seat.text
        await seat.press("escape", "question_mark", "question_mark")
        await seat.until(lambda: not seat.asked)


async def test_a_key_before_the_table_of_keys_has_its_parts_is_ignored(sit: Sit) -> None:
    async with sit((100, 30)) as seat:
        await seat.press("question_mark")
        await seat.reads("All keys")
        shown = seat.app.screen
        assert isinstance(shown, KeysScreen)
        seat.app.push_screen(KeysScreen(shown._table, shown._situation, shown._title))
        await seat.app._dispatch_message(Key("down", None))
        await seat.press("down", "escape", "escape")
        await seat.until(lambda: not isinstance(seat.app.screen, KeysScreen))


async def test_a_letter_moves_the_focus_to_its_part(sit: Sit) -> None:
    async with sit((100, 30)) as seat:
        await seat.press("semicolon")
        await seat.until(lambda: isinstance(seat.app.screen, JumpScreen))
        await seat.press("a")
        await seat.until(lambda: seat.app.focused and seat.app.focused.id == "explorer")
        await seat.press("n")
        await seat.dialog()
        await seat.press("ctrl+o")
        await seat.until(lambda: isinstance(seat.app.screen, JumpScreen))
        await seat.press("a")
        await seat.until(lambda: not isinstance(seat.app.screen, JumpScreen))
        assert seat.app.focused is seat.app.screen.focus_chain[0]
        await seat.press("ctrl+o", "escape")
        await seat.until(lambda: not isinstance(seat.app.screen, JumpScreen))
        assert seat.app.screen.query("#begin"), "the dialog is still open"


def test_every_help_text_is_found_once_with_its_title() -> None:
    titles = [topic.title for topic in topics()]
    assert {"Adjudication", "All keys", "Begin", "Laboratory", "Rating sets"} <= set(titles)
    assert len(titles) == len(set(titles))
