"""Answers to a form: which keys they have, whether they are complete, the ratings that follow.

The key of an answer is the measure; where a question is asked of each attempt, with the number of
the attempt: ``code#2``.
"""

from __future__ import annotations

from collections.abc import Mapping

from tabwb.battery.forms import SOURCE, Form, Question
from tabwb.records.counting import UNSURE
from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import CANNOT_TELL, Answer
from tabwb.records.ratings import Rating, undefined, valued

MOST_ATTEMPTS = 20


def of_attempts(question: Question, answers: Mapping[str, Answer]) -> tuple[Answer, ...]:
    """Return the answers of all attempts in order, without trailing ones that are not rated.

    A question that is asked once has one answer, or none.

    Args:
        question: of the form.
        answers: of one sample, by key.

    >>> heard = Question("heard", "Heard", kind="text", per_attempt=True)
    >>> of_attempts(heard, {"heard#1": "cap", "heard#2": "cat"})
    ('cap', 'cat')
    """
    found = [answers.get(key) for key in _keys(question)]
    while found and found[-1] is None:
        found.pop()
    return tuple(found)


def check_answers(form: Form, answers: Mapping[str, Answer]) -> None:
    """Check that every answer belongs to a question and is one that it allows.

    Args:
        form: with the questions.
        answers: of one sample, by key.

    Raises:
        TabwbError: at the first answer that is not allowed.
    """
    for key, answer in answers.items():
        question = form.question(key.partition("#")[0])
        if key not in (keys := _keys(question)):
            allowed = keys[0] if len(keys) == 1 else f"{keys[0]} to {keys[-1]}"
            raise TabwbError(f"form '{form.id}' has no answer '{key}'", allowed=allowed)
        question.check(answer)


def completed(form: Form, answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return the answers with *absent* for each unmarked feature, where the form says so.

    Args:
        form: with the questions.
        answers: of one sample, by key.
    """
    filled = dict(answers)
    if form.unmarked == "absent":
        for question in form.questions:
            if question.kind == "present-absent" and filled.get(question.measure) is None:
                filled[question.measure] = 0.0
    return filled


def missing(form: Form, answers: Mapping[str, Answer]) -> tuple[str, ...]:
    """Return the measures that still need an answer before the rating is complete.

    Args:
        form: with the questions.
        answers: of one sample, by key.
    """
    filled = completed(form, answers)
    return tuple(
        question.measure
        for question in form.questions
        if not question.optional and not of_attempts(question, filled)
    )


def ratings_of(form: Form, rater: str, answers: Mapping[str, Answer]) -> tuple[Rating, ...]:
    """Return the ratings that follow from a rater's answers, in the order of the questions.

    A number is a rating of the measure. Of a choice whose options have no numbers the answer is a
    separate measure: ``code:semantic`` is 1.0. Phonemes, text and the question about the source
    give no rating.

    Args:
        form: with the questions.
        rater: the person's code.
        answers: of one sample, by key.
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
            ratings.append(valued(rater, question.measure, number, _reason(question, answer)))
        elif question.numbered:
            reason = UNSURE if answer == CANNOT_TELL else str(answer)
            ratings.append(undefined(rater, question.measure, reason))
    return tuple(ratings)


def whole_response(question: Question, answers: tuple[Answer, ...]) -> Answer:
    """Return the answer of the whole response: that of its first complete attempt.

    Args:
        question: of the form.
        answers: of its attempts, in order.

    Returns:
        The first answer whose option is not incomplete (a fragment); the first, where all are; None
        where there is none.
    """
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
