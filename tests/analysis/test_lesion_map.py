"""Maps of targets by layers, counted by hand."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any

import pytest

from tabwb.media.figures import figure_table, make
from tabwb.records.errors import UsageError
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import Grouped, summarised
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.tables.views import named_table
from tests.analysis.test_doses import T4, one
from tests.media.figures.made import cells as squares
from tests.media.figures.made import panels, words

RIGHT = {("attention.q", 0): (3, 3, 2, 3, 2), ("attention.q", 1): (1, 0, 0, 2, 1),
         ("mlp.down", 0): (3, 3, 3, 3, 3)}  # fmt: skip


def lesions(*, greedy: bool = False) -> list[AdministrationData]:
    found = [one(1, None, 3, greedy=greedy)]
    for (target, layer), own in RIGHT.items():
        for seed, right in enumerate(own, 1):
            spec = f"{target}:zero:0.5@layers={layer},seed={seed}"
            found.append(one(len(found) + 1, spec, right, greedy=greedy))
    # None of these is of one target in one layer, or a lesion's.
    others = ("mlp:zero:0.5", "mlp:zero:0.5@layers=0-1", "noise:mlp@severity=0.1")
    found += [one(100 + at, spec, 0) for at, spec in enumerate(others)]
    found.append(one(200, "mlp:zero:0.5@layers=0", 0, control=True))
    return found


def groups(chosen: list[AdministrationData]) -> tuple[Grouped, ...]:
    return summarised(grouped(chosen, ("administration",)), interval=False)


def cells(chosen: list[AdministrationData]) -> dict[tuple[str, int], dict[str, Any]]:
    table = named_table("map", groups(chosen)).where(measure="accuracy", part="words")
    return {(row["target"], row["layer"]): row for row in table.to_dicts()}


def test_a_cell_is_the_mean_over_seeds_less_the_intact_model() -> None:
    found = cells(lesions())
    assert set(found) == set(RIGHT)
    row = found["attention.q", 1]
    values = [n / 3 for n in RIGHT["attention.q", 1]]
    half = T4 * stdev(values) / 5**0.5
    assert (row["value"], row["intact"], row["n_seeds"]) == (pytest.approx(mean(values)), 1.0, 5)
    assert row["difference"] == pytest.approx(mean(values) - 1)
    assert row["difference_low"] is None and "drawn" in row["reason"]  # SAMPLED: not greedy
    assert row["value_high"] == pytest.approx(mean(values) + half)


def test_differences_end_at_what_is_possible_and_are_corrected_over_the_cells_of_a_map() -> None:
    found = cells(lesions(greedy=True))
    first, second = found["attention.q", 0], found["attention.q", 1]
    values = [n / 3 - 1 for n in RIGHT["attention.q", 0]]
    half = T4 * stdev(values) / 5**0.5
    assert first["difference_low"] == pytest.approx(mean(values) - half)
    assert first["difference_high"] == 0.0  # nothing is better than all right
    assert found["mlp.down", 0]["p"] is None  # all seeds have the same value
    assert second["p_adjusted"] == pytest.approx(2 * second["p"])
    assert first["p_adjusted"] == pytest.approx(first["p"])


def test_without_an_intact_model_there_are_values_and_no_differences() -> None:
    row = cells(lesions()[1:])["mlp.down", 0]
    assert row["value"] == 1.0 and row["difference"] is None
    assert row["reason"].startswith("all seeds have the same value")
    row = cells(lesions()[1:])["attention.q", 0]
    assert row["reason"] == "the intact model was not given"


def test_single_heads_are_rows_of_one_map() -> None:
    right = {(0, 0): 3, (1, 0): 0, (0, 1): 1, (1, 1): 2}
    chosen = [one(1, None, 3, greedy=True)]
    for (head, layer), said in right.items():
        spec = f"attention.heads:zero:1@layers={layer},heads={head}"
        chosen.append(one(len(chosen) + 1, spec, said, greedy=True))
    chosen.append(one(9, "attention.heads:zero:1@layers=0", 0, greedy=True))
    chosen.append(one(10, "attention.heads:zero:1@layers=0,heads=0-1", 0, greedy=True))
    table = named_table("map", groups(chosen)).where(measure="accuracy", part="words")
    found = [(row["target"], row["unit"], row["layer"], row["value"]) for row in table.to_dicts()]
    # Several heads at once are another series.
    assert found == [
        ("attention.heads", None, 0, 0.0),
        *(("attention.heads", head, layer, right[head, layer] / 3)
          for head in (0, 1) for layer in (0, 1)),
        ("attention.heads", None, 0, 0.0),
    ]  # fmt: skip
    assert table["series"].to_list()[0].endswith("zero:1")
    figure = make("map", groups(chosen[:6]), measure="accuracy")
    (axes,) = panels(figure)
    # The target and two heads, in two layers; the target in one of them alone.
    assert (len(squares(axes)), len(squares(axes, "undefined"))) == (5, 1)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["attention.heads", "attention.heads 0", "attention.heads 1"]


def test_the_figure_has_a_square_for_each_target_and_layer() -> None:
    (axes, *_) = panels(make("map", groups(lesions()), measure="accuracy"))
    assert (len(squares(axes)), len(squares(axes, "undefined"))) == (3, 1)
    assert words(axes, "value") == ["-0.13", "-0.73", "0.00"]


def test_only_measures_that_there_are_can_be_drawn() -> None:
    with pytest.raises(UsageError, match="no map of 'rate' with the feature 'x'"):
        figure_table("map", groups(lesions()), measure="rate", feature="x")
    with pytest.raises(UsageError, match="one target in one layer"):
        cells([one(1, None, 3), one(2, "mlp:zero:0.5", 3)])
