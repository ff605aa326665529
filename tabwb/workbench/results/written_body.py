"""The results of a battery of written responses: a summary, and the responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from tabwb.workbench.results.body import ResultsBody
from tabwb.workbench.results.presenter import ResponseRow
from tabwb.workbench.results.responses import HELP, NUMBER, ResponsesView
from tabwb.workbench.results.stored import read_replies
from tabwb.workbench.results.written_detail import Shown, detail_lines, title_of
from tabwb.workbench.results.written_summary import WrittenSummary
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.widgets import WrappedText
from tabwb.workbench.shell.wording import seconds

STATES = (
    "✓ right, ✗ wrong, ● given, · not given, › skipped, ∅ void, ! in error, - not administered; "
    "● 2/7: the first judge found 2 of the 7 features of its set on which it has a verdict"
)


class WrittenBody(ResultsBody):
    """Summary or responses."""

    def __init__(self, desk: Desk) -> None:
        self._shown = Shown()
        self._at: tuple[int, int] | None = None
        """Administration and trial of the response that is shown."""
        self._summary = WrittenSummary(self._opened)
        self._text = WrappedText(lambda width: (), id="response-text")
        detail = ScrollPane(self._text, id="response-detail", help_text=HELP)
        view = ResponsesView(columns_of, detail, self._show_detail)
        super().__init__(desk, "written-results", self._summary, view)

    def update_results(self, *, new: bool) -> None:
        """Show the results."""
        results = self.results
        if results is None:
            return
        self._summary.show(results)
        self._shown = Shown() if new else replace(self._shown, judged=None)
        self.view.show(results.responses, new=new)

    def _opened(self, trial: int) -> None:
        """Show the response whose mark was clicked."""
        self.open_trial(trial)
        self.desk.show_foot()

    # ---------------------------------------------------------------- responses

    def _show_detail(self, row: ResponseRow | None) -> str:
        results = self.results
        if results is None or row is None:
            self._text.show(lambda width: ())
            return "Response"
        if self._shown.judged is not None:
            self._shown = replace(self._shown, judged=None)
        if self._shown.raw:
            number, trial = results.administration.id, row.item.place[0]
            self.desk.start(self._read_replies, number, trial, group="replies")
        self._text.show(partial(detail_lines, results, row, self._shown))
        shown = results.administration.id, row.item.place[0]
        if shown != self._at:  # results that are read again leave it where it is
            self._at = shown
            self.query_one("#response-detail").scroll_home(animate=False)
        replicates = max(one.item.trial.plan.replicate for one in results.responses) + 1
        return title_of(row, replicates)

    def exact(self) -> None:
        """Show the exact prompt of the marked response, or that of the item again."""
        self._shown = replace(self._shown, exact=not self._shown.exact)
        self.view.show_again()

    def raw(self) -> None:
        """Show reasons and raw replies of the judges, or their verdicts again."""
        self._shown = replace(self._shown, raw=not self._shown.raw)
        self.view.show_again()

    async def _read_replies(self, number: int, trial: int) -> None:
        """Show the replies of judges, if their response is still the marked one."""
        judged = await self.desk.ask(read_replies, self.desk.engine, number, trial)
        row, results = self.view.row, self.results
        if row is None or results is None or not self._shown.raw:
            return
        if (number, trial) == (results.administration.id, row.item.place[0]):
            shown = replace(self._shown, judged=judged)
            self._text.show(partial(detail_lines, results, row, shown))


def _replicate(row: ResponseRow) -> str:
    return str(row.item.trial.plan.replicate + 1)


def _latency(row: ResponseRow) -> str:
    return seconds(row.item.attempt.latency_s) if row.item.attempt else ""


def columns_of(rows: Sequence[ResponseRow]) -> Sequence[Column[ResponseRow]]:
    """Return the columns of the list of responses."""
    replicate: Column[ResponseRow] = Column(
        "rep.",
        _replicate,
        right=True,
        tip="replicate",
        key=lambda row: row.item.trial.plan.replicate,
    )
    several = any(row.item.trial.plan.replicate for row in rows)
    return (
        NUMBER,
        Column("item", lambda row: row.item.trial.plan.item, least=8, most=16),
        *((replicate,) if several else ()),
        Column(
            "state",
            _state,
            least=10,
            most=14,
            tip=STATES,
            key=lambda row: (row.verdict, row.found or (-1, 0)),
        ),
        Column(
            "latency",
            _latency,
            right=True,
            rank=1,
            tip="seconds until the response was complete",
            key=lambda row: row.item.attempt.latency_s or 0.0 if row.item.attempt else -1.0,
            falling=True,
        ),
        Column("response", _text, least=24, end=True),
    )


def _state(row: ResponseRow) -> str:
    """Return the state of a response; of text that was judged, how many features it has."""
    told = row.verdict if row.found is None else "/".join(map(str, row.found))
    return f"{MARKS[row.glyph]} {told}"


def _text(row: ResponseRow) -> str:
    attempt = row.item.attempt
    return " ".join(attempt.response.split()) if attempt is not None else row.item.trial.reason
