"""The speaker's view in a second terminal, and the file through which it gets the picture.

The file holds the picture that is before the speaker, as the battery has it, and nothing else; it
is empty between items, and gone when nothing is administered. Only its user may read it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from tabwb.records.errors import TabwbError
from tabwb.store import takes
from tabwb.store.store import Store
from tabwb.workbench.naming.pictures import SpeakerSheet, read_picture

FILE_NAME = "picture"


def path_of(store: Store) -> Path:
    """Return the path of the file that holds the picture."""
    return takes.folder_of(store) / FILE_NAME


class Showing:
    """Writes pictures to the file. An error of writing never stops an administration.

    Args:
        path: of the file.
    """

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


def read(path: Path) -> bytes | None:
    """Return the picture, empty bytes between items, or None while nothing is administered."""
    try:
        return path.read_bytes()
    except OSError:
        return None


LOOK_S = 0.03
"""Seconds between two reads of the file; a latency measured with this view is later by as much."""


class SpeakerView(App[None]):
    """White paper with a picture; ctrl+c or q leaves.

    Args:
        path: of the file in which the workbench puts the picture.
    """

    TITLE = "tabwb"
    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { background: #ffffff; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+c,ctrl+q", "quit", show=False, priority=True)
    ]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._shown = b""

    def compose(self) -> ComposeResult:
        """Yield the paper."""
        yield SpeakerSheet()

    def on_mount(self) -> None:
        """Read the file regularly."""
        self.set_interval(LOOK_S, self._look)

    def _look(self) -> None:
        picture = read(self._path) or b""
        if picture == self._shown:
            return
        self._shown = picture
        try:
            pixels = read_picture(picture, FILE_NAME) if picture else None
        except TabwbError:
            pixels = None  # the workbench says what is wrong with it
        self.query_one(SpeakerSheet).show(pixels)


def run_speaker_view(store_location: str | None) -> int:
    """Open the speaker's view; return the exit status.

    Args:
        store_location: of the workbench's store, or None for the configuration's.
    """
    from tabwb.plugin_api.config.settings import Configuration
    from tabwb.store.store import Store
    from tabwb.workbench.naming import graphics

    with Store.open(Configuration.load().store_at(store_location)) as store:
        path = path_of(store)
    graphics.prepare()
    app = SpeakerView(path)
    app.run()
    return app.return_code or 0
