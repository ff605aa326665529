"""Rows of a list in columns that suit the width: what is needed least is left out first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.style import Style

from tabwb.workbench.shell.shortening import shortened_apart
from tabwb.workbench.shell.wording import QUIET

GAP = 2
"""Columns of characters between two columns."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """One column of a list.

    Attributes:
        head: its head.
        cells: one for each row.
        right: cells and head are aligned to the right.
        rank: columns with the highest rank are left out first; 0: never left out.
        least: the width to which names may be cut, so that nothing else is left out; 0: never cut.
    """

    head: str
    cells: Sequence[Content | str]
    right: bool = False
    rank: int = 0
    least: int = 0

    @property
    def width(self) -> int:
        """The width of the widest cell."""
        return max([len(self.head), *(_content(cell).cell_length for cell in self.cells)])


def in_columns(columns: Sequence[TextColumn], width: int) -> tuple[Content, list[Content]]:
    """Return the head and the rows of a list, in at most ``width`` columns of characters.

    Args:
        columns: all have the same number of cells; columns without any text are left out.
        width: columns of characters.

    >>> name = TextColumn("name", ["bundled", "echo"], least=4)
    >>> n = TextColumn("n", ["15", "3"], right=True, rank=1)
    >>> [line.plain for line in in_columns([name, n], 12)[1]]
    ['bundled  15', 'echo      3']
    >>> [line.plain for line in in_columns([name, n], 8)[1]]
    ['bu…d  15', 'echo   3']
    >>> [line.plain for line in in_columns([name, n], 7)[1]]
    ['bundled', 'echo']
    """
    chosen = [one for one in columns if any(_content(cell).plain for cell in one.cells)]
    while len(chosen) > 1 and _needed(chosen) > width:
        last = max(chosen, key=lambda one: one.rank)
        if not last.rank:
            break
        chosen.remove(last)
    spare = width - _needed(chosen)
    widths = []
    for one in chosen:
        least = min(one.least, one.width) or one.width
        widths.append(least + min(one.width - least, max(spare, 0)))
        spare -= widths[-1] - least
    heads = [Content.styled(one.head, QUIET) for one in chosen]
    laid = [_cut(one, own) for one, own in zip(chosen, widths, strict=True)]
    rows = zip(*laid, strict=True) if laid else ()
    return _line(chosen, widths, heads), [_line(chosen, widths, row) for row in rows]


def _needed(columns: Sequence[TextColumn]) -> int:
    least = (min(one.least, one.width) or one.width for one in columns)
    return sum(least) + GAP * (len(columns) - 1)


def _cut(column: TextColumn, width: int) -> list[Content]:
    cells = [_content(cell) for cell in column.cells]
    if column.width <= width:
        return cells
    short = shortened_apart([cell.plain for cell in cells], width)
    return [
        cell if cell.cell_length <= width else Content.styled(words, _style(cell))
        for cell, words in zip(cells, short, strict=True)
    ]


def _style(cell: Content) -> Style | str:
    return cell.spans[0].style if cell.spans else ""


def _line(
    columns: Sequence[TextColumn], widths: Sequence[int], cells: Sequence[Content]
) -> Content:
    parts: list[Content | str] = []
    for column, width, cell in zip(columns, widths, cells, strict=True):
        blank = " " * max(width - cell.cell_length, 0)
        parts += [blank, cell] if column.right else [cell, blank]
        parts.append(" " * GAP)
    return Content.assemble(*parts).rstrip()


def _content(cell: Content | str) -> Content:
    if not isinstance(cell, str):
        return cell
    return Content(cell if cell.isprintable() else " ".join(cell.split()))  # one line each
