"""Asks which transcriber hears which responses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from tabwb.records.errors import TabwbError
from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.shell.dialogs import Choice, Dialog, labelled
from tabwb.workbench.shell.fields import Fields, Known, Selection
from tabwb.workbench.shell.wording import AMBER, QUIET
from tabwb.workbench.transcribing.controller import TranscribingWish

NOTE = "Transcription works in the background. The title bar shows its progress."
NEEDED = "Name a transcriber; down lists the installed ones."
HELPS = {
    "transcriber": "A transcriber's spec, for example `wav2vec2:PATH-OR-ID`. **down** lists those "
    "that are installed. The participant must have consented to *transcribe*.",
    "responses": "Recordings without a transcript, or all recordings that this transcriber has "
    "not transcribed. Earlier transcripts stay in the store.",
}
RESPONSES = (("without a transcript", "new"), ("all, with this transcriber", "all"))
FIELDS = Fields("", HELPS)


class TranscribingScreen(Dialog[TranscribingWish | None]):
    """Returns what is to be transcribed; None when closed."""

    CSS_PATH = "dialog.tcss"
    AUTO_FOCUS = "#transcriber"

    def __init__(
        self, number: int, spec: str, catalogue: Catalogue, check: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._number, self._spec, self._catalogue, self._check = number, spec, catalogue, check

    def compose(self) -> ComposeResult:
        """Yield fields, message, buttons."""
        known = [
            Known(one.spec, one.shape, one.title, one.unavailable_reason)
            for one in self._catalogue.transcribers
        ]
        with Vertical(classes="dialog"):
            yield Static(f"Transcribe #{self._number}", classes="dialog-title", markup=False)
            field = FIELDS.combo("transcriber", self._spec, known)
            yield labelled("Transcriber", field)
            yield Static("", id="transcriber-error", markup=False)
            yield labelled("Responses", FIELDS.selection("responses", RESPONSES))
            yield Static(Content.styled(NOTE, QUIET), id="transcribing-message")
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Transcribe", id="begin")
                yield Choice("Close", id="close")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in the field begins."""
        self._begin()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Begin or close."""
        if event.button.id == "begin":
            self._begin()
        else:
            self.dismiss(None)

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was wrong may be right now."""
        self._show_error("")

    @work(exclusive=True)
    async def _begin(self) -> None:
        """Close with what is to be transcribed, or show at the field why it cannot be."""
        spec = self.query_one("#transcriber", Input).value.strip()
        try:
            if not spec:
                raise TabwbError(NEEDED)
            await asyncio.to_thread(self._check, spec)
        except TabwbError as error:
            self._show_error(str(error))
        else:
            again = self.query_one("#responses", Selection).value == "all"
            self.dismiss(TranscribingWish(spec, again=again))

    def _show_error(self, words: str) -> None:
        field, line = self.query_one("#transcriber", Input), self.query_one("#transcriber-error")
        field.set_class(bool(words), "-wrong")
        line.display = bool(words)
        if words:
            self.query_one("#transcriber-error", Static).update(Content.styled(f"! {words}", AMBER))
            field.focus()
