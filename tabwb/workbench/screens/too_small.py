"""Says that there is too little room; everything waits behind it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen

from tabwb.workbench.widgets.painted import Painted


class SizeNotice(Painted):
    """How much room there is and how much is needed."""

    can_focus = True
    HELP = "# Too little room\n\nMake the terminal at least 80 columns wide and 24 lines high."

    def paint(self, width: int) -> Content:
        """A few short lines."""
        size = self.app.size
        return Content.assemble(
            ("tabwb needs 80x24", "bold"),
            f"\nhere are {size.width}x{size.height}\n\n",
            ("Make the terminal larger;\nnothing is lost.", "$quiet"),
        )


class TooSmall(ModalScreen[None]):
    """Covers the screen until there is room again."""

    DEFAULT_CSS = """
    TooSmall { align: center middle; background: $background; }
    TooSmall SizeNotice { width: 100%; height: auto; text-align: center; }
    """

    def __init__(self) -> None:
        super().__init__(id="too-small")

    def compose(self) -> ComposeResult:
        """The notice."""
        yield SizeNotice()
