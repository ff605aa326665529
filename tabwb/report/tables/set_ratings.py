"""The ratings and samples of a rating set as tables for other programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tabwb.agreement.verdicts import ABSENT, PRESENT
from tabwb.agreement.verdicts import CANNOT_TELL as UNSURE
from tabwb.analysis.stored_ratings import verdicts_at
from tabwb.battery.form_answers import flag_of
from tabwb.battery.forms import Form
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
from tabwb.tables.table import Column, Table, column_of, table_of

_SAMPLE = Column("response", "Response", "number of the sample in its set")
_SHOWN = (
    Column("prompt", "Prompt", "what was asked, as raters saw it"),
    Column("text", "Text", "the response as raters saw it"),
    Column("speaker", "Speaker", "participant code of who said it; none for a model"),
    Column("model", "Model", "spec of the model that wrote it; none for a person"),
)
_SOURCE = (
    column_of("administration"),
    column_of("battery"),
    column_of("subtest"),
    column_of("item"),
    column_of("trial_number"),
    column_of("response_attempt"),
)
RATINGS = (
    _SAMPLE,
    Column("rater", "Rater", "code of a person, spec of a judge, or adjudicated"),
    Column(
        "measure",
        "Measure",
        "the question; where each attempt is asked, with its number: code#2",
    ),
    Column(
        "value",
        "Value",
        "the answer as it was given: 1 present, 0 absent, a number of a scale, a code, phonemes, "
        "words, or cannot-tell; none: not rated",
    ),
    Column(
        "counted",
        "Counted",
        "the number that results count: of a scale with a cut 1 from the cut on, else 0",
        "number",
    ),
    Column("occasion", "Occasion", "1 of the first rating, 2 of the same sample again", "integer"),
    Column(
        "confidence", "Confidence", "of the rater in the sample, 0 guessed to 3 sure", "integer"
    ),
    Column("note", "Note", "of the rater on the sample; of a settled value its reason"),
    Column("seconds", "Seconds", "that the rater spent on the sample", "number", "seconds"),
    Column(
        "looked_at",
        "Looked at",
        "yes: the rater answered this question; no: it was confirmed as absent together with "
        "others, in a second step; none: not recorded (before version 0.2.0, or elsewhere)",
    ),
    Column(
        "flag",
        "Flag",
        "why the rating of the sample is doubtful: untouched (confirmed without any answer), fast "
        "(in less time than the form's minimum), untouched-fast, or fast-unmarked (looked_at is "
        "not recorded, less time than the minimum, nothing marked as present); none: it is not",
    ),
    Column("recorded_at", "Recorded", "when it was saved, ISO 8601, UTC"),
    Column("form", "Form", "id of the form"),
    *_SHOWN,
    *_SOURCE,
)
SAMPLES = (
    _SAMPLE,
    *_SHOWN,
    Column("context_before", "Before", "what was said before it, as raters saw it"),
    Column("context_after", "After", "what was said after it, as raters saw it"),
    Column("stratum", "Stratum", "of the sampling"),
    Column("weight", "Weight", "how many responses the sample stands for", "number", "responses"),
    *_SOURCE,
)


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
