"""Each judge measured against people: rates of right verdicts, and changes between versions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tabwb.agreement.calibration import Calibration, calibrate
from tabwb.agreement.compare import OverFeatures, difference
from tabwb.agreement.pairs import tables_of
from tabwb.report.summaries.agreement.compared import (
    Among,
    Task,
    main_pairs,
    with_consensus,
    with_each,
)
from tabwb.scoring.participant_tests import McNemar, mcnemar_of_counts

_FAMILY = re.compile(r"(-\d+)?(\+[^:@ ]+)?([:@].*| \(prompt .*)?$")
"""What tells versions of one judge apart: number, variant of the prompt, model, prompt's hash."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgeAgreement:
    """One judge beside the main raters.

    Attributes:
        judge: its name.
        each: with each of them, like them with each other; None without a common sample.
        consensus: with the consensus of them, which is not comparable with the former.
        people: positive-count-weighted kappa of them with each other, over the features that the
            judge has a kappa on too; ``difference``: that of the judge with each of them less it.
        reference: whom it is measured against: the consensus, or the one person.
        calibration: against that, by feature.
    """

    judge: str
    each: Among | None
    consensus: Among | None
    people: OverFeatures | None
    difference: OverFeatures | None
    reference: str
    calibration: tuple[Calibration, ...]


@dataclass(frozen=True, slots=True)
class FeatureDrift:
    """Two versions of a judge on one feature.

    Attributes:
        n: samples with verdicts of both.
        appeared: absent by the first, present by the second; ``vanished``: the other way.
        test: McNemar's exact test of these; None without a sample.
    """

    measure: str
    n: int
    appeared: int
    vanished: int
    test: McNemar | None

    @property
    def changed(self) -> float | None:
        """The share of samples with another verdict."""
        return (self.appeared + self.vanished) / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Drift:
    """Two versions of one judge on the same samples."""

    first: str
    second: str
    features: tuple[FeatureDrift, ...]


def judge_agreements(
    task: Task, judges: Sequence[int], main: Among | None
) -> tuple[JudgeAgreement, ...]:
    """Return what each judge shares with the main raters and with their consensus."""
    return tuple(_judge(task, place, main) for place in judges)


def _judge(task: Task, place: int, main: Among | None) -> JudgeAgreement:
    each = with_each(task, place)
    own, people = _on_the_same_features(task, place, each, main)
    return JudgeAgreement(
        task.raters[place],
        each,
        with_consensus(task, place),
        people,
        None if own is None or people is None else difference(own, people),
        "the consensus",
        calibrate(
            task.verdicts[place],
            task.consensus,
            draws=task.draws,
            seed=task.seed,
            speakers=task.speakers,
        ),
    )


def _on_the_same_features(
    task: Task, place: int, each: Among | None, main: Among | None
) -> tuple[OverFeatures | None, OverFeatures | None]:
    """Return the weighted kappas of a judge with people and of people, over features of both."""
    if each is None or main is None:
        return None, None
    of_judge, of_people = (~np.isnan(one.found.by_feature["kappa"]) for one in (each, main))
    if not np.array_equal(of_judge, of_people):
        both = np.flatnonzero(of_judge & of_people)
        if not both.size:
            return None, None
        some = replace(
            task,
            features=tuple(task.features[at] for at in both.tolist()),
            verdicts=task.verdicts[..., both],
            consensus=task.consensus[:, both],
        )
        each, main = with_each(some, place), main_pairs(some)
        assert each is not None and main is not None
    key = "positive_count_weighted", "kappa"
    return each.found.over_features[key], main.found.over_features[key]


def beside_one(task: Task, person: int, judges: Sequence[int]) -> tuple[JudgeAgreement, ...]:
    """Return the calibration of judges against the only person who rated."""
    found = []
    for place in judges:
        rates = calibrate(
            task.verdicts[place],
            task.verdicts[person],
            draws=task.draws,
            seed=task.seed,
            speakers=task.speakers,
        )
        name, other = task.raters[place], task.raters[person]
        found.append(JudgeAgreement(name, None, None, None, None, other, rates))
    return tuple(found)


def family_of(judge: str) -> str:
    """Return what is the same in the names of all versions of a judge.

    >>> [family_of(name) for name in ("rules-1", "tab-2026+prompt:gemini:x", "tab-2026:openai:y")]
    ['rules', 'tab', 'tab']
    """
    return _FAMILY.sub("", judge)


def drifts(task: Task, judges: Sequence[int]) -> tuple[Drift, ...]:
    """Return every two versions of a judge that judged the same samples, in order of names."""
    ordered = sorted(judges, key=lambda place: task.raters[place])
    found = []
    for one, other in combinations(ordered, 2):
        first, second = task.raters[one], task.raters[other]
        if family_of(first) != family_of(second):
            continue
        tables = tables_of(task.verdicts[one], task.verdicts[other])
        if not tables.any():
            continue
        features = []
        for measure, table in zip(task.features, tables.tolist(), strict=True):
            (neither, appeared), (vanished, both) = table
            n = neither + appeared + vanished + both
            test = mcnemar_of_counts(appeared, vanished) if n else None
            features.append(FeatureDrift(measure.id, n, appeared, vanished, test))
        found.append(Drift(first, second, tuple(features)))
    return tuple(found)
