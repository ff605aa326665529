"""The speaker's view: the picture alone, on this screen or in another terminal."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Container

from tabwb.store import takes
from tabwb.store.store import Store
from tabwb.workbench.shell.pictures import Picture, Pixels


class SpeakerSheet(Container):
    """Covers the desk while the speaker's view is on. It takes no focus: the keys stay.

    Attributes:
        is_open: whether it covers the desk.
    """

    DEFAULT_CSS = """
    SpeakerSheet { background: #ffffff; padding: 1 2; width: 100%; height: 100%; }
    """

    def __init__(self) -> None:
        super().__init__(id="speaker-sheet")
        self.is_open = False

    def compose(self) -> ComposeResult:
        """Yield the picture."""
        yield Picture()

    def show(self, pixels: Pixels | None) -> None:
        """Show a picture, or blank paper."""
        for picture in self.query(Picture):  # none before it is mounted
            picture.show(pixels)

    def turn(self) -> None:
        """Cover the desk, or show it again."""
        self.is_open = not self.is_open
        self.screen.set_class(self.is_open, "-speaker")


FILE_NAME = "picture"


def path_of(store: Store) -> Path:
    """Return the path of the file that holds the picture."""
    return takes.folder_of(store) / FILE_NAME


class Showing:
    """Writes pictures to the file. An error of writing never stops an administration."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def show(self, picture: bytes) -> None:
        """Show a picture; without bytes nothing."""
        passing = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with suppress(OSError):
            passing.unlink(missing_ok=True)
            with os.fdopen(
                os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as file:
                file.write(picture)
            passing.replace(self._path)

    def blank(self) -> None:
        """Show nothing."""
        self.show(b"")

    def end(self) -> None:
        """Remove the file: nothing is administered any more."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
