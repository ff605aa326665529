"""The heat strip of the results by model: in how many responses each feature is present."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.coordinate import Coordinate
from textual.events import MouseMove
from textual.widgets import DataTable, Static

from tabwb.analysis.grouping import Grouped
from tabwb.battery.model import Feature
from tabwb.media.wording import between, figure, tally
from tabwb.workbench.comparison.rows import Basis
from tabwb.workbench.shell.columns import shortened_apart
from tabwb.workbench.shell.drawn import heat, table_cell
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


class FeatureTable(DataTable[Text]):
    """The cells."""

    HELP = HELP
    ENTER_WORD = "Differ"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "scroll_top", show=False),
        Binding("end", "scroll_bottom", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(
            id="feature-cells",
            classes="enter-opens",
            cursor_type="cell",
            show_header=False,
            cell_padding=0,
            cursor_foreground_priority="css",  # else the shade of the cell would hide it
            cursor_background_priority="css",
        )


class FeatureMap(Vertical):
    """Heads, cells, and the marked cell in words."""

    def __init__(self) -> None:
        super().__init__(id="feature-map")
        self._rows: tuple[tuple[Grouped, Judge | None], ...] = ()
        self._features: tuple[Feature, ...] = ()
        self._cell = CELLS[-1]
        self._drawn: dict[tuple[float | None, int], Text] = {}
        self._shares: tuple[object, ...] = ()
        """What the table shows: names, features and shares."""
        self._asked: tuple[Sequence[Grouped], Basis, Grouped | None] | None = None

    def compose(self) -> ComposeResult:
        """Yield heads, cells and the line in words."""
        yield Static(id="feature-heads")
        yield FeatureTable()
        yield Line(id="feature-told")

    @property
    def _table(self) -> FeatureTable:
        return self.query_one(FeatureTable)

    @property
    def feature(self) -> str | None:
        """The id of the marked feature."""
        at = self._table.cursor_column - 1
        return self._features[at].id if 0 <= at < len(self._features) else None

    def show(self, rows: Sequence[Grouped], basis: Basis, current: Grouped | None) -> None:
        """Show the features of these; the marked column stays, the row follows the other table."""
        self._asked = rows, basis, current
        table = self._table
        column, top = max(table.cursor_column, 1), table.scroll_y
        self._rows = tuple((row, row.judge(basis.terms)) for row in rows)
        asked = () if basis.terms is None else basis.terms.features
        self._features = tuple(
            feature for feature in (rows[0].battery.features if rows else ()) if feature.id in asked
        )
        width = self.size.width - 2
        longest = max((len(row.label) for row in rows), default=0)
        n = max(len(self._features), 1)
        names_least = {CELLS[0]: min(longest, MOST_NAME)}
        self._cell = next(
            (c for c in CELLS if names_least.get(c, LEAST_NAME) + 1 + c * n <= width), CELLS[-1]
        )
        room = max(min(width - self._cell * n - 1, MOST_NAME, longest), 1)
        names = shortened_apart([row.label for row in rows], room)
        shares = [
            [_share(judge, feature.id) for feature in self._features] for _, judge in self._rows
        ]
        shown = room, self._cell, self._features, names, shares
        if shown == self._shares:
            self.mark(current)
            return
        self._shares = shown
        with self.prevent(DataTable.CellHighlighted):
            table.clear(columns=True)
            table.add_column(Text(""), width=room + 1, key="model")
            for feature in self._features:
                table.add_column(Text(""), width=self._cell, key=feature.id)
            for (row, _), name, own in zip(self._rows, names, shares, strict=True):
                key = "\x1f".join((row.label, str(id(row))))
                table.add_row(Text(name), *map(self._text, own), key=key)
            self._mark(current, column)
            table.scroll_to(y=top, animate=False)
        self._show_heads(room)
        self._tell()

    def forget_colours(self) -> None:
        """Draw every cell again next time: the theme has changed."""
        self._drawn.clear()
        self._shares = ()

    def _text(self, share: float | None) -> Text:
        """Return a cell; many have the same share."""
        key = share, self._cell
        if key not in self._drawn:
            self._drawn[key] = table_cell(heat(share, width=self._cell), self.app)
        return self._drawn[key]

    def on_resize(self) -> None:
        """Lay out again."""
        if self._asked is not None:
            rows, basis, _ = self._asked
            self.show(rows, basis, self.marked)

    def mark(self, current: Grouped | None) -> None:
        """Mark the row of a model."""
        with self.prevent(DataTable.CellHighlighted):
            self._mark(current, max(self._table.cursor_column, 1))
        self._tell()

    def _mark(self, current: Grouped | None, column: int) -> None:
        at = next((at for at, (row, _) in enumerate(self._rows) if row is current), 0)
        if self._rows:
            column = min(column, len(self._features))
            self._table.move_cursor(row=at, column=column)

    def _show_heads(self, room: int) -> None:
        """Show abbreviations above the cells, in turn on each of the lines, so that they fit."""
        lines = [" " * (room + 1) for _ in range(HEADS)]
        for at, word in enumerate(abbreviated([feature.title for feature in self._features])):
            line = at % HEADS
            start = room + 1 + at * self._cell
            head = Content(word).truncate(max(HEADS * self._cell - 1, 1), ellipsis=True)
            lines[line] = lines[line].ljust(start) + head.plain
        heads = Content.styled("\n".join(lines), QUIET)
        self.query_one("#feature-heads", Static).update(heads)

    @property
    def marked(self) -> Grouped | None:
        """The row of the marked cell."""
        at = self._table.cursor_row
        return self._rows[at][0] if 0 <= at < len(self._rows) else None

    def _tell(self) -> None:
        at, column = self._table.cursor_row, self._table.cursor_column - 1
        told, more = Content(""), Content("")
        if 0 <= at < len(self._rows) and 0 <= column < len(self._features):
            row, judge = self._rows[at]
            feature = self._features[column]
            told = Content.assemble((feature.title, "bold"), (f"  {row.label}", QUIET))
            more = Content(rate_words(judge, feature.id))
        self.query_one("#feature-told", Line).show(told, more)

    def on_data_table_cell_highlighted(self, event: DataTable.CellHighlighted) -> None:
        """Say what the cell shows; the name of a model has no cell."""
        if event.coordinate.column == 0 and self._features:
            event.stop()
            self._table.cursor_coordinate = Coordinate(event.coordinate.row, 1)
            return
        self._tell()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say what the cell under the pointer shows."""
        at, column = event.style.meta.get("row", -1), event.style.meta.get("column", 0) - 1
        words: Content | None = None
        if 0 <= at < len(self._rows) and 0 <= column < len(self._features):
            row, judge = self._rows[at]
            feature = self._features[column]
            words = Content(f"{feature.title}, {row.label}: {rate_words(judge, feature.id)}")
        if words != self.tooltip:
            self.tooltip = words


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
