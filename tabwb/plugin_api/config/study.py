"""The table ``[study]`` of ``tabwb.toml``: the form of IDs, and what is recorded of speakers.

    [study]
    speaker_id_pattern = "[A-Z]{2}[0-9]{3}"
    require_consent = true
    primary_rater = "R1"      # or counts = "majority", "consensus", "adjudicated", "primary:R1"
    columns = [
      { name = "site", type = "choice", choices = ["Leeds", "York"] },
      { name = "therapy_hours", type = "number", unit = "h", minimum = 0, maximum = 500 },
    ]

A column with the name of a built-in one replaces it.
"""

from __future__ import annotations

import re

from tabwb.plugin_api.config.table import Table
from tabwb.records.errors import UsageError
from tabwb.records.ratings import PRIMARY, RULES, counting, rule_of
from tabwb.records.speakers import BUILT_IN, COLUMN_NAME, COLUMN_TYPES, Column, Study

KEYS = ("speaker_id_pattern", "require_consent", "primary_rater", "counts", "columns")
COLUMN_KEYS = ("name", "type", "unit", "minimum", "maximum", "choices", "title")


def read_study(table: Table) -> Study:
    """Return the settings of the table ``[study]``.

    Raises:
        UsageError: a value is malformed.
    """
    columns = {column.name: column for column in BUILT_IN}
    seen: set[str] = set()
    for number, content in enumerate(table.get("columns", list, [])):
        place = f"columns[{number}]"
        column = _column(table.inner(place, content, COLUMN_KEYS))
        if column.name in seen:
            raise table.error(f"{place}.name", f"'{column.name}' already exists")
        seen.add(column.name)
        columns[column.name] = column
    return Study(
        _pattern(table),
        tuple(columns.values()),
        table.get("require_consent", bool, False),
        _counts(table),
    )


def _counts(table: Table) -> str:
    """Return whose ratings count: ``primary_rater``, or ``counts``, which has rules too."""
    names = ("primary_rater", "counts")
    primary, counts = (table.get(name, str, "") for name in names)
    if primary and counts:
        raise table.error("counts", "either 'counts' or 'primary_rater', not both")
    for name, given in zip(names, (primary, counts), strict=True):
        allowed = f"primary:CODE, {', '.join(RULES)}"
        if name == "counts" and given and rule_of(given) is None and not given.startswith(PRIMARY):
            raise table.error(name, f"'{given}' names neither a rule nor a rater", allowed=allowed)
        try:
            if given:
                return counting(given)
        except UsageError as error:
            raise table.error(name, error.message, allowed=allowed) from error
    return ""


def _pattern(table: Table) -> str:
    pattern: str = table.get("speaker_id_pattern", str, Study().id_pattern)
    try:
        re.compile(pattern)
    except re.error as error:
        message = f"'{pattern}' is not a valid regular expression: {error}"
        raise table.error("speaker_id_pattern", message) from error
    return pattern


def _column(table: Table) -> Column:
    name, kind = table.content.get("name"), table.content.get("type", "text")
    if not isinstance(name, str) or not COLUMN_NAME.fullmatch(name):
        allowed = "up to 40 letters, digits and underscores, a letter first"
        raise table.error("name", f"{name!r} is not a valid column name", allowed=allowed)
    if kind not in COLUMN_TYPES:
        raise table.error("type", f"{kind!r} is not a valid type", allowed=", ".join(COLUMN_TYPES))
    low, high = _bound(table, "minimum", kind), _bound(table, "maximum", kind)
    if low is not None and high is not None and low > high:
        raise table.error("minimum", f"{low} is above the maximum {high}")
    unit, title = table.get("unit", str, ""), table.get("title", str, "")
    return Column(name, kind, unit, low, high, _choices(table, kind), title)


def _bound(table: Table, key: str, kind: str) -> float | None:
    bound: object = table.content.get(key)
    if bound is None:
        return None
    if kind not in ("whole", "number"):
        raise table.error(key, f"a {kind} has no bounds")
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        raise table.error(key, f"{bound!r} is not a number")
    return bound


def _choices(table: Table, kind: str) -> tuple[str, ...]:
    choices = table.content.get("choices", [])
    are_texts = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
    if not are_texts or bool(choices) != (kind in ("choice", "choices")):
        message = "a choice, and nothing else, has a list of choices"
        raise table.error("choices", message, allowed='choices = ["one", "another"]')
    return tuple(choices)
