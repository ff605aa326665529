"""Tables for people: with the sentences above and below them, and each reason once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile
from typing import NamedTuple

import numpy as np

from tabwb.records.columns import Column
from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean, plural
from tabwb.tables.table import Table, series_of

LOW, HIGH = "_low", "_high"
"""End the names of the columns with the interval of the column whose name they begin with."""
FEW = "_few"
"""Ends the name of a truth value that marks the value of that column."""

WHY = "_why"
"""Ends the name of the reasons why values of that column have no interval."""
MARK = "†"
"""Marks the value of a column whose :data:`FEW` is true."""
MOST_NAMED = 5
"""Groups that a note names before it counts the others."""

ALSO = {"subtest": "part"}
"""Other names by which people ask for columns."""


def column_named(name: str, known: Sequence[str]) -> str:
    """Return the column that a person names; hyphens stand for underscores."""
    column = name.replace("-", "_")
    if column not in known and ALSO.get(column) in known:
        return ALSO[column]
    if column not in known:
        raise UsageError(
            f"there is no column '{name}'{did_you_mean(column, known)}",
            where="--columns",
            allowed=", ".join(known),
        )
    return column


class Footnote(NamedTuple):
    """A sentence below a table; it belongs to columns, or to all where it names none."""

    text: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Captioned:
    """A table with the sentence above it and the sentences below it.

    Attributes:
        table: ``x_low`` and ``x_high`` are the ends of the interval of column ``x``, ``x_few`` says
            that its value is to be marked, ``x_why`` why it has no interval.
        label: by which a document refers to it; empty: the name of the table.
        also: other names of columns, each with those that it stands for.
        caption_of: returns the caption where only these columns are shown; None: the same.
    """

    table: Table
    caption: str
    notes: tuple[Footnote, ...] = ()
    label: str = ""
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    caption_of: Callable[[Collection[str]], str] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are shown; ends of intervals and marks belong to others."""
        names = set(self.table.names)
        return tuple(
            name
            for name in self.table.names
            if not any(
                name.endswith(end) and name.removesuffix(end) in names
                for end in (LOW, HIGH, FEW, WHY)
            )
        )

    @property
    def all_notes(self) -> list[str]:
        """The sentences below the table: why values have no interval, each reason once, first."""
        return [*self._without_interval(), *(note.text for note in self.notes)]

    def _without_interval(self) -> Iterator[str]:
        table, found = self.table, dict[str, dict[tuple[str, ...], list[str]]]()
        heads = [*takewhile(lambda name: table.column(name).type == "text", table.names)]
        named = [*zip(*(table[one].to_list() for one in heads or table.names[:1]), strict=True)]
        whose = [str(first) for first, *_ in named]
        if len({*whose}) < len(whose):  # several columns name a row
            whose = [" · ".join(map(str, filter(None, own))) for own in named]
        for name in self.columns:
            if name + WHY not in table.names:
                continue
            of: dict[str, list[str]] = {}
            given = (table[one].to_list() for one in (name + WHY, name, name + LOW))
            for row, reason, value, low in zip(whose, *given, strict=True):
                if reason and value is not None and low is None:
                    of.setdefault(reason, []).append(row)
            for reason, rows in of.items():
                found.setdefault(reason, {}).setdefault(tuple(rows), []).append(
                    table.column(name).title
                )
        for reason, columns in found.items():
            told = (
                f"{', '.join(titles)}{'' if len(rows) == len(whose) else f' of {few_of(rows)}'}"
                for rows, titles in columns.items()
            )
            yield f"No interval ({reason}): {'; '.join(told)}."

    def select(self, names: Sequence[str]) -> Captioned:
        """Return the table with some columns, each with its interval and mark."""
        known = self.columns
        wanted: list[str] = []
        meant = (self.also.get(name.replace("-", "_"), (name,)) for name in names)
        for name in chain.from_iterable(meant):
            column = column_named(name, known)
            wanted += [
                each
                for end in ("", LOW, HIGH, FEW, WHY)
                if (each := column + end) in self.table.names and each not in wanted
            ]
        notes = (note for note in self.notes if not note.columns or {*note.columns} & {*wanted})
        caption = self.caption_of(wanted) if self.caption_of else self.caption
        table = self.table.select(wanted)
        return replace(self, table=table, caption=caption, notes=tuple(notes))


def few_of(names: Sequence[str], between: str = ", ") -> str:
    """Return the first of some names, and how many more there are."""
    more = len(names) - MOST_NAMED
    return between.join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


NOTED = ("doses", "map")
"""Tables whose many reasons become numbered notes; data formats keep the column of reasons."""
REASON = "reason"
_AT = re.compile(r"^at ([^:]+): | at ([\d.e+-]+(?:, [\d.e+-]+)*)(?=,|$)")
"""The amounts at which a reason holds: ``at 0.1, 0.2: REASON``, or at its end or before a comma."""


def noted(table: Table) -> Table:
    """Return a table with numbers of notes in place of reasons, and each reason once in its notes.

    Rows without any value, such as those of features that a judge cannot tell, are left out and
    counted. Tables that are not among :data:`NOTED` are returned as they are.
    """
    if table.name not in NOTED or REASON not in table.names:
        return table
    empty = _without_values(table)
    shown = table.take(~empty)
    found: dict[str, int] = {}
    cells = [", ".join(_numbered(reason or "", found)) for reason in shown[REASON].to_list()]
    column = Column("notes", "Notes", "numbers of notes, with the amounts at which they hold")
    columns = [column if one.name == REASON else one for one in shown.columns]
    series = {name: shown[name] for name in shown.names}
    series[column.name] = series_of([cell or None for cell in cells], "text")
    notes = [f"{number}: {reason}" for reason, number in found.items()]
    if empty.any():
        lost = (reason or "no value" for reason in table.take(empty)[REASON].to_list())
        reasons = dict.fromkeys(_AT.sub("", part) for one in lost for part in one.split("; "))
        left = f"{plural(int(empty.sum()), 'row')} of {len(table)} without any value"
        notes.append(f"Left out: {left} ({'; '.join(reasons)}); --format csv and --json have them.")
    return Table(table.name, columns, series, (*notes, *table.notes))


def _without_values(table: Table) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return True for each row without a value; that of the intact model counts in its own row."""
    empty = np.ones(len(table), np.bool_)
    rows = table["row"].to_list() if "row" in table.names else [""] * len(table)
    is_intact = np.array([row == "intact" for row in rows], np.bool_)
    for column in table.columns:
        if column.type == "number":
            missing = table[column.name].is_missing
            empty &= (missing | ~is_intact) if column.name == "intact" else missing
    return empty


def _numbered(reason: str, found: dict[str, int]) -> Iterator[str]:
    """Yield the numbers of the reasons of a row, with amounts.

    >>> found = {}
    >>> list(_numbered("few usable at 0.3, 0.4, in no mean; at 0.3: fewer than 5 seeds", found))
    ['1 (0.3, 0.4)', '2 (0.3)']
    >>> list(found)
    ['few usable, in no mean', 'fewer than 5 seeds']
    """
    for part in filter(None, reason.split("; ")):
        match = _AT.search(part)
        number = found.setdefault(_AT.sub("", part), len(found) + 1)
        yield f"{number} ({match[1] or match[2]})" if match else f"{number}"
