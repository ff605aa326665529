"""The speaker's view in a second terminal: the picture that is shown in the workbench, alone."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from tabwb.records.errors import TabwbError
from tabwb.workbench.naming.pictures import read_picture
from tabwb.workbench.naming.second_view import FILE_NAME, read
from tabwb.workbench.naming.speaker_sheet import SpeakerSheet

LOOK_S = 0.03
"""So often is looked for another picture; a latency measured with this view is later by as much."""


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
        """The paper."""
        yield SpeakerSheet()

    def on_mount(self) -> None:
        """Look again and again."""
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
    """Open it; the exit status.

    Args:
        store_location: of the workbench's store, or None for the configuration's.
    """
    from tabwb.plugin_api.config.settings import Configuration
    from tabwb.store.store import Store
    from tabwb.workbench.naming import graphics
    from tabwb.workbench.naming.second_view import path_of

    with Store.open(Configuration.load().store_at(store_location)) as store:
        path = path_of(store)
    graphics.prepare()
    app = SpeakerView(path)
    app.run()
    return app.return_code or 0
