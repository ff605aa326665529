"""The canonical JSON of a battery, which is hashed and stored, and its reader."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from tabwb.battery.files import NamedFiles, named_files
from tabwb.battery.model import (
    Battery,
    Category,
    Feature,
    Grouping,
    Item,
    SourcedText,
    Subtest,
)
from tabwb.records.errors import TabwbError
from tabwb.records.states import ResponseKind
from tabwb.tasks.task_type import task_type

_ITEM_FIELDS = frozenset(field.name for field in fields(Item))


def canonical_json(tables: Mapping[str, Any], files: NamedFiles) -> str:
    """Return the canonical JSON: sorted keys, no white space, without default values.

    Texts of files are included, with the SHA-256 of each file (also of pictures) under ``assets``.

    Args:
        tables: the validated file as plain data, without defaults.
        files: what the files that it names hold.
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
    """Return the battery that a store kept, as it was when it was given.

    Args:
        canonical: as :func:`canonical_json` wrote it.
        origin: where it was read from, for messages.

    Raises:
        TabwbError: the text is not a canonical battery (a damaged store).
    """
    try:
        return _battery(json.loads(canonical), canonical, origin)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise TabwbError(
            f"the stored battery cannot be read: {error}", hint="look at: tabwb store check"
        ) from error


def _battery(tables: Mapping[str, Any], canonical: str, origin: str) -> Battery:
    head = dict(tables["battery"])
    head["examinees"] = tuple(head.get("examinees", ("model", "speaker")))
    head["system"] = _sourced(head.get("system"))
    return Battery(
        **head,
        subtests=tuple(_subtest(table) for table in tables["subtest"]),
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
    given["scorers"] = tuple(given.get("scorers", ()))
    for name in ("administrator", "instructions"):
        given[name] = _sourced(given.get(name))
    if task_type(given["response"]).coded:
        from tabwb.tasks.spoken_naming.rules import naming_rules

        rules = task_type(given["response"]).rules
        given["naming"] = naming_rules(given)
        given = {key: value for key, value in given.items() if key not in rules}
    return Subtest(**given, items=tuple(_item(item) for item in items))


def _item(table: Mapping[str, Any]) -> Item:
    given = dict(table)
    given["options"] = tuple(given.get("options", ()))
    given["tags"] = tuple(given.get("tags", ()))
    given.setdefault("prompt", "")
    given["metadata"] = dict(given.get("metadata", {}))
    given["extra"] = {key: given.pop(key) for key in list(given) if key not in _ITEM_FIELDS}
    return Item(**given)


def _grouping(table: Mapping[str, Any]) -> Grouping:
    return Grouping(
        table["id"],
        table["title"],
        table["source"],
        tuple(
            Category(category["id"], category["title"], tuple(category["features"]))
            for category in table["category"]
        ),
    )


def _sourced(table: Mapping[str, Any] | None) -> SourcedText | None:
    return None if table is None else SourcedText(table["text"], table["source"])
