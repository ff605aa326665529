"""A folder of tables, one for each value of some columns: ``model=echo/subtest=x/part-0.parquet``.

The layout is Hive's, which DuckDB, Polars, Dask, Spark and pyarrow read as one table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.words import did_you_mean
from tabwb_builtin.columns import ANSWERED, GIVEN, Part

NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""Stands for no value."""
OPEN = 24
"""Files that are open at a time; a further part of a closed one is a separate file."""
ROWS = 8_000
"""Rows of each open file that are kept in memory."""
LONGEST = 240
"""Bytes of a folder's name; most file systems allow 255."""
_KEYS = {
    column.name: column for column in (*GIVEN, *ANSWERED) if column.type in ("text", "boolean")
}
_SCOPES = {name: column.scope for name, column in _KEYS.items()}


class Written(Protocol):
    """A table that takes rows."""

    def add(self, administration: Part, trial: Part) -> None:
        """Add the rows of a response."""

    def close(self, notes: Sequence[str]) -> None:
        """End the file."""


def check_keys(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns by which rows can be put into folders."""
    for name in names:
        if name not in _KEYS:
            raise UsageError(
                f"a table cannot be partitioned by '{name}'" + did_you_mean(name, _KEYS),
                allowed="columns of text of the administration or the response, such as battery, "
                "examinee, model, protocol, lesion, model_family, subtest, item",
            )
    if len(set(names)) < len(names):
        raise UsageError("a column is named twice", where="--partition-by")
    return tuple(names)


class Partitions:
    """Writes rows to the table of their folder."""

    def __init__(self, out: Path, by: Sequence[str], make: Callable[[Path], Written]) -> None:
        self._out, self._by, self._make = out, by, make
        self._open: dict[tuple[str, ...], tuple[Path, Written]] = {}
        self._parts: dict[tuple[str, ...], int] = {}
        try:
            out.mkdir(mode=0o700)
        except OSError as error:
            raise TabwbError(f"cannot be written: {error.strerror}", where=str(out)) from error

    def add(self, administration: Part, trial: Part) -> None:
        """Add the rows of a response."""
        key = tuple(
            _folder(name, _KEYS[name].value(administration if scope else trial))
            for name, scope in ((one, _SCOPES[one] == "administration") for one in self._by)
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
