"""The columns of a large store in a file beside it, so that they need not be read from it again.

``STORE.columns/columns`` holds what :func:`tabwb.store.columns.response_columns` gives for all
administrations: the arrays, which are mapped into memory, and their description in JSON. It can be
removed at any time. It counts only while the program, the schema and the newest rows of the store
are those that it was made from, and while its checksum is right.

It is written and removed while the store is locked for writing. So the responses of a deleted
speaker cannot be in it after their deletion: that removes the folder first, and a process that has
read them before finds that its rows are not the newest.

``STORE.columns/administrations`` holds the uids of the administrations, written first. By these a
store finds the file that it wrote under an earlier name.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import shutil
import tempfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, overload

import numpy as np
from numpy.typing import NDArray

from tabwb import __version__
from tabwb.records.files import FOLDER_MODE, open_private
from tabwb.store.column_ratings import Ratings
from tabwb.store.column_rows import NOTES, ROWS
from tabwb.store.columns import RaterColumns, ResponseColumns
from tabwb.store.database import Transaction
from tabwb.store.migrate import CURRENT
from tabwb.store.response_texts import Texts

LEAST = 20_000
"""Fewer responses are read from the store as quickly."""
FORMAT = 2
"""Raised when the same rows of a store give other columns."""
NAMED = "administrations"
"""The file with the uids."""
_ALIGNED = 64
_BLOCK = 1 << 20
_TAIL = 12
"""Bytes at the end of the file: the length of the description, and the CRC-32 of all before."""


def folder_of(store: Path) -> Path:
    """Return the folder of a store's column file: one, whatever links lead to the store."""
    file = store.resolve()
    return file.with_name(f"{file.name}.columns")


def state_of(transaction: Transaction) -> str:
    """Return what names the rows that columns are made from, as SHA-256 in hex."""
    newest = transaction.rows(
        "SELECT a.id, a.uid, e.sequence, e.recorded_at FROM administrations a"
        " LEFT JOIN entries e ON e.administration_id = a.id AND e.sequence ="
        " (SELECT max(sequence) FROM entries WHERE administration_id = a.id) ORDER BY a.id"
    )
    rated = [
        transaction.rows(f"SELECT id, recorded_at FROM {table} ORDER BY id DESC LIMIT 1")
        for table in ("rating_sets", "judgements", "rater_declarations")
    ]
    state = [FORMAT, __version__, np.little_endian, CURRENT, newest, rated]
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()


def remove(store: Path) -> None:
    """Remove the column file of a store, with what a killed process left beside it."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder_of(store))


def uids_of(transaction: Transaction) -> frozenset[str]:
    """Return the uids of all administrations of a store."""
    return frozenset(uid for (uid,) in transaction.rows("SELECT uid FROM administrations"))


def of_other_names(store: Path, uids: Collection[str]) -> Iterator[Path]:
    """Yield the folders beside a store that hold columns of its administrations.

    The store wrote them before it was renamed, or a copy of it beside it wrote them.
    """
    own = folder_of(store)
    for named in own.parent.glob(f"*.columns/{NAMED}"):
        with suppress(OSError, ValueError):
            if named.parent != own and not set(uids).isdisjoint(named.read_text().split()):
                yield named.parent


def save(
    store: Path,
    columns: ResponseColumns,
    state: str,
    explained: Collection[str],
    uids: Collection[str],
) -> None:
    """Write the column file of a store, which the caller has locked for writing."""
    remove(store)
    try:
        _write(folder_of(store), columns, state, explained, uids)
    except BaseException:  # a full disk is not left full
        remove(store)
        raise


def _write(
    folder: Path,
    columns: ResponseColumns,
    state: str,
    explained: Collection[str],
    uids: Collection[str],
) -> None:
    folder.mkdir(mode=FOLDER_MODE)
    with os.fdopen(open_private(folder / NAMED, os.O_CREAT | os.O_WRONLY), "w") as named:
        named.write("\n".join(uids))
    descriptor, draft = tempfile.mkstemp(dir=folder)  # its owner alone can read it
    with os.fdopen(descriptor, "wb") as file:
        writer = _Writer(file)
        described = {
            "state": state,
            "explained": sorted(explained),
            "columns": _described(columns, writer),
            "arrays": writer.arrays,
        }
        writer.finish(json.dumps(described).encode())
        file.flush()
        os.fsync(file.fileno())
    Path(draft).replace(folder / "columns")


def load(
    store: Path, state: str, administrations: Sequence[int], explained: Collection[str]
) -> ResponseColumns | None:
    """Return columns from the file beside a store; None where it does not have them."""
    # A damaged file is none: it is made again.
    with (
        suppress(OSError, ValueError, LookupError, TypeError),
        (folder_of(store) / "columns").open("rb") as file,
    ):
        described = _description(file)
        if described["state"] == state and set(explained) <= set(described["explained"]):
            _check(file)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            reader = _Reader(mapped, described["arrays"])
            columns = replace(_columns(described["columns"], reader), mapped=mapped)
            return columns.selected(administrations)
    return None


class _Writer:
    """Writes arrays one after the other."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._sum, self._at = file, 0, 0
        self._known: dict[int, int] = {}
        self.arrays: list[tuple[str, int, int, bool]] = []

    def __call__(self, values: NDArray[Any]) -> int:
        """Write an array that has not been written yet; return its number."""
        if id(values) not in self._known:
            self._write(bytes(-self._at % _ALIGNED))
            same = values.strides == (0,)
            self._known[id(values)] = len(self.arrays)
            self.arrays.append((values.dtype.str, len(values), self._at, same))
            self._write(np.ascontiguousarray(values[:1] if same else values).view(np.uint8).data)
        return self._known[id(values)]

    def _write(self, content: bytes | memoryview) -> None:
        self._sum = zlib.crc32(content, self._sum)
        self._at += self._file.write(content)

    def finish(self, description: bytes) -> None:
        """Write the description of the arrays at the end."""
        self._write(description)
        self._write(len(description).to_bytes(8, "little"))
        self._file.write(self._sum.to_bytes(4, "little"))


class _Reader:
    """Gives arrays by their numbers; the same number gives the same array."""

    def __init__(self, mapped: mmap.mmap, arrays: Sequence[tuple[str, int, int, bool]]) -> None:
        self._arrays: list[NDArray[Any]] = []
        for kind, n, start, same in arrays:
            values: NDArray[Any] = np.frombuffer(mapped, kind, 1 if same else n, start)
            self._arrays.append(np.broadcast_to(values, n) if same else values)

    def __call__(self, number: int) -> NDArray[Any]:
        return self._arrays[number]


def _description(file: BinaryIO) -> Any:
    file.seek(-_TAIL, os.SEEK_END)
    size = int.from_bytes(file.read(8), "little")
    file.seek(-_TAIL - size, os.SEEK_END)
    return json.loads(file.read(size))


def _check(file: BinaryIO) -> None:
    """Compare the checksum of the file; read in blocks, it does not stay in memory."""
    left = file.seek(-4, os.SEEK_END)
    expected = int.from_bytes(file.read(4), "little")
    file.seek(0)
    found = 0
    while left:
        block = file.read(min(left, _BLOCK))
        found = zlib.crc32(block, found)
        left -= len(block)
    if found != expected:
        raise ValueError("the column file is damaged")


def _described(columns: ResponseColumns, array: _Writer) -> dict[str, Any]:
    texts = columns.responses
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)])
    return {
        "administrations": columns.administrations,
        "planned": columns.planned,
        "places": columns.places,
        "shown": columns.shown,
        "noted": columns.noted,
        "reasons": list(columns.reasons.items()),
        "prompts": list(columns.prompts.items()),
        "starts": array(columns.starts),
        "rows": {name: array(getattr(columns, name)) for name in ROWS if name not in NOTES},
        "notes": {name: array(codes) for name, codes in columns.notes.items()},
        "texts": [
            array(np.frombuffer(b"".join(encoded), np.uint8)),
            array(ends),
            *map(array, (texts.sizes, texts.blank, texts.spoken, texts.checks, texts.thinks)),
        ],
        "ratings": {
            rater: {
                "own": [
                    array(values)
                    for values in (given.rows, given.order, given.judged, given.prompts)
                ],
                "measures": {
                    name: [
                        array(values)
                        for values in (one.rows, one.values, one.statuses, one.reasons)
                    ]
                    for name, one in given.measures.items()
                },
            }
            for rater, given in columns.ratings.items()
        },
    }


def _columns(described: Any, array: _Reader) -> ResponseColumns:
    blob, ends, *of_each = (array(number) for number in described["texts"])
    ratings = {}
    for rater, given in described["ratings"].items():
        rows, order, judged, prompts = map(array, given["own"])
        measures = {
            name: Ratings(*map(array, numbers)) for name, numbers in given["measures"].items()
        }
        ratings[rater] = RaterColumns(rows, order, measures, judged, prompts)
    rows_of: dict[str, Any] = {name: array(number) for name, number in described["rows"].items()}
    return ResponseColumns(
        administrations=tuple(described["administrations"]),
        starts=array(described["starts"]),
        planned=tuple(described["planned"]),
        places=tuple((subtest, item) for subtest, item in described["places"]),
        shown=tuple(map(tuple, described["shown"])),
        responses=Texts(_Strings(blob, ends), *of_each),
        notes={name: array(number) for name, number in described["notes"].items()},
        noted=tuple(described["noted"]),
        ratings=ratings,
        reasons=dict(described["reasons"]),
        prompts=dict(described["prompts"]),
        **rows_of,
    )


class _Strings(Sequence[str]):
    """Texts that are decoded when they are asked for."""

    def __init__(self, blob: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self._blob, self._ends = blob, ends

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        return self._blob[self._ends[place] : self._ends[place + 1]].tobytes().decode()
