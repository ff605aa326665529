"""Widgets whose text depends on their width."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.events import Resize
from textual.widget import Widget


class WidthAwareWidget(Widget):
    """Base of widgets that lay out their text in :meth:`paint` for the present width."""

    DEFAULT_CSS = "WidthAwareWidget { height: auto; width: 1fr; }"

    def paint(self, width: int) -> Content:
        """Return the content for a number of columns."""
        raise NotImplementedError

    def render(self) -> Content:
        """Return the content for the present width."""
        return self.paint(self.content_size.width)

    def on_resize(self, event: Resize) -> None:
        """Lay out again."""
        self.refresh(layout=True)


class Flow(WidthAwareWidget):
    """Rows of short pieces, wrapped between the pieces."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: tuple[tuple[Content, ...], ...] = ()
        self._gap = 3

    def show(self, rows: Iterable[Iterable[Content | str]], gap: int) -> None:
        """Show rows of pieces, ``gap`` columns apart; nothing is shown without any."""
        shown = tuple(
            tuple(Content(piece) if isinstance(piece, str) else piece for piece in row)
            for row in rows
        )
        if (shown, gap) == (self._rows, self._gap):
            return
        self._rows, self._gap = shown, gap
        self.display = any(shown)
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the rows, wrapped between pieces."""
        lines: list[Content] = []
        for row in self._rows:
            line: list[Content] = []
            used = 0
            for piece in row:
                if line and used + self._gap + piece.cell_length > max(width, 1):
                    lines.append(Content(" " * self._gap).join(line))
                    line, used = [], 0
                used += piece.cell_length + (self._gap if line else 0)
                line.append(piece)
            lines.append(Content(" " * self._gap).join(line))
        return Content("\n").join(lines)


class Line(WidthAwareWidget):
    """One line with a text at the left and one at the right."""

    DEFAULT_CSS = "Line { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left = Content("")
        self._right = Content("")

    def show(self, left: Content | str, right: Content | str = "") -> None:
        """Show two texts."""
        shown = tuple(Content(one) if isinstance(one, str) else one for one in (left, right))
        if not all(map(Content.is_same, shown, (self._left, self._right))):
            self._left, self._right = shown
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line."""
        from tabwb.workbench.shell.wording import spread

        return spread(self._left, self._right, width)
