"""Printed tables of lesions: each reason once, and no rows in which all is undefined."""

from __future__ import annotations

from tabwb.media.views.typed import explained_view
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import summarised
from tabwb.report.tables.captioned import noted
from tabwb.report.tables.views import named_table
from tabwb.tables.table import Column, Table, table_of
from tests.analysis.test_doses import sweep
from tests.report.test_typed import printed

COLUMNS = (
    Column("row", "Row", "what"),
    Column("intact", "Intact", "value of the intact model", "number", digits=2),
    Column("at_0_1", "0.1", "value", "number", digits=2),
    Column("at_0_1_n", "Seeds", "behind it", "integer"),
    Column("reason", "Reason", "why"),
)


def made(name: str = "doses") -> Table:
    rows = [
        ("intact", 1.0, None, None, None),
        ("seed", None, 0.5, None, "few usable at 0.1, 0.2, in no mean"),
        ("mean", None, 0.5, 1, "at 0.1: fewer than 5 seeds; all the same"),
        ("seed", None, 0.25, None, "few usable at 0.1, in no mean"),
        ("mean", None, None, 0, "no seed has a value; too few amounts"),
        ("intact", None, None, None, "no such feature"),
    ]
    return table_of(name, COLUMNS, rows, ("A note.",))


def test_each_reason_is_a_numbered_note_with_the_amounts_in_the_row() -> None:
    table = noted(made())
    assert table["notes"].to_list() == [None, "1 (0.1, 0.2)", "2 (0.1), 3", "1 (0.1)"]
    assert table.notes[:3] == (
        "1: few usable, in no mean",
        "2: fewer than 5 seeds",
        "3: all the same",
    )
    assert table.notes[-1] == "A note." and "reason" not in table.names


def test_rows_without_a_value_are_left_out_and_counted_with_their_reasons() -> None:
    table = noted(made())
    assert table["row"].to_list() == ["intact", "seed", "mean", "seed"]
    assert table.notes[3] == (
        "Left out: 2 rows of 6 without any value (no seed has a value; too few amounts; no such "
        "feature); --format csv and --json have them."
    )


def test_an_intact_value_alone_does_not_keep_a_row_of_another_kind() -> None:
    rows = [("intact", 1.0, None, None, None), ("", 1.0, None, None, "none usable")]
    assert noted(table_of("map", COLUMNS, rows))["row"].to_list() == ["intact"]


def test_other_tables_keep_their_reasons() -> None:
    assert noted(made("results")).names == made().names


def test_the_printed_table_of_doses_has_no_reason_twice() -> None:
    table = named_table("doses", summarised(grouped(sweep(3), ("administration",)), interval=False))
    lines = printed(explained_view(table), 100)
    assert sum("fewer than 5 seeds" in line for line in lines) == 1
    assert any(line.startswith("Left out: ") for line in lines)
