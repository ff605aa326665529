"""Tables in the terminal: what golden outputs cannot hold."""

from __future__ import annotations

from tabwb.analysis.tables.captioned import noted
from tabwb.media.views.administration import burden_view
from tabwb.media.views.typed import sectioned_view
from tabwb.records.columns import Column
from tabwb.tables.table import table_of
from tests.analysis.given import (
    ANSWERS,
    BATTERY,
    CONDITIONS,
    DECLARED,
    printed,
    summarise,
    trials,
)

NUMBERS = tuple(
    Column(name, title, "a share", "number", digits=2)
    for name, title in (("share", "Share right"), ("share_low", "Low"), ("share_high", "High"))
)
DOSES = (
    Column("row", "Row", "what"),
    Column("intact", "Intact", "value of the intact model", "number", digits=2),
    Column("at_0_1", "0.1", "value", "number", digits=2),
    Column("reason", "Reason", "why"),
)


def test_no_line_is_wider_than_asked_for_and_every_value_is_there() -> None:
    columns = (Column("item", "Item", "the item"), *NUMBERS, Column("p", "p", "p", "number"))
    rows = [("a-long-name-of-an-item", 0.5, 0.25, 0.75, 0.125), ("b", 0.1, -0.2, 0.4, None)]
    text = sectioned_view(table_of("t", columns, rows), [], 30).plain
    assert max(map(len, text.splitlines())) <= 30
    assert all(value in text for value in ("0.50", "0.25 to 0.75", "-0.20 to 0.40", "0.125"))


def test_each_reason_is_a_numbered_note_and_rows_without_a_value_are_counted() -> None:
    rows = [
        ("intact", 1.0, None, None),
        ("seed", None, 0.5, "few usable at 0.1, 0.2, in no mean"),
        ("mean", None, 0.5, "at 0.1: fewer than 5 seeds; all the same"),
        ("mean", None, None, "no seed has a value; too few amounts"),
        ("mean", 1.0, None, "no such feature"),
    ]
    table = noted(table_of("doses", DOSES, rows, ("A note.",)))
    assert table["row"].to_list() == ["intact", "seed", "mean"]
    assert table["notes"].to_list() == [None, "1 (0.1, 0.2)", "2 (0.1), 3"]
    assert table.notes[0] == "1: few usable, in no mean"
    assert "2 rows of 5 without any value" in table.notes[3] and table.notes[-1] == "A note."


def test_titles_of_categories_are_whole_in_a_narrow_panel() -> None:
    answers = trials(ANSWERS, ("retracing",))
    (judge,) = summarise(BATTERY, answers, CONDITIONS, declarations=DECLARED, interval=True).judges
    titles = dict.fromkeys(judge.burden.categories, "Perseverative")
    assert "Perseverative  ━" in printed(burden_view(judge, titles), width=34)
