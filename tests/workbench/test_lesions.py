"""The laboratory, with the bundled model in its own process, and the page of sweeps."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content
from textual.widgets import Input

from tabwb.administer.session.corrections import change_marks
from tabwb.administer.sweep.grid import read_grid
from tabwb.administer.sweep.sweep import Point
from tabwb.analysis.doses import MapCell, Row, doses_table, map_table
from tabwb.analysis.measures import Cell
from tabwb.analysis.selection import Selection as Chosen
from tabwb.analysis.selection import selected_groups
from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import Part
from tabwb.lesion.spec import parse_lesions
from tabwb.operations.lesion import SweepLesions, Swept
from tabwb.operations.operation import made
from tabwb.plugin_api.components import Cancel
from tabwb.records.conditions import Conditions
from tabwb.records.errors import ComponentError, UsageError
from tabwb.records.exchange import Reply, Request
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import PlannedTrial
from tabwb.scoring.dose import SeedTest
from tabwb.scoring.estimate import Interval
from tabwb.store.store import Store
from tabwb.workbench.comparison.page import ModelsPage
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.engine.view_models import Verdict
from tabwb.workbench.jobs.page import BEGUN
from tabwb.workbench.lesions.controller import CurvesWanted
from tabwb.workbench.lesions.curve_values import Curve, HeatMap, moved, read_curves
from tabwb.workbench.lesions.curves import (
    SEVERAL,
    CurvesPage,
    MeasureList,
    draw_several,
    limits,
    map_lines,
    numbers,
)
from tabwb.workbench.lesions.form import GridScreen, LesionForm
from tabwb.workbench.lesions.laboratory import Answer, Laboratory, Pair
from tabwb.workbench.lesions.page import LesionsPage, lines_of
from tabwb.workbench.lesions.page_words import BEGIN
from tabwb.workbench.lesions.subject import PAGE, SWEEP_PAGE
from tabwb.workbench.lesions.sweep_page import _BEGIN, SweepPage
from tabwb.workbench.results import subject as results
from tabwb.workbench.shell.dialogs import Selection
from tabwb.workbench.shell.drawn import STEPS
from tabwb.workbench.shell.settings import colours_of
from tabwb.workbench.shell.wording import DIFFERS
from tests.workbench.seat import Seat, Sit, Stage, workbench
from tests.workbench.stocked import give

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
    """Open the laboratory over a small battery."""
    await (seat.desk.go("lesions") if model else seat.press("b"))
    await seat.at("lesions")
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


def test_hints_name_keys_of_commands() -> None:
    of_results = (*results.PAGE, *results.NAMING_COMMANDS, *results.COMMANDS)
    for hints, commands in (
        (BEGIN, PAGE),
        (_BEGIN, SWEEP_PAGE),
        (BEGUN[:3], of_results),
    ):
        keys = {one.key for one in commands} | {"enter"}
        assert {key for key, _ in hints} <= keys


async def test_a_lesion_is_written_and_an_administration_gets_the_answer_of_the_laboratory(
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
        await seat.until(lambda: "64 4 heads ▲" in " ".join(seat.text.split()), "the mark")
        lines = [line for line in seat.text.splitlines() if "▲" in line and "marks" not in line]
        assert len(lines) == 2 and "layer 0" in lines[0]

        await give_last(seat, page)
        given = page._pairs[0]
        assert not seat.desk.catalogue or not seat.desk.catalogue.administrations
        # An administration closes the laboratory's model, and is marked.
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
        await seat.reads("▲attent")  # cut, beside the score

        # A model that cannot be loaded leaves nothing of the one before.
        page = await open_laboratory(seat, battery, "lesionable")
        await seat.pilot.resize_terminal(80, 24)
        page.query_one("#lab-model", Input).value = "echo"
        page.load()
        await seat.reads("'echo' cannot be lesioned", "Model ", "no model is loaded")
        assert not page._pairs and "mlp.gate" not in seat.text


@pytest.mark.torch
async def test_the_bundled_model_is_loaded_and_answers_under_a_lesion(
    sit: Sit, battery: str, here: None
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
        await seat.press("escape", at="home")
        await seat.reads(f"▲ laboratory {LESION}")


async def test_a_sweep_is_stopped_with_the_workbench_and_continued(
    tmp_path: Path, battery: str, lesionable: None
) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text(GRID, encoding="utf-8")

    def number_given(seat: Seat) -> int:
        swept = seat.desk.query_one(SweepPage)._swept
        return 0 if swept is None else swept.given

    def phase(seat: Seat) -> str:
        return seat.desk.query_one(SweepPage)._phase

    async with workbench(tmp_path) as seat:
        await seat.press("w", at="sweep")
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
        seat.desk.tell(JobState(1, "Sweep", "", "stopped", page="sweep"))
        await seat.until(lambda: "space Continue" in foot(seat), "the word of a stopped sweep")
        await seat.press("D")
        await seat.until(lambda: phase(seat) == "planned", "the dry run")
        await seat.reads("3 conditions (1 intact, 2 lesions), 0 done before")
        assert not seat.desk.catalogue or not seat.desk.catalogue.administrations
        await seat.press("space")
        await seat.until(lambda: number_given(seat) >= 1, "one condition")
        # Curves and maps are shown meanwhile, and quitting asks.
        await seat.press("g", at="curves")
        if seat.desk.jobs:
            await seat.press("ctrl+q", reads="Stop it and quit")
            await seat.press("escape")
        assert seat.desk.started
    with Store.open(tmp_path / "store.db") as store:
        assert {one.status.value for one in store.administrations()} <= {"done", "paused"}
    async with workbench(tmp_path, (160, 48)) as seat:
        await seat.press("w", at="sweep")
        await seat.reads("targets = ")  # the file of the grid is shown beside the progress
        assert seat.app.screen.query_one("#sweep-grid", Input).value == str(grid)
        seat.fill(**{"sweep-battery": battery, "sweep-model": MODEL})
        await seat.press("space")
        await seat.until(lambda: phase(seat) == "done", "the end")
        swept = seat.desk.query_one(SweepPage)._swept
        assert swept is not None and len(swept.points) == 3 and swept.before >= 1
        assert not seat.desk.jobs
        await seat.press("g")
        await seat.reads("size of the difference")  # a map, as there is no second amount
        assert "--where tag=heads" in seat.desk.query_one(CurvesPage).command()
        await seat.press("escape", at="sweep")
        await seat.press("m", at="models")
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


RIGHT = Cell("accuracy", "word-comprehension", "", "")
WRONG = {0.1: ("wc1",), 0.2: ("wc1", "wc2"), 0.3: ("wc1", "wc2", "wc3")}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store: the intact model, two seeds of a lesion at three amounts, a map of two layers."""
    path = tmp_path_factory.mktemp("lesions") / "store.db"
    plugins = Plugins.load()
    with Store.open(path) as store:
        give(store, plugins, "able")
        for seed in (1, 2):
            for amount, wrong in WRONG.items():
                lesion = f"mlp:zero:{amount}@seed={seed}"
                give(store, plugins, "able", wrong=wrong[:seed], lesion=lesion)
        for layer, wrong in enumerate(((), ("wc1", "wc2"))):
            give(store, plugins, "able", wrong=wrong, lesion=f"mlp:zero:0.5@layers={layer}")
    plugins.close()
    return path.read_bytes()


@pytest.fixture
def folder(tmp_path: Path, stored: bytes) -> Path:
    (tmp_path / "store.db").write_bytes(stored)
    return tmp_path


def page_of(seat: Seat) -> CurvesPage:
    page = seat.desk.current
    assert isinstance(page, CurvesPage)
    return page


def test_curves_and_maps_have_the_numbers_of_the_tables(folder: Path) -> None:
    with Store.open(folder / "store.db") as store:
        read = read_curves(store, CurvesWanted())
        rows = selected_groups(store, (), Chosen.of())
    (curve,) = read.curves[RIGHT]
    # Of the five items of word comprehension so many are right under each seed.
    assert {row.seed: {x: at.value for x, at in row.at.items()} for row in curve.of("seed")} == {
        "1": {0.1: 0.8, 0.2: 0.8, 0.3: 0.8},
        "2": {0.1: 0.8, 0.2: 0.6, 0.3: 0.6},
    }
    assert {x: at.value for x, at in curve.of("mean")[0].at.items()} == pytest.approx(
        {0.1: 0.8, 0.2: 0.7, 0.3: 0.7}
    )
    assert curve.intact == 1.0 and curve.of("control") == ()
    (cells,) = read.maps[RIGHT]
    assert {place: cell.mean.value for place, cell in cells.cells.items()} == {
        ("mlp", 0): 1.0, ("mlp", 1): 0.6,
    }  # fmt: skip
    assert next(iter(read.curves)).measure == "usable"
    # Every value of both tables is in a curve or a map, and no other.
    shown = [
        (*measure, one.series, row.row, row.seed, amount, at.value)
        for measure, curves in read.curves.items()
        for one in curves
        for row in one.rows
        for amount, at in row.at.items()
    ]
    places = (*Cell._fields, "series", "row", "seed")
    assert sorted(shown) == sorted(
        (*(row[name] or "" for name in places), amount, value)
        for row in doses_table(rows).to_dicts()
        for amount in (0.1, 0.2, 0.3)
        if (value := row[f"at_{amount}".replace(".", "_")]) is not None
    )
    assert sum(len(one.cells) for maps in read.maps.values() for one in maps) == len(
        map_table(rows)
    )
    with Store.open(folder / "store.db") as store:
        read = read_curves(store, CurvesWanted(numbers=(1, 2)))
    assert read.curves == {} and "two amounts" in read.no_curves
    assert read.maps == {} and "one target in one layer" in read.no_maps


def at(value: float, *ends: float, n: int = 1) -> SeedTest:
    return SeedTest(value, n, 0, 0, "", Interval(*ends) if ends else None)


CELL = Cell("accuracy")
CURVE = Curve(
    "m + mlp:zero:*",
    (
        Row(CELL, "", "intact", intact=3.0),
        Row(CELL, "", "seed", "1", {0.1: at(3.0), 0.2: at(5.0)}),
        Row(CELL, "", "mean", "", {0.1: at(4.0, 3.5, 4.5, n=5), 0.2: at(6.0)},
            reason="fewer than 5 seeds"),
    ),
)  # fmt: skip


def test_shares_go_from_0_to_1_and_values_far_from_0_have_the_room() -> None:
    assert limits(CURVE, RIGHT) == (0.0, 1.0)
    low, high = limits(CURVE, Cell("surprisal", "", "", ""))
    assert (low, high > 6.0) == (0.0, True)
    rows = Row(CELL, "", "intact", intact=103.0), Row(CELL, "", "seed", "1", {0.1: at(100.0)})
    far = Curve("", rows)
    assert limits(far, Cell("words", "", "", ""))[0] > 90.0


def test_a_lesion_has_its_glyph_in_every_measure_and_each_intact_model_a_line() -> None:
    plotext = pytest.importorskip("textual_plotext")
    plot, grid = plotext.PlotextPlot(), (1, 1)
    other = Curve("n + attention:zero:*", (Row(CELL, "", "intact", intact=5.0), *CURVE.rows[1:]))
    glyphs = {CURVE.series: SEVERAL[0], other.series: SEVERAL[1]}

    def drawn(*curves: Curve) -> str:
        words = Cell("words", "", "", "")
        draw_several(plot, {words: curves}, glyphs, grid, lambda one: "", colours_of("dark"))
        plot.plt.plotsize(60, 30)
        return str(plot.plt.build())

    alone, both = drawn(other), drawn(CURVE, other)
    assert SEVERAL[1] in alone and SEVERAL[0] not in alone
    lines = [sum("╌╌╌" in re.sub(r"\x1b\[[0-9;]*m", "", line) for line in one.splitlines())
             for one in (alone, both)]  # fmt: skip
    assert lines == [1, 2]


def test_numbers_below_a_curve_have_intervals_and_reasons() -> None:
    text = [line.plain for line in numbers(CURVE, 80, 20)]
    assert text[0].split() == ["amount", "0.1", "0.2"]
    assert text[1].split() == ["mean", "4.00", "[3.50,", "4.50]", "6.00"]
    assert text[2].split() == ["seeds", "5", "1"]
    assert text[-1] == "no interval, or no value: fewer than 5 seeds"
    # In a narrow pane amounts are below each other; without the lines intervals are left out.
    assert [line.plain for line in numbers(CURVE, 36, 20)][3].split() == ["amount", "0.2"]
    assert [line.plain for line in numbers(CURVE, 36, 3)][1].split() == ["mean", "4.00", "6.00"]


def square(
    target: str, layer: int, value: float | None, less: float | None, reason: str = ""
) -> MapCell:
    mean, difference = (SeedTest(one, 1, 0, 0, "") for one in (value, less))
    return MapCell(CELL, "", target, None, layer, mean, 0, 1.0, difference, reason)


MAP = HeatMap(
    "m + zero:0.5",
    {
        ("mlp", 0): square("mlp", 0, 0.5, -0.5),
        ("mlp", 1): square("mlp", 1, 1.0, 0.0),
        ("attention", 0): square("attention", 0, None, None, "few usable"),
    },
)


def test_a_cell_of_a_map_has_its_number_and_its_size() -> None:
    text = "\n".join(line.plain for line in map_lines(MAP, 60, 0, difference=True))
    assert f"-0.50 {STEPS[-1]}" in text and " · " in text
    assert text.split("attention")[1].split() [:1] == ["-"]  # fmt: skip
    # Layers that do not fit are below the first ones.
    narrow = [line.plain for line in map_lines(MAP, 20, 0, difference=False)]
    assert [line.split()[-1] for line in narrow if "layer" in line] == ["0", "1"]


async def test_curves_of_a_sweep_begin_with_its_lesions(folder: Path) -> None:
    (folder / "grid.toml").write_text(GRID.replace("heads", "small", 1), encoding="utf-8")
    with Store.open(folder / "store.db") as store:
        own = [
            one.id for one in store.administrations() if "seed" in (one.conditions.lesion or "seed")
        ]
        plugins = Plugins.load()
        for amount in (0.1, 0.2):  # another lesion moves more
            wrong = ("wc1", "wc2", "wc3", "wc4", "wc5")
            give(store, plugins, "able", wrong=wrong, lesion=f"attention:zero:{amount}@seed=1")
        plugins.close()
    for tagged in (False, True):
        if tagged:
            with Store.open(folder / "store.db") as store:
                change_marks(store, own, add=["small"])
        async with workbench(folder) as seat:
            await seat.press("w", at="sweep")
            grid = {"sweep-grid": str(folder / "grid.toml")}
            seat.fill(**{"sweep-battery": "tab", "sweep-model": "able"}, **grid)
            seat.desk.query_one("#sweep-pane").focus()
            await seat.press("g", at="curves")
            page = page_of(seat)
            await seat.until(lambda: page_of(seat).read, "the curves")
            assert page.chosen is not None and page.read is not None
            assert ("mlp" if tagged else "attention") in page.series
            assert ("--where tag=small" in page.command()) is tagged
            assert ([*page.read.numbers] == own) is tagged


async def test_curves_are_reached_from_the_results_and_by_keys(folder: Path) -> None:
    async with workbench(folder) as seat:
        await seat.press("m", at="models")
        results = seat.desk.query_one(ModelsPage)
        await seat.until(lambda: results.done, "all rows")
        await seat.press("w")
        await seat.until(lambda: seat.desk.page == "curves" and page_of(seat).read, "the curves")
        page = page_of(seat)
        assert page.measure is not None and page.measure.measure != "usable_share"
        while page.measure != RIGHT:
            await seat.press("down")
        await seat.reads("mean of 2 seeds")
        await seat.press("g", reads="size of the difference")
        await seat.reads("-0.40")
        assert "--table map" in page.command()
        listed = page.query_one(MeasureList)
        await seat.press("g")
        await seat.pilot.resize_terminal(160, 48)  # there is room for several measures
        await seat.until(lambda: page.several, "several measures")
        assert not listed.region.height
        far = [max(moved(one, cell) for one in page._all[cell]) for cell in page._measures]
        assert far == sorted(far, reverse=True)
        before = page._measures.index(RIGHT)
        await seat.press("left")
        assert page.measure == page._measures[before - 1]
        await seat.press("plus")  # one of them alone, beside the list
        await seat.until(lambda: listed.region.height, "the list")
        assert listed.chosen == page.measure
        await seat.pilot.click(listed, offset=(4, 2))  # below the heads
        await seat.until(lambda: page.measure == next(iter(page._all)), "the first measure")
        await seat.press("escape")
        await seat.until(lambda: page.several, "several measures again")
        await seat.press("escape", at="models")


INTACT = Answer("the dog barks", ResponseStatus.OK, False, (Verdict("exact", True),))
LESIONED = Answer("the wug barks wug", ResponseStatus.DEGENERATE, True, (Verdict("exact", False),))
PLAN = PlannedTrial(1, "saying", "s1", 0, (), "Say it.")
PAIR = Pair(PLAN, "Saying", "the dog barks", "mlp:zero:1", INTACT, LESIONED)


def marked(lines: list[Content]) -> list[str]:
    """The texts that are drawn as words that the other answer lacks."""
    return [
        line.plain[span.start : span.end]
        for line in lines
        for span in line.spans
        if span.style == DIFFERS
    ]


def test_words_that_the_other_answer_lacks_are_marked() -> None:
    lines = list(lines_of([PAIR], 90))
    assert marked(lines) == ["dog", "wug", "wug"]
    text = [line.plain for line in lines]
    assert any("the dog barks" in line and "│ the wug barks wug" in line for line in text)
    assert any("exact ✓" in line for line in text) and any("exact ✗" in line for line in text)
    assert any("degenerate, cut at the token limit" in line for line in text)
    assert "1 of 3 words only in intact, 2 of 4 only in lesioned" in text
    # Nothing is marked before both answers are there.
    assert marked(list(lines_of([replace(PAIR, lesioned=None)], 90))) == []
    # In a narrow pane one answer is below the other.
    text = [line.plain for line in lines_of([PAIR], 40)]
    assert not any("│" in line for line in text)
    assert text.index("the dog barks") < text.index("the wug barks wug")
    assert max(map(len, text)) <= 40
    assert list(lines_of([PAIR], 0)), "before there is room"
    first = next(iter(lines_of([PAIR, replace(PAIR, lesioned=INTACT)], 90))).plain
    assert (
        first == "1 of 2 items answered differently   intact 2 of 2 exact   lesioned 1 of 2 exact"
    )


def test_a_number_of_workers_that_is_not_allowed_is_refused() -> None:
    for workers in ("0", "257", "two", ""):
        given = {"battery": "tab", "model": "bundled", "grid": "grid.toml", "workers": workers}
        with pytest.raises(UsageError, match="cannot be used"):
            made(SweepLesions, given)


def test_the_time_that_is_left_is_that_of_the_conditions_not_done() -> None:
    points = [Point("intact", Conditions("bundled", "model"))] * 12
    swept = Swept("two", points, {}, before=2, given=4)
    assert swept.time_left(40.0) == "about 60 s left"
    assert swept.summary(active=True) == "6 of 12 conditions done, 2 of them before"
    swept = replace(swept, begun=frozenset({"a", "b"}), items=30)
    assert swept.summary(active=True).endswith(", 2 running, 30 items answered")
    swept = replace(swept, failures=(("mlp:zero:1", "the process died"),))
    assert swept.summary(active=False).endswith(", 1 failed")


class Fragile:
    """A model that, as the contract says, answers nothing after a lesion that does not fit."""

    given: str = ""

    def open(self) -> Mapping[str, str]:
        return {}

    def close(self) -> None: ...

    def parts(self) -> Sequence[Part]:
        return []

    def lesion(self, spec: str) -> Mapping[str, str]:
        self.given = spec
        if spec.startswith("experts"):
            raise ComponentError("there are no experts")
        return {}

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        yield self.given


class LesionPlugins:
    def __init__(self, model: Fragile) -> None:
        self.model = model

    def open_model(self, spec: str) -> Any:
        return self.model


def test_the_model_is_intact_after_a_lesion_that_does_not_fit() -> None:
    model = Fragile()
    laboratory = Laboratory(LesionPlugins(model), "fragile", threading.Event())  # type: ignore[arg-type]
    laboratory.apply("mlp:zero:1")
    with pytest.raises(ComponentError, match="no experts"):
        laboratory.apply("experts:zero:1")
    assert laboratory.lesion == model.given == ""


SCALED = "mlp.down:scale:0.3@layers=0-1,factor=0.5,seed=7"


async def test_a_lesion_is_written_as_a_grid_and_no_other_file_is_lost(
    sit: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written: list[str | None] = []
    async with sit() as seat:
        seat.app.push_screen(GridScreen(parse_lesions(SCALED)), written.append)
        await seat.reads("Sweep with this lesion", "factor = 0.5")
        seat.fill(**{"grid-amounts": "0.1 2"})
        await seat.reads("has the amount 2.0")
        await seat.press("enter")
        assert not written
        for amount in ("nan", "9" * 400):
            seat.fill(**{"grid-amounts": amount})
            await seat.reads("is not an amount")
        seat.fill(**{"grid-file": "~nobody-has-this-name/down.toml"})
        seat.fill(**{"grid-amounts": "0.1, 0.2", "grid-seeds": "1-3", "grid-layers": "each"})
        (tmp_path / "there.toml").write_text("mine", encoding="utf-8")
        seat.fill(**{"grid-file": "there.toml"})
        await seat.press("enter", reads="choose another name")
        os.mkfifo(tmp_path / "pipe.toml")
        seat.fill(**{"grid-file": "pipe.toml"})
        await seat.press("enter", reads="is not a regular file")
        seat.fill(**{"grid-file": "new.toml"})
        await seat.press("enter")
        await seat.until(lambda: written, "the file")
    assert written == [str(tmp_path / "new.toml")]
    assert (tmp_path / "there.toml").read_text(encoding="utf-8") == "mine"
    grid = read_grid(tmp_path / "new.toml")
    (rows,) = grid.rows
    assert (grid.name, rows.targets, rows.layers) == ("new", ("mlp.down",), ("each",))
    assert (rows.amounts, rows.seeds, rows.controls) == ((0.1, 0.2), (1, 2, 3), ("anywhere",))
    assert (rows.values, rows.numbers) == ({"operation": "scale"}, (0.5,))


def parts(*targets: str) -> list[Part]:
    return [Part(f"0.{target}", target, 0, 8, 8, {"w": 32}) for target in targets]


async def spec_after(chosen: str, *models: list[Part]) -> str:
    app = Stage(LesionForm())
    async with app.run_test() as pilot:
        form = app.query_one(LesionForm)
        await pilot.pause()
        if chosen:
            app.query_one("#lab-target", Input).value = chosen
            await pilot.pause()
        for model in models:
            form.offer(model)
            await pilot.pause()
        return form.spec


async def test_a_target_stays_where_the_user_chose_it_and_else_is_the_first_there_is() -> None:
    gated, plain = parts("mlp.gate", "mlp.down"), parts("mlp.in", "mlp.out")
    assert await spec_after("", plain) == "mlp.out:zero:0.3@seed=1"
    assert await spec_after("", plain, gated) == "mlp.down:zero:0.3@seed=1"
    assert await spec_after("mlp.up", plain) == "mlp.up:zero:0.3@seed=1"
