"""Tables of results as Parquet: typed columns, nulls for what has no value."""

from __future__ import annotations

import json
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tabwb.plugin_api.writing import write_with
from tabwb.records.once import Once
from tabwb_builtin.columns import ANSWERED, GIVEN, RATED, TABLE, Column, Part, Rated, Type
from tabwb_builtin.notices import Notices, answered, documents_of, rated
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


class ParquetExporter:
    """One file, or a folder with a file for each value of some columns.

    Args:
        wide: one row per response instead of one per rating.
        partition_by: columns by whose values the rows are put into folders.
    """

    mediatype = "application/vnd.apache.parquet"

    def __init__(self, *, wide: bool = False, partition_by: Sequence[str] = ()) -> None:
        self._wide = wide
        self._by = tuple(partition_by)
        self.suffix = "" if partition_by else ".parquet"
        self._measured: tuple[Column, ...] = ()
        self.columns = self._left(TABLE)

    def expect(self, measures: Measures, judges: Sequence[str]) -> None:
        """Take note of the ratings that can come.

        Args:
            measures: rater and measure.
            judges: those raters who can have a burden.
        """
        self._measured = wide_columns(measures, judges)

    def export(self, document: Part, out: Path) -> None:
        """Write every rating of every counted response of ``document``."""
        documents = documents_of(document)
        if self._wide:
            judges = (judge for part in documents for judge in part["summary"]["judges"])
            self.expect(measures_in(documents), list(dict.fromkeys(one["rater"] for one in judges)))
        self.export_stream(documents, out)

    def export_stream(self, documents: Iterable[Part], out: Path) -> None:
        """Write every rating of the counted responses of documents, some at a time."""
        scopes: tuple[Sequence[Column], ...] = (GIVEN, ANSWERED, RATED)
        if self._wide:
            scopes = GIVEN, (*ANSWERED, *self._measured), ()
        kept = tuple(self._left(columns) for columns in scopes)
        self.columns = tuple(column for columns in kept for column in columns)
        told = "Columns:\n" + "\n".join(f"- {column.told}" for column in self.columns)
        notices = Notices(WIDE if self._wide else LONG, told)
        heard = notices.heard(documents)
        if not self._by:

            def write(path: Path) -> None:
                file = TableFile(path, kept, GROUP)
                for document in heard:
                    self._add(document, file.add)
                file.close(notices.notes())

            write_with(out, write, notices.notes)
            return
        partitions = Partitions(out, self._by, lambda path: TableFile(path, kept, ROWS))
        for document in heard:
            self._add(document, partitions.add)
        partitions.close(notices.notes())

    def _left(self, columns: Iterable[Column]) -> tuple[Column, ...]:
        return tuple(column for column in columns if column.name not in self._by)

    def _add(self, document: Part, add: Callable[[Part, Part], None]) -> None:
        administration = document["administration"]
        trials = answered(document)
        for trial in Burdens(document).with_burdens(trials) if self._wide else trials:
            add(administration, trial)


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
    """A Parquet file. Rows are put together from their parts: each part is made an array once.

    Args:
        path: of the file.
        scopes: columns of administrations, of trials, and of ratings; without the last one there is
            one row for each trial.
        group: number of rows that are written at a time, at least.
    """

    def __init__(self, path: Path, scopes: Sequence[Sequence[Column]], group: int) -> None:
        self._schema = schema_of(column for columns in scopes for column in columns)
        # Texts are written as dictionaries, which is ten times faster than to repeat them.
        texts = pa.string()
        self._coded = pa.schema(
            [(field.name, _CODES if field.type == texts else field.type) for field in self._schema]
        )
        self._writer = pq.ParquetWriter(path, self._coded, store_schema=False)
        self._parts = tuple(_Parts(columns) for columns in scopes)
        self._group = group
        self._codes = Once(self._code)
        self._last: Part | None = None

    def add(self, administration: Part, trial: Part) -> None:
        """Add the rows of a response.

        Args:
            administration: to which the response belongs.
            trial: with the response and its ratings.
        """
        given, trials, ratings = self._parts
        if self._last is not administration:
            given.add(administration)
            self._last = administration
        if not ratings.columns:
            n = 1
        elif trial.get("judgements") or not trial["ratings"]:
            codes = [ratings.add(one) for one in rated(trial)]
            ratings.places.extend(codes)
            n = len(codes)
        else:
            codes = self._codes.of(trial["ratings"])
            ratings.places.extend(codes)
            n = len(codes)
        trials.places.extend([trials.add(trial)] * n)
        given.places.extend([given.size - 1] * n)
        if len(given.places) >= self._group:
            self.write()

    def _code(self, given: Sequence[Part]) -> list[int]:
        ratings = self._parts[2]
        return [ratings.add(Rated(rating, {})) for rating in given]

    def write(self) -> None:
        """Write the rows that were added since the last call."""
        if self._parts[0].places:
            arrays = [made for part in self._parts for made in part.arrays()]
            self._writer.write_batch(pa.record_batch(arrays, schema=self._coded))
        self._codes = Once(self._code)
        self._last = None

    def close(self, notes: Sequence[str]) -> None:
        """Write what is left, and the notes into the schema that readers see.

        Args:
            notes: paragraphs.
        """
        self.write()
        said = {"tabwb": "\n\n".join(notes)}
        schema = self._schema.with_metadata(said).serialize().to_pybytes()
        self._writer.add_key_value_metadata({**said, "ARROW:schema": b64encode(schema)})
        self._writer.close()


class _Parts:
    """Different parts of rows, and of each row the place of its part."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self._values: list[list[Any]] = [[] for _ in columns]
        self._adders = [
            (values.append, _as_text(column) if "JSON" in column.type else column.value)
            for values, column in zip(self._values, columns, strict=True)
        ]
        self.places = array("i")
        self.size = 0

    def add(self, part: object) -> int:
        """Add a part and return its place."""
        for append, value in self._adders:
            append(value(part))
        self.size += 1
        return self.size - 1

    def arrays(self) -> list[pa.Array]:
        """Return the columns of all rows, and forget them."""
        places = pa.py_buffer(self.places)
        rows = pa.Array.from_buffers(pa.int32(), len(self.places), [None, places])
        arrays = [
            _repeated(pa.array(values, type=_TYPES[column.type]), rows)
            for column, values in zip(self.columns, self._values, strict=True)
        ]
        for values in self._values:
            values.clear()
        self.places = array("i")
        self.size = 0
        return arrays


def _as_text(column: Column) -> Callable[[Any], str | None]:
    text = Once(partial(json.dumps, ensure_ascii=False))

    def value(part: Any) -> str | None:
        given = column.value(part)
        return None if given is None else text.of(given)

    return value


def _repeated(values: pa.Array, rows: pa.Array) -> pa.Array:
    if values.type != pa.string():
        return values.take(rows)
    encoded = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices.take(rows), encoded.dictionary)
