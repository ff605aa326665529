"""The second terminal: the picture or the item that the workbench shows to a participant, alone."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key

from tabwb.records.errors import TabwbError
from tabwb.store.store import Store
from tabwb.workbench.naming.pictures import FILE_NAME, SpeakerSheet, path_of
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.pictures import read_picture
from tabwb.workbench.trial.participant import Card, Link, ParticipantSheet, Typed, typing_foot

LOOK_S = 0.03
"""Seconds between two reads of the files; a latency of naming measured with this view is later by
as much. Latencies of typed responses are measured here."""
WATCH_S = 1.0


class SecondTerminal(App[None]):
    """White paper with a picture, or an item with a field for the answer; ctrl+q leaves."""

    TITLE = "tabwb"
    ENABLE_COMMAND_PALETTE = False
    CSS = "SpeakerSheet { layer: above; dock: top; }  Screen { layers: base above; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True)
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._link = Link(folder)
        self._picture = b""
        self._given = ""
        """Key of the card that was answered."""
        for theme in settings.THEMES:
            self.register_theme(theme)
        self.theme = settings.THEME_NAMES[0]

    def compose(self) -> ComposeResult:
        """Yield the paper, and the sheet for typing below it."""
        yield ParticipantSheet()
        yield SpeakerSheet()

    def on_mount(self) -> None:
        """Read the files regularly."""
        self._link.watch()
        self.set_interval(LOOK_S, self._look)
        self.set_interval(WATCH_S, self._link.watch)
        self.watch(self._sheet.field, "nothing_typed", self._show_foot, init=False)

    def on_unmount(self) -> None:
        """Say that nobody sees it any more."""
        self._link.leave()

    @property
    def _sheet(self) -> ParticipantSheet:
        return self.query_one(ParticipantSheet)

    def _look(self) -> None:
        if not self.query(SpeakerSheet):  # it is being opened or closed
            return
        card = self._link.asked()
        self.query_one(SpeakerSheet).display = card is None
        if card is None:
            self._show_picture()
        elif card != self._sheet.card:
            self._show_card(card)

    def _show_card(self, card: Card) -> None:
        self._sheet.show(card)
        (self._sheet.field if card.key else self._sheet).focus()
        self._show_foot()

    def _show_foot(self) -> None:
        self._sheet.show_foot(typing_foot(self._sheet.field) if self._sheet.card.key else "")

    def _show_picture(self) -> None:
        picture, pixels = b"", None
        with suppress(OSError):  # nothing is administered
            picture = (self._folder / FILE_NAME).read_bytes()
        if picture == self._picture:
            return
        self._picture = picture
        with suppress(TabwbError):  # the workbench says what is wrong with it
            pixels = read_picture(picture, FILE_NAME) if picture else None
        self.query_one(SpeakerSheet).show(pixels)

    def on_participant_sheet_answered(self, event: ParticipantSheet.Answered) -> None:
        """Hand the answer over to the workbench."""
        self._link.give(Typed(event.key, event.text, event.latency_s))

    def on_key(self, event: Key) -> None:
        """Ask for the next item, or return to the field for the answer."""
        sheet = self._sheet
        if sheet.field.has_focus:
            return
        if sheet.card.key:
            sheet.field.focus()
        elif sheet.card.next and event.key in {"space", "enter"}:
            self._link.give(Typed(""))


def run_second_terminal(store_location: str | None) -> int:
    """Open the view on a store (None: the configuration's); return the exit status."""
    from tabwb.host.settings import Configuration

    with Store.open(Configuration.load().store_at(store_location)) as store:
        folder = path_of(store).parent
    settings.prepare_pictures()
    app = SecondTerminal(folder)
    app.run()
    return app.return_code or 0
