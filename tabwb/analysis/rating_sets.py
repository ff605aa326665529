"""Rating sets as tables: what there is, how far raters are, what they say and differ on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from math import fsum
from statistics import median

from tabwb.administer.rating.access import link_state
from tabwb.administer.rating.adjudication import (
    Adjudicator,
    Which,
    by_sample,
    consensus,
    judged,
)
from tabwb.agreement.verdicts import ABSENT, PRESENT
from tabwb.agreement.verdicts import CANNOT_TELL as UNSURE
from tabwb.analysis.file_names import file_names
from tabwb.analysis.stored_ratings import verdicts_at
from tabwb.battery.forms import flag_of, form_from_canonical
from tabwb.records.columns import Column, column_of
from tabwb.records.rating_sets import (
    ADJUDICATED,
    CANNOT_TELL,
    Answer,
    RatingSet,
    Sample,
    SampleRating,
    measure_of,
    quoted,
)
from tabwb.records.trials import Administration
from tabwb.scoring.calibrated import Calibration
from tabwb.store.sets import asked_by
from tabwb.store.store import Store
from tabwb.tables.table import Row, Table, columns_of, table_of, table_of_dicts

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
    link_state text Link | the newest link's state: valid, expired or revoked; none: none was made
    link_made_at text Made | when it was made, ISO 8601, UTC
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
    evidence text Evidence | words of the text that the rater marked for this answer; | \
separates stretches
    evidence_positions text Evidence positions | numbers of these words in the text, from 0
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
    link_state: str | None
    link_made_at: str | None


def progress_of(store: Store, kept: RatingSet) -> Iterator[RaterProgress]:
    """Yield how far each rater is, in the order of the plan."""
    form = asked_by(kept)
    assigned = Counter(one.rater for one in store.sets.assignments(kept.id))
    done = Counter(one.rater for one in store.sets.ratings(kept.id))
    last = {(one.rater, one.position): one for one in store.sets.ratings(kept.id, every=True)}
    links, now = {one.rater: one for one in store.sets.links.all(kept.id)}, datetime.now(UTC)
    for rater in kept.raters:
        own = [row for (who, _), row in last.items() if who == rater]
        link = links.get(rater)
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
            link_state=link_state(link, now) if link else None,
            link_made_at=link.made_at if link else None,
        )


def sets_table(store: Store) -> Table:
    """Return one row for each rating set of a store, oldest first."""
    rows = []
    for kept in store.sets.all():
        progress = list(progress_of(store, kept))
        rows.append(
            asdict(kept)
            | {
                "rating_set": kept.name,
                "rating_set_uid": kept.uid,
                "form": kept.form_id,
                "raters": ", ".join(kept.raters),
                "done": sum(one.done for one in progress),
                "assigned": sum(one.assigned for one in progress),
            }
        )
    return table_of_dicts("rating-sets", SETS, rows)


def progress_table(store: Store, kept: RatingSet) -> Table:
    """Return one row for each rater of a set."""
    rows = (asdict(one) for one in progress_of(store, kept))
    note = f"How far the raters of '{kept.name}' are."
    return table_of_dicts("progress", PROGRESS, rows, (note,))


def assignments_table(store: Store, kept: RatingSet) -> Table:
    """Return one row for each sample of each rater, in the rater's order."""
    samples = {sample.number: _seen(sample) for sample in store.sets.samples(kept.id)}
    complete = {(one.rater, one.position) for one in store.sets.ratings(kept.id)}
    rows = (
        samples[one.sample] | asdict(one) | {"complete": (one.rater, one.position) in complete}
        for one in store.sets.assignments(kept.id)
    )
    return table_of_dicts("assignments", ASSIGNMENTS, rows, (f"Who rates what in '{kept.name}'.",))


def disputes_table(adjudicator: Adjudicator, which: Which) -> Table:
    """Return one row for each answer that raters differ on, most first."""
    rows = []
    for one in adjudicator.disputes(which=which):

        def words(answer: Answer, measure: str = one.measure) -> str | None:
            return None if answer is None else adjudicator.words(measure, answer)

        held = one.settled
        rows.append(
            {
                "sample": one.sample,
                "measure": one.measure,
                "text": adjudicator.shown(one.sample).text,
                "people": ", ".join(adjudicator.said(one, said) for said in one.verdicts),
                "judges": ", ".join(f"{judge} {words(said)}" for judge, said in one.judges),
                "people_differ": one.people_differ,
                "judges_differ": one.judges_differ,
                "majority": words(one.majority),
                "settled": held and words(held.answer),
                "who": held and held.who,
                "reason": held and held.reason,
            }
        )
    settled, of = adjudicator.progress()
    note = (
        f"Of {of} answers of '{adjudicator.set.name}' that people differ on {settled} are settled."
    )
    return table_of_dicts("disputed", DISPUTED, rows, (note,))


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
    numbers = {sample.administration for sample in store.sets.samples(kept.id)}
    return [store.administration(number) for number in sorted(numbers)]


def set_tables(store: Store, kept: RatingSet) -> SetTables:
    """Return the tables of a rating set."""
    form, samples = asked_by(kept), store.sets.samples(kept.id)
    given = {one.id: one for one in administrations_of(store, kept)}
    features = [one.measure for one in form.questions if one.is_feature]
    places = [(one.administration, one.trial, one.attempt) for one in samples]
    judged = verdicts_at(store, places, features)[0] if samples else {}
    specs = [one.conditions.examinee for one in given.values() if not one.conditions.guarded]
    names = file_names([*specs, *judged])
    sources = dict(_sources(store, samples, given, names))
    texts = {sample.number: sample.text for sample in samples}

    def row(sample: int, rater: str, key: str, answer: Answer, number: float | None) -> Row:
        value = f"{answer:g}" if isinstance(answer, float) else answer
        return sources[sample] | {
            "rater": rater, "measure": key, "value": value, "counted": number, "occasion": 1,
            "form": kept.form_id,
        }  # fmt: skip

    def place(key: str) -> tuple[int, int]:
        measure, attempt = measure_of(key)
        return form.questions.index(form.question(measure)), attempt or 0

    def said(sample: int, rater: str, key: str, answer: Answer) -> Row:
        number = form.question(measure_of(key)[0]).number(answer)
        return row(sample, rater, key, answer, number)

    def answers(one: SampleRating) -> Iterator[Row]:
        rest = {
            "occasion": 2 if one.purpose == "again" else 1, "confidence": one.confidence,
            "note": one.note or None, "seconds": one.seconds, "flag": flag_of(form, one) or None,
            "recorded_at": one.recorded_at,
        }  # fmt: skip
        for key in sorted(one.answers, key=place):
            looked = None if one.confirmed is None else "no" if key in one.confirmed else "yes"
            words = one.evidence.get(key, ())
            marked = quoted(texts[one.sample], words) or None, " ".join(map(str, words)) or None
            rest |= {"looked_at": looked, "evidence": marked[0], "evidence_positions": marked[1]}
            yield said(one.sample, one.rater, key, one.answers[key]) | rest

    ratings = sorted(
        store.sets.ratings(kept.id), key=lambda one: (one.purpose == "again", one.rater, one.sample)
    )
    learned = [one for one in store.sets.ratings(kept.id) if one.purpose == "calibration"]
    found = [own for one in ratings if one.purpose != "calibration" for own in answers(one)]
    found += (
        said(one.sample, ADJUDICATED, one.measure, one.answer)
        | {"note": one.reason or None, "recorded_at": one.recorded_at}
        for one in store.sets.adjudications(kept.id)
    )
    told: Mapping[int, Answer] = {PRESENT: 1.0, ABSENT: 0.0, UNSURE: CANNOT_TELL}
    by_judges = (
        row(sample.number, names.get(judge, judge), measure, told.get(verdict),
            float(verdict) if verdict in (PRESENT, ABSENT) else None)
        for judge, layer in judged.items()
        for sample, verdicts in zip(samples, layer.tolist(), strict=True)
        for measure, verdict in zip(features, verdicts, strict=True)
    )  # fmt: skip
    title = f"rating set '{kept.name}'"
    tables = (
        ("ratings", RATINGS, found, f"One row for each answer of {title}."),
        ("judges", RATINGS, by_judges, f"What judges say of the samples of {title}."),
        ("calibration", RATINGS, [own for one in learned for own in answers(one)],
         "Answers to samples of known consensus."),
        ("samples", SAMPLES, sources.values(), f"The samples of {title}."),
    )  # fmt: skip
    made = [table_of_dicts(name, columns, rows, (note,)) for name, columns, rows, note in tables]
    scales = frozenset(one.measure for one in form.questions if one.kind == "scale")
    return SetTables(made[0], made[1], made[2], made[3], names, scales)


def with_judges(tables: SetTables) -> Table:
    """Return the ratings of people with those of judges after them.

    What judges say of a scale is left out: their verdict is not a value of it.
    """
    of_judges = (row for row in tables.judges.rows() if row[2] not in tables.scales)
    rows = [*tables.ratings.rows(), *of_judges]
    return table_of("ratings", RATINGS, rows, tables.ratings.notes)


def _seen(sample: Sample) -> Row:
    """Return a sample as raters see it, with its weight and stratum."""
    empty = dict.fromkeys(("text", "prompt", "context_before", "context_after", "stratum"))
    given = {name: getattr(sample, name) or None for name in empty}
    return {"response": str(sample.number), "weight": sample.weight, **given}


def _sources(
    store: Store,
    samples: Sequence[Sample],
    given: Mapping[int, Administration],
    names: Mapping[str, str],
) -> Iterator[tuple[int, Row]]:
    """Yield the number of each sample with what was shown of it, and where it is from."""
    wanted = {(one.administration, one.trial) for one in samples}
    items = {
        (number, trial.plan.number): (trial.plan.subtest, trial.plan.item)
        for number in given
        for part in store.trial_parts(number)
        for trial in part
        if (number, trial.plan.number) in wanted
    }
    for sample in samples:
        administration = given[sample.administration]
        conditions = administration.conditions
        subtest, item = items[sample.administration, sample.trial]
        spec = conditions.examinee
        yield (
            sample.number,
            _seen(sample)
            | {
                "speaker": conditions.person if conditions.guarded else None,
                "model": None if conditions.guarded else names.get(spec, spec),
                "administration": administration.uid,
                "battery": administration.battery,
                "subtest": subtest,
                "item": item,
                "trial_number": sample.trial,
                "response_attempt": sample.attempt,
            },
        )


Response = tuple[int, int, int]
"""Administration, trial and attempt."""


@dataclass(slots=True)
class Counted:
    """The samples of one feature: by response the verdict, the consensus and the weight."""

    samples: dict[Response, tuple[int, int, float]] = field(default_factory=dict)
    verdicts: int = 0  # of people on them
    prompts: set[str] = field(default_factory=set)  # that they answer

    def calibration(self) -> Calibration:
        """Return what each verdict stands for.

        >>> Counted({(1, n, 1): (1, int(n < 3), 1.0) for n in range(4)}).calibration().of
        (0.0, 4.0)
        """
        numbers, of, found = [], [], []
        for verdict in (0, 1):
            own = [(hit, w) for given, hit, w in self.samples.values() if given == verdict]
            total = fsum(w for _, w in own)
            n = total**2 / fsum(w * w for _, w in own) if own else 0.0
            numbers.append(len(own))
            of.append(n)
            found.append(n * fsum(hit * w for hit, w in own) / total if own else 0.0)
        return Calibration(
            (numbers[0], numbers[1]),
            (of[0], of[1]),
            (found[0], found[1]),
            self.verdicts,
            len(self.prompts),
        )


def samples_of(store: Store, judge: str) -> dict[str, Counted]:
    """Return, by feature, the samples with a consensus of people and a verdict of a judge.

    A consensus is a settled value, or the majority of two or more people.
    """
    found: dict[str, Counted] = {}
    for kept in store.sets.all():
        form, samples = form_from_canonical(kept.form), store.sets.samples(kept.id)
        verdicts = judged(store, samples, form)
        ratings, settled = store.sets.ratings(kept.id), store.sets.adjudications(kept.id)
        held = {(one.sample, one.measure) for one in settled}
        raters = Counter(
            (sample, key)
            for sample, given in by_sample(ratings).items()
            for rating in given
            for key, answer in rating.answers.items()
            if isinstance(answer, float)
        )
        agreed = consensus(form, ratings, "consensus", settled)
        for sample in samples:
            response = sample.administration, sample.trial, sample.attempt
            for measure, value in agreed.get(sample.number, {}).items():
                verdict = verdicts.get(sample.number, {}).get(measure, {}).get(judge)
                place = sample.number, measure
                enough = place in held or raters[place] > 1
                if verdict is not None and value in (0.0, 1.0) and enough:
                    one = found.setdefault(measure, Counted())
                    if response not in one.samples:
                        one.samples[response] = int(verdict), int(value == 1.0), sample.weight
                        one.verdicts += raters[place]
                        one.prompts.add(sample.prompt)
    return found
