"""Validation of a battery file: wrong types and broken rules, reported together."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from tabwb.battery.rules import Scorers, broken_rules
from tabwb.battery.toml_schema import BatteryFile, allowed_keys, required_keys
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.words import near

_MOST_COMPLETED = 500
"""With more wrong types than this, rules are not checked."""


def validate(
    tables: dict[str, Any], scorers: Scorers | None = None
) -> tuple[BatteryFile | None, list[Broken]]:
    """Return the file with right types, and everything that is wrong with it.

    Rules are checked with wrong types too, but problems that may only follow from one are left out.
    """
    try:
        file = BatteryFile.model_validate(tables)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        wrong = list(type_problems(errors))
        completed = _with_placeholders(tables, errors) if len(errors) <= _MOST_COMPLETED else None
        if completed is not None:
            wrong += [
                rule
                for rule in broken_rules(completed, scorers)
                if not any(_may_follow(rule.path, error["loc"]) for error in errors)
            ]
        return None, wrong
    return file, list(broken_rules(file, scorers))


_ARRAYS_OF_TABLES = frozenset({"subtest", "item", "feature", "grouping", "category", "example"})
_NAMES = {
    "string_type": "string", "int_type": "integer", "bool_type": "boolean", "list_type": "array",
    "float_type": "number", "dict_type": "table", "model_type": "table",
    "model_attributes_type": "table",
}  # fmt: skip


def type_problems(errors: Iterable[Any], file: type[BaseModel] = BatteryFile) -> Iterator[Broken]:
    """Yield what pydantic found, in the words of a TOML file."""
    errors = list(errors)
    misspelt = {
        (*error["loc"][:-1], _meant(error["loc"], file)) for error in errors if _unknown(error)
    }
    for error in errors:
        where: KeyPath = error["loc"]
        kind, context, value = error["type"], error.get("ctx", {}), shortened(error["input"])
        if _unknown(error):
            allowed = ", ".join(allowed_keys(where[:-1], file))
            yield Broken(where, "there is no such key", "", allowed, _meant(where, file))
        elif kind == "missing":
            if where not in misspelt:  # otherwise reported at the misspelt key
                yield Broken(where, "this key is missing")
        elif kind == "literal_error":
            allowed = context["expected"].replace(" or ", ", ").replace("'", "")
            suggestion = near(str(error["input"]), allowed.split(", ")) if value else ""
            yield Broken(where, "this is not one of the allowed values", value, allowed, suggestion)
        elif kind == "string_pattern_mismatch":
            allowed = (
                "letters a to z, digits and hyphens, because ids are parts of commands, columns "
                "and file names; title and target may have any letters"
            )
            yield Broken(where, "this is not a valid id", value, allowed, plain_id(error["input"]))
        elif kind in {"too_short", "string_too_short"}:
            yield Broken(where, "this is empty", "", "at least one")
        elif kind == "string_too_long":
            allowed = f"up to {context['max_length']} characters"
            yield Broken(where, "this is too long", value, allowed)
        elif kind in {"greater_than_equal", "less_than_equal"}:
            bound = context.get("ge", context.get("le"))
            allowed = f"{'at least' if 'ge' in context else 'at most'} {bound:,.10g}"
            yield Broken(where, "this is out of range", value, allowed)
        elif kind in _NAMES:
            problem = f"this has the wrong type ({_toml_type(error['input'])})"
            yield Broken(where, problem, value, _allowed_type(where, kind))
        else:
            yield Broken(where, error["msg"], value)


def _allowed_type(where: KeyPath, kind: str) -> str:
    names = [part for part in where if isinstance(part, str)]
    if names[-1] in _ARRAYS_OF_TABLES and kind == "list_type":
        return f"an array of tables, each begun with [[{'.'.join(names)}]]"
    return _NAMES[kind]


def _unknown(error: Any) -> bool:
    return bool(error["type"] == "extra_forbidden")


def _meant(where: KeyPath, file: type[BaseModel] = BatteryFile) -> str:
    return near(str(where[-1]), allowed_keys(where[:-1], file))


def _toml_type(value: object) -> str:
    names = {bool: "boolean", str: "string", int: "integer", float: "float", list: "array"}
    return names.get(type(value), "table" if isinstance(value, dict) else type(value).__name__)


def _with_placeholders(tables: dict[str, Any], errors: Iterable[Any]) -> BatteryFile | None:
    """Return the table with placeholders for wrong types; None where that does not suffice."""
    for number, error in enumerate(errors):
        where: KeyPath = error["loc"]
        table: Any = tables
        for part in where[:-1]:
            table = table[part]
        key: Any = where[-1]
        if _unknown(error):
            value, meant = table.pop(key), _meant(where)
            if meant and meant not in table:
                table[meant] = value
        elif error["type"] == "missing" and key in table:
            continue  # a misspelt key stood for it
        elif isinstance(key, str) and key not in required_keys(where[:-1]):
            table.pop(key)
        else:
            table[key] = _placeholder(where, number)
    try:
        return BatteryFile.model_validate(tables)
    except ValidationError:
        return None


def _placeholder(where: KeyPath, number: int) -> Any:
    names = [part for part in where if isinstance(part, str)]
    name, element = names[-1], isinstance(where[-1], int)
    if name == "battery" or name in _ARRAYS_OF_TABLES:
        path = (*where, 0) if name != "battery" and not element else where
        table = {key: _placeholder((*path, key), number) for key in required_keys(path)}
        return table if element or name == "battery" else [table]
    word = {"response": "free", "examinees": "model"}.get(name, f"placeholder-{number}")
    return [word] if name == "features" and not element else word


def _may_follow(rule: KeyPath, place: KeyPath) -> bool:
    """Return whether a problem at ``rule`` may follow only from a wrong type at ``place``."""
    if place[:1] == ("feature",) and rule[:1] == ("grouping",):
        return True
    if place[:1] == ("subtest",) and len(place) > 2:
        if place[2] == "item" and len(place) > 4:
            unit = place[:4]
        elif place[2] in {"item", "response"}:
            unit = place[:2]
        else:
            return rule[:2] == place[:2] and rule[2:3] != ("item",)
    else:
        unit = place[:2]
    size = min(len(rule), len(unit))
    return rule[:size] == unit[:size]


_SPELLED = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "æ": "ae", "œ": "oe"}
)


def plain_id(text: str) -> str:
    """Return a valid id that is like a text, or nothing.

    >>> plain_id("Löwe 1"), plain_id("déjà_vu"), plain_id("東京")
    ('loewe-1', 'deja-vu', '')
    """
    spelled = unicodedata.normalize("NFC", str(text)).casefold().translate(_SPELLED)
    spread = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    return "-".join(re.findall("[a-z0-9]+", spread))[:64].strip("-")
