"""The results of a naming battery: a summary, and the list of responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize
from textual.widgets import DataTable, Static

from tabwb.report.render.naming import code_of, heard_or_transcribed, score_of, verdict_of
from tabwb.report.render.tables import summary_view
from tabwb.report.summaries.cautions import cautions
from tabwb.workbench.results.actions import ResultsActions
from tabwb.workbench.results.body import ResultsBody
from tabwb.workbench.results.presenter import ResponseRow
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.width_aware import ReportView
from tabwb.workbench.shell.wording import MARKS, QUIET, seconds, shortened

GIVEN = ("#", "item", "verdict", "latency", "response")
NAMED = ("#", "item", "said", "score", "any", "first", "code", "latency")
NUMBERS = ("#", "latency")
GIVES_WAY = (
    ("item", 16), ("response", 12), ("said", 12), ("code", 14), ("first", 0), ("any", 0),
    ("latency", 0), ("said", 6), ("code", 8), ("item", 8), ("verdict", 8), ("score", 8),
)  # fmt: skip
"""In this order columns become narrower where room is short, to so many cells; 0: they go."""
PADDING = 2
"""What a table puts around each cell."""


def _given_cells(row: ResponseRow) -> tuple[str, ...]:
    """Return the cells of a response after its item; of a picture, what was said to it."""
    attempt = row.item.attempt
    text = " ".join(attempt.response.split()) if attempt else row.item.trial.reason
    if row.named is not None:
        text = heard_or_transcribed(row.named.item, arpabet=True)
    latency = seconds(attempt.latency_s) if attempt else ""
    return f"{MARKS[row.glyph]} {row.verdict}", latency, text


def _named_cells(row: ResponseRow) -> tuple[str, ...]:
    """Return the cells of a picture after its item: what was said, whether it is right, and why."""
    if row.named is None:
        return ()
    item = row.named.item
    pronunciation = heard_or_transcribed(item, arpabet=True)
    verdicts = verdict_of(item, "correct-any"), verdict_of(item, "correct-first")
    return pronunciation, score_of(item), *verdicts, code_of(item), seconds(item.latency_s)


def fitted(wanted: Mapping[str, int], room: int) -> dict[str, int]:
    """Columns and their widths: as wide as what they hold, less important ones narrower or gone.

    >>> fitted({"item": 5, "said": 20, "first": 5, "code": 8}, 50)
    {'item': 5, 'said': 20, 'first': 5, 'code': 8}
    >>> fitted({"item": 5, "said": 20, "first": 5, "code": 8}, 40)
    {'item': 5, 'said': 14, 'first': 5, 'code': 8}
    >>> fitted({"item": 5, "said": 20, "first": 5, "code": 8}, 35)
    {'item': 5, 'said': 16, 'code': 8}
    >>> fitted({"item": 40, "said": 20, "first": 5, "code": 8}, 60)
    {'item': 19, 'said': 20, 'first': 5, 'code': 8}
    """
    sizes = dict(wanted)

    def over() -> int:
        return sum(sizes.values()) + PADDING * len(sizes) - room

    for name, least in GIVES_WAY:
        if over() <= 0:
            break
        if name in sizes and not least:
            del sizes[name]
        elif name in sizes:
            sizes[name] = max(sizes[name] - over(), min(sizes[name], max(least, len(name))))
    for name, _ in GIVES_WAY:  # what a column that went has left over
        if name in sizes and over() < 0:
            sizes[name] = min(wanted[name], sizes[name] - over())
    return sizes


def _cell(head: str, words: str, width: int) -> Text:
    """Return a cell; an item's name is cut in its middle, for its end tells it from others."""
    cell = Text(
        shortened(words, width) if head == "item" else words,
        justify="right" if head in NUMBERS else None,
        no_wrap=head in {"response", "code"},
    )
    cell.truncate(width, overflow="ellipsis")
    return cell


class ResponseTable(DataTable[Text]):
    """Every item with its answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "scroll_top", show=False),
        Binding("end", "scroll_bottom", show=False),
    ]
    HELP = """\
# Responses

One row for each item. **enter** opens one: the exact prompt, the answer, every rating with its
reason; there it can be declared void or noted on. **home** and **end** go to the first and the last
row, **t** goes back to the summary. Of pictures that were named *any* and *first* are the rules
correct-any and correct-first over the transcript; a code with ? is proposed.
"""


SUMMARY_HELP = """\
# Results

*Right* is the policy *exact*, with its 95 % interval for prompts like these; *norm.* and *extr.*
are the two other policies. The baseline is what always naming the first option, or always saying
Yes, would give.

Of pictures that were named: right names by those who listened, and by each rule over the
transcript, which is a draft; *open* ones have no verdict. Codes are shown as a person gave them and
as they were proposed. Sessions of one speaker are drawn over time: ● the share right, │ its 95 %
interval.

**t** changes to the list of responses, **e** writes them to a file, **esc** goes back.
"""


class NamingBody(ResultsBody):
    """Summary or responses."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "app.focus_next", show=False)]

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, "naming-results")

    def compose(self) -> ComposeResult:
        """One of the two."""
        with ScrollPane(id="results-summary", help_text=SUMMARY_HELP):
            yield ReportView(id="results-view")
            yield Static(id="results-cautions", markup=False)
        yield ResponseTable(id="responses", classes="enter-opens", cursor_type="row")

    def update_results(self, *, new: bool) -> None:
        """Show the results."""
        results = self.results
        if results is None:
            return
        if new:
            self.query_one(ResponseTable).move_cursor(row=0)
        given = results.administration
        summary, battery = results.summary, results.battery
        burdens = not self.desk.docks.scores_stand
        views = summary_view(summary, battery, arpabet=True, items=False, burdens=burdens)
        self.query_one(ReportView).show(Group(*views))
        model, lesion = given.conditions.kind == "model", given.conditions.lesion is not None
        told = cautions(battery, summary, model=model, lesion=lesion)
        self.query_one("#results-cautions", Static).update(Content.styled("\n".join(told), QUIET))
        self.refill()

    def _seen(self, row: ResponseRow) -> ResponseRow:
        """Return a response without what others said, until who listens has scored too."""
        assert self.results is not None
        listeners = self.desk.actions(ResultsActions).listeners
        number = self.results.administration.id
        if row.named is None or number not in listeners:
            return row
        named = row.named.seen_by(listeners[number])
        return row if named is row.named else replace(row, named=named, verdict="", glyph="open")

    def show_summary(self) -> None:
        """Show the summary from its first line; the first response is marked."""
        super().show_summary()
        self.query_one("#results-summary").scroll_home(animate=False)
        self.query_one(ResponseTable).move_cursor(row=0)

    def show_responses(self, shown: bool, *, focus: bool = True) -> None:
        """Change between summary and responses."""
        self.responses_shown = shown
        table, summary = self.query_one(ResponseTable), self.query_one("#results-summary")
        had_focus = table.has_focus or summary.has_focus
        table.display, summary.display = shown, not shown
        if focus or had_focus:
            (table if shown else summary).focus()

    def on_resize(self, event: Resize) -> None:
        """Columns as there is room."""
        self.refill()

    def refill(self) -> None:
        """Show the list of responses."""
        results = self.results
        if results is None:
            return
        table = self.query_one(ResponseTable)
        at = table.cursor_row
        table.clear(columns=True)
        only_named = len(results.summary.named) == len(results.battery.subtests)
        heads, cells_of = (NAMED, _named_cells) if only_named else (GIVEN, _given_cells)
        rows = []
        for row in results.responses:
            cells = str(row.item.place[0]), row.item.trial.plan.item, *cells_of(self._seen(row))
            rows.append(dict(zip(heads, cells, strict=False)))
        wanted = {
            head: max([len(head), *(cell_len(words.get(head, "")) for words in rows)])
            for head in heads
        }
        room = (self.size.width or self.app.size.width) - table.scrollbar_size_vertical
        sizes = fitted(wanted, room)
        for head, width in sizes.items():
            justify: Literal["left", "right"] = "right" if head in NUMBERS else "left"
            table.add_column(Text(head, justify=justify), width=width)
        for words in rows:
            shown = (_cell(head, words[head], sizes[head]) for head in sizes if head in words)
            table.add_row(*shown, key=words["#"])
        if rows:
            table.move_cursor(row=min(at, len(rows) - 1))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Open a response."""
        event.stop()
        if self.results is not None:
            row = self.results.responses[event.cursor_row]
            self.desk.actions(ResultsActions).open_response(row)
