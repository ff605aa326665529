"""Tables of results as Parquet: typed columns, nulls for what has no value."""

from __future__ import annotations

import json
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tabwb.plugin_api import write_with
from tabwb.plugin_api.components import Exporter
from tabwb.records.ratings import Once
from tabwb_builtin.columns import (
    ANSWERED,
    GIVEN,
    RATED,
    Column,
    Notices,
    Part,
    Rated,
    Type,
    answered,
    documents_of,
    rated,
)
from tabwb_builtin.partitions import ROWS, Partitions
from tabwb_builtin.wide import Burdens, Measures, measures_in, wide_columns

LONG = (
    "One row per rating of a counted response. A response without ratings has one row. A null has "
    "no value: the rating's status says why. Rows with practice = true belong into no score."
)
WIDE = (
    "One row per counted response; a column for the value of each measure of each rater. A null "
    "has no value. Rows with practice = true belong into no score."
)
GROUP = 100_000
"""Rows of a row group, at least; what is written at a time."""
WAITING = 500
"""Parts of rows that are kept until their values are read."""
_TYPES: Mapping[Type, Any] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "list of text": pa.list_(pa.string()),
    "JSON": pa.string(),
    "list of JSON": pa.string(),
}
_CODES = pa.dictionary(pa.int32(), pa.string())


class ParquetExporter(Exporter):
    """One row per rating, in one file or in a folder with a file for each value of some columns."""

    mediatype = "application/vnd.apache.parquet"
    note = LONG
    after: tuple[tuple[Column, ...], ...] = (ANSWERED, RATED)

    def __init__(self, partition_by: Sequence[str] = ()) -> None:
        self._by = tuple(partition_by)
        self.suffix = "" if partition_by else ".parquet"
        self._take(*self.after)

    def _take(self, *scopes: Iterable[Column]) -> None:
        """Set the columns after those of the administration: of trials, and of ratings."""
        self._scopes = tuple(
            tuple(column for column in columns if column.name not in self._by)
            for columns in (GIVEN, *scopes)
        )
        self.columns = tuple(column for columns in self._scopes for column in columns)

    def export_stream(self, documents: Iterable[Part], out: Path) -> None:
        """Write every rating of the counted responses of documents, some at a time."""
        told = "Columns:\n" + "\n".join(f"- {column.told}" for column in self.columns)
        notices = Notices(self.note, told)
        heard = notices.heard(documents)
        if not self._by:

            def write(path: Path) -> None:
                file = TableFile(path, self._scopes, GROUP)
                self._add(heard, file.add)
                file.close(notices.notes())

            write_with(out, write, notices.notes)
            return
        partitions = Partitions(out, self._by, lambda path: TableFile(path, self._scopes, ROWS))
        self._add(heard, partitions.add)
        partitions.close(notices.notes())

    def _add(self, documents: Iterable[Part], add: Callable[[Part, Part], None]) -> None:
        for document in documents:
            administration = document["administration"]
            for trial in self.rows(document):
                add(administration, trial)

    def rows(self, document: Part) -> Iterator[Part]:
        """Yield the trials whose responses count, with what their rows need."""
        return answered(document)


class WideParquetExporter(ParquetExporter):
    """One row per response instead of one per rating: it must know all measures."""

    note = WIDE
    after = (ANSWERED, ())

    def expect(self, measures: Measures, judges: Sequence[str]) -> None:
        """Take note of the ratings that can come."""
        self._take((*ANSWERED, *wide_columns(measures, judges)), ())

    def export(self, document: Part, out: Path) -> None:
        """Write every counted response of ``document``."""
        documents = documents_of(document)
        judges = (judge for part in documents for judge in part["summary"]["judges"])
        self.expect(measures_in(documents), list(dict.fromkeys(one["rater"] for one in judges)))
        self.export_stream(documents, out)

    def rows(self, document: Part) -> Iterator[Part]:
        """Yield the trials whose responses count, with their burdens."""
        return Burdens(document).with_burdens(answered(document))


def schema_of(columns: Iterable[Column]) -> pa.Schema:
    """Return the schema that readers see: type, meaning and unit of each column."""
    return pa.schema(
        [
            pa.field(
                column.name,
                _TYPES[column.type],
                metadata={"meaning": column.meaning, "unit": column.unit},
            )
            for column in columns
        ]
    )


def coded(schema: pa.Schema) -> pa.Schema:
    """Return a schema with dictionaries of texts, which are written ten times faster than texts."""
    texts = pa.string()
    return pa.schema(
        [(field.name, _CODES if field.type == texts else field.type) for field in schema]
    )


class TableFile:
    """A Parquet file. Rows are put together from their parts: each part is made an array once."""

    def __init__(self, path: Path, scopes: Sequence[Sequence[Column]], group: int) -> None:
        self._schema = schema_of(column for columns in scopes for column in columns)
        self._coded = coded(self._schema)
        self._writer = pq.ParquetWriter(path, self._coded, store_schema=False)
        self._scopes, self._group = scopes, group
        self._begin()

    def _begin(self) -> None:
        self._parts = tuple(_Parts(columns) for columns in self._scopes)
        # Most ratings repeat an earlier one, and so do most lists of them.
        one = Once(lambda rating: self._parts[2].add(Rated(rating, {})), self._group)
        self._codes = Once(lambda given: array("i", map(one.of, given)))
        self._rows: tuple[list[int], list[int]] = [], []
        self._ratings = array("i")
        self._size = 0
        self._last: Part | None = None

    def add(self, administration: Part, trial: Part) -> None:
        """Add the rows of a response."""
        given, trials, ratings = self._parts
        if self._last is not administration:
            given.add(administration)
            self._last = administration
            self._rows[0].append(0)
        n = 1
        if ratings.columns:
            judged = trial.get("judgements") or not trial["ratings"]
            codes = (
                array("i", map(ratings.add, rated(trial)))
                if judged
                else self._codes.of(trial["ratings"])
            )
            self._ratings.extend(codes)
            n = len(codes)
        trials.add(trial)
        self._rows[1].append(n)
        self._rows[0][-1] += n
        self._size += n
        if self._size >= self._group:
            self.write()

    def write(self) -> None:
        """Write the rows that were added since the last call."""
        if self._size:
            places = [
                *(np.repeat(np.arange(len(rows), dtype=np.int32), rows) for rows in self._rows),
                np.frombuffer(self._ratings, np.int32),
            ]
            arrays = [
                made
                for part, own in zip(self._parts, places, strict=True)
                for made in part.arrays(pa.array(own))
            ]
            self._writer.write_batch(pa.record_batch(arrays, schema=self._coded))
        self._begin()

    def close(self, notes: Sequence[str]) -> None:
        """Write what is left, and the notes into the schema that readers see."""
        self.write()
        said = {"tabwb": "\n\n".join(notes)}
        schema = self._schema.with_metadata(said).serialize().to_pybytes()
        self._writer.add_key_value_metadata({**said, "ARROW:schema": b64encode(schema)})
        self._writer.close()


class _Parts:
    """Different parts of rows; their values are read a column at a time, which is faster."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self.size = 0
        self._waiting: list[Any] = []
        self._values: list[list[Any]] = [[] for _ in columns]
        self._read = [_as_text(one) if "JSON" in one.type else one.value for one in columns]

    def add(self, part: object) -> int:
        """Add a part and return its place."""
        if len(self._waiting) >= WAITING:
            self._take()
        self._waiting.append(part)
        self.size += 1
        return self.size - 1

    def _take(self) -> None:
        for read, values in zip(self._read, self._values, strict=True):
            values.extend(map(read, self._waiting))
        self._waiting.clear()

    def arrays(self, places: pa.Array) -> list[pa.Array]:
        """Return the columns of all rows."""
        self._take()
        return [
            _repeated(pa.array(values, type=_TYPES[column.type]), places)
            for column, values in zip(self.columns, self._values, strict=True)
        ]


def _as_text(column: Column) -> Callable[[Any], str | None]:
    text = Once(partial(json.dumps, ensure_ascii=False))

    def value(part: Any) -> str | None:
        given = column.value(part)
        return None if given is None else text.of(given)

    return value


def _repeated(values: pa.Array, rows: pa.Array) -> pa.Array:
    if values.type != pa.string():
        return values.take(rows)
    if values.null_count == len(values):
        nothing = pa.nulls(len(rows), pa.int32())
        return pa.DictionaryArray.from_arrays(nothing, pa.array([], pa.string()))
    encoded = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices.take(rows), encoded.dictionary)
