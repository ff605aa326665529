"""Everything about the agreement of raters on one set of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from tabwb.agreement.dawid_skene import ErrorRates, error_rates
from tabwb.agreement.verdicts import ABSENT, CANNOT_TELL, PRESENT, Verdicts, cannot_tell_as
from tabwb.records.errors import UsageError
from tabwb.report.summaries.agreement.answered import (
    Answered,
    Transcribed,
    answered,
    transcribed,
)
from tabwb.report.summaries.agreement.compared import (
    Among,
    Choices,
    FeatureCounts,
    Task,
    counts_of,
    draws_for,
    main_pairs,
    task_of,
    with_rest,
)
from tabwb.report.summaries.agreement.judged import (
    Drift,
    JudgeAgreement,
    beside_one,
    drifts,
    judge_agreements,
)
from tabwb.report.summaries.agreement.rated import Rated
from tabwb.report.summaries.agreement.sensitivity import Sensitivity, sensitivity

LATENT_DRAWS = 200
"""Bootstrap replicates of error rates without a known truth, unless draws are asked for."""


@dataclass(frozen=True, slots=True)
class FeatureKind:
    """Means over the objective features, or over the subjective ones.

    Attributes:
        features: ids.
        ac1, kappa: mean over those where it is defined, with their number.
        prevalence, variance: means of p and p (1 - p) over those with a verdict.
    """

    name: str
    features: tuple[str, ...]
    ac1: tuple[float | None, int]
    kappa: tuple[float | None, int]
    prevalence: float | None
    variance: float | None


@dataclass(frozen=True, slots=True)
class Given:
    """How much one rater gave.

    Attributes:
        samples: with a verdict on any feature.
        verdicts, present, unsure: numbers of verdicts, of present ones, and of "cannot tell".
        flagged: doubtful ratings of samples; None where nothing says it.
    """

    rater: str
    judge: bool
    samples: int
    verdicts: int
    present: int
    unsure: int
    flagged: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class AgreementReport:
    """Agreement of raters.

    Attributes:
        rated: what they gave; ``choices``: how agreement is computed.
        task: the verdicts on features; None where no feature was rated.
        given: how much each rater gave.
        main: every two people, or every two raters with fewer than two people.
        counts: of each feature, what the main raters gave.
        judges: beside the people. ``alone``: with one person, against that person.
        rest: each of the main raters with the majority of the others.
        kinds: objective and subjective features, where a form or battery tells them apart.
        intra: each rater with the same rater later.
        error_rates: of each rater without a known truth.
        correctness: listeners with each other on what is right, by rule.
    """

    rated: Rated
    choices: Choices
    task: Task | None
    given: tuple[Given, ...]
    main: Among | None
    counts: tuple[FeatureCounts, ...]
    judges: tuple[JudgeAgreement, ...]
    alone: tuple[JudgeAgreement, ...]
    rest: tuple[Among, ...]
    sensitivity: tuple[Sensitivity, ...]
    kinds: tuple[FeatureKind, ...]
    intra: tuple[Among, ...]
    drifts: tuple[Drift, ...]
    error_rates: ErrorRates | None
    answered: tuple[Answered, ...]
    transcribed: tuple[Transcribed, ...]
    correctness: Among | None

    @property
    def of_people(self) -> bool:
        """Whether the main raters are people."""
        return len(self.rated.people) > 1


def agreement_of(rated: Rated, choices: Choices | None = None) -> AgreementReport:
    """Return everything about the agreement of raters."""
    choices, rated = choices or Choices(), _of_one_speaker(rated)
    if len(rated.raters) < 2 and not rated.again:
        raise UsageError(
            f"{rated.source} has the ratings of one rater: {', '.join(rated.raters) or 'none'}",
            hint="agreement needs two raters, or one who rated samples twice",
        )
    if choices.ties == "adjudicated" and rated.adjudicated is None:
        raise UsageError(
            f"{rated.source} has no adjudicated value",
            where="--ties",
            allowed="drop, positive, negative",
            hint="tabwb rate disputed SET lists what to settle",
        )
    task = task_of(rated, choices) if rated.features else None
    judges = rated.places(rated.judges)
    people = rated.places(rated.people)
    main = None if task is None else main_pairs(task)
    counts = () if task is None else counts_of(task, rated)
    draws = draws_for(len(rated.samples), choices.draws)
    return AgreementReport(
        rated,
        choices,
        task,
        tuple(_given(rated, at) for at in range(len(rated.raters))),
        main,
        counts,
        judge_agreements(task, judges, main) if task and len(people) > 1 else (),
        beside_one(task, people[0], judges) if task and len(people) == 1 else (),
        () if task is None else with_rest(task),
        () if task is None or main is None else sensitivity(rated, choices),
        _kinds(rated, main, counts),
        _intra(rated, choices, task),
        () if task is None else drifts(task, judges),
        None if task is None else _latent(task, choices),
        answered(rated, draws=draws, seed=choices.seed),
        transcribed(rated),
        _correctness(rated, choices),
    )


def _of_one_speaker(rated: Rated) -> Rated:
    """Return ratings whose samples are resampled where all of them are of one speaker."""
    if rated.speakers is None or len(np.unique(rated.speakers)) > 1:
        return rated
    note = "All samples are of one speaker: intervals are about further samples of this speaker."
    return replace(rated, speakers=None, notes=(*rated.notes, note))


def _given(rated: Rated, at: int) -> Given:
    own = rated.verdicts[at]
    stated = own >= 0
    return Given(
        rated.raters[at],
        rated.raters[at] in rated.judges,
        int(stated.any(axis=1).sum()),
        int(stated.sum()),
        int((own == PRESENT).sum()),
        int((own == CANNOT_TELL).sum()),
        None if rated.flagged is None else int(rated.flagged[at].sum()),
    )


def _kinds(
    rated: Rated, main: Among | None, counts: Sequence[FeatureCounts]
) -> tuple[FeatureKind, ...]:
    if main is None:
        return ()
    found = []
    for name, wanted in (("objective", True), ("subjective", False)):
        own = [at for at, one in enumerate(rated.features) if one.objective is wanted]
        shares = [counts[at].prevalence for at in own]
        known = [share for share in shares if share is not None]
        if own:
            found.append(
                FeatureKind(
                    name,
                    tuple(rated.features[at].id for at in own),
                    _mean([main.found.by_feature["ac1"][at] for at in own]),
                    _mean([main.found.by_feature["kappa"][at] for at in own]),
                    fmean(known) if known else None,
                    fmean(share * (1 - share) for share in known) if known else None,
                )
            )
    return tuple(found)


def _mean(values: Sequence[float]) -> tuple[float | None, int]:
    known = [float(value) for value in values if not np.isnan(value)]
    return (fmean(known) if known else None), len(known)


def _intra(rated: Rated, choices: Choices, task: Task | None) -> tuple[Among, ...]:
    """Return each rater's first ratings with the ones given again; every later one is a pair."""
    if task is None:
        return ()
    found = []
    for at, rater in enumerate(rated.raters):
        pairs: list[tuple[Verdicts, Verdicts]] = []
        for later in rated.again:
            second = later[at]
            if choices.cannot_tell == "absent":
                second = cannot_tell_as(second, ABSENT)
            pairs.append((task.verdicts[at], second))
        names = [(rater, f"{rater}, time {n}") for n in range(2, len(pairs) + 2)]
        among = task.compared(names, pairs) if pairs else None
        if among is not None:
            found.append(among)
    return tuple(found)


def _latent(task: Task, choices: Choices) -> ErrorRates | None:
    """Return the error rates of all raters; None with fewer than three."""
    if len(task.raters) < 3:
        return None
    draws = LATENT_DRAWS if choices.draws is None else choices.draws
    return error_rates(task.verdicts, draws=draws, seed=choices.seed, speakers=task.speakers)


def _correctness(rated: Rated, choices: Choices) -> Among | None:
    """Return every two listeners on what is right."""
    if rated.right is None:
        return None
    listeners = replace(
        rated, features=rated.correctness, verdicts=rated.right, again=(), adjudicated=None
    )
    ties = "drop" if choices.ties == "adjudicated" else choices.ties
    return main_pairs(task_of(listeners, replace(choices, ties=ties)))
