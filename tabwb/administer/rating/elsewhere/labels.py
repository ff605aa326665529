"""What a file of ratings holds, whichever program wrote it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tabwb.battery.forms import Form, Question, completed
from tabwb.records.classes import dataclass, field
from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import CANNOT_TELL, UNSURE_WORDS, VERDICT_WORDS, Answer

TRUTHS = {"1": 1.0, "1.0": 1.0, "0": 0.0, "0.0": 0.0, **VERDICT_WORDS}


@dataclass(frozen=True, slots=True)
class Label:
    """What one rater said to one question about one response.

    Attributes:
        where: its place, for messages.
        response: its id in the file.
        rater: as the file names them.
        measure: as the file names it; with the number of an attempt, ``code#2``.
        value: as the file has it; empty is not rated.
        occasion: tells ratings apart that one rater gave a response at several times.
        note: on this answer alone: why it was settled so.
        looked_at: ``yes``; ``no`` where it was confirmed as absent with the rest; empty: not known.
    """

    where: str
    response: str
    rater: str
    measure: str
    value: str
    occasion: str = ""
    note: str = ""
    looked_at: str = ""


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A response whose text the file of ratings has; empty where it does not say more."""

    where: str
    text: str
    prompt: str = ""
    speaker: str = ""
    model: str = ""
    source: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """More of one rating of one response, by rater, response and occasion."""

    note: str = ""
    seconds: float = 0.0
    unmarked: bool = False
    confidence: int | None = None


SheetKey = tuple[str, str, str]
"""Rater, response, occasion."""


@dataclass(slots=True)
class Labels:
    """The ratings of a file.

    Attributes:
        title: what the file is, for people.
        path: of the file.
        labels: in the order of the file.
        texts: id of a response to its text, where the file has texts.
        sheets: notes and times; ``unmarked``: a question without an answer means what the form
            says of unmarked questions.
        left_out: what was read besides ratings, to number.
    """

    title: str
    path: Path
    labels: list[Label] = field(default_factory=list)
    texts: dict[str, LabelledText] = field(default_factory=dict)
    sheets: dict[SheetKey, Sheet] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, what: str) -> None:
        """Count something that was read besides ratings."""
        self.left_out[what] = self.left_out.get(what, 0) + 1


def plain(name: str) -> str:
    """Return a name without what writers differ in: case, hyphens, underscores.

    >>> plain("Conduite d'approche"), plain("conduite-d-approche")
    ('conduite d approche', 'conduite d approche')
    """
    return " ".join(re.findall(r"[^\W_]+", name.casefold()))


def measures_by_name(form: Form, names: Mapping[str, str]) -> dict[str, str]:
    """Return every name of a question to its measure: id, title, and what the user says."""
    found: dict[str, str] = {}
    for question in form.questions:
        found.setdefault(plain(question.title), question.measure)
    found |= {plain(question.measure): question.measure for question in form.questions}
    for measure, name in names.items():
        found[plain(name)] = form.question(measure).measure
    return found


def answer_of(question: Question, value: str) -> Answer:
    """Return the answer that a value of a file stands for.

    >>> anomia = Question("anomia", "Anomia", cannot_tell=True)
    >>> answer_of(anomia, "Yes"), answer_of(anomia, "?"), answer_of(anomia, " ")
    (1.0, 'cannot-tell', None)
    """
    text = value.strip()
    folded = text.casefold()
    answer: Answer = text
    if not text:
        return None
    if folded in UNSURE_WORDS:
        answer = CANNOT_TELL
    elif question.kind == "present-absent":
        answer = TRUTHS.get(folded, text)
    elif question.kind == "scale":
        points = {plain(option.title): option.value for option in question.options}
        try:
            answer = float(points.get(plain(text), text))
        except ValueError:
            answer = text
    elif question.kind == "choice":
        titles = {plain(option.title): option.value for option in question.options}
        titles |= {plain(option.value): option.value for option in question.options}
        answer = titles.get(plain(text), text)
    question.check(answer)
    return answer


def filled(form: Form, answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return the answers of one rating, with what the form says of questions without a mark."""
    if form.unmarked != "absent":
        raise TabwbError(
            f"form '{form.id}' does not say what a question without a mark means",
            hint='a form of your own with unmarked = "absent" does',
        )
    return completed(form, answers)
