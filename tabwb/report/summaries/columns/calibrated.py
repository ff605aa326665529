"""Labels of a judge after calibration with the consensus of people: a separate rater.

For each feature the samples of all rating sets with a consensus and a verdict of the judge are
counted by both. A verdict v then stands for the probability that people find the feature,

    p(v) = (n(v, present) + 1/2) / (n(v) + 1),

the predictive value of the verdict with Jeffreys' prior (Vecchio 1966, New Engl. J. Med. 274, 1171;
Brown, Cai and DasGupta 2001, Statist. Sci. 16, 101), and the label is present where p(v) > 1/2. It
holds for responses in which the feature is as frequent as in the samples; weights of a stratified
sampling are used, scaled to a mean of 1. A sample is left out of its own probability.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tabwb.administer.rating.consensus import by_sample, consensus
from tabwb.administer.rating.judged import judged
from tabwb.battery.forms import form_from_canonical
from tabwb.records.counting import CALIBRATED
from tabwb.records.errors import UsageError
from tabwb.records.ratings import PROBABILITY, Declaration
from tabwb.records.states import RatingStatus
from tabwb.report.names import judge_called
from tabwb.store.column_ratings import Ratings
from tabwb.store.columns import ResponseColumns
from tabwb.store.store import Store
from tabwb.store.write import STATUSES

FEWEST = 10
"""Samples of each verdict that a feature needs."""
VALUE = STATUSES.index(RatingStatus.VALUE)
Response = tuple[int, int, int]
"""Administration, trial and attempt."""


@dataclass(slots=True)
class Counted:
    """The samples of one feature: by response the verdict, the consensus and the weight."""

    samples: dict[Response, tuple[int, int, float]] = field(default_factory=dict)
    _cells: tuple[float, list[float], list[float]] | None = None

    @property
    def numbers(self) -> tuple[int, int]:
        """How many samples the judge calls absent, and present."""
        present = sum(verdict for verdict, _, _ in self.samples.values())
        return len(self.samples) - present, present

    def probability(self, verdict: int, without: Response | None = None) -> float:
        """Return the probability that people find the feature where the judge gave a verdict.

        Args:
            verdict: 1 present, 0 absent.
            without: a sample that is left out.

        >>> four = {(1, n, 1): (1, int(n < 3), 1.0) for n in range(4)}
        >>> Counted(four).probability(1), Counted(four).probability(1, (1, 3, 1))
        (0.7, 0.875)
        """
        if self._cells is None:
            self._cells = self._counts()
        mean, of, present = self._cells
        given, found, weight = self.samples[without] if without else (-1, 0, 0.0)
        own = weight / mean if given == verdict else 0.0
        return (present[verdict] - own * found + 0.5) / (of[verdict] - own + 1)

    def _counts(self) -> tuple[float, list[float], list[float]]:
        """Return the mean weight, and by verdict the samples and those with the feature."""
        mean = sum(weight for *_, weight in self.samples.values()) / len(self.samples)
        of, present = [0.0, 0.0], [0.0, 0.0]
        for given, found, weight in self.samples.values():
            of[given] += weight / mean
            present[given] += found * weight / mean
        return mean, of, present


def with_calibrated(
    store: Store,
    columns: ResponseColumns,
    declared: Sequence[Mapping[str, Declaration]],
    name: str,
) -> tuple[ResponseColumns, list[Mapping[str, Declaration]]]:
    """Return columns and declarations with those of a calibrated judge.

    Args:
        store: with the rating sets.
        columns: as read.
        declared: of each administration, by rater.
        name: ``calibrated:JUDGE``.

    Raises:
        UsageError: the judge has no verdicts here, or too few samples have a consensus.
    """
    judge = judge_called(name.removeprefix(CALIBRATED), columns.ratings)
    samples = samples_of(store, judge)
    usable = {measure: one for measure, one in samples.items() if min(one.numbers) >= FEWEST}
    if not usable:
        raise UsageError(
            f"'{judge}' cannot be calibrated",
            hint=f"a feature needs {FEWEST} samples of rating sets with a consensus that the judge "
            f"calls present, and {FEWEST} that it calls absent",
        )
    given = columns.ratings[judge]
    measures: dict[str, Ratings] = {}
    for measure, one in usable.items():
        if measure in given.measures:
            labels, probabilities = _labels(columns, given.measures[measure], one)
            measures[measure] = labels
            measures[f"{measure}{PROBABILITY}"] = probabilities
    none = np.empty(0, np.int64)
    rater = f"{CALIBRATED}{judge}"
    ratings = {
        **columns.ratings,
        rater: replace(given, measures=measures, judged=none, prompts=none),
    }
    return replace(columns, ratings=ratings), [
        _with_declaration(one, judge, rater, usable) for one in declared
    ]


def samples_of(store: Store, judge: str) -> dict[str, Counted]:
    """Return, by feature, the samples with a consensus of people and a verdict of a judge.

    A consensus is a settled value, or the majority of two or more people.

    Args:
        store: with the rating sets.
        judge: its stored name.
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
                    cell = int(verdict), int(value == 1.0), sample.weight
                    found.setdefault(measure, Counted()).samples.setdefault(response, cell)
    return found


def _labels(columns: ResponseColumns, given: Ratings, one: Counted) -> tuple[Ratings, Ratings]:
    rated = given.statuses == VALUE
    probability = np.full(len(given.rows), np.nan)
    for verdict in (0, 1):
        probability[rated & (given.values == verdict)] = one.probability(verdict)
    for at, response in _own(columns, given, one):
        if rated[at]:
            probability[at] = one.probability(int(given.values[at]), response)
    labels: NDArray[np.float64] = np.where(rated, probability > 0.5, np.nan)
    reasons = np.where(rated, 0, given.reasons)
    return (
        replace(given, values=labels, reasons=reasons),
        replace(given, values=probability, reasons=reasons),
    )


def _own(columns: ResponseColumns, given: Ratings, one: Counted) -> list[tuple[int, Response]]:
    """Return the places in ``given`` of the responses that are samples."""
    numbers = {number: place for place, number in enumerate(columns.administrations)}
    found = []
    for response in one.samples:
        place = numbers.get(response[0])
        if place is None:
            continue
        first, last = columns.starts[place : place + 2].tolist()
        same = columns.trials[first:last] == response[1]
        same &= columns.attempts[first:last] == response[2]
        for row in (np.flatnonzero(same) + first).tolist():
            at = int(np.searchsorted(given.rows, row))
            if at < len(given.rows) and given.rows[at] == row:
                found.append((at, response))
    return found


def _with_declaration(
    declared: Mapping[str, Declaration],
    judge: str,
    rater: str,
    usable: Mapping[str, Counted],
) -> Mapping[str, Declaration]:
    own = declared.get(judge)
    if own is None:
        return declared
    features = tuple(feature for feature in own.features if feature in usable)
    sizes = [len(usable[feature].samples) for feature in features]
    n = f"{min(sizes)} to {max(sizes)}" if len({*sizes}) > 1 else f"{max(sizes, default=0)}"
    caution = (
        f"the verdicts of {judge}, calibrated with the consensus of people on {n} samples of each "
        f"feature; {len(features)} of {len(own.features)} features, the others have fewer than "
        f"{FEWEST} samples of a verdict"
    )
    return {**declared, rater: replace(own, rater=rater, features=features, caution=caution)}
