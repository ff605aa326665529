"""The long table of results as Parquet: typed columns, nulls for what has no value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tabwb.extend.writing import write_with
from tabwb_builtin.exporters import COLUMNS, notes_of, table

NOTE = (
    "One row per rating of a counted response. A response without ratings has one row. A null has "
    "no value: the rating's status says why. Rows with practice = true belong into no score."
)
_TYPES: Mapping[str, Any] = {
    "id": pa.int64(),
    "seed": pa.int64(),
    "replicates": pa.int64(),
    "conversation": pa.bool_(),
    "model_parameters": pa.int64(),
    "decoding_temperature": pa.float64(),
    "decoding_top_p": pa.float64(),
    "decoding_max_tokens": pa.int64(),
    "decoding_stop": pa.list_(pa.string()),
    "decoding_seed": pa.int64(),
    "trial_number": pa.int64(),
    "replicate": pa.int64(),
    "practice": pa.bool_(),
    "options": pa.list_(pa.string()),
    "latency_s": pa.float64(),
    "response_prompt_tokens": pa.int64(),
    "response_reply_tokens": pa.int64(),
    "value": pa.float64(),
    "judge_repaired": pa.bool_(),
    "judge_structured": pa.bool_(),
}
"""Columns that hold no plain text."""
_WHOLE = frozenset({"model_parameters", "response_prompt_tokens", "response_reply_tokens"})
"""Numbers that are stored as text with an administration."""


class ParquetExporter:
    """The same rows and columns as CSV."""

    suffix = ".parquet"

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        """Write every rating of every counted response of ``document``."""
        columns: list[list[Any]] = [[] for _ in COLUMNS]
        for row in table(document):
            for name, column, value in zip(COLUMNS, columns, row, strict=True):
                column.append(int(value) if name in _WHOLE and value is not None else value)
        notes = notes_of(document, NOTE)
        schema = pa.schema(
            [(name, _TYPES.get(name, pa.string())) for name in COLUMNS],
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
