"""The table of the results by model: rows, columns, orders, and the widget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import DataTable

from tabwb.report.measures import NONE
from tabwb.report.render.groups import burden_cells
from tabwb.report.render.wording import number, plain
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary, Terms
from tabwb.workbench.shell.wording import shortened_apart

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
    """What the burdens in one column share: a battery, and a judge under one set of terms."""

    battery_hash: str
    battery: str
    """Title and version."""
    terms: Terms | None
    """None where no judge is chosen."""
    n: int = 0
    """Rows that it has."""

    @property
    def words(self) -> tuple[str, ...]:
        """Judge, person or rule; scope, set, prompt."""
        if self.terms is None:
            return ("nobody has rated these",)
        rater, scope = f"rated by {self.terms.rater}", plain(self.terms.scope)
        prompt = (f"prompt {self.terms.prompt_hash[:8]}",) if self.terms.prompt_hash else ()
        return (rater, scope, f"over {len(self.terms.features)} features", *prompt)


@dataclass(frozen=True, slots=True)
class Order:
    """By which column rows are sorted, and whether from high to low."""

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
        return Order(column, not self.falling if column == self.column else column != "model")


def without_trials(row: Grouped) -> Grouped:
    """The same with nothing in it that grows with the number of responses."""
    members = tuple(
        replace(member, trials=(), judged=(), recordings=(), columns=None)
        for member in row.group.members
    )
    judges = tuple(replace(judge, judged=None) for judge in row.summary.judges)
    return Grouped(replace(row.group, members=members), replace(row.summary, judges=judges))


def key_of(row: Grouped) -> Key:
    """What tells this row from others."""
    return row.label, row.battery.content_hash, "model" if row.group.has_model else "speaker"


def bases(rows: Sequence[Grouped]) -> tuple[Basis, ...]:
    """What can be chosen, the most rows first; a battery that no judge has seen is there too."""
    counts: Counter[Basis] = Counter()
    for row in rows:
        battery = row.battery.content_hash, f"{row.battery.title} {row.battery.version}"
        counts[Basis(*battery, None)] += 1
        counts.update(Basis(*battery, judge.terms) for judge in row.summary.judges)
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


def _value(row: Grouped, basis: Basis, column: Column) -> float | None:
    judge = row.judge(basis.terms)
    if judge is None and basis.terms is not None:
        return None
    if column == "burden":
        return None if judge is None else judge.burden.ranked
    answers = row.summary.answers if judge is None else judge.burden
    values = {
        "N": answers.usable.usable,
        "distinct": answers.n_distinct,
        "words": answers.words_mean.value,
    }
    return values.get(column)


def cells(row: Grouped, basis: Basis) -> dict[Column, str]:
    """A row's figures; dashes where this judge has not seen it."""
    judge = row.judge(basis.terms)
    words: dict[Column, str] = dict.fromkeys(COLUMNS, NONE)
    words["model"] = row.label
    if judge is not None:
        burden, usable = judge.burden, judge.burden.usable
        figures = burden_cells(judge)
        words["N"], words["distinct"] = figures["usable"], figures["distinct"]
        words["burden"], words["interval"] = figures["burden"], figures["95 %"]
        words["words"], words["over"] = figures["words"], str(len(burden.features))
        if not usable.few and burden.n_burden < usable.usable + judge.not_judged:
            # The burden rests on fewer responses than are usable.
            words["burden"] += f" n={burden.n_burden}"
    elif basis.terms is None:
        answers = row.summary.answers
        words["N"] = f"{answers.usable.usable}/{answers.usable.n}"
        words["distinct"], words["words"] = str(answers.n_distinct), number(answers.words_mean, 0)
    return words


def drawn(judge: JudgeSummary | None, most: float, width: int) -> str:
    """Return a burden with its interval on an axis from 0, or a dash where it is undefined.

    Args:
        judge: who found it; None where this judge has not seen the row.
        most: the end of the axis.
        width: columns of the axis.
    """
    value = None if judge is None else judge.burden.symptom_burden.value
    if judge is None or value is None:
        return NONE
    marks = [" "] * width

    def place(figure: float) -> int:
        return round(min(figure / most, 1.0) * (width - 1))

    if (interval := judge.burden.interval) is not None:
        low, high = place(interval.low), place(interval.high)
        marks[low : high + 1] = "─" * (high - low + 1)
        marks[low], marks[high] = "├", "┤"
    marks[place(value)] = "○" if judge.burden.usable.few else "●"
    return "".join(marks)


def _most(judges: Sequence[JudgeSummary | None]) -> float:
    """Return the end of an axis for these burdens; 0 where there is nothing to draw."""
    ends = [
        end
        for judge in judges
        if judge is not None
        for end in (
            judge.burden.symptom_burden.value,
            judge.burden.interval.high if judge.burden.interval else None,
        )
        if end is not None
    ]
    return max(ends, default=0.0)


def _align(figures: Sequence[dict[Column, str]], column: Column, width: int) -> bool:
    """Pad a column's cells where words follow a figure, so that figures are below each other.

    Args:
        figures: the cells of the rows.
        column: of these cells.
        width: the least width of the column.

    Returns:
        Whether there are such words.
    """
    after = [words[column].partition(" ")[2] for words in figures]
    if not any(after):
        return False
    most = max(map(len, after))
    for words, rest in zip(figures, after, strict=True):
        words[column] += " " * (most - len(rest) + (not rest))
    width = max(width, *(len(words[column]) for words in figures))
    for words in figures:
        words[column] = words[column].rjust(width)
    return True


LEAST_NAME = 10
ROOMY_NAME = 36
"""Names are not cut below this for drawn intervals."""
LEAST_AXIS, MOST_AXIS = 16, 48
"""Columns of the drawn intervals, which only a wide window has."""
MARK = 3
ROOMY = 84
"""From so many columns up heads are written out."""
HELP = """\
# Results by model

One row for each model with its lesion; all its administrations are pooled. How many responses are
**usable** (identical unsampled answers and repeated draws count once), how many are
*distinct*, the *burden* with its 95 % interval for prompts like these (*0.50 n=2*: it rests on 2
responses, the others have none or are not judged yet; *few*: fewer than half are usable, such rows
are sorted last), mean *words*, and *over* how many features. Burdens of different judges, scopes or
sets never share a column: **k** chooses another. A dash: this judge has not seen that model.

Where there is room the burden (●; ○ with few usable) and its interval are drawn too, from 0 to the
highest end of them.

- **space** marks a model, **c** compares the two that are marked, **e** writes the marked ones
- **s** sorts by the next column, **r** reverses the order; a click on a head does both
- **g** changes to plots and back, **/** filters by words, **t** changes what is below
- **p** sets base and instruct models of a family against each other, **a** the judges of the
  marked models
- **enter** opens the model's results; **tab** goes to its features, where **enter** shows the
  responses on which judges differ
"""


class ModelsTable(DataTable[Text]):
    """Burdens."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "scroll_top", show=False),
        Binding("end", "scroll_bottom", show=False),
    ]
    HELP = HELP

    def __init__(self) -> None:
        super().__init__(id="models-table", classes="enter-opens", cursor_type="row")
        self._keys: list[Key] = []

    @property
    def current(self) -> Key | None:
        """The row under the cursor."""
        return self._keys[self.cursor_row] if 0 <= self.cursor_row < len(self._keys) else None

    def stay_at_top(self) -> None:
        """Leave the cursor on the first row, if it is there, when rows come that are before it."""
        if self.cursor_row == 0:
            self._keys = []

    def show(
        self,
        rows: Sequence[Grouped],
        basis: Basis,
        order: Order,
        marked: Collection[Key],
        width: int,
        by: str = "model",
    ) -> None:
        """Show these; the cursor stays on its row. ``by`` heads the column of names."""
        before = self.current
        self._keys = [key_of(row) for row in rows]
        self.clear(columns=True)
        figures = [cells(row, basis) for row in rows]
        heads = {column: HEADS.get(column, column) for column in COLUMNS} | {"model": by}
        if width < ROOMY:
            heads["interval"] = "95 %"
        heads[order.column] += f" {order.arrow}"
        # Rich takes away the spaces at the end of what is justified at the right.
        left = {"model", "burden"} if _align(figures, "burden", len(heads["burden"])) else {"model"}
        sizes = {
            column: max(len(heads[column]), *(len(words[column]) for words in figures), 2)
            for column in COLUMNS
        }
        others = sum(sizes.values()) - sizes["model"] + MARK + 2 * (len(COLUMNS) + 1)
        judges = [row.judge(basis.terms) for row in rows]
        most = _most(judges)
        room = width - 1 - others
        if most and room - LEAST_AXIS - 2 >= ROOMY_NAME:  # names give way to drawn intervals
            room -= LEAST_AXIS + 2
        name = sizes["model"] = max(min(sizes["model"], room), LEAST_NAME)
        axis = min(width - 1 - others - name - 2, MOST_AXIS)
        self.add_column(Text(""), width=MARK, key="mark")
        for column in COLUMNS:
            head = Text(heads[column], justify="left" if column == "model" else "right")
            self.add_column(head, width=sizes[column], key=column)
            if column == "interval" and axis >= LEAST_AXIS and most:
                scale = Text(f"0{most:>{axis - 1}.2f}")
                self.add_column(scale, width=axis, key="drawn")
        names = shortened_apart([words["model"] for words in figures], name)
        for key, words, shown, judge in zip(self._keys, figures, names, judges, strict=True):
            words["model"] = shown
            line = [
                Text(
                    words[column],
                    style="bold" if column == "burden" else "",
                    justify="left" if column in left else "right",
                )
                for column in COLUMNS
            ]
            if axis >= LEAST_AXIS and most:
                line.insert(COLUMNS.index("interval") + 1, Text(drawn(judge, most, axis)))
            self.add_row(Text("[x]" if key in marked else "[ ]"), *line, key="\x1f".join(key))
        if before in self._keys:
            self.move_cursor(row=self._keys.index(before))
