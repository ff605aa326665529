"""Figures are written from the results pages with ``e``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from tests.workbench.models_page import by_model
from tests.workbench.seat import Seat, Sit
from tests.workbench.stocked import stock


@pytest.fixture(autouse=True)
def stocked(tmp_path: Path) -> None:
    stock(tmp_path / "store.db")


async def choose(seat: Seat, figure: str, path: Path) -> str:
    """Open the dialog, mark a figure, write it; return the name that was proposed."""
    await seat.press("e")
    await seat.until(lambda: seat.app.screen.query("#export-path"), "the dialog")
    kinds = seat.app.screen.query_one("#formats", OptionList)
    offered = [kinds.get_option_at_index(at).id for at in range(kinds.option_count)]
    kinds.highlighted = offered.index(figure)
    field = seat.app.screen.query_one("#export-path", Input)
    await seat.until(lambda: figure in field.value, "the proposed name")
    proposed = field.value
    field.value = str(path)
    await seat.press("enter")
    return proposed


async def test_figures_of_all_models_and_of_one_and_what_cannot_be_drawn(
    sit: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every, one = tmp_path / "burden.svg", tmp_path / "profile.png"
    async with sit() as seat:
        await by_model(seat, "tab-2026:x")
        assert await choose(seat, "burden", every) == "results-by-model-burden.pdf"
        await seat.until(lambda: not seat.asked, "the file")
        assert seat.news == [f"Written: {every}"]
        await seat.press("home", "enter")
        await seat.until(lambda: seat.desk.page == "results")
        proposed = await choose(seat, "accuracy", one)
        assert proposed.endswith("-accuracy.pdf")
        await seat.until(lambda: not seat.asked, "the file")
        await seat.press("escape")
        await seat.until(lambda: seat.desk.page == "models")
        await choose(seat, "dose", tmp_path / "dose.pdf")
        await seat.reads("fewer than two amounts")
        field = seat.app.screen.query_one("#export-path", Input)
        field.value = str(tmp_path / "dose.doc")
        await seat.press("enter")
        await seat.reads("format of figures")
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        kinds = seat.app.screen.query_one("#formats", OptionList)
        offered = [kinds.get_option_at_index(at).id for at in range(kinds.option_count)]
        kinds.highlighted = offered.index("burden")
        field.value = str(tmp_path / "burden.pdf")
        await seat.press("enter")
        await seat.reads("extra 'figures'")
    text = every.read_text(encoding="utf-8")
    assert "--by model" in text and "able" not in str(every)
    assert text.count("01") > 3  # the uids
    assert one.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.glob("*.pdf")) == []
