"""Dialogs of the results by model: two models compared, responses on which judges differ."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import ClassVar

from rich.console import RenderableType
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tabwb.battery.model import Battery
from tabwb.report.render.difference import difference_view
from tabwb.report.summaries.difference import Difference
from tabwb.report.summaries.disagreements import Disagreements, Disputed
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.report_view import ReportView
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET, verdict_words

MOST_DIFFERENT = 5
"""So many different responses of each side to one item are shown."""


class ComparisonPane(VerticalScroll, can_focus=True):
    """Scrolls both sides together."""

    HELP = """\
# Two models

First the measures over the items that both have: mean of A, of B, the difference, how many items.
Below each, for **prompts like these** and for **these prompts**: the 95 % interval of the
difference, its p value, and p corrected for the other tests. Then what both said to each item, side
by side: **a** changes between those answered differently and all. Arrows scroll, **esc** closes.
"""


class CompareScreen(Dialog[None]):
    """Two models side by side."""

    CSS_PATH = "compare.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "everything", "All", show=False),
        Binding("enter,q,c", "dismiss(None)", "Close", show=False),
    ]

    def __init__(self, found: Difference, battery: Battery) -> None:
        super().__init__()
        self._found, self._battery = found, battery
        self._everything = False

    def compose(self) -> ComposeResult:
        """Who A and B are, then everything else."""
        with Vertical(classes="dialog"):
            for side, name in (("A", self._found.first), ("B", self._found.second)):
                yield Static(
                    Content.assemble((f"{side}  ", f"bold {ACCENT}"), (name, "bold")),
                    classes="side",
                )
            with ComparisonPane(id="comparison-pane"):
                yield ReportView(self._view(), id="comparison")
            yield Static(
                "a All or those that differ   arrows Scroll   esc Close", classes="dialog-note"
            )

    def _view(self) -> RenderableType:
        return difference_view(
            self._found,
            self._battery,
            everything=self._everything,
            sides=False,
            most=MOST_DIFFERENT,
            prompts=True,
        )

    def action_everything(self) -> None:
        """Show all items, or only those that differ."""
        self._everything = not self._everything
        self.query_one(ReportView).show(self._view())


MOST_DISPUTED = 500
LEAST = 20
"""Nothing is laid out narrower, also before there is any room."""
HELP = """\
# Where judges differ

The responses that at least two judges have judged, the most disputed first. The number is the mean
absolute difference between all pairs of judges: of probabilities where a judge tells one, else of
its verdict (present 1, absent 0). Below stand the response and each judge's verdict and reason.

Up and down move, **tab** goes to the text below to scroll it, **esc** closes.
"""


class DisputedList(OptionList):
    """One line for each response."""

    HELP = HELP


class VerdictPane(VerticalScroll, can_focus=True):
    """The response that is marked; scrolls."""

    HELP = HELP


class Verdicts(WidthAwareWidget):
    """One response with every judge's verdict."""

    def __init__(self) -> None:
        super().__init__(id="verdicts")
        self._one: Disputed | None = None

    def show(self, one: Disputed | None) -> None:
        """Show this response."""
        self._one = one
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """All lines."""
        return Content("\n").join(self._lines(max(width, LEAST)))

    def _lines(self, width: int) -> Iterator[Content]:
        one = self._one
        if one is None:
            return
        yield from _folded(one.row.item.prompt, width, QUIET)
        for line in one.row.attempt.response.splitlines() or ["(nothing)"]:
            yield from _folded(line, width)
        for said in one.said:
            yield Content("")
            yield Content.assemble(
                (f"{verdict_words(said.verdict, said.probability):<16}", "bold"), said.judge
            )
            if said.verdict is not None and said.verdict.reason:
                for line in wrap(said.verdict.reason, max(width - 16, 20)):
                    yield Content.styled(" " * 16 + line, QUIET)


def _folded(text: str, width: int, style: str = "") -> Iterator[Content]:
    for line in wrap(text, width) or [""]:
        yield Content.styled(line, style)


class DifferingScreen(Dialog[None]):
    """A list of responses, and below it the one that is marked."""

    CSS_PATH = "differing.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "dismiss(None)", "Close", show=False),
        Binding("tab", "app.focus_next", show=False),
    ]

    def __init__(self, found: Disagreements, battery: Battery, label: str) -> None:
        super().__init__()
        self._found, self._battery, self._label = found, battery, label

    def compose(self) -> ComposeResult:
        """Title, list, text."""
        found = self._found
        titles = {feature.id: feature.title for feature in self._battery.features}
        with Vertical(classes="dialog"):
            yield Static(
                f"Where judges differ on {titles.get(found.feature, found.feature)}",
                classes="dialog-title",
                markup=False,
            )
            yield Static(self._told(), id="differing-told", markup=False)
            yield DisputedList(
                *(Option(_line(one)) for one in found.disputed[:MOST_DISPUTED]),
                id="disputed",
                compact=True,
            )
            with VerdictPane(id="verdict-pane"):
                yield Verdicts()
            yield Static("tab Text below   arrows Move   esc Close", classes="dialog-note")

    def on_mount(self) -> None:
        """The most disputed one."""
        listed = self.query_one(DisputedList)
        listed.display = bool(self._found.disputed)
        listed.highlighted = 0 if self._found.disputed else None

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show that one below."""
        self.query_one(Verdicts).show(self._found.disputed[event.option_index])
        self.query_one(VerdictPane).scroll_home(animate=False)

    def _told(self) -> Content:
        found = self._found
        if len(found.judges) < 2:
            judges = f"only {found.judges[0]} has" if found.judges else "no judge has"
            return Content(
                f"{self._label}: {judges} this feature in its set. Another judge can be added "
                "with: tabwb judge run ID --judge SPEC"
            )
        split = sum(one.split for one in found.disputed)
        rest = len(found.disputed) - split
        said = (
            f"{self._label}: of {found.compared} responses with two or more verdicts, "
            f"verdicts are split on {split}"
        )
        if rest:
            said += f", and only probabilities differ on {rest}"
        more = (
            f"; the first {MOST_DISPUTED} are listed" if len(found.disputed) > MOST_DISPUTED else ""
        )
        said += f"{more}."
        return Content.styled(said, QUIET)


def _line(one: Disputed) -> Content:
    present = sum(bool(said.verdict and said.verdict.value) for said in one.said)
    asked = sum(said.score is not None for said in one.said)
    text = " ".join(one.row.attempt.response.split())
    return Content.assemble(
        (f"{one.distance:.2f}", "bold"),
        f"  {present} of {asked} present  ",
        (f"{one.row.item.id}  ", QUIET),
        text[:200],
    )
