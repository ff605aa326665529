"""The table ``[study]`` of ``tabwb.toml``: how a study writes IDs, what it records of speakers.

    [study]
    speaker_id_pattern = "[A-Z]{2}[0-9]{3}"
    require_consent = true
    primary_rater = "R1"
    columns = [
      { name = "site", type = "choice", choices = ["Leeds", "York"] },
      { name = "therapy_hours", type = "number", unit = "h", minimum = 0, maximum = 500 },
    ]

A column with the name of a built-in one replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from tabwb.records.errors import UsageError
from tabwb.records.study import BUILT_IN, COLUMN_NAME, COLUMN_TYPES, Column, Study

KEYS = ("speaker_id_pattern", "require_consent", "primary_rater", "columns")
COLUMN_KEYS = ("name", "type", "unit", "minimum", "maximum", "choices", "title")

Refuse = Callable[..., UsageError]
"""Makes the error for a key, a message and, by name, what is allowed."""


def read_study(table: object, error: Refuse) -> Study:
    """What the table says, checked.

    Args:
        table: the value of ``study``.
        error: makes an error that names the file.

    Raises:
        UsageError: something in it is malformed.
    """
    if not isinstance(table, Mapping):
        raise error("study", f"{table!r} is not a table", allowed=", ".join(KEYS))
    _refuse_unknown(table, KEYS, "study", error)
    columns = {column.name: column for column in BUILT_IN}
    given = table.get("columns", [])
    if not isinstance(given, list):
        raise error("study.columns", f"{given!r} is not a list of tables")
    seen: set[str] = set()
    for number, each in enumerate(given):
        column = _column(each, f"study.columns[{number}]", error)
        if column.name in seen:
            raise error(f"study.columns[{number}].name", f"'{column.name}' is there already")
        seen.add(column.name)
        columns[column.name] = column
    require = table.get("require_consent", False)
    if not isinstance(require, bool):
        raise error("study.require_consent", f"{require!r} is neither true nor false")
    primary = table.get("primary_rater", "")
    if not isinstance(primary, str):
        raise error("study.primary_rater", f"{primary!r} is not a string", allowed="a rater's ID")
    return Study(_pattern(table, error), tuple(columns.values()), require, primary)


def _pattern(table: Mapping[str, Any], error: Refuse) -> str:
    pattern = table.get("speaker_id_pattern", Study().id_pattern)
    key = "study.speaker_id_pattern"
    if not isinstance(pattern, str):
        raise error(key, f"{pattern!r} is not a string")
    try:
        re.compile(pattern)
    except re.error as wrong:
        raise error(key, f"'{pattern}' is not a valid regular expression: {wrong}") from wrong
    return pattern


def _column(table: object, key: str, error: Refuse) -> Column:
    if not isinstance(table, Mapping):
        raise error(key, f"{table!r} is not a table", allowed=", ".join(COLUMN_KEYS))
    _refuse_unknown(table, COLUMN_KEYS, key, error)
    name, kind = table.get("name"), table.get("type", "text")
    if not isinstance(name, str) or not COLUMN_NAME.fullmatch(name):
        raise error(
            f"{key}.name",
            f"{name!r} is not a valid column name",
            allowed="up to 40 letters, digits and underscores, a letter first",
        )
    if kind not in COLUMN_TYPES:
        raise error(f"{key}.type", f"{kind!r} is not a valid type", allowed=", ".join(COLUMN_TYPES))
    low, high = (_bound(table, word, kind, key, error) for word in ("minimum", "maximum"))
    if low is not None and high is not None and low > high:
        raise error(f"{key}.minimum", f"{low} is above the maximum {high}")
    unit, title = (_text(table, word, key, error) for word in ("unit", "title"))
    return Column(name, kind, unit, low, high, _choices(table, kind, key, error), title)


def _text(table: Mapping[str, Any], word: str, key: str, error: Refuse) -> str:
    text = table.get(word, "")
    if not isinstance(text, str):
        raise error(f"{key}.{word}", f"{text!r} is not a string")
    return text


def _bound(table: Mapping[str, Any], word: str, kind: str, key: str, error: Refuse) -> float | None:
    bound = table.get(word)
    if bound is None:
        return None
    if kind not in ("whole", "number"):
        raise error(f"{key}.{word}", f"a {kind} has no bounds")
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        raise error(f"{key}.{word}", f"{bound!r} is not a number")
    return bound


def _choices(table: Mapping[str, Any], kind: str, key: str, error: Refuse) -> tuple[str, ...]:
    choices = table.get("choices", [])
    are_texts = isinstance(choices, list) and all(isinstance(each, str) for each in choices)
    if not are_texts or bool(choices) != (kind in ("choice", "choices")):
        raise error(
            f"{key}.choices",
            "a choice, and nothing else, has a list of choices",
            allowed='choices = ["one", "another"]',
        )
    return tuple(choices)


def _refuse_unknown(
    table: Mapping[str, Any], known: tuple[str, ...], key: str, error: Refuse
) -> None:
    for word in table:
        if word not in known:
            near = get_close_matches(word, known, n=1)
            raise error(
                f"{key}.{word}",
                "unknown key" + (f"; did you mean '{near[0]}'?" if near else ""),
                allowed=", ".join(known),
            )
