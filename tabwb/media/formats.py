"""Tables in Markdown, CSV and JSON; LaTeX is in :mod:`tabwb.media.latex`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tabwb.media.presented import Cell, Heading, Presented, presented
from tabwb.records.visible import csv_text, visible
from tabwb.report.plain import Json
from tabwb.report.tables.captioned import Captioned
from tabwb.tables.table import Table

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def markdown(captioned: Captioned) -> str:
    """Return a table as a pipe table, with its caption above it and its notes below it."""
    return presented_markdown(presented(captioned))


def presented_markdown(shown: Presented) -> str:
    """Return a table that is presented already as :func:`markdown` does."""
    cells = [[_title(heading) for heading in shown.headings]]
    cells += [[_cell(cell) for cell in row] for row in shown.rows]
    widths = [max(3, *(len(row[place]) for row in cells)) for place in range(len(shown.headings))]
    lines = [_line(row, widths, shown) for row in cells]
    rule = (
        f"{'-' * (width - 1)}:" if heading.numeric else "-" * width
        for heading, width in zip(shown.headings, widths, strict=True)
    )
    lines.insert(1, f"| {' | '.join(rule)} |")
    parts = [f"**{markdown_text(shown.caption)}**"] if shown.caption else []
    parts.append("\n".join(lines))
    parts += [markdown_text(note) for note in shown.notes]
    return "\n\n".join(parts) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int], shown: Presented) -> str:
    padded = (
        cell.rjust(width) if heading.numeric else cell.ljust(width)
        for cell, width, heading in zip(cells, widths, shown.headings, strict=True)
    )
    return f"| {' | '.join(padded)} |"


def _title(heading: Heading) -> str:
    return markdown_text(heading.title) + (" [95 %]" if heading.interval else "")


def _cell(cell: Cell) -> str:
    interval = f" [{cell.interval}]" if cell.interval else ""
    return f"{markdown_text(cell.text)}{cell.mark}{interval}"


def markdown_text(text: str) -> str:
    r"""Return a text that Markdown shows as it is, on one line.

    >>> markdown_text("a|b *c* <script>")
    'a\\|b \\*c\\* \\<script\\>'
    """
    flat = " ".join(visible(text).split())
    return _MARKDOWN.sub(r"\\\1", flat).replace("&", "&amp;")


def table_csv(table: Table) -> str:
    """Return a table as CSV (RFC 4180), with texts that no spreadsheet runs as formulas."""
    rows = ([_flat(value) for value in row] for row in table.rows())
    return csv_text(table.names, rows)


def _flat(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return " | ".join(value) if isinstance(value, tuple) else value


def table_json(table: Table) -> Json:
    """Return a table as plain data: its columns, and its rows as objects."""
    return {
        "name": table.name,
        "columns": [
            {
                "name": column.name,
                "title": column.title,
                "meaning": column.meaning,
                "type": column.type,
                "unit": column.unit or None,
            }
            for column in table.columns
        ],
        "rows": [dict(zip(table.names, row, strict=True)) for row in table.rows()],
        "notes": list(table.notes),
    }
