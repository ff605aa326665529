"""The long table of results as Parquet: typed columns, nulls for what has no value."""

from __future__ import annotations

import json
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tabwb.plugin_api.writing import write_with
from tabwb.records.once import Once
from tabwb_builtin.columns import ANSWERED, GIVEN, RATED, TABLE, Column, Part, Rated, Type
from tabwb_builtin.exporters import DICTIONARY
from tabwb_builtin.notices import Notices, answered, documents_of, rated

NOTE = (
    "One row per rating of a counted response. A response without ratings has one row. A null has "
    "no value: the rating's status says why. Rows with practice = true belong into no score."
)
GROUP = 100_000
"""Rows of a row group, at least; what is written at a time."""
_TYPES: Mapping[Type, Any] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "list of text": pa.list_(pa.string()),
    "JSON": pa.string(),
    "list of JSON": pa.string(),
}


class ParquetExporter:
    """The same rows and columns as CSV."""

    suffix = ".parquet"
    mediatype = "application/vnd.apache.parquet"
    columns = TABLE

    def export(self, document: Part, out: Path) -> None:
        """Write every rating of every counted response of ``document``."""
        self.export_stream(documents_of(document), out)

    def export_stream(self, documents: Iterable[Part], out: Path) -> None:
        """Write every rating of the counted responses of documents, some at a time."""
        notices = Notices(NOTE, DICTIONARY)

        def write(path: Path) -> None:
            # Texts are written as dictionaries, which is ten times faster than to repeat them. The
            # schema that readers see has texts, and what was said of all documents.
            with pq.ParquetWriter(path, _CODED, store_schema=False) as writer:
                rows = Rows(writer.write_batch)
                for document in notices.heard(documents):
                    rows.add(document)
                rows.write()
                said = {"tabwb": "\n\n".join(notices.notes())}
                schema = SCHEMA.with_metadata(said).serialize().to_pybytes()
                writer.add_key_value_metadata({**said, "ARROW:schema": b64encode(schema)})

        write_with(out, write, notices.notes)


SCHEMA = pa.schema(
    [
        pa.field(
            column.name,
            _TYPES[column.type],
            metadata={"meaning": column.meaning, "unit": column.unit},
        )
        for column in TABLE
    ]
)
"""Every column, in order."""
_CODES = pa.dictionary(pa.int32(), pa.string())
_CODED = pa.schema(
    [(field.name, _CODES if field.type == pa.string() else field.type) for field in SCHEMA]
)


class Rows:
    """Puts rows together from their parts: each part is made an array once.

    Args:
        write: takes a batch of rows.
    """

    def __init__(self, write: Callable[[pa.RecordBatch], object]) -> None:
        self._write = write
        self._parts = tuple(_Parts(columns) for columns in (GIVEN, ANSWERED, RATED))
        self._codes = Once(self._code)

    def add(self, document: Part) -> None:
        """Add the rows of a document."""
        given, trials, ratings = self._parts
        given.add(document["administration"])
        for trial in answered(document):
            if trial.get("judgements") or not trial["ratings"]:
                codes = [ratings.add(one) for one in rated(trial)]
            else:
                codes = self._codes.of(trial["ratings"])
            ratings.places.extend(codes)
            trials.places.extend([trials.add(trial)] * len(codes))
            given.places.extend([len(given) - 1] * len(codes))
            if len(ratings.places) >= GROUP:
                self.write()
                given.add(document["administration"])

    def _code(self, ratings: Sequence[Part]) -> list[int]:
        of = self._parts[2]
        return [of.add(Rated(rating, {})) for rating in ratings]

    def write(self) -> None:
        """Write the rows that were added since the last call."""
        if self._parts[2].places:
            arrays = [made for part in self._parts for made in part.arrays()]
            self._write(pa.record_batch(arrays, schema=_CODED))
        self._codes = Once(self._code)


class _Parts:
    """Different parts of rows, and of each row the place of its part."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._values: list[list[Any]] = [[] for _ in columns]
        self.places = array("i")

    def __len__(self) -> int:
        return len(self._values[0])

    def add(self, part: object) -> int:
        """Add a part and return its place."""
        for column, values in zip(self._columns, self._values, strict=True):
            values.append(_typed(column, column.value(part)))
        return len(self) - 1

    def arrays(self) -> list[pa.Array]:
        """Return the columns of all rows, and forget them."""
        places = pa.py_buffer(self.places)
        rows = pa.Array.from_buffers(pa.int32(), len(self.places), [None, places])
        arrays = [
            _repeated(pa.array(values, type=_TYPES[column.type]), rows)
            for column, values in zip(self._columns, self._values, strict=True)
        ]
        self._values = [[] for _ in self._columns]
        self.places = array("i")
        return arrays


def _repeated(values: pa.Array, rows: pa.Array) -> pa.Array:
    if values.type != pa.string():
        return values.take(rows)
    coded = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices.take(rows), coded.dictionary)


def _typed(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.type == "JSON":
        return json.dumps(value, ensure_ascii=False)
    # Labels of a profile are stored as text.
    return int(value) if column.type == "integer" else value
