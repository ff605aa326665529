"""A typed table as the terminal shows it."""

from __future__ import annotations

from rich.table import Table as Grid
from rich.text import Text

from tabwb.report.render.printing import empty_table
from tabwb.tables.table import Table


def table_view(table: Table) -> Grid:
    """Return a table with its columns' titles and formats; numbers are right-aligned.

    Columns without any value are left out.
    """
    made = empty_table()
    shown = table.select([name for name in table.names if not table[name].is_missing.all()])
    for column in shown.columns:
        number = column.type in ("integer", "number")
        made.add_column(
            Text(column.title),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
        )
    for row in shown.rows():
        cells = zip(shown.columns, row, strict=True)
        made.add_row(*(Text(column.format(value)) for column, value in cells))
    return made
