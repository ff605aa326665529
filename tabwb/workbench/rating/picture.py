"""The picture of a spoken sample."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container

from tabwb.records.errors import TabwbError


class SamplePicture(Container):
    """Shows the picture, where the form shows one; numpy and Pillow are imported only then."""

    def on_mount(self) -> None:
        """Take no room."""
        self.display = False

    def compose(self) -> ComposeResult:
        """Yield nothing before there is a picture."""
        return iter(())

    def show(self, data: bytes | None) -> None:
        """Show a picture file, or nothing."""
        self.display = data is not None
        if data is None:
            return
        from tabwb.workbench.shell.pictures import Picture, read_picture

        try:
            pixels = read_picture(data)
        except TabwbError:
            self.display = False  # a sample without its picture is still a sample
            return
        shown = next(iter(self.query(Picture)), None)
        if shown is None:
            shown = Picture()
            self.mount(shown)
        shown.show(pixels)
