"""The answers to one sample while they are given: highlighted question, changes, undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from string import ascii_lowercase

from tabwb.administer.rating.session import Draft
from tabwb.battery.forms import MOST_ATTEMPTS, SOURCE, Form, Question, missing
from tabwb.records.rating_sets import CANNOT_TELL, Answer
from tabwb.workbench.rating.view_models import Slot, attempts_in, slots_of, turned

COMMAND_LETTERS = "glmnuz"
"""Letters of the screen's own commands, which questions without a key get last."""


def question_keys(form: Form) -> dict[str, str]:
    """Return the key of each question by measure; one without a key gets a free letter.

    The letter is the first of the title that neither a question nor a command has.

    >>> made = (Question("a", "Anomia", key="x"), Question("b", "Neologisms", key="a"),
    ...         Question("c", "Nouns"))
    >>> question_keys(Form("f", "1", "F", "MIT", "", made))
    {'a': 'x', 'b': 'a', 'c': 'o'}
    """
    keys = {question.measure: question.key for question in form.questions if question.key}
    for question in form.questions:
        if not question.key:
            title = [letter for letter in question.title.casefold() if letter in ascii_lowercase]
            last = "z" if question.measure == SOURCE else ""
            wanted = [letter for letter in (*title, *ascii_lowercase) if letter not in last]
            wanted.sort(key=lambda letter: letter in COMMAND_LETTERS)
            free = (letter for letter in wanted if letter not in {*keys.values(), "z"})
            keys[question.measure] = next(free, "")
    return {question.measure: keys[question.measure] for question in form.questions}


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
