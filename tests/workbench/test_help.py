"""Help for what is focused, in pages and dialogs."""

from __future__ import annotations

from typing import Any

import pytest
from textual.screen import Screen
from textual.widget import Widget

from tests.workbench.seat import Sit


async def test_f1_helps_with_what_is_focused(sit: Sit) -> None:
    async with sit((160, 48)) as seat:
        await seat.press("f1")
        await seat.reads("begins a new administration")
        await seat.press("escape", "f6", "f1")
        await seat.reads("Batteries, examinees, and administrations")


@pytest.mark.parametrize("key", ["f1", "question_mark"])
async def test_help_comes_in_a_dialog_and_leaves_it_untouched(
    sit: Sit, battery: str, key: str
) -> None:
    async with sit() as seat:
        await seat.press("n")
        await seat.dialog()
        seat.fill(battery=battery, model="ecko")
        dialog = seat.app.screen
        await seat.press("enter")
        await seat.until(lambda: seat.app.focused and seat.app.focused.id == "model")
        await seat.reads("allowed:")
        dialog.query_one("#judges" if key == "f1" else "#begin").focus()
        before = ""
        while before != seat.text:  # what the dialog tells of the design comes a little later
            before = seat.text
            await seat.pilot.pause(0.5)
        await seat.press(key)
        await seat.reads("Specs of judges with spaces between" if key == "f1" else "enter begins")
        await seat.press(key)
        await seat.until(lambda: seat.app.screen is dialog)
        await seat.until(lambda: seat.text == before, "the dialog as it was")
        assert dialog.focused is not None
        assert dialog.focused.id == ("judges" if key == "f1" else "begin")


async def test_a_question_mark_in_a_field_is_a_letter(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f7", "question_mark")
        await seat.until(lambda: getattr(seat.app.focused, "value", "") == "?")


async def test_help_comes_in_the_export_dialog(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.press("a")
        await seat.until(lambda: seat.desk.page == "results")
        await seat.press("e", "f1")
        await seat.reads("A new file. Existing files are never overwritten.")
        await seat.press("f1", "up", "question_mark")
        await seat.reads("What the file will hold.")


async def test_every_part_that_can_be_focused_has_help(sit: Sit, battery: str) -> None:
    from tabwb.workbench.shell.help import GENERAL, help_for

    async with sit((160, 48)) as seat:
        await seat.press("n")
        await seat.dialog()
        screens: list[tuple[Screen[Any], list[Widget]]] = [
            (seat.app.screen, list(seat.app.screen.focus_chain))
        ]
        await seat.press("escape")
        await seat.begin(battery=battery, model="echo")
        screens.append((seat.desk, list(seat.desk.focus_chain)))
        for screen, chain in screens:
            assert len(chain) > 2
            for widget in chain:
                screen.set_focus(widget)
                assert help_for(screen) != GENERAL, widget
