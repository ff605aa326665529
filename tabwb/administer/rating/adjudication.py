"""What raters differ on, and what settles it: verdicts side by side, blind to their source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Literal

from tabwb.administer.rating.access import may_rate
from tabwb.administer.rating.session import Media, Shown, shown_of
from tabwb.battery.forms import SOURCE, Form, Question, form_from_canonical
from tabwb.host.plugins import Plugins
from tabwb.records.errors import StoreError, TabwbError
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
from tabwb.records.speakers import operator
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
    """What one person says: the answer as given, the confidence (0 to 3 or None), the note, and
    the numbers of the words that show it.

    ``looked_at`` is False where it was confirmed as absent with the rest, None where that is not
    known.
    """

    rater: str
    answer: Answer
    confidence: int | None = None
    note: str = ""
    looked_at: bool | None = None
    evidence: tuple[int, ...] = ()


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
                rating.evidence.get(key, ()),
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


Which = Literal["open", "settled", "all"]
RESTORED = "restored: "
"""Begins the reason of a row that takes another one back, before that of the restored row."""


class Adjudicator:
    """The disagreements of one rating set, and how they are settled.

    Samples of speakers who do not agree to rating are left out, and the log says whose responses
    were shown, as for raters.
    """

    def __init__(self, store: Store, plugins: Plugins, reference: int | str, who: str = "") -> None:
        self._store, self._plugins, self._who = store, plugins, who or operator()
        self.set = store.sets.get(reference)
        self.form = form_from_canonical(self.set.form)
        self._media = Media(store, self.form)
        self._allowed: dict[int, bool] = {}
        every = store.sets.samples(self.set.id)
        self._samples = {one.number: one for one in every if self._may_see(one)}
        self.withheld = len(every) - len(self._samples)
        self._done: list[tuple[int, str]] = []

    # ---------------------------------------------------------------- reading

    def disputes(
        self,
        *,
        which: Which = "open",
        measures: Collection[str] = (),
        samples: Collection[int] = (),
    ) -> tuple[Dispute, ...]:
        """Return what raters differ on: people most first, then people and judges."""
        for measure in measures:
            self.form.question(measure_of(measure)[0])
        found = [
            one
            for one in self._all(samples)
            if (not measures or {one.measure, measure_of(one.measure)[0]} & {*measures})
            and (one.is_disputed or one.settled is not None)
            and (which == "all" or (one.settled is None) == (which == "open"))
        ]
        return tuple(sorted(found, key=most_first))

    def shown(self, number: int) -> Shown:
        """Return a sample without what tells its source."""
        return shown_of(self._sample(number), self.form, calibration=False)

    def audio(self, number: int) -> tuple[Path, float, float] | None:
        """Return the file of a sample, with start and end in seconds; None without a recording."""
        return self._media.audio(self._sample(number))

    def progress(self) -> tuple[int, int]:
        """Return how many of the answers that people differ on are settled, and their number.

        An answer that was settled although nobody differs is among them.
        """
        every = [one for one in self._all(()) if one.people_differ or one.settled is not None]
        return sum(one.settled is not None for one in every), len(every)

    # ---------------------------------------------------------------- settling

    def settle(self, sample: int, measure: str, answer: str | float, reason: str) -> Adjudication:
        """Store the value that settles one answer of one sample."""
        question = self._question(measure)
        if answer != CANNOT_TELL:
            question.check(answer)
        self._sample(sample)
        if not self._rated.get(sample):
            raise StoreError(
                f"nobody has rated sample {sample}", where=f"rating set '{self.set.name}'"
            )
        if not reason.strip():
            raise TabwbError(
                "a settled value needs a reason", hint="say why; in a shell: --reason TEXT"
            )
        made = self._keep(sample, measure, answer, reason.strip().removeprefix(RESTORED))
        self._done.append((sample, measure))
        return made

    def read(self, measure: str, text: str) -> str | float:
        """Return the answer that a text stands for."""
        answer = self._question(measure).read(text)
        if answer is None:
            raise TabwbError(f"'{measure}' needs a value", hint="--undo takes one back")
        return answer

    def words(self, measure: str, answer: Answer) -> str:
        """Return an answer in words."""
        question = self.form.question(measure_of(measure)[0])
        if answer is None:
            return "not rated"
        if answer == CANNOT_TELL:
            return "cannot tell"
        if question.kind == "present-absent":
            return "present" if answer else "absent"
        if question.kind == "choice":
            return question.option(str(answer)).title.casefold()
        return f"{answer:g}" if isinstance(answer, float) else f"'{answer}'"

    def said(self, one: Dispute, verdict: Verdict) -> str:
        """Return who says what in words: ``R1 absent (not looked at)``."""
        not_looked = " (not looked at)" if verdict.looked_at is False else ""
        return f"{verdict.rater} {self.words(one.measure, verdict.answer)}{not_looked}"

    def take_back(self, sample: int, measure: str) -> Adjudication | None:
        """Take back what settles an answer: what settled it before holds again."""
        rows = self.history(sample, measure)
        if not rows or rows[-1].answer is None:
            raise StoreError(
                f"'{measure}' of sample {sample} is not settled",
                where=f"rating set '{self.set.name}'",
            )
        before = _before(rows)
        made = self._keep(
            sample,
            measure,
            None if before is None else before.answer,
            "taken back" if before is None else f"{RESTORED}{before.reason}",
        )
        if (sample, measure) in self._done:
            self._done.remove((sample, measure))
        return None if before is None else made

    def undo(self) -> tuple[int, str] | None:
        """Take back what was settled last here; its sample and measure, or None."""
        if not self._done:
            return None
        last = self._done[-1]
        self._done.pop()
        self.take_back(*last)
        return last

    def history(self, sample: int, measure: str) -> tuple[Adjudication, ...]:
        """Return every row of an answer, oldest first; an answer of None was a withdrawal."""
        return tuple(
            one
            for one in self._store.sets.adjudications(self.set.id, every=True)
            if (one.sample, one.measure) == (sample, measure)
        )

    # ---------------------------------------------------------------- parts

    def _may_see(self, sample: Sample) -> bool:
        number = sample.administration
        if number not in self._allowed:
            self._allowed[number] = may_rate(self._store, self._plugins, sample, self._who)
        return self._allowed[number]

    def _keep(self, sample: int, measure: str, answer: Answer, reason: str) -> Adjudication:
        return self._store.sets.adjudicate(
            self.set.id, Adjudication(sample, measure, answer, reason, self._who)
        )

    def _question(self, measure: str) -> Question:
        name, attempt = measure_of(measure)
        question = self.form.question(name)
        if question.per_attempt and attempt is None:
            raise TabwbError(
                f"'{name}' is asked of each attempt",
                allowed=f"{name}#1 for the first attempt, {name}#2 ...",
            )
        if not question.per_attempt and attempt is not None:
            raise TabwbError(f"'{name}' is asked once of a sample", allowed=name)
        return question

    def _sample(self, number: int) -> Sample:
        if number not in self._samples:
            raise StoreError(
                f"there is no sample {number}",
                where=f"rating set '{self.set.name}'",
                allowed=f"1 to {max(self._samples, default=0)}",
            )
        return self._samples[number]

    @cached_property
    def _rated(self) -> Mapping[int, tuple[SampleRating, ...]]:
        samples = tuple(self._samples.values())
        ratings = self._store.sets.ratings(self.set.id)
        rated = {(one.rater, one.sample) for one in ratings}
        heard = session_ratings(self._store, samples, self.form, rated)
        return by_sample((*heard, *ratings))

    @cached_property
    def _judged(self) -> Mapping[int, Mapping[str, Mapping[str, float]]]:
        return judged(self._store, tuple(self._samples.values()), self.form)

    def _all(self, samples: Collection[int]) -> Iterator[Dispute]:
        settled = {
            (one.sample, one.measure): one for one in self._store.sets.adjudications(self.set.id)
        }
        for one in self._rated_answers:
            if not samples or one.sample in samples:
                held = settled.get((one.sample, one.measure))
                yield one if held is None else replace(one, settled=held)

    @cached_property
    def _rated_answers(self) -> tuple[Dispute, ...]:
        """Every answer as it was rated when this was first read, as if nothing were settled."""
        return tuple(
            dispute_of(question, key, number, given, judges)
            for number, ratings in sorted(self._rated.items())
            if number in self._samples
            for given in [sorted(ratings, key=lambda one: self._order.get(one.rater, -1))]
            for question in self.form.questions
            if question.measure != SOURCE
            for judges in [self._judged.get(number, {}).get(question.measure, {})]
            for key in keys_of(question, given)
        )

    @cached_property
    def _order(self) -> Mapping[str, int]:
        return {rater: place for place, rater in enumerate(self.set.raters)}


def _before(rows: Sequence[Adjudication]) -> Adjudication | None:
    """Return the row that held before the one that holds now; None where none did."""
    held: list[Adjudication] = []
    for row in rows:
        if row.answer is None:
            held = []
        elif row.reason.startswith(RESTORED):
            held.pop()
        else:
            held.append(row)
    return held[-2] if len(held) > 1 else None
