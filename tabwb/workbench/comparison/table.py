"""The tables of the results by model: burdens one row a model, and accuracies below."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import DataTable

from tabwb.report.summaries.groups import Grouped
from tabwb.workbench.comparison.survey import (
    COLUMNS,
    HEADS,
    Basis,
    Key,
    Order,
    cells,
    key_of,
)
from tabwb.workbench.shell.wording import shortened

LEAST_NAME = 10
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

- **space** marks a model, **c** compares the two that are marked, **e** writes the marked ones
- **s** sorts by the next column, **r** reverses the order; a click on a head does both
- **g** changes to plots and back, **/** filters by words, **t** changes what stands below
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
        super().__init__(
            id="models-table", classes="enter-opens", cursor_type="row", zebra_stripes=False
        )
        self._keys: list[Key] = []

    @property
    def current(self) -> Key | None:
        """The row under the cursor."""
        return self._keys[self.cursor_row] if 0 <= self.cursor_row < len(self._keys) else None

    def show(
        self,
        rows: Sequence[Grouped],
        basis: Basis,
        order: Order,
        marked: Collection[Key],
        width: int,
    ) -> None:
        """Show these; the cursor stays on its model."""
        before = self.current
        self._keys = [key_of(row) for row in rows]
        self.clear(columns=True)
        figures = [cells(row, basis) for row in rows]
        heads = {column: HEADS.get(column, column) for column in COLUMNS}
        if width < ROOMY:
            heads["interval"] = "95 %"
        heads[order.column] += f" {order.arrow}"
        sizes = {
            column: max(len(heads[column]), *(len(found[column]) for found in figures), 2)
            for column in COLUMNS
        }
        others = sum(sizes.values()) - sizes["model"] + MARK + 2 * (len(COLUMNS) + 1)
        name = sizes["model"] = max(min(sizes["model"], width - 1 - others), LEAST_NAME)
        self.add_column(Text(""), width=MARK, key="mark")
        for column in COLUMNS:
            head = Text(heads[column], justify="left" if column == "model" else "right")
            self.add_column(head, width=sizes[column], key=column)
        for row, found in zip(rows, figures, strict=True):
            key = key_of(row)
            line = [Text("[x]" if key in marked else "[ ]")]
            for column in COLUMNS:
                if column == "model":
                    line.append(Text(shortened(found[column], name)))
                    continue
                text = Text(found[column], justify="right")
                if column == "burden":
                    text.stylize("bold")
                line.append(text)
            self.add_row(*line, key="\x1f".join(key))
        if before in self._keys:
            self.move_cursor(row=self._keys.index(before))
