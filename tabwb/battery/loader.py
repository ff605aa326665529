"""Reading a battery (data only, no code): a TOML file with its files, or canonical JSON."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.battery.model import Battery, Category, Feature, Grouping, Item, SourcedText, Subtest
from tabwb.battery.problems import BatteryProblems, Problem, control_character, locate, located
from tabwb.battery.task_type import code_of, task_type
from tabwb.records.errors import TabwbError
from tabwb.records.files import is_inside, is_stdin, read_stdin
from tabwb.records.problems import Broken, KeyPath
from tabwb.scoring.yes_no import AnswerWords

if TYPE_CHECKING:
    from tabwb.battery.rules import Scorers
    from tabwb.battery.toml_schema import BatteryFile


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


_ITEM_FIELDS, _SUBTEST_FIELDS = (
    frozenset(field.name for field in fields(record)) for record in (Item, Subtest)
)


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
    """Return every problem of a battery file; empty when it is fine."""
    from tabwb.battery.rules import Scorers

    known = scorers if scorers is None or isinstance(scorers, Scorers) else Scorers(scorers)
    return tuple(_read(path, known)[1])


def read_assets(path: Path, battery: Battery) -> Mapping[str, bytes]:
    """Return the bytes of every file that the battery names, by the path it names them with."""
    assets: dict[str, bytes] = {}
    for name, digest in battery.assets.items():
        try:
            assets[name] = place_of(path.parent, name).read_bytes()
        except OSError as error:
            raise TabwbError(
                f"the file cannot be read any more: {error.strerror}", where=str(path.parent / name)
            ) from error
        if hashlib.sha256(assets[name]).hexdigest() != digest:
            raise BatteryProblems([Problem(str(path), 0, name, "the file has just changed")])
    return assets


def _read(path: Path, scorers: Scorers | None) -> tuple[Battery | None, list[Problem]]:
    from tabwb.battery.rules import validate

    text = read_text(path)
    if isinstance(text, Problem):
        return None, [text]
    try:
        tables = read_tables(path, text)
        if isinstance(tables, Problem):
            return None, [tables]
        file, broken = validate(tables, scorers)
        content = tables if file is None else _content(file)
        files = read_named_files(path.parent, content)
        if file is None or broken or files.broken:
            return None, located(str(path), locate(text), broken + files.broken)
        return battery_from_canonical(canonical_json(content, files), str(path)), []
    except RecursionError:
        return None, [Problem(str(path), 1, "", "tables or arrays are nested too deeply")]


def _content(file: BatteryFile) -> dict[str, Any]:
    """Return the tables without default values; no scorers are the default of most kinds."""
    content = file.model_dump(exclude_defaults=True)
    for subtest in content["subtest"]:
        if subtest.get("scorers") == [] and not _usual_scorers(subtest["response"]):
            del subtest["scorers"]
    return content


def _usual_scorers(kind: str) -> tuple[str, ...]:
    """Return the scorers of a subtest that names none: what has a right answer is scored."""
    task = task_type(kind)
    return task.scorers if task.right_or_wrong else ()


def read_tables(path: Path, text: str) -> dict[str, Any] | Problem:
    """Return the tables of a TOML text, or its syntax error."""
    import tomli

    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        message = f"{error.msg[:1].lower()}{error.msg[1:]} (column {error.colno})"
        return Problem(str(path), error.lineno, "", message, "", "valid TOML")
    except (ValueError, RecursionError) as error:
        return Problem(str(path), 1, "", f"this cannot be read as TOML: {error}")


def canonical_json(tables: Mapping[str, Any], files: NamedFiles) -> str:
    """Return the canonical JSON: sorted keys, no white space, without default values.

    Texts of files are included, with the SHA-256 of each file (also of pictures) under ``assets``.
    """
    content: dict[str, Any] = json.loads(json.dumps(tables))
    for where, name in list(named_files(content)):
        table: Any = content
        for part in where[:-1]:
            table = table[part]
        table["text"] = files.contents[name]
    if files.hashes:
        content["assets"] = files.hashes
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def battery_from_canonical(canonical: str, origin: str = "") -> Battery:
    """Return the battery that a store kept, as it was when it was given."""
    try:
        return _battery(json.loads(canonical), canonical, origin)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise TabwbError(
            f"the stored battery cannot be read: {error}", hint="run: tabwb store check"
        ) from error


def _battery(tables: Mapping[str, Any], canonical: str, origin: str) -> Battery:
    head = dict(tables["battery"])
    head["examinees"] = tuple(head.get("examinees", ("model", "speaker")))
    head["system"] = _sourced(head.get("system"))
    words = AnswerWords(tuple(head.get("yes", ())), tuple(head.get("no", ())))
    head["yes"], head["no"] = words.yes, words.no
    return Battery(
        **head,
        subtests=tuple(
            _subtest({**table, "language": head["language"], "answer_words": words})
            for table in tables["subtest"]
        ),
        features=tuple(Feature(**table) for table in tables.get("feature", ())),
        groupings=tuple(_grouping(table) for table in tables.get("grouping", ())),
        content_hash=hashlib.sha256(canonical.encode("utf-8")).hexdigest(),
        canonical=canonical,
        assets=dict(tables.get("assets", {})),
        origin=origin,
    )


def _subtest(table: Mapping[str, Any]) -> Subtest:
    given = dict(table)
    items = given.pop("item")
    task = task_type(given["response"])
    given["response"] = task.kind
    given["scorers_are_usual"] = "scorers" not in given
    given["scorers"] = tuple(given.get("scorers", _usual_scorers(task.kind)))
    for name in ("administrator", "instructions"):
        given[name] = _sourced(given.get(name))
    if task.read is not None:
        with code_of(task):
            rules = task.read(given)
        given = {key: value for key, value in given.items() if key not in task.rules}
        given["rules"] = rules
    elif not task.is_installed:
        unknown = given.keys() - _SUBTEST_FIELDS
        given["rules"] = {key: given.pop(key) for key in unknown} or None
    return Subtest(**given, items=tuple(_item(item) for item in items))


def _item(table: Mapping[str, Any]) -> Item:
    given = {"prompt": "", **table}
    for name in ("options", "tags"):
        given[name] = tuple(given.get(name, ()))
    given["metadata"] = dict(given.get("metadata", {}))
    given["extra"] = {key: given.pop(key) for key in list(given) if key not in _ITEM_FIELDS}
    return Item(**given)


def _grouping(table: Mapping[str, Any]) -> Grouping:
    categories = tuple(
        Category(category["id"], category["title"], tuple(category["features"]))
        for category in table["category"]
    )
    return Grouping(table["id"], table["title"], table["source"], categories)


def _sourced(table: Mapping[str, Any] | None) -> SourcedText | None:
    return None if table is None else SourcedText(table["text"], table["source"])
