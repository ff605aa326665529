"""The rows that have been read, while a thread reads model after model."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.analysis.grouping import Grouped
from tabwb.workbench.comparison.rows import Basis, Key, bases, key_of


class ReadRows:
    """The rows of all batteries, and which of them are marked.

    While everything is read again a row stays until its new one has come.

    Attributes:
        by: the id of the key of the groups.
        marked: the keys of the marked rows, in the order marked.
        done: rows read so far.
        total: rows to read; None before the first is read.
    """

    def __init__(self) -> None:
        self.by = "model"
        self.marked: dict[Key, None] = {}
        self.done = 0
        self.total: int | None = None
        self._rows: dict[Key, Grouped] = {}
        self._new: set[Key] = set()

    @property
    def all(self) -> list[Grouped]:
        """Every row."""
        return [*self._rows.values()]

    @property
    def complete(self) -> bool:
        """Whether every row has been read."""
        return self.done == self.total

    @property
    def choices(self) -> tuple[Basis, ...]:
        """The batteries and judges that can be chosen."""
        return bases(self.all)

    def get(self, key: Key | None) -> Grouped | None:
        """Return the row with a key; None where there is none."""
        return None if key is None else self._rows.get(key)

    def begin(self, by: str) -> None:
        """Prepare to read everything again; the rows of another grouping go at once."""
        if by != self.by:
            self.by = by
            self._rows.clear()
            self.marked.clear()
        self._new.clear()
        self.done, self.total = 0, None

    def add(self, row: Grouped | None, done: int, total: int) -> None:
        """Keep a row; with the last one, those that are not there any more go."""
        self.done, self.total = done, total
        if row is not None:
            self._rows[key_of(row)] = row
            self._new.add(key_of(row))
        if self.complete:
            self._rows = {key: row for key, row in self._rows.items() if key in self._new}
            self.marked = {key: None for key in self.marked if key in self._rows}

    def renew(self, rows: Sequence[Grouped]) -> None:
        """Replace rows that were read again when all had been read."""
        self._rows |= {key_of(row): row for row in rows}
        self.done = self.total = len(self._rows)

    def turn_mark(self, key: Key) -> None:
        """Mark a row, or unmark it."""
        if key in self.marked:
            del self.marked[key]
        else:
            self.marked[key] = None

    def selected(self, shown: Sequence[Grouped]) -> list[Grouped]:
        """Return the rows among those shown that are marked, in the order marked."""
        there = {key_of(row) for row in shown}
        return [self._rows[key] for key in self.marked if key in there]

    def progress(self, shown: Sequence[Grouped]) -> str:
        """Return how many rows are shown, or how many have been read."""
        if not self.complete:
            what = "models" if self.by == "model" else "groups"
            return f"… reading, {self.done} of {self.total} {what}" if self.total else "… reading"
        if self.by != "model":
            return f"{len(shown)} of {len(self._rows)} groups"
        here, there = (sum(row.group.has_model for row in rows) for rows in (shown, self.all))
        words = f"{here} of {there} models"
        if len(self._rows) > there:
            words += f", {len(shown) - here} of {len(self._rows) - there} speakers"
        return words
