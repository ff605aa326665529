"""Results of many administrations, model by model: rows, columns, orders. Pure; no widget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tabwb.report.measures import NONE
from tabwb.report.render.groups import burden_cells
from tabwb.report.render.wording import figure, plain
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary, Terms

Column = Literal["model", "N", "distinct", "burden", "interval", "words", "over"]
COLUMNS: tuple[Column, ...] = ("model", "N", "distinct", "burden", "interval", "words", "over")
HEADS: dict[Column, str] = {"N": "usable", "interval": "95 % interval"}
"""What a column is called where that is not its id."""
SORTS: tuple[Column, ...] = ("burden", "model", "N", "distinct", "words")
"""Columns that can be sorted by, in the order in which they follow each other."""

Key = tuple[str, str, str]
"""What tells a row from others: label, battery, kind of examinee."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What the burdens in one column share: a battery, and a judge under one set of terms.

    Attributes:
        battery_hash: of the battery's content.
        battery: title and version.
        terms: None where no judge is chosen.
        n: rows that it has.
    """

    battery_hash: str
    battery: str
    terms: Terms | None
    n: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """Judge, scope, set, prompt."""
        if self.terms is None:
            return ("no judge has rated these",)
        said = [f"judge {self.terms.rater}", plain(self.terms.scope)]
        said.append(f"over {len(self.terms.features)} features")
        if self.terms.prompt_hash:
            said.append(f"prompt {self.terms.prompt_hash[:8]}")
        return tuple(said)


@dataclass(frozen=True, slots=True)
class Order:
    """By which column rows stand, and whether from high to low."""

    column: Column = "burden"
    falling: bool = True

    @property
    def arrow(self) -> str:
        """``↓`` from high to low, ``↑`` from low to high."""
        return "↓" if self.falling else "↑"

    def after(self) -> Order:
        """The next column, each first in its usual direction: names rise, numbers fall."""
        column = SORTS[(SORTS.index(self.column) + 1) % len(SORTS)]
        return Order(column, column != "model")

    def chosen(self, column: Column) -> Order:
        """This column; the same one again turns round."""
        if column not in SORTS:
            return self
        return (
            Order(column, not self.falling)
            if column == self.column
            else Order(column, column != "model")
        )


def without_trials(one: Grouped) -> Grouped:
    """The same with nothing in it that grows with the number of responses."""
    members = tuple(
        replace(member, trials=(), judged=(), recordings=()) for member in one.group.members
    )
    judges = tuple(replace(judge, judged=()) for judge in one.summary.judges)
    return Grouped(replace(one.group, members=members), replace(one.summary, judges=judges))


def key_of(row: Grouped) -> Key:
    """What tells this row from others."""
    return row.label, row.battery.content_hash, "model" if row.group.has_model else "speaker"


def bases(rows: Sequence[Grouped]) -> tuple[Basis, ...]:
    """What can be chosen, the most rows first; a battery that no judge has seen is there too."""
    counts: Counter[Basis] = Counter()
    for row in rows:
        named = f"{row.battery.title} {row.battery.version}"
        for judge in row.summary.judges:
            counts[Basis(row.battery.content_hash, named, judge.terms)] += 1
        if not row.summary.judges:
            counts[Basis(row.battery.content_hash, named, None)] += 0
    judged = {basis.battery_hash for basis in counts if basis.terms is not None}
    totals = Counter(row.battery.content_hash for row in rows)
    found = [
        replace(basis, n=n or totals[basis.battery_hash])
        for basis, n in counts.items()
        if basis.terms is not None or basis.battery_hash not in judged
    ]
    return tuple(sorted(found, key=lambda one: -one.n))


def judge_of(row: Grouped, basis: Basis) -> JudgeSummary | None:
    """The row's burden on this basis, if it has one."""
    return next((one for one in row.summary.judges if one.terms == basis.terms), None)


def chosen(rows: Sequence[Grouped], basis: Basis, words: str, order: Order) -> list[Grouped]:
    """The rows of the basis' battery whose label has every word, in order.

    By burden, rows without one come last, and so do those with few usable responses.
    """
    found = [
        row
        for row in rows
        if row.battery.content_hash == basis.battery_hash
        and all(word in row.label.casefold() for word in words.casefold().split())
    ]
    found.sort(key=lambda row: row.label.casefold())
    if order.column == "model":
        return found[::-1] if order.falling else found
    known = [
        (value, row) for row in found if (value := _value(row, basis, order.column)) is not None
    ]
    known.sort(key=lambda pair: -pair[0] if order.falling else pair[0])
    without = [row for row in found if _value(row, basis, order.column) is None]
    return [*(row for _, row in known), *without]


def _value(row: Grouped, basis: Basis, column: Column) -> float | None:
    if basis.terms is None:
        answers = row.summary.answers
        values = {
            "N": answers.usable.usable,
            "distinct": answers.n_distinct,
            "words": answers.words_mean.value,
        }
        return values.get(column)
    judge = judge_of(row, basis)
    if judge is None:
        return None
    burden = judge.burden
    return {
        "N": burden.usable.usable,
        "distinct": burden.n_distinct,
        "burden": burden.ranked,
        "words": burden.words_mean.value,
    }.get(column)


def cells(row: Grouped, basis: Basis) -> dict[Column, str]:
    """A row's figures; dashes where this judge has not seen it."""
    judge = judge_of(row, basis)
    found: dict[Column, str] = dict.fromkeys(COLUMNS, NONE)
    found["model"] = row.label
    whole: tuple[Column, ...] = ("distinct", "words")
    for column in whole:
        found[column] = figure(_value(row, basis, column), 0)
    usable = row.summary.answers.usable if basis.terms is None else None
    if judge is not None:
        burden, usable = judge.burden, judge.burden.usable
        figures = burden_cells(judge)
        found["burden"], found["interval"] = figures["burden"], figures["95 %"]
        if not usable.few and burden.n_burden < usable.usable + judge.not_judged:
            # The burden rests on fewer responses than are usable.
            found["burden"] += f" n={burden.n_burden}"
        found["over"] = str(len(burden.features))
    if usable is not None:
        found["N"] = f"{usable.usable}/{usable.n}"
    return found


def baseline_values(rows: Sequence[Grouped], place: int, name: str) -> Iterator[float]:
    """A baseline in each row that has it."""
    for row in rows:
        found = row.summary.subtests[place].baselines.get(name)
        if found is not None and found.value is not None:
            yield found.value
