"""Columns of several tables: of measures with their intervals, and with the names of groups.

What takes a value from a record is a function, or the path to an attribute (``group.by``); without
one it is the attribute that the column is named after.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Protocol

from tabwb.analysis.grouping import Grouped, Rename
from tabwb.records.columns import P_VALUE, Column, column_of
from tabwb.records.declared_conditions import ColumnType
from tabwb.report.measures import Measure
from tabwb.report.summaries.judges import Terms
from tabwb.scoring.burden import Burden
from tabwb.tables.table import RecordColumn, Table, table_of

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


def measured(measure: Measure, value: Taken = "") -> RecordColumn:
    """Return the column of a measure."""
    title = measure.title[:1].upper() + measure.title[1:]
    column = Column(
        measure.id, title, measure.meaning, "number", measure.unit, measure.digits, measure.percent
    )
    return RecordColumn(column, _taken(value or measure.id))


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


def ends(prefix: str, of: str, interval: Taken, digits: int = 2) -> tuple[RecordColumn, ...]:
    """Return the two columns of an interval: ``prefix`` with ``low`` and ``high``."""
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


def of_judge(terms: Terms) -> Callable[[Callable[[Burden], Any] | str], Callable[[Grouped], Any]]:
    """Return what makes of a function of a burden one of a group; None where it was not judged."""

    def taken(value: Callable[[Burden], Any] | str) -> Callable[[Grouped], Any]:
        own = _taken(value)
        return lambda row: None if (judge := row.judge(terms)) is None else own(judge.burden)

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


def _taken(value: Taken, *, or_none: bool = False) -> Callable[[Any], Any]:
    take = attrgetter(value) if isinstance(value, str) else value
    return (lambda given: take(given) or None) if or_none else take


def _end(interval: Taken, which: str) -> Callable[[Any], float | None]:
    take = _taken(interval)

    def value(given: Any) -> float | None:
        found = take(given)
        return None if found is None else float(getattr(found, which))

    return value


@dataclass(frozen=True, slots=True)
class GroupNames:
    """Names groups.

    Attributes:
        rename: how a name is printed.
    """

    rename: Rename = lambda text, row: text

    def title(self, row: Grouped) -> str:
        """Return the whole name of a group, for sentences."""
        return self.rename(row.group.title, row)

    def columns(self, rows: Sequence[Grouped]) -> tuple[Column, ...]:
        """Return the columns that name groups; all are grouped by the same keys."""
        values = rows[0].group.values
        if len(values) < 2:
            by = rows[0].group.by
            title = values[0].title if values else by.replace("-", " ")
            return (Column("group", title.capitalize(), "the name of the group"),)
        return tuple(
            Column(snake(one.key), one.title.capitalize(), f"{one.title} of the group")
            for one in values
        )

    def cells(self, row: Grouped) -> tuple[str, ...]:
        """Return the names of a group, one for each of :meth:`columns`.

        Conditions that tell it from other groups of the same name are in the first.
        """
        group = row.group
        if len(group.values) < 2:
            return (self.title(row),)
        first, *others = (self.rename(one.cell, row) for one in group.values)
        return (f"{first} ({group.conditions})" if group.apart else first, *others)


def group_table(
    name: str, rows: Sequence[Grouped], names: GroupNames, columns: Sequence[RecordColumn]
) -> Table:
    """Return a table with one row for each group: its names, then what columns take from it."""
    return table_of(
        snake(name),
        [*names.columns(rows), *(one.column for one in columns)],
        [[*names.cells(row), *(one.value(row) for one in columns)] for row in rows],
    )


def column_names(ids: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Return a name for the column of each id, and for those of its interval, used only once.

    >>> column_names(["n", "wc-1", "wc_1"], ["group", "n"])
    {'n': 'own_n', 'wc-1': 'wc_1', 'wc_1': 'own_wc_1'}
    """
    found: dict[str, str] = {}
    used = set(taken)
    for one in dict.fromkeys(ids):
        name = snake(one) or "own"
        while used & (names := {name, f"{name}_low", f"{name}_high", f"{name}_why"}):
            name = f"own_{name}"
        used |= names
        found[one] = name
    return found


def snake(text: str) -> str:
    """Return a text as the name of a column.

    >>> snake("Word comprehension (exact)")
    'word_comprehension_exact'
    """
    return re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")
