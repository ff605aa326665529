"""Columns of several tables: of measures with their intervals, and with the names of groups.

What takes a value from a record is a function, or the path to an attribute (``group.by``); without
one it is the attribute that the column is named after.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Protocol

from tabwb.plugin_api.extensions import Statistic
from tabwb.records.columns import P_VALUE, Column, column_of
from tabwb.records.declared_conditions import ColumnType
from tabwb.tables.table import RecordColumn

LIKE, THESE = "prompts like these", "these prompts"
ENDS = (("low", "lower"), ("high", "upper"))
Taken = Callable[[Any], Any] | str
"""Takes the value of a column from a record."""


def group_columns(row: Taken = "row") -> tuple[RecordColumn, ...]:
    """Return the columns that say of which group a record is."""
    group = _taken(row)
    return (
        text("group", "Group", "the name of the group", lambda given: group(given).label),
        shared("battery", lambda given: group(given).battery.id),
        shared("battery_version", lambda given: group(given).battery.version),
    )


def shared(name: str, value: Taken = "") -> RecordColumn:
    """Return a column that files have too; an empty text is a missing value."""
    column = column_of(name)
    return RecordColumn(column, _taken(value or name, or_none=column.type == "text"))


class MakeColumn(Protocol):
    """Makes a column."""

    def __call__(self, name: str, title: str, meaning: str, value: Taken = "") -> RecordColumn:
        """Return a column with this name, this title above it, and what it holds."""


def _of_type(
    kind: ColumnType, unit: str = "", digits: int | None = None, *, or_none: bool = False
) -> MakeColumn:
    def make(name: str, title: str, meaning: str, value: Taken = "") -> RecordColumn:
        column = Column(name, title, meaning, kind, unit, digits)
        return RecordColumn(column, _taken(value or name, or_none=or_none))

    return make


text = _of_type("text", or_none=True)
"""An empty text is a missing value, as an empty list of :data:`texts` is."""
texts = _of_type("list of text", or_none=True)
whole = _of_type("integer")
truth = _of_type("boolean")
p_value = _of_type("number", P_VALUE, 3)


def measured(measure: Statistic, value: Taken = "") -> RecordColumn:
    """Return the column of a measure."""
    return RecordColumn(measure.column, _taken(value or measure.id))


def number(
    name: str,
    title: str,
    meaning: str,
    value: Taken = "",
    *,
    unit: str = "",
    digits: int | None = 2,
) -> RecordColumn:
    """Return a column of numbers."""
    return RecordColumn(Column(name, title, meaning, "number", unit, digits), _taken(value or name))


def ends(prefix: str, of: str, interval: Taken) -> tuple[RecordColumn, ...]:
    """Return the two columns of an interval: ``prefix`` with ``low`` and ``high``."""
    return tuple(
        number(
            f"{prefix}{name}",
            f"{name.title()}, these" if prefix.endswith("these_") else name.title(),
            f"{words} end of the 95 % interval, {of}",
            _end(interval, name),
        )
        for name, words in ENDS
    )


def with_interval(
    column: Column, value: Taken, interval: Taken, why: Taken | None = None
) -> tuple[RecordColumn, ...]:
    """Return the column of an estimate, and the two of its interval, ``x_low`` and ``x_high``.

    With ``why`` there is a column ``x_why`` too: the reason where an estimate has no interval.
    """
    name = column.name
    made = [
        RecordColumn(column, _taken(value)),
        *(
            number(
                f"{name}_{which}",
                which.capitalize(),
                f"{words} end of the 95 % interval for {LIKE} of {name}",
                _end(interval, which),
                unit=column.unit,
            )
            for which, words in ENDS
        ),
    ]
    if why is not None:
        made.append(text(f"{name}_why", "No interval", f"why {name} has no interval", why))
    return tuple(made)


def _taken(value: Taken, *, or_none: bool = False) -> Callable[[Any], Any]:
    take = attrgetter(value) if isinstance(value, str) else value
    return (lambda given: take(given) or None) if or_none else take


def _end(interval: Taken, which: str) -> Callable[[Any], float | None]:
    take = _taken(interval)

    def value(given: Any) -> float | None:
        found = take(given)
        return None if found is None else float(getattr(found, which))

    return value
