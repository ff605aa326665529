"""Models side by side: features, plots, differences, where judges differ."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.style import Style
from textual.events import Click
from textual.widgets import OptionList, Static

from tabwb.workbench.comparison.heat import FeatureTable
from tabwb.workbench.comparison.table import ModelsTable
from tests.workbench.models_page import WIDE, by_model, rows, table
from tests.workbench.seat import SIZES, Sit
from tests.workbench.stocked import stock


@pytest.fixture(autouse=True)
def stocked(tmp_path: Path) -> None:
    stock(tmp_path / "store.db")


async def test_the_heat_strip_has_a_cell_for_each_feature_and_says_what_it_shows(sit: Sit) -> None:
    async with sit(WIDE) as seat:
        await by_model(seat, "tab-2026:x")
        await seat.press("home", "tab")
        cells = seat.desk.query_one(FeatureTable)
        assert seat.app.focused is cells
        assert len(cells.columns) == 1 + 19
        # Anomia in 2 of 5, Jeffreys' interval 0.0944 to 0.7906; the row follows in the table.
        await seat.reads("Anomia  weak")
        await seat.reads("2 of 5 responses, 0.40 (0.09-0.79)")
        assert [str(cells.get_row_at(row)[1]).strip() for row in range(3)] == ["▄", "▂", "-"]
        await seat.press("down")
        await seat.reads("1 of 10 responses, 0.10")
        assert table(seat).cursor_row == 1
        await seat.press("up", "enter")
        await seat.reads("Where judges differ on Anomia")


@pytest.mark.parametrize("size", SIZES)
async def test_plots_are_read_without_colour_and_have_round_ticks(
    sit: Sit, size: tuple[int, int]
) -> None:
    async with sit(size) as seat:
        await by_model(seat, "tab-2026:x")
        await seat.press("g")
        await seat.reads("Share right")
        line = next(one for one in seat.text.splitlines() if "weak" in one and "0.60" in one)
        assert line.index("├") < line.index("●") < line.index("┤")
        assert "◆" in seat.text
        axis = next(one for one in seat.text.splitlines() if "0.2" in one and "0.4" in one)
        assert axis.split()[-6:] == ["0", "0.2", "0.4", "0.6", "0.8", "1"] or size == WIDE
        await seat.press("right")
        await seat.reads("Symptom burden")
        await seat.press("right")
        await seat.reads("Lexical, of 4")
        await seat.press("space")
        assert "g shows it" in seat.news[-1], "no row can be marked where none is shown"
        await seat.press("g")
        await seat.until(lambda: seat.app.focused is table(seat))


@pytest.mark.parametrize("size", SIZES)
async def test_two_marked_models_are_compared(sit: Sit, size: tuple[int, int]) -> None:
    async with sit(size) as seat:
        await by_model(seat, "tab-2026:x")
        await seat.press("c")
        assert "None marked" in seat.news[-1]
        await seat.press("home", "down", "space", "up", "space")
        assert [row[0].strip("[] ") for row in rows(seat)] == ["x", "x", ""]
        await seat.press("c")
        await seat.reads("A  able")
        await seat.reads("B  weak")
        # Two of five items differ, both for A: 2 of 4 signs are as far.
        line = next(
            one for one in seat.text.splitlines() if re.search(r"1\.00 +0\.60 +\+0\.40", one)
        )
        assert line.index("├") < line.index("●") < line.index("┤")
        assert line.index("┼") < line.index("●")  # no difference is within the interval
        assert re.search(r"-0\.\d\d to \+\d\.\d\d[ ,p]+0\.500", seat.text)
        if size[1] < 30:
            await seat.press("t")
        await seat.reads("8 of 20")
        listed = seat.app.screen.query_one("#items-list", OptionList)
        assert [str(one.prompt).split()[:3] for one in listed.options] == [
            *([f"ct{number}", "●", "●"] for number in range(1, 6)),
            *([item, "✓", "✗"] for item in ("wc1", "wc2", "sc1")),
        ]
        listed.highlighted = 5
        await seat.reads("nothing of the kind")
        await seat.reads("1 of 1 words only in A, 4 of 4 only in B")
        await seat.press("a")
        assert len(listed.options) == 20
        await seat.press("escape")
        assert not seat.asked


@pytest.mark.parametrize("size", SIZES)
async def test_from_a_feature_to_the_responses_on_which_judges_differ(
    sit: Sit, size: tuple[int, int]
) -> None:
    async with sit(size) as seat:
        await by_model(seat, "likelihood:y")
        await seat.press("home", "J")
        await seat.until(lambda: seat.app.focused and seat.app.focused.id == "model-detail")
        await seat.reads("enter: where judges differ")
        assert seat.news == []
        await seat.press("J")
        await seat.reads("Where judges differ on Anomia")
        listed = seat.app.screen.query_one("#disputed", OptionList)
        lines = [str(one.prompt) for one in listed.options]
        # 0.7 against absent; then 0.9 against present, and three times 0.1 against absent.
        assert [line[:23] for line in lines[:2]] == [
            "0.70  1 of 2 present  c",
            "0.10  2 of 2 present  c",
        ]
        assert len(lines) == 5
        told = str(seat.app.screen.query_one("#differing-told", Static).render())
        assert "verdicts are split on 1, and only probabilities differ on 4" in told
        for words in ("□ absent", "says anomia", "▣ present 0.70", "P(1) = 0.700"):
            assert words in seat.text
        await seat.press("escape")
        assert not seat.asked


async def test_the_caution_that_a_judge_declared_stands_with_its_scores(sit: Sit) -> None:
    async with sit(WIDE) as seat:
        await by_model(seat, "tab-2026:x")
        await seat.press("home")
        await seat.reads("Labels by a language model.")


async def test_a_click_on_the_head_of_an_empty_table_is_ignored(sit: Sit) -> None:
    async with sit((80, 24)) as seat:
        shown = ModelsTable()
        await seat.app.screen.mount(shown)
        style = Style.from_meta({"row": -1, "column": 0, "out_of_bounds": True})
        shown.post_message(Click(shown, 1, 0, 0, 0, 1, False, False, False, style=style))
        await seat.pilot.pause()
        assert (seat.app._exception, len(shown.columns)) == (None, 0)
