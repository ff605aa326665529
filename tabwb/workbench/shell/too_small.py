"""The notice that the terminal is too small."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen

from tabwb.workbench.shell.width_aware import WidthAwareWidget


class SizeNotice(WidthAwareWidget):
    """The size of the terminal and the size that is needed."""

    can_focus = True
    HELP = "# Too little room\n\nMake the terminal at least 80 columns wide and 24 lines high."

    def paint(self, width: int) -> Content:
        """A few short lines."""
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
        """The notice."""
        yield SizeNotice()
