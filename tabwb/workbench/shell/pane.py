"""Panes: the titled regions of a page, the focused one outlined."""

from __future__ import annotations

from textual.containers import Container
from textual.content import Content
from textual.events import Click
from textual.widget import Widget


class Pane(Container):
    """A region of a page with a border and a title.

    It is outlined in the accent colour while something inside it has the focus. In a window of few
    rows only the line with the title stays. Its children lie below each other, unless a style gives
    it another layout; what may become longer than the pane goes into a widget that scrolls.

    Args:
        children: the widgets inside.
        title: plain text in the border; ``border_title`` changes it.
        main: it is outlined, too, while the page itself has the focus.
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
        # Where a border has no sides, Textual draws its title without a blank before and after it.
        sides = not self.is_attached or self.styles.border_left[0]
        return bare if sides or not bare else bare.pad(1, 1)

    def on_resize(self) -> None:
        """Draw the title anew: the border may have lost its sides or got them."""
        if self.border_title:
            self.border_title = Content.from_markup(self.border_title)

    def focus_inside(self) -> bool:
        """Focus the first part that takes the focus; return whether there is one."""
        for widget in self.walk_children():
            if isinstance(widget, Widget) and widget.focusable:
                widget.focus()
                return True
        return False

    def on_click(self, event: Click) -> None:
        """Focus what is inside, where the border or an empty place was clicked."""
        if event.widget is self and not self.has_focus_within:
            self.focus_inside()
