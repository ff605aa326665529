"""One response with the verdicts of every judge side by side; reasons and raw words below."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Static

from tabwb.workbench.judging.judged_response import JudgedResponse, JudgeSaid
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import QUIET, verdict_words

LEAST = 20
"""Nothing is laid out narrower, also before there is any room."""
TITLE = 25
"""Columns of a feature's title."""
COLUMN = 15
"""Columns of a verdict; the judge's whole name stands below."""
NOBODY = (
    "No judge has judged this response. On the results page j lets one judge all answers; its "
    "verdicts stand here then."
)
HELP = """\
# Judges' verdicts

A line for each feature, a column for each judge: ● present and ○ absent, with the probability where
a judge tells one; *unparsed* where its words could not be read, *error* where the call failed,
*undefined* where nothing could be judged, *not asked* where the feature is not in its set. None of
these is counted as absent.

Below stand the judges with their reasons for the feature that is marked. **w** shows the raw words
of the judges that ask a model, and how their verdicts were had; **w** again goes back.

Up and down move, **tab** goes to the text below to scroll it, **esc** closes.
"""


class VerdictTable(DataTable[Content]):
    """A line for each feature, a column for each judge."""

    HELP = HELP


class ReasonPane(VerticalScroll, can_focus=True):
    """What is told of the marked feature, or the raw words; scrolls."""

    HELP = HELP


class Reasons(WidthAwareWidget):
    """Every judge's verdict and reason for one feature, or every judge's raw words."""

    def __init__(self, found: JudgedResponse) -> None:
        super().__init__(id="reasons")
        self._found = found
        self._feature = found.features[0][0] if found.features else ""
        self.raw = False

    def show(self, feature: str, *, raw: bool) -> None:
        """Show this feature, or raw words."""
        self._feature, self.raw = feature, raw
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """All lines."""
        return Content("\n").join(self._lines(max(width, LEAST)))

    def _lines(self, width: int) -> Iterator[Content]:
        if not self._found.judges:
            yield from folded(NOBODY, width, QUIET)
            return
        for letter, judge in lettered(self._found):
            yield from (
                self._raw(letter, judge, width) if self.raw else self._reason(letter, judge, width)
            )

    def _reason(self, letter: str, judge: JudgeSaid, width: int) -> Iterator[Content]:
        rating = judge.ratings.get(self._feature)
        words = verdict_words(rating, judge.probabilities.get(self._feature))
        yield Content.assemble((f"{letter}  {words:<{COLUMN + 1}}", "bold"), judge.rater)
        if rating is not None and rating.reason:
            yield from folded(rating.reason, width, "", 3)
        yield from folded(", ".join(judge.marks), width, QUIET, 3)

    def _raw(self, letter: str, judge: JudgeSaid, width: int) -> Iterator[Content]:
        yield Content.assemble((f"{letter}  ", "bold"), judge.rater)
        if not judge.asked:
            yield from folded("asks no model: it has no words of its own", width, QUIET, 3)
            return
        yield from folded(", ".join([*judge.marks, *judge.took]), width, QUIET, 3)
        if judge.first_raw:
            yield Content.styled("   the first reply, which could not be read", QUIET)
            yield from folded(judge.first_raw, width, "", 3)
            yield Content.styled("   the second reply", QUIET)
        yield from folded(judge.raw or "(no words)", width, "", 3)


class VerdictsScreen(Dialog[None]):
    """The response, the table, and below it what is told of the marked feature."""

    CSS_PATH = "verdicts.tcss"
    AUTO_FOCUS = "VerdictTable"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,k", "dismiss(None)", "Close", show=False),
        Binding("w", "raw", "Raw words", show=False),
        Binding("tab", "app.focus_next", show=False),
    ]

    def __init__(self, found: JudgedResponse) -> None:
        super().__init__()
        self._found = found
        self._raw = False

    def compose(self) -> ComposeResult:
        """Title, response, table, text."""
        found = self._found
        with Vertical(classes="dialog"):
            yield Static(
                f"Judges' verdicts   item {found.place}   {found.subtest}",
                classes="dialog-title",
                markup=False,
            )
            with VerticalScroll(id="verdicts-response", can_focus=False):
                yield Static(found.prompt, classes="quiet", markup=False)
                yield Static(found.response or "(no response)", markup=False)
            if found.judges:
                yield VerdictTable(id="verdict-table", cursor_type="row", cell_padding=0)
            with ReasonPane(id="reason-pane"):
                yield Reasons(found)
            yield Static(
                "w Raw words or reasons   tab Text below   arrows Move   esc Close",
                classes="dialog-note",
            )

    def on_mount(self) -> None:
        """Fill the table."""
        found = self._found
        if not found.judges:
            self.query_one(ReasonPane).focus()
            return
        table = self.query_one(VerdictTable)
        table.add_column("feature", width=TITLE)
        for letter, judge in lettered(found):
            head = Content(f"{letter}  {judge.rater}").truncate(COLUMN, ellipsis=True)
            table.add_column(Text(head.plain), width=COLUMN)
        for feature, title in found.features:
            cells = [
                Content(verdict_words(judge.ratings.get(feature), judge.probabilities.get(feature)))
                for judge in found.judges
            ]
            table.add_row(Content(title).truncate(TITLE - 1, ellipsis=True), *cells, key=feature)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Tell of that feature below."""
        self._raw = False
        self._tell(str(event.row_key.value))

    def action_raw(self) -> None:
        """Raw words instead of reasons, and back."""
        if self._found.judges:
            self._raw = not self._raw
            self._tell(self._found.features[self.query_one(VerdictTable).cursor_row][0])

    def _tell(self, feature: str) -> None:
        self.query_one(Reasons).show(feature, raw=self._raw)
        self.query_one(ReasonPane).scroll_home(animate=False)


def lettered(found: JudgedResponse) -> Iterator[tuple[str, JudgeSaid]]:
    """The judges with the letters that stand over their columns: A, B, and after Z the 27th."""
    for number, judge in enumerate(found.judges):
        yield chr(ord("A") + number) if number < 26 else str(number + 1), judge


def folded(text: str, width: int, style: str = "", indent: int = 0) -> Iterator[Content]:
    """A text in lines of its own, each so many columns from the left."""
    for line in text.splitlines():
        for part in wrap(line, max(width - indent, LEAST)) or [""]:
            yield Content.assemble(" " * indent, (part, style))
