"""Tables of results as Parquet: typed columns, nulls for what has no value.

The wide table has one row per counted response and one column per rater and measure. A folder of
tables has one for each value of some columns, ``model=echo/subtest=x/part-0.parquet``: the layout
is Hive's, which DuckDB, Polars, Dask, Spark and pyarrow read as one table.
"""

from __future__ import annotations

import json
import os
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tabwb.battery.task_type import current_study
from tabwb.plugin_api import write_with
from tabwb.plugin_api.components import Exporter
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.ratings import Once
from tabwb.records.speakers import Column as Recorded
from tabwb.records.words import did_you_mean
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
    of_participants,
    rated,
)

Measures = Sequence[tuple[str, str]]
"""Rater and measure."""
CONNECTED = frozenset({"connected-text", "description"})
"""Kinds of response in the scope of every judge."""
BURDEN = "burden"


def measures_in(documents: Iterable[Part]) -> Measures:
    """Return rater and measure of every rating of documents, sorted."""
    found = {
        (rating["rater"], rating["measure"])
        for document in documents
        for trial in answered(document)
        for rating in trial["ratings"]
    }
    return sorted(found)


def wide_columns(measures: Measures, judges: Iterable[str]) -> tuple[Column, ...]:
    """Return a column for the value of each measure, and one for the burden of each judge."""
    valued = Once(_values)

    def value(rater: str, measure: str) -> Callable[[Part], Any]:
        return lambda trial: valued.of(trial["ratings"]).get((rater, measure))

    def burden(rater: str) -> Callable[[Part], Any]:
        return lambda trial: trial[BURDEN].get(rater)

    columns = [
        Column(
            f"{rater} {measure}",
            "number",
            f"value of the measure {measure} by {rater}; empty if undefined or not rated",
            value(rater, measure),
        )
        for rater, measure in measures
    ]
    return (
        *columns,
        *(
            Column(
                f"{rater} {BURDEN}",
                "integer",
                f"features of the set of {rater} that are present; empty if one is undefined, and "
                "for responses that are not usable or outside the judge's scope",
                burden(rater),
                "features",
            )
            for rater in judges
        ),
    )


def _values(ratings: Iterable[Part]) -> Mapping[tuple[str, str], float | None]:
    return {(rating["rater"], rating["measure"]): rating["value"] for rating in ratings}


class Burdens:
    """Counts the features that are present in each response of a document."""

    def __init__(self, document: Part) -> None:
        summary = document["summary"]
        self._kinds = {subtest["id"]: subtest["response"] for subtest in summary["subtests"]}
        self._judges: dict[str, Part] = {}
        for judge in summary["judges"]:
            if judge["features"]:
                self._judges.setdefault(judge["rater"], judge)

    def with_burdens(self, trials: Iterable[Part]) -> Iterator[Part]:
        """Yield trials with the number of features that are present, by rater."""
        for trial in trials:
            yield {**trial, BURDEN: dict(self._of(trial))}

    def _of(self, trial: Part) -> Iterator[tuple[str, int | None]]:
        blank = trial["effective_status"] == "truncated" and not trial["response"].strip()
        if not trial["usable"] or blank or trial["practice"]:
            return
        connected = self._kinds.get(trial["subtest"]) in CONNECTED
        values = _values(trial["ratings"])
        for rater, judge in self._judges.items():
            if connected or judge["scope"] == "all":
                present = [values.get((rater, feature)) for feature in judge["features"]]
                if None not in present:
                    yield rater, sum(1 for value in present if value)


NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""Stands for no value."""
OPEN = 24
"""Files that are open at a time; a further part of a closed one is a separate file."""
ROWS = 8_000
"""Rows of each open file that are kept in memory."""
LONGEST = 240
"""Bytes of a folder's name; most file systems allow 255."""


def keys() -> dict[str, Column]:
    """Return the columns by which rows can be put into folders."""
    every = (*GIVEN, *of_participants(current_study().columns), *ANSWERED)
    return {column.name: column for column in every if column.type in ("text", "boolean")}


class Written(Protocol):
    """A table that takes rows."""

    def add(self, administration: Part, trial: Part) -> None:
        """Add the rows of a response."""

    def close(self, notes: Sequence[str]) -> None:
        """End the file."""


def check_keys(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns by which rows can be put into folders."""
    known = keys()
    for name in names:
        if name not in known:
            raise UsageError(
                f"a table cannot be partitioned by '{name}'" + did_you_mean(name, known),
                allowed="columns of text of the administration or the response, such as battery, "
                "examinee, model, protocol, lesion, model_family, subtest, item",
            )
    if len(set(names)) < len(names):
        raise UsageError("a column is named twice", where="--partition-by")
    return tuple(names)


class Partitions:
    """Writes rows to the table of their folder."""

    def __init__(self, out: Path, by: Sequence[str], make: Callable[[Path], Written]) -> None:
        known = keys()
        self._out, self._by, self._make = out, [known[name] for name in by], make
        self._open: dict[tuple[str, ...], tuple[Path, Written]] = {}
        self._parts: dict[tuple[str, ...], int] = {}
        try:
            out.mkdir(mode=0o700)
        except OSError as error:
            raise TabwbError(f"cannot be written: {error.strerror}", where=str(out)) from error

    def add(self, administration: Part, trial: Part) -> None:
        """Add the rows of a response."""
        key = tuple(
            _folder(one.name, one.value(administration if one.scope == "administration" else trial))
            for one in self._by
        )
        found = self._open.pop(key, None) or self._opened(key)
        self._open[key] = found  # the one used last is last
        found[1].add(administration, trial)

    def _opened(self, key: tuple[str, ...]) -> tuple[Path, Written]:
        if len(self._open) >= OPEN:
            oldest = next(iter(self._open))
            path, table = self._open.pop(oldest)
            _close(path, table, ())
        folder = self._out.joinpath(*key)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self._parts.get(key, 0)
        self._parts[key] = part + 1
        path = folder / f"part-{part}.parquet"
        path.touch(mode=0o600)
        return path, self._make(path)

    def close(self, notes: Sequence[str]) -> None:
        """End all files, and write the notes beside the folder."""
        for path, table in self._open.values():
            _close(path, table, notes)
        beside = self._out.with_name(f"{self._out.name}.README.txt")
        beside.touch(mode=0o600)
        beside.write_text("\n\n".join(notes) + "\n", encoding="utf-8")


def _close(path: Path, table: Written, notes: Sequence[str]) -> None:
    table.close(notes)
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _folder(name: str, value: object) -> str:
    """Return the name of a folder; what a file system may refuse is written as %XX.

    >>> _folder("model", "org/m:1 b"), _folder("usable", True), _folder("lesion", None)
    ('model=org%2Fm%3A1%20b', 'usable=true', 'lesion=__HIVE_DEFAULT_PARTITION__')
    """
    if value is None or value == "":
        return f"{name}={NOTHING}"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    folder = f"{name}={quote(text, safe='')}"
    if len(folder) > LONGEST:
        raise TabwbError(
            f"the value of '{name}' is too long for the name of a folder: {text[:60]}...",
            hint="partition by another column, such as model_profile",
        )
    return folder


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
        self._people: tuple[Column, ...] = ()
        self._take(*self.after)

    def expect_participants(self, columns: Sequence[Recorded]) -> None:
        """Add a column for each that the records of participants have."""
        self._people = of_participants(columns)
        self._take(*self._after)

    def _take(self, *scopes: Sequence[Column]) -> None:
        """Set the columns after those of the administration: of trials, and of ratings."""
        self._after = scopes
        self._scopes = tuple(
            tuple(column for column in columns if column.name not in self._by)
            for columns in ((*GIVEN, *self._people), *scopes)
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
