"""What the speaker sees: white paper with the picture on it, and nothing else."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container

from tabwb.workbench.naming.picture import Picture
from tabwb.workbench.naming.pictures import Pixels


class SpeakerSheet(Container):
    """Covers the desk while the speaker's view is on. It takes no focus: the keys stay."""

    DEFAULT_CSS = """
    SpeakerSheet { background: #ffffff; padding: 1 2; width: 100%; height: 100%; }
    """

    def compose(self) -> ComposeResult:
        """The picture."""
        yield Picture()

    def show(self, pixels: Pixels | None) -> None:
        """Show this picture, or blank paper."""
        self.query_one(Picture).show(pixels)
