"""Error rates of raters: of a judge against a reference, and of all raters without a known truth.

Each sample has the feature with probability p; given that, rater r calls it present with
probability sensitivity_r, otherwise with 1 - specificity_r, independently of the other raters. The
estimates are the mode of the posterior (EM from several starts). Prior: every probability
Beta(3/2, 3/2), which adds half a success and half a failure to each count. Raters are taken to be
better than chance on average; without that, present and absent could be exchanged. Source: Dawid
and Skene 1979, Appl. Statist. 28, 20.

Raters who share a reason for errors (the same guidelines, the same misreading) break the assumption
of independence: the rates then come out too good.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.intervals import DRAWS, SEED, drawn_sums, drawn_tables, few_speakers
from tabwb.agreement.pairs import Counts, divided, tables_of
from tabwb.agreement.verdicts import ABSENT, PRESENT, Floats, Verdicts
from tabwb.scoring.distributions import beta_quantile
from tabwb.scoring.estimate import Interval

RATES = ("sensitivity", "specificity", "positive_predictive_value", "negative_predictive_value")


@dataclass(frozen=True, slots=True)
class Share:
    """A number of samples of others, with its 95 % interval; no value without others."""

    count: int
    n: int
    interval: Interval | None

    @property
    def value(self) -> float | None:
        """Return the share."""
        return self.count / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Calibration:
    """One judge and one feature against the reference.

    Attributes:
        true_positives: reference and judge say present.
        false_positives: the judge alone says present.
        false_negatives: the reference alone says present.
        true_negatives: both say absent.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int
    sensitivity: Share
    specificity: Share
    positive_predictive_value: Share
    negative_predictive_value: Share


def calibrate(
    judge: Verdicts,
    reference: Verdicts,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    speakers: NDArray[np.integer] | None = None,
) -> tuple[Calibration, ...]:
    """Return the shares of right verdicts of a judge for each feature.

    The intervals are Jeffreys' (see :func:`jeffreys`); with speakers quantiles over resampled
    speakers, with the same prior, and none where the samples are of fewer than five speakers.

    Judge and reference (the consensus or the verdicts of one person) are int8 of shape (samples,
    features). A sample counts where both have a verdict.
    """
    tables = tables_of(reference, judge)
    shared = ((reference >= 0) & (judge >= 0)).T
    few = [few_speakers(speakers, own) for own in shared]
    ends: Floats | None = None
    if speakers is not None and draws and not all(few):
        pairs = [(reference, judge)]
        drawn = drawn_tables(pairs, draws=draws, seed=seed, speakers=speakers).smoothed[:, 0]
        ends = np.quantile(_shares(drawn), (0.025, 0.975), axis=0)
    return tuple(
        _calibration(table, None if ends is None else ends[:, at], few=few[at])
        for at, table in enumerate(tables)
    )


def jeffreys(count: int, n: int) -> Interval | None:
    """Return Jeffreys' 95 % interval of a share; None for n = 0.

    Quantiles of Beta(k + 1/2, n - k + 1/2); the low end is 0 for k = 0, the high end 1 for k = n.
    Source: Brown, Cai and DasGupta 2001, Statist. Sci. 16, 101.

    >>> found = jeffreys(9, 10)
    >>> round(found.low, 3), round(found.high, 3)
    (0.619, 0.989)
    """
    if not n:
        return None
    a, b = count + 0.5, n - count + 0.5
    low = beta_quantile(0.025, a, b) if count else 0.0
    return Interval(low, 1 - beta_quantile(0.025, b, a) if count < n else 1.0)


def _shares(tables: Floats) -> Floats:
    """Return the four rates of tables (reference, judge): (..., 4)."""
    (tn, fp), (fn, tp) = np.moveaxis(tables, (-2, -1), (0, 1))
    right = np.stack([tp, tn, tp, tn], axis=-1)
    n = np.stack([tp + fn, tn + fp, tp + fp, tn + fn], axis=-1)
    return divided(right, n)


def _calibration(table: Counts, ends: Floats | None, *, few: bool) -> Calibration:
    (tn, fp), (fn, tp) = ((int(cell) for cell in row) for row in table)
    parts = ((tp, tp + fn), (tn, tn + fp), (tp, tp + fp), (tn, tn + fn))
    shares = []
    for at, (count, n) in enumerate(parts):
        found = None if few else jeffreys(count, n)
        if found is not None and ends is not None:
            low, high = float(ends[0, at]), float(ends[1, at])
            found = Interval(min(low, count / n), max(high, count / n))
        shares.append(Share(count, n, found))
    return Calibration(tp, fp, fn, tn, *shares)


PRIOR = 0.5
"""Successes and failures that the prior adds."""
STARTS = 10
FIT_DRAWS = 1_000
MOST_STEPS = 20_000
TOLERANCE = 1e-9
ROUGH = 1e-5
SAME = 1e-4
"""Starts whose probabilities differ by less found the same maximum."""
_NULL = 1e-10
_LARGEST_PATTERN = 12
_LARGEST_CODED = 39
"""Raters whose rows of verdicts are numbers below 3^39 < 2^63."""

NO_RATINGS = "no sample with ratings"
NEVER_PRESENT = "no rater calls it present"
NEVER_ABSENT = "no rater calls it absent"
NOT_IDENTIFIED = "not identifiable: it needs three raters or more who rated the same samples"


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Estimates for each feature; NaN where undefined.

    Attributes:
        prevalence: float64, (features,).
        sensitivity: float64, (features, raters).
        specificity: as above.
        prevalence_ends: of 95 % intervals: float64, (features, 2).
        sensitivity_ends: float64, (features, raters, 2).
        specificity_ends: as above.
        probability: that a sample has the feature: float64, (samples, features); NaN without
            ratings.
        reasons: why a feature has no estimates; empty where it has some. A rater alone may have
            none in a feature that has (nobody rated the same samples).
        converged: bool, (features,): the best start reached the tolerance.
        steps: of the best start: int64, (features,).
        starts: number of starts.
        same_maximum: starts that found the best one's maximum: int64, (features,).
    """

    prevalence: Floats
    sensitivity: Floats
    specificity: Floats
    prevalence_ends: Floats
    sensitivity_ends: Floats
    specificity_ends: Floats
    probability: Floats
    reasons: tuple[str, ...]
    converged: NDArray[np.bool_]
    steps: NDArray[np.int64]
    starts: int
    same_maximum: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The different rows of verdicts of one feature."""

    verdicts: Verdicts
    of_sample: NDArray[np.intp]
    rated: NDArray[np.bool_]

    @property
    def counts(self) -> Floats:
        return np.bincount(self.of_sample, minlength=len(self.verdicts)).astype(np.float64)

    @property
    def matrix(self) -> Floats:
        """Return who says present, who absent, and ones: (patterns, 2 raters + 1)."""
        ones = np.ones((len(self.verdicts), 1))
        parts = [self.verdicts == PRESENT, self.verdicts == ABSENT, ones]
        return np.concatenate(parts, axis=1, dtype=np.float64)


def error_rates(
    verdicts: Verdicts,
    *,
    draws: int = FIT_DRAWS,
    starts: int = STARTS,
    seed: int = SEED,
    speakers: NDArray[np.integer] | None = None,
) -> ErrorRates:
    """Return prevalence and each rater's sensitivity and specificity for each feature.

    Intervals are quantiles over fits to resampled samples, with exponential weights and with
    gamma(1/2) weights of the prior's successes and failures; with a known truth that would be
    Jeffreys' interval. Source: Newton and Raftery 1994, J. R. Statist. Soc. B 56, 3.

    Verdicts are int8 of shape (raters, samples, features). The first start is from the share of
    raters that say present, the others are random. Without draws, and of fewer than five speakers,
    there are no intervals.
    """
    raters, n, features = verdicts.shape
    size = 1 + 2 * raters
    best, ends = np.full((features, size), np.nan), np.full((features, size, 2), np.nan)
    probability = np.full((n, features), np.nan)
    reasons, converged = [], np.zeros(features, np.bool_)
    steps, same = np.zeros(features, np.int64), np.zeros(features, np.int64)
    for at in range(features):
        patterns = _patterns(verdicts[:, :, at].T)
        reasons.append(_reason(patterns))
        if reasons[-1]:
            continue
        generator = np.random.Generator(np.random.PCG64([seed, at]))
        found, taken, done = _from_starts(patterns, starts, generator)
        scores = _log_posterior(found, patterns)
        first = int(np.argmax(scores))
        fit, steps[at], converged[at] = found[first], taken[first], done[first]
        same[at] = int((np.abs(found - fit).max(axis=1) < SAME).sum())
        known = _identified(fit, patterns)
        if not known[0]:
            reasons[-1] = NOT_IDENTIFIED
            continue
        best[at] = np.where(known, fit, np.nan)
        shares = _posterior(fit[None], patterns.matrix)[0]
        probability[patterns.rated, at] = shares[patterns.of_sample]
        if draws and not few_speakers(speakers, patterns.rated):
            drawn = _drawn(fit, patterns, draws, seed, speakers, generator)
            low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
            ends[at] = np.stack([np.fmin(low, fit), np.fmax(high, fit)], axis=-1)
            ends[at][~known] = np.nan
    middle = 1 + raters
    return ErrorRates(
        best[:, 0], best[:, 1:middle], best[:, middle:],
        ends[:, 0], ends[:, 1:middle], ends[:, middle:],
        probability, tuple(reasons), converged, steps, starts, same,
    )  # fmt: skip


def _patterns(rows: Verdicts) -> _Patterns:
    """Return the different rows of (samples, raters); every value below 0 is missing."""
    given = np.maximum(rows, -1)
    rated: NDArray[np.bool_] = np.any(given >= 0, axis=1)
    own = given[rated]
    if rows.shape[1] <= _LARGEST_CODED:
        # Rows as numbers to base 3: they are sorted 20 times faster, in the same order.
        codes = (own.astype(np.int64) + 1) @ 3 ** np.arange(rows.shape[1] - 1, -1, -1)
        _, first, of_sample = np.unique(codes, return_index=True, return_inverse=True)
        return _Patterns(own[first], of_sample.ravel(), rated)
    different, of_sample = np.unique(own, axis=0, return_inverse=True)
    return _Patterns(different, of_sample.ravel(), rated)


def _reason(patterns: _Patterns) -> str:
    if not len(patterns.of_sample):
        return NO_RATINGS
    if not (patterns.verdicts == PRESENT).any():
        return NEVER_PRESENT
    return "" if (patterns.verdicts == ABSENT).any() else NEVER_ABSENT


def _from_starts(
    patterns: _Patterns, starts: int, generator: np.random.Generator
) -> tuple[Floats, NDArray[np.int64], NDArray[np.bool_]]:
    """Return the fit of each start, its steps, and whether it converged."""
    raters = patterns.verdicts.shape[1]
    begun = generator.uniform(0.5, 0.99, (starts, 1 + 2 * raters))
    begun[:, 0] = generator.uniform(0.05, 0.5, starts)
    counts = np.repeat(patterns.counts[None], starts, axis=0)
    prior = np.full((starts, 1 + 2 * raters, 2), PRIOR)
    share = (patterns.verdicts == PRESENT).sum(axis=1) / (patterns.verdicts >= 0).sum(axis=1)
    matrix = patterns.matrix
    begun[0] = _maximise((counts[:1] * share) @ matrix, counts[:1] @ matrix, prior[:1])[0]
    found, steps, done = _expect_maximise(begun, counts, prior, matrix, TOLERANCE)
    turned = (found[:, 1:] - 0.5).sum(axis=1) < 0  # worse than chance on average
    found[turned] = _turned(found[turned])
    return found, steps, done


def _turned(fits: Floats) -> Floats:
    """Return the same model with present and absent exchanged."""
    raters = (fits.shape[1] - 1) // 2
    sensitivity, specificity = fits[:, 1 : 1 + raters], fits[:, 1 + raters :]
    return 1 - np.concatenate([fits[:, :1], specificity, sensitivity], axis=1)


def _drawn(
    fit: Floats,
    patterns: _Patterns,
    draws: int,
    seed: int,
    speakers: NDArray[np.integer] | None,
    generator: np.random.Generator,
) -> Floats:
    """Return fits to resampled samples: (draws, parameters)."""
    if speakers is None:
        counts = generator.standard_gamma(patterns.counts, (draws, len(patterns.verdicts)))
    else:
        inside = patterns.of_sample[:, None] == np.arange(len(patterns.verdicts))
        rated = np.asarray(speakers)[patterns.rated]
        counts = drawn_sums(inside, draws=draws, seed=seed, speakers=rated)
    prior = generator.standard_gamma(PRIOR, (draws, len(fit), 2))
    begun = np.repeat(fit[None], draws, axis=0)
    # Single precision is enough for this tolerance, and several times faster.
    start, weights, added, matrix = (
        part.astype(np.float32) for part in (begun, counts, prior, patterns.matrix)
    )
    found, _, _ = _expect_maximise(start, weights, added, matrix, ROUGH)
    return found.astype(np.float64)


def _expect_maximise(
    fits: NDArray[Any],
    counts: NDArray[Any],
    prior: NDArray[Any],
    matrix: NDArray[Any],
    tolerance: float,
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.bool_]]:
    """Return fits after EM, each until it no longer changes, the steps, and which converged."""
    fits, steps = fits.copy(), np.zeros(len(fits), np.int64)
    totals = counts @ matrix
    active = np.arange(len(fits))
    given, weights, every, added = fits.copy(), counts, totals, prior
    for step in range(1, MOST_STEPS + 1):
        new = _maximise((weights * _posterior(given, matrix)) @ matrix, every, added)
        fits[active], steps[active] = new, step
        moving = np.abs(new - given).max(axis=1) > tolerance
        given = new
        if not moving.all():
            active, given = active[moving], given[moving]
            weights, every, added = weights[moving], every[moving], added[moving]
        if not active.size:
            break
    done = np.ones(len(fits), np.bool_)
    done[active] = False
    return fits, steps, done


def _posterior(fits: NDArray[Any], matrix: NDArray[Any]) -> NDArray[Any]:
    """Return the probability that samples of each pattern have the feature: (fits, patterns)."""
    with_it, without = _logarithms(fits)
    odds = np.clip((with_it - without) @ matrix.T, -80, 80)
    return np.asarray(1 / (1 + np.exp(-odds)))


def _logarithms(fits: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what each column of the matrix adds to the log-likelihood with and without it."""
    raters = (fits.shape[1] - 1) // 2
    # The prior keeps probabilities inside; random pseudo-counts may come close to 0.
    edge = 1e-12 if fits.dtype == np.float64 else 1e-7
    inside = np.clip(fits, edge, 1 - edge)
    log, log_not = np.log(inside), np.log1p(-inside)
    ones, zeros = slice(1, 1 + raters), slice(1 + raters, None)
    with_it = np.concatenate([log[:, ones], log_not[:, ones], log[:, :1]], axis=1)
    without = np.concatenate([log_not[:, zeros], log[:, zeros], log_not[:, :1]], axis=1)
    return with_it, without


def _log_posterior(fits: Floats, patterns: _Patterns) -> Floats:
    parts = (part @ patterns.matrix.T for part in _logarithms(fits))
    data = np.logaddexp(*parts) @ patterns.counts
    inside = np.clip(fits, 1e-12, 1 - 1e-12)
    found: Floats = data + PRIOR * (np.log(inside) + np.log1p(-inside)).sum(axis=1)
    return found


def _maximise(with_it: NDArray[Any], every: NDArray[Any], prior: NDArray[Any]) -> NDArray[Any]:
    """Return the probabilities that fit the expected counts best, with the prior's."""
    raters = (with_it.shape[1] - 1) // 2
    without = every - with_it
    present, absent = slice(raters), slice(raters, 2 * raters)
    right = np.concatenate([with_it[:, -1:], with_it[:, present], without[:, absent]], axis=1)
    wrong = np.concatenate([without[:, -1:], with_it[:, absent], without[:, present]], axis=1)
    right, wrong = right + prior[..., 0], np.maximum(wrong, 0) + prior[..., 1]
    return np.asarray(right / (right + wrong))


def _identified(fit: Floats, patterns: _Patterns) -> NDArray[np.bool_]:
    """Return which parameters the pattern of who rated what determines, near the estimates."""
    size, rated = len(fit), patterns.verdicts >= 0
    information = np.zeros((size, size))
    for who in np.unique(rated, axis=0):
        weight = patterns.counts[(rated == who).all(axis=1)].sum()
        information += weight * _information(fit, np.flatnonzero(who))
    scale = fit * (1 - fit)  # of logits: without unit
    values, directions = np.linalg.eigh(information * scale[:, None] * scale)
    free = directions[:, values < _NULL * values[-1]]
    return np.asarray((np.abs(free) < 1e-4).all(axis=1))


def _information(fit: Floats, who: NDArray[np.intp]) -> Floats:
    """Return the expected information of one sample that these raters rated."""
    raters = (len(fit) - 1) // 2
    who = who[:_LARGEST_PATTERN]
    every = np.array(list(product((0.0, 1.0), repeat=len(who))))
    hit, reject = fit[1 + who], fit[1 + raters + who]
    with_it = np.where(every == 1, hit, 1 - hit)
    without = np.where(every == 1, 1 - reject, reject)
    p, q = with_it.prod(axis=1), without.prod(axis=1)
    slopes = np.zeros((len(every), len(fit)))
    slopes[:, 0] = p - q
    slopes[:, 1 + who] = fit[0] * p[:, None] * np.where(every == 1, 1 / hit, -1 / (1 - hit))
    slopes[:, 1 + raters + who] = (
        (1 - fit[0]) * q[:, None] * np.where(every == 1, -1 / (1 - reject), 1 / reject)
    )
    share = fit[0] * p + (1 - fit[0]) * q
    return np.asarray(slopes.T @ (slopes / share[:, None]))
