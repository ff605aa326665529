"""From a person's answers to the ratings of an attempt that results count."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tabwb.records.errors import StoreError
from tabwb.records.rating_sets import CANNOT_TELL, Answer, measure_of
from tabwb.records.ratings import Declaration, Rating, undefined, valued
from tabwb.scoring.naming.target import right_by_score

UNSURE = "cannot tell"
"""The reason of a rating whose rater looked and cannot decide."""
SCORE = "score"
"""The measure of a form's question for a naming score; it becomes :data:`CORRECT`."""
CORRECT = "correct"
"""The measure of a person's naming score: 1 right or self-corrected, 0 error or no response."""


SOURCE = "source"
"""The measure of the last question of sets that ask "person or machine?"."""
SOURCES = ("person", "machine")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a form, as far as its answers are checked and become numbers.

    Attributes:
        measure: its id.
        kind: ``present-absent``, ``scale``, ``choice``, ``phonemes`` or ``text``.
        cut: of a scale, from which value on a feature is present; None keeps the value.
        low, high: of a scale.
        options: ids of the choices.
        cannot_tell: whether ``cannot-tell`` is an answer.
        per_attempt: whether it is asked of each attempt within the response.
    """

    measure: str
    kind: str
    cut: float | None = None
    low: float | None = None
    high: float | None = None
    options: tuple[str, ...] = ()
    cannot_tell: bool = True
    per_attempt: bool = False

    def problem(self, answer: str | float) -> str:
        """Return what would be allowed, if an answer is not; else an empty text."""
        if answer == CANNOT_TELL:
            return "" if self.cannot_tell else f"no '{CANNOT_TELL}'"
        if isinstance(answer, str):
            if self.kind in ("phonemes", "text"):
                return ""
            if self.kind == "choice":
                return "" if answer in self.options else ", ".join(self.options)
            return "a number"
        if self.kind == "present-absent":
            return "" if answer in (0, 1) else "1 (present), 0 (absent)"
        if self.kind != "scale":
            return "a text"
        low, high = self.low, self.high
        within = (low is None or answer >= low) and (high is None or answer <= high)
        return "" if within else f"{low:g} to {high:g}"


@lru_cache(maxsize=64)
def asked_of(form: str, ask_source: bool = False) -> tuple[Asked, ...]:
    """Return the questions of a form.

    Args:
        form: canonical JSON.
        ask_source: whether the set asks "person or machine?" too.

    Raises:
        StoreError: it is not the JSON of a form.
    """
    try:
        asked = tuple(
            Asked(
                measure=str(one["measure"]),
                kind=str(one["kind"]),
                cut=one.get("cut"),
                low=one.get("low"),
                high=one.get("high"),
                options=tuple(map(_option, one.get("options") or ())),
                cannot_tell=bool(one.get("cannot_tell", True)),
                per_attempt=bool(one.get("per_attempt", False)),
            )
            for one in json.loads(form)["questions"]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"this is not the JSON of a form ({error!r})",
            allowed='{"questions": [{"measure": ..., "kind": ...}, ...]}',
        ) from error
    source = Asked(SOURCE, "choice", options=SOURCES)
    return (*asked, source) if ask_source else asked


def _option(option: object) -> str:
    return str(option["id"] if isinstance(option, Mapping) else option)


def checked_answers(
    asked: Sequence[Asked], answers: Mapping[str, Answer], where: str
) -> dict[str, Answer]:
    """Return the answers, verdicts as numbers, if each is one that its question allows.

    Args:
        asked: questions of the form.
        answers: by :func:`tabwb.records.rating_sets.answer_key`.
        where: for the error.

    Raises:
        StoreError: one is not; nothing is recorded.
    """
    questions = {one.measure: one for one in asked}
    checked: dict[str, Answer] = {}
    for key, answer in answers.items():
        measure, attempt = measure_of(key)
        question = questions.get(measure)
        if question is None or question.per_attempt == (attempt is None):
            raise StoreError(
                f"the form does not ask '{key}'",
                where=where,
                allowed=", ".join(f"{one.measure}{'#1' * one.per_attempt}" for one in asked),
            )
        value = float(answer) if isinstance(answer, bool | int) else answer
        allowed = "" if value is None else question.problem(value)
        if allowed:
            raise StoreError(f"'{answer}' does not answer '{key}'", where=where, allowed=allowed)
        checked[key] = value
    return checked


def ratings_of(
    asked: Sequence[Asked], rater: str, answers: Mapping[str, Answer]
) -> tuple[Rating, ...]:
    """Return the ratings that answers give; what is not rated gives none, nor does the source.

    Present and absent are 1 and 0; a scale with a cut is 1 from the cut on; ``cannot-tell`` is
    undefined. A choice gives ``MEASURE:CHOICE`` 1; a naming score gives ``correct`` as in a naming
    session. Of a question that is asked of each attempt the first attempt with an answer counts.
    Phonemes and words have no number.

    Args:
        asked: questions of the form.
        rater: the person's code.
        answers: by :func:`tabwb.records.rating_sets.answer_key`.

    >>> asked = (Asked("jargon", "present-absent"), Asked("anomia", "scale", 1.0))
    >>> [(one.measure, one.value) for one in ratings_of(asked, "R1", {"jargon": 0, "anomia": 3.0})]
    [('jargon', 0.0), ('anomia', 1.0)]
    """
    first: dict[str, Answer] = {}
    for key in sorted(answers, key=lambda key: measure_of(key)[1] or 0):
        if answers[key] is not None:
            first.setdefault(measure_of(key)[0], answers[key])
    given = ((question, first.get(question.measure)) for question in asked)
    return tuple(
        rating
        for question, answer in given
        if answer is not None
        and question.measure != SOURCE
        and (rating := _rating(question, rater, answer)) is not None
    )


def _rating(question: Asked, rater: str, answer: str | float) -> Rating | None:
    measure = CORRECT if question.measure == SCORE else question.measure
    if answer == CANNOT_TELL:
        return None if question.kind in ("phonemes", "text") else undefined(rater, measure, UNSURE)
    if isinstance(answer, str):
        if question.kind != "choice":
            return None
        if question.measure != SCORE:
            return valued(rater, f"{measure}:{answer}", 1.0)
        right = right_by_score(answer)
        if right is None:
            return undefined(rater, measure, answer)
        return valued(rater, measure, right, answer)
    if question.kind == "scale" and question.cut is not None:
        return valued(rater, measure, answer >= question.cut, f"{answer:g}, cut {question.cut:g}")
    return valued(rater, measure, answer)


def with_earlier(
    asked: Sequence[Asked], given: Sequence[Rating], earlier: Sequence[Rating], why: str
) -> tuple[Rating, ...]:
    """Return the ratings of a new row, which replaces the rater's last one of the attempt.

    Measures that the form does not ask are carried over. If nothing is left, what was rated before
    becomes undefined, because a row without ratings would replace nothing.

    Args:
        asked: questions of the form.
        given: the new ratings.
        earlier: of the rater's last row.
        why: the reason where nothing is left.
    """
    carried = (one for one in earlier if not is_asked(asked, one.measure))
    return (*given, *carried) or tuple(undefined(one.rater, one.measure, why) for one in earlier)


def is_asked(asked: Sequence[Asked], measure: str) -> bool:
    """Return whether a rating of a measure follows from the questions of a form.

    >>> asked = (Asked("code", "choice"), Asked("score", "choice"))
    >>> [is_asked(asked, measure) for measure in ("code:formal", "correct", "jargon")]
    [True, True, False]
    """
    own = {CORRECT if one.measure == SCORE else one.measure for one in asked}
    return measure.partition(":")[0] in own


def declaration_of(asked: Sequence[Asked], rater: str) -> Declaration:
    """Return what a person declares who rates with a form: the features that it decides.

    Args:
        asked: questions of the form.
        rater: the person's code.
    """
    decides = [
        one.measure
        for one in asked
        if one.kind == "present-absent" or (one.kind == "scale" and one.cut is not None)
    ]
    return Declaration(rater, tuple(decides), kind="person")
