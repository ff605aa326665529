"""What people say of each sample of a rating set, and the value that counts by a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from tabwb.battery.forms import Form, Question
from tabwb.records.rating_sets import (
    CANNOT_TELL,
    Adjudication,
    Answer,
    SampleRating,
    measure_of,
)
from tabwb.records.ratings import CANNOT, Open, Rule, counting_value


def by_sample(ratings: Iterable[SampleRating]) -> dict[int, tuple[SampleRating, ...]]:
    """Return the complete first ratings of each sample, one of each rater, in the order of raters.

    Ratings given again and those of the calibration do not count.
    """
    found: dict[int, dict[str, SampleRating]] = {}
    for rating in ratings:
        if rating.purpose == "rate" and rating.complete:
            found.setdefault(rating.sample, {})[rating.rater] = rating
    return {sample: tuple(given.values()) for sample, given in found.items()}


def keys_of(question: Question, ratings: Sequence[SampleRating]) -> tuple[str, ...]:
    """Return the keys under which raters answered a question: of each attempt, or one."""
    if not question.per_attempt:
        return (question.measure,)
    keys = {
        key: attempt or 0
        for rating in ratings
        for key in rating.answers
        for measure, attempt in (measure_of(key),)
        if measure == question.measure
    }
    return tuple(sorted(keys, key=keys.__getitem__))


def counted(question: Question, answer: Answer) -> Answer:
    """Return an answer as it is compared and counted.

    A value of a scale with a cut is 1 from the cut on and 0 below. A word is in small letters.

    >>> counted(Question("jargon", "Jargon", kind="scale", high=4, cut=2), 3.0)
    1.0
    """
    if answer is None or answer == CANNOT_TELL:
        return None
    if question.kind == "text":
        return str(answer).strip().casefold()
    if question.kind == "phonemes":
        from tabwb.phonology.inventory import parse_spoken

        return " ".join(parse_spoken(str(answer)))
    if question.kind == "scale" and question.cut is not None:
        return question.number(answer)
    return answer


def difference(question: Question, answers: Sequence[Answer]) -> float | None:
    """Return how far answers differ, from 0 to 1: the mean over all pairs of raters.

    Two answers differ by 0 or 1; on a scale without a cut by their distance over its length. This
    is the observed disagreement of Krippendorff's alpha within one unit (nominal, and with
    absolute differences on a scale).

    >>> difference(Question("jargon", "Jargon"), [1.0, 0.0, 0.0]).__round__(3)
    0.667
    """
    given = [answer for answer in answers if answer is not None]
    pairs = [distance(question, *pair) for pair in combinations(given, 2)]
    return sum(pairs) / len(pairs) if pairs else None


def distance(question: Question, first: Answer, second: Answer) -> float:
    """Return how far two counted answers are apart, from 0 to 1."""
    if question.kind == "scale" and question.cut is None and question.high > question.low:
        assert isinstance(first, float) and isinstance(second, float)
        return abs(first - second) / (question.high - question.low)
    return float(first != second)


def value_by(
    rule: Rule,
    question: Question,
    answers: Sequence[Answer],
    settled: Adjudication | None = None,
) -> Answer | Open:
    """Return the value of one question of one sample by a rule, as it is counted."""
    given = [value for answer in answers if (value := counted(question, answer)) is not None]
    decided: Answer | Open = None
    if settled is not None:
        decided = counted(question, settled.answer)
        decided = CANNOT if decided is None else decided
    return counting_value(rule, given, decided)


def consensus(
    form: Form,
    ratings: Iterable[SampleRating],
    rule: Rule,
    adjudications: Iterable[Adjudication] = (),
) -> dict[int, Mapping[str, Answer | Open]]:
    """Return, by sample, the value of each answer by a rule, as it is counted."""
    settled = {(one.sample, one.measure): one for one in adjudications}
    found: dict[int, Mapping[str, Answer | Open]] = {}
    for sample, given in by_sample(ratings).items():
        values = {
            key: value_by(
                rule,
                question,
                [rating.answers.get(key) for rating in given],
                settled.get((sample, key)),
            )
            for question in form.questions
            for key in keys_of(question, given)
        }
        found[sample] = {key: value for key, value in values.items() if value is not None}
    return found
