"""A rating set as it is planned: drawn samples, assignments, and what can be expected of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tabwb.administer.rating.expected import Width, expected_seconds, expected_widths
from tabwb.administer.rating.plan import Design, assigned, pair_counts
from tabwb.administer.rating.presentation import Shown, Sign, signs_of
from tabwb.administer.rating.samples import Candidate, sample_of
from tabwb.administer.rating.sampling import Drawn, drawn
from tabwb.battery.forms import Form, check_answers, with_source_question
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.rating_sets import Answer, Presentation, RatingSet, SetPlan

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
            :func:`tabwb.administer.rating.sampling.drawn`.
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
