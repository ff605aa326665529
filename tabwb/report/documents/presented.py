"""Tables as people read them: cells as texts, a value and its interval in one cell.

Every format (Markdown, LaTeX, HTML) writes these cells, so that all of them show the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean
from tabwb.report.tables.compact import Footnote
from tabwb.tables.table import MISSING, Column, Table

LOW, HIGH = "_low", "_high"
"""End the names of the columns with the interval of the column whose name they begin with."""
FEW = "_few"
"""Ends the name of a truth value that marks the value of that column."""
MARK = "†"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        text: the value; a dash where there is none.
        interval: its interval, without brackets; empty where there is none.
        mark: a sign after the value, explained in a note.
    """

    text: str
    interval: str = ""
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.text}{self.mark}" + (f" [{self.interval}]" if self.interval else "")


@dataclass(frozen=True, slots=True)
class Heading:
    """A column as it is shown.

    Attributes:
        numeric: its cells are set to the right.
        interval: its cells have 95 % intervals.
    """

    column: Column
    title: str
    numeric: bool
    interval: bool


@dataclass(frozen=True, slots=True)
class Presented:
    """A table as texts.

    Attributes:
        name: of the table.
        caption: a sentence above it.
        headings: of its columns.
        rows: one cell for each heading.
        notes: sentences below it.
    """

    name: str
    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Captioned:
    """A table with the sentence above it and the sentences below it.

    Attributes:
        table: ``x_low`` and ``x_high`` are the ends of the interval of column ``x``, ``x_few`` says
            that its value is to be marked.
        titles: column name to a title that stands in place of the declared one.
    """

    table: Table
    caption: str
    notes: tuple[Footnote, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are shown; ends of intervals and marks belong to others."""
        names = set(self.table.names)
        return tuple(
            name
            for name in self.table.names
            if not any(
                name.endswith(end) and name.removesuffix(end) in names for end in (LOW, HIGH, FEW)
            )
        )

    def select(self, names: Sequence[str]) -> Captioned:
        """Return the table with some columns, each with its interval and mark.

        Raises:
            UsageError: there is no such column; the message lists those that there are.
        """
        known = self.columns
        wanted: list[str] = []
        for name in names:
            column = name.replace("-", "_")
            if column not in known:
                raise UsageError(
                    f"there is no column '{name}'{did_you_mean(column, known)}",
                    where="--columns",
                    allowed=", ".join(known),
                )
            wanted += [
                each
                for end in ("", LOW, HIGH, FEW)
                if (each := column + end) in self.table.names and each not in wanted
            ]
        notes = (note for note in self.notes if not note.columns or {*note.columns} & {*wanted})
        return replace(self, table=self.table.select(wanted), notes=tuple(notes))


def presented(captioned: Captioned) -> Presented:
    """Return a table as people read it."""
    table = captioned.table
    names = captioned.columns
    series = {name: table[name].to_list() for name in table.names}
    headings = tuple(_heading(captioned, name) for name in names)
    rows = tuple(
        tuple(_cell(table, series, name, place) for name in names) for place in range(len(table))
    )
    return Presented(
        table.name, captioned.caption, headings, rows, tuple(note.text for note in captioned.notes)
    )


def _heading(captioned: Captioned, name: str) -> Heading:
    column = captioned.table.column(name)
    title = captioned.titles.get(name, column.title)
    numeric = column.type in ("number", "integer")
    return Heading(column, title, numeric, name + LOW in captioned.table.names)


def _cell(table: Table, series: Mapping[str, Sequence[object]], name: str, place: int) -> Cell:
    column = table.column(name)
    value = series[name][place]
    low, high = (series[name + end][place] if name + end in series else None for end in (LOW, HIGH))
    interval = ""
    if value is not None and low is not None and high is not None:
        interval = f"{column.format(low)}, {column.format(high)}"
    marked = value is not None and name + FEW in series and bool(series[name + FEW][place])
    text = MISSING if value is None or value == "" else column.format(value)
    return Cell(text, interval, MARK if marked else "")
