"""Reading a battery file: all problems are reported with their lines.

A battery is data only; no code runs. Files that it names are inside its own folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.battery.canonical import battery_from_canonical, canonical_json
from tabwb.battery.files import MAX_BYTES, read_named_files, read_text
from tabwb.battery.locate import locate
from tabwb.battery.model import Battery
from tabwb.battery.problems import BatteryProblems, Problem, located
from tabwb.records.errors import TabwbError

if TYPE_CHECKING:
    from tabwb.battery.rules import Scorers

__all__ = [
    "MAX_BYTES",
    "battery_from_canonical",
    "check_battery",
    "load_battery",
    "read_assets",
    "read_tables",
]


def load_battery(path: Path) -> Battery:
    """Read and check a battery file.

    Raises:
        BatteryProblems: what is wrong, every problem at once.
    """
    battery, problems = _read(path, None)
    if battery is None:
        raise BatteryProblems(problems)
    return battery


def check_battery(
    path: Path, *, scorers: Scorers | Collection[str] | None = None
) -> tuple[Problem, ...]:
    """Return every problem of a battery file; empty when it is fine.

    Args:
        path: the file.
        scorers: the scorers that exist, or their ids alone; None leaves them unchecked.
    """
    from tabwb.battery.rules import Scorers

    known = scorers if scorers is None or isinstance(scorers, Scorers) else Scorers(scorers)
    return tuple(_read(path, known)[1])


def read_assets(path: Path, battery: Battery) -> Mapping[str, bytes]:
    """Return the bytes of every file that the battery names, by the path it names them with.

    Args:
        path: of the battery file.
        battery: as it was read from the file.

    Raises:
        TabwbError: a file is not readable any more.
        BatteryProblems: a file has changed since the battery was read.
    """
    assets: dict[str, bytes] = {}
    for name, digest in battery.assets.items():
        try:
            assets[name] = (path.parent / name).read_bytes()
        except OSError as error:
            raise TabwbError(
                f"the file cannot be read any more: {error.strerror}", where=str(path.parent / name)
            ) from error
        if hashlib.sha256(assets[name]).hexdigest() != digest:
            raise BatteryProblems([Problem(str(path), 0, name, "the file has just changed")])
    return assets


def _read(path: Path, scorers: Scorers | None) -> tuple[Battery | None, list[Problem]]:
    text = read_text(path)
    if isinstance(text, Problem):
        return None, [text]
    try:
        return _checked(path, text, scorers)
    except RecursionError:
        return None, [Problem(str(path), 1, "", "tables or arrays are nested too deeply")]


def _checked(
    path: Path, text: str, scorers: Scorers | None
) -> tuple[Battery | None, list[Problem]]:
    tables = read_tables(path, text)
    if isinstance(tables, Problem):
        return None, [tables]
    from tabwb.battery.validation import validate

    file, broken = validate(tables, scorers)
    content = tables if file is None else file.model_dump(exclude_defaults=True)
    files = read_named_files(path.parent, content)
    if file is None or broken or files.broken:
        return None, located(str(path), locate(text), broken + files.broken)
    return battery_from_canonical(canonical_json(content, files), str(path)), []


def read_tables(path: Path, text: str) -> dict[str, Any] | Problem:
    """Return the tables of a TOML text, or its syntax error.

    Args:
        path: of the file, for the problem.
        text: its contents.
    """
    import tomli

    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        message = f"{error.msg[:1].lower()}{error.msg[1:]} (column {error.colno})"
        return Problem(str(path), error.lineno, "", message, "", "valid TOML")
    except ValueError as error:
        return Problem(str(path), 1, "", f"this cannot be read as TOML: {error}")
