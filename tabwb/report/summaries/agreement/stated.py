"""Coefficients of features and pairs as plain values, each with its interval or the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tabwb.agreement.compare import COEFFICIENTS, FEWEST_SHARED, OverFeatures, weighted_mean
from tabwb.agreement.pairs import mean_of_defined, samples
from tabwb.report.summaries.agreement.compared import (
    CONSTANT,
    NO_PAIR,
    TOO_FEW,
    Among,
    FeatureCounts,
    defined,
)
from tabwb.report.summaries.agreement.rated import Measure
from tabwb.scoring.estimate import Interval

NEVER = {"positive_agreement": "nobody says present", "negative_agreement": "nobody says absent"}


@dataclass(frozen=True, slots=True)
class FeatureAgreement:
    """The agreement of pairs of raters on one feature.

    Attributes:
        measure: which one.
        n: samples that the pairs which are averaged share, the most of a pair.
        counts: what the main raters gave; None for other comparisons.
        values: coefficient to its value, None where undefined.
        intervals: coefficient to its interval, None where there is none.
        reasons: coefficient to why it is undefined.
        few: kappa has no interval because a category is too rare.
        table: of all pairs that are averaged together: both absent, second alone, first alone, both
            present.
    """

    measure: Measure
    n: int
    counts: FeatureCounts | None
    values: Mapping[str, float | None]
    intervals: Mapping[str, Interval | None]
    reasons: Mapping[str, str]
    few: bool
    table: tuple[int, int, int, int]

    @property
    def cells(self) -> str:
        """The table as counts: both present, first alone, second alone, both absent."""
        neither, second, first, both = self.table
        return f"{both}/{first}/{second}/{neither}"


@dataclass(frozen=True, slots=True)
class PairMeans:
    """One pair of raters over features.

    Attributes:
        n: the most samples that they share for a feature.
        averaged: whether that is enough for means over pairs.
        kappa, ac1: unweighted means over the features where they are defined, with their number.
        weighted: kappa weighted by the positives of the consensus; None where undefined.
        agreement: unweighted mean of the share of equal verdicts.
    """

    first: str
    second: str
    n: int
    averaged: bool
    kappa: tuple[float | None, int]
    ac1: tuple[float | None, int]
    weighted: float | None
    agreement: float | None


def feature_agreements(
    among: Among, measures: tuple[Measure, ...], counts: tuple[FeatureCounts, ...] = ()
) -> tuple[FeatureAgreement, ...]:
    """Return the agreement of pairs by feature."""
    found = among.found
    shared = samples(found.tables)
    made = []
    for at, measure in enumerate(measures):
        own = found.averaged[:, at]
        values = {name: defined(found.by_feature[name][at]) for name in COEFFICIENTS}
        intervals = {name: _interval(found.intervals[name][at]) for name in COEFFICIENTS}
        if counts:
            values["alpha"] = counts[at].alpha
            intervals["alpha"] = counts[at].alpha_interval
        why = NO_PAIR if not shared[:, at].any() else "" if own.any() else TOO_FEW
        reasons = {
            name: (CONSTANT if name == "alpha" else why) or NEVER.get(name, CONSTANT)
            for name, value in values.items()
            if value is None
        }
        if "alpha" in reasons and not (counts and counts[at].n):
            reasons["alpha"] = NO_PAIR
        (neither, second), (first, both) = among.tables[at].tolist()
        made.append(
            FeatureAgreement(
                measure,
                counts[at].n if counts else int(shared[:, at].max(initial=0)),
                counts[at] if counts else None,
                values,
                intervals,
                reasons,
                bool(found.few[at]) and bool(own.any()),
                (neither, second, first, both),
            )
        )
    return tuple(made)


def pair_means(among: Among) -> tuple[PairMeans, ...]:
    """Return every pair over the features, also those that share too few samples for means."""
    found = among.found
    made = []
    for at, (first, second) in enumerate(among.names):
        kappa = found.by_pair["kappa"][at]
        n = int(among.shared[at])
        made.append(
            PairMeans(
                first,
                second,
                n,
                n >= FEWEST_SHARED,
                mean_of_defined(kappa),
                mean_of_defined(found.by_pair["ac1"][at]),
                defined(float(weighted_mean(kappa, found.positives))),
                mean_of_defined(found.by_pair["agreement"][at])[0],
            )
        )
    return tuple(made)


def interval_of(over: OverFeatures) -> Interval | None:
    """Return the interval of a mean over features, or None."""
    return None if over.ends is None else Interval(*over.ends)


def _interval(ends: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Interval | None:
    low, high = (float(end) for end in ends)
    return None if np.isnan(low) or np.isnan(high) else Interval(low, high)
