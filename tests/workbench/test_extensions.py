"""What plugins add to the workbench: result pages, and statistics in the results by model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tabwb.plugin_api import PageData, PageSource, RegisterPage, hookimpl
from tabwb.plugin_api.registry import plugins as registry
from tabwb.tables.table import Table
from tabwb.workbench.extensions.actions import NONE
from tests.workbench.seat import Sit
from tests.workbench.stocked import stock

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "pronoun-share" / "pronoun_share.py"


def _values(data: PageData) -> Table:
    return data.results.select(["group", "measure", "value", "policy"])


class Broken:
    """A plugin with a page that cannot be built, and one that gives the table of results."""

    @hookimpl
    def tabwb_register_pages(self, register: RegisterPage) -> None:
        register(PageSource("broken", "Broken", "Raises.", lambda data: 1 / 0))
        register(PageSource("whole", "All results", "The table.", _values))


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
        await seat.reads("Pages of plugins, 4 administrations")
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
        await seat.reads("Pages of plugins, all administrations")
        await seat.press("down", "down", "enter")
        await seat.until(lambda: seat.desk.page == "extension")
        await seat.reads("Measure")
        await seat.press("escape", "x")
        await seat.reads("Broken")
        await seat.press("down", "enter")
        await seat.reads("page 'broken' failed: ZeroDivisionError")


async def test_statistics_are_in_the_detail_of_a_model(sit: Sit, plugins: None) -> None:
    async with sit((160, 48)) as seat:
        await seat.press("m")
        await seat.reads("3 of 3 models")
        await seat.reads("STATISTICS OF PLUGINS")
        await seat.reads("pronouns")


async def test_without_such_a_plugin_the_key_says_so(sit: Sit, tmp_path: Path) -> None:
    stock(tmp_path / "store.db")
    async with sit((80, 24)) as seat:
        await seat.press("x")
        await seat.until(lambda: NONE in seat.news)
