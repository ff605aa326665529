"""A report as ``tabwb`` prints it, in a window that scrolls."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Group, RenderableType
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from tabwb.battery.model import Battery
from tabwb.records.words import plural
from tabwb.report.render.groups import pair_view
from tabwb.report.render.robustness import robustness_view
from tabwb.report.summaries.pairs import Pair
from tabwb.report.summaries.robustness import Robustness
from tabwb.workbench.shell.dialogs import Dialog

PAIRS_HELP = """\
# Base and instruct

Every base model with every instruct model of its family, size, lesion and battery: the means of
both, base - instruct, and its 95 % interval (bootstrap over items; unreliable with few items). A
burden is compared only where one judge judged both under the same terms. `tabwb results --by model`
prints the same. Arrows scroll, **esc** closes.
"""
JUDGES_HELP = """\
# Judges against each other

How much of a result is the judge's: one row for each judge (its prompt and judging model), the
agreement of every two judges, the features on which they differ most, and what most of them say.
`tabwb judge report ID...` prints the same. Arrows scroll, **esc** closes.
"""


class ReportPane(VerticalScroll, can_focus=True):
    """Scrolls a report."""

    def __init__(self, view: RenderableType) -> None:
        super().__init__(Static(view, id="report", markup=False), id="report-pane")


class PairsPane(ReportPane):
    """Base and instruct models."""

    HELP = PAIRS_HELP


class JudgesPane(ReportPane):
    """Judges against each other."""

    HELP = JUDGES_HELP


class ReportScreen(Dialog[None]):
    """A title and a report."""

    CSS_PATH = "report.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,q", "dismiss(None)", "Close", show=False),
    ]

    def __init__(self, title: str, pane: ReportPane) -> None:
        super().__init__()
        self._title, self._pane = title, pane

    def compose(self) -> ComposeResult:
        """Title, report, keys."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield self._pane
            yield Static("arrows Scroll   esc Close   F1 Help", classes="dialog-note")


def pairs_screen(pairs: tuple[Pair, ...]) -> ReportScreen:
    """Base and instruct models, one pair below the other."""
    title = f"Base and instruct: {plural(len(pairs), 'pair')}"
    return ReportScreen(title, PairsPane(Group(*map(pair_view, pairs))))


def judges_screen(found: Robustness, battery: Battery, label: str) -> ReportScreen:
    """The judges of some responses against each other."""
    titles = {feature.id: feature.title for feature in battery.features}
    pane = JudgesPane(robustness_view(found, titles))
    return ReportScreen(f"Judges against each other: {label}", pane)
