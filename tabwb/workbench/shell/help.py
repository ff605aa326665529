"""Help for what is focused."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Markdown, Static

GENERAL = """\
# tabwb

F10 opens the menus, ctrl+p finds any command, ? lists all keys, tab moves the focus.
"""


def help_for(screen: Screen[object]) -> str:
    """The help text of the focused widget, or of what it stands in."""
    focused = screen.focused
    for widget in [] if focused is None else focused.ancestors_with_self:
        text = getattr(widget, "help_text", None) or widget.HELP
        if text:
            return text
    return GENERAL


class HelpText(VerticalScroll, can_focus=True):
    """Scrolls."""

    HELP = "# Help\n\nArrows scroll, **esc** closes."


class HelpScreen(ModalScreen[None]):
    """Shows one text."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", "Close", show=False)
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """The text."""
        with Vertical(classes="dialog"):
            with HelpText(id="help-text"):
                yield Markdown(self._text)
            yield Static("esc closes", classes="dialog-note")
