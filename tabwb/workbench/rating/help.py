"""The help of the rating screen: its keys, the questions of the form with their definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from tabwb.battery.forms import Form
from tabwb.workbench.rating.keys import KEYS
from tabwb.workbench.rating.view_models import RatingView
from tabwb.workbench.rating.wording import flowed
from tabwb.workbench.shell.commands import key_label
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.help import CLOSING
from tabwb.workbench.shell.widgets import ReportView, WrappedText
from tabwb.workbench.shell.wording import ACCENT, LEAST

HELP = """\
# Rating

Each question has a key. **?** shows all keys and the definitions of the form. Everything is saved
at once.
"""
KEY = 20


class ReadingScreen(ModalScreen[None]):
    """Shows a text that can be scrolled."""

    CSS_PATH = "../shell/keys.tcss"
    BINDINGS: ClassVar[list[BindingType]] = CLOSING

    def __init__(self, title: str, text: Widget) -> None:
        super().__init__(classes="keys")
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """Yield title and text."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield ScrollPane(self._text, id="key-list", help_text=HELP)
            yield Static("arrows Scroll   esc Close", classes="dialog-note")


def codebook(view: RatingView, keys: Mapping[str, str], taken: frozenset[str]) -> ReadingScreen:
    """Return the screen of all keys and of the questions with their definitions."""

    def lines(width: int) -> Iterator[Content]:
        for key, words in key_rows(view, taken):
            yield from _row(key, Content(""), words, width)
        yield Content("")
        if view.form.notes:
            yield from _row("", Content(""), view.form.notes, width)
            yield Content("")
        yield from question_lines(view.form, keys, width)

    return ReadingScreen("Keys and questions", WrappedText(lines))


def guidelines(view: RatingView) -> ReadingScreen:
    """Return the screen of the guidelines: Markdown in which links are words and lines stay."""
    from rich.markdown import Markdown

    lines = view.guidelines.replace("\n", "  \n")
    text = ReportView(Markdown(lines, hyperlinks=False))
    return ReadingScreen(f"Guidelines of {view.set_name}", text)


def key_rows(view: RatingView, taken: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield each key with what it does."""
    kinds = {question.kind for question in view.form.questions}
    if "present-absent" in kinds:
        yield "letter", "Present; again: absent. · means not looked at."
    if "scale" in kinds:
        yield "letter, digit", "Go to a question; rate it."
    elif "present-absent" in kinds:
        yield "0 to 3", "How sure you are of the whole sample."
    yield "shift+letter", "Cannot tell, where the form allows it."
    yield "arrows", "Highlight another question; the mouse answers too."
    yield "page up, down", "Scroll the text."
    for one in KEYS:
        if one.when(view):
            free = [key_label(key) for key in one.keys if key not in taken]
            yield ", ".join(free), one.text


def question_lines(form: Form, keys: Mapping[str, str], width: int) -> Iterator[Content]:
    """Yield the questions with their definitions, examples and answers."""
    for question in form.questions:
        words = " ".join(filter(None, (question.definition, question.example and (
            f"Example: {question.example}"))))  # fmt: skip
        title = Content.styled(f"{question.title}  ", "bold")
        yield from _row(keys[question.measure], title, words, width)
        pieces = [
            Content.assemble((option.key or option.value, ACCENT), " ", option.title)
            for option in question.options
        ]
        for line in flowed(pieces, max(width - KEY, LEAST)):
            yield Content.assemble(" " * KEY, line)


def _row(key: str, title: Content, words: str, width: int) -> Iterator[Content]:
    room = max(width - KEY, LEAST)
    first, *rest = wrap(" " * title.cell_length + words, room, drop_whitespace=False) or [""]
    yield Content.assemble(
        (key.ljust(KEY - 1) + " ", f"bold {ACCENT}"), title, first[title.cell_length :]
    )
    yield from (Content(" " * KEY + line.strip()) for line in rest)
