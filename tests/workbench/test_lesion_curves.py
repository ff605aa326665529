"""Curves and maps: what is taken from the tables, how it is drawn, and the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.analysis.doses import MapCell, Row, doses_table, map_table
from tabwb.analysis.selection import Selection, selected_groups
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.report.measures import Cell
from tabwb.scoring.dose import SeedTest
from tabwb.scoring.estimate import Interval
from tabwb.store.store import Store
from tabwb.workbench.comparison.page import ModelsPage
from tabwb.workbench.engine.messages import CurvesWanted
from tabwb.workbench.lesions.curve_plot import limits, map_lines, numbers
from tabwb.workbench.lesions.curves import Curve, HeatMap, read_curves
from tabwb.workbench.lesions.curves_page import CurvesPage
from tabwb.workbench.shell.drawn import STEPS
from tests.workbench.seat import SIZES, Seat, workbench
from tests.workbench.stocked import give

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
        rows = selected_groups(store, (), Selection.of())
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


def test_what_is_missing_is_said(folder: Path) -> None:
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
    assert f"-0.50 {STEPS[-1]}" in text and f"0.00 {STEPS[0]}" in text
    assert text.split("attention")[1].split() [:1] == ["-"]  # fmt: skip
    # Layers that do not fit are below the first ones.
    narrow = [line.plain for line in map_lines(MAP, 20, 0, difference=False)]
    assert [line.split()[-1] for line in narrow if "layer" in line] == ["0", "1"]


@pytest.mark.parametrize("size", SIZES)
async def test_curves_are_reached_from_the_results_and_by_keys(
    folder: Path, size: tuple[int, int]
) -> None:
    async with workbench(folder, size) as seat:
        await seat.press("m")
        await seat.until(lambda: seat.desk.page == "models", "the results")
        results = seat.desk.query_one(ModelsPage)
        await seat.until(lambda: results.done, "all rows")
        await seat.press("L")
        await seat.until(lambda: seat.desk.page == "curves" and page_of(seat).read, "the curves")
        page = page_of(seat)
        await seat.reads("Usable responses")
        while page.measure != RIGHT:
            await seat.press("down")
        await seat.reads("mean of 2 seeds")
        await seat.press("g")
        await seat.reads("size of the difference")
        await seat.reads("-0.40")
        assert "--table map" in page.command()
        await seat.press("escape")
        await seat.until(lambda: seat.desk.page == "models", "the results")
