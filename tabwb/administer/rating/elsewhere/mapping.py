"""A mapping file: what the columns, raters, measures and values of another program are here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabwb.battery.loader import read_tables, read_text
from tabwb.battery.problems import Problem, locate, located
from tabwb.plugin_api.components import AnswerProblems
from tabwb.records.classes import dataclass, field
from tabwb.records.problems import Broken, shortened
from tabwb.records.words import near

COLUMNS = (
    *("response", "rater", "measure", "value", "text", "prompt", "speaker", "model", "source"),
    *("group", "note", "seconds", "confidence", "occasion", "looked_at"),
)
"""Keys that name a column of a table, or a key of a task's data."""
TABLES = ("raters", "measures", "values")
ALSO = {"id": "response", "participant": "speaker"}
"""Other usual names of columns, used where the column itself is not there."""


@dataclass(frozen=True, slots=True)
class FileMapping:
    """What the user says of a file.

    Attributes:
        columns: one of :data:`COLUMNS` to its name in the file.
        raters: name in the file to code; an empty code leaves the rater out.
        measures: measure of the form to its column, its control or its name in the file.
        values: by measure (empty: of all measures) value in the file to value here.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    raters: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def value(self, measure: str, value: str) -> str:
        """Return a value as it is here."""
        own = self.values.get(measure, {})
        return own.get(value.strip(), self.values.get("", {}).get(value.strip(), value))


def read_mapping(path: Path | None) -> FileMapping:
    """Return what a mapping file (TOML) says; nothing without a file."""
    if path is None:
        return FileMapping()
    text = read_text(path, 'keys such as response = "record_id"')
    tables = text if isinstance(text, Problem) else read_tables(path, text)
    if isinstance(tables, Problem):
        raise AnswerProblems([tables])
    assert isinstance(text, str)
    broken: list[Broken] = []
    columns = {}
    for key, value in tables.items():
        if key in TABLES:
            continue
        if key not in COLUMNS:
            allowed = (*COLUMNS, *TABLES)
            suggestion = near(key, allowed)
            broken.append(
                Broken((key,), "there is no such key", "", ", ".join(allowed), suggestion)
            )
        elif not isinstance(value, str) or not value:
            broken.append(Broken((key,), "this is not the name of a column", shortened(value)))
        else:
            columns[key] = value
    measures, values = _measures(_table(tables, "measures", broken), broken)
    values[""] = _texts(_table(tables, "values", broken), ("values",), broken)
    raters = _texts(_table(tables, "raters", broken), ("raters",), broken)
    if broken:
        raise AnswerProblems(located(str(path), locate(text), broken))
    return FileMapping(columns, raters, measures, values)


def _table(
    tables: Mapping[str, Any], name: str, broken: list[Broken], above: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    table = tables.get(name, {})
    if isinstance(table, dict):
        return table
    where = (*above, name)
    broken.append(Broken(where, "this is not a table", shortened(table), f"[{'.'.join(where)}]"))
    return {}


def _texts(table: Mapping[str, Any], path: tuple[str, ...], broken: list[Broken]) -> dict[str, str]:
    for key, value in table.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            broken.append(Broken((*path, key), "this is not a text", shortened(value), "text"))
    return {str(key): str(value) for key, value in table.items()}


def _measures(
    table: Mapping[str, Any], broken: list[Broken]
) -> tuple[dict[str, str], dict[str, Mapping[str, str]]]:
    columns: dict[str, str] = {}
    values: dict[str, Mapping[str, str]] = {}
    for measure, given in table.items():
        path = ("measures", measure)
        if isinstance(given, str):
            columns[measure] = given
        elif isinstance(given, dict) and isinstance(given.get("column"), str):
            columns[measure] = given["column"]
            named = _table(given, "values", broken, path)
            values[measure] = _texts(named, (*path, "values"), broken)
        else:
            allowed = 'a column, or { column = "...", values = { ... } }'
            broken.append(Broken(path, "this names no column", shortened(given), allowed))
    return columns, values
