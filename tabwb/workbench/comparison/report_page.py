"""The page of a report on several models: its parts as panes, as ``tabwb`` prints them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rich.console import RenderableType
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize

from tabwb.media.views.contrasts import pair_parts
from tabwb.media.views.judges import judges_parts
from tabwb.records.words import plural
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.widgets import Line, Pane, ReportView, content_of
from tabwb.workbench.shell.wording import ACCENT, QUIET

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Pair
    from tabwb.analysis.judges import JudgeReport

TWO = 208
"""From so many columns on the panes are in two columns, each as wide as a table wants."""
FRAME = 4
"""Columns of a pane's border and padding."""
KEYS = """

**Arrows** scroll, **y** copies the command that prints the same, **e** exports responses, report or
figures, **esc** returns to the models.
"""
PAIRS_HELP = """\
# Base and instruct

Every base model with every instruct model of its family, size, lesion and battery: the means of
both, base - instruct, and its 95 % interval (paired t over items). A
burden is compared only where one judge judged both under the same terms. From three families on
the mean over families follows."""
JUDGES_HELP = """\
# Judges against each other

How much a result depends on the judge: one row for each judge (its prompt and judging model), the
agreement of every two judges, the features on which they differ most, and the majority verdicts."""


@dataclass(frozen=True)
class Report:
    """A report on some models.

    Attributes:
        title: of the page.
        parts: each with its name.
        command: the words of the command that prints the same.
        numbers: of the administrations.
        figure: the figure that shows the same.
        help: explains the report.
    """

    title: str
    parts: Sequence[tuple[str, RenderableType]]
    command: tuple[str, ...]
    numbers: tuple[int, ...]
    figure: str
    help: str

    @cached_property
    def words(self) -> str:
        """The title within a sentence."""
        return f"{self.title[0].lower()}{self.title[1:]}"


def pairs_report(pairs: Sequence[Pair], numbers: Sequence[int]) -> Report:
    """Return the report on base and instruct models."""
    title = f"Base and instruct: {plural(len(pairs), 'pair')}"
    batteries = dict.fromkeys(pair.battery for pair in pairs)
    parts = [
        part
        for battery in batteries
        for part in pair_parts([pair for pair in pairs if pair.battery == battery])
    ]
    words = ("results", *map(str, numbers), "--by", "model")
    return Report(title, parts, words, tuple(numbers), "differences", PAIRS_HELP)


def judges_report(compared: JudgeReport, label: str, numbers: Sequence[int]) -> Report:
    """Return the report on the judges of some responses."""
    title = f"Judges against each other: {label}"
    parts = list(judges_parts(compared))
    words = ("judge", "report", *map(str, numbers))
    return Report(title, parts, words, tuple(numbers), "agreement", JUDGES_HELP)


class ReportPage(Page):
    """The page."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._report: Report | None = None
        self._columns = 0

    def compose(self) -> ComposeResult:
        """Yield title and command, then the columns of panes."""
        yield Line(id="report-head")
        with ScrollPane(id="report-scroll", help_text=""), Horizontal(id="report-columns"):
            yield Vertical(classes="report-column")
            yield Vertical(classes="report-column")

    async def show(self, report: Report) -> None:
        """Show a report."""
        self._report, self._columns = report, 0
        scroll = self.query_one(ScrollPane)
        scroll.help_text = report.help + KEYS
        head = Content.assemble((report.title, "bold"), (f"   {self._command(report)}", QUIET))
        copies = Content.assemble(("y", f"bold {ACCENT}"), (" copies", QUIET))
        self.query_one("#report-head", Line).show(head, copies)
        await self._fill()
        scroll.scroll_home(animate=False)

    async def on_resize(self, event: Resize) -> None:
        """Put the panes into as many columns as there is room for."""
        await self._fill()

    async def _fill(self) -> None:
        """Put each pane into the column that is shorter so far."""
        report, width = self._report, self.size.width
        columns = 2 if width >= TWO and report is not None and len(report.parts) > 1 else 1
        if report is None or not width or columns == self._columns:
            return
        self._columns = columns
        places = list(self.query(".report-column").results(Vertical))
        heights = [0] * columns
        places[1].display = columns > 1
        for place in places:
            await place.remove_children()
        for name, view in report.parts:
            at = heights.index(min(heights))
            heights[at] += content_of(view, width // columns - FRAME).plain.count("\n") + FRAME
            await places[at].mount(Pane(ReportView(view), title=name, classes="report-part"))

    def _command(self, report: Report) -> str:
        place = ["--store", self.desk.location] if self.desk.location else []
        return shlex.join(["tabwb", *report.command, *place])

    # ---------------------------------------------------------------- frame, commands

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return None if self._report is None else self._report.words

    def administration(self) -> int | None:
        """Return no administration: several models are shown."""
        return None

    def administrations(self) -> tuple[int, ...]:
        """Return the administrations of the models."""
        return () if self._report is None else self._report.numbers

    def focus_inside(self) -> None:
        """Give the keys to the panes."""
        self.query_one(ScrollPane).focus()

    def copy_report_command(self) -> None:
        """Copy the command that prints the same."""
        if self._report is not None:
            command = self._command(self._report)
            self.app.copy_to_clipboard(command)
            self.desk.notify(f"Copied: {command}", timeout=4, markup=False)

    def export_report(self) -> None:
        """Write responses, a report or figures to a file."""
        if (report := self._report) is not None:
            what = plural(len(report.numbers), "administration")
            self.desk.request(
                "results", "export", report.numbers, what, "report", figures=(report.figure,),
                drawn=report.numbers, by="model",
            )  # fmt: skip

    async def leave_report(self) -> None:
        """Return to the results by model."""
        await self.desk.go("models")
