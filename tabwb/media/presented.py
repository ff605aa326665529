"""Tables as people read them: cells as texts, a value and its interval in one cell.

Every format (Markdown, LaTeX, HTML) writes these cells, so that all of them show the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tabwb.report.tables.captioned import FEW, HIGH, LOW, WHY, Captioned
from tabwb.tables.table import MISSING, Column, Table

MARK = "†"
MOST_NAMED = 5
"""Groups that a note names before it counts the others."""


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
        (
            *_without_interval(series, names, headings, rows),
            *(note.text for note in captioned.notes),
        ),
        captioned.label or table.name,
    )


def _without_interval(
    series: Mapping[str, Sequence[object]],
    names: Sequence[str],
    headings: Sequence[Heading],
    rows: Sequence[Sequence[Cell]],
) -> Iterator[str]:
    """Yield why values have no interval: each reason once, with the columns and rows it is of."""
    found: dict[str, dict[str, list[str]]] = {}
    for at, name in enumerate(names):
        if name + WHY not in series:
            continue
        for place, reason in enumerate(series[name + WHY]):
            cell = rows[place][at]
            if reason and cell.text != MISSING and not cell.interval:
                of = found.setdefault(str(reason), {}).setdefault(headings[at].title, [])
                of.append(rows[place][0].text)
    for reason, columns in found.items():
        alike: dict[tuple[str, ...], list[str]] = {}
        for title, whose in columns.items():
            alike.setdefault(tuple(whose), []).append(title)
        told = (
            f"{', '.join(titles)}{'' if len(whose) == len(rows) else f' of {_named(whose)}'}"
            for whose, titles in alike.items()
        )
        yield f"No interval ({reason}): {'; '.join(told)}."


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


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
