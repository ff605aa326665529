"""What raters say of samples: what counts, and on what people, listeners and judges differ."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from tabwb.battery.forms import Form, Question
from tabwb.records.classes import dataclass
from tabwb.records.naming import Coded, Heard, Scored, observation_of_json
from tabwb.records.rating_sets import (
    CANNOT_TELL,
    Adjudication,
    Answer,
    Sample,
    SampleRating,
    measure_of,
)
from tabwb.records.ratings import CANNOT, PERSON, Open, Rule, counting_value
from tabwb.store.store import Store

# -------------------------------------------------------------------- consensus


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


# -------------------------------------------------------------------- judged


def judged(
    store: Store, samples: Sequence[Sample], form: Form
) -> Mapping[int, Mapping[str, Mapping[str, float]]]:
    """Return, by sample, measure and judge, the verdicts of judges: 1 present, 0 absent.

    People are left out, and so are ratings of another attempt than the one that the sample shows
    and of unusable responses, which have no features.
    """
    import numpy as np

    from tabwb.store.columns import STATUSES

    numbers = sorted({sample.administration for sample in samples})
    if not numbers:
        return {}
    measures = {question.measure for question in form.questions if question.is_feature}
    people = {
        declared.rater
        for facts in store.facts(numbers)
        for declared in facts.declarations.values()
        if declared.kind == "person"
    }
    columns = store.columns(numbers)
    of = np.repeat(np.asarray(columns.administrations), np.diff(columns.starts))
    rows = {
        key: row
        for row, key in enumerate(
            zip(of.tolist(), columns.trials.tolist(), columns.attempts.tolist(), strict=True)
        )
    }
    # -1: no status is taken as usable.
    usable = np.array([status.usable for status in STATUSES] + [True])[columns.statuses]
    places = {
        row: sample.number
        for sample in samples
        if (row := rows.get((sample.administration, sample.trial, sample.attempt))) is not None
        and usable[row]
    }
    wanted = np.fromiter(sorted(places), np.int64, len(places))
    found: dict[int, dict[str, dict[str, float]]] = {}
    for rater, given in columns.ratings.items():
        if rater in people or rater.startswith(PERSON):
            continue
        for measure, ratings in given.measures.items():
            if measure not in measures:
                continue
            values, *_ = ratings.at()
            chosen = np.isin(ratings.rows, wanted) & np.isin(values, (0.0, 1.0))
            rows = ratings.rows[chosen].tolist()
            for row, value in zip(rows, values[chosen].tolist(), strict=True):
                found.setdefault(places[row], {}).setdefault(measure, {})[rater] = value
    return found


# -------------------------------------------------------------------- listeners


_KEYS = {Scored: ("correct", "score"), Heard: ("heard#1", "text"), Coded: ("code#1", "code")}
"""Of each kind of observation the key of the answer, and the field that has it."""


def session_ratings(
    store: Store, samples: Sequence[Sample], form: Form, rated: Collection[tuple[str, int]]
) -> Iterator[SampleRating]:
    """Yield what listeners of the session said of samples that were named aloud.

    A word or a code is that of the first attempt. What a listener rated in the set too is left out:
    what was said there is compared.
    """
    measures = {key: key.partition("#")[0] for key, _ in _KEYS.values()}
    if not {*measures.values()} <= {*form.measures}:
        return
    for number in dict.fromkeys(sample.administration for sample in samples):
        trials = {trial.plan.number: trial for trial in store.history(number).trials}
        for sample in samples:
            if sample.administration != number or sample.trial not in trials:
                continue
            said: dict[str, dict[str, Answer]] = {}
            for text in trials[sample.trial].observations:
                observation = observation_of_json(text)
                if isinstance(observation, Scored | Heard | Coded):
                    key, name = _KEYS[type(observation)]
                    answer: Answer = getattr(observation, name)
                    question = form.question(measures[key])
                    fits = question.kind == "text" or answer in question.values
                    code = observation.by.removeprefix(PERSON)
                    if observation.attempt == sample.attempt and fits:
                        said.setdefault(code, {})[key] = answer
            for code, answers in said.items():
                if (code, sample.number) in rated:
                    continue
                yield SampleRating(code, 0, sample.number, "rate", answers, complete=True)


# -------------------------------------------------------------------- disputes


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one person says: the answer as given, the confidence (0 to 3 or None) and the note.

    ``looked_at`` is False where it was confirmed as absent with the rest, None where that is not
    known.
    """

    rater: str
    answer: Answer
    confidence: int | None = None
    note: str = ""
    looked_at: bool | None = None


@dataclass(frozen=True, slots=True)
class Dispute:
    """One answer of one sample on which raters, or people and judges, differ.

    Attributes:
        sample: its number.
        measure: of the question; where it is asked of each attempt, with ``#`` and its number.
        title: of the question.
        verdicts: of every person who rated the sample.
        judges: (judge, present or absent) of every judge with a verdict.
        people_differ: mean over all pairs of people, 0 to 1; None with fewer than two answers.
        judges_differ: mean over all pairs of a person and a judge; None without a pair.
        majority: of people, as it is counted; None where there is none.
        settled: what holds, or None.
    """

    sample: int
    measure: str
    title: str
    verdicts: tuple[Verdict, ...]
    judges: tuple[tuple[str, float], ...]
    people_differ: float | None
    judges_differ: float | None
    majority: Answer
    settled: Adjudication | None = None

    @property
    def is_disputed(self) -> bool:
        """Whether anybody differs from somebody else."""
        return bool(self.people_differ or self.judges_differ)


def dispute_of(
    question: Question,
    key: str,
    sample: int,
    ratings: Sequence[SampleRating],
    judges: Mapping[str, float],
) -> Dispute:
    """Return one answer of one sample as everybody gave it."""
    answers = [rating.answers.get(key) for rating in ratings]
    values = [counted(question, answer) for answer in answers]
    pairs = [
        distance(question, value, judge)
        for value in values
        for judge in judges.values()
        if isinstance(value, float)
    ]
    majority = value_by("majority", question, answers)
    attempt = measure_of(key)[1]
    return Dispute(
        sample,
        key,
        question.title if attempt is None else f"{question.title}, attempt {attempt}",
        tuple(
            Verdict(
                rating.rater,
                answer,
                rating.confidence,
                rating.note,
                None if rating.confirmed is None else key not in rating.confirmed,
            )
            for rating, answer in zip(ratings, answers, strict=True)
        ),
        tuple(judges.items()),
        difference(question, values),
        sum(pairs) / len(pairs) if pairs else None,
        None if isinstance(majority, Open) else majority,
    )


def most_first(one: Dispute) -> tuple[float, float, int, str]:
    """Return by what disputes are sorted: people differ most, then people and judges."""
    return -(one.people_differ or 0.0), -(one.judges_differ or 0.0), one.sample, one.measure
