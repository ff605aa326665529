"""The form on the screen: each question with its key and its answer; the mouse can answer too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.message import Message

from tabwb.battery.forms import Form
from tabwb.records.rating_sets import CANNOT_TELL, Answer
from tabwb.workbench.rating.help import HELP
from tabwb.workbench.rating.layout import GAP, Entry, Heading, arranged, columns_in
from tabwb.workbench.rating.view_models import Slot
from tabwb.workbench.rating.wording import mark
from tabwb.workbench.shell.columns import clipped
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, PRESENT, QUIET, wrapped

WIDEST = 56
"""The most columns of characters of a column of questions without definitions beside it."""
MOST = 40
"""Lines for titles of groups and whole definitions, before the screen says how many it has."""
ALONE = 44
"""Columns of a single column of questions without definitions."""
DEFINITION_AT, LEAST_DEFINITION = 42, 24
"""Where definitions begin in a single column, and their least width."""
FOR_LONG = 4
"""Lines that whole definitions leave free."""
RIGHT = 3
"""The right mouse button: terminals keep clicks with shift for themselves."""
HIGHLIGHT = "bold $block-cursor-foreground on $block-cursor-background"


class FormGrid(WidthAwareWidget, can_focus=True):
    """The questions of a form in columns."""

    HELP = HELP
    DEFAULT_CSS = "FormGrid { width: 1fr; height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"screen.pressed('{key}')", show=False) for key in ("enter", "tab")
    ]

    @dataclass
    class Clicked(Message):
        """A question was clicked; ``unsure`` with shift or the right button."""

        slot: Slot
        unsure: bool

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._form: Form | None = None
        self._slots: tuple[Slot, ...] = ()
        self._keys: Mapping[str, str] = {}
        self._answers: Mapping[str, Answer] = {}
        self._at: Slot | None = None
        self.single = False
        """One column of questions, beside the text."""
        self.most = MOST
        """The most lines for titles of groups to be shown."""

    def show(
        self,
        form: Form,
        slots: tuple[Slot, ...],
        keys: Mapping[str, str],
        answers: Mapping[str, Answer],
        at: Slot,
    ) -> None:
        """Show questions and answers."""
        same = slots == self._slots and form is self._form
        self._form, self._slots, self._keys = form, slots, keys
        self._answers, self._at = answers, at
        self.refresh(layout=not same)

    @property
    def columns(self) -> list[list[Entry]]:
        """The entries of each column."""
        if self._form is None:
            return [[]]
        count = 1 if self.single else columns_in(self._slots, self.content_size.width)
        return arranged(self._form, self._slots, count, self.most)

    def row_of(self, slot: Slot) -> int:
        """Return the line in which a question stands."""
        if self.single:
            rows = self._single_rows(self.content_size.width)
            return next((row for row, (entry, _) in enumerate(rows) if entry == slot), 0)
        return next((column.index(slot) for column in self.columns if slot in column), 0)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        if self._form is None:
            return Content("")
        if self.single:
            return Content("\n").join(line for _, line in self._single_rows(width))
        columns = self.columns
        each = self._width_of_column(width, len(columns))
        lines = []
        for row in range(max(map(len, columns))):
            cells = [
                self._cell(column[row] if row < len(column) else None, each) for column in columns
            ]
            lines.append(Content(" " * GAP).join(cells))
        return Content("\n").join(lines)

    @staticmethod
    def _width_of_column(width: int, columns: int) -> int:
        return max(min((width + GAP) // columns - GAP, WIDEST), 8)

    def _single_rows(self, width: int) -> list[tuple[Entry, Content]]:
        """Return the lines of a single column with definitions beside, each with its entry.

        Each definition has as many lines as leave room for all, and is cut after these.
        """
        room = width - DEFINITION_AT
        entries = self.columns[0]
        if room < LEAST_DEFINITION:
            return [(entry, self._cell(entry, min(width, ALONE))) for entry in entries]
        texts = {
            entry: wrapped(entry.question.definition, room) or [""]
            for entry in entries
            if isinstance(entry, Slot)
        }
        free = self.most - FOR_LONG - len(entries)
        most = max(map(len, texts.values()), default=1)
        while most > 1 and sum(min(len(text), most) - 1 for text in texts.values()) > free:
            most -= 1
        for text in texts.values():
            if len(text) > most:
                text[most - 1 :] = [f"{text[most - 1][: room - 1].rstrip()}…"]
        rows: list[tuple[Entry, Content]] = []
        for entry in entries:
            cell = self._cell(entry, DEFINITION_AT - GAP)
            if not isinstance(entry, Slot):
                rows.append((entry, cell))
                continue
            for number, line in enumerate(texts[entry]):
                left = cell if number == 0 else Content(" " * (DEFINITION_AT - GAP))
                rows.append((entry, Content.assemble(left, " " * GAP, (line, QUIET))))
        return rows

    def _cell(self, entry: Entry, width: int) -> Content:
        if entry is None:
            return Content(" " * width)
        if isinstance(entry, Heading):
            title = clipped(entry.title.upper(), width).ljust(width)
            return Content.styled(title, f"bold {QUIET}")
        assert self._form is not None
        question = entry.question
        answer = self._answers.get(entry.key)
        shown = clipped(mark(question, answer), max(width // 2, 8))
        key = self._keys.get(question.measure, "")
        room = width - 2 - len(shown) - 1
        given = answer is not None and (answer == CANNOT_TELL or shown == PRESENT or answer != 0.0)
        marked = entry == self._at
        line = Content.assemble(
            (key or " ", f"bold {'$on-accent on $accent' if marked else ACCENT}"),
            " ",
            (clipped(question.title, room).ljust(room), "$foreground"),
            " ",
            (shown, f"bold {ACCENT}" if given else QUIET),
        )
        return line.stylize(HIGHLIGHT, 1) if marked else line

    def on_click(self, event: Click) -> None:
        """Answer the question that was clicked."""
        if self.single:
            rows = self._single_rows(self.content_size.width)
            clicked = rows[event.y][0] if event.y < len(rows) else None
            if isinstance(clicked, Slot):
                self.post_message(self.Clicked(clicked, event.shift or event.button == RIGHT))
            return
        columns = self.columns
        each = self._width_of_column(self.content_size.width, len(columns))
        at, inside = divmod(event.x, each + GAP)
        if at < len(columns) and inside < each and event.y < len(columns[at]):
            entry = columns[at][event.y]
            if isinstance(entry, Slot):
                self.post_message(self.Clicked(entry, event.shift or event.button == RIGHT))
