"""The columns with which a table names its groups: one for each key that they are grouped by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.shown import Rename
from tabwb.tables.table import Column, RecordColumn, Table, table_of


@dataclass(frozen=True, slots=True)
class GroupNames:
    """Names groups.

    Attributes:
        rename: how a name is printed.
    """

    rename: Rename = lambda text, row: text

    def title(self, row: Grouped) -> str:
        """Return the whole name of a group, for sentences."""
        return self.rename(row.group.title, row)

    def columns(self, rows: Sequence[Grouped]) -> tuple[Column, ...]:
        """Return the columns that name groups; all are grouped by the same keys."""
        values = rows[0].group.values
        if len(values) < 2:
            by = rows[0].group.by
            title = values[0].title if values else by.replace("-", " ")
            return (Column("group", title.capitalize(), "the name of the group"),)
        return tuple(
            Column(snake(one.key), one.title.capitalize(), f"{one.title} of the group")
            for one in values
        )

    def cells(self, row: Grouped) -> tuple[str, ...]:
        """Return the names of a group, one for each of :meth:`columns`.

        Conditions that tell it from other groups of the same name are in the first.
        """
        group = row.group
        if len(group.values) < 2:
            return (self.title(row),)
        first, *others = (self.rename(one.cell, row) for one in group.values)
        return (f"{first} ({group.conditions})" if group.apart else first, *others)


def group_table(
    name: str, rows: Sequence[Grouped], names: GroupNames, columns: Sequence[RecordColumn]
) -> Table:
    """Return a table with one row for each group: its names, then what columns take from it."""
    return table_of(
        snake(name),
        [*names.columns(rows), *(one.column for one in columns)],
        [[*names.cells(row), *(one.value(row) for one in columns)] for row in rows],
    )


def column_names(ids: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Return a name for the column of each id, and for those of its interval, used only once.

    >>> column_names(["n", "wc-1", "wc_1"], ["group", "n"])
    {'n': 'own_n', 'wc-1': 'wc_1', 'wc_1': 'own_wc_1'}
    """
    found: dict[str, str] = {}
    used = set(taken)
    for one in dict.fromkeys(ids):
        name = snake(one) or "own"
        while used & (names := {name, f"{name}_low", f"{name}_high", f"{name}_why"}):
            name = f"own_{name}"
        used |= names
        found[one] = name
    return found


def snake(text: str) -> str:
    """Return a text as the name of a column.

    >>> snake("Word comprehension (exact)")
    'word_comprehension_exact'
    """
    return re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")
