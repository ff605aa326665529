"""The list of responses with the marked one beside it, and the base of what shows results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Input

from tabwb.workbench.results.stored import ResponseRow
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.dialogs import FilterField
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Pane
from tabwb.workbench.shell.wording import QUIET, folded

if TYPE_CHECKING:
    from tabwb.workbench.results.naming_summary import NamingSummary
    from tabwb.workbench.results.stored import Results
    from tabwb.workbench.results.written_summary import WrittenSummary
    from tabwb.workbench.shell.desk import Desk


BESIDE = 100
"""From so many columns up the response is beside the list."""
HELP = """\
# Responses

A row for each item; the marked one is shown beside or below the list.

- **up**, **down**, **home**, **end** move in the list; **space**, **left** and **right** go to the
  next and the previous response from anywhere
- **enter** goes to the response, where the arrows scroll; **esc** goes back to the list
- **/** filters by words of item, subtest, state and response; **esc** shows all again
- **>** sorts by the next column, **<** reverses the order; so does a click on a head
- **v** declares the response void, **n** writes a note on it; **t** goes back to the summary
"""


Columns = Callable[[Sequence[ResponseRow]], Sequence[Column[ResponseRow]]]
"""Returns the columns for all rows."""
Detail = Callable[[ResponseRow | None], str]
"""Shows the marked response, or that there is none; returns the title of its pane."""


FILTER_HELP = """\
# Filter

Only responses with all of these words are listed. **enter** goes to the list, **esc** shows all
again.
"""


class ResponsesView(Container):
    """The list and the marked response; what a response shows is another widget's matter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
    ]

    def __init__(self, columns: Columns, detail: Widget, show_detail: Detail) -> None:
        super().__init__(classes="responses-view")
        self._columns_of, self._detail, self._show_detail = columns, detail, show_detail
        self._all: Sequence[ResponseRow] = ()
        self._searched: list[str] = []
        """What the filter searches, row by row; made when something is filtered first."""
        self._rows: Sequence[ResponseRow] = ()
        self._columns: Sequence[Column[ResponseRow]] = ()
        self._headed: Sequence[Column[ResponseRow]] = ()
        """The columns with an arrow in the head of the one by which rows are sorted."""
        self._sorted: str = ""
        self._falling = False
        self._words = ""
        self._trial: int | None = None

    def compose(self) -> ComposeResult:
        """The list with its filter, the response."""
        with Pane(title="Responses", classes="responses-list"):
            yield FilterField("response-filter", FILTER_HELP, "words to filter by")
            yield RowList(id="responses", help_text=HELP)
        with Pane(title="Response", classes="response-pane"):
            yield self._detail

    def on_mount(self) -> None:
        """Say why a filtered list is empty."""
        self.rows.none = self._none

    def _none(self, width: int) -> Iterator[Content]:
        if self._words:
            told = f"No response has the words '{self._words}'; esc shows all."
            yield from folded(told, width, QUIET)

    @property
    def rows(self) -> RowList:
        """The list."""
        return self.query_one(RowList)

    @property
    def row(self) -> ResponseRow | None:
        """The marked response; None where none is listed."""
        at = self.rows.current
        return self._rows[at] if 0 <= at < len(self._rows) else None

    @property
    def focus_in_detail(self) -> bool:
        """Whether the response has the focus, and not the list."""
        return self._detail.has_focus or self._detail.has_focus_within

    def show(self, rows: Sequence[ResponseRow], *, new: bool) -> None:
        """Show responses."""
        self._all, self._searched = rows, []
        if new:
            self._sorted, self._falling, self._trial = "", False, None
            self._words = ""
            self.query_one(FilterField).close()
        self._columns = self._columns_of(rows) if rows else ()
        self._order(self._sorted, falling=self._falling)

    def mark(self, trial: int) -> None:
        """Mark the response to one trial, and show all if it is filtered out."""
        self._trial = trial
        if all(_number(row) != trial for row in self._rows):
            self._words = self.query_one(FilterField).value = ""
        self.fill()

    def fill(self) -> None:
        """List the responses that the filter leaves, in order; the marked one stays marked."""
        words = self._words.casefold().split()
        rows = list(self._all)
        if words:
            self._searched = self._searched or [_searched(row) for row in rows]
            both = zip(rows, self._searched, strict=True)
            rows = [row for row, text in both if all(word in text for word in words)]
        by = next((one for one in self._columns if one.name == self._sorted), None)
        if by is not None:
            rows.sort(key=by.sort_key, reverse=self._falling)
        self._rows = rows
        at = next((at for at, row in enumerate(rows) if _number(row) == self._trial), 0)
        self.rows.show(self._headed, rows, current=at, measured=self._all)
        pane = self.query_one(".responses-list", Pane)
        shown = f"{len(rows)} of {len(self._all)}" if words else str(len(self._all))
        pane.border_title = f"Responses  {shown}"
        if not rows:
            self._show_marked(None)

    def _order(self, name: str, *, falling: bool) -> None:
        """Sort by a column."""
        self._sorted, self._falling = name, falling
        arrow = "↓" if falling else "↑"
        self._headed = [
            replace(one, head=f"{one.name} {arrow}", id=name) if name and one.name == name else one
            for one in self._columns
        ]
        self.fill()

    def _show_marked(self, row: ResponseRow | None) -> None:
        self.query_one(".response-pane", Pane).border_title = self._show_detail(row)

    def show_again(self) -> None:
        """Show the marked response again: what is shown of it has changed."""
        self._show_marked(self.row)

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Show the marked response."""
        event.stop()
        if (row := self.row) is not None:
            self._trial = _number(row)
            self._show_marked(row)

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Go to the response."""
        event.stop()
        self._detail.focus()

    def on_row_list_head_clicked(self, event: RowList.HeadClicked) -> None:
        """Sort by that column, or reverse the order."""
        event.stop()
        again = event.column.name == self._sorted
        falling = not self._falling if again else event.column.falling
        self._order(event.column.name, falling=falling)

    def sort(self) -> None:
        """Sort by the next column."""
        shown = self.rows.columns
        at = next((at for at, one in enumerate(shown) if one.name == self._sorted), 0)
        if shown:
            column = shown[(at + 1) % len(shown)]
            self._order(column.name, falling=column.falling)

    def reverse(self) -> None:
        """Reverse the order."""
        if self._columns:
            self._order(self._sorted or self._columns[0].name, falling=not self._falling)

    def filter(self) -> None:
        """Ask for words to filter by."""
        self.query_one(FilterField).open()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter by the words so far."""
        event.stop()
        self._words = event.value
        self.fill()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the list."""
        event.stop()
        event.input.display = bool(event.value)
        self.rows.focus()

    def action_step(self, step: int) -> None:
        """Go to the response before or after."""
        self.rows.action_move(step)

    def escape(self) -> bool:
        """Go back from the response to the list, or show all responses again."""
        if self.focus_in_detail:
            self.rows.focus()
            return True
        field = self.query_one(FilterField)
        filtered = bool(field.value)
        field.close()
        return filtered

    def focus_inside(self) -> None:
        """Give the focus to the list."""
        self.rows.focus()

    def on_resize(self, event: Resize) -> None:
        """Place the response beside or below the list."""
        self.set_class(event.size.width >= BESIDE, "-beside")


def _number(row: ResponseRow) -> int:
    return row.item.place[0]


NUMBER: Column[ResponseRow] = Column(
    "#",
    lambda row: str(_number(row)),
    right=True,
    tip="order in which the items were given",
    key=_number,
)
"""The column of the items' numbers."""


def _searched(row: ResponseRow) -> str:
    attempt = row.item.attempt
    said = attempt.response if attempt is not None else row.item.trial.reason
    named = "" if row.named is None else f"{row.named.item.target} {row.named.item.code or ''}"
    return f"{row.item.trial.plan.item} {row.item.subtest} {row.verdict} {named} {said}".casefold()


class ResultsBody(Vertical):
    """A summary and a list of responses, of which one is shown.

    The page mounts a body when results of its kind are shown first, and hides it while another
    kind is shown. A body that has just been mounted shows its results as soon as it is composed.

    Attributes:
        results: those that are shown; None before the first.
        responses_shown: whether the list of responses is shown instead of the summary.
    """

    def __init__(
        self, desk: Desk, name: str, summary: WrittenSummary | NamingSummary, view: ResponsesView
    ) -> None:
        super().__init__(id=name, classes="results-body")
        self.desk, self.summary, self.view = desk, summary, view
        self.results: Results | None = None
        self.responses_shown = False
        self._composed = self._focus_wanted = False
        self._wanted_trial: int | None = None

    def compose(self) -> ComposeResult:
        """Yield summary and responses, of which one is shown."""
        yield self.summary
        yield self.view

    def on_mount(self) -> None:
        """Show the results that came before the widgets were there."""
        self._composed = True
        self._update(new=True)
        if self._focus_wanted:
            self.focus_inside()

    def show(self, results: Results) -> None:
        """Show results; those of another administration begin with their summary."""
        shown = self.results
        new = shown is None or shown.administration.id != results.administration.id
        self.results = results
        if new:
            self.responses_shown = False
        if self._composed:
            self._update(new=new)

    def _update(self, *, new: bool) -> None:
        self.update_results(new=new)
        self.show_responses(self.responses_shown, focus=False)
        if self._wanted_trial is not None:
            trial, self._wanted_trial = self._wanted_trial, None
            self.open_trial(trial)

    def focus_inside(self) -> None:
        """Give the focus to summary or responses."""
        if self._composed:
            self.show_responses(self.responses_shown)
        else:
            self._focus_wanted = True

    def open_trial(self, trial: int) -> None:
        """Show the response to one trial, as soon as that can be done."""
        if self._composed:
            self.show_responses(shown=True)
            self.mark(trial)
        else:
            self._wanted_trial = trial

    def update_results(self, *, new: bool) -> None:
        """Show :attr:`results`."""
        raise NotImplementedError

    def show_responses(self, shown: bool, *, focus: bool = True) -> None:
        """Show the list of responses, or the summary."""
        inside = self.has_focus_within
        self.responses_shown = shown
        self.view.display, self.summary.display = shown, not shown
        if focus or inside:
            if not shown:
                self.summary.focus_inside()
            elif not self.view.has_focus_within:
                self.view.focus_inside()

    def show_summary(self) -> None:
        """Show the summary from its first line; the first response is marked."""
        self.responses_shown = False
        self.summary.to_first_lines()

    def mark(self, trial: int) -> None:
        """Mark the response to one trial."""
        self.view.mark(trial)

    def refill(self) -> None:
        """Fill the list of responses again: who may see what has changed."""

    def escape(self) -> bool:
        """Go back from a response to the list; return whether the response had the focus."""
        return self.responses_shown and self.view.escape()
