"""The running transcript: one line for each item, which stays when the next item is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from textual.content import Content

from tabwb.records.states import StopReason, TrialState
from tabwb.records.words import plural
from tabwb.workbench.engine.transcript import Row, Transcript
from tabwb.workbench.shell.columns import GAP, Column, Fitted, Heading
from tabwb.workbench.shell.drawn import glyph_and_style
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded, key_lines, seconds

NEXT = "▸"
"""The glyph of the current item while it waits for its response."""
LEAST_PROMPT = 12
"""The least columns of prompt and response."""
NONE = (
    "Given items are listed here. Items to come are not, because the participant may see this "
    "screen."
)
KEYS = (
    ("space", "gives the next item; the participant sees it alone"),
    ("enter", "records the answer that was typed"),
    ("esc", "gives the examiner the keys; a second esc shows this page"),
    ("a", "gives the next item after each answer"),
)
"""What is done with which key while a person types."""


class Given(NamedTuple):
    """What the transcript shows of an administration.

    Attributes:
        number: of the administration.
        current: number of the current trial, or None before the first.
        waits: the current trial waits for its response.
        hidden: verdicts are hidden.
        person: a person answers: items to come are not shown, no verdict has a colour.
        streamed: the response that is arriving.
    """

    number: int = 0
    transcript: Transcript | None = None
    current: int | None = None
    waits: bool = False
    hidden: bool = False
    person: bool = False
    streamed: str = ""


class TranscriptList(RowList):
    """Lists the items with their responses, below the titles of their subtests."""

    def __init__(self, choose: Callable[[int | None], object]) -> None:
        super().__init__(id="transcript", opens=False)
        self._choose = choose
        """Called with the item that was chosen; None: the current one, and those that follow."""
        self._given = Given()
        self._listed: list[Row | Heading] = []
        self._structure: tuple[object, ...] = ()

    def show_given(self, given: Given, chosen: int | None) -> None:
        """Show an administration."""
        self._given = given
        transcript = given.transcript
        rows = () if transcript is None else transcript.rows
        shown = [row for row in rows if _is_listed(row, given)] if given.person else rows
        structure = (given.number, len(shown))
        self.none = _none_of_person if given.person else lambda width: ()
        if structure != self._structure:
            self._structure = structure
            self._listed = [*_headed(shown, given)]
        else:
            fresh = iter(shown)
            self._listed = [
                one if isinstance(one, Heading) else next(fresh) for one in self._listed
            ]
        cursor = given.current if chosen is None else chosen
        places = (at for at, row in enumerate(self._listed) if _number(row) == cursor)
        with self.prevent(RowList.Highlighted):  # nobody has chosen it
            self.show(self._columns_of(len(rows)), self._listed, current=next(places, 0))

    def _columns_of(self, n: int) -> Sequence[Column[Row]]:
        """Return columns whose width does not depend on the rows: these change while they run."""
        edge, latency = len(str(n)) + 2, 8
        return (
            Column("", self._sign, grow=(edge, edge)),
            Column("", self._prompt, grow=(LEAST_PROMPT, 400)),
            Column("", self._response, grow=(LEAST_PROMPT, 600)),
            Column("", self._features, rank=1, grow=(11, 11)),
            Column("", _latency, grow=(latency, latency), right=True, style=QUIET),
        )

    def _waits(self, row: Row) -> bool:
        return self._given.waits and _number(row) == self._given.current

    def _sign(self, row: Row, width: int) -> Content:
        given, waits = self._given, self._waits(row)
        glyph = glyph_of_row(row, waits=waits, hidden=given.hidden, person=given.person)
        number = f"{_number(row):>{width - 2}} "
        return Content.assemble((number, "bold" if _number(row) == given.current else QUIET), glyph)

    def _prompt(self, row: Row, width: int) -> Content:
        plan, transcript = row.trial.plan, self._given.transcript
        assert transcript is not None
        words = transcript.battery.subtest(plan.subtest).item(plan.item).prompt or plan.prompt
        return _one_line(words, width, QUIET)

    def _response(self, row: Row, width: int) -> Content:
        waits = self._waits(row)
        quiet = QUIET if row.mark in {"open", "not-administered"} and not waits else ""
        return _one_line(self._given.streamed if waits else _response(row), width, quiet)

    def _features(self, row: Row, width: int) -> Content:
        if not row.judged or self._given.hidden or row.trial.state is not TrialState.ANSWERED:
            return Content("")
        words = plural(sum(next(iter(row.judged.values())).values()), "feature")
        return Content.styled(words, QUIET)

    def line_of(self, row: Row | Heading, fitted: Fitted[Row]) -> Content:
        """Return the line of an item; an error has the room that it needs."""
        if isinstance(row, Heading) or row.mark != "error":
            return fitted.line(row)
        sign, words = self._sign(row, fitted.measured[0].width), _response(row)
        room = max(fitted.width - sign.cell_length - len(words) - 2 * GAP, LEAST_PROMPT)
        prompt = self._prompt(row, room).truncate(room, ellipsis=True)
        line = Content(" " * GAP).join([sign, prompt.pad_right(room - prompt.cell_length)])
        return Content.assemble(line, " " * GAP, words).truncate(fitted.width, ellipsis=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave enter to the page: it returns to the participant."""
        return action != "select" and super().check_action(action, parameters)

    def action_edge(self, row: int) -> None:
        """Go to the first item, or return to the current one."""
        if row:
            self._choose(None)
        else:
            super().action_edge(row)

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Choose the item under the cursor."""
        event.stop()
        number = _number(self._listed[event.row])
        self._choose(None if number == self._given.current else number)


def _none_of_person(width: int) -> Iterator[Content]:
    """Yield what is shown before the first item of a person."""
    width = min(width, 100)
    yield from folded(NONE, width)
    yield Content("")
    yield from key_lines(KEYS, width)


def _number(row: Row | Heading) -> int | None:
    return None if isinstance(row, Heading) else row.trial.plan.number


def _headed(rows: Sequence[Row], given: Given) -> Iterator[Row | Heading]:
    """Yield rows below the titles of their subtests."""
    if given.transcript is None:
        return
    titles = {subtest.id: subtest.title for subtest in given.transcript.battery.subtests}
    starts = {at for at, row in enumerate(rows) if not at or _part(row) != _part(rows[at - 1])}
    headed = len(starts) * 2 <= len(rows) or len(starts) == 1
    replicated = bool(rows) and rows[-1].trial.plan.replicate > 0
    for at, row in enumerate(rows):
        plan = row.trial.plan
        if headed and at in starts:
            words = titles.get(plan.subtest, plan.subtest)
            words += f"   replicate {plan.replicate + 1}" if replicated else ""
            words += "   practice" if plan.practice else ""
            yield Heading(Content.styled(words, f"bold {QUIET}"))
        yield row


def _is_listed(row: Row, given: Given) -> bool:
    """Return whether a row of a person is listed: nobody reads on the screen what is to come."""
    return row.mark != "open" or row.trial.plan.number == given.current


def _part(row: Row) -> tuple[str, int, bool]:
    return row.trial.plan.subtest, row.trial.plan.replicate, row.trial.plan.practice


def glyph_of_row(row: Row, *, waits: bool, hidden: bool, person: bool) -> tuple[str, str]:
    """Return the glyph of a trial with its style."""
    if waits:
        return NEXT, f"bold {ACCENT}"
    return glyph_and_style(row.mark, hidden=hidden, person=person)


def _response(row: Row) -> str:
    trial = row.trial
    counting = trial.counting
    if trial.state is TrialState.ANSWERED and counting is not None:
        cut = " [cut]" if counting.stop_reason is StopReason.LENGTH else ""
        return (counting.response.strip() or "(no response)") + cut
    if trial.state in {TrialState.SKIPPED, TrialState.VOID}:
        return f"{trial.state.value}: {trial.reason}"
    if row.mark == "error":
        return f"error: {trial.attempts[-1].error}"
    return ""


def _latency(row: Row, width: int) -> str:
    counting = row.trial.counting
    answered = row.trial.state is TrialState.ANSWERED and counting is not None
    return seconds(counting.latency_s) if answered and counting is not None else ""


def _one_line(text: str, width: int, style: str) -> Content:
    """Return the beginning of a text in one line."""
    return Content.styled(" ".join(text[: 4 * width].split()), style)
