"""What a sweep can show over the seeds of its lesions."""

from __future__ import annotations

from tabwb.administer.session.smallest_difference import showable
from tabwb.administer.sweep.over_seeds import over_seeds, said_over_seeds
from tabwb.records.conditions import Conditions
from tabwb.scoring.detectable import detectable_over_seeds
from tests.report.given import BATTERY

GREEDY = Conditions("m", "model")


def test_accuracies_are_those_of_the_smallest_subtest() -> None:
    rows = over_seeds(6, BATTERY, showable(BATTERY, GREEDY), controls=True)
    assert {row.seeds for row in rows} == {6}
    assert {row.than for row in rows} == {"a control of its size", "the intact model"}
    words = next(row for row in rows if row.measure == "accuracy" and "control" in row.than)
    assert words.items == 2  # the fewest of a scored subtest
    assert words.difference == detectable_over_seeds(6, 2, None, controls=True)


def test_without_controls_lesions_are_compared_with_the_intact_model() -> None:
    rows = over_seeds(5, BATTERY, showable(BATTERY, GREEDY), controls=False)
    assert {row.than for row in rows} == {"the intact model"}
    lines = list(said_over_seeds(rows))
    assert "over 5 seeds (other draws of units, these prompts" in lines[0]


def test_few_seeds_show_nothing_and_lesions_without_draws_have_no_seeds() -> None:
    rows = over_seeds(3, BATTERY, showable(BATTERY, GREEDY), controls=False)
    assert {row.difference.reason for row in rows} == {"fewer than 5 seeds"}
    assert over_seeds(0, BATTERY, showable(BATTERY, GREEDY), controls=True) == ()
    assert list(said_over_seeds(())) == []
