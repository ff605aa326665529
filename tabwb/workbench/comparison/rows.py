"""The rows of the results by model: what can be chosen, what they are sorted by."""

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
