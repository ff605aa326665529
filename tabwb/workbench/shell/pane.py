"""Panes: the titled regions of a page, the focused one outlined."""

from __future__ import annotations

from typing import Any

from textual.containers import Container
from textual.content import Content
from textual.events import Click
from textual.screen import Screen
from textual.widget import Widget


class Pane(Container):
    """A region of a page with a border and a title.

    It is outlined in the accent colour while something inside it has the focus. In a window of few
    rows only the line with the title stays. Its children lie below each other, unless a style gives
    it another layout; what may become longer than the pane goes into a widget that scrolls.
    """

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
