"""Every item of an administration with a mark for each replicate, which can be clicked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from textual.content import Content
from textual.events import Click, MouseMove

from tabwb.analysis.statistics.results import Results
from tabwb.battery.model import Battery
from tabwb.records.columns import fixed
from tabwb.records.trials import Trial
from tabwb.records.words import NONE
from tabwb.workbench.shell.columns import GAP, Column, fitted
from tabwb.workbench.shell.drawn import MARKS, bar, glyph_and_style, step
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET

BAR = 8
"""Columns of the share of right answers."""
TIP = (
    "✓ right, ✗ wrong, ● given, · not given, › skipped, ∅ void, ! in error; a number: features "
    "that the first judge found. A click opens the response."
)


@dataclass(frozen=True, slots=True)
class GridCell:
    """The response to one item in one replicate.

    Attributes:
        trial: its number.
        mark: its state in one word.
        found: features that the first judge found, and on how many it has a verdict; None: nobody
            judged it, or it is not usable.
        whole: the judge has a verdict on every feature of its set: the response has a burden.
    """

    trial: int
    mark: str
    found: tuple[int, int] | None = None
    whole: bool = False

    def drawn(self, *, person: bool) -> tuple[str, str]:
        """Return one character with its style: the number of features, or the glyph of the
        state.
        """
        if self.found is None or self.mark != "given":
            return glyph_and_style(self.mark, person=person)
        found = self.found[0]
        return str(found) if found < 10 else "+", "bold" if found else ACCENT

    @property
    def burden(self) -> int | None:
        """Features that the first judge found; None where one of its set is undefined."""
        return self.found[0] if self.found is not None and self.whole else None

    @property
    def share(self) -> float | None:
        """1 for right, 0 for wrong; None for others."""
        return {"right": 1.0, "wrong": 0.0}.get(self.mark)


@dataclass(frozen=True, slots=True)
class GridRow:
    """One item with its responses, replicate by replicate."""

    subtest: str
    item: str
    cells: tuple[GridCell, ...]

    @property
    def told(self) -> str:
        """Right answers of those scored, or the mean of the burdens; a dash where none has one."""
        shares = [cell.share for cell in self.cells if cell.share is not None]
        if shares:
            return f"{sum(shares):.0f}/{len(shares)}"
        if all(cell.found is None for cell in self.cells):
            return ""
        burdens = [cell.burden for cell in self.cells if cell.burden is not None]
        return fixed(sum(burdens) / len(burdens), 2) if burdens else NONE

    @property
    def heading(self) -> str:
        """What :attr:`told` is; empty where nothing is told."""
        if self.share is not None:
            return "right"
        return "mean burden" if self.told else ""

    @property
    def share(self) -> float | None:
        """Share of right answers; None where none was scored."""
        shares = [cell.share for cell in self.cells if cell.share is not None]
        return sum(shares) / len(shares) if shares else None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the grid: text, and which columns show which trial."""

    text: Content
    targets: tuple[tuple[int, int, int], ...] = ()
    """(first column, column after the last, number of the trial)."""


@dataclass(frozen=True, slots=True)
class FirstJudge:
    """The judge whose features are counted in lists: the first one, with its set."""

    rater: str = ""
    features: frozenset[str] = frozenset()

    def found_in(self, trial: Trial, *, usable: bool) -> tuple[int, int] | None:
        """Return how many features of its set it found, and on how many it has a verdict."""
        if not usable:
            return None
        verdicts = [
            bool(rating.value)
            for rating in trial.ratings
            if rating.rater == self.rater
            and rating.value is not None
            and rating.measure in self.features
        ]
        return (sum(verdicts), len(verdicts)) if verdicts else None


def first_judge(results: Results) -> FirstJudge:
    """Return the first judge of a summary; one that has found nothing where there is none."""
    if not results.judges:
        return FirstJudge()
    judge = results.judges[0]
    return FirstJudge(judge.rater, frozenset(judge.burden.features))


def grid_of(
    battery: Battery,
    marks: Iterable[tuple[Trial, str, tuple[int, int] | None]],
    judge: FirstJudge,
) -> tuple[GridRow, ...]:
    """Return the items of an administration in their order, with their responses."""
    titles = {subtest.id: subtest.title for subtest in battery.subtests}
    cells: dict[tuple[str, str], list[GridCell]] = {}
    for trial, mark, found in marks:
        plan = trial.plan
        if not plan.practice:
            whole = found is not None and found[1] == len(judge.features)
            cell = GridCell(plan.number, mark, found, whole)
            cells.setdefault((plan.subtest, plan.item), []).append(cell)
    order = {subtest: place for place, subtest in enumerate(titles)}
    rows = sorted(cells.items(), key=lambda pair: order[pair[0][0]])
    return tuple(GridRow(titles[subtest], item, tuple(own)) for (subtest, item), own in rows)


class _Marks(NamedTuple):
    """A line of marks: of the replicates of an item, or of the items of a subtest."""

    title: str
    cells: Sequence[GridCell]
    told: str = ""
    share: float | None = None


def grid_lines(rows: Sequence[GridRow], width: int, *, person: bool = False) -> Iterator[Line]:
    """Yield the grid: a line for each item, or for each subtest if there is one replicate."""
    replicates = max((len(row.cells) for row in rows), default=0)
    if replicates < 2:
        marks = [*_by_subtest(rows, width)]
    else:
        marks = [_Marks(row.item, row.cells, row.told, row.share) for row in rows]
    most = max((len(one.cells) for one in marks), default=0)
    drawn = partial(_drawn, most=most, person=person)
    columns: Sequence[Column[_Marks]] = (
        Column("", lambda one: one.title),
        Column("", drawn, grow=(1, 2 * most)),
        Column("", _told, right=True),
        Column("", lambda one: "" if one.share is None else bar(one.share, BAR)),
    )
    made = fitted(columns, marks, width)
    widths = [one.width for one in made.measured]
    for at, one in enumerate(marks):
        if replicates > 1 and (at == 0 or rows[at].subtest != rows[at - 1].subtest):
            title = _titled(rows[at].subtest, rows, sum(widths[:3]) + 2 * GAP)
            yield Line(Content.styled(title, f"bold {QUIET}").truncate(width))
        first, step = widths[0] + GAP, _step(widths[1], most)
        places = enumerate(one.cells) if step else ()
        targets = ((first + n * step, first + (n + 1) * step, cell.trial) for n, cell in places)
        yield Line(made.line(one), tuple(targets))


def _step(width: int, most: int) -> int:
    """Return the columns of a mark; 0: several replicates share one."""
    return 2 if width >= 2 * most - 1 else int(width >= most)


def _drawn(one: _Marks, width: int, *, most: int, person: bool) -> Content:
    step = _step(width, most)
    if not step:
        return Content.styled(_bins(one.cells, width), ACCENT)
    marks = (Content.assemble(cell.drawn(person=person)) for cell in one.cells)
    return Content(" " * (step - 1)).join(marks)


def _told(one: _Marks) -> Content:
    return Content.styled(one.told, QUIET if one.share is None else "bold")


def _titled(subtest: str, rows: Sequence[GridRow], end: int) -> str:
    """Return the title of a subtest with the heading of its last column."""
    headings = (row.heading for row in rows if row.subtest == subtest)
    heading = next(filter(None, headings), "")
    return f"{subtest}  {heading:>{max(end - len(subtest) - 2, 0)}}".rstrip()


def _by_subtest(rows: Sequence[GridRow], width: int) -> Iterator[_Marks]:
    titles = list(dict.fromkeys(row.subtest for row in rows))
    each = max((width - max(map(len, titles), default=0) - GAP) // 2, 1)
    for title in titles:
        cells = [cell for row in rows if row.subtest == title for cell in row.cells]
        for first in range(0, len(cells), each):
            yield _Marks("" if first else title, cells[first : first + each])


def _bins(cells: Sequence[GridCell], width: int) -> str:
    """Return a bar for each part of the replicates: its share of right answers, or features.

    >>> _bins([GridCell(at, "right" if at % 2 else "wrong") for at in range(8)], 2)
    '▅▅'
    """
    highest = max((cell.burden for cell in cells if cell.burden is not None), default=0) or 1
    columns = min(width, len(cells))
    words = ""
    for column in range(columns):
        part = cells[column * len(cells) // columns : (column + 1) * len(cells) // columns]
        known = [
            cell.share if cell.share is not None else cell.burden / highest  # type: ignore[operator]
            for cell in part
            if cell.share is not None or cell.burden is not None
        ]
        words += step(sum(known) / len(known)) if known else MARKS["open"]
    return words


class ItemGrid(WidthAwareWidget):
    """The grid; a click on a mark opens the response."""

    ALLOW_SELECT = False

    def __init__(self, opened: Callable[[int], object], *, id: str) -> None:
        super().__init__(id=id)
        self._opened = opened
        self._rows: tuple[GridRow, ...] = ()
        self._person = False
        self._lines: list[Line] = []

    def show(self, rows: tuple[GridRow, ...], *, person: bool) -> None:
        """Show items."""
        self._rows, self._person = rows, person
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        self._lines = list(grid_lines(self._rows, width, person=self._person))
        return Content("\n").join(line.text for line in self._lines)

    def _trial_at(self, x: int, y: int) -> int | None:
        if not 0 <= y < len(self._lines):
            return None
        targets = self._lines[y].targets
        return next((trial for first, end, trial in targets if first <= x < end), None)

    def on_click(self, event: Click) -> None:
        """Open the response that was clicked."""
        trial = self._trial_at(event.x, event.y)
        if trial is not None:
            event.stop()
            self._opened(trial)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say what the marks mean."""
        self.tooltip = TIP if self._trial_at(event.x, event.y) is not None else None
