"""Tables with the sentences that stand above and below them in a document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean
from tabwb.tables.table import Table

LOW, HIGH = "_low", "_high"
"""End the names of the columns with the interval of the column whose name they begin with."""
FEW = "_few"
"""Ends the name of a truth value that marks the value of that column."""

WHY = "_why"
"""Ends the name of the reasons why values of that column have no interval."""

ALSO = {"subtest": "part"}
"""Other names by which people ask for columns."""


def column_named(name: str, known: Sequence[str]) -> str:
    """Return the column that a person names; hyphens stand for underscores."""
    column = name.replace("-", "_")
    if column not in known and ALSO.get(column) in known:
        return ALSO[column]
    if column not in known:
        raise UsageError(
            f"there is no column '{name}'{did_you_mean(column, known)}",
            where="--columns",
            allowed=", ".join(known),
        )
    return column


class Footnote(NamedTuple):
    """A sentence below a table; it belongs to columns, or to all where it names none."""

    text: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Captioned:
    """A table with the sentence above it and the sentences below it.

    Attributes:
        table: ``x_low`` and ``x_high`` are the ends of the interval of column ``x``, ``x_few`` says
            that its value is to be marked, ``x_why`` why it has no interval.
        label: by which a document refers to it; empty: the name of the table.
        also: other names of columns, each with those that it stands for.
        caption_of: returns the caption where only these columns are shown; None: the same.
    """

    table: Table
    caption: str
    notes: tuple[Footnote, ...] = ()
    label: str = ""
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    caption_of: Callable[[Collection[str]], str] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are shown; ends of intervals and marks belong to others."""
        names = set(self.table.names)
        return tuple(
            name
            for name in self.table.names
            if not any(
                name.endswith(end) and name.removesuffix(end) in names
                for end in (LOW, HIGH, FEW, WHY)
            )
        )

    def select(self, names: Sequence[str]) -> Captioned:
        """Return the table with some columns, each with its interval and mark."""
        known = self.columns
        wanted: list[str] = []
        meant = (self.also.get(name.replace("-", "_"), (name,)) for name in names)
        for name in chain.from_iterable(meant):
            column = column_named(name, known)
            wanted += [
                each
                for end in ("", LOW, HIGH, FEW, WHY)
                if (each := column + end) in self.table.names and each not in wanted
            ]
        notes = (note for note in self.notes if not note.columns or {*note.columns} & {*wanted})
        caption = self.caption_of(wanted) if self.caption_of else self.caption
        table = self.table.select(wanted)
        return replace(self, table=table, caption=caption, notes=tuple(notes))
