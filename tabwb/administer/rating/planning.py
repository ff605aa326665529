"""Planning a rating set: what is drawn, who rates it in which order, and what can be expected.

The hybrid queue of TAB, section 6.2: where a judge has rated all, a person rates what the judge is
uncertain of, what has a feature that the judge often finds, and a random share of the rest, by
which the judge is audited. The paper gives no numbers; those here are ours and options.
"""

from __future__ import annotations

import csv
import math
import random
import statistics
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabwb.administer.rating.adjudication import by_sample
from tabwb.administer.rating.presentation import Shown, Sign, presented, signs_of
from tabwb.battery.forms import Form, check_answers, completed, missing, with_source_question
from tabwb.battery.loader import read_text
from tabwb.battery.problems import Problem
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.rating_sets import (
    AUDIT,
    FREQUENT,
    UNCERTAIN,
    Answer,
    Assignment,
    AudioCut,
    Presentation,
    Purpose,
    RatingSet,
    Sample,
    SampleRating,
    SetPlan,
)
from tabwb.records.specs import seed_of
from tabwb.records.words import did_you_mean, plural

if TYPE_CHECKING:
    from tabwb.store.store import Store

# -------------------------------------------------------------------- plan


AGAIN = 0.1
"""The share of a rater's samples that is shown again."""
DISTANCE = 20
"""The least distance of a sample from its first showing, in samples, where the list allows it."""


@dataclass(frozen=True, slots=True)
class Design:
    """How the work is divided.

    Attributes:
        raters: codes.
        overlap: number of samples that several raters rate; None: all samples.
        each: number of raters of each of these; None: all raters.
        most: largest number of samples of one rater, without repeats and calibration; None: any.
        again: share of a rater's samples that is shown again, 0 to 0.5.
        distance: least number of positions between the two showings.
        seed: of every draw and order.
    """

    raters: tuple[str, ...]
    overlap: int | None = None
    each: int | None = None
    most: int | None = None
    again: float = AGAIN
    distance: int = DISTANCE
    seed: int = 0


def assigned(
    samples: Sequence[int], design: Design, calibration: Sequence[int] = ()
) -> tuple[Assignment, ...]:
    """Return the assignments of all raters, each rater's in order.

    A rater gets the calibration samples first, then their own samples in their own order, of
    which a share comes again later. The samples of several raters are drawn at random; each has the
    raters with the fewest samples so far, among these those who have shared the fewest samples.
    """
    checked_design(len(samples), design)
    shares = _shared_out(samples, design)
    assignments = []
    for rater in design.raters:
        stream = random.Random(seed_of("tabwb-rating-order-1", design.seed, rater))
        shown: list[tuple[int, Purpose]] = [
            (number, "calibration") for number in _shuffled(calibration, stream)
        ]
        own = _shuffled(shares[rater], stream)
        shown += with_repeats(own, design.again, design.distance, stream)
        assignments += [
            Assignment(rater, position, number, purpose)
            for position, (number, purpose) in enumerate(shown, start=1)
        ]
    return tuple(assignments)


def checked_design(n: int, design: Design) -> None:
    """Check that the numbers of a design fit each other and the samples."""
    raters, each = len(design.raters), _each(design)
    if not raters:
        raise UsageError("no rater is named", where="--raters", hint="for example: --raters R1,R2")
    twice = [rater for rater, times in Counter(design.raters).items() if times > 1]
    if twice:
        raise UsageError(f"rater '{twice[0]}' is named twice", where="--raters")
    if design.overlap is not None and not 0 <= design.overlap <= n:
        raise _out_of_range("--overlap", design.overlap, f"0 to {n}")
    if not 1 <= each <= raters:
        raise _out_of_range("--raters-per-sample", each, f"1 to {raters}")
    if not 0 <= design.again <= 0.5:
        raise _out_of_range("--again", design.again, "0 to 0.5")
    if design.most is not None:
        needed, possible = ratings_needed(n, design), raters * design.most
        if needed > possible:
            raise UsageError(
                f"{plural(n, 'sample')} need {needed} ratings, and {plural(raters, 'rater')} with "
                f"{design.most} each give {possible}",
                where="--per-rater",
                allowed=f"at least {math.ceil(needed / raters)}, fewer samples, or less overlap",
            )


def ratings_needed(n: int, design: Design) -> int:
    """Return the number of first ratings of a plan, without repeats and calibration.

    >>> ratings_needed(561, Design(("R1", "R2", "R3", "R4", "R5"), overlap=82, each=2))
    643
    """
    shared = n if design.overlap is None else design.overlap
    return n - shared + shared * _each(design)


def with_repeats(
    order: Sequence[int], share: float, distance: int, stream: random.Random
) -> list[tuple[int, Purpose]]:
    """Return an order in which a share of the samples comes again, each not too soon.

    Those that come again are drawn from the first half; each is at a random place at least
    ``distance`` positions later, or half the length of the list where that is less.
    """
    n = len(order)
    times = math.ceil(round(share * n, 9)) if n > 1 else 0
    apart = min(distance, n // 2)
    places: list[tuple[float, int, Purpose]] = [
        (float(place), number, "rate") for place, number in enumerate(order)
    ]
    for place in stream.sample(range(max(n // 2, times)), times):
        later = stream.uniform(place + apart, n)
        places.append((later, order[place], "again"))
    return [(number, purpose) for _, number, purpose in sorted(places, key=lambda one: one[0])]


def pair_counts(assignments: Sequence[Assignment]) -> dict[tuple[str, str], int]:
    """Return how many samples each pair of raters shares, without calibration and repeats."""
    raters: dict[int, list[str]] = {}
    known: dict[str, None] = {}
    for one in assignments:
        known[one.rater] = None
        if one.purpose == "rate":
            raters.setdefault(one.sample, []).append(one.rater)
    counts = dict.fromkeys(combinations(known, 2), 0)
    order = {rater: place for place, rater in enumerate(known)}
    for of_sample in raters.values():
        for pair in combinations(sorted(of_sample, key=order.__getitem__), 2):
            counts[pair] += 1
    return counts


def _shared_out(samples: Sequence[int], design: Design) -> Mapping[str, list[int]]:
    stream = random.Random(seed_of("tabwb-rating-overlap-1", design.seed))
    order = _shuffled(samples, stream)
    overlap = len(order) if design.overlap is None else design.overlap
    shares: dict[str, list[int]] = {rater: [] for rater in design.raters}
    together: Counter[frozenset[str]] = Counter()
    for place, number in enumerate(order):
        wanted = _each(design) if place < overlap else 1
        chosen: list[str] = []
        turn = {rater: stream.random() for rater in design.raters}
        while len(chosen) < wanted:
            free = [rater for rater in design.raters if rater not in chosen]
            chosen.append(
                min(
                    free,
                    key=lambda rater: (
                        len(shares[rater]),
                        sum(together[frozenset((rater, other))] for other in chosen),
                        turn[rater],
                    ),
                )
            )
        for rater in chosen:
            shares[rater].append(number)
        together.update(map(frozenset, combinations(chosen, 2)))
    return shares


def _each(design: Design) -> int:
    return len(design.raters) if design.each is None else design.each


def _shuffled(numbers: Sequence[int], stream: random.Random) -> list[int]:
    return stream.sample(list(numbers), len(numbers))


def _out_of_range(where: str, value: float, allowed: str) -> UsageError:
    return UsageError(f"{value:g} is out of range", where=where, allowed=allowed)


# -------------------------------------------------------------------- sampling


Unit = TypeVar("Unit", bound=Hashable)
PURPOSE = "tabwb-rating-sample-1"
"""Names this way to draw; another one gets another name."""


@dataclass(frozen=True, slots=True)
class Drawn(Generic[Unit]):
    """A response that was drawn.

    Attributes:
        unit: the response.
        stratum: it was drawn from.
        weight: responses of the stratum for each one drawn: its size over the number drawn.
    """

    unit: Unit
    stratum: str
    weight: float


def allocated(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Return how many are drawn from each stratum when ``total`` are drawn in proportion.

    The largest remainders get what rounding down leaves (Hamilton's method), first strata first.
    With enough to draw every stratum has at least one.

    >>> allocated({"a": 70, "b": 20, "c": 10}, 10), allocated({"a": 98, "b": 1, "c": 1}, 10)
    ({'a': 7, 'b': 2, 'c': 1}, {'a': 8, 'b': 1, 'c': 1})
    """
    everything = sum(sizes.values())
    if total >= everything:
        return dict(sizes)
    shares = {name: size * total / everything for name, size in sizes.items()}
    least = int(total >= len(sizes))
    given = {name: max(int(share), least) for name, share in shares.items()}
    while (wrong := total - sum(given.values())) != 0:
        step = 1 if wrong > 0 else -1
        free = [
            name
            for name in sizes
            if (given[name] < sizes[name] if step > 0 else given[name] > least)
        ]
        given[max(free, key=lambda name: step * (shares[name] - given[name]))] += step
    return given


def drawn(
    units: Sequence[tuple[Unit, str]],
    *,
    seed: int,
    total: int | None = None,
    per_stratum: int | None = None,
) -> tuple[Drawn[Unit], ...]:
    """Return a random sample without replacement from each stratum, in the order of the units."""
    if total is not None and per_stratum is not None:
        raise UsageError("--samples and --per-stratum cannot be combined", allowed="one of them")
    members: dict[str, list[int]] = {}
    for place, (_, stratum) in enumerate(units):
        members.setdefault(stratum, []).append(place)
    sizes = {name: len(places) for name, places in members.items()}
    if total is not None and total > len(units):
        raise UsageError(
            f"{total} samples are asked for, and {plural(len(units), 'response')} can be drawn",
            where="--samples",
            allowed=f"1 to {len(units)}",
        )
    if total is not None:
        numbers = allocated(sizes, total)
    else:
        numbers = {name: min(size, per_stratum or size) for name, size in sizes.items()}
    chosen: dict[int, Drawn[Unit]] = {}
    for name, places in members.items():
        stream = random.Random(seed_of(PURPOSE, seed, name))
        for place in stream.sample(places, numbers[name]):
            chosen[place] = Drawn(units[place][0], name, sizes[name] / numbers[name])
    return tuple(chosen[place] for place in sorted(chosen))


# -------------------------------------------------------------------- samples


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored response that can be rated.

    Attributes:
        administration, trial, attempt: its numbers in the store.
        place: subtest and item.
        stratum: what it is sampled by, in words; empty where all are sampled together.
        by_model: whether a model made it.
        text: as it was stored.
        prompt: of the item.
        cut: whether a limit ended it.
        before, after: the responses around it in the administration, where they are wanted.
        picture: path within the battery, or None.
        target: the word that was expected, or empty.
        audio: where it is recorded, or None.
    """

    administration: int
    trial: int
    attempt: int
    place: tuple[str, str]
    stratum: str = ""
    by_model: bool = False
    text: str = ""
    prompt: str = ""
    cut: bool = False
    before: str = ""
    after: str = ""
    picture: str | None = None
    target: str = ""
    audio: AudioCut | None = None

    @property
    def key(self) -> tuple[int, int]:
        """Administration and trial."""
        return self.administration, self.trial


def sample_of(
    number: int,
    candidate: Candidate,
    form: Form,
    policy: Presentation,
    *,
    weight: float = 1.0,
    stratum: str | None = None,
    consensus: Mapping[str, Answer] | None = None,
) -> Sample:
    """Return a sample with the parts that the form shows, under the policy of the set."""
    shows = set(form.shows)
    text = candidate.text if "text" in shows else ""
    around = replace(policy, max_words=None)
    return Sample(
        number,
        *candidate.key,
        candidate.attempt,
        presented(text, policy, cut=candidate.cut and bool(text)),
        candidate.prompt if "prompt" in shows else "",
        presented(candidate.before, around) if "text" in shows else "",
        presented(candidate.after, around) if "text" in shows else "",
        candidate.stratum if stratum is None else stratum,
        weight,
        candidate.audio if "audio" in shows else None,
        candidate.picture if "picture" in shows else None,
        candidate.target if "target" in shows else "",
        consensus,
    )


# -------------------------------------------------------------------- expected


PREVALENCES = (0.05, 0.1, 0.2, 0.35, 0.5)
KAPPAS = (0.3, 0.6)
"""For which intervals are forecast: about what TAB reports (0.286), and twice that."""
MOST_STUDIES = 8
"""Simulated for each forecast."""
SIMULATED = 4_000
"""Samples of all simulated studies of a forecast; at least four studies are simulated."""
WORDS_PER_MINUTE = 200
"""Of reading; an assumption until ratings with the form are stored."""
SECONDS_PER_QUESTION = 3.0
SECONDS_PER_SCALE = 5.0
PLAYED = 2.5
"""How often a sound is heard."""
LEAST_RATINGS = 10
"""So many stored ratings with the form replace the assumptions."""


@dataclass(frozen=True, slots=True)
class Width:
    """The expected width of the 95 % interval of a coefficient for one feature.

    Attributes:
        pairs: number of pairs of raters over which the coefficient is the mean.
        n: samples that several raters rate; of one pair those that both rate.
        prevalence: the share of samples that each rater calls present.
        kappa: agreement that is assumed.
        of_kappa, of_ac1: expected widths; None where too few samples have the feature for an
            interval.
    """

    pairs: int
    n: int
    prevalence: float
    kappa: float
    of_kappa: float | None
    of_ac1: float | None


def expected_widths(
    n: int,
    *,
    raters: int = 2,
    each: int = 2,
    seed: int = 0,
) -> tuple[Width, ...]:
    """Return the expected widths for one pair of raters, or over all pairs.

    They are those of :func:`tabwb.agreement.compare.expected_width`.
    """
    from tabwb.agreement.compare import expected_width

    studies = max(4, min(MOST_STUDIES, SIMULATED // max(n, 1)))
    widths = []
    for kappa in KAPPAS:
        for prevalence in PREVALENCES:
            one = expected_width(
                n, prevalence, kappa, raters=raters, per_sample=each, studies=studies, seed=seed
            )
            pairs = raters * (raters - 1) // 2
            widths.append(Width(pairs, n, prevalence, kappa, one.kappa, one.ac1))
    return tuple(widths)


def expected_seconds(form: Form, sample: Sample) -> float:
    """Return the assumed seconds for one sample: reading, listening and answering.

    Reading at 200 words a minute, each sound played 2.5 times, 3 s for a question of present or
    absent and 5 s for any other.
    """
    shown = " ".join((sample.prompt, sample.context_before, sample.text, sample.context_after))
    reading = len(shown.split()) * 60 / WORDS_PER_MINUTE
    audio = sample.audio
    listening = 0.0 if audio is None or not form.spoken else PLAYED * (audio.end_s - audio.start_s)
    answering = sum(
        SECONDS_PER_QUESTION if question.kind == "present-absent" else SECONDS_PER_SCALE
        for question in form.questions
    )
    return reading + listening + answering


def measured_seconds(ratings: Iterable[SampleRating]) -> float | None:
    """Return the median of seconds of complete ratings; None with fewer than ten."""
    seconds = [one.seconds for one in ratings if one.complete and one.seconds > 0]
    return statistics.median(seconds) if len(seconds) >= LEAST_RATINGS else None


# -------------------------------------------------------------------- calibration


COLUMNS = ("response", "measure", "value")
"""Of a file of calibration samples."""
Consensus = Mapping[tuple[int, int], Mapping[str, Answer]]
"""The right answers, by administration and trial."""


def text_of(path: Path, expected: str) -> str:
    """Return the text of a file."""
    text = read_text(path, expected)
    if isinstance(text, Problem):
        raise UsageError(str(text))
    return text


def read_consensus(path: Path, form: Form) -> Consensus:
    """Return the right answers of calibration samples.

    The file is CSV with the columns ``response`` (``ADMINISTRATION/TRIAL``), ``measure`` and
    ``value`` (as a rater gives it; empty: not said).
    """
    reader = csv.DictReader(text_of(path, ",".join(COLUMNS)).splitlines())
    names = tuple(reader.fieldnames or ())
    if missing := [name for name in COLUMNS if name not in names]:
        raise UsageError(
            f"there is no column '{missing[0]}'" + did_you_mean(missing[0], names),
            where=f"{path}:1",
            allowed=", ".join(COLUMNS),
        )
    consensus: dict[tuple[int, int], dict[str, Answer]] = {}
    for row in reader:
        where = f"{path}:{reader.line_num}"
        administration, _, trial = (row["response"] or "").strip().partition("/")
        if not (administration.isdecimal() and trial.isdecimal()):
            raise UsageError(
                f"'{row['response']}' is not a response",
                where=where,
                allowed="ADMINISTRATION/TRIAL, two numbers such as 3/12",
            )
        key, measure = (int(administration), int(trial)), (row["measure"] or "").strip()
        try:
            answer = form.question(measure.partition("#")[0]).read(row["value"] or "")
        except TabwbError as error:
            raise UsageError(error.message, where=where, allowed=error.allowed) from error
        if consensus.setdefault(key, {}).setdefault(measure, answer) != answer:
            raise UsageError(f"{key[0]}/{key[1]} has two values of '{measure}'", where=where)
    known = {}
    for key, given in consensus.items():
        known[key] = {measure: value for measure, value in given.items() if value is not None}
        if not known[key]:
            raise UsageError(f"{key[0]}/{key[1]} has no value of any measure", where=str(path))
    return known


def consensus_of_set(store: Store, reference: str, form: Form) -> Consensus:
    """Return the samples of an earlier set whose every answer is known.

    An answer is known where it is settled, or else where two raters or more gave the same and none
    another. Answers are as the raters gave them, before any cut of a scale.
    """
    kept = store.sets.get(reference)
    if kept.form != form.canonical:
        raise UsageError(
            f"set '{kept.name}' has another form ({kept.form_id})",
            where="--calibration-set",
            allowed=f"a set with the form '{form.id}' as it is now",
        )
    settled = {(one.sample, one.measure): one.answer for one in store.sets.adjudications(kept.id)}
    given = by_sample(store.sets.ratings(kept.id))
    known: dict[tuple[int, int], dict[str, Answer]] = {}
    for sample in store.sets.samples(kept.id):
        ratings = [completed(form, one.answers) for one in given.get(sample.number, ())]
        answers: dict[str, Answer] = {}
        for key in dict.fromkeys(key for rating in ratings for key in rating):
            said = [rating.get(key) for rating in ratings]
            if (sample.number, key) in settled:
                answers[key] = settled[sample.number, key]
            elif len(said) > 1 and len(set(said)) == 1 and said[0] is not None:
                answers[key] = said[0]
        if answers and not missing_answers(form, answers):
            known[sample.administration, sample.trial] = answers
    if not known:
        raise UsageError(
            f"no sample of set '{kept.name}' has a consensus on every question",
            where="--calibration-set",
            hint=f"settle where raters differ: tabwb rate disputed {kept.name}",
        )
    return known


def missing_answers(form: Form, answers: Mapping[str, Answer]) -> tuple[str, ...]:
    """Return the measures without an answer, also of questions that are absent unless marked."""
    asked = [one for one in form.questions if one.kind == "present-absent" and not one.optional]
    unmarked = tuple(one.measure for one in asked if answers.get(one.measure) is None)
    return unmarked or missing(form, answers)


# -------------------------------------------------------------------- planning


CALIBRATION = "calibration"
"""The stratum of calibration samples."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a planner asks for; see :class:`tabwb.records.rating_sets.RatingSet`.

    Attributes:
        name: of the set.
        form: the questions.
        design: how the work is divided.
        presentation: how texts are shown.
        total, per_stratum: how many samples are drawn; see
            :func:`tabwb.administer.rating.planning.drawn`.
        consensus: right answers of calibration samples, by administration and trial.
        guidelines: text.
        ask_source: whether the last question is "person or machine?".
        counts: whose ratings count.
    """

    name: str
    form: Form
    design: Design
    presentation: Presentation = field(default_factory=Presentation)
    total: int | None = None
    per_stratum: int | None = None
    consensus: Mapping[tuple[int, int], Mapping[str, Answer]] = field(default_factory=dict)
    guidelines: str = ""
    ask_source: bool = False
    counts: str = "majority"


@dataclass(frozen=True, slots=True)
class RaterWork:
    """What one rater gets: numbers of samples by purpose, and the seconds expected."""

    rater: str
    samples: int
    again: int
    calibration: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with what can be expected of it.

    Attributes:
        plan: from which the set is made.
        strata: name to number of responses and of samples drawn.
        work: of each rater.
        pairs: number of samples that each pair of raters shares.
        several: number of samples that more than one rater rates, and each: the raters of these.
        signs: of the shown texts, by source.
        measured: median seconds for a sample that raters needed with the form, or None.
    """

    plan: SetPlan
    strata: Mapping[str, tuple[int, int]]
    work: tuple[RaterWork, ...]
    pairs: Mapping[tuple[str, str], int]
    several: int
    each: int
    signs: tuple[Sign, ...]
    measured: float | None = None

    def widths(self) -> tuple[Width, ...]:
        """Return the expected widths of intervals.

        Of the mean over all pairs and, where there are several, of the pair that shares the fewest
        samples.
        """
        if not self.several:
            return ()
        seed, raters = self.plan.kept.seed, len(self.plan.kept.raters)
        widths = expected_widths(self.several, raters=raters, each=self.each, seed=seed)
        fewest = min(self.pairs.values())
        if len(self.pairs) == 1 or not fewest:
            return widths
        return (*expected_widths(fewest, seed=seed), *widths)


def planned(
    candidates: Sequence[Candidate],
    request: Request,
    *,
    draws: Sequence[Drawn[Candidate]] | None = None,
    measured: float | None = None,
) -> Planned:
    """Return the plan of a rating set.

    Calibration samples are taken from the candidates and are not drawn a second time.
    """
    form, design = request.form, request.design
    calibration = _calibration(candidates, request)
    known = {one.key for one in calibration}
    pool = [one for one in candidates if one.key not in known]
    if draws is None:
        units = [(one, one.stratum) for one in pool]
        draws = drawn(units, seed=design.seed, total=request.total, per_stratum=request.per_stratum)
    policy = request.presentation
    samples = [
        sample_of(number, one.unit, form, policy, weight=one.weight, stratum=one.stratum)
        for number, one in enumerate(draws, start=1)
    ]
    learned = [
        sample_of(
            len(samples) + number,
            one,
            form,
            policy,
            stratum=CALIBRATION,
            consensus=request.consensus[one.key],
        )
        for number, one in enumerate(calibration, start=1)
    ]
    assignments = assigned(
        [sample.number for sample in samples], design, [sample.number for sample in learned]
    )
    kept = RatingSet(
        request.name, form.canonical, form.id, policy, design.seed, design.raters,
        request.guidelines, request.ask_source, request.counts,
    )  # fmt: skip
    plan = SetPlan(kept, (*samples, *learned), assignments)
    strata: dict[str, list[float]] = {}
    for one in draws:
        strata.setdefault(one.stratum, []).append(one.weight)
    raters = Counter(one.sample for one in assignments if one.purpose == "rate")
    asked = with_source_question(form) if request.ask_source else form
    by_model = {one.unit.key: one.unit.by_model for one in draws}
    return Planned(
        plan,
        {name: (round(sum(weights)), len(weights)) for name, weights in strata.items()},
        _work(plan, asked, measured),
        pair_counts(assignments),
        sum(number > 1 for number in raters.values()),
        max(raters.values(), default=0),
        signs_of(
            Shown(one.text, one.prompt, by_model[one.administration, one.trial]) for one in samples
        )
        if "text" in form.shows
        else (),
        measured,
    )


def _calibration(candidates: Sequence[Candidate], request: Request) -> list[Candidate]:
    by_key = {one.key: one for one in candidates}
    found = []
    for key, answers in request.consensus.items():
        name = f"{key[0]}/{key[1]}"
        if key not in by_key:
            raise UsageError(
                f"calibration sample {name} is not among the responses that can be rated",
                where="--calibration",
                hint="choose its administration too; ADMINISTRATION/TRIAL are its numbers",
            )
        try:
            check_answers(request.form, answers)
        except TabwbError as error:
            raise UsageError(
                error.message, where=f"--calibration, response {name}", allowed=error.allowed
            ) from error
        found.append(by_key[key])
    return found


def _work(plan: SetPlan, form: Form, measured: float | None) -> tuple[RaterWork, ...]:
    seconds = {sample.number: measured or expected_seconds(form, sample) for sample in plan.samples}
    work = []
    for rater in plan.kept.raters:
        own = [one for one in plan.assignments if one.rater == rater]
        number = Counter(one.purpose for one in own)
        work.append(
            RaterWork(
                rater,
                number["rate"],
                number["again"],
                number["calibration"],
                sum(seconds[one.sample] for one in own),
            )
        )
    return tuple(work)


Verdicts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rules:
    """When a person rates.

    Attributes:
        frequent: the share of responses from which on a feature is frequent.
        margin: a probability of a feature this near to 0.5 is uncertain.
        audit: the share of the other responses that is audited, rounded up.
    """

    frequent: float = 0.2
    margin: float = 0.2
    audit: float = 0.1


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge said of responses.

    Attributes:
        judge: its id.
        features: ids.
        verdicts: shape (responses, features): 1 present, 0 absent, NaN without a verdict.
        probabilities: of the same shape; NaN where the judge tells none.
        failed: shape (responses,): whether a verdict could not be read, or the call failed.
    """

    judge: str
    features: tuple[str, ...]
    verdicts: Verdicts
    probabilities: Verdicts
    failed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Queue:
    """How many responses a person rates, and why.

    Attributes:
        judge: its id.
        responses: number of all that the judge rated.
        frequent: frequent features with the share of responses that the judge calls present.
        uncertain, with_frequent, audited: numbers of responses, each in the first that applies.
        rest: number of the others, audited or not.
        has_probabilities: whether the judge tells probabilities; without them only verdicts that
            failed are uncertain.
    """

    judge: str
    responses: int
    frequent: tuple[tuple[str, float], ...]
    uncertain: int
    with_frequent: int
    audited: int
    rest: int
    has_probabilities: bool

    @property
    def to_person(self) -> int:
        """Number of responses that a person rates."""
        return self.uncertain + self.with_frequent + self.audited


def hybrid_queue(
    units: Sequence[Unit], judged: Judged, rules: Rules, seed: int
) -> tuple[tuple[Drawn[Unit], ...], Queue]:
    """Return the responses that a person rates, in the order of the units, and their numbers.

    Uncertain: a verdict failed, or a probability p of a feature has |p - 0.5| < margin. Frequent:
    the judge calls present a feature that it finds in at least the share ``frequent`` of the
    responses. Audit: a simple random sample of the others. The weight of an audited response is
    the number of the others over that of audited ones; the weight of all else is 1.
    """
    for option, value, most in (
        ("--frequent", rules.frequent, 1.0),
        ("--margin", rules.margin, 0.5),
        ("--audit", rules.audit, 1.0),
    ):
        if not 0 <= value <= most:
            raise UsageError(f"{value:g} is out of range", where=option, allowed=f"0 to {most:g}")
    found = (judged.verdicts == 1).sum(axis=0)
    shares = found / max(len(units), 1)
    often = (shares >= rules.frequent) & (found > 0)
    near = np.abs(judged.probabilities - 0.5) < rules.margin  # NaN is not near
    uncertain = judged.failed | near.any(axis=1)
    frequent = ~uncertain & (judged.verdicts[:, often] == 1).any(axis=1)
    others = np.flatnonzero(~uncertain & ~frequent).tolist()
    number = math.ceil(round(rules.audit * len(others), 9))
    stream = random.Random(seed_of("tabwb-rating-audit-1", seed))
    audited = set(stream.sample(others, number))
    draws = []
    for place, unit in enumerate(units):
        if uncertain[place]:
            draws.append(Drawn(unit, UNCERTAIN, 1.0))
        elif frequent[place]:
            draws.append(Drawn(unit, FREQUENT, 1.0))
        elif place in audited:
            draws.append(Drawn(unit, AUDIT, len(others) / number))
    named = [
        (judged.features[at], float(shares[at]))
        for at in np.argsort(-shares, kind="stable").tolist()
        if often[at]
    ]
    queue = Queue(
        judged.judge,
        len(units),
        tuple(named),
        int(uncertain.sum()),
        int(frequent.sum()),
        number,
        len(others),
        bool((~np.isnan(judged.probabilities)).any()),
    )
    return tuple(draws), queue
