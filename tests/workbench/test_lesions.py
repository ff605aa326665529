"""The laboratory, with the bundled model in a process of its own, and the page of sweeps."""

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


def laboratory(seat: Seat) -> LesionsPage:
    page = seat.desk.current
    assert isinstance(page, LesionsPage)
    return page


async def open_laboratory(seat: Seat, battery: str) -> LesionsPage:
    """Open the laboratory over a small battery; the model of the field is loaded at once."""
    await seat.press("b")
    await seat.until(lambda: seat.desk.page == "lesions", "the page")
    page = laboratory(seat)
    await seat.until(lambda: page.state.phase == "ready" and page.state.parts, "the model")
    page.query_one("#lab-battery", Input).value = battery
    page.query_one("#lab-battery", Input).focus()
    await seat.press("enter")
    await seat.until(lambda: page._of_battery == battery and page._items, "the items")
    await seat.press("escape")
    return page


@pytest.mark.torch
async def test_an_item_is_answered_intact_and_under_the_lesion_and_not_stored(
    sit: Sit, battery: str, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="needs tabwb[local]")
    async with sit((160, 48)) as seat:
        page = await open_laboratory(seat, battery)
        # Fields and spec follow each other; what is wrong is told, and nothing is asked.
        page.query_one("#lab-seed", Input).value = "7"
        page.query_one("#lab-amount", Input).focus()
        await seat.press("up")
        assert page.query_one("#lab-spec", Input).value == "mlp.down:zero:0.35@seed=7"
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
        await seat.reads("changes 256 of ")
        page.query_one("#lab-amount", Input).value = "0"
        await seat.reads("the amount 0, which changes nothing")
        page.query_one("#lab-amount", Input).value = "0.5"
        half = listed.replace(":1@", ":0.5@")
        await seat.until(lambda: page.query_one("#lab-spec", Input).value == half, "the spec")
        page.query_one("#lab-spec", Input).value = "mlp.neurons:zero:0.01@select=localizer"
        await seat.reads("changes 2,432 of ")

        heads = next(one for one in page.state.parts if one.name == "0.attention.heads")
        await seat.reads(f"{heads.parameters:,}  4 heads")
        page.query_one("#lab-spec", Input).value = LESION
        await seat.reads(f"changes {heads.parameters:,} of ")
        assert page.query_one("#lab-target", Input).value == "attention.heads"
        assert page.query_one("#lab-layers", Input).value == "0"
        page.query_one(
            "#lab-item", Input
        ).value = f"{page._items[-1].subtest}/{page._items[-1].item}"
        await seat.press("space")
        await seat.until(lambda: page._pairs and page._pairs[0].lesioned, "both answers")
        await seat.until(lambda: page.state.phase == "ready", "the end")
        assert page.state.lesion == LESION
        await seat.reads("▲ lesioned")
        assert not seat.desk.catalogue or not seat.desk.catalogue.administrations
        in_laboratory = page._pairs[0]
        # The mark stays on other pages while the lesion is on.
        await seat.press("escape")
        await seat.until(lambda: seat.desk.page == "home", "home")
        await seat.reads(f"▲ laboratory {LESION}")

        # An administration gets the same answer, closes the laboratory's model, and is marked.
        await seat.begin(battery=battery, model="bundled", lesion=LESION, judges="none")
        await seat.until(lambda: page.state.phase == "closed", "the model's end")
        await seat.reads(f"▲ lesion {LESION}")
        assert "laboratory" not in seat.text
        await seat.press("a")
        await seat.until(lambda: seat.work.status.value == "done", "all items")
        stored = seat.stored()[1][-1]
        assert in_laboratory.lesioned is not None and stored.counting is not None
        assert stored.counting.response == in_laboratory.lesioned.text


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
        await seat.until(lambda: "there is no such file" in page._problem, "the error")
        seat.fill(**{"sweep-grid": str(grid)})
        await seat.press("escape", "d")
        await seat.until(lambda: state(seat).phase == "planned", "the dry run")
        await seat.reads("3 conditions (1 intact, 2 lesions), 0 done before")
        assert not seat.desk.catalogue or not seat.desk.catalogue.administrations
        await seat.press("s")
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
    async with workbench(tmp_path) as seat:
        await seat.press("w")
        await seat.until(lambda: seat.desk.page == "sweep", "the page")
        assert seat.app.screen.query_one("#sweep-grid", Input).value == str(grid)
        seat.fill(**{"sweep-battery": battery, "sweep-model": MODEL})
        await seat.press("s")
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
