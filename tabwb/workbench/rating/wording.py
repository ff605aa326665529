"""Words of the rating screen: marks, lines, keys, and its help with the form's definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from tabwb.administer.rating.session import Draft
from tabwb.administer.rating.view import SURE, RatingView, answer_title
from tabwb.battery.forms import Form, Option, Question
from tabwb.phonology.inventory import parse_spoken, to_ipa
from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import CANNOT_TELL, Answer
from tabwb.workbench.rating.view_models import Slot, attempts_in, slots_of
from tabwb.workbench.shell.columns import Column, Heading, laid
from tabwb.workbench.shell.commands import key_label
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.drawn import scale
from tabwb.workbench.shell.help import CLOSING
from tabwb.workbench.shell.sound import bars
from tabwb.workbench.shell.widgets import ReportView, WrappedText
from tabwb.workbench.shell.wording import (
    ABSENT,
    ACCENT,
    AMBER,
    LEAST,
    PRESENT,
    QUIET,
    folded,
    wrapped,
)

BESIDE_NAME = 51
"""Columns of the title bar beside the name of the set and the rater's code."""
UNSURE, OPEN = "?", "·"
LOUD_ROWS, ONLY_LOUD_ROWS = 2, 6
"""Lines of the loudness of a recording, beside others and where it is all there is."""
PIECE_GAP = 3
"""Columns between two pieces in a line."""


def mark(question: Question, answer: Answer) -> str:
    """Return an answer as it is shown beside the question.

    Args:
        question: that was answered.
        answer: to it.
    """
    if answer == CANNOT_TELL:
        return UNSURE
    if answer is None:
        return OPEN
    if question.kind == "present-absent":
        return PRESENT if answer == 1.0 else ABSENT
    if question.kind == "scale":
        return f"{answer:g}"
    if question.kind == "choice":
        return next((one.title for one in question.options if one.value == answer), str(answer))
    if question.kind == "phonemes":
        return in_ipa(str(answer))
    return str(answer)


def answer_words(question: Question, answer: Answer, *, confirmed: bool = False) -> str:
    """Return an answer as a mark with its word."""
    shown, words = mark(question, answer), answer_title(question, answer, confirmed=confirmed)
    if question.kind == "present-absent" or answer is None or answer == CANNOT_TELL:
        return f"{shown} {words}"
    return words if question.kind == "scale" else shown


def in_ipa(phonemes: str) -> str:
    """Return phonemes in ARPAbet as IPA; what is not read stays as it is.

    >>> in_ipa("D AO G"), in_ipa("D <sil> AO"), in_ipa("9")
    ('dɔɡ', 'd <sil> ɔ', '9')
    """
    try:
        read = parse_spoken(phonemes)
    except TabwbError:
        return phonemes
    words: list[list[str]] = [[]]
    shown: list[str] = []
    for phoneme in read:
        if phoneme.startswith("<"):
            shown += [to_ipa(words[-1]), phoneme]
            words.append([])
        else:
            words[-1].append(phoneme)
    return " ".join(filter(None, [*shown, to_ipa(words[-1])]))


def definition_lines(
    slot: Slot, answer: Answer, width: int, *, room: int, confirmed: bool = False
) -> Iterator[Content]:
    """Yield what stands about one question: title, answer, definition, answers allowed, example."""
    question, width = slot.question, max(width, LEAST)
    title = question.title + (f", attempt {slot.attempt}" if question.per_attempt else "")
    said = answer_words(question, answer, confirmed=confirmed)
    head = Content.assemble((title, "bold"), "   ", (said, ACCENT))
    body: list[Content] = []
    if question.options and any(
        option.key or question.kind == "scale" for option in question.options
    ):
        pieces = [
            Content.assemble((option.key or option.value, f"bold {ACCENT}"), " ", option.title)
            for option in question.options
        ]
        body += flowed(pieces, width)
    if question.definition:
        body += [Content(line) for line in wrapped(question.definition, width)]
    if question.example:
        body += [Content.styled(line, QUIET) for line in wrapped(f"e.g. {question.example}", width)]
    lines = [head.truncate(width, ellipsis=True), *body]
    if len(lines) > room:
        lines = lines[: max(room, 1)]
        lines[-1] = Content.assemble(lines[-1].truncate(width - 2), " …")
    yield from lines


def flowed(pieces: list[Content], width: int) -> list[Content]:
    """Return pieces side by side, wrapped between them."""
    lines: list[Content] = []
    for piece in pieces:
        if lines and lines[-1].cell_length + PIECE_GAP + piece.cell_length <= width:
            lines[-1] = Content.assemble(lines[-1], " " * PIECE_GAP, piece)
        else:
            lines.append(piece)
    return lines


def sample_lines(view: RatingView, width: int) -> Iterator[Content]:
    """Yield prompt, context and text of a sample."""
    width = max(width, LEAST)
    if view.prompt:
        yield from (Content.styled(line, "bold") for line in _wrapped(view.prompt, width))
        yield Content("")
    if view.audio_s is not None:
        yield Content.assemble(
            ("▸ ", ACCENT), f"a recording of {view.audio_s:.2f} s", ("   space plays it", QUIET)
        )
    if view.loudness is not None:
        alone = not (view.picture or view.text or view.target)
        wide = min(width, 100)
        for row in bars(view.loudness, wide, ONLY_LOUD_ROWS if alone else LOUD_ROWS):
            yield Content.styled(row, ACCENT)
        if alone:
            yield scale(wide, highest=view.audio_s or 1.0)
    if view.target:
        yield Content.assemble(("expected  ", QUIET), (view.target, "bold"))
    if view.context_before:
        yield from (Content.styled(line, QUIET) for line in _wrapped(view.context_before, width))
    if view.text:
        for line in _wrapped(view.text, width - 2):
            yield Content.assemble(("▌ ", ACCENT), line)
    elif "text" in view.form.shows and not view.form.spoken:
        yield Content.assemble(("▌ ", ACCENT), ("(nothing was said)", QUIET))
    if view.context_after:
        yield from (Content.styled(line, QUIET) for line in _wrapped(view.context_after, width))


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in text.splitlines() or [""]:
        yield from wrapped(line, max(width, LEAST)) or [""]


def progress_words(view: RatingView) -> str:
    """Return ``sample 12 of 82``."""
    return f"sample {view.position} of {view.planned}" + ("   learning" if view.learning else "")


def title_line(
    view: RatingView | None, saved: tuple[str, str], width: int
) -> tuple[Content, Content]:
    """Return both ends of the title bar: set and rater, and what is saved."""
    words = ""
    if view is not None:
        room = max(width - len(view.rater) - BESIDE_NAME, LEAST)
        name = Content(view.set_name).truncate(room, ellipsis=True).plain
        words = f" · rating set {name} · rater {view.rater}"
    left = Content.assemble(("tabwb", f"bold {ACCENT}"), words)
    return left, Content.assemble(("blind", QUIET), "   ", ("", "") if view is None else saved)


def place_line(view: RatingView, draft: Draft, *, more: bool) -> tuple[Content, Content]:
    """Return what stands above a sample at the left and at the right."""
    left = Content.styled(progress_words(view) if view.phase != "over" else "", "bold")
    if more:
        left = Content.assemble(left, ("   page down", f"bold {ACCENT}"), (" continues", QUIET))
    if view.phase != "rate":
        return left, Content("")
    note = "note ✓   " if draft.note else ""
    sure = confidence_words(draft.confidence)
    looked = looked_words(view.form, draft.answers)
    return left, Content.styled(f"{looked}{note}confidence {sure}", QUIET)


def looked_words(form: Form, answers: Mapping[str, Answer]) -> str:
    """Return how many features were looked at; nothing for a form without such questions."""
    features = [one.measure for one in form.questions if one.kind == "present-absent"]
    looked = sum(answers.get(measure) is not None for measure in features)
    return f"{looked} of {len(features)} looked at   " if features else ""


def confidence_words(confidence: int | None) -> str:
    """Return a confidence in words.

    >>> confidence_words(3), confidence_words(None)
    ('3 sure', '- not given')
    """
    return "- not given" if confidence is None else f"{confidence} {SURE[confidence]}"


_Compared = tuple[bool, Question, Answer, Answer]
"""Whether they differ, the question, the rater's own answer, the right one."""


def feedback_lines(view: RatingView, width: int) -> Iterator[Content]:
    """Yield the right answers to a calibration sample beside the rater's own, the unlike first."""
    right: Mapping[str, Answer] = view.right or {}
    rows = []
    for slot in slots_of(view.form, attempts_in(right)):
        if slot.key in right:
            own, other = view.rated.get(slot.key), right[slot.key]
            rows.append((own != other, slot.question, own, other))
    unlike = sum(row[0] for row in rows)
    same = len(rows) - unlike
    yield Content.assemble(("Right answers   ", "bold"), (f"{same} of {len(rows)} as yours", QUIET))
    yield Content("")
    shown: list[_Compared | Heading] = []
    for row in sorted(rows, key=lambda row: not row[0]):
        shown.append(row)
        differs, question, *_ = row
        if differs and question.definition:
            shown += map(Heading, folded(question.definition, width, QUIET, 4))
    yield from laid(COMPARED, shown, width)


def _quietly(words: str, row: _Compared, style: str) -> Content:
    return Content.styled(words, style if row[0] else QUIET)


COMPARED: Sequence[Column[_Compared]] = (
    Column("", lambda row: "!" if row[0] else "", style=f"bold {AMBER}"),
    Column("", lambda row: _quietly(row[1].title, row, "bold"), least=16, most=34, end=True),
    Column("yours", lambda row: _quietly(answer_words(row[1], row[2]), row, ACCENT), least=14),
    Column("right", lambda row: _quietly(answer_words(row[1], row[3]), row, "bold"), least=14),
)
"""The columns of own and right answers."""


def over_lines(view: RatingView, *, only: bool) -> Iterator[Content]:
    """Yield the lines of the screen when nothing is left to rate."""
    yield Content.styled(f"{view.done} of {view.planned} samples are rated. Thank you.", "bold")
    yield Content("")
    if view.withheld:
        yield Content(f"{view.withheld} are not shown: their speakers do not agree to rating now.")
    yield Content.styled(
        f"z shows the last sample again; F10 {'ends the program' if only else 'leaves'}.", QUIET
    )


def option_columns(question: Question) -> Sequence[Column[Answer]]:
    """Return the columns of answers to choose from: key, title, definition."""

    def of(value: Answer) -> Option | None:
        return next((one for one in question.options if one.value == _text(value)), None)

    def key(value: Answer) -> str:
        found = of(value)
        return UNSURE if value == CANNOT_TELL else found.key if found is not None else ""

    def title(value: Answer) -> str:
        found = of(value)
        if value == CANNOT_TELL:
            return "cannot tell"
        return answer_words(question, value) if found is None else found.title

    def definition(value: Answer) -> str:
        found = of(value)
        return "" if found is None else found.definition

    return (
        Column("", key, style="bold"),
        Column("", title, least=20, end=True),
        Column("", definition, least=20, end=True, style=QUIET),
    )


def _text(value: Answer) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _rates(view: RatingView) -> bool:
    return view.phase == "rate"


def _sounds(view: RatingView) -> bool:
    return _rates(view) and view.audio_s is not None


def _silent(view: RatingView) -> bool:
    return _rates(view) and view.audio_s is None


def _goes_on(view: RatingView) -> bool:
    return view.phase != "over"


def _repeats(view: RatingView) -> bool:
    return _rates(view) and any(question.per_attempt for question in view.form.questions)


def _verdicts(view: RatingView) -> bool:
    kinds = {question.kind for question in view.form.questions}
    return _rates(view) and "present-absent" in kinds


def _always(view: RatingView) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class RatingKey:
    """One command of the screen.

    Attributes:
        method: of the screen, without ``do_``.
        keys: as Textual names them; a letter that a question of the form has is left to it.
        word: in the footer; empty: it is not there.
        text: one line for the table of keys.
        when: whether it can be used now.
    """

    method: str
    keys: tuple[str, ...]
    word: str
    text: str
    when: Callable[[RatingView], bool] = _rates

    def label(self, taken: frozenset[str]) -> str:
        """Return the first key that no question has, as it is written for people."""
        return key_label(next(key for key in self.keys if key not in taken))


KEYS = (
    RatingKey("next", ("enter",), "Next", "The sample is done: store it and show the next one. "
              "What was not looked at is asked first; enter again confirms it as absent.",
              _goes_on),
    RatingKey("absent", ("minus", "underscore"), "Absent",
              "The highlighted feature is absent; go to the next one not looked at.", _verdicts),
    RatingKey("play", ("space", "f8"), "Play", "Play what was said; again: stop.", _sounds),
    RatingKey("slow", ("l", "f9"), "Slow",
              "Play it at three quarters of its speed, at the same pitch.", _sounds),
    RatingKey("attempt", ("m", "f3"), "Attempt", "Answer for one more attempt.", _repeats),
    RatingKey("turn", ("space",), "", "Change the answer to the highlighted question.", _silent),
    RatingKey("back", ("z", "f7"), "Back", "Show the sample before; what is answered stays.",
              _always),
    RatingKey("surer", ("plus",), "", "How sure you are, from 0 to 3, one step with each press."),
    RatingKey("undo", ("u", "f6"), "Undo",
              "Take back the last change of this sample, else the last completion."),
    RatingKey("note", ("n", "f2"), "Note", "Write a note on this sample; enter keeps it."),
    RatingKey("guidelines", ("g", "f4"), "Guidelines", "Show the guidelines of this set.",
              _always),
    RatingKey("unsure", ("exclamation_mark",), "", "Cannot tell, for the highlighted question."),
    RatingKey("clear", ("delete", "backspace"), "",
              "Remove the answer to the highlighted question: not looked at."),
    RatingKey("edit", ("tab",), "", "Choose or write the answer to the highlighted question."),
    RatingKey("theme", ("f5",), "", "Dark, light, high contrast.", _always),
    RatingKey("help", ("question_mark", "f1"), "Keys", "This table.", _always),
    RatingKey("leave", ("f10",), "Leave", "Leave; everything is stored.", _always),
)  # fmt: skip
MOVES = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
SCROLLS = frozenset({"pageup", "pagedown", "shift+up", "shift+down"})
"""Keys that scroll the text, by pages; with shift by lines."""


def command_of(key: str, view: RatingView, taken: frozenset[str]) -> RatingKey | None:
    """Return the command that a key stands for now, or None."""
    if key in taken and view.phase == "rate":
        return None
    return next((one for one in KEYS if key in one.keys and one.when(view)), None)


def answer_hints(view: RatingView) -> list[tuple[str, str]]:
    """Return how questions are answered, for the footer: keys and a word each."""
    if view.phase != "rate":
        return []
    kinds = {question.kind for question in view.form.questions}
    hints = []
    if "scale" in kinds:
        hints.append(("letter, digit", "rate"))
    elif "present-absent" in kinds:
        hints.append(("letter", "present"))
    if any(question.cannot_tell and question.key for question in view.form.questions):
        hints.append(("shift", "cannot tell"))
    if "scale" in kinds:
        return hints
    if "present-absent" in kinds:
        hints.append(("0-3", "sure"))
    elif any(one.key for question in view.form.questions for one in question.options):
        hints.append(("digit", "choose"))
    return hints


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
