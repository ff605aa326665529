"""The laboratory, with the bundled model in its own process, and the page of sweeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from tabwb.store.store import Store
from tabwb.workbench.lesions.actions import LesionsActions
from tabwb.workbench.lesions.curves_page import CurvesPage
from tabwb.workbench.lesions.messages import SweepState
from tabwb.workbench.lesions.page import LesionsPage
from tabwb.workbench.lesions.sweep_page import SweepPage
from tabwb.workbench.shell.list_fields import Selection
from tests.workbench.seat import Seat, Sit, workbench

MODEL = "lesionable@delay=0.1"
LESION = "attention.heads:zero:1@layers=0"
GRID = """
format = 1
name = "heads"
[[lesions]]
targets = ["attention.heads"]
layers = ["0", "1"]
"""


def foot(seat: Seat) -> str:
    return seat.text.splitlines()[-1].strip()


def laboratory(seat: Seat) -> LesionsPage:
    page = seat.desk.current
    assert isinstance(page, LesionsPage)
    return page


async def open_laboratory(seat: Seat, battery: str, model: str = "") -> LesionsPage:
    """Open the laboratory over a small battery.

    Args:
        seat: at the first page.
        battery: whose items are offered.
        model: loaded in place of the one that the key b loads at once.
    """
    await (seat.desk.go("lesions") if model else seat.press("b"))
    await seat.until(lambda: seat.desk.page == "lesions", "the page")
    page = laboratory(seat)
    page.query_one("#lab-battery", Input).value = battery
    if model:
        page.query_one("#lab-model", Input).value = model
        page.load()
    await seat.until(lambda: page.state.phase == "ready" and page.state.parts, "the model")
    if not model:
        page.query_one("#lab-battery", Input).focus()
        await seat.press("enter")
    await seat.until(lambda: page._of_battery == battery and page._items, "the items")
    page.focus_inside()
    return page


async def give_last(seat: Seat, page: LesionsPage) -> None:
    """Give the last item to the intact model and under the lesion."""
    item = page._items[-1]
    page.query_one("#lab-item", Input).value = f"{item.subtest}/{item.item}"
    await seat.press("space")
    await seat.until(lambda: page._pairs and page._pairs[0].lesioned, "both answers")
    await seat.until(lambda: page.state.phase == "ready", "the end")
    await seat.reads("▲ lesioned")


async def test_fields_and_spec_follow_each_other(
    sit: Sit, battery: str, tmp_path: Path, lesionable: None
) -> None:
    async with sit((160, 48)) as seat:
        page = await open_laboratory(seat, battery, "lesionable")
        await seat.reads("NEXT ITEM  words/w1")
        page.query_one("#lab-seed", Input).value = "7"
        page.query_one("#lab-amount", Input).focus()
        await seat.press("up")
        assert page.query_one("#lab-spec", Input).value == "mlp.down:zero:0.35@seed=7"
        # What is wrong is told, and nothing is asked.
        page.query_one("#lab-layers", Input).value = "9"
        await seat.reads("layer 9")
        await seat.press("escape", "space")
        assert page.state.lesion == "" and not page._pairs
        page.query_one("#lab-spec", Input).value = ""
        await seat.reads("only the intact model is asked")

        # The path of a list has no field and stays when another field changes.
        units = tmp_path / "units.json"
        units.write_text('{"format": 1, "units": {"0.mlp.neurons": [3, 5]}}')
        listed = f"mlp.neurons:zero:1@select=list,file={units}"
        page.query_one("#lab-spec", Input).value = listed
        # Two of 16 neurons of 128 weights; a layer has 4 x 64 + 3 x 128 weights, the model two.
        await seat.reads("changes 16 of 1,280 parameters (1.25%)")
        assert "layer 9" not in seat.text
        page.query_one("#lab-operation", Selection).value = "scale"
        page.query_one("#lab-number", Input).value = "0.5"
        await seat.until(
            lambda: "factor=0.5" in page.query_one("#lab-spec", Input).value, "the spec"
        )
        assert f"file={units}" in page.query_one("#lab-spec", Input).value
        page.query_one("#lab-spec", Input).value = "mlp.neurons:zero:0.25@select=localizer"
        await seat.reads("changes 64 of 1,280 parameters (5%)")

        # Fields follow the spec, and the tree marks what is changed.
        page.query_one("#lab-spec", Input).value = LESION
        await seat.until(lambda: page.query_one("#lab-layers", Input).value == "0", "the fields")
        assert page.query_one("#lab-target", Input).value == "attention.heads"
        await seat.reads("64  4 heads  ▲")
        lines = [line for line in seat.text.splitlines() if "▲" in line and "marks" not in line]
        assert len(lines) == 2 and "layer 0" in lines[0]


async def test_an_administration_gets_the_answer_of_the_laboratory(
    sit: Sit, battery: str, lesionable: None
) -> None:
    async with sit((160, 48)) as seat:
        page = await open_laboratory(seat, battery, "lesionable")
        page.query_one("#lab-spec", Input).value = LESION
        await give_last(seat, page)
        given = page._pairs[0]
        assert not seat.desk.catalogue or not seat.desk.catalogue.administrations
        # It closes the laboratory's model, and is marked.
        await seat.begin(battery=battery, model="lesionable", lesion=LESION, judges="none")
        await seat.until(lambda: page.state.phase == "closed", "the model's end")
        await seat.reads(f"▲ lesion {LESION}")
        assert "laboratory" not in seat.text
        await seat.press("a")
        await seat.until(lambda: seat.work.status.value == "done", "all items")
        stored = seat.stored()[1][-1]
        assert given.lesioned is not None and stored.counting is not None
        assert stored.counting.response == given.lesioned.text
        # The list of administrations names the lesion.
        await seat.reads("▲lesi")  # cut, beside the score


async def test_a_model_that_cannot_be_loaded_leaves_nothing_of_the_one_before(
    sit: Sit, battery: str, lesionable: None
) -> None:
    async with sit((80, 24)) as seat:
        page = await open_laboratory(seat, battery, "lesionable")
        await give_last(seat, page)
        page.query_one("#lab-model", Input).value = "echo"
        page.load()
        await seat.reads("'echo' cannot be lesioned")
        # The field of the model is shown again, without parts and answers of the earlier one.
        await seat.reads("Model ")
        await seat.reads("no model is loaded")
        assert not page._pairs and "mlp.gate" not in seat.text


@pytest.mark.torch
async def test_the_bundled_model_is_loaded_and_answers_under_a_lesion(
    sit: Sit, battery: str
) -> None:
    pytest.importorskip("torch", reason="needs tabwb[local]")
    async with sit((160, 48)) as seat:
        page = await open_laboratory(seat, battery)
        heads = next(one for one in page.state.parts if one.name == "0.attention.heads")
        await seat.reads(f"{heads.parameters:,}  4 heads")
        page.query_one("#lab-spec", Input).value = LESION
        # Of its own parameters: the tied embedding is counted once.
        await seat.reads(f"changes {heads.parameters:,} of 1,197,440 parameters (1.37%)")
        await give_last(seat, page)
        assert page.state.lesion == LESION
        # The mark stays on other pages while the lesion is on.
        await seat.press("escape")
        await seat.until(lambda: seat.desk.page == "home", "home")
        await seat.reads(f"▲ laboratory {LESION}")


async def test_a_sweep_is_stopped_with_the_workbench_and_continued(
    tmp_path: Path, battery: str, lesionable: None
) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text(GRID, encoding="utf-8")

    def state(seat: Seat) -> SweepState:
        return seat.desk.actions(LesionsActions).sweep

    async with workbench(tmp_path) as seat:
        await seat.press("w")
        await seat.until(lambda: seat.desk.page == "sweep", "the page")
        seat.fill(**{"sweep-battery": battery, "sweep-model": MODEL})
        seat.fill(**{"sweep-grid": str(tmp_path / "none.toml")})
        page = seat.desk.current
        assert isinstance(page, SweepPage)
        page.query_one("#sweep-grid").focus()
        await seat.until(lambda: foot(seat).startswith("esc Leave field"), "the keys of a field")
        assert "space" not in foot(seat) and "esc Back" not in foot(seat)
        await seat.until(lambda: "there is no such file" in page._problem, "the error")
        seat.fill(**{"sweep-grid": str(grid)})
        await seat.press("escape")
        seat.desk.tell(SweepState("stopped", page._wish()))
        await seat.until(lambda: "space Continue" in foot(seat), "the word of a stopped sweep")
        await seat.press("D")
        await seat.until(lambda: state(seat).phase == "planned", "the dry run")
        await seat.reads("3 conditions (1 intact, 2 lesions), 0 done before")
        assert not seat.desk.catalogue or not seat.desk.catalogue.administrations
        await seat.press("space")
        await seat.until(lambda: state(seat).given >= 1, "one condition")
        # Curves and maps are shown meanwhile, and quitting asks.
        await seat.press("g")
        await seat.until(lambda: seat.desk.page == "curves", "the curves")
        if state(seat).active:
            await seat.press("ctrl+q")
            await seat.reads("Stop it and quit")
            await seat.press("escape")
        assert seat.desk.started
    with Store.open(tmp_path / "store.db") as store:
        assert {one.status.value for one in store.administrations()} <= {"done", "paused"}
    async with workbench(tmp_path, (160, 48)) as seat:
        await seat.press("w")
        await seat.until(lambda: seat.desk.page == "sweep", "the page")
        await seat.reads("targets = ")  # the file of the grid is shown beside the progress
        assert seat.app.screen.query_one("#sweep-grid", Input).value == str(grid)
        seat.fill(**{"sweep-battery": battery, "sweep-model": MODEL})
        await seat.press("space")
        await seat.until(lambda: state(seat).phase == "done", "the end")
        assert state(seat).planned == 3 and state(seat).before >= 1
        assert not seat.desk.jobs
        await seat.press("g")
        await seat.reads("size of the difference")  # a map, as there is no second amount
        assert "--where model=" in seat.desk.query_one(CurvesPage).command()
        await seat.press("escape")
        await seat.until(lambda: seat.desk.page == "sweep", "the page")
        await seat.press("m")
        await seat.until(lambda: seat.desk.page == "models", "the results")
        await seat.reads("Results by lesion")
    with Store.open(tmp_path / "store.db") as store:
        given = store.administrations()
    assert sorted(one.conditions.lesion or "" for one in given) == [
        "",
        "attention.heads:zero:1@layers=0",
        "attention.heads:zero:1@layers=1",
    ]
    assert {one.tags for one in given} == {("heads",)}
    assert {one.status.value for one in given} == {"done"}
