"""Tables as data frames of pandas and polars, and as Arrow data for every other library.

Of Arrow data numbers, codes of texts and offsets are not copied: the arrays use numpy's memory and
keep it alive. Texts are dictionary-encoded. Meaning, unit and type of each column are metadata of
its field, the notes of the table are metadata of the schema.

The C structures are made by pyarrow and not with ctypes. Whoever reads a stream frees its arrays
while an exception may be in progress (``f(polars.DataFrame(table), 1 / 0)``), and a release
function written in Python then ends the process: Python code cannot run with an exception set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import MissingExtra, MissingPackage
from tabwb.records.system import is_installed

if TYPE_CHECKING:
    from tabwb.records.columns import Column
    from tabwb.records.declared_conditions import ColumnType
    from tabwb.tables.table import Series, Table

PANDAS: Mapping[ColumnType, str] = {"integer": "Int64", "boolean": "boolean"}
"""Types of pandas for whole numbers and truth values of which some are missing."""


def _check(package: str, what: str) -> None:
    if not is_installed(package):
        raise MissingPackage(f"a table as a data frame of {what}", package)


def pandas_frame(table: Table) -> Any:
    """Return the table as a ``pandas.DataFrame``; the notes are in its ``attrs``."""
    _check("pandas", "pandas")
    import pandas as pd

    columns = {column.name: _pandas(pd, column, table[column.name]) for column in table.columns}
    frame = pd.DataFrame(columns, index=pd.RangeIndex(len(table)))
    frame.attrs.update(table=table.name, notes=list(table.notes))
    return frame


def _pandas(pd: Any, column: Column, series: Series) -> Any:
    missing = series.is_missing
    if series.labels is not None and column.type == "list of text":
        lists = np.empty(len(series), object)
        lists[:] = [None if given is None else list(given) for given in series.to_list()]
        return lists
    if series.labels is not None:
        # Before version 3, texts are objects in pandas.
        kind = "str" if int(pd.__version__.split(".")[0]) >= 3 else object
        labels = pd.array(list(series.labels), dtype=kind)
        return labels.take(series.values, allow_fill=True)
    if missing.any() and column.type in PANDAS:
        values = pd.array(series.values, dtype=PANDAS[column.type])
        values[missing] = pd.NA
        return values
    return series.values.copy()


def polars_frame(table: Table) -> Any:
    """Return the table as a ``polars.DataFrame``."""
    _check("polars", "polars")
    import polars as pl

    return pl.DataFrame(
        [_polars(pl, column, table[column.name]).alias(column.name) for column in table.columns]
    )


def _polars(pl: Any, column: Column, series: Series) -> Any:
    missing = series.is_missing
    if series.labels is not None:
        kind = pl.List(pl.String) if column.type == "list of text" else pl.String
        labels = pl.Series([*series.labels, None], dtype=kind)
        # One label more, which is null, for rows without a value.
        return labels.gather(pl.Series(np.where(missing, len(series.labels), series.values)))
    if not missing.any():
        return pl.Series(series.values)
    values = pl.Series(series.values)
    absent = pl.repeat(None, len(series), dtype=values.dtype, eager=True)
    return values.zip_with(pl.Series(~missing), absent)


CHUNK_ROWS = 65_536
"""Rows of each record batch of a stream."""


def arrow_stream(table: Table, requested_schema: object = None) -> object:
    """Return the table as a capsule ``arrow_array_stream`` of the Arrow PyCapsule interface."""
    reader = arrow_table(table).to_reader(max_chunksize=CHUNK_ROWS)
    return reader.__arrow_c_stream__(requested_schema)


def arrow_table(table: Table) -> Any:
    """Return the table as a ``pyarrow.Table``."""
    if not is_installed("pyarrow"):
        raise MissingExtra("a table in Arrow's format", "tables", package="pyarrow")
    import pyarrow as pa

    made = [_array(pa, table[column.name]) for column in table.columns]
    fields = [
        pa.field(column.name, array.type, metadata=_metadata(column))
        for column, array in zip(table.columns, made, strict=True)
    ]
    told = {"tabwb.table": table.name, "tabwb.notes": json.dumps(table.notes, ensure_ascii=False)}
    return pa.Table.from_arrays(made, schema=pa.schema(fields, metadata=told))


def _metadata(column: Column) -> dict[str, str]:
    told = {"title": column.title, "meaning": column.meaning, "unit": column.unit}
    return {name: text for name, text in told.items() if text}


def _array(pa: Any, series: Series) -> Any:
    missing = series.is_missing
    valid = _bits(pa, ~missing) if missing.any() else None
    values, n = np.ascontiguousarray(series.values), len(series)
    if series.labels is not None:
        codes = pa.Array.from_buffers(pa.int32(), n, [valid, pa.py_buffer(_as_int32(values))])
        if any(isinstance(label, tuple) for label in series.labels):
            return _lists(pa, series.labels).take(codes)
        labels = pa.array(list(series.labels), pa.string())
        return pa.DictionaryArray.from_arrays(codes, labels, safe=True)
    if values.dtype == np.bool_:
        return pa.Array.from_buffers(pa.bool_(), n, [valid, _bits(pa, values)])
    kind = pa.float64() if values.dtype == np.float64 else pa.int64()
    return pa.Array.from_buffers(kind, n, [valid, pa.py_buffer(values)])


def _as_int32(codes: NDArray[Any]) -> NDArray[np.int32]:
    return codes.astype(np.int32, copy=False)


def _bits(pa: Any, values: NDArray[np.bool_]) -> Any:
    return pa.py_buffer(np.packbits(values, bitorder="little"))


def _lists(pa: Any, labels: Sequence[Any]) -> Any:
    return pa.array([list(label) for label in labels], pa.list_(pa.string()))
