"""What a participant reads and types, in the workbench or in a second terminal."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from tabwb.records.states import AdministrationStatus
from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.shell.wording import AMBER, QUIET

if TYPE_CHECKING:
    from PIL import ImageFont


SIZES = (24, 20, 16, 14, 12)
"""Heights of the letters in half cells, the largest first; smaller ones are hard to read."""
INK = 110
"""A half cell is filled from this share of 255 up."""
_CELLS = " ▀▄█"
_PUNCTUATION = "–—‘’“”…"


def fitting(texts: tuple[str, ...], width: int, height: int) -> list[str] | None:
    """Return texts in the largest letters that fit, below each other, or None if none fit."""
    if not all(character in _PUNCTUATION or ord(character) < 0x250 for character in "".join(texts)):
        return None
    for size in SIZES:
        if _font(size) is None:
            return None
        rows: list[str] | None = []
        for text in texts:
            drawn = large(text, size, width)
            rows = None if drawn is None or rows is None else [*rows, *drawn]
        if rows is not None and len(rows) <= height:
            return rows
    return None


@lru_cache(maxsize=64)
def large(text: str, size: int, width: int) -> tuple[str, ...] | None:
    """Return a text as rows of half blocks, wrapped at blanks; None if a word is too wide.

    >>> rows = large("cat", 16, 60)
    >>> len(rows), max(map(len, rows)) <= 60, large("cat", 16, 6)
    (10, True, None)
    """
    from PIL import Image, ImageDraw

    font = _font(size)
    if font is None:
        return None
    lines: list[str] = []
    for word in text.split(" "):
        if font.getlength(word) > width:
            return None
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    height = sum(font.getmetrics())
    height += height % 2
    rows = []
    for line in lines:
        image = Image.new("L", (width, height))
        ImageDraw.Draw(image).text((0, 0), line, fill=255, font=font)
        ink = image.tobytes()
        for upper in range(0, height, 2):
            above, below = (ink[at * width : (at + 1) * width] for at in (upper, upper + 1))
            cells = (
                _CELLS[(one > INK) + 2 * (two > INK)] for one, two in zip(above, below, strict=True)
            )
            rows.append("".join(cells).rstrip())
    return tuple(rows)


@lru_cache(maxsize=len(SIZES))
def _font(size: int) -> ImageFont.FreeTypeFont | None:
    """Return Pillow's own font, or None where Pillow cannot draw it."""
    from PIL import ImageFont, features

    if not features.check("freetype2"):
        return None
    font = ImageFont.load_default(size)
    return font if isinstance(font, ImageFont.FreeTypeFont) else None


NOTHING_TYPED = "Nothing is typed. Press enter again to record no response."
LARGE_FROM, LARGE_WIDTH = 100, 200
"""Columns of large letters, at least and at most."""
AROUND = 16
"""Rows that instructions, field, margins and foot take."""
SPACIOUS = 30
"""From so many rows up there is an empty row between two options."""


@dataclass(frozen=True, slots=True)
class Card:
    """What the participant sees.

    Attributes:
        key: identifies this presentation of the item; empty for a message.
        words: a message, in place of an item.
        next: space gives the next item.
    """

    key: str = ""
    instructions: str = ""
    prompt: str = ""
    options: tuple[str, ...] = ()
    words: str = ""
    next: bool = False

    @classmethod
    def of(cls, work: Work) -> Self:
        """Return what a participant sees of the open administration."""
        status, item = work.status, work.item
        if status is AdministrationStatus.DONE:
            return cls(words="That was the last question. Thank you.")
        if status is AdministrationStatus.DISCONTINUED:
            return cls(words="We stop here. Thank you.")
        if status is AdministrationStatus.PAUSED:
            return cls(words="Pause")
        if item is None or not work.awaiting:
            return cls(words="Press the space bar for the next question.", next=True)
        key = f"{work.administration.uid}/{item.place[0]}/{len(item.trial.attempts)}"
        return cls(key, item.instructions, item.prompt, item.options)


class AnswerField(TextArea):
    """Grows with the text; the text is recorded exactly as it was typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "record", "Record", show=False, priority=True),
        Binding("escape", "give_back", "Keys", show=False, priority=True),
        Binding("ctrl+j,alt+enter", "new_line", "New line", show=False, priority=True),
    ]
    HELP = """\
# Answer

Type the answer; it is recorded exactly as typed, with the time since the item was drawn.

- **enter** records it; if nothing is typed, a second **enter** records *no response*
- **ctrl+j** begins a new line (**alt+enter** too, where the terminal tells it from enter)
- **esc** gives the keys to the examiner: skip, note, pause; **enter** comes back here
"""

    nothing_typed: reactive[bool] = reactive(False)
    """Whether it is asked to press enter again to record nothing."""

    def __init__(self, record: Callable[[str], object], give_back: Callable[[], object]) -> None:
        self._record, self._give_back = record, give_back
        super().__init__(
            id="answer",
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder="Type your answer, then press enter.",
        )

    def empty(self) -> None:
        """Empty the field for the next answer."""
        self.text = ""
        self.read_only = False
        self.nothing_typed = False

    def action_record(self) -> None:
        """Record the answer, once; an empty one only when enter was pressed twice."""
        if self.read_only:
            return
        if not self.text.strip() and not self.nothing_typed:
            self.nothing_typed = True
        else:
            self.read_only = True
            self._record(self.text)

    def action_give_back(self) -> None:
        """Leave the field; its text stays."""
        self.nothing_typed = False
        self._give_back()

    def action_new_line(self) -> None:
        """Insert a new line."""
        self.insert("\n")

    def on_text_area_changed(self) -> None:
        """Withdraw the question whether to record nothing."""
        self.nothing_typed = False


class ParticipantSheet(Vertical, can_focus=True):
    """The item with the field for the answer, or a message; nothing else."""

    DEFAULT_CSS = """
    ParticipantSheet {
        width: 100%; height: 100%; padding: 1 4; align: center middle; background: $background;
    }
    ParticipantSheet:focus { background-tint: transparent 0%; }
    #participant-column {
        width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 0 1;
    }
    #participant-column > Static { display: none; width: 1fr; height: auto; margin: 0 0 2 0; }
    #participant-instructions { color: $quiet; }
    #participant-prompt, #participant-words { text-style: bold; }
    #participant-options { padding: 0 0 0 4; }
    ParticipantSheet #answer {
        display: none; height: auto; min-height: 5; max-height: 12; padding: 1 2;
        border: round $line; background: $surface;
    }
    ParticipantSheet #answer:focus { border: round $accent; background: $surface; }
    #participant-foot {
        dock: bottom; width: 1fr; height: auto; min-height: 1; text-align: center; color: $quiet;
    }
    """

    @dataclass
    class Answered(Message):
        """An answer was given, so many seconds after the item was drawn."""

        key: str
        text: str
        latency_s: float

    def __init__(self, give_back: Callable[[], object] = lambda: None) -> None:
        super().__init__(id="participant")
        self._give_back = give_back
        """Called when the participant has left the field."""
        self.card = Card()
        self._drawn_at = 0.0
        self._foot = Content("")

    def compose(self) -> ComposeResult:
        """Yield words, field, the line at the foot."""
        with VerticalScroll(id="participant-column", can_focus=False):
            yield Static(id="participant-instructions", markup=False)
            yield Static(id="participant-prompt", markup=False)
            yield Static(id="participant-options", markup=False)
            yield Static(id="participant-words", markup=False)
            yield AnswerField(self._record, self._give_back)
        yield Static(id="participant-foot", markup=False)

    @property
    def field(self) -> AnswerField:
        """The field for the answer."""
        return self.query_one(AnswerField)

    def show(self, card: Card) -> bool:
        """Show an item or a message; return whether it is another item than before."""
        before, self.card = self.card, card
        if card == before:
            return False
        self._lay()
        field = self.field
        field.display = bool(card.key)
        if not card.key or card.key == before.key:
            return False
        field.empty()
        self._drawn_at = 0.0
        self.query_one("#participant-column").scroll_home(animate=False)
        # The clock starts when the frame that holds the item has been written.
        self.call_after_refresh(self._item_drawn)
        return True

    def show_foot(self, words: str | Content) -> None:
        """Show a line at the foot, or nothing."""
        foot = Content.from_text(words, markup=False)
        if not foot.is_same(self._foot):
            self._foot = foot
            self.query_one("#participant-foot", Static).update(foot)

    def on_resize(self, event: Resize) -> None:
        """Lay out for the new size."""
        self._lay()

    def _lay(self) -> None:
        card = self.card
        texts = self._in_large_letters() or {
            "prompt": card.prompt,
            "options": ("\n\n" if self.size.height >= SPACIOUS else "\n").join(card.options),
            "words": card.words,
        }
        texts["instructions"] = card.instructions
        for name, text in texts.items():
            widget = self.query_one(f"#participant-{name}", Static)
            widget.display = bool(text)
            widget.update(text)

    def _in_large_letters(self) -> dict[str, str] | None:
        """Return prompt and options in large letters, where the window has room for them."""
        card = self.card
        column = self.query_one("#participant-column")
        width, room = min(self.size.width - 12, LARGE_WIDTH), self.size.height - AROUND
        words = self.query_one("#participant-words", Static)
        column.styles.width, words.styles.text_align = 76, "center"
        if width < LARGE_FROM:
            return None
        options = ("     ".join(card.options),) if card.options else ()
        drawn = fitting((card.words or card.prompt, *options), width, room)
        if drawn is None:
            return None
        widest = max(len(row) for row in drawn)
        column.styles.width, words.styles.text_align = max(widest + 2, 76), "left"
        name = "words" if card.words else "prompt"
        return {"words": "", "prompt": "", "options": "", name: "\n".join(drawn)}

    def _item_drawn(self) -> None:
        self._drawn_at = time.monotonic()

    def _record(self, text: str) -> None:
        """Tell of the answer, with its latency."""
        now = time.monotonic()
        latency_s = now - (self._drawn_at or now)
        self.post_message(self.Answered(self.card.key, text, latency_s))


def typing_foot(field: AnswerField) -> Content:
    """Return the line at the foot while the participant types."""
    if field.nothing_typed:
        return Content.styled(NOTHING_TYPED, AMBER)
    return Content.styled("enter: I have finished", QUIET)


ASKED, TYPED, WATCHED = "asked", "typed", "watched"
"""Names of the files: what is asked, what was typed, and that a terminal shows it."""
ALIVE_S = 3.0
"""A file that was not touched for so many seconds is of a program that has ended."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What the participant did.

    Attributes:
        key: of the card that was shown.
        text: the response, exactly; None: the next item is asked for.
        latency_s: seconds from the item to the response, measured in the terminal.
    """

    key: str
    text: str | None = None
    latency_s: float = 0.0


class Link:
    """The files in one folder. An error of reading or writing never stops an administration."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    # ---------------------------------------------------------------- the workbench

    def ask(self, card: Card) -> None:
        """Show a card in the terminal."""
        self._write(ASKED, asdict(card))

    def keep(self) -> None:
        """Say that the workbench still runs; call it at least every second."""
        self._touch(ASKED)

    def end(self) -> None:
        """Remove the files: the administration has ended."""
        for name in (ASKED, TYPED):
            with suppress(OSError):
                (self._folder / name).unlink(missing_ok=True)

    def take(self) -> Typed | None:
        """Return what was typed since the last call, once; None where nothing was."""
        value = self._read(TYPED)
        if value is None:
            return None
        with suppress(OSError):
            (self._folder / TYPED).unlink(missing_ok=True)
        key, text, latency_s = (value.get(name) for name in ("key", "text", "latency_s"))
        if not isinstance(key, str) or not isinstance(text, str | None):
            return None
        if not isinstance(latency_s, int | float) or not 0 <= latency_s < math.inf:
            return None
        return Typed(key, text, float(latency_s))

    @property
    def watched(self) -> bool:
        """Whether a terminal shows what is asked."""
        return self._is_alive(WATCHED)

    # ---------------------------------------------------------------- the terminal

    def asked(self) -> Card | None:
        """Return what the workbench asks; None where no participant types."""
        value = self._read(ASKED) if self._is_alive(ASKED) else None
        if value is None:
            return None
        options = value.get("options")
        return Card(
            key=str(value.get("key", "")),
            instructions=str(value.get("instructions", "")),
            prompt=str(value.get("prompt", "")),
            options=tuple(map(str, options)) if isinstance(options, list) else (),
            words=str(value.get("words", "")),
            next=value.get("next") is True,
        )

    def give(self, typed: Typed) -> None:
        """Hand over what the participant typed."""
        self._write(TYPED, asdict(typed))

    def watch(self) -> None:
        """Say that a terminal shows what is asked; call it at least every second."""
        self._touch(WATCHED)

    def leave(self) -> None:
        """Say that no terminal shows it any more."""
        with suppress(OSError):
            (self._folder / WATCHED).unlink(missing_ok=True)

    # ---------------------------------------------------------------- files

    def _write(self, name: str, value: dict[str, object]) -> None:
        passing = self._folder / f".{name}.{os.getpid()}"
        with suppress(OSError):
            passing.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(passing, flags, 0o600), "w", encoding="utf-8") as file:
                json.dump(value, file)
            passing.replace(self._folder / name)

    def _read(self, name: str) -> dict[str, object] | None:
        try:
            value = json.loads((self._folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def _touch(self, name: str) -> None:
        with suppress(OSError):
            (self._folder / name).touch(mode=0o600)

    def _is_alive(self, name: str) -> bool:
        try:
            return time.time() - (self._folder / name).stat().st_mtime < ALIVE_S
        except OSError:
            return False
