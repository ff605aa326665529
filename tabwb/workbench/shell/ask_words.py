"""Asks for a few words: a reason, a note."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from tabwb.workbench.shell.dialog import Dialog


class Words(Input):
    """The field."""

    HELP = "# A few words\n\nThey are kept with the item. **enter** accepts, **esc** closes."


class AskWords(Dialog[str | None]):
    """Returns the words; None when closed with esc."""

    CSS_PATH = "ask_words.tcss"

    def __init__(self, title: str, label: str, text: str = "") -> None:
        super().__init__()
        self._title, self._label, self._text = title, label, text

    def compose(self) -> ComposeResult:
        """Title, field, what enter does."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            if self._text:
                yield Static(self._text, classes="dialog-note", markup=False)
            yield Words(placeholder=self._label, id="words", compact=True)
            yield Static("enter accepts   esc closes", id="words-message", classes="dialog-note")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the words, if there are any."""
        if event.value.strip():
            self.dismiss(event.value.strip())
            return
        message = self.query_one("#words-message", Static)
        message.update(f"{self._label}: some words are needed   esc closes")
        message.add_class("-error")
