"""Jump mode: a letter over each pane, field and button; pressing it moves the focus there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.app import ComposeResult
from textual.events import Click, Key
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Label

from tabwb.workbench.shell.pane import Pane

LETTERS = "asdfghjklqwertyuiopzxcvbnm1234567890"
"""Those under the fingers come first."""


def targets(screen: Screen[Any]) -> Iterator[tuple[Offset, Widget]]:
    """Yield what can take the focus and is to be seen, and where its letter is drawn.

    The letter of what fills a pane is drawn over the pane's title.
    """
    visible = screen.region
    taken = set()
    for widget in screen.focus_chain:
        region = widget.region
        if not region.size or not visible.overlaps(region):
            continue
        place = region.offset
        pane = next((one for one in widget.ancestors if isinstance(one, Pane)), None)
        if pane is not None and pane.focusable_inside is widget:
            place = pane.region.offset
        elif pane is None:
            main = next((one for one in widget.query(Pane) if one.has_class("-main")), None)
            place = place if main is None else main.region.offset
        place = Offset(max(place.x, 0), max(place.y, 0))
        while place in taken:
            place += (1, 0)
        taken.add(place)
        yield place, widget


class JumpScreen(ModalScreen[Widget | None]):
    """Returns the widget whose letter was pressed."""

    DEFAULT_CSS = """
    JumpScreen { align: left top; background: $background 30%; }
    JumpScreen Label {
        position: absolute; padding: 0 1; text-style: bold;
        background: $warning; color: $background;
    }
    JumpScreen #jump-note { dock: bottom; position: relative; background: $panel; color: $quiet; }
    """

    def __init__(self, below: Screen[Any]) -> None:
        super().__init__()
        self._targets = dict(zip(LETTERS, targets(below), strict=False))

    def compose(self) -> ComposeResult:
        """Yield a label with each letter."""
        for letter, (place, _) in self._targets.items():
            label = Label(letter)
            label.styles.offset = place
            yield label
        yield Label(
            "A letter moves the focus to its pane, field or button; esc closes.", id="jump-note"
        )

    def on_key(self, event: Key) -> None:
        """Return the widget of a letter; any other key closes."""
        event.stop().prevent_default()
        found = self._targets.get((event.character or "").lower())
        self.dismiss(found[1] if found else None)

    def on_click(self, event: Click) -> None:
        """Return the widget whose letter was clicked, or close."""
        clicked = str(event.widget.content) if isinstance(event.widget, Label) else ""
        found = self._targets.get(clicked)
        self.dismiss(found[1] if found else None)
