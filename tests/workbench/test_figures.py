"""What plots show, apart from how it is drawn."""

from __future__ import annotations

from dataclasses import replace

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import grouped, summarised
from tabwb.workbench.comparison.plots import figure_of
from tabwb.workbench.comparison.rows import bases
from tests.report.given import BATTERY, DECLARED, SAMPLED, administration, answered


def test_a_baseline_that_differs_between_rows_has_both_ends_as_in_the_table() -> None:
    # As given the key stands first; turned round it never does. The plot once showed 1.00 alone.
    given = ("lion", "drum", "violin", "giraffe", "boot", "boat")
    rows = summarised(
        grouped(
            [
                AdministrationData(
                    administration(number, replace(SAMPLED, examinee=name)),
                    BATTERY,
                    (answered("wc1", "lion", options=options),),
                    declarations=DECLARED,
                )
                for number, (name, options) in enumerate((("one", given), ("two", given[::-1])), 1)
            ],
            "model",
        )
    )
    points = figure_of("accuracies", rows, bases(rows)[0]).points
    first = next(one for one in points if one.label == "always first option")
    assert (first.low, first.value) == (0.0, 1.0)
    guessing = next(one for one in points if one.label == "guessing")
    assert guessing.baseline and guessing.low == guessing.value == 1 / 6
