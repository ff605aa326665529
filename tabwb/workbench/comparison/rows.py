"""The rows of the results by model: what can be chosen, what they are sorted by, what was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabwb.analysis.grouping import Grouped
from tabwb.analysis.statistics.results import Terms
from tabwb.media.wording import plain

SORTS = ("burden", "model", "usable", "distinct", "words")
"""Columns that can be sorted by beside those of subtests, see :func:`right_column`."""
RIGHT = "right "
"""How the ids of the columns begin that have the share right of a subtest."""

Key = tuple[str, str, str]
"""What tells a row from others: label, battery, kind of examinee."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What the burdens in one column share: a battery, and a judge under one set of terms."""

    battery_hash: str
    battery: str
    """Title and version."""
    short: str
    """Id and version."""
    terms: Terms | None
    """None where no judge is chosen."""
    n: int = 0
    """Rows that it has."""

    @property
    def words(self) -> tuple[str, ...]:
        """Judge, person or rule; scope, set, prompt."""
        if self.terms is None:
            return ("no ratings of connected text",)
        rater, scope = f"rated by {self.terms.rater}", plain(self.terms.scope)
        prompt = (f"prompt {self.terms.prompt_hash[:8]}",) if self.terms.prompt_hash else ()
        return (rater, scope, f"over {len(self.terms.features)} features", *prompt)

    def line(self, width: int) -> str:
        """Return what the burdens share in at most so many columns, the least needed left out."""
        rater, *rest = self.words
        for words in (
            (rater, *rest, self.battery),
            (rater, *rest, self.short),
            (rater, *rest[:2], self.short),
            (rater, *rest[:1], self.short),
        ):
            line = " · ".join(words)
            if len(line) <= width:
                return line
        return f"{self.short} · {rater}"


@dataclass(frozen=True, slots=True)
class Order:
    """By which column rows are sorted, and whether from high to low."""

    column: str = "burden"
    falling: bool = True

    @property
    def arrow(self) -> str:
        """``↓`` from high to low, ``↑`` from low to high."""
        return "↓" if self.falling else "↑"

    def after(self, columns: Sequence[str]) -> Order:
        """Return the order by the next of the columns that can be sorted by."""
        usable = [column for column in dict.fromkeys(columns) if can_sort(column)]
        if not usable:
            return self
        at = usable.index(self.column) + 1 if self.column in usable else 0
        return Order().chosen(usable[at % len(usable)])

    def chosen(self, column: str) -> Order:
        """Return the order by a column: names rise and numbers fall, the same one again turns."""
        if not can_sort(column):
            return self
        return Order(column, not self.falling if column == self.column else column != "model")


def can_sort(column: str) -> bool:
    """Return whether rows can be sorted by a column."""
    return column in SORTS or column.startswith(RIGHT)


def without_trials(row: Grouped) -> Grouped:
    """The same with nothing in it that grows with the number of responses."""
    members = tuple(
        replace(member, trials=(), judged=(), recordings=(), columns=None)
        for member in row.group.members
    )
    return Grouped(replace(row.group, members=members), row.results.without_rows())


def key_of(row: Grouped) -> Key:
    """What tells this row from others."""
    return row.label, row.battery.content_hash, "model" if row.group.has_model else "speaker"


def bases(rows: Sequence[Grouped]) -> tuple[Basis, ...]:
    """What can be chosen, the most rows first; a battery that no judge has seen is there too."""
    counts: Counter[Basis] = Counter()
    for row in rows:
        given = row.battery
        battery = (
            given.content_hash,
            f"{given.title} {given.version}",
            f"{given.id} {given.version}",
        )
        counts[Basis(*battery, None)] += 1
        counts.update(Basis(*battery, judge.terms) for judge in row.results.judges)
    judged = {basis.battery_hash for basis in counts if basis.terms is not None}
    choices = [
        replace(basis, n=n)
        for basis, n in counts.items()
        if basis.terms is not None or basis.battery_hash not in judged
    ]
    return tuple(sorted(choices, key=lambda basis: -basis.n))


def chosen(rows: Sequence[Grouped], basis: Basis, words: str, order: Order) -> list[Grouped]:
    """The rows of the basis' battery whose name or spec has every word, in order.

    By burden, rows without one come last, and so do those with few usable responses.
    """
    named = [
        row
        for row in rows
        if row.battery.content_hash == basis.battery_hash
        and all(word in _searched(row) for word in words.casefold().split())
    ]
    named.sort(key=lambda row: row.label.casefold())
    if order.column == "model":
        return named[::-1] if order.falling else named
    values = [(_value(row, basis, order.column), row) for row in named]
    known = [(value, row) for value, row in values if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=order.falling)
    return [*(row for _, row in known), *(row for value, row in values if value is None)]


def _searched(row: Grouped) -> str:
    """Return what a filter searches: the name, and the model's whole spec."""
    return f"{row.label} {row.group.label}".casefold()


def _value(row: Grouped, basis: Basis, column: str) -> float | None:
    if column.startswith(RIGHT):
        name = column.removeprefix(RIGHT)
        if row.named(name) is not None:
            return row.results.value("outcome", name)
        return row.results.value("accuracy", name)
    judge = row.judge(basis.terms)
    if judge is None and basis.terms is not None:
        return None
    if column == "burden":
        return None if judge is None else judge.burden.ranked
    measure = {"words": "words_mean"}.get(column, column)
    return row.results.value(measure, rater="" if judge is None else judge.terms)


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
