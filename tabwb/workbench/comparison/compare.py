"""Two models side by side: measures with a test of the difference, then what both said."""

from __future__ import annotations

from typing import ClassVar

from rich.console import RenderableType
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tabwb.battery.model import Battery
from tabwb.report.render.difference import difference_view
from tabwb.report.summaries.difference import Difference
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.report_view import ReportView
from tabwb.workbench.shell.wording import ACCENT

MOST = 5
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
            most=MOST,
            prompts=True,
        )

    def action_everything(self) -> None:
        """Show all items, or only those that differ."""
        self._everything = not self._everything
        self.query_one(ReportView).show(self._view())
