"""What plugins add to the workbench: result pages, and statistics in the results by model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from types import ModuleType

import pytest

from tabwb.administer.session import setup
from tabwb.plugin_api import PageData, PageSource, RegisterPage, hookimpl
from tabwb.plugin_api.registry import plugins as registry
from tabwb.records.conditions import Conditions
from tabwb.store.store import Store
from tabwb.tables.table import Table
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


class Broken:
    """A plugin with a page that cannot be built, and one that gives the table of results."""

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


async def test_a_page_shows_what_the_plugin_built_of_the_models_shown(
    sit: Sit, plugins: None
) -> None:
    async with sit((160, 48)) as seat:
        await seat.press("m")
        await seat.reads("3 of 3 models")
        await seat.press("x")
        await seat.reads("Tables and pages, 4 administrations")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.page == "extension")
        await seat.reads("Frequent words")
        await seat.reads("weak: ")
        await seat.press("escape")
        assert seat.desk.page == "models"


async def test_a_table_is_shown_as_a_table_and_a_failure_as_an_error(
    sit: Sit, plugins: None
) -> None:
    async with sit((160, 48)) as seat:
        await seat.press("x")
        await seat.reads("Tables and pages, all administrations")
        await seat.press("down", "down", "enter")
        await seat.until(lambda: seat.desk.page == "extension")
        await seat.reads("Measure")
        await seat.press("escape", "x")
        await seat.reads("Broken")
        await seat.press("down", "enter")
        await seat.reads("page 'broken' failed: ZeroDivisionError")


async def test_a_page_gets_the_statistics_of_plugins(sit: Sit, plugins: None) -> None:
    async with sit((160, 48)) as seat:
        await seat.press("x")
        await seat.reads("Tables and pages, all administrations")
        await seat.press(*["down"] * 8, "enter")
        await seat.until(lambda: seat.desk.page == "extension")
        await seat.reads("pronoun-share")


async def test_a_page_that_fails_late_or_holds_control_characters_does_no_harm(
    sit: Sit, plugins: None
) -> None:
    async with sit((160, 48)) as seat:
        await seat.press("x")
        await seat.reads("No layout")
        await seat.press("down", "down", "down", "enter")
        await seat.reads("page 'layout' failed: RuntimeError: no layout")
        await seat.press("escape", "x")
        await seat.reads("Signs")
        await seat.press("down", "down", "down", "down", "enter")
        await seat.reads("a]0;bc")


async def test_while_a_page_hangs_everything_else_works(sit: Sit, plugins: None) -> None:
    async with sit((160, 48)) as seat:
        await seat.press("x")
        await seat.reads("Hangs")
        await seat.press(*["down"] * 6, "enter")
        await seat.press("m")
        await seat.reads("3 of 3 models")
        await seat.reads("page 'hangs' did not end within 3 s")
        await seat.press("escape", "x")
        await seat.reads("Large")
        await seat.press(*["down"] * 5, "enter")
        await seat.reads("page 'large' built more lines than are shown")
        await seat.reads("5,000 lines, 500,000 characters")


async def test_while_a_page_hangs_ctrl_q_quits(sit: Sit, plugins: None) -> None:
    BEGUN.clear()
    async with sit((160, 48)) as seat:
        await seat.press("x")
        await seat.reads("Hangs")
        await seat.press(*["down"] * 7, "enter")
        await seat.until(BEGUN.is_set)
        await seat.press("ctrl+q")
        await seat.until(lambda: not seat.app.is_running or seat.desk._worker is None)
    ENDED.set()


async def test_statistics_are_in_the_detail_of_a_model(sit: Sit, plugins: None) -> None:
    async with sit((160, 48)) as seat:
        await seat.press("m")
        await seat.reads("3 of 3 models")
        await seat.reads("STATISTICS")
        await seat.reads("pronouns")


async def test_tables_of_results_need_no_plugin(sit: Sit, tmp_path: Path) -> None:
    stock(tmp_path / "store.db")
    async with sit((160, 48)) as seat:
        await seat.press("x")
        await seat.reads("Tables and pages, all administrations")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.page == "extension")
        await seat.reads("the rate of each feature")
        await seat.reads("Abandoned utterances")
        await seat.until(lambda: "Open" not in seat.text.splitlines()[-1])
        assert "F4" not in seat.text.splitlines()[-1]
        await seat.press("escape", "x", "down", "down", "down", "enter")
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
        await seat.press("f7", "enter")
        await seat.until(lambda: seat.desk.page == "results")
        await seat.press("x")
        await seat.reads("the sessions of S-014 with tab, item by item")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.page == "extension")
        await seat.reads("S-014, tab, 2 sessions")
        await seat.reads("For research only")
