"""Rating sets as tables: what there is, how far raters are, what they say and differ on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from statistics import median

from tabwb.administer.rating.adjudication import Adjudicator, Which
from tabwb.agreement.verdicts import ABSENT, PRESENT
from tabwb.agreement.verdicts import CANNOT_TELL as UNSURE
from tabwb.analysis.stored_ratings import verdicts_at
from tabwb.battery.form_answers import flag_of
from tabwb.battery.forms import Form
from tabwb.records.columns import Column, column_of
from tabwb.records.rating_sets import (
    ADJUDICATED,
    CANNOT_TELL,
    Answer,
    RatingSet,
    Sample,
    SampleRating,
    measure_of,
)
from tabwb.records.trials import Administration
from tabwb.report.file_names import file_names
from tabwb.store.sets import asked_by
from tabwb.store.store import Store
from tabwb.tables.table import Table, columns_of, table_of

SETS = columns_of("""
    rating_set text Set | name of the rating set
    rating_set_uid text Uid | its uid
    form text Form | id of the form
    raters text Raters | codes of who rates
    status text Status | open or closed
    counts text Counts | whose ratings count
    done integer Done | complete ratings, repeats and calibration included
    assigned integer Assigned | ratings planned
    created_at text Created | when it was planned, ISO 8601, UTC
    """)
_MINUTES = Column("minutes", "Minutes", "spent in all", "number", "minutes", 1)
_SECONDS = Column("median_seconds", "s/sample", "median time of a sample", "number", "seconds", 1)
_WEIGHT = Column(
    "weight", "Weight", "how many responses the sample stands for", "number", "responses"
)
PROGRESS = (
    *columns_of("""
    rater text Rater | code of the person
    done integer Done | complete samples, repeats and calibration included
    assigned integer Assigned | samples planned for this rater
    begun integer Begun | samples that are half-filled or opened again
    """),
    _MINUTES,
    _SECONDS,
    *columns_of("""
    flagged integer Flagged | complete samples confirmed without an answer or in less time than \
the form's minimum
    last text Last | when something was saved last, ISO 8601, UTC
    """),
)
ASSIGNMENTS = (
    *columns_of("""
    rater text Rater | code of the person
    position integer Position | in the order of this rater, from 1
    sample integer Sample | its number in the set
    purpose text Purpose | rate, again or calibration
    complete boolean Complete | it is rated
    stratum text Stratum | of the sampling
    """),
    _WEIGHT,
    *columns_of("""
    prompt text Prompt | what was asked, as the rater sees it
    text text Text | the response as the rater sees it
    """),
)
DISPUTED = columns_of("""
    sample integer Sample | its number in the set
    measure text Measure | of the question; with # the number of the attempt
    text text Text | the response as it is shown
    people text People | what each person says
    judges text Judges | what each judge says
    people_differ number Differ | share of pairs of people who differ
    judges_differ number Judges differ | share of pairs of a person and a judge who differ
    majority text Majority | of the people; missing without one
    settled text Settled | the value that was taken; missing where it is open
    who text By | who settled it
    reason text Reason | why
    """)
_SAMPLE = columns_of("response text Response | number of the sample in its set")
_SHOWN = columns_of("""
    prompt text Prompt | what was asked, as raters saw it
    text text Text | the response as raters saw it
    speaker text Speaker | participant code of who said it; none for a model
    model text Model | spec of the model that wrote it; none for a person
    """)
_SOURCE = tuple(
    map(
        column_of,
        ("administration", "battery", "subtest", "item", "trial_number", "response_attempt"),
    )
)
RATINGS = (
    *_SAMPLE,
    *columns_of("""
    rater text Rater | code of a person, spec of a judge, or adjudicated
    measure text Measure | the question; where each attempt is asked, with its number: code#2
    value text Value | the answer as it was given: 1 present, 0 absent, a number of a scale, a \
code, phonemes, words, or cannot-tell; none: not rated
    """),
    Column(
        "counted",
        "Counted",
        "the number that results count: of a scale with a cut 1 from the cut on, else 0",
        "number",
    ),
    *columns_of("""
    occasion integer Occasion | 1 of the first rating, 2 of the same sample again
    confidence integer Confidence | of the rater in the sample, 0 guessed to 3 sure
    note text Note | of the rater on the sample; of a settled value its reason
    """),
    Column("seconds", "Seconds", "that the rater spent on the sample", "number", "seconds"),
    *columns_of("""
    looked_at text Looked at | yes: the rater answered this question; no: it was confirmed as \
absent together with others, in a second step; none: not recorded (before version 0.2.0, or \
elsewhere)
    flag text Flag | why the rating of the sample is doubtful: untouched (confirmed without any \
answer), fast (in less time than the form's minimum), untouched-fast, or fast-unmarked (looked_at \
is not recorded, less time than the minimum, nothing marked as present); none: it is not
    recorded_at text Recorded | when it was saved, ISO 8601, UTC
    form text Form | id of the form
    """),
    *_SHOWN,
    *_SOURCE,
)
SAMPLES = (
    *_SAMPLE,
    *_SHOWN,
    *columns_of("""
    context_before text Before | what was said before it, as raters saw it
    context_after text After | what was said after it, as raters saw it
    stratum text Stratum | of the sampling
    """),
    _WEIGHT,
    *_SOURCE,
)


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """How far one rater is: a row of :data:`PROGRESS`."""

    rater: str
    done: int
    assigned: int
    begun: int
    minutes: float
    median_seconds: float | None
    flagged: int
    last: str | None


def progress_of(store: Store, kept: RatingSet) -> Iterator[RaterProgress]:
    """Yield how far each rater is, in the order of the plan."""
    form = asked_by(kept)
    assigned = Counter(one.rater for one in store.sets.assignments(kept.id))
    done = Counter(one.rater for one in store.sets.ratings(kept.id))
    last = {(one.rater, one.position): one for one in store.sets.ratings(kept.id, every=True)}
    for rater in kept.raters:
        own = [row for (who, _), row in last.items() if who == rater]
        seconds = [row.seconds for row in own if row.complete and row.seconds > 0]
        yield RaterProgress(
            rater=rater,
            done=done[rater],
            assigned=assigned[rater],
            begun=sum(not row.complete for row in own),
            minutes=round(sum(row.seconds for row in own) / 60, 1),
            median_seconds=round(median(seconds), 1) if seconds else None,
            flagged=sum(bool(flag_of(form, row)) for row in own),
            last=max((row.recorded_at for row in own), default=None),
        )


def sets_table(store: Store) -> Table:
    """Return one row for each rating set of a store, oldest first."""
    rows = []
    for kept in store.sets.all():
        progress = list(progress_of(store, kept))
        done, assigned = (
            sum(getattr(one, name) for one in progress) for name in ("done", "assigned")
        )
        rows.append(
            (
                kept.name, kept.uid, kept.form_id, ", ".join(kept.raters), kept.status, kept.counts,
                done, assigned, kept.created_at,
            )
        )  # fmt: skip
    return table_of("rating-sets", SETS, rows)


def progress_table(store: Store, kept: RatingSet) -> Table:
    """Return one row for each rater of a set."""
    rows = [astuple(one) for one in progress_of(store, kept)]
    return table_of("progress", PROGRESS, rows, (f"How far the raters of '{kept.name}' are.",))


def assignments_table(store: Store, kept: RatingSet) -> Table:
    """Return one row for each sample of each rater, in the rater's order."""
    samples = {sample.number: sample for sample in store.sets.samples(kept.id)}
    complete = {(one.rater, one.position) for one in store.sets.ratings(kept.id)}
    rows = []
    for one in store.sets.assignments(kept.id):
        sample = samples[one.sample]
        rows.append(
            (
                one.rater, one.position, one.sample, one.purpose,
                (one.rater, one.position) in complete, sample.stratum or None, sample.weight,
                sample.prompt or None, sample.text or None,
            )
        )  # fmt: skip
    return table_of("assignments", ASSIGNMENTS, rows, (f"Who rates what in '{kept.name}'.",))


def disputes_table(adjudicator: Adjudicator, which: Which) -> Table:
    """Return one row for each answer that raters differ on, most first."""
    rows = []
    for one in adjudicator.disputes(which=which):
        held = one.settled
        people = (adjudicator.said(one, said) for said in one.verdicts)
        judges = (f"{judge} {adjudicator.words(one.measure, said)}" for judge, said in one.judges)
        majority = one.majority
        rows.append(
            (
                one.sample, one.measure, adjudicator.shown(one.sample).text,
                ", ".join(people), ", ".join(judges), one.people_differ, one.judges_differ,
                None if majority is None else adjudicator.words(one.measure, majority),
                None if held is None else adjudicator.words(one.measure, held.answer),
                None if held is None else held.who, None if held is None else held.reason,
            )
        )  # fmt: skip
    settled, of = adjudicator.progress()
    note = (
        f"Of {of} answers of '{adjudicator.set.name}' that people differ on {settled} are settled."
    )
    return table_of("disputed", DISPUTED, rows, (note,))


@dataclass(frozen=True, slots=True)
class SetTables:
    """What is written of a rating set.

    Attributes:
        ratings: of people and what was settled, one row for each answer.
        judges: what judges say of the features of the same responses, with the same columns.
        scales: measures of which people gave a value of a scale, and judges a verdict.
        calibration: answers to samples whose consensus was known, likewise.
        samples: one row for each.
        names: spec of a model or judge with a folder to what it is called here.
    """

    ratings: Table
    judges: Table
    calibration: Table
    samples: Table
    names: Mapping[str, str]
    scales: frozenset[str]


def administrations_of(store: Store, kept: RatingSet) -> list[Administration]:
    """Return the administrations whose responses a set has."""
    numbers = dict.fromkeys(sample.administration for sample in store.sets.samples(kept.id))
    return [store.administration(number) for number in sorted(numbers)]


def set_tables(store: Store, kept: RatingSet) -> SetTables:
    """Return the tables of a rating set."""
    form = asked_by(kept)
    samples = store.sets.samples(kept.id)
    given = {one.id: one for one in administrations_of(store, kept)}
    features = [one.measure for one in form.questions if one.is_feature]
    places = [(one.administration, one.trial, one.attempt) for one in samples]
    judged = verdicts_at(store, places, features)[0] if samples else {}
    specs = [one.conditions.examinee for one in given.values() if not one.conditions.guarded]
    names = file_names([*specs, *judged])
    cells = dict(_cells(store, samples, given, names))
    rows = _Rows(form, kept, cells)
    ratings = store.sets.ratings(kept.id)
    order = {"rate": 1, "again": 2}
    own = sorted(
        (one for one in ratings if one.purpose in order),
        key=lambda one: (order[one.purpose], one.rater, one.sample),
    )
    settled = store.sets.adjudications(kept.id)
    found = [row for one in own for row in rows.of_rating(one, order[one.purpose])]
    found += [
        rows.row(
            (str(one.sample), ADJUDICATED, one.measure),
            one.answer,
            (1, None, one.reason or None, None, None, None, one.recorded_at),
        )
        for one in settled
    ]
    answers: Mapping[int, Answer] = {PRESENT: 1.0, ABSENT: 0.0, UNSURE: CANNOT_TELL}
    by_judges = [
        rows.counted_as(
            float(verdict) if verdict in (PRESENT, ABSENT) else None,
            (str(sample.number), names.get(judge, judge), measure),
            answers.get(verdict),
            (1, None, None, None, None, None, None),
        )
        for judge, layer in judged.items()
        for sample, verdicts in zip(samples, layer.tolist(), strict=True)
        for measure, verdict in zip(features, verdicts, strict=True)
    ]
    learning = [
        row for one in ratings if one.purpose == "calibration" for row in rows.of_rating(one, 1)
    ]
    title = f"rating set '{kept.name}'"
    listed = [
        (
            str(one.number), *cells[one.number][:4], one.context_before or None,
            one.context_after or None, one.stratum or None, one.weight, *cells[one.number][4:],
        )
        for one in samples
    ]  # fmt: skip
    return SetTables(
        table_of("ratings", RATINGS, found, (f"One row for each answer of {title}.",)),
        table_of("judges", RATINGS, by_judges, (f"What judges say of the samples of {title}.",)),
        table_of("calibration", RATINGS, learning, ("Answers to samples of known consensus.",)),
        table_of("samples", SAMPLES, listed, (f"The samples of {title}.",)),
        names,
        frozenset(one.measure for one in form.questions if one.kind == "scale"),
    )


def with_judges(tables: SetTables) -> Table:
    """Return the ratings of people with those of judges after them.

    What judges say of a scale is left out: their verdict is not a value of it.
    """
    of_judges = (row for row in tables.judges.rows() if row[2] not in tables.scales)
    rows = [*tables.ratings.rows(), *of_judges]
    return table_of("ratings", RATINGS, rows, tables.ratings.notes)


Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Rows:
    form: Form
    kept: RatingSet
    cells: Mapping[int, Row]

    def of_rating(self, one: SampleRating, occasion: int) -> Iterator[Row]:
        """Yield a row for each answer."""
        said = one.confidence, one.note or None, one.seconds
        flag = flag_of(self.form, one) or None
        for key in sorted(one.answers, key=self._place):
            begin = str(one.sample), one.rater, key
            looked = None
            if one.confirmed is not None:
                looked = "no" if key in one.confirmed else "yes"
            rest = *said, looked, flag, one.recorded_at
            yield self.row(begin, one.answers[key], (occasion, *rest))

    def _place(self, key: str) -> tuple[int, int]:
        """Return the place of a key among the questions, and the number of its attempt."""
        measure, attempt = measure_of(key)
        return self.form.questions.index(self.form.question(measure)), attempt or 0

    def row(self, begin: tuple[str, str, str], answer: Answer, said: Row) -> Row:
        """Return a row: what was rated, the answer, and the columns after it."""
        question = self.form.question(measure_of(begin[2])[0])
        return self.counted_as(question.number(answer), begin, answer, said)

    def counted_as(
        self, number: float | None, begin: tuple[str, str, str], answer: Answer, said: Row
    ) -> Row:
        """Return a row of an answer that has this number in results."""
        return (
            *begin, _text(answer), number, *said, self.kept.form_id, *self.cells[int(begin[0])],
        )  # fmt: skip


def _text(answer: Answer) -> str | None:
    return f"{answer:g}" if isinstance(answer, float) else answer


def _cells(
    store: Store,
    samples: Sequence[Sample],
    given: Mapping[int, Administration],
    names: Mapping[str, str],
) -> Iterator[tuple[int, Row]]:
    """Yield the number of each sample with its columns of ``_SHOWN`` and ``_SOURCE``."""
    items = {number: _items(store, number, samples) for number in given}
    for sample in samples:
        administration = given[sample.administration]
        conditions = administration.conditions
        spec = conditions.examinee
        yield (
            sample.number,
            (
                sample.prompt or None,
                sample.text or None,
                conditions.person if conditions.guarded else None,
                None if conditions.guarded else names.get(spec, spec),
                administration.uid,
                administration.battery,
                *items[sample.administration][sample.trial],
                sample.trial,
                sample.attempt,
            ),
        )


def _items(store: Store, number: int, samples: Sequence[Sample]) -> Mapping[int, tuple[str, str]]:
    """Return subtest and item of the trials of an administration that samples are of."""
    wanted = {one.trial for one in samples if one.administration == number}
    return {
        trial.plan.number: (trial.plan.subtest, trial.plan.item)
        for part in store.trial_parts(number)
        for trial in part
        if trial.plan.number in wanted
    }
