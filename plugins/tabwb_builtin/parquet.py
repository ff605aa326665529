"""The long table of results as Parquet: typed columns, nulls for what has no value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tabwb.plugin_api.writing import write_with
from tabwb_builtin.columns import TABLE, Column, Type
from tabwb_builtin.exporters import DICTIONARY, notes_of, table

NOTE = (
    "One row per rating of a counted response. A response without ratings has one row. A null has "
    "no value: the rating's status says why. Rows with practice = true belong into no score."
)
_TYPES: Mapping[Type, Any] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "list of text": pa.list_(pa.string()),
    "JSON": pa.string(),
}


class ParquetExporter:
    """The same rows and columns as CSV."""

    suffix = ".parquet"

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        """Write every rating of every counted response of ``document``."""
        columns: list[list[Any]] = [[] for _ in TABLE]
        for row in table(document):
            for column, values, value in zip(TABLE, columns, row, strict=True):
                values.append(_typed(column, value))
        notes = [*notes_of(document, NOTE), DICTIONARY]
        schema = pa.schema(
            [
                pa.field(
                    column.name,
                    _TYPES[column.type],
                    metadata={"meaning": column.meaning, "unit": column.unit},
                )
                for column in TABLE
            ],
            metadata={"tabwb": "\n\n".join(notes)},
        )
        made = pa.table(
            [
                pa.array(column, type=field.type)
                for column, field in zip(columns, schema, strict=True)
            ],
            schema=schema,
        )
        write_with(out, lambda path: pq.write_table(made, path), notes)


def _typed(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.type == "JSON":
        return json.dumps(value, ensure_ascii=False)
    # Labels of a profile are stored as text.
    return int(value) if column.type == "integer" else value
