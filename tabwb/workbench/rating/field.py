"""The line in which words, phonemes and notes are written; phonemes are read meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input
from textual.widgets.input import Selection

from tabwb.phonology.inventory import mapped_letters, parse_spoken, to_ipa
from tabwb.records.errors import TabwbError

HELP_PHONEMES = """\
# Phonemes

Every sound that was said, in ARPAbet with blanks (*D AO G*) or in IPA (*dɔɡ*). `<sil>` is a pause,
`<spn>` speech that cannot be understood. **enter** keeps it; what is not a phoneme is marked.
**esc** returns to the commands.
"""
HELP_WORDS = "# Words\n\n**enter** keeps them, **esc** returns to the commands."


class AnswerField(Input):
    """Where words are typed; hidden until it is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False, priority=True),
    ]

    @dataclass
    class Said(Message):
        """What is asked for, how it is read, or what is wrong in it; ``over``: it is closed."""

        words: str
        over: bool = False
        reading: bool = False

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, compact=True, select_on_focus=False)
        self.help_text = HELP_WORDS
        self.display = False
        self._phonemes = False
        self._keep: Callable[[str], None] = lambda words: None

    def open(
        self, label: str, value: str, keep: Callable[[str], None], *, phonemes: bool = False
    ) -> None:
        """Take the focus."""
        self._phonemes, self._keep = phonemes, keep
        self.help_text = HELP_PHONEMES if phonemes else HELP_WORDS
        self.placeholder = label
        with self.prevent(Input.Changed):
            self.value = value
        self.cursor_position = len(value)
        self.display = True
        self.focus()
        self._tell(f"{label}: enter keeps it, esc leaves it")

    def action_leave(self) -> None:
        """Close without keeping anything."""
        self.display = False
        self.post_message(self.Said("", over=True))

    def _tell(self, words: str) -> None:
        self.post_message(self.Said(words, reading=not words.startswith("!")))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say how phonemes are read."""
        event.stop()
        if self._phonemes:
            self._tell(reading_words(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the words; mark what is not a phoneme."""
        event.stop()
        words = event.value.strip()
        if words and self._phonemes:
            try:
                words = read_phonemes(words)
            except TabwbError as error:
                at, length = place_of_error(event.value, error)
                self.selection = Selection(at, at + length)
                self._tell(reading_words(event.value) or f"! {error.message}")
                return
        self.action_leave()
        self._keep(words)


def read_phonemes(text: str) -> str:
    """Return phonemes as they are stored: ARPAbet with one blank between two.

    >>> read_phonemes("dɔɡ"), read_phonemes("d ao  g <sil>")
    ('D AO G', 'D AO G <sil>')
    """
    return " ".join(parse_spoken(text, beyond="allophones"))


def reading_words(text: str) -> str:
    """Return how a text is read so far, in both notations, or what is wrong in it and where.

    >>> reading_words("dɔɡ"), reading_words("D XX G"), reading_words(" ")
    ('D AO G   dɔɡ', "! 'XX' is not a phoneme: the 2nd of 3", '')
    """
    if not text.strip():
        return ""
    try:
        read = parse_spoken(text, beyond="allophones")
    except TabwbError as error:
        at, length = place_of_error(text, error)
        if not length:
            return f"! {error.message}"
        wrong = text[at : at + length]
        if " " in text.strip():
            number, of = len(text[:at].split()) + 1, len(text.split())
            return f"! '{wrong}' is not a phoneme: the {_ordinal(number)} of {of}"
        return f"! '{wrong}' is not a phoneme: at the {_ordinal(at + 1)} letter"
    told = "" if text.isascii() else ", ".join(mapped_letters(re.sub("<[^<>]*>", " ", text)))
    return f"{' '.join(read)}   {to_ipa(read)}" + (f"   ({told})" if told else "")


def place_of_error(text: str, error: TabwbError) -> tuple[int, int]:
    """Return where in a text the label or letter is that an error names, and its length.

    >>> place_of_error("D XX G", TabwbError("'XX' is not a phoneme of the inventory"))
    (2, 2)
    """
    named = re.match(r"'([^']+)'", error.message)
    label = named.group(1) if named else ""
    if not label or label == text:
        return (0, len(label)) if label and " " not in label else (0, 0)
    whole = re.search(rf"(?<!\S){re.escape(label)}(?!\S)", text)
    at = whole.start() if whole else text.find(label)
    return (at, len(label)) if at >= 0 else (0, 0)


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
