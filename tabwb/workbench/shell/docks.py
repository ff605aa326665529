"""The docks beside the page: the explorer at the left, the scores at the right, their layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from tabwb.workbench.engine.view_models import Scores
from tabwb.workbench.shell.marks import compact
from tabwb.workbench.shell.pane import Pane
from tabwb.workbench.shell.settings import EXPLORER, MAX_WIDTH
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import QUIET

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk

DRAWER_WIDTH = 46
NARROW = 100
"""With fewer columns the title bar shows what is open in place of the menus."""
ROOMY, ROOMY_EXPLORER = 200, 34
"""In a window of so many columns the explorer has so many, unless its width was changed."""
LEAST_EXPLORER, LEAST_SCORES = 24, 30
"""The least columns of each dock beside a page."""


class Dock(Pane):
    """A pane beside the page; its border towards the page is dragged to resize it."""

    @dataclass
    class Resized(Message):
        """A dock was resized with the mouse."""

        name: str
        width: int

    def __init__(
        self, content: Widget, side: Literal["left", "right"], title: str, *above: Widget
    ) -> None:
        name = f"{content.id}-dock"
        super().__init__(*above, content, title=title, id=name, classes=f"dock -{side}")
        self.content, self.side = content, side

    def lay(self, *, shown: bool, drawer: bool, width: int) -> None:
        """Place the dock beside the page, or as a drawer over it, which has its own width."""
        self.display = shown
        self.set_class(drawer, "-drawer")
        self.styles.width = min(DRAWER_WIDTH, self.app.size.width - 8) if drawer else width

    def _at_edge(self, event: MouseDown | MouseMove) -> bool:
        edge = self.region.right - 1 if self.side == "left" else self.region.x
        return event.screen_x == edge

    def on_mouse_down(self, event: MouseDown) -> None:
        """Start dragging."""
        if self._at_edge(event):
            self.capture_mouse()
            self.add_class("-dragged")

    def on_mouse_up(self, event: MouseUp) -> None:
        """Stop dragging."""
        self.release_mouse()
        self.remove_class("-dragged")

    def on_leave(self) -> None:
        """Draw the border as usual."""
        self.remove_class("-edge")

    def on_mouse_move(self, event: MouseMove) -> None:
        """Move the border, or show that it can be dragged."""
        if self.has_class("-dragged"):
            column = event.screen_x
            width = column + 1 if self.side == "left" else self.app.size.width - column
            self.post_message(self.Resized(self.content.id or "", width))
        else:
            self.set_class(self._at_edge(event), "-edge")


def beside(width: int, least: int, explorer: int, scores: int) -> tuple[int, int]:
    """Return the columns of explorer and scores beside a page; 0 where one has no room.

    >>> beside(160, 72, 28, 44), beside(100, 72, 28, 44), beside(95, 72, 28, 44)
    ((28, 44), (28, 0), (0, 0))
    >>> beside(132, 72, 28, 44), beside(112, 72, 0, 44)
    ((28, 32), (0, 40))
    """
    left = min(explorer, width - least)
    left = left if left >= min(explorer, LEAST_EXPLORER) else 0
    right = min(scores, width - least - left)
    return left, right if right >= min(scores, LEAST_SCORES) else 0


class DockLayout:
    """Lays out the docks ``explorer`` and ``scores`` on a desk.

    Attributes:
        narrow: the window has less than :data:`NARROW` columns.
        scores_stand: whether the score panel is visible beside the page.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._drawer = ""
        """The drawer that is open, or empty."""
        self._room: dict[str, int] = {}
        """Columns of each dock beside the page, were it shown; 0: it can only be a drawer."""
        self.narrow = self.scores_stand = False

    def apply(self) -> None:
        """Place the docks for the present size and page."""
        desk, page, kept = self._desk, self._desk.current, self._desk.workbench.remembered
        width, least = desk.size.width, page.LEAST_WIDTH
        self.narrow = width < NARROW
        left, right = beside(
            width,
            least,
            self._wanted("explorer") * page.EXPLORER_DOCK * kept.explorer,
            kept.scores_width * page.SCORES_DOCK * kept.scores,
        )
        self.scores_stand = right > 0
        self._room = {
            "explorer": beside(width, least, self._wanted("explorer") * page.EXPLORER_DOCK, 0)[0],
            "scores": beside(width, least, left, kept.scores_width * page.SCORES_DOCK)[1],
        }
        for name, columns in (("explorer", left), ("scores", right)):
            drawer = self._drawer == name and not columns
            desk.query_one(f"#{name}-dock", Dock).lay(
                shown=drawer or columns > 0, drawer=drawer, width=columns
            )
            if self._drawer == name and not drawer:
                self._drawer = ""
        desk.show_frame()

    def toggle(self, name: str) -> None:
        """Show or hide a dock or drawer."""
        desk = self._desk
        content = desk.query_one(f"#{name}")
        if name == "scores" and not desk.current.SCORES_DOCK:
            desk.current.show_message("This page has no score panel.")
        elif not self._room[name]:
            self._drawer = "" if self._drawer == name else name
            self.apply()
            (content.focus if self._drawer else desk.current.focus_inside)()
        else:
            desk.workbench.remember(**{name: not getattr(desk.workbench.remembered, name)})
            if content.has_focus:
                desk.current.focus_inside()
            self.apply()
            desk.current.update_page()

    def close_drawer(self) -> bool:
        """Close an open drawer without laying out; return whether there was one."""
        was_open, self._drawer = bool(self._drawer), ""
        return was_open

    def leave_drawer(self) -> bool:
        """Close an open drawer and focus the page; return whether there was one."""
        if not self.close_drawer():
            return False
        self.apply()
        self._desk.current.focus_inside()
        return True

    def widen(self, name: str, step: int) -> None:
        """Make a dock so many columns wider; with a negative number, narrower."""
        self.set_width(name, self._wanted(name) + step)

    def _wanted(self, name: str) -> int:
        """Return the columns that a dock should have."""
        kept: int = getattr(self._desk.workbench.remembered, f"{name}_width")
        roomy = name == "explorer" and kept == EXPLORER and self._desk.size.width >= ROOMY
        return ROOMY_EXPLORER if roomy else kept

    def set_width(self, name: str, width: int) -> None:
        """Change the width of a dock, within limits."""
        least = LEAST_EXPLORER if name == "explorer" else LEAST_SCORES
        self._desk.workbench.remember(**{f"{name}_width": min(max(width, least), MAX_WIDTH)})
        self.apply()


class ShownScores(NamedTuple):
    """What the score panel shows: a function that lays lines out for a width, and its argument."""

    lay_out: Callable[[Any, int], Iterator[Content]]
    view: object


class ScoreSheet(WidthAwareWidget):
    """The scores as lines."""

    shown: reactive[ShownScores | None] = reactive(None, layout=True)

    def paint(self, width: int) -> Content:
        """Return all lines."""
        if self.shown is None:
            return Content.styled("Scores appear here as responses arrive.", QUIET)
        return Content("\n").join(self.shown.lay_out(self.shown.view, width))


SIGNS = (
    "✓ right   ✗ wrong   ● given, nothing to be right or wrong\n"
    "· not given   › skipped   ∅ void   - not administered   ! in error"
)


class ScorePanel(VerticalScroll):
    """The scores in the dock; can be focused to scroll."""

    HELP = """\
# Scores

One mark for each item: ✓ right, ✗ wrong, ● given (nothing to be right or wrong), · still to come,
› skipped, ∅ void, ! in error. *Right* is the policy *exact*.

**Features** are those that the judge named: for each a bar for every one of the latest responses,
high where it is present, and the number of responses with it. **Burden** is the mean number of
features present per response, over the judge's fixed set of features; responses without one are
counted below.

Arrows scroll. While a person types, verdicts are hidden; **h** shows and hides them.
"""

    def __init__(self) -> None:
        super().__init__(ScoreSheet(), id="scores")
        self.tooltip = SIGNS


class CompactScores(WidthAwareWidget):
    """The live scores in one line, for narrow terminals."""

    shown: reactive[tuple[Scores, bool]] = reactive((Scores(), False))
    """The scores; whether only the items that were given are shown."""

    def __init__(self) -> None:
        super().__init__(id="compact-scores")

    def paint(self, width: int) -> Content:
        """Return the line."""
        scores, hidden = self.shown
        words = ""
        if scores.judges:
            from tabwb.media.wording import number  # not before the first frame

            burden = scores.judges[0].burden
            usable = f"usable {burden.usable.usable}/{burden.usable.n}"
            words = f"{usable} burden {number(burden.symptom_burden)} over {len(burden.features)}"
        return compact(scores.subtests, words, width, hidden=hidden)
