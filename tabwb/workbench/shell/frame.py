"""The frame around the pages: title bar, docks and their layout, footer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click, MouseDown, MouseMove, MouseUp
from textual.message import Message
from textual.widget import Widget

from tabwb.workbench.shell.commands import GROUPS
from tabwb.workbench.shell.remembered import MAX_WIDTH, MIN_WIDTH
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET, spread

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk

NAME = "tabwb"
MENU_GAP = 2


def menu_places() -> dict[str, int]:
    """Return the column at which each menu's title begins.

    >>> menu_places()["file"], menu_places()["administer"]
    (7, 13)
    """
    places = {}
    at = len(NAME) + MENU_GAP
    for group in GROUPS:
        places[group] = at
        at += len(group) + MENU_GAP
    return places


class TitleBar(WidthAwareWidget):
    """One line; on a narrow terminal it shows what is open instead of the menus."""

    class MenuWanted(Message):
        """A menu's title was clicked."""

        def __init__(self, group: str) -> None:
            self.group = group
            super().__init__()

    def __init__(self) -> None:
        super().__init__(id="title-bar")
        self._open = ""
        self._offline: bool | None = None
        self._saved: bool | None = None
        self._narrow = False
        self._recording = ""

    def show(
        self,
        *,
        open_: str,
        offline: bool | None,
        saved: bool | None,
        narrow: bool,
        recording: str = "",
    ) -> None:
        """Show what is open and the states; None or an empty text shows nothing."""
        before = (self._open, self._offline, self._saved, self._narrow, self._recording)
        if (open_, offline, saved, narrow, recording) != before:
            self._open, self._offline, self._saved, self._narrow = open_, offline, saved, narrow
            self._recording = recording
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return name and menus at the left, states at the right."""
        left: Content = Content.styled(NAME, f"bold {ACCENT}")
        if self._narrow:
            what = f" · {self._open}" if self._open else ""
            left = Content.assemble(left, (what, "$foreground"))
        else:
            for group in GROUPS:
                left = Content.assemble(left, " " * MENU_GAP, (group.title(), "$foreground"))
        states = []
        if self._recording:
            states.append((f"● {self._recording}", "bold $warning"))
        if self._offline is not None and not (self._recording and self._narrow):
            states.append((("offline" if self._offline else "network allowed"), QUIET))
        if self._saved is not None:
            states.append(("● saved", ACCENT) if self._saved else ("! not saved", "bold $warning"))
        right = Content("   ").join(Content.styled(*state) for state in states)
        return spread(left, right, width)

    def on_click(self, event: Click) -> None:
        """Open the menu that was clicked."""
        offset = event.x - self.styles.padding.left
        if self._narrow:
            self.post_message(self.MenuWanted(GROUPS[0]))
            return
        for group, at in menu_places().items():
            if at - 1 <= offset <= at + len(group):
                self.post_message(self.MenuWanted(group))


DRAWER_WIDTH = 46
Side = Literal["left", "right"]


class Handle(Widget):
    """The dock's border; drag it to resize."""

    DEFAULT_CSS = """
    Handle { width: 1; height: 1fr; color: $line; }
    Handle:hover { color: $accent; }
    Handle.-dragged { color: $accent; }
    """

    def render(self) -> Content:
        """Return a vertical line."""
        return Content("\n".join("│" * max(self.size.height, 1)))

    def on_mouse_down(self, event: MouseDown) -> None:
        """Start dragging."""
        self.capture_mouse()
        self.add_class("-dragged")

    def on_mouse_up(self, event: MouseUp) -> None:
        """Stop dragging."""
        self.release_mouse()
        self.remove_class("-dragged")

    def on_mouse_move(self, event: MouseMove) -> None:
        """Move the border."""
        dock = self.parent
        if self.has_class("-dragged") and isinstance(dock, Dock):
            dock.drag_to(event.screen_x)


class Dock(Horizontal):
    """Holds one widget."""

    class Resized(Message):
        """The dock was resized with the mouse."""

        def __init__(self, dock: Dock, width: int) -> None:
            self.dock = dock
            self.width = width
            super().__init__()

    def __init__(self, content: Widget, side: Side, *, id: str) -> None:
        super().__init__(id=id, classes=f"dock -{side}")
        self.content = content
        self.side = side

    def compose(self) -> ComposeResult:
        """Yield the content and, towards the page, the handle."""
        if self.side == "right":
            yield Handle()
        yield self.content
        if self.side == "left":
            yield Handle()

    def lay(self, *, shown: bool, drawer: bool, width: int) -> None:
        """Place the dock.

        Args:
            shown: whether it is visible.
            drawer: it covers the page instead of standing beside it.
            width: in columns, of a dock that is no drawer.
        """
        self.display = shown
        self.set_class(drawer, "-drawer")
        self.styles.width = min(DRAWER_WIDTH, self.app.size.width - 8) if drawer else width

    def drag_to(self, column: int) -> None:
        """Make the border follow the mouse."""
        width = column + 1 if self.side == "left" else self.app.size.width - column
        self.post_message(self.Resized(self, min(max(width, MIN_WIDTH), MAX_WIDTH)))


ROOMY = 128
"""From so many columns up the middle has wider margins."""


class DockLayout:
    """Lays out explorer and scores on a desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._drawer = ""
        """The drawer that is open: ``explorer``, ``scores`` or empty."""

    @property
    def narrow(self) -> bool:
        """Whether the docks are drawers."""
        return self._desk.size.width < self._desk.current.WIDE_FROM

    @property
    def scores_stand(self) -> bool:
        """Whether the scores stand beside the page."""
        return not self.narrow and self._desk.workbench.remembered.scores

    def apply(self) -> None:
        """Place the docks for the present size and page."""
        desk, page = self._desk, self._desk.current
        kept = desk.workbench.remembered
        explorer, scores = (
            desk.query_one("#explorer-dock", Dock),
            desk.query_one("#scores-dock", Dock),
        )
        if self.narrow:
            explorer.lay(shown=self._drawer == "explorer", drawer=True, width=0)
            scores.lay(shown=self._drawer == "scores", drawer=True, width=0)
        else:
            self._drawer = ""
            room = max(desk.size.width - page.LEAST_WIDTH, 2 * MIN_WIDTH)
            wanted = kept.explorer_width * kept.explorer + kept.scores_width * kept.scores
            share = min(1.0, room / wanted) if wanted else 1.0
            left = max(int(kept.explorer_width * share), min(kept.explorer_width, 23))
            explorer.lay(shown=kept.explorer, drawer=False, width=left)
            right = min(kept.scores_width, max(room - left * kept.explorer, MIN_WIDTH))
            scores.lay(shown=kept.scores and page.SCORES_DOCK, drawer=False, width=right)
        desk.set_class(self.narrow, "-narrow")
        desk.set_class(not self.narrow and desk.size.width < ROOMY, "-medium")
        desk.show_frame()

    def toggle(self, name: str, content: Widget) -> None:
        """Show or hide a dock or drawer.

        Args:
            name: ``explorer`` or ``scores``.
            content: the widget in it.
        """
        desk = self._desk
        if self.narrow:
            self._drawer = "" if self._drawer == name else name
            self.apply()
            (content.focus if self._drawer else desk.current.focus_inside)()
            return
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
        """Change the width of a dock.

        Args:
            name: ``explorer`` or ``scores``.
            step: columns; negative makes it narrower.
        """
        kept = self._desk.workbench.remembered
        width = min(max(getattr(kept, f"{name}_width") + step, MIN_WIDTH), MAX_WIDTH)
        self._desk.workbench.remember(**{f"{name}_width": width})
        self.apply()

    def set_width(self, dock: Dock, width: int) -> None:
        """Give a dock the width to which its border was dragged."""
        name = "explorer_width" if dock.id == "explorer-dock" else "scores_width"
        self._desk.workbench.remember(**{name: width})
        self.apply()


HINT_GAP = 3


class Hint(NamedTuple):
    """One key in the footer.

    Attributes:
        key: as it is written for people.
        word: what it does.
        run: what a click does; None where it does nothing.
        always: it keeps its place however narrow the footer is.
    """

    key: str
    word: str
    run: Callable[[], object] | None = None
    always: bool = False

    @property
    def width(self) -> int:
        """Its columns."""
        return len(self.key) + 1 + len(self.word)


def fitting(hints: Sequence[Hint], width: int) -> list[Hint]:
    """Return the hints that fit, in their order; those to keep always have priority.

    >>> menu = Hint("F10", "Menu", always=True)
    >>> [one.word for one in fitting([Hint("s", "Skip"), Hint("n", "Note"), menu], 18)]
    ['Skip', 'Menu']
    """
    kept = {at for at, hint in enumerate(hints) if hint.always}
    used = sum(hints[at].width + HINT_GAP for at in kept)
    for at, hint in enumerate(hints):
        if at in kept:
            continue
        if used + hint.width > width:
            break
        kept.add(at)
        used += hint.width + HINT_GAP
    return [hint for at, hint in enumerate(hints) if at in kept]


class Foot(WidthAwareWidget):
    """Keys and words; a click on a hint runs it."""

    def __init__(self) -> None:
        super().__init__(id="foot")
        self._hints: tuple[Hint, ...] = ()

    def show(self, hints: Sequence[Hint]) -> None:
        """Show hints, most needed first."""
        before, self._hints = self._hints, tuple(hints)
        if [hint[:2] for hint in before] != [hint[:2] for hint in hints]:
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the hints that fit."""
        parts = [
            Content.assemble((hint.key, f"bold {ACCENT}"), " ", (hint.word, QUIET))
            for hint in fitting(self._hints, width)
        ]
        return Content(" " * HINT_GAP).join(parts)

    def on_click(self, event: Click) -> None:
        """Run the hint that was clicked."""
        at = 0
        offset = event.x - self.styles.padding.left
        for hint in fitting(self._hints, self.content_size.width):
            if at <= offset < at + hint.width:
                if hint.run is not None:
                    hint.run()
                return
            at += hint.width + HINT_GAP
