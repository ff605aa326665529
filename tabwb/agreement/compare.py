"""Agreement of several pairs of raters: feature by feature, and over features.

One comparison serves every question: people with each other (all pairs of them), a judge with each
person (the pair judge and person, for every person), a judge with the consensus (one pair), a rater
with the rest (:func:`tabwb.agreement.verdicts.rest_of`), a rater with the same rater later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.intervals import (
    DRAWS,
    FEW_POSITIVES,
    MOST_UNDEFINED,
    SEED,
    Pair,
    bias_corrected,
    drawn_tables,
    few_speakers,
    least_positives,
    several_dirichlet_intervals,
    shifted_quantiles,
)
from tabwb.agreement.pairs import (
    Counts,
    Tables,
    cohen_kappa,
    divided,
    gwet_ac1,
    mean_of_defined,
    percent_agreement,
    samples,
    specific_agreement,
    tables_of,
)
from tabwb.agreement.verdicts import MISSING, PRESENT, Floats, Verdicts

FEWEST_SHARED = 10
"""A pair with fewer shared samples for a feature is listed and not averaged."""
COEFFICIENTS: Mapping[str, Callable[[Tables], Floats]] = MappingProxyType(
    {
        "agreement": percent_agreement,
        "kappa": cohen_kappa,
        "ac1": gwet_ac1,
        "positive_agreement": partial(specific_agreement, category=1),
        "negative_agreement": partial(specific_agreement, category=0),
    }
)
OVER_FEATURES = ("unweighted", "positive_count_weighted", "nonzero_prevalence")


@dataclass(frozen=True, slots=True)
class OverFeatures:
    """One coefficient over features.

    Attributes:
        value: None where no feature has one.
        features: number of features that it is made from.
        ends: of its 95 % interval; None where it has none.
        drawn: values of the draws of the interval, NaN where undefined: float64, (draws,).
    """

    value: float | None
    features: int
    ends: tuple[float, float] | None = None
    drawn: Floats | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What :func:`compare` finds of some pairs.

    Attributes:
        tables: int64 of shape (pairs, features, 2, 2).
        by_pair: coefficient to float64 of shape (pairs, features), NaN where undefined.
        averaged: bool of shape (pairs, features): the pairs that ``by_feature`` averages.
        by_feature: coefficient to float64 of shape (features,): means over these pairs, weighted
            by shared samples; NaN where no pair has one.
        intervals: coefficient to float64 of shape (features, 2); NaN where there is none.
        few: bool of shape (features,): no averaged pair in which both raters put more than three
            samples into each category, hence no interval of kappa.
        positives: samples that the consensus calls present: int64, (features,); the weights.
        over_features: (kind of mean, coefficient) to its value, kinds as in ``OVER_FEATURES``.
        pooled: sum(n agreed - s) / sum(n^2 - s) over averaged pairs and features, a kappa that one
            rare feature hardly moves.
    """

    tables: Counts
    by_pair: Mapping[str, Floats]
    averaged: NDArray[np.bool_]
    by_feature: Mapping[str, Floats]
    intervals: Mapping[str, Floats]
    few: NDArray[np.bool_]
    positives: Counts
    over_features: Mapping[tuple[str, str], OverFeatures]
    pooled: OverFeatures


def compare(
    pairs: Sequence[Pair],
    consensus: Verdicts | None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    speakers: NDArray[np.integer] | None = None,
) -> Comparison:
    """Return the agreement of some pairs of raters by feature and over features, with intervals.

    Args:
        pairs: verdicts of both raters of each pair, int8 of shape (samples, features).
        consensus: int8 of shape (samples, features); its positives are the weights of features in
            ``positive_count_weighted``. The same for every comparison of a table. None: no weights.
        draws: of the joint resampling; 0: no intervals.
        seed: of the resampling. Comparisons of the same samples, speakers, draws and seed can be
            subtracted, see :func:`difference`.
        speakers: the speaker of each sample, integers from 0: speakers are resampled. None: samples
            are independent. Values over samples of fewer than five speakers have no interval.
    """
    if not pairs:
        raise ValueError("agreement needs one pair of raters or more")
    tables = np.stack([tables_of(one, other) for one, other in pairs])
    counts = samples(tables)
    averaged = counts >= FEWEST_SHARED
    by_pair = {name: of(tables) for name, of in COEFFICIENTS.items()}
    by_feature = {name: over_pairs(values, counts, averaged) for name, values in by_pair.items()}
    least = np.minimum(least_positives(tables), least_positives(tables[..., ::-1, ::-1]))
    few = np.where(averaged, least, 0).max(axis=0) <= FEW_POSITIVES
    positives = np.zeros(tables.shape[1], np.int64)
    if consensus is not None:
        positives = (consensus == PRESENT).sum(axis=0, dtype=np.int64)
    drawn = None
    if draws and averaged.any() and not few_speakers(speakers):
        drawn = _drawn(pairs, consensus, averaged, draws, seed, speakers)
    intervals = _intervals(tables, by_feature, drawn, single=speakers is None)
    intervals["kappa"][few] = np.nan
    if drawn and speakers is not None:
        shared = np.stack([(one >= 0) & (other >= 0) for one, other in pairs]) & averaged[:, None]
        for at in range(tables.shape[1]):
            if few_speakers(speakers, np.asarray(shared[..., at].any(axis=0))):
                for ends in intervals.values():
                    ends[at] = np.nan
    over = {
        (kind, name): _over_features(kind, name, by_feature[name], positives, drawn)
        for kind in OVER_FEATURES
        for name in COEFFICIENTS
    }
    pooled = float(pooled_kappa(tables, averaged))
    return Comparison(
        tables, by_pair, averaged, by_feature, intervals, few, positives, over,
        OverFeatures(None, 0) if np.isnan(pooled) else _with_ends(
            pooled, int(averaged.any(axis=0).sum()),
            (drawn.values["pooled"], drawn.smoothed["pooled"]) if drawn else None,
        ),
    )  # fmt: skip


def over_pairs(values: Floats, counts: Tables, averaged: NDArray[np.bool_]) -> Floats:
    """Return means over pairs, weighted by their shared samples; NaN where no pair has a value.

    Values and counts are of shape (..., pairs, features), ``averaged`` tells which pairs count.

    >>> values, counts = np.array([[0.5], [0.2], [np.nan]]), np.array([[10], [20], [30]])
    >>> over_pairs(values, counts, counts >= 10).round(3).tolist()
    [0.3]
    """
    weights = np.where(averaged & ~np.isnan(values), counts, 0.0)
    return divided((weights * np.nan_to_num(values)).sum(axis=-2), weights.sum(axis=-2))


def weighted_mean(values: Floats, weights: Tables) -> Floats:
    """Return weighted means over the features where a value is defined; NaN where none is.

    >>> float(weighted_mean(np.array([0.2, 0.4, np.nan]), np.array([1, 3, 9])))
    0.35000000000000003
    """
    weights = np.where(np.isnan(values), 0.0, weights)
    return divided((weights * np.nan_to_num(values)).sum(axis=-1), weights.sum(axis=-1))


def pooled_kappa(tables: Tables, averaged: NDArray[np.bool_] | None = None) -> Floats:
    """Return sum(n agreed - s) / sum(n^2 - s) over pairs and features, NaN where nothing varies.

    s is the sum over categories of row total x column total, so that each term is n^2 times
    numerator and denominator of Cohen's kappa: a kappa in which features count as they vary.

    Tables are of shape (..., pairs, features, categories, categories), ``averaged`` tells which
    pairs and features count.

    >>> float(pooled_kappa(np.array([[[[20, 5], [10, 15]], [[50, 0], [0, 0]]]])))
    0.4
    """
    total = tables.sum(axis=(-2, -1)).astype(np.float64)
    agreed = np.trace(tables, axis1=-2, axis2=-1)
    by_chance = (tables.sum(axis=-1).astype(np.float64) * tables.sum(axis=-2)).sum(axis=-1)
    above, below = total * agreed - by_chance, total * total - by_chance
    if averaged is not None:
        above, below = np.where(averaged, above, 0.0), np.where(averaged, below, 0.0)
    return divided(above.sum(axis=(-2, -1)), below.sum(axis=(-2, -1)))


def difference(one: OverFeatures, other: OverFeatures) -> OverFeatures:
    """Return one value less another of the same samples, with the interval of the difference."""
    if one.value is None or other.value is None:
        return OverFeatures(None, 0)
    drawn = None if one.drawn is None or other.drawn is None else one.drawn - other.drawn
    features = min(one.features, other.features)
    return _with_ends(one.value - other.value, features, None if drawn is None else (drawn,))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Coefficients of every draw over pairs, from tables without and with pseudo-counts."""

    positives: Floats
    values: Mapping[str, Floats]
    smoothed: Mapping[str, Floats]


def _drawn(
    pairs: Sequence[Pair],
    consensus: Verdicts | None,
    averaged: NDArray[np.bool_],
    draws: int,
    seed: int,
    speakers: NDArray[np.integer] | None,
) -> _Drawn:
    drawn = drawn_tables(pairs, consensus, draws=draws, seed=seed, speakers=speakers)
    counts = samples(drawn.tables)

    def combined(tables: Floats) -> dict[str, Floats]:
        found = {
            name: over_pairs(coefficient(tables), counts, averaged)
            for name, coefficient in COEFFICIENTS.items()
        }
        return found | {"pooled": pooled_kappa(tables, averaged)}

    return _Drawn(drawn.positives, combined(drawn.tables), combined(drawn.smoothed))


def _intervals(
    tables: Counts, by_feature: Mapping[str, Floats], drawn: _Drawn | None, *, single: bool
) -> dict[str, Floats]:
    """Return the ends of the interval of each coefficient for each feature: (features, 2)."""
    if drawn is None:
        return {name: np.full((tables.shape[1], 2), np.nan) for name in COEFFICIENTS}
    if single and len(tables) == 1:
        made = several_dirichlet_intervals(tables[0], list(COEFFICIENTS.values()))
        found = dict(zip(COEFFICIENTS, made, strict=True))
    else:
        found = {
            name: np.clip(shifted_quantiles((drawn.smoothed[name], drawn.values[name]), value),
                          -1.0 if name in ("kappa", "ac1") else 0.0, 1.0)
            for name, value in by_feature.items()
        }  # fmt: skip
    for name, ends in found.items():
        estimate = np.where(np.isnan(ends[:, 0]), np.nan, by_feature[name])
        low, high = np.fmin(ends[:, 0], estimate), np.fmax(ends[:, 1], estimate)
        found[name] = np.where(np.isnan(estimate)[:, None], np.nan, np.stack([low, high], axis=-1))
    return found


def _over_features(
    kind: str, name: str, values: Floats, positives: Counts, drawn: _Drawn | None
) -> OverFeatures:
    if kind == "unweighted":
        return OverFeatures(*mean_of_defined(values))
    if kind == "nonzero_prevalence":
        return OverFeatures(*mean_of_defined(values[positives > 0]))
    used = ~np.isnan(values) & (positives > 0)
    if not used.any():
        return OverFeatures(None, 0)
    both = None
    if drawn:
        weights = drawn.positives[:, used]
        both = tuple(
            weighted_mean(of[name][:, used], weights) for of in (drawn.values, drawn.smoothed)
        )
    return _with_ends(float(weighted_mean(values, positives)), int(used.sum()), both)


def _with_ends(value: float, features: int, drawn: tuple[Floats, ...] | None) -> OverFeatures:
    """Return a value with its interval from its draws, the smoothed ones where all are equal."""
    if not drawn or np.isnan(drawn[0]).mean() > MOST_UNDEFINED:
        return OverFeatures(value, features)
    spread = np.nanmax(drawn[0]) - np.nanmin(drawn[0])
    if spread > 1e-9 or len(drawn) == 1:
        return OverFeatures(value, features, bias_corrected(drawn[0], value), drawn[0])
    low, high = (float(end) for end in np.nanquantile(drawn[1], (0.025, 0.975)))
    return OverFeatures(value, features, (min(low, value), max(high, value)), drawn[0])


STUDIES = 40
STUDY_DRAWS = 400


@dataclass(frozen=True, slots=True)
class ExpectedWidth:
    """Expected widths of intervals; None where fewer than half of the studies have one."""

    kappa: float | None
    ac1: float | None
    with_interval: float


def expected_width(
    samples: int,
    prevalence: float,
    kappa: float,
    *,
    raters: int = 2,
    per_sample: int = 2,
    studies: int = STUDIES,
    seed: int = SEED,
) -> ExpectedWidth:
    """Return the expected widths of the intervals of kappa and AC1 over all pairs of raters.

    Simulates studies: a sample's probability of *present* has a beta distribution with the mean
    ``prevalence`` and the variance kappa p (1 - p), so that each two raters have this kappa; each
    sample is rated by ``per_sample`` raters, all sets of raters in turn. Widths are medians.

    >>> expected_width(80, 0.3, 0.4).kappa < expected_width(20, 0.3, 0.4).kappa
    True
    """
    if not 0 < prevalence < 1:
        raise ValueError(f"the prevalence lies between 0 and 1, not {prevalence:g}")
    if not 0 <= kappa < 1:
        raise ValueError(f"the assumed kappa is at least 0 and below 1, not {kappa:g}")
    if not 2 <= per_sample <= raters:
        raise ValueError(f"each sample has 2 to {raters} raters, not {per_sample}")
    if samples < 1:
        return ExpectedWidth(None, None, 0.0)
    generator = np.random.Generator(np.random.PCG64(seed))
    widths: dict[str, list[float]] = {"kappa": [], "ac1": []}
    for number in range(studies):
        verdicts = _simulated(samples, prevalence, kappa, raters, per_sample, generator)
        pairs = [(verdicts[a], verdicts[b]) for a in range(raters) for b in range(a)]
        found = compare(pairs, None, draws=STUDY_DRAWS, seed=seed + number).intervals
        for name, of in widths.items():
            if not np.isnan(found[name][0, 0]):
                of.append(float(found[name][0, 1] - found[name][0, 0]))
    middle = {
        name: float(np.median(of)) if 2 * len(of) >= studies else None
        for name, of in widths.items()
    }
    return ExpectedWidth(middle["kappa"], middle["ac1"], len(widths["kappa"]) / studies)


def _simulated(
    samples: int,
    prevalence: float,
    kappa: float,
    raters: int,
    per_sample: int,
    generator: np.random.Generator,
) -> Verdicts:
    size = 1 / kappa - 1 if kappa else np.inf
    share = (
        generator.beta(prevalence * size, (1 - prevalence) * size, samples)
        if kappa
        else np.full(samples, prevalence)
    )
    verdicts = (generator.random((raters, samples)) < share).astype(np.int8)
    turn = np.arange(samples) % raters
    first = (np.arange(raters)[:, None] - turn) % raters
    verdicts[first >= per_sample] = MISSING
    return verdicts[..., None]
