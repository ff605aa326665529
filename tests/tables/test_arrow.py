"""Tables as Arrow data: every library reads the same values, and memory is freed."""

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

from tabwb.records.columns import Column
from tabwb.records.errors import MissingExtra
from tabwb.tables import frames
from tabwb.tables.table import Series, Table, table_of
from tests.tables.test_table import COLUMNS, ROWS

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
