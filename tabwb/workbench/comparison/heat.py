"""The heat strip of the results by model: in how many responses each feature is present."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, MouseMove
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from tabwb.analysis.grouping import Grouped
from tabwb.battery.model import Feature
from tabwb.media.wording import between, figure, tally
from tabwb.workbench.comparison.rows import Basis, key_of
from tabwb.workbench.shell.columns import Fitted, shortened_apart
from tabwb.workbench.shell.drawn import heat
from tabwb.workbench.shell.row_list import EDGE, RowList
from tabwb.workbench.shell.widgets import Line
from tabwb.workbench.shell.wording import QUIET

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge

LEAST_NAME, MOST_NAME = 10, 40
"""Columns of a model's name, at least and at most."""
CELLS = (10, 7, 5, 3, 2, 1)
"""Columns of a cell, the widest that fits: with a number and a bar, a number, a bar.

The first, which has room for most heads, is used where names are not cut.
"""
HEADS = 2
"""Lines of the heads."""
AROUND = HEADS + 1
"""Lines beside those of the models."""
MARKED = "bold reverse $accent"
"""The style of the marked cell."""
HELP = """\
# Features by model

A row for each model and a column for each feature of the judge's set: the share of responses in
which it is present, as a shade and as a bar or a number. The line below says what the marked cell
shows, with the 95 % interval for prompts like these.

Arrows move, **enter** shows the responses on which judges differ about the feature.
"""


def abbreviated(titles: Sequence[str]) -> list[str]:
    """Return the word of each title that tells it from the others, else its first one.

    >>> abbreviated(["Anomia", "Omission of bound morphemes", "Omission of function words"])
    ['Anomia', 'bound', 'function']
    """
    words = [title.split() for title in titles]
    first = [own[:1] for own in words]
    made = []
    for own in words:
        if first.count(own[:1]) == 1:
            made.append(own[0])
            continue
        apart = [
            word for word in own if len(word) > 2 and sum(word in other for other in words) == 1
        ]
        made.append(next(iter(apart), " ".join(own)))
    return made


class FeatureCells(RowList):
    """A row of cells for each model; one cell is marked."""

    HELP = HELP
    ENTER_WORD = "Differ"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "beside(-1)", show=False),
        Binding("right", "beside(1)", show=False),
    ]
    column = reactive(0)
    """The marked cell of the current row."""

    class Turned(Message):
        """Another cell of the row is marked."""

    def __init__(self) -> None:
        super().__init__(id="feature-cells")
        self.names: dict[object, str] = {}
        self.shares: dict[object, list[float | None]] = {}
        """By row, in the order of the columns."""
        self.n = 0
        self.room, self.wide = 1, CELLS[-1]
        """Columns of a name, and of a cell."""

    def watch_column(self) -> None:
        """Tell which cell is marked."""
        self.post_message(self.Turned())

    def action_beside(self, step: int) -> None:
        """Mark the cell beside."""
        self.column = min(max(self.column + step, 0), self.n - 1)

    def line_of(self, row: Any, fitted: Fitted[Any]) -> Content:
        """Return the name of a model, then the cells."""
        name = self.names[key_of(row)]
        cells = [heat(share, width=self.wide) for share in self.shares[key_of(row)]]
        if self.has_focus and self.rows[self.current] is row and cells:
            cells[self.column] = Content.styled(cells[self.column].plain, MARKED)
        return Content.assemble(name, " " * (self.room + 1 - cell_len(name)), *cells)

    def cell_at(self, x: int, y: int) -> tuple[Grouped, int] | None:
        """Return the model and the column of a place in the list."""
        row, at = y + self.scroll_offset.y, (x - EDGE - self.room - 1) // self.wide
        there = 0 <= row < len(self.rows) and 0 <= at < self.n
        return (self.rows[row], at) if there else None

    def on_click(self, event: Click) -> None:
        """Mark the cell that was clicked."""
        at = event.get_content_offset(self)
        if at is not None and (found := self.cell_at(at.x, at.y)) is not None:
            self.column = found[1]
        super().on_click(event)


class FeatureMap(Vertical):
    """Heads, cells, and the marked cell in words."""

    def __init__(self) -> None:
        super().__init__(id="feature-map")
        self._judges: dict[object, Judge | None] = {}
        self._features: tuple[Feature, ...] = ()
        self._asked: tuple[Sequence[Grouped], Basis] | None = None

    def compose(self) -> ComposeResult:
        """Yield heads, cells and the line in words."""
        yield Static(id="feature-heads")
        yield FeatureCells()
        yield Line(id="feature-told")

    @property
    def _cells(self) -> FeatureCells:
        return self.query_one(FeatureCells)

    @property
    def feature(self) -> str | None:
        """The id of the marked feature."""
        return self._features[self._cells.column].id if self._features else None

    def show(self, rows: Sequence[Grouped], basis: Basis, current: Grouped | None) -> None:
        """Show the features of these; the marked column stays, the row follows the other table."""
        self._asked = rows, basis
        self._judges = {key_of(row): row.judge(basis.terms) for row in rows}
        asked = () if basis.terms is None else basis.terms.features
        self._features = tuple(
            feature for feature in (rows[0].battery.features if rows else ()) if feature.id in asked
        )
        cells, n = self._cells, max(len(self._features), 1)
        width = self.size.width - EDGE - 2
        longest = max((len(row.label) for row in rows), default=0)
        names_least = {CELLS[0]: min(longest, MOST_NAME)}
        cells.wide = next(
            (c for c in CELLS if names_least.get(c, LEAST_NAME) + 1 + c * n <= width), CELLS[-1]
        )
        cells.room = max(min(width - cells.wide * n - 1, MOST_NAME, longest), 1)
        cells.shares = {
            key: [_share(judge, feature.id) for feature in self._features]
            for key, judge in self._judges.items()
        }
        cells.n, cells.column = len(self._features), min(cells.column, n - 1)
        labels = shortened_apart([row.label for row in rows], cells.room)
        cells.names = dict(zip(map(key_of, rows), labels, strict=True))
        at = next((at for at, row in enumerate(rows) if row is current), 0)
        cells.show((), rows, current=at, ids=key_of)
        self._show_heads(cells.room)
        self.tell()

    def on_resize(self) -> None:
        """Lay out again."""
        if self._asked is not None:
            self.show(*self._asked, self.marked)

    def mark(self, current: Grouped | None) -> None:
        """Mark the row of a model."""
        if current is not None:
            self._cells.choose(key_of(current))

    def _show_heads(self, room: int) -> None:
        """Show abbreviations above the cells, in turn on each of the lines, so that they fit."""
        wide = self._cells.wide
        lines = [" " * (EDGE + room + 1) for _ in range(HEADS)]
        for at, word in enumerate(abbreviated([feature.title for feature in self._features])):
            line = at % HEADS
            start = EDGE + room + 1 + at * wide
            head = Content(word).truncate(max(HEADS * wide - 1, 1), ellipsis=True)
            lines[line] = lines[line].ljust(start) + head.plain
        heads = Content.styled("\n".join(lines), QUIET)
        self.query_one("#feature-heads", Static).update(heads)

    @property
    def marked(self) -> Grouped | None:
        """The row of the marked cell."""
        rows, at = self._cells.rows, self._cells.current
        return rows[at] if 0 <= at < len(rows) else None

    @on(RowList.Highlighted)
    @on(FeatureCells.Turned)
    def tell(self) -> None:
        """Say what the marked cell shows."""
        told, more = Content(""), Content("")
        if (row := self.marked) is not None and self._features:
            feature = self._features[self._cells.column]
            told = Content.assemble((feature.title, "bold"), (f"  {row.label}", QUIET))
            more = Content(rate_words(self._judges[key_of(row)], feature.id))
        self.query_one("#feature-told", Line).show(told, more)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say what the cell under the pointer shows."""
        at = event.get_content_offset(self._cells)
        found = None if at is None else self._cells.cell_at(at.x, at.y)
        words: Content | None = None
        if found is not None:
            row, feature = found[0], self._features[found[1]]
            told = rate_words(self._judges[key_of(row)], feature.id)
            words = Content(f"{feature.title}, {row.label}: {told}")
        if words != self._cells.tooltip:
            self._cells.tooltip = words


def _share(judge: Judge | None, feature: str) -> float | None:
    if judge is None or not judge.burden.n_burden:
        return None
    return judge.burden.rate(feature).value


def rate_words(judge: Judge | None, feature: str) -> str:
    """Return in how many responses a feature is present, with the share and its interval."""
    if judge is None:
        return "not judged"
    burden = judge.burden
    if not burden.n_burden:
        return "undefined: no response has a burden"
    like = burden.rate_intervals(feature)[0]
    return (
        f"{tally(burden.present[feature])} of {burden.n_burden} responses, "
        f"{figure(burden.rate(feature).value)} ({between(like.interval)})"
    )
