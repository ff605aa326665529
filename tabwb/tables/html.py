"""Tables as HTML for notebooks, and as text for ``print``."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tabwb.records.columns import Column
    from tabwb.tables.table import Table

SHOWN_ROWS = 30
"""Rows that a notebook shows; of a longer table the first and the last."""
_NUMERIC = ("integer", "number")
SHOWN_CHARACTERS = 80
"""Characters of a text that a notebook shows."""


def html_of(table: Table) -> str:
    """Return the table as an HTML table; of a long one the first and the last rows.

    >>> from tabwb.records.columns import Column
    >>> from tabwb.tables.table import table_of
    >>> print(html_of(table_of("example", [Column("n", "N", "a < b", "integer")], [(3,)])))
    <table><caption>example: 1 row, 1 column</caption>
    <thead><tr><th title="a &lt; b">n</th></tr></thead>
    <tbody>
    <tr><td style="text-align:right">3</td></tr>
    </tbody></table>
    """
    n = len(table)
    half = SHOWN_ROWS // 2
    parts = [np.arange(n)] if n <= SHOWN_ROWS else [np.arange(half), np.arange(n - half, n)]
    gap = f'<tr><td colspan="{max(len(table.columns), 1)}">&#8230;</td></tr>\n'
    bodies = (
        "".join(
            f"<tr>{''.join(map(_cell, table.columns, row))}</tr>\n"
            for row in table.take(part).rows()
        )
        for part in parts
    )
    heads = "".join(
        f'<th title="{escape(column.meaning)}">{escape(column.name)}</th>'
        for column in table.columns
    )
    return (
        f"<table><caption>{escape(_heading(table))}</caption>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{gap.join(bodies)}</tbody></table>"
    )


def text_of(table: Table) -> str:
    """Return the table as text with aligned columns; of a long one the first and the last rows.

    >>> from tabwb.records.columns import Column
    >>> from tabwb.tables.table import table_of
    >>> columns = [Column("name", "Name", "a text"), Column("n", "N", "a number", "integer")]
    >>> print(text_of(table_of("example", columns, [("a", 3), ("bb", None)])))
    example: 2 rows, 2 columns
    name  n
    a     3
    bb    -
    """
    n, half = len(table), SHOWN_ROWS // 2
    parts = [np.arange(n)] if n <= SHOWN_ROWS else [np.arange(half), np.arange(n - half, n)]
    shown = [[column.name for column in table.columns]]
    for part in parts:
        if len(shown) > 1:
            shown.append(["..."] * len(table.columns))
        shown += [
            [_cut(column, value) for column, value in zip(table.columns, row, strict=True)]
            for row in table.take(part).rows()
        ]
    widths = [max(map(len, cells)) for cells in zip(*shown, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if column.type in _NUMERIC else cell.ljust(width)
            for cell, width, column in zip(cells, widths, table.columns, strict=True)
        ).rstrip()
        for cells in shown
    )
    return "\n".join((_heading(table), *lines))


def _heading(table: Table) -> str:
    columns = _count(len(table.columns), "column")
    return f"{table.name}: {_count(len(table), 'row')}, {columns}"


def _cut(column: Column, value: object) -> str:
    text = " ".join(column.format(value).split())
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _cell(column: Column, value: object) -> str:
    align = ' style="text-align:right"' if column.type in _NUMERIC else ""
    return f"<td{align}>{escape(_cut(column, value))}</td>"
