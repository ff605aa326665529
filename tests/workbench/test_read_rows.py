"""Rows of the results by model while they are read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from tabwb.analysis.grouping import Grouped
from tabwb.workbench.comparison.read_rows import ReadRows
from tabwb.workbench.comparison.rows import key_of


def row(label: str) -> Grouped:
    group, battery = SimpleNamespace(has_model=True), SimpleNamespace(content_hash="tab")
    return cast("Grouped", SimpleNamespace(label=label, group=group, battery=battery))


def test_a_row_stays_marked_until_everything_is_read_again() -> None:
    rows = ReadRows()
    rows.add(row("able"), 1, 2)
    rows.add(row("weak"), 2, 2)
    rows.turn_mark(key_of(row("weak")))
    rows.begin("model")
    rows.add(row("able"), 1, 2)
    assert [one.label for one in rows.all] == ["able", "weak"]
    assert rows.progress(rows.all) == "… reading, 1 of 2 models"
    assert [one.label for one in rows.selected(rows.all)] == ["weak"]
    rows.add(None, 2, 2)
    assert [one.label for one in rows.all] == ["able"]
    assert not rows.marked
    assert rows.progress(rows.all) == "1 of 1 models"


def test_another_grouping_begins_without_rows_and_is_not_complete() -> None:
    rows = ReadRows()
    rows.add(row("able"), 1, 1)
    rows.begin("seed")
    assert not rows.all
    assert not rows.complete
    assert rows.progress([]) == "… reading"
