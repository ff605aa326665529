"""The table of the results by model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click, MouseMove
from textual.widgets import DataTable

from tabwb.analysis.grouping import Grouped
from tabwb.workbench.comparison.columns import Column
from tabwb.workbench.comparison.rows import Key, can_sort, key_of
from tabwb.workbench.shell.drawn import table_cell

MARKS, NARROW_MARKS, NARROW = ("[ ]", "[x]"), (" ", "x"), 100
"""What stands before rows that are not marked and marked; from so many columns, the first ones."""
HELP = """\
# Results by model

One row for each model with its lesion; all its administrations are pooled. How many responses are
**usable** (identical unsampled answers and repeated draws count once), the *burden* with its 95 %
interval for prompts like these (*0.50 n=2*: it rests on 2 responses, the others have none or are
not rated yet; *few*: fewer than half are usable, such rows are sorted last), then the share of
right answers of each subtest. Intervals are drawn: ├─●─┤ (○ with few usable), ◆ what guessing or
always one answer would give. Burdens of different judges, scopes or sets never share a column:
**j** chooses another. A dash: this judge has not seen that model.

- **space** marks a model, **c** compares the two that are marked, **e** writes the marked ones
- **>** sorts by the next column, **<** reverses the order; a click on a head does both
- **g** changes to plots and back, **/** filters by words, **t** puts the right answers first in a
  narrow table, or changes what is below
- **P** compares base and instruct models of a family, **A** the judges of the marked models
- **enter** opens the model's results; **tab** goes to its features, where **enter** shows the
  responses on which judges differ
"""


class ModelsTable(DataTable[Text]):
    """Burdens and right answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "scroll_top", show=False),
        Binding("end", "scroll_bottom", show=False),
    ]
    HELP = HELP

    def __init__(self) -> None:
        super().__init__(id="models-table", classes="enter-opens", cursor_type="row")
        self._keys: list[Key] = []
        self._laid_out: list[tuple[str, str, int]] = []
        self.columns_shown: tuple[str, ...] = ()
        self._tips: dict[str, str] = {}

    async def _on_click(self, event: Click) -> None:
        # Textual takes the column of a head unchecked; an empty table has a head and no columns.
        if event.style.meta.get("column", -1) >= len(self.columns):
            event.prevent_default()

    @property
    def current(self) -> Key | None:
        """The row under the cursor."""
        return self._keys[self.cursor_row] if 0 <= self.cursor_row < len(self._keys) else None

    def stay_at_top(self) -> None:
        """Leave the cursor on the first row, if it is there, when rows come that are before it."""
        if self.cursor_row == 0:
            self._keys = []

    def forget_colours(self) -> None:
        """Draw every cell again next time: the theme has changed."""
        self._laid_out = []

    def show(
        self,
        rows: Sequence[Grouped],
        columns: Sequence[tuple[Column, int]],
        marked: Collection[Key],
        marks: tuple[str, str],
    ) -> None:
        """Show rows; the cursor stays on its row, and the scroll position where rows are the
        same.
        """
        keys, before = [key_of(row) for row in rows], self.current
        laid_out = [(column.id, column.head(width), width) for column, width in columns]
        cells = [column.cells(width) for column, width in columns]
        lines = [
            [
                Text(marks[key in marked], end=""),
                *(table_cell(column[at], self.app) for column in cells),
            ]
            for at, key in enumerate(keys)
        ]
        if laid_out == self._laid_out and keys == self._keys and self.row_count == len(keys):
            self._update(lines)
            return
        top = self.scroll_y if keys == self._keys else None
        self._keys, self._laid_out = keys, laid_out
        self.columns_shown = tuple(column.id for column, _ in columns)
        self._tips = {column.id: column.tip for column, _ in columns}
        self.clear(columns=True)
        self.add_column(Text(""), width=len(marks[0]), key="mark")
        for name, head, width in laid_out:
            self.add_column(Text(head, no_wrap=True), width=width, key=name)
        for key, line in zip(keys, lines, strict=True):
            self.add_row(*line, key="\x1f".join(key))
        if before in keys:
            self.move_cursor(row=keys.index(before), scroll=top is None)
        if top is not None:
            self.scroll_to(y=top, animate=False)

    def _update(self, lines: Sequence[Sequence[Text]]) -> None:
        from textual.coordinate import Coordinate

        for row, line in enumerate(lines):
            for column, cell in enumerate(line):
                place = Coordinate(row, column)
                shown = self.get_cell_at(place)
                if (shown.plain, shown.spans) != (cell.plain, cell.spans):
                    self.update_cell_at(place, cell)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say what the column under the pointer shows, and that a click on its head sorts."""
        at = event.style.meta.get("column", 0) - 1
        name = self.columns_shown[at] if 0 <= at < len(self.columns_shown) else ""
        tip = self._tips.get(name, "")
        head = event.style.meta.get("row") == -1
        words = f"{tip}. Click: sort." if tip and head and can_sort(name) else tip
        if words != (self.tooltip or ""):
            self.tooltip = words or None
