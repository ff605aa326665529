"""The results of one administration: a summary, and the list of responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import DataTable, Static

from tabwb.workbench.commands import bindings
from tabwb.workbench.snapshots import ResponseRow, Results
from tabwb.workbench.widgets.painted import Line, Painted
from tabwb.workbench.widgets.score_panel import ScoreSheet
from tabwb.workbench.wording import (
    MARKS,
    QUIET,
    conditions_words,
    name_of,
    seconds,
    status_words,
)

FULL = 80
"""From so many columns up every column of the table is shown."""
MEDIUM = 58
"""From so many columns up the two other policies have columns of their own."""


class SubtestTable(Painted):
    """One row per subtest: right answers with their exact interval, and what guessing gives."""

    def __init__(self) -> None:
        super().__init__(id="subtest-table")
        self._results: Results | None = None

    def show(self, results: Results) -> None:
        """Show these."""
        self._results = results
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """All lines."""
        return Content("\n").join(list(self._lines(width)))

    def _lines(self, width: int) -> Iterator[Content]:
        if self._results is None:
            return
        full = width >= FULL
        sizes = (9, 12, 7, 7, 18) if full else (9, 12, 7, 7) if width >= MEDIUM else (9, 12)
        heads = ("right", "95 % exact", "norm.", "extr.", "baseline")[: len(sizes)]
        title = max(width - sum(sizes), 12)
        yield Content.styled(_row("", heads, title, sizes), QUIET)
        yield Content.styled("─" * width, "$line")
        for row in self._results.subtests:
            cells = (row.right, row.interval, row.normalised, row.extracted, row.baseline)
            line = Content(_row(row.title, cells[: len(sizes)], title, sizes))
            end = title + sizes[0]
            yield line.stylize("bold", title, end).stylize(QUIET, end)
            notes = list(row.notes)
            if not full and row.baseline:
                notes.insert(0, ("baseline", row.baseline))
            if width < MEDIUM and row.normalised:
                notes.insert(0, ("normalised", f"{row.normalised}, extracted {row.extracted}"))
            for what, figures in notes:
                for text in _folded(f"  {what}: {figures}", width):
                    yield Content.styled(text, QUIET)
            yield Content("")


def _row(title: str, cells: tuple[str, ...], width: int, sizes: tuple[int, ...]) -> str:
    short = title if len(title) <= width else title[: width - 1] + "…"
    return short.ljust(width) + "".join(
        cell.rjust(size) for cell, size in zip(cells, sizes, strict=True)
    )


def _folded(text: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, max(width, 20), subsequent_indent="    ", initial_indent="  ") or [text]


class ResponseTable(DataTable[Text]):
    """Every item with its answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("results"),
        Binding("home", "scroll_top", show=False),
        Binding("end", "scroll_bottom", show=False),
    ]
    HELP = """\
# Responses

One row for each item. **enter** opens one: the exact prompt, the answer, every rating with its
reason; there it can be declared void or noted on. **home** and **end** go to the first and the last
row, **t** goes back to the summary.
"""


class SummaryPane(VerticalScroll, can_focus=True):
    """The summary; can be focused to scroll."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("results")]
    HELP = """\
# Results

*Right* is the policy *exact*, with its exact (Clopper-Pearson) 95 % interval; *norm.* and *extr.*
are the two other policies. The baseline is what always naming the first option, or always saying
Yes, would give.

**t** changes to the list of responses, **e** writes them to a file, **esc** goes back.
"""


class ResultsPage(Vertical):
    """Summary or responses."""

    class Chosen(Message):
        """A response was chosen."""

        def __init__(self, row: ResponseRow) -> None:
            self.row = row
            super().__init__()

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "app.focus_next", show=False)]

    def __init__(self) -> None:
        super().__init__(id="results-page", classes="page")
        self.results: Results | None = None
        self.responses_shown = False

    def compose(self) -> ComposeResult:
        """Head, then one of the two."""
        yield Line(id="results-head")
        yield Static(id="results-conditions", markup=False)
        with SummaryPane(id="results-summary"):
            yield SubtestTable()
            yield ScoreSheet()
            yield Static(id="results-cautions", markup=False)
        yield ResponseTable(id="responses", cursor_type="row", zebra_stripes=False)

    def show(self, results: Results, *, scores_beside: bool) -> None:
        """Show results; ``scores_beside`` says that the dock shows features and burden."""
        new = self.results is None or self.results.administration.id != results.administration.id
        self.results = results
        one = results.administration
        if new:
            self.responses_shown = False
        title = Content.assemble(
            (f"#{one.id}", "bold"),
            "  ",
            (one.battery_title, "bold"),
            (f"  {results.version}", QUIET),
        )
        self.query_one("#results-head", Line).show(title, status_words(one))
        facts = [name_of(one), *conditions_words(one)]
        if one.reason:
            facts.append(f"reason: {one.reason}")
        self.query_one("#results-conditions", Static).update(
            Content.styled(" · ".join(facts), QUIET)
        )
        self.query_one(SubtestTable).show(results)
        sheet = self.query_one(ScoreSheet)
        sheet.display = not scores_beside and bool(results.scores.burdens)
        sheet.show(results.scores, hidden=False, title="SCORES", present=True)
        self.query_one("#results-cautions", Static).update(
            Content.styled("\n".join(results.cautions), QUIET)
        )
        self._fill(results)
        self.show_responses(self.responses_shown, focus=new)

    def show_responses(self, shown: bool, *, focus: bool = True) -> None:
        """Change between summary and responses."""
        self.responses_shown = shown
        table, summary = self.query_one(ResponseTable), self.query_one("#results-summary")
        had_focus = table.has_focus or summary.has_focus
        table.display, summary.display = shown, not shown
        if focus or had_focus:
            (table if shown else summary).focus()

    def _fill(self, results: Results) -> None:
        table = self.query_one(ResponseTable)
        at = table.cursor_row
        table.clear(columns=True)
        for name in ("#", "item", "verdict", "latency", "response"):
            table.add_column(Text(name, justify="right" if name in {"#", "latency"} else "left"))
        for row in results.responses:
            attempt = row.item.attempt
            text = " ".join(attempt.response.split()) if attempt else row.item.trial.reason
            table.add_row(
                Text(str(row.item.place[0]), justify="right", style="dim"),
                Text(row.item.trial.plan.item),
                Text(f"{MARKS[row.glyph]} {row.verdict}"),
                Text(seconds(attempt.latency_s) if attempt else "", justify="right"),
                Text(text, no_wrap=True),
                key=str(row.item.place[0]),
            )
        if results.responses:
            table.move_cursor(row=min(at, len(results.responses) - 1))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Open a response."""
        event.stop()
        if self.results is not None:
            self.post_message(self.Chosen(self.results.responses[event.cursor_row]))
