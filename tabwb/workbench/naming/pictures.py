"""The speaker's view: the picture alone, on this screen or in another terminal."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container

from tabwb.records.errors import TabwbError
from tabwb.store import takes
from tabwb.store.store import Store
from tabwb.workbench.shell import graphics
from tabwb.workbench.shell.pictures import Picture, Pixels, read_picture


class SpeakerSheet(Container):
    """Covers the desk while the speaker's view is on. It takes no focus: the keys stay."""

    DEFAULT_CSS = """
    SpeakerSheet { background: #ffffff; padding: 1 2; width: 100%; height: 100%; }
    """

    def compose(self) -> ComposeResult:
        """Yield the picture."""
        yield Picture()

    def show(self, pixels: Pixels | None) -> None:
        """Show a picture, or blank paper."""
        self.query_one(Picture).show(pixels)


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


LOOK_S = 0.03
"""Seconds between two reads of the file; a latency measured with this view is later by as much."""


class SpeakerView(App[None]):
    """White paper with the picture that the workbench puts into a file; ctrl+c or q leaves."""

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
        picture, pixels = b"", None
        with suppress(OSError):  # nothing is administered
            picture = self._path.read_bytes()
        if picture == self._shown:
            return
        self._shown = picture
        with suppress(TabwbError):  # the workbench says what is wrong with it
            pixels = read_picture(picture, FILE_NAME) if picture else None
        self.query_one(SpeakerSheet).show(pixels)


def run_speaker_view(store_location: str | None) -> int:
    """Open the speaker's view on a store (None: the configuration's); return the exit status."""
    from tabwb.plugin_api.config.settings import Configuration

    with Store.open(Configuration.load().store_at(store_location)) as store:
        path = path_of(store)
    graphics.prepare()
    app = SpeakerView(path)
    app.run()
    return app.return_code or 0
