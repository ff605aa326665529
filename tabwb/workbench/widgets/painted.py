"""A text that is laid out for the width it has."""

from __future__ import annotations

from textual.content import Content
from textual.events import Resize
from textual.widget import Widget


class Painted(Widget):
    """Asks :meth:`paint` for its content whenever its width or what it shows has changed."""

    DEFAULT_CSS = "Painted { height: auto; width: 1fr; }"

    def paint(self, width: int) -> Content:
        """The content for this many columns."""
        raise NotImplementedError

    def render(self) -> Content:
        """The content for the present width."""
        return self.paint(self.content_size.width)

    def on_resize(self, event: Resize) -> None:
        """Lay out again."""
        self.refresh(layout=True)


class Line(Painted):
    """One line with something at the left and something at the right."""

    DEFAULT_CSS = "Line { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left = Content("")
        self._right = Content("")

    def show(self, left: Content | str, right: Content | str = "") -> None:
        """Show these."""
        self._left = Content(left) if isinstance(left, str) else left
        self._right = Content(right) if isinstance(right, str) else right
        self.refresh()

    def paint(self, width: int) -> Content:
        """Left and right, apart."""
        from tabwb.workbench.wording import spread

        return spread(self._left, self._right, width)
