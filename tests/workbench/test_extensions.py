"""What plugins and new subjects add to the workbench: result pages, statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, Field
from textual.app import ComposeResult
from textual.widgets import Input, Static

from tabwb.administer.session import setup
from tabwb.host import plugins as registry
from tabwb.operations.operation import Operation, Progress, Told, Tools
from tabwb.plugin_api import (
    Descriptor,
    PageData,
    PageSource,
    Register,
    RegisterPage,
    hookimpl,
)
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.store.store import Store
from tabwb.tables.table import Table
from tabwb.workbench import app
from tabwb.workbench.comparison.detail import ModelDetail
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.shell.commands import Command, Situation, on_page
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions, Page, PageSpec, Subject
from tabwb.workbench.subjects import SUBJECTS
from tests.workbench.seat import Sit
from tests.workbench.stocked import stock

BEGUN, ENDED = Event(), Event()
"""Of a page that never ends before the test does."""
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "pronoun-share" / "pronoun_share.py"


def _values(data: PageData) -> Table:
    return data.results.select(["group", "measure", "value", "policy"])


def _shares(data: PageData) -> Table:
    return data.results.where(measure="pronoun-share").select(["group", "measure", "value"])


def _forever(data: PageData) -> str:
    BEGUN.set()
    while not ENDED.wait(0.001):
        pass
    return "ended"


class Fails:
    """A renderable that fails when it is laid out."""

    def __rich_console__(self, console: object, options: object) -> object:
        raise RuntimeError("no layout")


class CountOptions(BaseModel):
    """The options of an export format."""

    count: int = Field(default=1, description="how many examinees")


class Examinees:
    """Exports the first examinees."""

    suffix = ".txt"

    def __init__(self, spec: object, options: CountOptions) -> None:
        self.count = options.count

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        names = [each["administration"]["examinee"] for each in document["documents"]]
        out.write_text("\n".join(names[: self.count]), encoding="utf-8")


class Broken:
    """A plugin with a page that cannot be built, and one that gives the table of results."""

    @hookimpl
    def tabwb_register_exporters(self, register: Register) -> None:
        register(Descriptor("examinees", "Examinees", Examinees, options=lambda: CountOptions))

    @hookimpl
    def tabwb_register_pages(self, register: RegisterPage) -> None:
        register(PageSource("broken", "Broken", "Raises.", lambda data: 1 / 0))
        register(PageSource("whole", "All results", "The table.", _values))
        register(PageSource("layout", "No layout", "Fails.", lambda data: Fails()))
        register(PageSource("signs", "Signs", "Has controls.", lambda data: "a\x1b]0;b\x07\u202ec"))
        register(PageSource("large", "Large", "Is large.", lambda data: "word\n" * 2_000_000))
        register(PageSource("hangs", "Hangs", "Never ends.", _forever, limit_s=3))
        register(PageSource("endless", "Endless", "Never ends.", _forever, limit_s=3600))
        register(PageSource("shares", "Shares", "A statistic.", _shares))


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    stock(tmp_path / "store.db")
    example = ModuleType("pronoun_share")
    exec(EXAMPLE.read_text("utf-8"), vars(example))
    load = registry.Plugins.load.__func__  # type: ignore[attr-defined]
    modules = {"example": example, "broken": Broken()}
    monkeypatch.setattr(
        registry.Plugins,
        "load",
        classmethod(lambda cls, *words, **more: load(cls, *words, **{"modules": modules, **more})),
    )
    yield


async def test_pages_of_plugins_show_what_they_built_and_their_failures(
    sit: Sit, plugins: None
) -> None:
    async with sit((160, 48)) as seat:
        for downs, words in (
            (2, "Measure"),  # a table
            (1, "page 'broken' failed: ZeroDivisionError"),
            (3, "page 'layout' failed: RuntimeError: no layout"),
            (4, "a]0;bc"),
            (8, "pronoun-share"),
        ):
            await seat.press("X", reads="Tables and pages, all administrations")
            await seat.press(*["down"] * downs, "enter", reads=words)
            await seat.press("escape")
        await seat.press("m", reads="3 of 3 models")
        detail = seat.app.screen.query_one(ModelDetail)
        await seat.until(lambda: detail.rows, "the detail")
        detail.scroll_end(animate=False)
        await seat.reads("pronouns")
        await seat.press("X", reads="Tables and pages, 4 administrations")
        await seat.press("enter", at="extension")
        await seat.reads("Frequent words", "weak: ")
        await seat.press("escape")
        assert seat.desk.page == "models"


async def test_a_format_of_a_plugin_takes_options(sit: Sit, plugins: None, tmp_path: Path) -> None:
    out = tmp_path / "examinees.txt"
    async with sit() as seat:
        await seat.press("m", reads="3 of 3 models")
        await seat.press("space", "down", "space", "e")
        await seat.has("option")
        option = seat.app.screen.query_one("#option", Input)
        assert option.disabled
        seat.fill(format="examinees")
        await seat.reads("count=...: how many examinees")
        assert not option.disabled
        seat.fill(option="many=2", out=str(out))
        await seat.press("enter", reads="'examinees' has no option 'many'")
        assert not out.exists()
        seat.fill(option="count=2")
        seat.app.screen.query_one("#out").focus()
        await seat.press("enter")
        await seat.closed()
        assert len(out.read_text(encoding="utf-8").splitlines()) == 2


async def test_while_a_page_hangs_everything_else_works(sit: Sit, plugins: None) -> None:
    async with sit((160, 48)) as seat:
        await seat.press("X", reads="Hangs")
        await seat.press(*["down"] * 6, "enter")
        await seat.press("m", reads="3 of 3 models")
        await seat.reads("page 'hangs' did not end within 3 s")
        await seat.press("escape", "X", reads="Large")
        await seat.press(*["down"] * 5, "enter")
        await seat.reads("page 'large' built more lines than are shown")
        await seat.reads("5,000 lines, 500,000 characters")
        # Also while a page hangs ctrl+q quits.
        BEGUN.clear()
        await seat.press("escape", "X", reads="Hangs")
        await seat.press(*["down"] * 7, "enter")
        await seat.until(BEGUN.is_set, "the page")
        await seat.press("ctrl+q")
        await seat.until(lambda: not seat.app.is_running or seat.desk._worker is None, "the end")
    ENDED.set()


async def test_tables_of_results_need_no_plugin(sit: Sit, tmp_path: Path) -> None:
    stock(tmp_path / "store.db")
    async with sit((160, 48)) as seat:
        await seat.press("X", reads="Tables and pages, all administrations")
        await seat.press("enter", at="extension")
        await seat.reads("the rate of each feature", "Abandoned utterances")
        await seat.until(lambda: "Open" not in seat.text.splitlines()[-1], "the keys of the page")
        assert "F4" not in seat.text.splitlines()[-1]
        await seat.press("escape", "X", "down", "down", "down", "enter")
        await seat.reads("no item was given with its options in several orders")


def typed(place: Path, *rights: int) -> None:
    """Sessions of a person who types, with so many right answers to choice, yes/no, repetition."""
    plugins = registry.Plugins.load()
    battery = setup.find_battery(plugins, "tab")
    conditions = Conditions("S-014", "speaker", judges=(), research_protocol="P-1")
    with Store.open(place) as store:
        for wanted in rights:
            right = wanted
            with setup.create(store, plugins, battery, conditions) as session:
                session.next()
                while session.awaiting:
                    assert session.current is not None
                    plan = session.current.plan
                    expected = battery.subtest(plan.subtest).item(plan.item).expected
                    session.answer(expected if expected and right > 0 else f"what {plan.item}")
                    right -= expected is not None
                    session.next()
    plugins.close()


async def test_the_sessions_of_a_participant_are_compared(sit: Sit, tmp_path: Path) -> None:
    typed(tmp_path / "store.db", 3, 9)
    async with sit((100, 40)) as seat:
        await seat.press("f7", "enter", at="results")
        await seat.press("X", reads="the sessions of S-014 with tab, item by item")
        await seat.press("enter", at="extension")
        await seat.reads("S-014, tab, 2 sessions", "For research only")


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
    pages=(PageSpec("count", "test_extensions:CountPage", "the count"),),
    actions="test_extensions:CountActions",
    controller="test_extensions:CountController",
)


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "SUBJECTS", (*SUBJECTS, COUNT))


@pytest.mark.usefixtures("declared")
async def test_a_new_subject_has_its_key_page_controller_and_places(sit: Sit, battery: str) -> None:
    async with sit((160, 140)) as seat:
        await seat.press("z")
        assert seat.desk.page == "home"
        assert seat.news == ["Nothing is stored yet."], "one check gives the reason"
        await seat.begin(battery=battery, model="echo")
        await seat.desk.go("home")
        await seat.press("z", at="count")
        await seat.reads("1 counted", "esc Leave")
        await seat.press("escape")
        assert seat.desk.page == "home"
        seat.desk.open_menu("results")
        await seat.reads("Count")
        await seat.press("escape", "question_mark")
        await seat.has("key-list")
        await seat.reads("Count them.")
        await seat.press("escape", "ctrl+p")
        await seat.until(lambda: seat.asked, "the palette")
        await seat.type("results count")
        await seat.reads("results: count")
        await seat.press("enter", at="count")


@dataclass(frozen=True, kw_only=True)
class Leave(Operation):
    """Leave the program, as an operation of a plugin may."""

    NAME, TITLE = "leave", "Leave"

    def estimate(self, tools: Tools) -> Progress:
        raise SystemExit(3)

    def run(self, tools: Tools) -> Progress:
        raise SystemExit(3)


async def test_an_operation_that_exits_ends_its_job_and_not_the_workbench(given: Sit) -> None:
    async with given() as seat:
        jobs = seat.desk.sessions.jobs
        with pytest.raises(TabwbError, match="SystemExit: 3"):
            await seat.desk.ask(jobs.estimate, Leave(), aside=True)
        job = jobs.all[await seat.desk.ask(jobs.begin, Leave())]
        await seat.until(lambda: not job.state.active, "the end of the job")
        assert (job.state.phase, job.state.words) == ("refused", "SystemExit: 3")
        job.stop()
        assert job.state.phase == "refused", "what has ended does not stop"


@dataclass(frozen=True, kw_only=True)
class CountResponses(Operation):
    """Count responses, where the operation usually counts files."""

    NAME, TITLE, TOLD = "count", "Count", "file"

    def run(self, tools: Tools) -> Progress:
        yield Told("", 28, 31, what="response")


async def test_a_job_counts_what_its_operation_tells(given: Sit) -> None:
    async with given() as seat:
        jobs = seat.desk.sessions.jobs
        job = jobs.all[await seat.desk.ask(jobs.begin, CountResponses())]
        await seat.until(lambda: not job.state.active, "the end of the job")
        assert (job.state.what, job.state.done, job.state.planned) == ("response", 28, 31)
