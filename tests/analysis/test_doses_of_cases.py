"""Lesions of which nothing is drawn: one case beside the controls; counted by hand."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from statistics import mean, stdev

import pytest
from scipy import stats

from tabwb.media.figures import figure_table
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import summarised
from tabwb.report.summaries.load import AdministrationData
from tests.analysis.test_doses import CONTROL, T4, accuracy, one, sweep


def selected(controls: int = 5, run_seed: int = 1) -> list[AdministrationData]:
    """Return a list of units at two amounts, with 1 and 0 right answers, and its controls."""
    place = "file=units.json,sha256=0123456789abcdef"
    found = [one(1, None, 3, greedy=True)]
    for amount, right in (("0.5", 1), ("1", 0)):
        spec = f"mlp.neurons:zero:{amount}@select=list,{place}"
        found.append(one(len(found) + 1, spec, right, size=100, greedy=True))
        for seed in range(1, controls + 1):
            spec = f"mlp.neurons:zero:{amount}@select=list-control,{place},seed={seed}"
            own = CONTROL[seed % 5][amount == "1"]
            found.append(
                one(len(found) + 1, spec, own, size=100, control=True, greedy=True)
            )  # fmt: skip
    return [
        replace(data, administration=replace(data.administration, conditions=replace(
            data.administration.conditions, seed=run_seed)))
        for data in found
    ]  # fmt: skip


def test_a_lesion_without_draws_is_one_case_beside_its_controls() -> None:
    (row,) = accuracy(selected(), "less control")
    last = [CONTROL[seed % 5][1] / 3 for seed in range(1, 6)]
    half = T4 * stdev(last) * sqrt(6 / 5)
    assert row["test"] == "one lesion against controls" and row["df"] == 4
    assert row["at_1"] == pytest.approx(0 - mean(last))
    assert row["at_1_high"] == pytest.approx(-mean(last) + half)
    assert row["at_1_low"] == -1  # no control is above 1
    heights = [sum(CONTROL[seed % 5]) / 6 for seed in range(1, 6)]
    t = (1 / 6 - mean(heights)) / (stdev(heights) * sqrt(6 / 5))
    assert row["height"] == pytest.approx(1 / 6 - mean(heights))
    assert row["height_p"] == pytest.approx(2 * stats.t.sf(abs(t), 4))
    (alone,) = accuracy(selected(), "mean")
    assert alone["reason"] == "one condition without seeds"


def test_four_controls_of_a_lesion_without_draws_are_too_few() -> None:
    (row,) = accuracy(selected(4), "less control")
    assert row["height"] is not None and row["height_p"] is None
    assert row["reason"] == "fewer than 5 controls"


def test_controls_of_selected_units_are_those_of_the_same_list_and_amount() -> None:
    (row,) = accuracy(selected(), "control")  # all have one size
    assert row["at_0_5"] == pytest.approx(mean(own[0] for own in CONTROL) / 3)
    assert row["at_1"] == pytest.approx(mean(own[1] for own in CONTROL) / 3)


def test_an_amount_that_takes_everything_is_in_no_slope_of_seeds() -> None:
    whole = one(200, "mlp.down:zero:1", 0, greedy=True, size=9000)
    own = whole.administration
    whole = replace(
        whole, administration=replace(own, conditions=replace(own.conditions, seed=77))
    )  # fmt: skip
    given_77 = [
        replace(data, administration=replace(data.administration, conditions=replace(
            data.administration.conditions, seed=77)))
        for data in sweep(greedy=True)
    ]  # fmt: skip
    (row,) = accuracy([*given_77, whole], "mean")
    (before,) = accuracy(given_77, "mean")
    assert row["over"] == "0.1, 0.3" and row["slope"] == before["slope"]
    assert row["at_1"] == 0 and row["at_1_n"] == 1 and row["at_1_low"] is None


def test_the_figure_says_what_the_controls_of_selected_units_are() -> None:
    groups = summarised(grouped(selected(), ("administration",)))
    notes = " ".join(figure_table("dose", groups, measure="accuracy").notes)
    assert "Control of selected units: as many random units in the same layers." in notes
    assert "anywhere in attention" not in notes
