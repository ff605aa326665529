"""Results by model: a table or plots, one model's detail, accuracies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import DataTable, Input, Static

from tabwb.report.render.groups import answers_table
from tabwb.report.summaries.groups import Grouped
from tabwb.workbench.comparison.actions import ComparisonActions
from tabwb.workbench.comparison.detail import ModelDetail
from tabwb.workbench.comparison.plots import PlotPane
from tabwb.workbench.comparison.table import (
    COLUMNS,
    HEADS,
    HELP,
    Basis,
    Key,
    ModelsTable,
    Order,
    bases,
    chosen,
    key_of,
)
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.width_aware import Line, ReportView
from tabwb.workbench.shell.wording import QUIET

BESIDE = 104
"""The least columns for the detail beside the table; it is below in a narrower window."""
ROOMY_DETAIL = 160
"""From so many columns up the detail is wider."""


class FilterField(Input):
    """Words that a model's name must have."""

    HELP = """\
# Filter

Only models whose names have every word are shown. **enter** goes back to the table, **esc** shows
all again.
"""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear_filter", show=False)]

    def action_clear_filter(self) -> None:
        """Show all again."""
        self.value = ""
        self.post_message(self.Submitted(self, ""))


class ModelsPage(Page):
    """Many administrations, model by model."""

    SCORES_DOCK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
    ]

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._rows: dict[Key, Grouped] = {}
        self._read: set[Key] = set()
        self._progress: tuple[int, int] | None = None
        self._wanted: Basis | None = None
        self.by = "model"
        self.order = Order()
        self.marked: dict[Key, None] = {}
        self.plotting = False
        self._accuracies: bool | None = None
        self.detail_shown = True

    def compose(self) -> ComposeResult:
        """Head, filter, then table and plots with the detail beside or below."""
        yield Line(id="models-head")
        yield Static(id="models-basis", markup=False)
        yield FilterField(placeholder="words of the model's name", id="models-filter", compact=True)
        with Container(id="models-body"):
            with Vertical(id="models-left"):
                yield ModelsTable()
                yield PlotPane()
                with ScrollPane(id="accuracies", help_text=HELP):
                    yield ReportView(id="accuracy-table")
            yield ModelDetail()

    def on_mount(self) -> None:
        """No filter yet."""
        self.query_one(FilterField).display = False

    # ---------------------------------------------------------------- what is shown

    @property
    def beside(self) -> bool:
        """Whether the detail is beside the table."""
        return self.size.width >= BESIDE

    @property
    def done(self) -> bool:
        """Whether every model has been read."""
        return self._progress is not None and self._progress[0] == self._progress[1]

    @property
    def accuracies(self) -> bool:
        """Whether the accuracies of all are below; in a narrow window one detail is there first."""
        return self.beside if self._accuracies is None else self._accuracies

    @property
    def choices(self) -> tuple[Basis, ...]:
        """The batteries and judges that can be chosen."""
        return bases(list(self._rows.values()))

    @property
    def basis(self) -> Basis | None:
        """The one chosen, as it is now; the one with the most models where none is."""
        choices, wanted = self.choices, self._wanted
        for basis in choices:
            if wanted and (basis.battery_hash, basis.terms) == (wanted.battery_hash, wanted.terms):
                return basis
        return choices[0] if choices else None

    @property
    def shown(self) -> list[Grouped]:
        """The rows in the table, in their order."""
        basis, words = self.basis, self.query_one(FilterField).value
        return [] if basis is None else chosen([*self._rows.values()], basis, words, self.order)

    @property
    def current(self) -> Grouped | None:
        """The row under the cursor."""
        key = self.query_one(ModelsTable).current
        return self._rows.get(key) if key is not None else None

    @property
    def selected(self) -> list[Grouped]:
        """Those of the rows shown that are marked, in the order marked."""
        there = {key_of(row) for row in self.shown}
        return [self._rows[key] for key in self.marked if key in there]

    def administrations(self) -> tuple[int, ...]:
        """Return the numbers of the marked models' administrations, or of all that are shown."""
        rows = self.selected or self.shown
        return tuple(member.administration.id for row in rows for member in row.group.members)

    def begin(self, by: str | None = None) -> None:
        """Everything is read anew; rows stay until theirs has come, if the grouping is the same.

        Args:
            by: the id of another key of the groups.
        """
        if by is not None and by != self.by:
            self.by = by
            self._rows.clear()
            self.marked.clear()
            self.lay_out()
        self._read.clear()
        self._progress = None
        self._head()

    def grow(self, row: Grouped | None, done: int, total: int) -> None:
        """One more model has been read."""
        self._progress = (done, total)
        if row is not None:
            self._rows[key_of(row)] = row
            self._read.add(key_of(row))
        if done == total:
            self._rows = {key: row for key, row in self._rows.items() if key in self._read}
            self.marked = {key: None for key in self.marked if key in self._rows}
        if row is None and total:
            self._head(self.shown)
        else:
            self.query_one(ModelsTable).stay_at_top()
            self.lay_out()

    def lay_out(self) -> None:
        """Show everything as it stands now."""
        basis, rows = self.basis, self.shown
        self._head(rows)
        self.query_one("#models-basis", Static).update(Content.styled(self._words(basis), QUIET))
        self.set_class(self.beside, "-beside")
        self.set_class(self.size.width >= ROOMY_DETAIL, "-roomy")
        table, plot = self.query_one(ModelsTable), self.query_one(PlotPane)
        below, detail = self.query_one("#accuracies"), self.query_one(ModelDetail)
        table.display, plot.display = not self.plotting, self.plotting
        accuracies = self.accuracies
        below.display = accuracies and not self.plotting and bool(rows)
        detail.display = (
            bool(rows)
            and self.detail_shown
            and (self.beside or (not accuracies and not self.plotting))
        )
        self.set_class(not self.beside and detail.display, "-detail")
        if basis is None:
            table.clear(columns=True)
            return
        width = self.query_one("#models-left").size.width or self.size.width
        table.show(rows, basis, self.order, self.marked, width, self.by)
        if rows:
            self.query_one("#accuracy-table", ReportView).show(answers_table(rows, balanced=True))
        if self.plotting:
            plot.show(rows, basis)
        self._detail()

    def _words(self, basis: Basis | None) -> str:
        if basis is not None:
            return " · ".join((basis.battery, *basis.words))
        return "Nothing has been answered yet; n begins an administration." if self.done else ""

    def _head(self, shown: Sequence[Grouped] = ()) -> None:
        done, total = self._progress or (0, 0)
        if self.done:
            state = _counted(shown, [*self._rows.values()], self.by)
        else:
            what = "models" if self.by == "model" else "groups"
            state = f"… reading, {done} of {total} {what}" if total else "… reading"
        if self.marked:
            state += f"   {len(self.marked)} marked"
        column = HEADS.get(self.order.column, self.order.column)
        column = self.by if column == "model" else column
        order = f"   by {column} {self.order.arrow}"
        self.query_one("#models-head", Line).show(
            Content.styled(f"Results by {self.by}", "bold"), Content.styled(state + order, QUIET)
        )

    def _detail(self) -> None:
        self.query_one(ModelDetail).show(self.current, self.basis, answers=not self.beside)

    def on_resize(self, event: Resize) -> None:
        """Put the detail beside or below the table."""
        self.call_after_refresh(self.lay_out)

    def focus_inside(self) -> None:
        """Give the keys to table or plot."""
        (self.query_one(PlotPane) if self.plotting else self.query_one(ModelsTable)).focus()

    # ---------------------------------------------------------------- what keys do

    def take(self, basis: Basis) -> None:
        """Show the burdens of this judge."""
        self._wanted = basis
        self.lay_out()

    def sort(self, order: Order) -> None:
        """Show in this order."""
        self.order = order
        self.lay_out()

    def mark(self) -> None:
        """Mark the row under the cursor, or not any more."""
        key = self.query_one(ModelsTable).current
        if key is None or self.plotting:
            return
        if key in self.marked:
            del self.marked[key]
        else:
            self.marked[key] = None
        self.lay_out()

    def plot(self) -> None:
        """From table to plots and back."""
        self.plotting = not self.plotting
        self.lay_out()
        self.focus_inside()

    def turn_below(self) -> None:
        """Change what is below: accuracies or, where it is narrow, one model's detail."""
        self._accuracies = not self.accuracies
        self.lay_out()

    def open_title(self) -> str | None:
        """Return what the page shows."""
        return f"results by {self.by}"

    def foot_rank(self, command: Command) -> int:
        """Return a command's place in the footer; with several judges, theirs is early."""
        return 2 if command.id == "results.basis" and len(self.choices) > 1 else command.rank

    def foot_word(self, command: Command) -> str:
        """Return the word of a command in the footer; the detail stands in place of the scores."""
        return "Detail" if command.id == "view.scores" else command.foot

    def toggle_side(self) -> bool:
        """Show or hide one model's detail in place of the score panel."""
        if self.beside:
            self.detail_shown = not self.detail_shown
            self.lay_out()
        else:
            self.turn_below()
        self.focus_inside()
        return True

    def show_detail(self) -> None:
        """Show one model's detail, beside or below the table."""
        self.detail_shown = True
        if not self.beside:
            self.plotting = self._accuracies = False
        self.lay_out()

    def filter(self) -> None:
        """Ask for words."""
        field = self.query_one(FilterField)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Those that match."""
        event.stop()
        self.lay_out()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Back to the table; without words the field goes."""
        event.stop()
        self.query_one(FilterField).display = bool(event.value)
        self.lay_out()
        self.focus_inside()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """That model's detail."""
        event.stop()
        self._detail()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Its results."""
        event.stop()
        if self.current is not None:
            self.desk.actions(ComparisonActions).open_model(self.current)

    def on_option_list_option_selected(self, event: ModelDetail.OptionSelected) -> None:
        """Find the responses on which judges differ about a feature."""
        event.stop()
        self.desk.actions(ComparisonActions).differ_on(str(event.option.id))

    def on_data_table_header_selected(self, event: DataTable.HeaderSelected) -> None:
        """Sort by what was clicked."""
        event.stop()
        for column in COLUMNS:
            if column == event.column_key.value:
                self.sort(self.order.chosen(column))


def _counted(shown: Sequence[Grouped], all_rows: Sequence[Grouped], by: str) -> str:
    if by != "model":
        return f"{len(shown)} of {len(all_rows)} groups"
    here, there = (sum(row.group.has_model for row in rows) for rows in (shown, all_rows))
    words = f"{here} of {there} models"
    if len(all_rows) > there:
        words += f", {len(shown) - here} of {len(all_rows) - there} speakers"
    return words
