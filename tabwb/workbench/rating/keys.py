"""The keys of the rating screen's own commands. A question's key goes before a command's letter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tabwb.workbench.rating.view_models import RatingView
from tabwb.workbench.shell.commands import key_label


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
