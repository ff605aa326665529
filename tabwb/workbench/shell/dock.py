"""A dock beside the page; on a narrow terminal, a drawer over it."""

from __future__ import annotations

from typing import Literal

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message
from textual.widget import Widget

from tabwb.workbench.shell.remembered import MAX_WIDTH, MIN_WIDTH

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
