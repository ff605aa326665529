"""Lists of units in files: what ``select=list`` takes, known by the SHA-256 of their content."""

from __future__ import annotations

import hashlib
import json
import math
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from tabwb.lesion.numbers import MOST, numbers_text
from tabwb.lesion.spec import Lesion, asked_lesions
from tabwb.records.errors import UsageError
from tabwb.records.files import expanded, read_regular

FORMAT = 1
TOO_LARGE = 200_000_000
"""A longer file (bytes) is refused."""
DIGITS = 16
"""So many digits of the SHA-256 of a list are in stored specs."""
_ALLOWED = (
    'a JSON object with "format": 1 and "units", a mapping of names of parts to numbers of units, '
    'for example {"format": 1, "units": {"3.mlp.neurons": [0, 17]}}'
)


@dataclass(frozen=True, slots=True)
class UnitList:
    """Units of a model.

    Attributes:
        units: name of a part (``3.mlp.neurons``) to numbers of its units, counted from 0.
        t: the same names to the statistic of each of these units, in their order; empty where the
            list has none.
        sha256: of the file, 64 digits.
    """

    units: Mapping[str, tuple[int, ...]]
    t: Mapping[str, tuple[float, ...]]
    sha256: str


def read_units(file: str, sha256: str = "") -> UnitList:
    """Return the list of a file."""
    path = expanded(file)
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            raise UsageError("the list of units is not a file", where=file)
        found = _read(path, state.st_mtime_ns, state.st_size)
    except (OSError, ValueError) as error:  # ValueError: a null character
        words = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"the list of units cannot be read: {words}", where=file) from error
    if not found.sha256.startswith(sha256):
        raise UsageError(
            f"the list of units has changed: its SHA-256 was {sha256}... and is "
            f"{found.sha256[: len(sha256)]}...",
            where=file,
            hint="restore the file, or begin again with the spec without sha256=",
        )
    return found


@lru_cache(maxsize=8)
def _read(path: Path, changed_ns: int, size: int) -> UnitList:
    """Return the list of a file in the state of this time and size."""
    content = read_regular(path, TOO_LARGE)
    if content is None:
        raise UsageError("the list of units cannot be read: there is no such file", where=str(path))
    try:
        document = json.loads(content, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise _wrong(path, f"is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _wrong(path, "is not a list of units of format 1")
    units = _by_part(path, document, "units", _is_number)
    if not units:
        raise _wrong(path, "has no units")
    for name, numbers in units.items():
        if len(set(numbers)) < len(numbers):
            raise _wrong(path, f"names a unit of '{name}' twice")
    t = _by_part(path, document, "t", _is_statistic) if "t" in document else {}
    if t and {name: len(some) for name, some in t.items()} != {
        name: len(some) for name, some in units.items()
    }:
        raise _wrong(path, 'has another number of values in "t" than of units')
    return UnitList(units, t, hashlib.sha256(content).hexdigest())


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice in one mapping")
    return found


def pinned(lesions: Iterable[Lesion]) -> tuple[Lesion, ...]:
    """Return lesions as they are stored: lists by absolute path and SHA-256."""
    return tuple(_pinned(one) if one.file else one for one in lesions)


def stored_form(text: str) -> tuple[Lesion, ...]:
    """Return the lesions of a spec as they are stored; see :func:`pinned`."""
    return pinned(asked_lesions(text))


def _pinned(lesion: Lesion) -> Lesion:
    path = str(expanded(lesion.file).absolute())
    digest = read_units(path, lesion.sha256).sha256
    return replace(lesion, file=path, sha256=lesion.sha256 or digest[:DIGITS])


def _by_part(path: Path, document: Mapping[str, Any], key: str, valid: Any) -> dict[str, Any]:
    table = document.get(key)
    if not isinstance(table, dict):
        raise _wrong(path, f'has no mapping "{key}"')
    for name, values in table.items():
        if not isinstance(values, list) or not all(map(valid, values)):
            raise _wrong(path, f"has a value in \"{key}\" of '{name}' that is not a number there")
    return {name: tuple(values) for name, values in table.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _is_statistic(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300 and math.isfinite(value)


def _wrong(path: Path, what: str) -> UsageError:
    return UsageError(f"the file {what}", where=str(path), allowed=_ALLOWED)


def units_text(units: Mapping[str, Sequence[int]]) -> str:
    """Return units as facts of an administration have them.

    >>> units_text({"0.mlp.neurons": [0, 1, 2, 7], "3.mlp.neurons": [5]})
    '0.mlp.neurons:0-2,7;3.mlp.neurons:5'
    """
    return ";".join(f"{name}:{numbers_text(numbers)}" for name, numbers in units.items())
