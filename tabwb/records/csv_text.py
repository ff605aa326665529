"""Tables as CSV without formulas that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
CSV_CELLS = (
    "A text that begins with =, +, -, @, a tab or a carriage return has an apostrophe before it: a "
    "spreadsheet shows it and does not run it. JSON Lines and Parquet have every text unchanged."
)
"""The sentence for the notes beside a CSV file."""


def csv_text(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    r"""Return a table as CSV (RFC 4180), with texts that are not formulas.

    Args:
        columns: names, the first row.
        rows: cells in the order of the columns; None is an empty cell.

    >>> csv_text(["item", "answer", "score"], [["w1", "=1+1", -2.5], ["w2", None, "-2.5"]])
    "item,answer,score\r\nw1,'=1+1,-2.5\r\nw2,,-2.5\r\n"
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text
