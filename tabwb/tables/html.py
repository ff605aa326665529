"""Tables as HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tabwb.tables.table import Column, Table

SHOWN_ROWS = 30
"""Rows that a notebook shows; of a longer table the first and the last."""
SHOWN_CHARACTERS = 80
"""Characters of a text that a notebook shows."""


def html_of(table: Table) -> str:
    """Return the table as an HTML table; of a long one the first and the last rows.

    >>> from tabwb.tables.table import Column, table_of
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
        f"<table><caption>{escape(table.name)}: {_count(n, 'row')}, "
        f"{_count(len(table.columns), 'column')}</caption>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{gap.join(bodies)}</tbody></table>"
    )


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _cell(column: Column, value: object) -> str:
    text = column.format(value)
    if len(text) > SHOWN_CHARACTERS:
        text = f"{text[: SHOWN_CHARACTERS - 1]}…"
    align = ' style="text-align:right"' if column.type in ("integer", "number") else ""
    return f"<td{align}>{escape(text)}</td>"
