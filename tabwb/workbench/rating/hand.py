"""What the rater's keys and clicks do to the sample on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.events import Key

from tabwb.administer.rating.session import Asked
from tabwb.battery.forms import SOURCE
from tabwb.records.rating_sets import CANNOT_TELL
from tabwb.workbench.rating.help import codebook, guidelines
from tabwb.workbench.rating.keys import MOVES, SCROLLS, command_of
from tabwb.workbench.rating.layout import moved
from tabwb.workbench.rating.sheet import AnswerSheet
from tabwb.workbench.rating.view_models import Move, RatingView, Request, Slot
from tabwb.workbench.rating.wording import option_columns
from tabwb.workbench.shell.dialogs import pick
from tabwb.workbench.shell.settings import next_theme

if TYPE_CHECKING:
    from tabwb.workbench.rating.screen import RatingScreen


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
        name = next_theme(app.theme)
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
