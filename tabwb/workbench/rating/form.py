"""The form of a sample: its answers, where questions stand, the grid and the line for words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Input
from textual.widgets.input import Selection

from tabwb.administer.rating.session import Draft
from tabwb.administer.rating.view import turned
from tabwb.battery.forms import MOST_ATTEMPTS, SOURCE, Form, Question, missing, question_keys
from tabwb.phonology.typed import place_of_error, read_phonemes, reading_words
from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import CANNOT_TELL, Answer
from tabwb.workbench.rating.view_models import Slot, attempts_in, slots_of
from tabwb.workbench.rating.wording import HELP, mark
from tabwb.workbench.shell.columns import clipped
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, PRESENT, QUIET, wrapped

GAP = 2
"""Columns of characters between two columns of questions."""
LEAST_MARKED, LEAST_WORDED = 23, 36
"""The least width of a column: of marks and digits, and where answers are words."""
TITLES = 34
"""A fourth column must leave so much room for titles."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a group."""

    title: str


Entry = Heading | Slot | None
"""None is an empty line."""


def least_width(slots: Sequence[Slot]) -> int:
    """Return the least width of a column for these questions."""
    return LEAST_WORDED if _worded(slots) and len(slots) < 12 else LEAST_MARKED


def _worded(slots: Sequence[Slot]) -> bool:
    return any(slot.question.kind in {"choice", "phonemes", "text"} for slot in slots)


def columns_in(slots: Sequence[Slot], width: int) -> int:
    """Return how many columns fit."""
    most = 4 if (width + GAP) // 4 - GAP >= TITLES else 3
    return max(1, min((width + GAP) // (least_width(slots) + GAP), most))


def arranged(form: Form, slots: Sequence[Slot], columns: int, most: int) -> list[list[Entry]]:
    """Return the entries of each column, in reading order down the columns, as short as possible.

    Groups stay together, unless one is much longer than the others. Their titles are left out where
    the columns would be too long with them.
    """
    made = _arranged(_blocks(form, slots), columns)
    if max(map(len, made)) > most and not any(slot.attempt for slot in slots):
        made = _arranged([[slot] for slot in slots], columns)
    return made


def _arranged(blocks: list[list[Entry]], columns: int) -> list[list[Entry]]:
    total = sum(map(len, blocks))
    for height in range(max(ceil(total / columns), 1), total + 1):
        limit = ceil(total / columns) + 3
        pieces = [
            piece
            for block in blocks
            for piece in ([block] if len(block) <= limit else [[entry] for entry in block])
        ]
        filled = _filled(pieces, height)
        if len(filled) <= columns:
            return filled
    return [[entry for block in blocks for entry in block]]


def _blocks(form: Form, slots: Sequence[Slot]) -> list[list[Entry]]:
    titles = {group.id: group.title for group in form.groups}
    blocks: list[list[Entry]] = []
    before: str | None = None
    for slot in slots:
        title = titles.get(slot.question.group, "")
        if slot.question.per_attempt:
            title = f"Attempt {slot.attempt}"
        if title != before:
            blocks.append([Heading(title)] if title else [])
            before = title
        blocks[-1].append(slot)
    return blocks


def _filled(pieces: Sequence[list[Entry]], height: int) -> list[list[Entry]]:
    columns: list[list[Entry]] = [[]]
    for piece in pieces:
        if columns[-1] and len(columns[-1]) + len(piece) > height:
            columns.append([])
        columns[-1] += piece
    return columns


def moved(columns: Sequence[Sequence[Entry]], slot: Slot, right: int, down: int) -> Slot:
    """Return the question that an arrow key leads to."""
    order = [entry for column in columns for entry in column if isinstance(entry, Slot)]
    if down:
        return order[(order.index(slot) + down) % len(order)]
    at = next(n for n, column in enumerate(columns) if slot in column)
    row = list(columns[at]).index(slot)
    other = columns[(at + right) % len(columns)]
    rows = [(abs(n - row), n) for n, entry in enumerate(other) if isinstance(entry, Slot)]
    found = other[min(rows)[1]] if rows else slot
    return found if isinstance(found, Slot) else slot


class AnswerSheet:
    """What a rater has answered about the sample on the screen.

    Every change returns why it is refused, or an empty text.
    """

    def __init__(self, form: Form, draft: Draft, attempts: int = 1) -> None:
        self.form = form
        self.draft = draft
        self.keys = question_keys(form)
        self.attempts = max(attempts_in(draft.answers), attempts)
        self.slots = slots_of(form, self.attempts)
        self.at = self.slots[0]
        """The highlighted question."""

    @property
    def answers(self) -> Mapping[str, Answer]:
        """The answers by key."""
        return self.draft.answers

    def answer_of(self, slot: Slot) -> Answer:
        """Return the answer to a question."""
        return self.draft.answers.get(slot.key)

    def slot_of_key(self, key: str) -> Slot | None:
        """Return the question with a key; of questions per attempt that of the highlighted one."""
        attempt = self.at.attempt or self.attempts
        found = [slot for slot in self.slots if self.keys[slot.question.measure] == key]
        return next((slot for slot in found if slot.attempt in {None, attempt}), None)

    def highlight(self, slot: Slot) -> None:
        """Highlight a question."""
        if slot in self.slots:
            self.at = slot

    def highlight_first_missing(self) -> Question | None:
        """Highlight and return the first question that needs an answer; None where none does."""
        measures = missing(self.form, self.draft.answers)
        if not measures:
            return None
        self.at = next(slot for slot in self.slots if slot.question.measure == measures[0])
        return self.at.question

    # ---------------------------------------------------------------- changes

    def put(self, slot: Slot, answer: Answer) -> str:
        """Take an answer and highlight its question."""
        if answer == CANNOT_TELL and not slot.question.cannot_tell:
            return f"{slot.question.title}: this form has no 'cannot tell' here"
        slot.question.check(answer)
        answers = {key: value for key, value in self.draft.answers.items() if key != slot.key}
        if answer is not None:
            answers[slot.key] = answer
        self.at = slot
        self.draft = replace(self.draft, answers=answers)
        return ""

    def choose(self, slot: Slot, answer: Answer) -> str:
        """Take the answer of a digit; after the last question of a set digits are free again."""
        refused = self.put(slot, answer)
        if slot.question.measure == SOURCE:
            self.at = self.slots[0]
        return refused

    def turn(self, slot: Slot) -> str:
        """Change an answer as one more press of the question's key does."""
        return self.put(slot, turned(slot.question, self.answer_of(slot)))

    def absent(self) -> str:
        """Answer *absent* to the highlighted feature, and highlight the next one without answer."""
        slot = self.at
        if slot.question.kind != "present-absent":
            return f"{slot.question.title}: absent is not an answer here"
        self.put(slot, 0.0)
        at = self.slots.index(slot)
        for following in (*self.slots[at + 1 :], *self.slots[:at]):
            if following.question.kind == "present-absent" and self.answer_of(following) is None:
                self.at = following
                break
        return ""

    def unsure(self, slot: Slot) -> str:
        """Answer *cannot tell*, or take that back."""
        now = self.answer_of(slot)
        return self.put(slot, None if now == CANNOT_TELL else CANNOT_TELL)

    def slot_of_option(self, key: str) -> tuple[Slot, Answer] | None:
        """Return the question and the answer that a key stands for: a point or an option.

        The highlighted question first; then the only other choice that has the key, but never the
        last question of a set.
        """
        if (answer := _option(self.at.question, key)) is not None:
            return self.at, answer
        attempt = self.at.attempt or self.attempts
        for slot in self.slots:
            question = slot.question
            if question.kind != "choice" or question.measure == SOURCE:
                continue
            if slot.attempt in {None, attempt} and (answer := _option(question, key)):
                return slot, answer
        return None

    def sure(self, confidence: int | None) -> str:
        """Take the confidence; the same one again takes it away."""
        same = confidence == self.draft.confidence
        self.draft = replace(self.draft, confidence=None if same else confidence)
        return ""

    def surer(self) -> str:
        """Take the next confidence, after the highest none."""
        now = self.draft.confidence
        following = 0 if now is None else now + 1
        self.draft = replace(self.draft, confidence=None if following > 3 else following)
        return ""

    def write(self, note: str) -> str:
        """Take a note; an empty one takes it away."""
        if note != self.draft.note:
            self.draft = replace(self.draft, note=note)
        return ""

    def add_attempt(self) -> str:
        """Make room for the answers to one more attempt, and highlight it."""
        repeated = next((one for one in self.form.questions if one.per_attempt), None)
        if repeated is None:
            return "this form asks about the whole response, not about attempts"
        if self.attempts == MOST_ATTEMPTS:
            return f"a response has at most {MOST_ATTEMPTS} attempts"
        self.attempts += 1
        self.slots = slots_of(self.form, self.attempts)
        self.at = Slot(repeated, self.attempts)
        return ""


def _option(question: Question, key: str) -> Answer:
    if question.kind == "scale" and key.isdigit():
        value = float(key)
        return value if question.low <= value <= question.high else None
    if question.kind == "choice":
        return next((one.value for one in question.options if one.key == key), None)
    return None


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


WIDEST = 56
"""The most columns of characters of a column of questions without definitions beside it."""
MOST = 40
"""Lines for titles of groups and whole definitions, before the screen says how many it has."""
ALONE = 44
"""Columns of a single column of questions without definitions."""
DEFINITION_AT, LEAST_DEFINITION = 42, 24
"""Where definitions begin in a single column at most, and their least width."""
BESIDE_TITLE = 7
"""Columns beside a title before its definition: key, mark of up to two characters, and blanks."""
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

        Lines that are free go to the shortest definitions first, so that most are whole; the others
        are cut.
        """
        at = DEFINITION_AT
        if not _worded(self._slots):
            at = min(at, max(len(slot.question.title) for slot in self._slots) + BESIDE_TITLE)
        room = width - at
        entries = self.columns[0]
        if room < LEAST_DEFINITION:
            return [(entry, self._cell(entry, min(width, ALONE))) for entry in entries]
        texts = {
            entry: wrapped(entry.question.definition, room) or [""]
            for entry in entries
            if isinstance(entry, Slot)
        }
        free = max(self.most - FOR_LONG - len(entries), 0)
        for text in sorted(texts.values(), key=len):
            most = min(len(text), 1 + free)
            free -= most - 1
            if len(text) > most:
                text[most - 1 :] = [f"{text[most - 1][: room - 1].rstrip()}…"]
        rows: list[tuple[Entry, Content]] = []
        for entry in entries:
            cell = self._cell(entry, at - GAP)
            if not isinstance(entry, Slot):
                rows.append((entry, cell))
                continue
            for number, line in enumerate(texts[entry]):
                left = cell if number == 0 else Content(" " * (at - GAP))
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
