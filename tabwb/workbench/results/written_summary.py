"""The summary of a battery of written responses: accuracies, items, features, notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

from rich.console import Group, RenderableType
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize

from tabwb.analysis.cautions import cautions
from tabwb.records.words import plural
from tabwb.workbench.results.item_grid import ItemGrid
from tabwb.workbench.results.presenter import Results
from tabwb.workbench.results.scores import accuracy_lines, profile_lines
from tabwb.workbench.shell.widgets import Pane, ReportView, WidthAwareWidget, WrappedText
from tabwb.workbench.shell.wording import AMBER, folded

BESIDE = 104
"""From so many columns up the features are beside the accuracies."""
HELP = """\
# Results

**Accuracy**: right answers of those scored by the policy *exact*, ● on its 95 % interval for
prompts like these; ◆ is a baseline: always naming the first option, always saying Yes, guessing;
◈ is a baseline in the same place as ● or as an end of the interval. *norm.* and *extr.* are the
two other policies.

**Items**: a mark for each response; a number is the number of features that the first judge found,
after replicates the mean of the responses with a burden; a click opens the response.
**Features**: in how many responses each judge found each feature, of those with a burden; a dash:
the judge has no verdict on it.

**t** changes to the responses, **tab** to the next pane, **j** judges, **e** exports, **esc** goes
back.
"""


class Section(VerticalScroll):
    """What a pane holds; it is focused to scroll where panes are side by side."""

    HELP = HELP


class NoteLine(WidthAwareWidget, can_focus=True):
    """The sentences that go with the results: folded to one line, which opens."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "turn", show=False)]
    HELP = "# Notes on the results\n\n**enter** or a click shows all of them, or one line again."
    DEFAULT_CSS = """
    NoteLine { color: $quiet; padding: 0 1; }
    NoteLine:focus { color: $foreground; background: $hover; }
    """

    def __init__(self) -> None:
        super().__init__(id="written-notes", classes="enter-opens")
        self._notes: tuple[str, ...] = ()
        self._open = False

    def show(self, notes: tuple[str, ...]) -> None:
        """Show these, folded or not as before."""
        self._notes = notes
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        if not self._notes:
            return Content("")
        if not self._open:
            count = f"{plural(len(self._notes), 'note')} (enter opens): "
            line = Content.assemble((count, AMBER), self._notes[0])
            return line.truncate(width, ellipsis=True)
        head = Content.assemble((f"{plural(len(self._notes), 'note')} (enter closes)", AMBER))
        lines = [line for note in self._notes for line in folded(f"- {note}", min(width, 100))]
        return Content("\n").join([head, *lines])

    def action_turn(self) -> None:
        """Open or close."""
        self._open = not self._open
        self.refresh(layout=True)

    def on_click(self) -> None:
        """Open or close."""
        self.action_turn()


class WrittenSummary(Vertical):
    """Panes side by side where there is room, else below each other in one that scrolls."""

    HELP = HELP

    def __init__(self, opened: Callable[[int], object]) -> None:
        super().__init__(id="written-summary")
        self._opened = opened
        self._beside = True

    def compose(self) -> ComposeResult:
        """Accuracies and items, features, notes."""
        pages = self.screen.query_one("#pages").size.width  # it has no width of its own yet
        self.set_class(pages >= BESIDE, "-beside", update=False)
        empty = partial(WrappedText, lambda width: ())
        with Section(id="summary-panes"):
            with Container(id="summary-left"):
                with Pane(title="Accuracy", id="accuracy-pane"), Section():
                    yield empty(id="accuracy")
                with Pane(title="Items", id="items-pane"), Section():
                    yield ItemGrid(self._opened, id="item-grid")
                with Pane(title="Details", id="details-pane"), Section():
                    yield ReportView(id="details")
            with Pane(title="Features", id="features-pane"), Section():
                yield empty(id="features")
        yield NoteLine()

    def show(self, results: Results) -> None:
        """Show the summary of an administration."""
        summary, given = results.summary, results.administration
        person = given.conditions.kind == "speaker"
        self.query_one("#accuracy", WrappedText).show(partial(accuracy_lines, summary.parts))
        self.query_one(ItemGrid).show(results.grid, person=person)
        replicates = max((len(row.cells) for row in results.grid), default=0)
        title = ["Items", *([plural(replicates, "replicate")] if replicates > 1 else [])]
        if summary.judges:
            title.append(f"numbers: features found by {summary.judges[0].rater}")
        self.query_one("#items-pane", Pane).border_title = " · ".join(title)
        self.query_one(ReportView).show(Group(*_details(results)))
        features = self.query_one("#features-pane")
        features.display = bool(results.battery.features)
        self.query_one("#features", WrappedText).show(partial(profile_lines, results.profiles))
        notes = cautions(
            results.battery,
            summary,
            model=not person,
            lesion=given.conditions.lesion is not None,
            given=[given],
        )
        self.query_one(NoteLine).show(tuple(notes))

    def on_resize(self, event: Resize) -> None:
        """Place the panes for the width."""
        self._beside = event.size.width >= BESIDE
        self.set_class(self._beside, "-beside")
        for section in self.query(Section):
            section.can_focus = (section.id == "summary-panes") != self._beside

    def focus_inside(self) -> None:
        """Give the focus to the first pane, or to what scrolls all of them."""
        if self._beside:
            self.query_one("#accuracy-pane", Pane).focus_inside()
        else:
            self.query_one("#summary-panes").focus()

    def to_first_lines(self) -> None:
        """Scroll every pane to its first line."""
        for section in self.query(Section):
            section.scroll_home(animate=False)


def _details(results: Results) -> Iterator[RenderableType]:
    """Yield the tables of subtests, and the statistics of plugins."""
    from tabwb.media.views.results import own_tables, statistics_tables
    from tabwb.media.views.typed import captioned_view

    yield from map(captioned_view, own_tables(results.summary, results.battery, details=True))
    yield from map(captioned_view, statistics_tables([results.summary]))
