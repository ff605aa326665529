"""The responses on which judges are furthest apart about one feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum

import numpy as np
from numpy.typing import NDArray

from tabwb.battery.model import Item
from tabwb.records.ratings import PROBABILITY, Rating
from tabwb.report.summaries.columns.judged import summarise_judges
from tabwb.report.summaries.columns.prepared import Bools
from tabwb.report.summaries.columns.table import NOT_RATED, Table, table_of
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.judges import judge_labels
from tabwb.store.write import STATUSES as RATING_STATUSES


@dataclass(frozen=True, slots=True)
class JudgedFeature:
    """What one judge says of one feature in one response; None where it was not asked."""

    judge: str
    verdict: Rating | None
    probability: float | None

    @property
    def score(self) -> float | None:
        """The probability where there is one, else the verdict (0 or 1); None without a value."""
        value = None if self.verdict is None else self.verdict.value
        return self.probability if value is not None and self.probability is not None else value


@dataclass(frozen=True, slots=True)
class Disputed:
    """One response with what every judge says of the feature.

    Attributes:
        split: some judges call the feature present, others absent.
    """

    item: Item
    response: str
    examinee: str
    said: tuple[JudgedFeature, ...]
    distance: float
    split: bool


@dataclass(frozen=True, slots=True)
class Disagreements:
    """The responses in order, the most disputed first.

    Attributes:
        judges: those that have the feature in their sets.
        compared: responses with values of at least two judges.
        disputed: those of them on which the judges differ at all.
    """

    feature: str
    judges: tuple[str, ...]
    compared: int
    disputed: tuple[Disputed, ...]


def distance(scores: Sequence[float]) -> float | None:
    """Return how far judges are apart: the mean absolute difference over all pairs.

    For verdicts of 0 and 1 it is the share of pairs that disagree; None with fewer than two.

    >>> distance([1.0, 0.0, 0.0]), distance([0.75, 0.25]), distance([1.0])
    (0.6666666666666666, 0.5, None)
    """
    pairs = list(combinations(scores, 2))
    return fsum(abs(first - second) for first, second in pairs) / len(pairs) if pairs else None


def disagreements(sources: Sequence[Source], feature: str) -> Disagreements:
    """Return the responses of some administrations on which judges differ about a feature.

    Only judges that have the feature in their declared sets take part. Responses that split the
    verdicts come first; equal distances stay in the order of administration.
    """
    table = table_of(sources)
    judges = [judge for judge in summarise_judges(table) if feature in judge.burden.features]
    labels = judge_labels(judges)
    n = len(judges), len(table)
    rows = np.full(n, -1)
    verdicts, scores = np.full(n, np.nan), np.full(n, np.nan)
    for at, judge in enumerate(judges):
        own = judge.rows.rows[table.usable[judge.rows.rows]]  # else undefined for every judge
        counts = table.representative[own]
        value = table.measure(judge.rater, feature, own).values
        probability = table.measure(judge.rater, feature + PROBABILITY, own).values
        rows[at, counts], verdicts[at, counts] = own, value
        scores[at, counts] = np.where(np.isnan(value + probability), value, probability)
    compared = (~np.isnan(scores)).sum(axis=0) >= 2
    split = compared & _differ(verdicts)
    disputed = []
    for place in np.flatnonzero(split | (compared & _differ(scores))).tolist():
        by = [at for at in range(len(judges)) if rows[at, place] >= 0]
        said = tuple(
            _said(table, labels[at], judges[at].rater, feature, int(rows[at, place])) for at in by
        )
        apart = distance([given.score for given in said if given.score is not None])
        assert apart is not None
        row = int(rows[by[0], place])
        response = Disputed(
            table.item(int(table.place[row])),
            table.columns.responses[int(table.text[row])],
            table.sources[int(table.source[row])].examinee,
            said,
            apart,
            bool(split[place]),
        )
        disputed.append((row, response))
    # Of equal distance in the order of administration.
    disputed.sort(key=lambda pair: (not pair[1].split, -round(pair[1].distance, 9), pair[0]))
    return Disagreements(
        feature, labels, int(compared.sum()), tuple(response for _, response in disputed)
    )


def _differ(values: NDArray[np.float64]) -> Bools:
    """Return in which columns there are different values, missing ones aside."""
    highest = np.where(np.isnan(values), -np.inf, values).max(axis=0, initial=-np.inf)
    lowest = np.where(np.isnan(values), np.inf, values).min(axis=0, initial=np.inf)
    differ: Bools = highest > lowest
    return differ


def _said(table: Table, label: str, rater: str, feature: str, row: int) -> JudgedFeature:
    given = table.measure(rater, feature)
    verdict = None
    if given.statuses[row] != NOT_RATED:
        value = given.values[row]
        verdict = Rating(
            rater,
            feature,
            None if np.isnan(value) else float(value),
            RATING_STATUSES[int(given.statuses[row])],
            table.columns.reasons.get(int(given.reasons[row]), ""),
        )
    probability = table.measure(rater, feature + PROBABILITY).values[row]
    return JudgedFeature(label, verdict, None if np.isnan(probability) else float(probability))
