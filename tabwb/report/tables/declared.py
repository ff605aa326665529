"""Columns that several tables have, and columns of measures with their intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tabwb.records.condition_kinds import ColumnType
from tabwb.report.measures import Measure
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import Terms
from tabwb.scoring.burden import Burden
from tabwb.scoring.estimate import Interval
from tabwb.tables.table import P_VALUE, Column, RecordColumn, column_of

LIKE, THESE = "prompts like these", "these prompts"
ENDS = (("low", "lower"), ("high", "upper"))
Taken = Callable[[Any], Any]
"""Takes the value of a column from a record."""


def group_columns(row: Callable[[Any], Grouped]) -> tuple[RecordColumn, ...]:
    """Return the columns that say of which group a record is."""
    return (
        text("group", "Group", "the name of the group", lambda given: row(given).label),
        shared("battery", lambda given: row(given).battery.id),
        shared("battery_version", lambda given: row(given).battery.version),
    )


def shared(name: str, value: Taken) -> RecordColumn:
    """Return a column that files have too; an empty text is a missing value."""
    column = column_of(name)
    return RecordColumn(column, _not_empty(value) if column.type == "text" else value)


MakeColumn = Callable[[str, str, str, Taken], RecordColumn]
"""Makes a column of its name, its title, its meaning, and the function of a record."""


def _of_type(
    kind: ColumnType, unit: str = "", digits: int | None = None, *, or_empty: bool = False
) -> MakeColumn:
    def make(name: str, title: str, meaning: str, value: Taken) -> RecordColumn:
        column = Column(name, title, meaning, kind, unit, digits)
        return RecordColumn(column, _not_empty(value) if or_empty else value)

    return make


text = _of_type("text", or_empty=True)
"""An empty text is a missing value, as an empty list of :data:`texts` is."""
texts = _of_type("list of text", or_empty=True)
whole = _of_type("integer")
truth = _of_type("boolean")
p_value = _of_type("number", P_VALUE, 3)


def measured(measure: Measure, value: Callable[[Any], float | None]) -> RecordColumn:
    """Return the column of a measure."""
    column = Column(
        measure.id,
        measure.title[:1].upper() + measure.title[1:],
        measure.meaning,
        "number",
        measure.unit,
        measure.digits,
        measure.percent,
    )
    return RecordColumn(column, value)


def number(
    name: str,
    title: str,
    meaning: str,
    value: Callable[[Any], float | None],
    *,
    unit: str = "",
    digits: int | None = 2,
) -> RecordColumn:
    """Return a column of numbers.

    Args:
        name: of the column.
        title: above it.
        meaning: for the data dictionary.
        value: from a record.
        unit: of the numbers.
        digits: that people are shown; None: all.
    """
    return RecordColumn(Column(name, title, meaning, "number", unit, digits), value)


def ends(
    prefix: str, of: str, interval: Callable[[Any], Interval | None], digits: int = 2
) -> tuple[RecordColumn, ...]:
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
    why: Callable[[Any], str | None] | None = None,
) -> tuple[RecordColumn, ...]:
    """Return the column of an estimate, and the two of its interval, ``x_low`` and ``x_high``.

    With ``why`` there is a column ``x_why`` too: the reason where an estimate has no interval.
    """
    name = column.name
    reason = Column(f"{name}_why", "No interval", f"why {name} has no interval")
    return (
        RecordColumn(column, value),
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
        *(() if why is None else (RecordColumn(reason, _not_empty(why)),)),
    )


def of_judge(terms: Terms) -> Callable[[Callable[[Burden], Any]], Callable[[Grouped], Any]]:
    """Return what makes of a function of a burden one of a group; None where it was not judged."""

    def taken(value: Callable[[Burden], Any]) -> Callable[[Grouped], Any]:
        return lambda row: None if (judge := row.judge(terms)) is None else value(judge.burden)

    return taken


def names_right(column: Column, subtest: str, basis: str) -> tuple[RecordColumn, ...]:
    """Return the columns of the share of names that are right, with its interval; of groups."""

    def taken(field: str) -> Callable[[Grouped], Any]:
        def value(row: Grouped) -> Any:
            named = row.named(subtest)
            shares = () if named is None else named.summary.accuracy
            share = next((share for share in shares if share.basis == basis), None)
            return getattr(share, field, None)

        return value

    return with_interval(column, taken("rate"), taken("interval"))


def _not_empty(value: Taken) -> Taken:
    return lambda given: value(given) or None


def _end(interval: Callable[[Any], Interval | None], which: str) -> Callable[[Any], float | None]:
    def value(given: Any) -> float | None:
        found = interval(given)
        return None if found is None else float(getattr(found, which))

    return value
