"""Tables of typed columns, as Arrow data, as data frames of pandas and polars, and as HTML."""

from __future__ import annotations

import gc
import json
import math
import subprocess
import sys
import weakref
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.columns import Column
from tabwb.records.declared_conditions import ColumnType
from tabwb.records.errors import MissingExtra, MissingPackage
from tabwb.tables import frames
from tabwb.tables.html import SHOWN_ROWS
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


SOME = [
    ("a", ("x", "y"), 1, 0.5, True),
    (None, None, None, None, None),
    ("ä€𝄞", (), -(2**62), -0.0, False),
    ("a", ("",), 3, 1e300, True),
]


def example(rows: Sequence[Any] = SOME) -> Table:
    return table_of("example", COLUMNS, rows, ("a note",))


def as_lists(rows: Sequence[Sequence[object]]) -> list[list[object]]:
    return [[list(v) if isinstance(v, tuple) else v for v in row] for row in rows]


@given(ROWS)
def test_pyarrow_reads_the_values_of_a_table(rows: list[tuple[object, ...]]) -> None:
    read = pa.table(example(rows))
    read.validate(full=True)
    assert [list(row.values()) for row in read.to_pylist()] == as_lists(rows)


def test_polars_reads_the_values_of_a_table() -> None:
    assert [list(row) for row in pl.DataFrame(example()).rows()] == as_lists(SOME)


def test_pandas_reads_the_values_of_a_table() -> None:
    read = pd.DataFrame.from_arrow(example())
    assert read["name"].isna().tolist() == [False, True, False, False]
    assert read["n"].isna().tolist() == [False, True, False, False]
    assert read["share"].tolist()[2:] == [-0.0, 1e300] and math.isnan(read["share"][1])


def test_duckdb_reads_the_values_of_a_table() -> None:
    told = example()
    assert told is not None  # found by its name in the statement
    read = duckdb.sql("SELECT * FROM told WHERE n IS NULL OR n > 0").fetchall()
    assert as_lists(read) == as_lists([SOME[0], SOME[1], SOME[3]])


def test_a_long_table_is_read_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "CHUNK_ROWS", 3)
    rows = [(f"t{i % 4}", ("x",) * (i % 3), i, i / 7, i % 2 == 0) for i in range(10)]
    reader = pa.RecordBatchReader.from_stream(example(rows))
    batches = list(reader)
    assert [len(batch) for batch in batches] == [3, 3, 3, 1]
    read = pa.Table.from_batches(batches).to_pylist()
    assert [list(row.values()) for row in read] == as_lists(rows)


def test_a_requested_schema_is_kept() -> None:
    schema = pa.schema(
        [("name", pa.string()), ("tags", pa.list_(pa.string())), ("n", pa.int64()),
         ("share", pa.float32()), ("few", pa.bool_())]
    )  # fmt: skip
    assert pa.table(example()).schema.field("name").type == pa.dictionary(pa.int32(), pa.string())
    read = pa.RecordBatchReader.from_stream(example(), schema=schema)
    assert read.schema.types == schema.types
    assert read.read_all().column("name").to_pylist() == ["a", None, "ä€𝄞", "a"]


def test_a_schema_with_other_columns_is_refused() -> None:
    with pytest.raises((ValueError, TypeError, pa.ArrowException)):
        pa.RecordBatchReader.from_stream(example(), schema=pa.schema([("other", pa.string())]))


def test_numbers_and_codes_are_not_copied() -> None:
    values, codes = np.arange(5.0), np.array([0, 1, 0, 1, 0], np.int32)
    columns = [Column("x", "X", "numbers", "number"), Column("t", "T", "texts")]
    read = Table("own", columns, {"x": Series(values), "t": Series(codes, ["a", "b"])}).to_arrow()
    places = [
        chunk.buffers()[1].address for chunk in (read["x"].chunk(0), read["t"].chunk(0).indices)
    ]
    assert places == [values.ctypes.data, codes.ctypes.data]


def test_memory_is_freed_with_the_last_reader() -> None:
    values = np.arange(1000.0)
    gone = weakref.ref(values)
    table = Table("own", [Column("x", "X", "numbers", "number")], {"x": Series(values)})
    frame = pl.DataFrame(table)
    unread = table.__arrow_c_stream__()
    del table, values
    gc.collect()
    assert gone() is not None and frame["x"][999] == 999
    del frame, unread
    gc.collect()
    assert gone() is None


def test_an_error_while_a_frame_is_freed_ends_nothing() -> None:
    # The frame on the stack is freed while the exception is in progress.
    code = (
        "import polars as pl, pyarrow as pa\n"
        "from tabwb.records.columns import Column\n"
        "from tabwb.tables.table import table_of\n"
        "t = table_of('t', [Column('n', 'N', 'n', 'integer'), Column('s', 'S', 's')], [(1, 'a')])\n"
        "for kind in (pl.DataFrame, pa.table):\n"
        "    try:\n"
        "        print(kind(t), 1 / 0)\n"
        "    except ZeroDivisionError:\n"
        "        print('caught')\n"
        "left = pa.table(t), t.__arrow_c_stream__()\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "caught\ncaught\n", "")


def test_meaning_unit_and_notes_travel_with_the_data() -> None:
    schema = example().to_arrow().schema
    assert schema.field("share").metadata == {
        b"title": b"Share", b"meaning": b"a share", b"unit": b"share"
    }  # fmt: skip
    assert json.loads(schema.metadata[b"tabwb.notes"]) == ["a note"]


def test_a_missing_package_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "is_installed", lambda module: False)
    with pytest.raises(MissingExtra, match=r"pip install"):
        example().__arrow_c_stream__()


Rows = list[tuple[object, ...]]


@given(ROWS)
def test_a_polars_frame_has_the_values_of_the_table(rows: Rows) -> None:
    frame = example(rows).to_polars()
    assert frame.schema == {
        "name": pl.String, "tags": pl.List(pl.String), "n": pl.Int64, "share": pl.Float64,
        "few": pl.Boolean,
    }  # fmt: skip
    lists = [tuple(tuple(v) if isinstance(v, list) else v for v in row) for row in frame.rows()]
    assert lists == rows


@given(ROWS)
def test_a_pandas_frame_has_the_values_of_the_table(rows: Rows) -> None:
    frame = example(rows).to_pandas()
    assert len(frame) == len(rows) and frame.attrs["notes"] == ["a note"]
    for at, column in enumerate(COLUMNS):
        values = [row[at] for row in rows]
        given = frame[column.name]
        absent = [value is None for value in values]
        assert given.isna().tolist() == absent
        known = [tuple(v) if isinstance(v, list) else v for v in given[~given.isna()].tolist()]
        assert known == [value for value in values if value is not None]


def test_pandas_types_are_those_of_the_columns() -> None:
    full = example([("a", ("x",), 1, 0.5, True)]).to_pandas().dtypes.astype(str).tolist()
    assert full == ["str", "object", "int64", "float64", "bool"]
    gaps = example([(None,) * 5, ("a", ("x",), 1, 0.5, True)]).to_pandas()
    assert gaps.dtypes.astype(str).tolist() == ["str", "object", "Int64", "float64", "boolean"]


def test_changing_a_frame_leaves_the_table_as_it_was() -> None:
    table = example([("a", ("x",), 1, 0.5, True)])
    frame = table.to_pandas()
    frame.loc[0, "share"] = 9.0
    assert table["share"].to_list() == [0.5]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named_with_the_command_that_adds_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "is_installed", lambda module: False)
    with pytest.raises(MissingPackage, match=f"pip install {package}"):
        getattr(example([]), f"to_{package}")()


def test_frames_need_no_pyarrow() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from tabwb.records.columns import Column\n"
        "from tabwb.tables.table import table_of\n"
        "t = table_of('t', [Column('s', 'S', 's'), Column('l', 'L', 'l', 'list of text')],"
        " [('a', ('b',)), (None, None)])\n"
        "print(t.to_pandas().shape, t.to_polars().shape)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "(2, 2) (2, 2)\n", run.stderr


def test_a_notebook_shows_the_first_and_the_last_rows() -> None:
    column = Column("n", "N", "a < b", "integer")
    html = table_of("long", [column], [(i,) for i in range(1000)])._repr_html_()
    assert html.count("<tr>") == SHOWN_ROWS + 2  # the head and the gap
    assert "1,000 rows" in html and ">14<" in html and ">15<" not in html and ">985<" in html
    assert 'title="a &lt; b"' in html


def test_a_printed_table_shows_the_first_and_the_last_rows() -> None:
    column = Column("n", "N", "a number", "integer")
    lines = str(table_of("long", [column], [(i,) for i in range(1000)])).splitlines()
    assert lines[:3] == ["long: 1,000 rows, 1 column", "  n", "  0"]
    assert lines[SHOWN_ROWS // 2 + 2 :][:2] == ["...", "985"] and lines[-1] == "999"
    assert str(table_of("none", [column], [])).splitlines() == ["none: 0 rows, 1 column", "n"]


def test_texts_in_html_are_escaped_and_cut() -> None:
    table = table_of("t", [Column("s", "S", "s")], [("<b>",), ("x" * 500,), (None,)])
    html = table._repr_html_()
    assert "&lt;b&gt;" in html and "x" * 79 + "…<" in html and "<td>-</td>" in html


def test_an_unknown_column_is_named_with_those_there_are() -> None:
    table = example([])
    for wrong in (lambda: table["nam"], lambda: table.column("nam"), lambda: table.where(nam=1)):
        with pytest.raises(KeyError, match="no column 'nam'; there are name, tags"):
            wrong()
