"""Columns that several tables have, and columns of measures with their intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tabwb.report.measures import Measure
from tabwb.report.summaries.groups import Grouped
from tabwb.scoring.estimate import Interval
from tabwb.tables.table import P_VALUE, Column, column_of

Declared = tuple[Column, Callable[[Any], Any]]
"""A column with the function that takes its value from a record."""

LIKE, THESE = "prompts like these", "these prompts"
ENDS = (("low", "lower"), ("high", "upper"))


def group_columns(row: Callable[[Any], Grouped]) -> tuple[Declared, ...]:
    """Return the columns that say of which group a record is.

    Args:
        row: returns the group of a record.
    """
    return (
        (Column("group", "Group", "the name of the group"), lambda given: row(given).label),
        (column_of("battery"), lambda given: row(given).battery.id),
        (column_of("battery_version"), lambda given: row(given).battery.version),
    )


def text(name: str, title: str, meaning: str, value: Callable[[Any], Any]) -> Declared:
    """Return a column of text; an empty text is a missing value.

    Args:
        name: of the column.
        title: above it.
        meaning: for the data dictionary.
        value: from a record.
    """
    return Column(name, title, meaning), lambda given: value(given) or None


def whole(name: str, title: str, meaning: str, value: Callable[[Any], Any]) -> Declared:
    """Return a column of whole numbers.

    Args:
        name: of the column.
        title: above it.
        meaning: for the data dictionary.
        value: from a record.
    """
    return Column(name, title, meaning, "integer"), value


def measured(measure: Measure, value: Callable[[Any], float | None], name: str = "") -> Declared:
    """Return the column of a measure.

    Args:
        measure: its declaration.
        value: from a record.
        name: of the column; the measure's id by default.
    """
    column = Column(
        name or measure.id,
        measure.title[:1].upper() + measure.title[1:],
        measure.meaning,
        "number",
        measure.unit,
        measure.digits,
        measure.percent,
    )
    return column, value


def number(
    name: str,
    title: str,
    meaning: str,
    value: Callable[[Any], float | None],
    *,
    unit: str = "",
    digits: int = 2,
) -> Declared:
    """Return a column of numbers.

    Args:
        name: of the column.
        title: above it.
        meaning: for the data dictionary.
        value: from a record.
        unit: of the numbers.
        digits: that people are shown.
    """
    return Column(name, title, meaning, "number", unit, digits), value


def p_value(name: str, title: str, meaning: str, value: Callable[[Any], float | None]) -> Declared:
    """Return a column of p values.

    Args:
        name: of the column.
        title: above it.
        meaning: for the data dictionary.
        value: from a record.
    """
    return Column(name, title, meaning, "number", P_VALUE, 3), value


def ends(
    prefix: str, of: str, interval: Callable[[Any], Interval | None], digits: int = 2
) -> tuple[Declared, ...]:
    """Return the two columns of an interval.

    Args:
        prefix: of their names, which end in ``low`` and ``high``.
        of: what the interval is for.
        interval: from a record; None without one.
        digits: that people are shown.
    """
    return tuple(
        number(
            f"{prefix}{name}",
            f"{name.title()}, these" if prefix.endswith("these_") else name.title(),
            f"{words} end of the 95 % interval, {of}",
            _end(interval, name),
            digits=digits,
        )
        for name, words in ENDS
    )


def with_interval(
    column: Column,
    value: Callable[[Any], float | None],
    interval: Callable[[Any], Interval | None],
    of: str = f"95 % interval for {LIKE}",
) -> tuple[Declared, ...]:
    """Return the column of an estimate, and the two of its interval, ``x_low`` and ``x_high``.

    Args:
        column: of the estimate.
        value: from a record.
        interval: from a record; None without one.
        of: which interval it is.
    """
    name = column.name
    return (
        (column, value),
        *(
            number(
                f"{name}_{which}",
                which.capitalize(),
                f"{words} end of the {of} of {name}",
                _end(interval, which),
                unit=column.unit,
            )
            for which, words in ENDS
        ),
    )


def _end(interval: Callable[[Any], Interval | None], which: str) -> Callable[[Any], float | None]:
    def value(given: Any) -> float | None:
        found = interval(given)
        return None if found is None else float(getattr(found, which))

    return value
