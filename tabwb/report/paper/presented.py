"""Tables as people read them: cells as texts, a value and its interval in one cell.

Every format (Markdown, LaTeX, HTML) writes these cells, so that all of them show the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabwb.report.tables.captioned import FEW, HIGH, LOW, Captioned
from tabwb.tables.table import MISSING, Column, Table

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
        label: by which a document refers to it.
    """

    name: str
    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    label: str = ""


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
        table.name,
        captioned.caption,
        headings,
        rows,
        tuple(note.text for note in captioned.notes),
        captioned.label or table.name,
    )


def _heading(captioned: Captioned, name: str) -> Heading:
    column = captioned.table.column(name)
    numeric = column.type in ("number", "integer")
    return Heading(column, column.title, numeric, name + LOW in captioned.table.names)


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
