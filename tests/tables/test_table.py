"""Tables of typed columns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.columns import Column
from tabwb.records.declared_conditions import ColumnType
from tabwb.tables.table import Series, Table, series_of, table_of

COLUMNS = [
    Column("name", "Name", "a text"),
    Column("tags", "Tags", "texts", "list of text"),
    Column("n", "N", "responses", "integer"),
    Column("share", "Share", "a share", "number", "share", 1, True),
    Column("few", "Few", "whether few are usable", "boolean"),
]
VALUES: dict[ColumnType, st.SearchStrategy[object]] = {
    "text": st.text(max_size=5),
    "list of text": st.lists(st.text(max_size=3), max_size=3).map(tuple),
    "integer": st.integers(-(2**62), 2**62),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
}
ROWS = st.lists(st.tuples(*(st.none() | VALUES[column.type] for column in COLUMNS)), max_size=8)


@given(ROWS)
def test_rows_come_back_as_they_were_given(rows: list[tuple[object, ...]]) -> None:
    table = table_of("example", COLUMNS, rows)
    assert len(table) == len(rows)
    assert list(table.rows()) == rows


@given(ROWS, st.data())
def test_where_finds_the_rows_with_any_value_of_a_list(
    rows: list[tuple[object, ...]], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(COLUMNS) - 1))
    values = data.draw(st.lists(st.none() | VALUES[COLUMNS[at].type], max_size=3))
    values += [row[at] for row in rows[:1]]
    found = table_of("example", COLUMNS, rows).where(**{COLUMNS[at].name: values})
    assert list(found.rows()) == [row for row in rows if row[at] in values]


def test_a_number_that_is_none_is_refused() -> None:
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="nan"):
            series_of([bad], "number")


def test_columns_have_one_length_and_values() -> None:
    two, one = Series(np.zeros(2)), Series(np.zeros(1))
    with pytest.raises(ValueError, match="different length"):
        Table("example", COLUMNS[:2], {"name": two, "tags": one})
    with pytest.raises(ValueError, match="tags"):
        Table("example", COLUMNS[:2], {"name": two})


def test_values_are_shown_as_the_column_says() -> None:
    shown = [
        column.format(value)
        for column, value in zip(COLUMNS, ("a", ("x", "y"), 3, 0.5, False), strict=True)
    ]
    assert shown == ["a", "x, y", "3", "50.0 %", "no"]
    assert {column.format(None) for column in COLUMNS} == {"-"}


def test_where_names_a_near_column_and_has_no_rows_for_a_value_that_is_not_there() -> None:
    columns = [Column("measure", "Measure", "what was measured")]
    table = table_of("example", columns, [("burden",), ("accuracy",)])
    assert len(table.where(measure="burdn")) == 0
    with pytest.raises(KeyError, match="no column 'measur'; there are measure; did you mean 'mea"):
        table.where(measur="burden")


def test_a_table_is_taken_by_names_of_columns() -> None:
    table = table_of("example", COLUMNS[:3], [("a", ("x",), 1), ("b", ("y",), 2)])
    assert table.select("n").names == ("n",)
    assert table.where(name=("a", "b"))["n"].to_list() == [1, 2]
    assert table.where(tags=("x",))["n"].to_list() == [1]
    with pytest.raises(TypeError, match="a column has a name, not 0"):
        table[0]  # type: ignore[index]
    with pytest.raises(TypeError, match=r"use rows\(\)"):
        list(table)
