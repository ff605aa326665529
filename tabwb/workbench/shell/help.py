"""Help for what is focused, the table of all keys, the notice that the terminal is too small."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Markdown, Static

from tabwb.workbench.shell.commands import GROUPS, CommandTable, Situation, key_label
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.width_aware import WidthAwareWidget, WrappedText
from tabwb.workbench.shell.wording import ACCENT, QUIET

KEY_WIDTH = 8
TITLE_WIDTH = 24
CLOSING: list[BindingType] = [
    Binding("escape,q,question_mark,enter", "dismiss", "Close", show=False)
]
OF_HELP = "# Help\n\nArrows scroll, **esc** closes."
OF_KEYS = "# All keys\n\nKeys that cannot be used now are quiet. Arrows scroll, **esc** closes."
GENERAL = """\
# tabwb

F10 opens the menus, ctrl+p finds any command, ? lists all keys, tab moves the focus.
"""


def help_for(screen: Screen[object]) -> str:
    """Return the help text of the focused widget, or of the nearest ancestor that has one."""
    focused = screen.focused
    for widget in [] if focused is None else focused.ancestors_with_self:
        text = getattr(widget, "help_text", None) or widget.HELP
        if text:
            return text
    return GENERAL


class HelpScreen(ModalScreen[None]):
    """Shows one help text."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = CLOSING

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """Yield the text."""
        with Vertical(classes="dialog"):
            yield ScrollPane(Markdown(self._text), id="help-text", help_text=OF_HELP)
            yield Static("esc closes", classes="dialog-note")


class KeysScreen(ModalScreen[None]):
    """The table of keys by menu; those that cannot be used now are dimmed."""

    CSS_PATH = "keys.tcss"
    BINDINGS: ClassVar[list[BindingType]] = CLOSING

    def __init__(self, table: CommandTable, situation: Situation) -> None:
        super().__init__()
        self._table, self._situation = table, situation

    def compose(self) -> ComposeResult:
        """Yield the table."""
        with Vertical(classes="dialog"):
            yield Static("All keys", classes="dialog-title")
            yield ScrollPane(WrappedText(self._lines), id="key-list", help_text=OF_KEYS)
            yield Static("esc closes   in a text field esc: commands", classes="dialog-note")

    def _lines(self, width: int) -> Iterator[Content]:
        indent = KEY_WIDTH + TITLE_WIDTH + 4
        for group in GROUPS:
            yield Content.styled(group.upper(), f"bold {QUIET}")
            for command in self._table.listed(group, self._situation.page):
                usable = command.reason(self._situation) is None
                key = " ".join(map(key_label, (command.key, *command.also))).rjust(KEY_WIDTH)
                title = command.title.rstrip("…").ljust(TITLE_WIDTH)
                words = ("\n" + " " * indent).join(wrap(command.help, max(width - indent, 24)))
                yield Content.assemble(
                    (key, f"bold {ACCENT}" if usable else QUIET),
                    (f"  {title}  ", "" if usable else QUIET),
                    (words, QUIET),
                )
            yield Content("")


class SizeNotice(WidthAwareWidget):
    """The size of the terminal and the size that is needed."""

    can_focus = True
    HELP = "# Too little room\n\nMake the terminal at least 80 columns wide and 24 lines high."

    def paint(self, width: int) -> Content:
        """Return a few short lines."""
        size = self.app.size
        return Content.assemble(
            ("tabwb needs 80x24", "bold"),
            f"\nthis terminal is {size.width}x{size.height}\n\n",
            ("Make the terminal larger;\nnothing is lost.", "$quiet"),
        )


class TooSmall(ModalScreen[None]):
    """Covers the screen until the terminal is large enough."""

    DEFAULT_CSS = """
    TooSmall { align: center middle; background: $background; }
    TooSmall SizeNotice { width: 100%; height: auto; text-align: center; }
    """

    def compose(self) -> ComposeResult:
        """Yield the notice."""
        yield SizeNotice()
