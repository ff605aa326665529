"""Reading a battery: the file checked whole, every problem with its line, nothing run.

A battery is data only. Files that it names lie inside its own folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tabwb.battery.locate import KeyPath, line_of, locate
from tabwb.battery.model import (
    Battery,
    Category,
    Feature,
    Grouping,
    Item,
    SourcedText,
    Subtest,
)
from tabwb.battery.problems import BatteryProblems, Problem, shortened
from tabwb.records.errors import TabwbError
from tabwb.records.states import ResponseKind

MAX_BYTES = 2_000_000
"""Files over this size are refused unread: no battery of texts comes near it."""


def load_battery(path: Path) -> Battery:
    """Read and check a battery file.

    Raises:
        BatteryProblems: what is wrong, every problem at once.
    """
    battery, problems = _read(path, None)
    if battery is None:
        raise BatteryProblems(problems)
    return battery


def check_battery(path: Path, *, scorers: Collection[str] | None = None) -> tuple[Problem, ...]:
    """Every problem of a battery file; empty when it is fine.

    Args:
        path: the file.
        scorers: ids of the scorers that exist; None leaves them unchecked.
    """
    return tuple(_read(path, scorers)[1])


def battery_from_canonical(canonical: str) -> Battery:
    """The battery that a store kept, as it was when it was given.

    Raises:
        TabwbError: the text is no canonical battery (a damaged store).
    """
    try:
        return _battery(json.loads(canonical), canonical)
    except (ValueError, KeyError, TypeError) as error:
        raise TabwbError(
            f"the stored battery cannot be read: {error}", hint="look at: tabwb store check"
        ) from error


def read_assets(path: Path, battery: Battery) -> Mapping[str, bytes]:
    """The bytes of every file that the battery names, by the path it names them with.

    Raises:
        BatteryProblems: a file has changed since the battery was read.
    """
    assets = {name: (path.parent / name).read_bytes() for name in battery.assets}
    for name, content in assets.items():
        if hashlib.sha256(content).hexdigest() != battery.assets[name]:
            raise BatteryProblems([Problem(str(path), 0, name, "the file has just changed")])
    return assets


# -------------------------------------------------------------------- reading


def _read(path: Path, scorers: Collection[str] | None) -> tuple[Battery | None, list[Problem]]:
    text = _text(path)
    if isinstance(text, Problem):
        return None, [text]
    tables = _tables(path, text)
    if isinstance(tables, Problem):
        return None, [tables]
    from pydantic import ValidationError

    from tabwb.battery.rules import broken_rules
    from tabwb.battery.toml_schema import BatteryFile

    try:
        file = BatteryFile.model_validate(tables)
    except ValidationError as error:
        return None, list(_type_problems(path, text, error.errors(include_url=False)))
    broken = list(broken_rules(file, scorers))
    files, contents, unreadable = _files(path, file.model_dump(exclude_none=True))
    if broken or unreadable:
        lines = locate(text)
        problems = [
            Problem(
                str(path),
                line_of(lines, one.path),
                dotted(one.path),
                one.message,
                one.value,
                one.allowed,
                one.suggestion,
            )
            for one in broken
        ]
        problems += [
            Problem(str(path), line_of(lines, where), dotted(where), message, name, allowed)
            for where, name, message, allowed in unreadable
        ]
        return None, sorted(problems, key=lambda problem: problem.line)
    canonical = _canonical(file.model_dump(exclude_defaults=True), files, contents)
    return _battery(json.loads(canonical), canonical), []


def _text(path: Path) -> str | Problem:
    name = str(path)
    try:
        if path.is_dir():
            inside = path / "battery.toml"
            hint = str(inside) if inside.is_file() else ""
            return Problem(name, 0, "", "this is a folder", "", "a .toml file", hint)
        size = path.stat().st_size
        if size > MAX_BYTES:
            return Problem(
                name, 0, "", "the file is too large and was not read", f"{size:,} bytes",
                f"up to {MAX_BYTES:,} bytes",
            )  # fmt: skip
        content = path.read_bytes()
    except FileNotFoundError:
        return Problem(name, 0, "", "there is no such file")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Problem(name, 0, "", f"the file cannot be read: {reason}")
    if not content.strip():
        return Problem(name, 1, "", "the file is empty", "", "[battery] and [[subtest]] tables")
    if b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        return Problem(name, line, "", "a NUL byte stands here", "", "text in UTF-8")
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        return Problem(
            name, line, "", "this is no UTF-8", f"byte 0x{content[error.start]:02x} at offset "
            f"{error.start}", "text in UTF-8",
        )  # fmt: skip


def _tables(path: Path, text: str) -> dict[str, Any] | Problem:
    import tomli

    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        message = f"{error.msg[:1].lower()}{error.msg[1:]} (column {error.colno})"
        return Problem(str(path), error.lineno, "", message, "", "valid TOML")
    except RecursionError:
        return Problem(str(path), 1, "", "tables or arrays are nested too deeply")
    except ValueError as error:
        return Problem(str(path), 1, "", f"this cannot be read as TOML: {error}")


def _type_problems(path: Path, text: str, errors: Iterable[Any]) -> Iterator[Problem]:
    from tabwb.battery.toml_schema import allowed_keys

    lines = locate(text)
    found: list[Problem] = []
    for error in errors:
        # pydantic names the branch of a union in the path; a TOML file has no such key.
        where: KeyPath = tuple(part for part in error["loc"] if part not in _BRANCHES)
        kind, message = error["type"], error["msg"]
        value, allowed, near = shortened(error["input"]), "", ""
        if kind == "extra_forbidden":
            keys = allowed_keys(where[:-1])
            message, allowed = "there is no such key", ", ".join(keys)
            near = next(iter(get_close_matches(str(where[-1]), keys, n=1)), "")
            value = ""
        elif kind == "missing":
            message, value = "this key is missing", ""
        elif kind == "literal_error":
            allowed = error["ctx"]["expected"].replace(" or ", ", ").replace("'", "")
            message = "this is not one of the allowed values"
            near = next(iter(get_close_matches(str(error["input"]), allowed.split(", "), n=1)), "")
        elif kind == "string_pattern_mismatch":
            message, allowed = "this is no id", "lower-case letters, digits and hyphens: my-id"
        elif kind in {"too_short", "string_too_short"}:
            message, allowed = "this is empty", "at least one"
        elif kind.endswith("_type"):
            message = f"this has the wrong type ({_toml_type(error['input'])})"
            allowed = kind.removesuffix("_type").replace("model", "table").replace("dict", "table")
            allowed = allowed.replace("_attributes", "")
        found.append(
            Problem(str(path), line_of(lines, where), dotted(where), message, value, allowed, near)
        )
    return iter(sorted(found, key=lambda problem: problem.line))


_BRANCHES = frozenset({"SourcedTextTable"})


def _toml_type(value: object) -> str:
    names = {bool: "boolean", str: "string", int: "integer", float: "float", list: "array"}
    return names.get(type(value), "table" if isinstance(value, dict) else type(value).__name__)


def dotted(path: KeyPath) -> str:
    """A key path as people read it, arrays counted from 1.

    >>> dotted(("subtest", 1, "item", 0, "expected"))
    'subtest[2].item[1].expected'
    """
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text


_Unreadable = tuple[KeyPath, str, str, str]


def _files(
    path: Path, tables: dict[str, Any]
) -> tuple[dict[str, str], dict[str, str], list[_Unreadable]]:
    """SHA-256 and text of every file named by ``file = ...``, and what cannot be read."""
    hashes: dict[str, str] = {}
    contents: dict[str, str] = {}
    problems: list[_Unreadable] = []
    root = path.parent.resolve()
    for where, name in _named_files((), tables):
        inside = "a UTF-8 file inside the battery's folder"
        try:
            target = (root / name).resolve()
            if not target.is_relative_to(root) or Path(name).is_absolute():
                problems.append((where, name, "the path leaves the battery's folder", inside))
                continue
            if not target.is_file():
                problems.append((where, name, "there is no such file", inside))
                continue
            if target.stat().st_size > MAX_BYTES:
                problems.append(
                    (where, name, "the file is too large", f"up to {MAX_BYTES:,} bytes")
                )
                continue
            content = target.read_bytes()
            contents[name] = content.decode("utf-8").removeprefix("\ufeff").strip()
            hashes[name] = hashlib.sha256(content).hexdigest()
        except UnicodeDecodeError:
            problems.append((where, name, "this is no UTF-8", inside))
        except (OSError, ValueError) as error:
            problems.append((where, name, f"the file cannot be read: {error}", inside))
    return hashes, contents, problems


def _named_files(path: KeyPath, value: object) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "file" and isinstance(inner, str) and "source" in value:
                yield (*path, key), inner
            else:
                yield from _named_files((*path, key), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _named_files((*path, index), inner)


# -------------------------------------------------------------------- building


def _canonical(
    tables: dict[str, Any], hashes: Mapping[str, str], contents: Mapping[str, str]
) -> str:
    """Canonical JSON: sorted keys, no white space, texts of files in place, hashes beside them."""
    for where, name in list(_named_files((), tables)):
        table: Any = tables
        for part in where[:-1]:
            table = table[part]
        table["text"] = contents[name]
    if hashes:
        tables["assets"] = dict(hashes)
    return json.dumps(tables, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _battery(tables: Mapping[str, Any], canonical: str) -> Battery:
    head = dict(tables["battery"])
    head["examinees"] = tuple(head.get("examinees", ("model", "speaker")))
    head["system"] = _sourced(head.get("system"))
    return Battery(
        **head,
        subtests=tuple(_subtest(table) for table in tables["subtest"]),
        features=tuple(Feature(**table) for table in tables.get("feature", ())),
        groupings=tuple(
            Grouping(
                table["id"],
                table["title"],
                table["source"],
                tuple(
                    Category(one["id"], one["title"], tuple(one["features"]))
                    for one in table["category"]
                ),
            )
            for table in tables.get("grouping", ())
        ),
        content_hash=hashlib.sha256(canonical.encode("utf-8")).hexdigest(),
        canonical=canonical,
        assets=dict(tables.get("assets", {})),
    )


def _subtest(table: Mapping[str, Any]) -> Subtest:
    given = dict(table)
    items = given.pop("item")
    given["response"] = ResponseKind(given["response"])
    given["scorers"] = tuple(given.get("scorers", ()))
    for name in ("administrator", "instructions"):
        given[name] = _sourced(given.get(name))
    return Subtest(**given, items=tuple(_item(item) for item in items))


def _item(table: Mapping[str, Any]) -> Item:
    given = dict(table)
    given["options"] = tuple(given.get("options", ()))
    given["tags"] = tuple(given.get("tags", ()))
    return Item(**given)


def _sourced(table: Mapping[str, Any] | None) -> SourcedText | None:
    return None if table is None else SourcedText(table["text"], table["source"])
