"""The responses on which judges are furthest apart about one feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum

from tabwb.records.ratings import Rating
from tabwb.report.summaries.counted import CountedResponse, Source
from tabwb.report.summaries.judges import judge_labels
from tabwb.report.summaries.summary import pool

PROBABILITY = ".probability"
"""Ends the measure with which a judge tells a feature's probability beside its verdict."""


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

    row: CountedResponse
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

    Args:
        sources: administrations of one battery.
        feature: its id.
    """
    judges = [judge for judge in pool(sources).judges if feature in judge.burden.features]
    labels = judge_labels(judges)
    rows: dict[tuple[int, int], CountedResponse] = {}
    judged: dict[tuple[int, int], list[JudgedFeature]] = {}
    for label, judge in zip(labels, judges, strict=True):
        for row, _ in judge.judged:
            if not row.usable:
                continue  # its features are undefined for every judge
            rows.setdefault(row.place, row)
            verdict = row.rating(judge.rater, feature)
            probability = row.rating(judge.rater, feature + PROBABILITY)
            judged.setdefault(row.place, []).append(
                JudgedFeature(label, verdict, probability.value if probability else None)
            )
    compared = 0
    disputed = []
    for place, row in rows.items():
        own = tuple(judged[place])
        apart = distance([given.score for given in own if given.score is not None])
        if apart is None:
            continue
        compared += 1
        verdicts = {
            given.verdict.value for given in own if given.verdict and given.score is not None
        }
        split = len(verdicts) > 1
        if apart > 0 or split:
            disputed.append(Disputed(row, sources[row.source].examinee, own, apart, split))
    # Of equal distance in the order of administration.
    disputed.sort(key=lambda response: (response.row.source, response.row.trial.plan.number))
    disputed.sort(key=lambda response: (not response.split, -round(response.distance, 9)))
    return Disagreements(feature, labels, compared, tuple(disputed))
