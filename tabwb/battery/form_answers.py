"""Answers to a form: which keys they have, whether they are complete, the ratings that follow.

The key of an answer is the measure; where a question is asked of each attempt, with the number of
the attempt: ``code#2``.

A verdict on a feature has three states: not looked at (no answer), absent, present. :func:`step`
says what is between a rater's answers and a complete rating, :func:`flag_of` what is doubtful about
one; every interface uses these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tabwb.battery.forms import SOURCE, Form, Question
from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import CANNOT_TELL, Answer, Flag, SampleRating, measure_of
from tabwb.records.ratings import UNSURE, Rating, undefined, valued

MOST_ATTEMPTS = 20
CONFIRMED = "not looked at: confirmed as absent with the rest"
"""The reason of a rating that was confirmed in the second step."""


def of_attempts(question: Question, answers: Mapping[str, Answer]) -> tuple[Answer, ...]:
    """Return the answers of all attempts in order, without trailing ones that are not rated.

    A question that is asked once has one answer, or none.

    >>> heard = Question("heard", "Heard", kind="text", per_attempt=True)
    >>> of_attempts(heard, {"heard#1": "cap", "heard#2": "cat"})
    ('cap', 'cat')
    """
    found = [answers.get(key) for key in _keys(question)]
    while found and found[-1] is None:
        found.pop()
    return tuple(found)


def check_answers(form: Form, answers: Mapping[str, Answer]) -> None:
    """Check that every answer belongs to a question and is one that it allows."""
    for key, answer in answers.items():
        question = form.question(key.partition("#")[0])
        if key not in (keys := _keys(question)):
            allowed = keys[0] if len(keys) == 1 else f"{keys[0]} to {keys[-1]}"
            raise TabwbError(f"form '{form.id}' has no answer '{key}'", allowed=allowed)
        question.check(answer)


@dataclass(frozen=True, slots=True)
class Step:
    """What is between a rater's answers and a complete rating.

    Attributes:
        missing: measures that need an answer of their own.
        unmarked: features that were not looked at, and become absent when the rater confirms it.
        untouched: no question is answered; that of the source does not count.
        fast: it took less than the form's minimum.
    """

    missing: tuple[str, ...]
    unmarked: tuple[str, ...]
    untouched: bool
    fast: bool

    @property
    def asks(self) -> bool:
        """Whether the rater has to confirm the rating in a second step."""
        return bool(self.unmarked) or self.untouched or self.fast


def step(form: Form, answers: Mapping[str, Answer], seconds: float) -> Step:
    """Return what is between a rater's answers and a complete rating.

    >>> asked = (Question("anomia", "Anomia"), Question("jargon", "Jargon"))
    >>> form = Form("two", "1", "Two", "MIT", "", asked, unmarked="absent")
    >>> step(form, {"anomia": 1.0}, 9.0)
    Step(missing=(), unmarked=('jargon',), untouched=False, fast=False)
    >>> step(form, {}, 0.4).asks, step(form, {"anomia": 1.0, "jargon": 0.0}, 9.0).asks
    (True, False)
    """
    fills = form.unmarked == "absent"
    missing, unmarked = [], []
    for question in form.questions:
        if of_attempts(question, answers):
            continue
        if fills and question.kind == "present-absent":
            unmarked.append(question.measure)
        elif not question.optional:
            missing.append(question.measure)
    return Step(
        tuple(missing),
        tuple(unmarked),
        not _said(answers),
        is_fast(form, seconds),
    )


def is_fast(form: Form, seconds: float) -> bool:
    """Return whether a rating took less than the form's minimum; 0 seconds were not measured."""
    return 0 < seconds < form.least_seconds


def missing(form: Form, answers: Mapping[str, Answer]) -> tuple[str, ...]:
    """Return the measures that need an answer of their own; see :func:`step`."""
    return step(form, answers, 0.0).missing


def completed(form: Form, answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return the answers with *absent* for each unmarked feature, where the form says so."""
    return {**answers, **dict.fromkeys(step(form, answers, 0.0).unmarked, 0.0)}


def looked_at(form: Form, rating: SampleRating) -> dict[str, Answer]:
    """Return the answers without those that were confirmed as absent with the rest.

    Of a complete rating from before version 0.2.0 nobody knows which were: with a form whose
    unmarked features are absent, none of its absent ones counts as looked at.
    """
    left_out: Collection[str] = rating.confirmed or ()
    if rating.confirmed is None and (rating.complete or rating.taken_back):
        left_out = _features(form) if form.unmarked == "absent" else ()
    return {
        key: answer
        for key, answer in rating.answers.items()
        if key not in left_out or answer != 0.0
    }


def flag_of(form: Form, rating: SampleRating) -> Flag:
    """Return why a complete rating is doubtful; empty where it is not.

    >>> form = Form("one", "1", "One", "MIT", "", (Question("anomia", "Anomia"),))
    >>> def rated(answer, seconds, confirmed):
    ...     answers = {"anomia": answer}
    ...     return SampleRating("R1", 1, 1, "rate", answers, True, seconds=seconds,
    ...                         confirmed=confirmed)
    >>> flag_of(form, rated(0.0, 9.0, ("anomia",))), flag_of(form, rated(0.0, 9.0, ()))
    ('untouched', '')
    >>> flag_of(form, rated(0.0, 0.4, None)), flag_of(form, rated(1.0, 0.4, None))
    ('fast-unmarked', '')
    """
    if not rating.complete:
        return ""
    fast = is_fast(form, rating.seconds)
    if rating.confirmed is None:
        return "fast-unmarked" if fast and not _present(form, rating.answers) else ""
    untouched = not _said(looked_at(form, rating))
    if untouched:
        return "untouched-fast" if fast else "untouched"
    return "fast" if fast else ""


def _said(answers: Mapping[str, Answer]) -> bool:
    """Return whether any question but that of the source is answered."""
    return any(answer is not None for key, answer in answers.items() if key != SOURCE)


def _present(form: Form, answers: Mapping[str, Answer]) -> bool:
    """Return whether a feature is marked as present, or a choice made, or words written."""
    return any(
        answer not in {None, CANNOT_TELL} and not _least(form.question(measure_of(key)[0]), answer)
        for key, answer in answers.items()
        if key != SOURCE
    )


def _least(question: Question, answer: Answer) -> bool:
    """Return whether an answer is the one that stands for absent."""
    return question.kind in {"present-absent", "scale"} and answer == float(question.low)


def _features(form: Form) -> frozenset[str]:
    return frozenset(one.measure for one in form.questions if one.kind == "present-absent")


def ratings_of(
    form: Form, rater: str, answers: Mapping[str, Answer], confirmed: Collection[str] = ()
) -> tuple[Rating, ...]:
    """Return the ratings that follow from a rater's answers, in the order of the questions.

    A number is a rating of the measure. Of a choice whose options have no numbers the answer is a
    separate measure: ``code:semantic`` is 1.0. Phonemes, text and the question about the source
    give no rating.
    """
    ratings = []
    for question in form.questions:
        answer = whole_response(question, of_attempts(question, answers))
        if answer is None or question.measure == SOURCE:
            continue
        number = question.number(answer)
        if question.kind == "choice" and not question.numbered and answer != CANNOT_TELL:
            ratings.append(valued(rater, f"{question.measure}:{answer}", 1.0))
        elif number is not None:
            reason = CONFIRMED if question.measure in confirmed else _reason(question, answer)
            ratings.append(valued(rater, question.measure, number, reason))
        elif question.numbered:
            reason = UNSURE if answer == CANNOT_TELL else str(answer)
            ratings.append(undefined(rater, question.measure, reason))
    return tuple(ratings)


def whole_response(question: Question, answers: tuple[Answer, ...]) -> Answer:
    """Return the answer of the whole response: that of its first complete attempt."""
    given = [answer for answer in answers if answer is not None]
    incomplete = {option.value for option in question.options if option.incomplete}
    first = given[0] if given else None
    return next((answer for answer in given if answer not in incomplete), first)


def _keys(question: Question) -> tuple[str, ...]:
    if not question.per_attempt:
        return (question.measure,)
    return tuple(f"{question.measure}#{number}" for number in range(1, MOST_ATTEMPTS + 1))


def _reason(question: Question, answer: Answer) -> str:
    if question.kind == "scale":
        cut = "" if question.cut is None else f", present from {question.cut}"
        return f"{answer:g} of {question.low} to {question.high}{cut}"
    return str(answer) if question.kind == "choice" else ""
