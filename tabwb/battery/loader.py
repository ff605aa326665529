"""Reading a battery (data only, no code): a TOML file, or the canonical JSON of a store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.battery.files import NamedFiles, named_files, place_of, read_named_files, read_text
from tabwb.battery.locate import locate
from tabwb.battery.model import Battery, Category, Feature, Grouping, Item, SourcedText, Subtest
from tabwb.battery.problems import BatteryProblems, Problem, located
from tabwb.battery.task_type import task_type
from tabwb.records.errors import TabwbError
from tabwb.records.states import ResponseKind
from tabwb.scoring.yes_no import AnswerWords

if TYPE_CHECKING:
    from tabwb.battery.rules import Scorers
    from tabwb.battery.toml_schema import BatteryFile

_ITEM_FIELDS = frozenset(field.name for field in fields(Item))


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
    from tabwb.battery.validation import validate

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
        if subtest.get("scorers") == [] and not _usual_scorers(ResponseKind(subtest["response"])):
            del subtest["scorers"]
    return content


def _usual_scorers(kind: ResponseKind) -> tuple[str, ...]:
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
    given["response"] = ResponseKind(given["response"])
    task = task_type(given["response"])
    given["scorers_are_usual"] = "scorers" not in given
    given["scorers"] = tuple(given.get("scorers", _usual_scorers(task.kind)))
    for name in ("administrator", "instructions"):
        given[name] = _sourced(given.get(name))
    if task.read is not None:
        rules = task.read(given)
        given = {key: value for key, value in given.items() if key not in task.rules}
        given["rules"] = rules
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
