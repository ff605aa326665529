"""Tables as Arrow data, which pandas, polars, DuckDB, R and every other Arrow library read.

Numbers, codes of texts and offsets are not copied: the Arrow arrays use numpy's memory and keep it
alive. Texts are dictionary-encoded. Meaning, unit and type of each column are metadata of its
field, the notes of the table are metadata of the schema.

The C structures are made by pyarrow and not with ctypes. Whoever reads a stream frees its arrays
while an exception may be in progress (``f(polars.DataFrame(table), 1 / 0)``), and a release
function written in Python then ends the process: Python code cannot run with an exception set.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import MissingExtra
from tabwb.records.system import is_installed

if TYPE_CHECKING:
    from tabwb.records.columns import Column
    from tabwb.tables.table import Series, Table

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
