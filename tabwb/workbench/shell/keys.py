"""All keys, from the table of commands."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tabwb.workbench.shell.commands import GROUPS, CommandTable, Situation, key_label
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET

KEY_WIDTH = 8
TITLE_WIDTH = 24


class KeyTable(WidthAwareWidget):
    """Keys by menu; those that cannot be used now are quiet."""

    def __init__(self, table: CommandTable, situation: Situation) -> None:
        super().__init__()
        self._table, self._situation = table, situation

    def paint(self, width: int) -> Content:
        """All lines."""
        return Content("\n").join(list(self._lines(width)))

    def _lines(self, width: int) -> Iterator[Content]:
        for group in GROUPS:
            yield Content.styled(group.upper(), f"bold {QUIET}")
            for command in self._table.listed(group, self._situation.page):
                usable = command.reason(self._situation) is None
                key = " ".join(map(key_label, (command.key, *command.also))).rjust(KEY_WIDTH)
                room = max(width - KEY_WIDTH - TITLE_WIDTH - 4, 24)
                first, *rest = wrap(command.help, room) or [""]
                yield Content.assemble(
                    (key, f"bold {ACCENT}" if usable else QUIET),
                    "  ",
                    (command.title.rstrip("…").ljust(TITLE_WIDTH), "" if usable else QUIET),
                    "  ",
                    (first, QUIET),
                )
                for line in rest:
                    yield Content.styled(" " * (KEY_WIDTH + TITLE_WIDTH + 4) + line, QUIET)
            yield Content("")


class KeyList(VerticalScroll, can_focus=True):
    """Scrolls."""

    HELP = "# All keys\n\nKeys that cannot be used now are quiet. Arrows scroll, **esc** closes."


class KeysScreen(ModalScreen[None]):
    """The table of keys."""

    CSS_PATH = "keys.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", "Close", show=False)
    ]

    def __init__(self, table: CommandTable, situation: Situation) -> None:
        super().__init__()
        self._table, self._situation = table, situation

    def compose(self) -> ComposeResult:
        """The table."""
        with Vertical(classes="dialog"):
            yield Static("All keys", classes="dialog-title")
            with KeyList(id="key-list"):
                yield KeyTable(self._table, self._situation)
            yield Static("esc closes   in a text field esc: commands", classes="dialog-note")
