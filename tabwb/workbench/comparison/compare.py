"""The screen of two models side by side: differences with intervals, then what both said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.console import Group
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from tabwb.battery.model import Battery
from tabwb.media.views.contrasts import measures
from tabwb.media.views.naming import naming_difference
from tabwb.workbench.comparison.differences import (
    answer_lines,
    difference_lines,
    mark_of,
)
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.dialogs import Dialog, ScrollPane
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Pane, ReportView, WrappedText
from tabwb.workbench.shell.wording import ACCENT, QUIET

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Difference, SideBySide

WIDE = 120
"""From so many columns on the list of items is wide enough for their prompts."""
TALL = 34
"""From so many lines on differences and answers are shown at once."""
HELP = """\
# Two models

Above are the measures over the items that both have: mean of A, of B, the difference with its 95 %
interval drawn from A lower to A higher (│ no difference), its p value, and p corrected for the
other tests. Below are the items and both answers: words that the other answer lacks are
underlined; ✓ right, ✗ wrong, ● nothing to be right or wrong.

**a** changes between the items answered differently and all; **t** changes between differences and
items where there is not room for both; **up** and **down** go through the items, **tab** to the
next pane; **esc** closes.
"""


class CompareScreen(Dialog[None]):
    """Two models side by side."""

    CSS_PATH = "compare.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "everything", "All", show=False),
        Binding("t", "turn", "Turn", show=False),
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
        Binding("q,c", "dismiss(None)", "Close", show=False),
    ]

    def __init__(
        self, difference: Difference, battery: Battery, conditions: Sequence[str] = ("", "")
    ) -> None:
        super().__init__()
        self._difference, self._conditions = difference, conditions
        self._measures = tuple(measures(difference.found, battery))
        self._everything = False
        self._items_first = False
        self._listed: tuple[SideBySide, ...] = ()

    def compose(self) -> ComposeResult:
        """Yield who A and B are, differences, items, answers, keys."""
        difference = self._difference
        with Vertical(classes="dialog"):
            names = (difference.found.first, difference.found.second)
            for side, name, words in zip("AB", names, self._conditions, strict=True):
                title = Content.assemble(
                    (f"{side}  ", f"bold {ACCENT}"), (name, "bold"), (f"  {words}", QUIET)
                )
                yield Static(title, classes="side")
            differences = WrappedText(self._differences, id="comparison")
            yield Pane(
                ScrollPane(
                    differences,
                    ReportView(id="comparison-named"),
                    id="comparison-pane",
                    help_text=HELP,
                ),
                title="Differences · A - B",
                id="differences-pane",
            )
            with Horizontal(id="compared-items"):
                with Pane(id="items-pane"):
                    yield RowList(id="items-list", help_text=HELP, opens=False)
                with Pane(id="answers-pane"), ScrollPane(id="answers-scroll", help_text=HELP):
                    yield WrappedText(self._answers, id="answers")
            yield Static(id="compare-keys", classes="dialog-note")

    def on_mount(self) -> None:
        """Show the items that are answered differently."""
        self._list()
        self._lay_out()

    def on_resize(self, event: Resize) -> None:
        """Show both parts, and prompts of items, where there is room for them."""
        self._lay_out()

    def _lay_out(self) -> None:
        items = bool(self._difference.items)
        slim = self.size.width < WIDE
        self.set_class(slim, "-slim")
        unlike, n = (
            sum(item.differs for item in self._difference.items),
            len(self._difference.items),
        )
        title = (
            f"{unlike} of {n} differ" if slim else f"Items · {unlike} of {n} answered differently"
        )
        self.query_one("#items-pane", Pane).border_title = title
        both = self.size.height >= TALL and items
        shown, list_shown = self.query_one("#differences-pane"), self.query_one("#compared-items")
        shown.display = both or not items or not self._items_first
        list_shown.display = both or (items and self._items_first)
        turn = "" if both or not items else "t Differences or items   "
        self.query_one("#compare-keys", Static).update(
            f"a All items or those that differ   {turn}tab Next pane   esc Close"
        )

    def _list(self) -> None:
        items = self._difference.items
        self._listed = tuple(item for item in items if self._everything or item.differs)
        self.query_one(RowList).show(ITEMS, self._listed, current=0)
        self._show()
        views = [
            view
            for named in self._difference.named
            for view in naming_difference(named, everything=self._everything)
        ]
        self.query_one("#comparison-named", ReportView).show(Group(*views))

    def _differences(self, width: int) -> Iterator[Content]:
        yield from difference_lines(self._difference.found, self._measures, max(width, 40))

    def _answers(self, width: int) -> Iterator[Content]:
        item = self._marked
        if item is None:
            yield Content.styled("All items are answered alike; a shows them.", QUIET)
        else:
            yield from answer_lines(item, max(width, 30))

    @property
    def _marked(self) -> SideBySide | None:
        at = self.query_one(RowList).current
        return self._listed[at] if 0 <= at < len(self._listed) else None

    def _show(self) -> None:
        item = self._marked
        self.query_one("#answers-pane", Pane).border_title = "" if item is None else item.item
        self.query_one("#answers", WrappedText).refresh(layout=True)
        self.query_one("#answers-scroll").scroll_home(animate=False)

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Show what both said to the marked item."""
        event.stop()
        self._show()

    def action_everything(self) -> None:
        """List all items, or only those that differ."""
        self._everything = not self._everything
        self._list()

    def action_turn(self) -> None:
        """Show differences or items, where there is not room for both."""
        self._items_first = not self._items_first
        self._lay_out()
        target = RowList if self._items_first else "#comparison-pane"
        self.query_one(target).focus()


ITEMS: Sequence[Column[SideBySide]] = (
    Column("item", lambda item: item.item),
    Column("A", lambda item: mark_of(item.first, item.first_right), right=True),
    Column("B", lambda item: mark_of(item.second, item.second_right), right=True),
    Column("prompt", lambda item: item.prompt, rank=1, least=16, end=True, style=QUIET),
)
"""The columns of the items."""
