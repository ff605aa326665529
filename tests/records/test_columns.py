"""Ends of intervals are not shown as equal, and nothing as minus zero."""

from __future__ import annotations

import numpy as np
import pytest

from tabwb.media.views.typed import sectioned_view
from tabwb.media.wording import between, interval_words, signed
from tabwb.records.columns import Column, ends_of
from tabwb.scoring.estimate import Estimand, EstimatedInterval, Interval
from tabwb.tables.table import table_of


def test_ends_differ_and_are_right_to_their_last_place() -> None:
    rng = np.random.default_rng(1)
    for low, width in zip(rng.random(300), 10 ** rng.uniform(-3.9, 0, 300), strict=True):
        first, second = ends_of(float(low), float(low + width), 2)
        assert first != second
        places = len(first.split(".")[1])
        assert abs(float(first) - low) <= 0.5 * 10**-places + 1e-12
        assert places == 2 or f"{low:.{places - 1}f}" == f"{low + width:.{places - 1}f}"


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [(0.0, 0.0018, "0.000-0.002"), (0.9985, 1.0, "0.999-1.000"), (0.0, 0.00001, "0.0000-<0.0001"),
     (0.5, 0.5, "0.50-0.50")],
)  # fmt: skip
def test_words_of_intervals(low: float, high: float, shown: str) -> None:
    assert between(Interval(low, high)) == shown


def test_nothing_is_minus_zero() -> None:
    assert signed(-0.001) == "0.00" and signed(-0.4) == "-0.40"
    assert between(Interval(0.0, 0.004)) == "0.000-0.004"
    given = EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, Interval(-0.004, 0.2))
    assert interval_words(given) == "0.00 to +0.20"
    assert Column("d", "D", "a difference", "number", digits=2).format(-0.001) == "0.00"


def test_a_value_has_the_places_of_its_interval() -> None:
    columns = [Column(name, "X", "x", "number", digits=2) for name in ("x", "x_low", "x_high")]
    made = table_of("t", columns, [(0.0012, 0.0, 0.0018), (0.3, 0.1, 0.5)])
    lines = sectioned_view(made, [], 80).plain.splitlines()[2:4]
    assert [line.split() for line in lines] == [["0.001", "0.000-0.002"], ["0.30", "0.10-0.50"]]
