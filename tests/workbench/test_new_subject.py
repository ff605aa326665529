"""A results page is a separate folder and one line: here this module is the folder."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from textual.app import ComposeResult
from textual.widgets import Static

from tabwb.workbench import app
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.shell.commands import Command, Situation, on_page
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.subject import Actions, PageSpec, Subject
from tabwb.workbench.subjects import SUBJECTS
from tests.workbench.seat import Sit


@dataclass(frozen=True, slots=True)
class Counted:
    """How many administrations the store holds."""

    n: int


class CountController(Controller):
    """Reads the store in the worker's thread."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)

    def count(self) -> None:
        self.say(Counted(len(self.store.administrations())))


class CountPage(Page, can_focus=True):
    def compose(self) -> ComposeResult:
        yield Static("not counted", id="count")


class CountActions(Actions):
    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        desk.listen(Counted, self.counted)

    async def count(self) -> None:
        await self.desk.go("count")
        self.desk.do(self.desk.controller(CountController).count)

    def counted(self, message: Counted) -> None:
        self.desk.query_one("#count", Static).update(f"{message.n} counted")

    async def leave(self) -> None:
        await self.desk.go("home")


def _count(now: Situation) -> str | None:
    return None if now.stored else "Nothing is stored yet."


COUNT = Subject(
    __name__,
    commands=(
        Command("results.count", "Count", "Count", "z", 5, "Count them.", _count, where=("home",)),
        *on_page(
            "count", Command("results.leave", "Leave", "Leave", "escape", 1, "Leave the page.")
        ),
    ),
    pages=(PageSpec("count", "test_new_subject:CountPage", "the count"),),
    actions="test_new_subject:CountActions",
    controller="test_new_subject:CountController",
)


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "SUBJECTS", (*SUBJECTS, COUNT))


async def test_its_key_opens_the_page_and_its_controller_reads_the_store(
    sit: Sit, battery: str
) -> None:
    async with sit((160, 48)) as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.desk.go("home")
        await seat.press("z")
        await seat.until(lambda: seat.desk.page == "count")
        await seat.reads("1 counted")
        await seat.reads("esc Leave")
        await seat.press("escape")
        assert seat.desk.page == "home"


async def test_it_is_in_menu_palette_and_help(sit: Sit, battery: str) -> None:
    async with sit((160, 140)) as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.desk.go("home")
        seat.desk.open_menu("results")
        await seat.reads("Count")
        await seat.press("escape", "question_mark")
        await seat.until(lambda: seat.app.screen.query("#key-list"), "the help")
        await seat.reads("Count them.")
        await seat.press("escape", "ctrl+p")
        await seat.until(lambda: seat.asked)
        await seat.type("results count")
        await seat.reads("results: count")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.page == "count")


async def test_one_check_gives_the_reason_that_a_key_shows(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("z")
        assert seat.desk.page == "home"
        assert seat.news == ["Nothing is stored yet."]
