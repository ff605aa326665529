"""Reading a battery file and the files that it names."""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabwb.battery.problems import Problem, control_character
from tabwb.records.files import is_inside, is_stdin, read_stdin
from tabwb.records.problems import Broken, KeyPath

MAX_BYTES = 2_000_000
"""Larger files are refused unread."""

_TOO_LARGE = "the file is too large and was not read"
_INSIDE = "a UTF-8 file inside the battery's folder"
_PICTURE_INSIDE = "a PNG or JPEG file inside the battery's folder"
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
"""First bytes of PNG and JPEG files."""


def read_text(path: Path, expected: str = "[battery] and [[subtest]] tables") -> str | Problem:
    """Return the text of a file, or the problem that prevents reading it."""
    name, limit = str(path), f"up to {MAX_BYTES:,} bytes"
    if is_stdin(path):
        content = read_stdin(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            return Problem(name, 0, "", _TOO_LARGE, "", limit)
        return _decoded(name, content, expected)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            inside = path / "battery.toml"
            near = str(inside) if inside.is_file() else ""
            allowed = "a file, or a folder with a battery.toml"
            return Problem(name, 0, "", "this is a folder", "", allowed, near)
        if not stat.S_ISREG(status.st_mode):
            return Problem(name, 0, "", "this is not a regular file", "", "a file")
        if status.st_size > MAX_BYTES:
            return Problem(name, 0, "", _TOO_LARGE, f"{status.st_size:,} bytes", limit)
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return Problem(name, 0, "", "there is no such file")
    except (OSError, ValueError) as error:
        return Problem(name, 0, "", _unreadable(error))
    return _decoded(name, content, expected)


def _decoded(name: str, content: bytes, expected: str) -> str | Problem:
    if not content.removeprefix(b"\xef\xbb\xbf").strip():
        return Problem(name, 1, "", "the file is empty", "", expected)
    if b"\0" in content:
        line = _line(content, content.index(b"\0"))
        return Problem(name, line, "", "a NUL byte is not allowed", "", "text in UTF-8")
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        problem = f"byte 0x{content[error.start]:02x} at offset {error.start}"
        line = _line(content, error.start)
        return Problem(name, line, "", "this is not valid UTF-8", problem, "text in UTF-8")


def _line(content: bytes, offset: int) -> int:
    return content.count(b"\n", 0, offset) + 1


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """Contents of the files that a battery names.

    Attributes:
        contents: name of a text to its words, outer white space removed.
        hashes: name to SHA-256 (hex) of the bytes.
        broken: what cannot be read, at the key that names it.
    """

    contents: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)


def read_named_files(folder: Path, tables: Mapping[str, Any]) -> NamedFiles:
    """Read every file that ``file`` or ``picture`` names; none outside ``folder`` is opened."""
    files = NamedFiles()
    root = folder.resolve()

    def wrong(where: KeyPath, name: str, what: str, allowed: str) -> None:
        files.broken.append(Broken(where, what, repr(name), allowed))

    for where, name in named_pictures(tables):
        picture = _read_inside(root, name)
        if isinstance(picture, str):
            wrong(where, name, picture, _PICTURE_INSIDE)
        elif not picture.startswith(_PICTURES):
            wrong(where, name, "this picture cannot be shown", _PICTURE_INSIDE)
        else:
            files.hashes[name] = hashlib.sha256(picture).hexdigest()
    for where, name in named_files(tables):
        content = _read_inside(root, name)
        if isinstance(content, str):
            wrong(where, name, content, _INSIDE)
            continue
        try:
            text = content.decode("utf-8").removeprefix("\ufeff").strip()
        except UnicodeDecodeError as error:
            line = _line(content, error.start)
            wrong(where, name, f"this is not valid UTF-8 (its line {line})", _INSIDE)
            continue
        if not text:
            wrong(where, name, "the file is empty", _INSIDE)
        elif control := control_character(text):
            wrong(where, name, f"{control} is not allowed", "printable text")
        files.contents[name] = text
        files.hashes[name] = hashlib.sha256(content).hexdigest()
    return files


def place_of(folder: Path, name: str) -> Path:
    """Return the path of a file that a battery names, in the Unicode form that the folder has.

    Some systems store names of files decomposed; a text editor writes them composed.
    """
    forms = (name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name))
    return next((folder / form for form in forms if (folder / form).exists()), folder / name)


def _read_inside(root: Path, name: str) -> bytes | str:
    try:
        target = place_of(root, name)
        if not (is_inside(root, name) and is_inside(root, os.path.relpath(target, root))):
            return "the path leaves the battery's folder"
        if not target.is_file():
            return "there is no such file"
        if target.stat().st_size > MAX_BYTES:
            return f"{_TOO_LARGE} (over {MAX_BYTES:,} bytes)"
        return target.read_bytes()
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links
        return _unreadable(error)


def _unreadable(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"the file cannot be read: {reason}"


def named_files(tables: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Yield every ``file`` of a sourced text, with its key path."""
    if isinstance(tables, Mapping):
        for key, inner in tables.items():
            if key == "file" and isinstance(inner, str) and "source" in tables:
                yield (*path, key), inner
            else:
                yield from named_files(inner, (*path, key))
    elif isinstance(tables, list):
        for index, inner in enumerate(tables):
            yield from named_files(inner, (*path, index))


def named_pictures(tables: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """Yield every ``picture`` of an item, with its key path."""
    for number, subtest in _tables(tables, "subtest"):
        for place, item in _tables(subtest, "item"):
            if isinstance(item.get("picture"), str):
                yield ("subtest", number, "item", place, "picture"), item["picture"]


def _tables(table: Mapping[str, Any], key: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    tables = table.get(key)
    for index, item in enumerate(tables if isinstance(tables, list) else ()):
        if isinstance(item, Mapping):
            yield index, item
