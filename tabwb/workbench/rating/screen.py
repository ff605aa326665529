"""The rating screen: one sample, the form, and nothing that tells the source.

It covers the whole terminal: title bar, explorer, scores, menus and palette of the workbench are
not on it. It knows only the function that sends :class:`Request` values to the worker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key, Resize, ScreenResume, ScreenSuspend
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, Static

from tabwb.administer.rating.session import Asked
from tabwb.administer.rating.view import RatingView, asked_words
from tabwb.battery.forms import SOURCE
from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import CANNOT_TELL
from tabwb.workbench.rating.form import AnswerField, AnswerSheet, Entry, FormGrid, moved
from tabwb.workbench.rating.view_models import Move, Reply, Request, Slot
from tabwb.workbench.rating.wording import (
    KEYS,
    MOVES,
    SCROLLS,
    answer_hints,
    codebook,
    command_of,
    definition_lines,
    feedback_lines,
    guidelines,
    option_columns,
    over_lines,
    place_line,
    sample_lines,
    title_line,
)
from tabwb.workbench.shell.commands import key_label
from tabwb.workbench.shell.dialogs import pick, prepare_styles
from tabwb.workbench.shell.frame import Foot, Hint
from tabwb.workbench.shell.settings import THEME_NAMES, next_theme
from tabwb.workbench.shell.widgets import Line, WrappedText
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET, folded

PAUSE_S = 180.0
"""After so long without a key a rater is taken to have paused: the rest until the next key does not
count [ours]."""


class WorkClock:
    """Counts the seconds of work on one sample.

    >>> at = 0.0
    >>> clock = WorkClock(lambda: at)
    >>> at = 10.0; clock.touch(); at = 1010.0; clock.touch(); at = 1015.0
    >>> clock.seconds
    195.0
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._since: float | None = now()
        self._counted = 0.0

    def touch(self) -> None:
        """Note that the rater works."""
        self._counted = self.seconds
        self._since = self._now()

    def hold(self) -> None:
        """Stop: something else covers the sample. :meth:`touch` continues."""
        self._counted, self._since = self.seconds, None

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        if self._since is None:
            return self._counted
        return self._counted + min(self._now() - self._since, PAUSE_S)


@dataclass
class Saving:
    """Counts answers that are on their way.

    Attributes:
        unsaved: how many are.
        failed: some could not be stored.
        warned: the rater knows that leaving loses them.
    """

    unsaved: int = 0
    failed: bool = False
    warned: bool = False

    def stored(self) -> None:
        """Note that answers are stored; they hold all answers to the sample so far."""
        self.unsaved, self.failed, self.warned = max(self.unsaved - 1, 0), False, False

    def refused(self) -> None:
        """Note that answers could not be stored."""
        self.failed = True
        self.unsaved = max(self.unsaved - 1, 0)

    def mark(self) -> tuple[str, str]:
        """Return the words of the title bar, with their style."""
        if self.failed:
            return "! not saved", f"bold {AMBER}"
        return ("… saving", QUIET) if self.unsaved else ("saved", ACCENT)


class SamplePicture(Container):
    """Shows the picture, where the form shows one; numpy and Pillow are imported only then."""

    def on_mount(self) -> None:
        """Take no room."""
        self.display = False

    def compose(self) -> ComposeResult:
        """Yield nothing before there is a picture."""
        return iter(())

    def show(self, data: bytes | None) -> None:
        """Show a picture file, or nothing."""
        self.display = data is not None
        if data is None:
            return
        from tabwb.workbench.shell.pictures import Picture, read_picture

        try:
            pixels = read_picture(data)
        except TabwbError:
            self.display = False  # a sample without its picture is still a sample
            return
        shown = next(iter(self.query(Picture)), None)
        if shown is None:
            shown = Picture()
            self.mount(shown)
        shown.show(pixels)


class Hand:
    """Changes the answers to one sample."""

    def __init__(self, screen: RatingScreen, view: RatingView, sheet: AnswerSheet) -> None:
        self._screen, self.view, self.sheet = screen, view, sheet

    @property
    def taken(self) -> frozenset[str]:
        """The keys of the questions."""
        rates = self.view.phase == "rate"
        return frozenset(self.sheet.keys.values()) if rates else frozenset()

    @property
    def asked(self) -> Asked | None:
        """What is to be confirmed; None once an answer was changed."""
        asked = self.view.asked
        return asked if asked is not None and asked.draft == self.sheet.draft else None

    @property
    def confirmed(self) -> tuple[str, ...]:
        """The features that are absent without a look; none once an answer was changed."""
        return self.view.confirmed if self.sheet.draft == self.view.draft else ()

    def request(self, what: Move | Literal["keep"], seconds: float) -> Request:
        """Return a request with the answers so far."""
        return Request(what, self.sheet.draft, seconds, self.view.visit)

    def press(self, event: Key) -> None:
        """Answer, or run a command."""
        sheet, character = self.sheet, event.character or ""
        command = command_of(event.key, self.view, self.taken)
        if command is not None:
            getattr(self, f"do_{command.method}")()
        elif event.key in SCROLLS:
            self._screen.scroll_text(event.key)
        elif self.view.phase != "rate":
            return
        elif event.key in MOVES:
            sheet.highlight(moved(self._screen.columns, sheet.at, *MOVES[event.key]))
            self._screen.show()
        elif character.isdigit() and (found := sheet.slot_of_option(character)):
            self._changed(sheet.choose(*found))
        elif (slot := sheet.slot_of_key(character)) is not None:
            self.answer(slot)
        elif character in {"0", "1", "2", "3"}:
            self._changed(sheet.sure(int(character)))
        elif character.isupper() and (slot := sheet.slot_of_key(character.lower())) is not None:
            self._changed(sheet.unsure(slot))
        elif found := sheet.slot_of_option(character):
            self._changed(sheet.put(*found))
        elif character.isdigit():
            question = sheet.at.question
            points = f": {question.low} to {question.high}" if question.kind == "scale" else ""
            self._screen.say(f"{character} is not an answer to {question.title}{points}")

    def answer(self, slot: Slot) -> None:
        """Do what the key of a question does: present or absent at once, others are highlighted."""
        self.sheet.highlight(slot)
        if slot.question.kind == "present-absent":
            self._changed(self.sheet.turn(slot))
            return
        self._screen.show()
        options = slot.question.options
        if slot.question.kind != "scale" and not (options and all(one.key for one in options)):
            self.do_edit()

    def click(self, slot: Slot, *, unsure: bool) -> None:
        """Answer with the mouse: present or absent at once; others are chosen or written."""
        self.sheet.highlight(slot)
        if unsure:
            self._changed(self.sheet.unsure(slot))
        else:
            self._screen.show()
            self.do_turn()

    def _changed(self, refused: str = "") -> None:
        """Show a change and send it; with a reason nothing has changed."""
        if refused:
            self._screen.say(refused)
        else:
            self._screen.show()
            self._screen.keep()

    # ---------------------------------------------------------------- commands

    def do_next(self) -> None:
        """Store the sample and show the next one, or say what is missing."""
        if self.view.phase != "rate":
            if self.view.phase == "feedback":
                self._screen.ask("go-on")
            return
        question = self.sheet.highlight_first_missing()
        if question is None:
            self._screen.ask("finish")
            return
        words = f"{question.title}: an answer is needed"
        if question.measure == SOURCE:
            options = [f"{one.key} {one.title.lower()}" for one in question.options]
            words = f"last question: {'   '.join(options)}   ! cannot tell"
        self._screen.show()
        self._screen.say(words)

    def do_back(self) -> None:
        """Show the sample before."""
        self._screen.ask("back")

    def do_undo(self) -> None:
        """Take back the last change, else the last completion."""
        self._screen.ask("undo")

    def do_turn(self) -> None:
        """Change the highlighted answer."""
        if self.sheet.at.question.kind in {"present-absent", "scale"}:
            self._changed(self.sheet.turn(self.sheet.at))
        else:
            self.do_edit()

    def do_unsure(self) -> None:
        """Answer cannot tell."""
        self._changed(self.sheet.unsure(self.sheet.at))

    def do_absent(self) -> None:
        """Answer absent, and go to the next feature that was not looked at."""
        self._changed(self.sheet.absent())

    def do_clear(self) -> None:
        """Take the highlighted answer away."""
        if self.sheet.answer_of(self.sheet.at) is not None:
            self._changed(self.sheet.put(self.sheet.at, None))

    def do_surer(self) -> None:
        """Take the next confidence."""
        self._changed(self.sheet.surer())

    def do_attempt(self) -> None:
        """Make room for another attempt."""
        words = self.sheet.add_attempt()
        self._screen.show()
        self._screen.say(words)

    def do_play(self) -> None:
        """Play what was said."""
        self._screen.listen("play")

    def do_slow(self) -> None:
        """Play it slowly."""
        self._screen.listen("slow")

    def do_guidelines(self) -> None:
        """Show the guidelines."""
        if self.view.guidelines:
            self._screen.app.push_screen(guidelines(self.view))
            self._screen.note_guidelines()
        else:
            self._screen.say("this set has no guidelines; ? shows the definitions")

    def do_help(self) -> None:
        """Show all keys and definitions."""
        self._screen.app.push_screen(codebook(self.view, self.sheet.keys, self.taken))

    def do_theme(self) -> None:
        """Use the next theme."""
        app = self._screen.app
        name = next_theme(app.theme, getattr(app, "theme_names", THEME_NAMES))
        take = getattr(app, "take_theme", None)  # the workbench remembers it
        if take is not None:
            take(name)
        else:
            app.theme = name

    def do_leave(self) -> None:
        """Leave the screen, or with it the program."""
        self._screen.leave()

    # ---------------------------------------------------------------- choices and words

    def do_edit(self) -> None:
        """Choose or write the answer to the highlighted question."""
        slot = self.sheet.at
        question, answer = slot.question, self.sheet.answer_of(slot)
        if question.kind in {"text", "phonemes"}:
            value = "" if answer in {None, CANNOT_TELL} else str(answer)
            self._screen.field.open(
                question.title,
                value,
                lambda words: self._changed(self.sheet.put(slot, words or None)),
                phonemes=question.kind == "phonemes",
            )
            return
        if question.kind != "choice":
            return
        values = list(question.values)
        pick(
            self._screen.app, question.title, values,
            lambda value: self._changed(self.sheet.put(slot, value)),
            at=values.index(answer) if answer in values else 0, columns=option_columns(question),
        )  # fmt: skip

    def do_note(self) -> None:
        """Write a note."""
        write = self.sheet.write
        self._screen.field.open(
            "note", self.sheet.draft.note, lambda words: self._changed(write(words))
        )


Send = Callable[[Request], None]
Connect = Callable[[Callable[[Reply], object]], Send]
"""Starts the worker, which tells its replies to a function, and returns what sends requests."""
WIDE, TALL = 124, 30
"""The least columns and lines for the form beside the text."""
LEAVE = "f10"
AROUND = 8
"""Lines of a wide screen that the questions leave for other things."""
ROWS_LOW = 10
"""Lines of the form on a low screen."""
FEW = 10
"""Up to so many questions there is room for long definitions on a low screen."""


class RatingScreen(Screen[None]):
    """One person rates one set."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "FormGrid"
    BLIND: ClassVar[bool] = True
    """Nothing may be shown over this screen that tells a source."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+p", "nothing", show=False, priority=True),
    ]

    @dataclass
    class Told(Message, bubble=False):
        """Brings a reply of the worker's thread."""

        reply: Reply

    def __init__(self, connect: Connect, *, only: bool = False) -> None:
        super().__init__()
        self._connect = connect
        self._only = only
        self._send: Send = lambda request: None
        self.hand: Hand | None = None
        self._clock = WorkClock()
        self._saving = Saving()
        self._awaits_view = True
        self._queued: list[Key] = []
        self._message = ""

    def compose(self) -> ComposeResult:
        """Yield head, sample, form, field, what stands about a question, footer."""
        prepare_styles(self)
        yield Line(id="rating-title")
        with Horizontal(id="rating-body"):
            with Vertical(id="rating-sample"):
                yield Line(id="rating-place")
                with Horizontal(id="rating-shown"):
                    yield SamplePicture(id="rating-picture")
                    with VerticalScroll(id="rating-text", can_focus=False):
                        yield WrappedText(self._sample_lines, id="rating-words")
            with Vertical(id="rating-form"):
                with VerticalScroll(id="rating-questions", can_focus=False):
                    yield FormGrid(id="rating-grid")
                yield AnswerField(id="rating-field")
                yield Static(id="rating-message", markup=False)
                yield WrappedText(self._definition, id="rating-definition")
        yield Foot()

    def on_mount(self) -> None:
        """Ask for the first sample."""
        self._lay_out()
        self._show_title()
        text = self.query_one("#rating-text", VerticalScroll)
        for changing in ("scroll_y", "virtual_size", "show_vertical_scrollbar"):
            self.watch(text, changing, self._show_place, init=False)
        self._send = self._connect(lambda reply: self.post_message(self.Told(reply)))
        del self._connect

    def on_unmount(self) -> None:
        """Let the worker end."""
        self._send(Request("close"))

    def on_screen_suspend(self, event: ScreenSuspend) -> None:
        """Do not count the time while something covers the sample."""
        self._clock.hold()

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Count on."""
        self._clock.touch()

    # ---------------------------------------------------------------- what is shown

    def on_resize(self, event: Resize) -> None:
        """Lay out for the new size."""
        self._lay_out()
        self.show()
        self.call_after_refresh(self.show)

    def _lay_out(self) -> None:
        wide = self.size.width >= WIDE and self.size.height >= TALL
        self.set_class(wide, "-wide")
        self.set_class(self.size.height < TALL, "-low")
        grid = self.query_one(FormGrid)
        low = self.size.height < TALL
        grid.single, grid.most = wide, ROWS_LOW if low else self.size.height - AROUND

    def on_rating_screen_told(self, message: Told) -> None:
        """Show what the worker tells."""
        reply = message.reply
        if reply.what == "shown" and reply.view is not None:
            self._take(reply.view)
        elif reply.what == "kept":
            self._saving.stored()
        elif reply.what == "failed":
            if reply.unsaved:
                self._saving.refused()
            self._awaits_view = False
            self._queued.clear()  # they were meant for a sample that did not come
            if self.hand is None:
                self.query_one(Foot).show([Hint(key_label(LEAVE), "Leave", self.leave)])
            self.say(reply.words)
        elif reply.what == "said":
            self.say(reply.words)
        self._show_title()
        queued, self._queued = self._queued, []
        for event in queued:
            self._press(event)

    def _take(self, view: RatingView) -> None:
        before = self.hand
        first = before is None
        self.hand = Hand(self, view, self._sheet_of(view))
        self._awaits_view, self._message, self._saving = False, "", Saving()
        if view.asked is not None:
            self._queued.clear()  # they were meant for the sample after this one
        if before is None or view.visit != before.view.visit:
            self.query_one("#rating-text", VerticalScroll).scroll_home(animate=False)
        self.query_one(SamplePicture).show(view.picture)
        self.set_class(view.picture is not None, "-pictured")
        if view.learning and view.phase == "rate" and view.asked is None:
            self._message = "learning: the right answers are shown after enter"
        self.query_one("#rating-words", WrappedText).refresh(layout=True)
        self.show()
        if first and view.guidelines_first:
            self.hand.do_guidelines()

    def _sheet_of(self, view: RatingView) -> AnswerSheet:
        """Return the sheet of a view; of the same sample with its highlight and its clock."""
        before = self.hand
        if before is None or view.position != before.view.position:
            self._clock = WorkClock()
            return AnswerSheet(view.form, view.draft)
        made = AnswerSheet(view.form, view.draft, before.sheet.attempts)
        made.highlight(before.sheet.at)
        return made

    def show(self) -> None:
        """Show the sample and the answers."""
        hand = self.hand
        if hand is None:
            return
        view, sheet = hand.view, hand.sheet
        self.query_one("#rating-form").display = view.phase == "rate"
        self._show_place()
        grid = self.query_one(FormGrid)
        grid.show(view.form, sheet.slots, sheet.keys, sheet.answers, sheet.at)
        questions = self.query_one("#rating-questions", VerticalScroll)
        last = grid.row_of(sheet.at) - questions.size.height + 2
        questions.scroll_to(y=max(last, 0), animate=False)
        self.say(self._message)
        self._show_title()
        self._show_foot(hand)

    def _show_place(self) -> None:
        if self.hand is not None:
            text = self.query_one("#rating-text", VerticalScroll)
            more = text.show_vertical_scrollbar and text.scroll_y < text.max_scroll_y
            view, draft = self.hand.view, self.hand.sheet.draft
            self.query_one("#rating-place", Line).show(*place_line(view, draft, more=more))

    @property
    def _is_crowded(self) -> bool:
        """Whether the definition takes the line of a message while there is none."""
        if self.hand is None or not self.has_class("-low"):
            return False
        return len(self.hand.sheet.slots) > FEW and not self.hand.view.form.spoken

    def _show_definition(self) -> None:
        definition = self.query_one("#rating-definition", WrappedText)
        if self.has_class("-wide"):
            definition.styles.height = "1fr"
        elif self._is_crowded:
            definition.styles.height = 2 if self.query_one("#rating-message").display else 3
        elif self.has_class("-low"):
            definition.styles.height = 4
        else:
            definition.styles.height = 6
        definition.refresh(layout=True)

    def _show_title(self) -> None:
        view = None if self.hand is None else self.hand.view
        title = title_line(view, self._saving.mark(), self.size.width)
        self.query_one("#rating-title", Line).show(*title)

    def say(self, words: str, *, reading: bool = False) -> None:
        """Show a message above the definition, until something else is done."""
        self._message = words
        if not words and self.hand is not None and self.hand.asked is not None:
            words = asked_words(self.hand.asked, self.hand.view.form)
        if self.hand is None:  # the set could not be opened
            self.query_one("#rating-words", WrappedText).refresh(layout=True)
        else:
            style = "" if reading else AMBER
            message = self.query_one("#rating-message", Static)
            message.update(Content.styled(words, style))
            message.display = bool(words) or not self._is_crowded
            self._show_definition()

    def _show_foot(self, hand: Hand) -> None:
        if self.field.display:  # letters and digits are words now
            self.query_one(Foot).show([Hint("enter", "Keep"), Hint("esc", "Cancel")])
            return
        runs = {"cannot tell": hand.do_unsure, "sure": hand.do_surer}
        hints = [Hint(key, word, runs.get(word)) for key, word in answer_hints(hand.view)]
        for one in KEYS:
            if one.word and one.when(hand.view):
                run = partial(self.call_later, getattr(hand, f"do_{one.method}"))
                always = one.method in {"help", "next"}
                asks = one.method == "next" and hand.asked is not None
                word = "Confirm" if asks else one.word
                hints.append(Hint(one.label(hand.taken), word, run, always))
        self.query_one(Foot).show(hints)

    def _sample_lines(self, width: int) -> list[Content]:
        if self.hand is None:
            if not self._message:
                return [Content.styled("… opening the rating set", QUIET)]
            first, *rest = self._message.split("   ")  # what is wrong, then what to do
            told = [*folded(f"! {first}", width, AMBER)]
            return [*told, *(line for words in rest for line in folded(words, width, "", 2))]
        view = self.hand.view
        if view.phase == "over":
            return list(over_lines(view, only=self._only))
        if view.phase == "feedback":
            return list(feedback_lines(view, width))
        return list(sample_lines(view, width))

    def _definition(self, width: int) -> list[Content]:
        if self.hand is None:
            return []
        slot, sheet = self.hand.sheet.at, self.hand.sheet
        room = max(self.query_one("#rating-definition").size.height, 2)
        confirmed = slot.key in self.hand.confirmed
        return list(
            definition_lines(
                slot, sheet.answer_of(slot), min(width, 100), room=room, confirmed=confirmed
            )
        )

    # ---------------------------------------------------------------- keys

    @property
    def field(self) -> AnswerField:
        """The field for words."""
        return self.query_one(AnswerField)

    @property
    def columns(self) -> list[list[Entry]]:
        """Where the questions stand."""
        return self.query_one(FormGrid).columns

    def on_key(self, event: Key) -> None:
        """Answer, or run a command; in the text field only esc and enter do something."""
        if isinstance(self.focused, Input):
            return
        event.stop()
        self._press(event)

    def action_pressed(self, key: str) -> None:
        """Handle a key that a focused widget would take."""
        self._press(Key(key, None))

    def action_nothing(self) -> None:
        """Do nothing: there is no palette here."""

    def _press(self, event: Key) -> None:
        if self._awaits_view and event.key != LEAVE:
            self._queued.append(event)  # it is meant for the sample that comes
        elif self.hand is None:
            if event.key == LEAVE:
                self.leave()
        else:
            self._clock.touch()
            self.say("")
            self.hand.press(event)

    def on_form_grid_clicked(self, message: FormGrid.Clicked) -> None:
        """Answer with the mouse."""
        if self.hand is not None and not self._awaits_view:
            self._clock.touch()
            self.say("")
            self.hand.click(message.slot, unsure=message.unsure)

    def on_answer_field_said(self, message: AnswerField.Said) -> None:
        """Show how what is typed is read; give the keys back when the field is closed."""
        self._clock.touch()
        if message.over:
            self.query_one(FormGrid).focus()
        self.say(message.words, reading=message.reading)
        if self.hand is not None:
            self._show_foot(self.hand)

    def scroll_text(self, key: str) -> None:
        """Scroll the text by a page, or with shift by a line."""
        text = self.query_one("#rating-text", VerticalScroll)
        step = 1 if key.startswith("shift") else max(text.size.height - 1, 1)
        text.scroll_relative(y=-step if key.endswith("up") else step, animate=False)

    # ---------------------------------------------------------------- requests

    def keep(self) -> None:
        """Send the answers so far."""
        if self.hand is not None:
            self._saving.unsaved += 1
            self._send(self.hand.request("keep", self._clock.seconds))
            self._show_title()

    def ask(self, what: Move) -> None:
        """Ask for another view; keys wait until it comes."""
        if self.hand is not None:
            self._awaits_view = True
            self._send(self.hand.request(what, self._clock.seconds))

    def listen(self, what: Literal["play", "slow"]) -> None:
        """Play what was said, where the rater sits."""
        if self.app.is_web:
            self.say("sound is played by a terminal, not in a browser: tabwb rate start")
        else:
            self._send(Request(what))

    def note_guidelines(self) -> None:
        """Have it noted that the guidelines were shown."""
        self._send(Request("guidelines"))

    def leave(self) -> None:
        """Leave the screen, or with it the program; at once only if all answers are saved."""
        if self._saving.failed and not self._saving.warned:
            self._saving.warned = True
            self.say(f"not saved: {key_label(LEAVE)} again leaves without the last answers")
        elif self._only:
            self.app.exit(0)
        else:
            self.dismiss(None)
