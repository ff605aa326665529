"""Panes, and widgets whose text depends on their width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from textual.containers import Container
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from tabwb.records.words import without_controls
from tabwb.workbench.shell.wording import ACCENT, AMBER, LINE, QUIET, spread


class Pane(Container):
    """A region of a page with a border and a title.

    It is outlined in the accent colour while something inside it has the focus. In a window of few
    rows only the line with the title stays. Its children lie below each other, unless a style gives
    it another layout; what may become longer than the pane goes into a widget that scrolls.
    """

    ALLOW_MAXIMIZE = True

    def __init__(
        self,
        *children: Widget,
        title: str | Content = "",
        id: str | None = None,
        classes: str | None = None,
        main: bool = False,
    ) -> None:
        super().__init__(*children, id=id, classes=classes)
        self.set_class(main, "-main")
        self.border_title = title

    def render_str(self, text_content: str | Content) -> Content:
        """Return a title as plain text: the name of a user or a model may hold brackets."""
        text = Content(text_content) if isinstance(text_content, str) else text_content
        words = text.plain
        bare = text[len(words) - len(words.lstrip()) : len(words.rstrip())]
        if not bare or not self.is_attached:
            return bare
        # Where a border has no sides, Textual draws no blank before the title, or after it.
        styles = self.styles
        return bare.pad(int(not styles.border_left[0]), int(not styles.border_right[0]))

    def on_resize(self) -> None:
        """Draw the title anew: the border may have lost its sides or got them."""
        # Textual returns the title as markup, which it cannot always read back: '[/b' of a name.
        title: Content | None = getattr(self, "_border_title", None)
        if title:
            self.border_title = title

    @property
    def focusable_inside(self) -> Widget | None:
        """The first part that takes the focus, or None."""
        return next((one for one in self.query(Widget) if one.focusable and is_shown(one)), None)

    def focus_inside(self) -> None:
        """Focus the first part that takes the focus."""
        if (widget := self.focusable_inside) is not None:
            widget.focus()

    def on_click(self, event: Click) -> None:
        """Focus what is inside, where the border or an empty place was clicked."""
        if event.widget is self and not self.has_focus_within:
            self.focus_inside()


def is_shown(widget: Widget) -> bool:
    """Return whether neither the widget nor what it lies in is hidden."""
    return all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))


def panes_on(screen: Screen[Any]) -> list[Pane]:
    """Return the panes of a screen that are shown and can take the focus, in their order."""
    return [
        pane
        for pane in screen.query(Pane)
        if is_shown(pane) and (pane.has_class("-main") or pane.focusable_inside is not None)
    ]


class WidthAwareWidget(Widget):
    """Base of widgets that lay out their text in :meth:`paint` for the present width."""

    DEFAULT_CSS = "WidthAwareWidget { height: auto; width: 1fr; }"

    def paint(self, width: int) -> Content:
        """Return the content for a number of columns."""
        raise NotImplementedError

    def render(self) -> Content:
        """Return the content for the present width."""
        return self.paint(self.content_size.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the content for a width that the widget may not have yet."""
        width = max(width, 1)  # beside others there may be no column left in a narrow window
        return self.paint(width).get_height({}, width)

    def on_resize(self, event: Resize) -> None:
        """Lay out again."""
        self.refresh(layout=True)


Lines = Callable[[int], Iterable[Content]]
"""Returns the lines for a number of columns."""


class WrappedText(WidthAwareWidget):
    """Lines of a function that is called with the present width."""

    def __init__(self, lines: Lines, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines = lines

    def show(self, lines: Lines) -> None:
        """Show the lines of another function."""
        self._lines = lines
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        return Content("\n").join(self._lines(width))


class Flow(WidthAwareWidget):
    """Rows of short pieces, wrapped between the pieces."""

    _gap = 3
    _rows: Sequence[Sequence[Content]] = ()

    def show(self, rows: Iterable[Iterable[Content | str]], gap: int) -> None:
        """Show rows of pieces, ``gap`` columns apart; nothing is shown without any."""
        pieces = [[Content.from_text(piece, markup=False) for piece in row] for row in rows]
        self.display = any(pieces)
        # Contents with the same text are equal whatever their styles.
        styled = [[(piece, piece.spans) for piece in row] for row in pieces]
        before = [[(piece, piece.spans) for piece in row] for row in self._rows]
        if (gap, styled) != (self._gap, before):
            self._gap, self._rows = gap, pieces
            self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the rows, wrapped between pieces."""
        gap = self._gap
        lines: list[Content] = []
        for row in self._rows:
            line: list[Content] = []
            used = 0
            for piece in row:
                if line and used + gap + piece.cell_length > max(width, 1):
                    lines.append(Content(" " * gap).join(line))
                    line, used = [], 0
                used += piece.cell_length + (gap if line else 0)
                line.append(piece)
            lines.append(Content(" " * gap).join(line))
        return Content("\n").join(lines)


class Line(WidthAwareWidget):
    """One line with a text at the left and one at the right."""

    DEFAULT_CSS = "Line { height: 1; width: 1fr; }"
    _texts = (Content(""), Content(""))

    def show(self, left: Content | str, right: Content | str = "") -> None:
        """Show two texts."""
        texts = (Content.from_text(left, markup=False), Content.from_text(right, markup=False))
        if not all(map(Content.is_same, texts, self._texts)):
            self._texts = texts
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line."""
        return spread(*self._texts, width)


_COLOURS = {"cyan": ACCENT, "yellow": AMBER}
"""Colours of the report, and the theme's variable for each."""


def content_of(view: RenderableType, width: int) -> Content:
    """Return a view of :mod:`tabwb.media.views` as lines in the colours of the theme."""
    console = Console(
        file=StringIO(), width=max(width, 1), highlight=False, markup=False, emoji=False
    )
    lines = console.render_lines(view, pad=False)
    return Content("\n").join(Content.assemble(*_pieces(line)) for line in lines).rstrip()


def _pieces(line: list[Segment]) -> Iterator[tuple[str, str]]:
    while line and line[-1].text.isspace():
        line = line[:-1]
    for segment in line:
        rule = segment.text and set(segment.text) == {"─"}
        yield without_controls(segment.text), LINE if rule else _theme_style(segment.style)


@cache
def _theme_style(style: Style | None) -> str:
    if style is None:
        return ""
    names = ["bold"] if style.bold else []
    if style.reverse:
        names.append("reverse")
    if style.dim:
        names.append(QUIET)
    if style.color is not None and style.color.name in _COLOURS:
        names.append(_COLOURS[style.color.name])
    return " ".join(names)


class ReportView(WidthAwareWidget):
    """Shows a view of the report, laid out again when its width changes."""

    def __init__(self, view: RenderableType = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._view = view
        self._painted: tuple[int, Content] | None = None

    def show(self, view: RenderableType) -> None:
        """Show another view."""
        self._view, self._painted = view, None
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        if self._painted is None or self._painted[0] != width:
            self._painted = width, content_of(self._view, width)
        return self._painted[1]
