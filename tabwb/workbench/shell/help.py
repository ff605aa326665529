"""Help for what is focused, the table of all keys, the notice that the terminal is too small."""

from __future__ import annotations

from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Markdown, Static

from tabwb.workbench.shell.commands import GROUPS, CommandTable, Situation, key_label
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET

KEY_WIDTH = 8
TITLE_WIDTH = 24
CLOSING: list[BindingType] = [
    Binding("escape,q,question_mark,enter", "dismiss", "Close", show=False)
]
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


class HelpText(VerticalScroll, can_focus=True):
    """The scrolling part."""

    HELP = "# Help\n\nArrows scroll, **esc** closes."


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
            yield HelpText(Markdown(self._text), id="help-text")
            yield Static("esc closes", classes="dialog-note")


class KeyTable(WidthAwareWidget):
    """Keys by menu; those that cannot be used now are dimmed."""

    def __init__(self, table: CommandTable, situation: Situation) -> None:
        super().__init__()
        self._table, self._situation = table, situation

    def paint(self, width: int) -> Content:
        """Return all lines."""
        indent = KEY_WIDTH + TITLE_WIDTH + 4
        lines = []
        for group in GROUPS:
            lines.append(Content.styled(group.upper(), f"bold {QUIET}"))
            for command in self._table.listed(group, self._situation.page):
                usable = command.reason(self._situation) is None
                key = " ".join(map(key_label, (command.key, *command.also))).rjust(KEY_WIDTH)
                title = command.title.rstrip("…").ljust(TITLE_WIDTH)
                help_ = "\n".join(wrap(command.help, max(width - indent, 24)))
                lines.append(
                    Content.assemble(
                        (key, f"bold {ACCENT}" if usable else QUIET),
                        (f"  {title}  ", "" if usable else QUIET),
                        (help_.replace("\n", "\n" + " " * indent), QUIET),
                    )
                )
            lines.append(Content(""))
        return Content("\n").join(lines)


class KeyList(VerticalScroll, can_focus=True):
    """The scrolling part."""

    HELP = "# All keys\n\nKeys that cannot be used now are quiet. Arrows scroll, **esc** closes."


class KeysScreen(ModalScreen[None]):
    """The table of keys."""

    CSS_PATH = "keys.tcss"
    BINDINGS: ClassVar[list[BindingType]] = CLOSING

    def __init__(self, table: CommandTable, situation: Situation) -> None:
        super().__init__()
        self._table, self._situation = table, situation

    def compose(self) -> ComposeResult:
        """Yield the table."""
        with Vertical(classes="dialog"):
            yield Static("All keys", classes="dialog-title")
            yield KeyList(KeyTable(self._table, self._situation), id="key-list")
            yield Static("esc closes   in a text field esc: commands", classes="dialog-note")


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
