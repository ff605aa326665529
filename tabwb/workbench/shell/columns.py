"""Columns of lists: their one declaration, and lists that leave out what is needed least."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from textual.content import Content
from textual.style import Style

from tabwb.workbench.shell.shortening import shortened_apart
from tabwb.workbench.shell.wording import QUIET

R = TypeVar("R")

GAP = 2
"""Columns of characters between two columns."""


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """One column of a list, for rows of one class.

    Attributes:
        head: its head.
        cell: returns what a row has in it.
        width: columns of characters; 0: as many as the cells need or the other columns leave.
        right: cells and head are aligned to the right, as numbers are.
        rank: columns with the highest rank are left out first; 0: never left out.
        least: the width to which names may be cut, so that nothing else is left out; 0: never cut.
        tip: what the column means, shown under the mouse.
        key: returns by what rows are sorted; None: by the cell.
        falling: rows are sorted from high to low at first.
    """

    head: str
    cell: Callable[[R], Content | str]
    width: int = 0
    right: bool = False
    rank: int = 0
    least: int = 0
    tip: str = ""
    key: Callable[[R], Any] | None = None
    falling: bool = False

    def sort_key(self, row: R) -> Any:
        """Return by what a row is sorted."""
        return (self.key or self.cell)(row)


@dataclass(frozen=True, slots=True)
class _Filled:
    """A column with its cells.

    Attributes:
        most: the width of the widest cell.
        least: the width to which the cells may be cut.
    """

    column: Column[Any]
    cells: Sequence[Content]
    most: int
    least: int


def in_columns(
    columns: Sequence[Column[R]], rows: Sequence[R], width: int
) -> tuple[Content, list[Content]]:
    """Return the head and the rows of a list, in at most ``width`` columns of characters.

    >>> name, n = Column("name", lambda row: row[0], least=4), Column(
    ...     "n", lambda row: row[1], right=True, rank=1)
    >>> rows = [("bundled", "15"), ("echo", "3")]
    >>> [line.plain for line in in_columns([name, n], rows, 12)[1]]
    ['bundled  15', 'echo      3']
    >>> [line.plain for line in in_columns([name, n], rows, 8)[1]]
    ['bu…d  15', 'echo   3']
    >>> [line.plain for line in in_columns([name, n], rows, 7)[1]]
    ['bundled', 'echo']
    """
    chosen = [one for column in columns if (one := _filled(column, rows)) is not None]
    while len(chosen) > 1 and _needed(chosen) > width:
        last = max(chosen, key=lambda one: one.column.rank)
        if not last.column.rank:
            break
        chosen.remove(last)
    spare = width - _needed(chosen)
    widths = []
    for one in chosen:
        widths.append(one.least + min(one.most - one.least, max(spare, 0)))
        spare -= widths[-1] - one.least
    shown = [one.column for one in chosen]
    heads = [Content.styled(column.head, QUIET) for column in shown]
    cells = [_cut(one, own) for one, own in zip(chosen, widths, strict=True)]
    laid = zip(*cells, strict=True) if cells else ()
    return line(shown, widths, heads), [line(shown, widths, row) for row in laid]


def line(
    columns: Sequence[Column[Any]], widths: Sequence[int], cells: Sequence[Content | str]
) -> Content:
    """Return one line of a list, each cell in the width of its column."""
    parts: list[Content | str] = []
    for column, width, cell in zip(columns, widths, cells, strict=True):
        content = _content(cell).truncate(width, ellipsis=True)
        blank = " " * (width - content.cell_length)
        parts += [blank, content] if column.right else [content, blank]
        parts.append(" " * GAP)
    return Content.assemble(*parts).rstrip()


def _filled(column: Column[R], rows: Sequence[R]) -> _Filled | None:
    cells = [_content(column.cell(row)) for row in rows]
    if not any(cell.plain for cell in cells):
        return None
    most = column.width or max(len(column.head), *(cell.cell_length for cell in cells))
    return _Filled(column, cells, most, min(column.least, most) or most)


def _needed(columns: Sequence[_Filled]) -> int:
    return sum(one.least for one in columns) + GAP * (len(columns) - 1)


def _cut(column: _Filled, width: int) -> Sequence[Content]:
    if column.most <= width:
        return column.cells
    short = shortened_apart([cell.plain for cell in column.cells], width)
    return [
        cell if cell.cell_length <= width else Content.styled(words, _style(cell))
        for cell, words in zip(column.cells, short, strict=True)
    ]


def _style(cell: Content) -> Style | str:
    return cell.spans[0].style if cell.spans else ""


def _content(cell: Content | str) -> Content:
    if not isinstance(cell, str):
        return cell
    return Content(cell if cell.isprintable() else " ".join(cell.split()))  # one line each
