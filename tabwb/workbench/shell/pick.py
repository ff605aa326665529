"""Picks one of several lines: a judge, an administration."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tabwb.workbench.shell.dialog import Dialog


class Lines(OptionList):
    """What can be picked."""

    HELP = "# Pick one\n\nArrows move, **enter** picks, **esc** closes."


class PickScreen(Dialog[int | None]):
    """Returns the place of the line that was picked; None when closed with esc."""

    CSS_PATH = "pick.tcss"

    def __init__(self, title: str, lines: Sequence[Content], at: int = 0) -> None:
        super().__init__()
        self._title, self._lines, self._at = title, tuple(lines), at

    def compose(self) -> ComposeResult:
        """Title, lines."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Lines(
                *(Option(line, id=str(at)) for at, line in enumerate(self._lines)),
                id="lines",
                compact=True,
            )
            yield Static("enter picks   esc closes", classes="dialog-note")

    def on_mount(self) -> None:
        """The present one."""
        self.query_one(Lines).highlighted = self._at

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """That one."""
        self.dismiss(event.option_index)
