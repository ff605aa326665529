"""Tables for people: each reason once below the table, and no rows in which all is undefined."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tabwb.records.words import plural
from tabwb.tables.table import Column, Table, series_of

NOTED = ("doses", "map")
"""Tables whose many reasons become numbered notes; data formats keep the column of reasons."""
REASON = "reason"
_AT = re.compile(r"^at ([^:]+): | at ([\d.e+-]+(?:, [\d.e+-]+)*)(?=,|$)")
"""The amounts at which a reason holds: ``at 0.1, 0.2: REASON``, or at its end or before a comma."""


def noted(table: Table) -> Table:
    """Return a table with numbers of notes in place of reasons, and each reason once in its notes.

    Rows without any value, such as those of features that a judge cannot tell, are left out and
    counted. Tables that are not among :data:`NOTED` are returned as they are.
    """
    if table.name not in NOTED or REASON not in table.names:
        return table
    empty = _without_values(table)
    shown = table.take(~empty)
    found: dict[str, int] = {}
    cells = [", ".join(_numbered(reason or "", found)) for reason in shown[REASON].to_list()]
    column = Column("notes", "Notes", "numbers of notes, with the amounts at which they hold")
    columns = [column if one.name == REASON else one for one in shown.columns]
    series = {one.name: shown[one.name] for one in shown.columns}
    series[column.name] = series_of([cell or None for cell in cells], "text")
    notes = [f"{number}: {reason}" for reason, number in found.items()]
    if empty.any():
        reasons = "; ".join(dict.fromkeys(_reasons(table.take(empty))))
        left = f"{plural(int(empty.sum()), 'row')} of {len(table)} without any value"
        notes.append(f"Left out: {left} ({reasons}); --format csv and --json have them.")
    return Table(table.name, columns, series, (*notes, *table.notes))


def _without_values(table: Table) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return True for each row without a value; that of the intact model counts in its own row."""
    empty = np.ones(len(table), np.bool_)
    rows = table["row"].to_list() if "row" in table.names else [""] * len(table)
    is_intact = np.array([row == "intact" for row in rows], np.bool_)
    for column in table.columns:
        if column.type == "number":
            missing = table[column.name].is_missing
            empty &= (missing | ~is_intact) if column.name == "intact" else missing
    return empty


def _reasons(table: Table) -> Iterator[str]:
    for reason in table[REASON].to_list():
        yield from (_AT.sub("", part) for part in (reason or "no value").split("; "))


def _numbered(reason: str, found: dict[str, int]) -> Iterator[str]:
    """Yield the numbers of the reasons of a row, with amounts.

    >>> found = {}
    >>> list(_numbered("few usable at 0.3, 0.4, in no mean; at 0.3: fewer than 5 seeds", found))
    ['1 (0.3, 0.4)', '2 (0.3)']
    >>> list(found)
    ['few usable, in no mean', 'fewer than 5 seeds']
    """
    for part in filter(None, reason.split("; ")):
        match = _AT.search(part)
        number = found.setdefault(_AT.sub("", part), len(found) + 1)
        yield f"{number} ({match[1] or match[2]})" if match else f"{number}"
