"""Intervals of agreement: resampled tables, jointly over pairs and features, and their quantiles.

The weights of samples are exponential with mean 1 (Rubin's Bayesian bootstrap), one for each sample
or, where several samples are of one speaker, one for each of G speakers. Those of speakers have a
gamma distribution with the variance (t/1.96)^2 G/(G - 1), t with G - 1 degrees of freedom at 0.975:
speakers are few, and with the variance 1, which is right for many, intervals are too narrow. Fewer
than :data:`FEWEST_UNITS` speakers have no interval. A table is a sum over samples, so that all
tables of all draws are one matrix product, computed for some thousand samples at a time: memory
does not grow with the number of samples.

The shares of a table can be smoothed with four pseudo-counts with gamma(1/2) distributions, one for
each cell, shared by all pairs of a feature; a pair gets them in proportion to its share of the
samples that any pair rated. For one pair and independent samples the shares of the four cells then
have exactly the Dirichlet(n + 1/2) distribution of :mod:`tabwb.agreement.intervals`, because sums
of exponentials are gamma distributed. The draws of all pairs and features use the same weights:
samples are resampled with everything that raters said of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.pairs import Counts
from tabwb.agreement.verdicts import PRESENT, Floats, Verdicts
from tabwb.scoring.distributions import chi2_quantile, t_quantile
from tabwb.scoring.estimate import Interval

DRAWS = 2_000
SEED = 20260
CHUNK = 4_096
"""Samples in one matrix product; the random numbers depend on it."""

FEWEST_UNITS = 5
"""With fewer responses or speakers there is no interval: they hardly tell how much others vary."""
MOST_UNDEFINED = 0.05
"""The largest share of draws without a value; more, and there is no interval. Ours."""
_Z = 1.959963984540054


def few_speakers(
    speakers: NDArray[np.integer] | None, among: NDArray[np.bool_] | None = None
) -> bool:
    """Return whether samples (some of them) are of too few speakers for an interval.

    >>> few_speakers(np.array([0, 0, 1, 1])), few_speakers(np.arange(5)), few_speakers(None)
    (True, False, False)
    """
    if speakers is None:
        return False
    own = speakers if among is None else np.asarray(speakers)[among]
    return len(np.unique(own)) < FEWEST_UNITS


Pair = tuple[Verdicts, Verdicts]
"""Verdicts of two raters, int8 of shape (samples, features) each."""


@dataclass(frozen=True, slots=True)
class DrawnTables:
    """Weighted tables of every draw.

    Attributes:
        tables: float64 of shape (draws, pairs, features, 2, 2), without pseudo-counts.
        positives: weighted samples that the consensus calls present: float64, (draws, features).
        smoothed: the tables with pseudo-counts.
    """

    tables: Floats
    positives: Floats
    smoothed: Floats


def drawn_tables(
    pairs: Sequence[Pair],
    consensus: Verdicts | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    speakers: NDArray[np.integer] | None = None,
) -> DrawnTables:
    """Return the tables of every pair and feature for each draw of the weights of samples.

    The weights depend on the seed, the number of samples (or speakers) and the number of draws
    only: draws of two calls for the same samples belong together, one by one.

    Pairs and the consensus, for the weights of features, are int8 of shape (samples, features);
    ``speakers`` has the speaker of each sample, integers from 0 (None: samples are independent).
    """
    n, features = pairs[0][0].shape
    sums = np.zeros((len(pairs), draws, features * 4))
    positives = np.zeros((draws, features))
    for weights, rows, starts in _weighted(n, draws, seed, speakers):
        for at, (one, other) in enumerate(pairs):
            sums[at] += weights @ _by_group(_cells(one[rows], other[rows]), starts)
        if consensus is not None:
            positives += weights @ _by_group(consensus[rows] == PRESENT, starts)
    tables = sums.swapaxes(0, 1).reshape(draws, len(pairs), features, 2, 2)
    return DrawnTables(tables, positives, tables + _pseudo_counts(pairs, draws, seed))


def _pseudo_counts(pairs: Sequence[Pair], draws: int, seed: int) -> Floats:
    """Return pseudo-counts of the cells: float64 of shape (draws, pairs, features, 2, 2)."""
    shared = np.stack([(one >= 0) & (other >= 0) for one, other in pairs])
    rated = shared.any(axis=0).sum(axis=0)
    share = shared.sum(axis=1) / np.maximum(rated, 1)
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    counts = generator.standard_gamma(PRIOR, (draws, 1, len(rated), 2, 2))
    return np.asarray(counts * share[..., None, None])


def drawn_sums(
    columns: NDArray[np.generic],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    speakers: NDArray[np.integer] | None = None,
) -> Floats:
    """Return weighted sums over samples for each draw: float64 of shape (draws, columns)."""
    sums = np.zeros((draws, columns.shape[1]))
    for weights, rows, starts in _weighted(len(columns), draws, seed, speakers):
        sums += weights @ _by_group(columns[rows], starts)
    return sums


def _weighted(
    n: int, draws: int, seed: int, speakers: NDArray[np.integer] | None
) -> Iterator[tuple[NDArray[np.floating], NDArray[np.intp], NDArray[np.intp] | None]]:
    """Yield weights (draws, groups), the samples of these groups, and where each group begins.

    Those of speakers are of double precision: in single precision weights of few become 0.
    """
    shape, kind = 1.0, np.float32 if speakers is None else np.float64
    if speakers is None:
        order, groups = np.arange(n), np.arange(n + 1)
    else:
        order = np.argsort(speakers, kind="stable")
        new = np.flatnonzero(np.diff(np.asarray(speakers)[order])) + 1
        groups = np.concatenate([[0], new, [n]])
        shape = _shape(len(groups) - 1)
    generator = np.random.Generator(np.random.PCG64(seed))
    weights: NDArray[np.floating]
    for first in range(0, len(groups) - 1, CHUNK):
        starts = groups[first : first + CHUNK + 1]
        weights = generator.standard_gamma(shape, (draws, len(starts) - 1), kind)
        weights /= shape
        own = None if speakers is None else starts[:-1] - starts[0]
        yield weights, order[starts[0] : starts[-1]], own


def _shape(speakers: int) -> float:
    """Return the shape of the gamma distribution of weights whose quantiles are those of t."""
    if speakers < 2:
        return 1.0
    variance = (t_quantile(0.975, speakers - 1) / _Z) ** 2 * speakers / (speakers - 1)
    return 1 / variance


def _cells(one: Verdicts, other: Verdicts) -> NDArray[np.bool_]:
    """Return in which cell of its table each sample is: (samples, features x 4)."""
    shared = (one >= 0) & (other >= 0)
    cell = np.where(shared, 2 * one + other, np.int8(-1))
    inside: NDArray[np.bool_] = (cell[..., None] == np.arange(4, dtype=np.int8)).reshape(
        len(one), -1
    )
    return inside


def _by_group(columns: NDArray[np.generic], starts: NDArray[np.intp] | None) -> NDArray[np.float32]:
    """Return the sums of columns over groups of samples; every sample is one without ``starts``."""
    numbers = columns.astype(np.float32)
    return numbers if starts is None else np.add.reduceat(numbers, starts, axis=0)


TABLE_DRAWS = 10_000
LEVEL = 0.95
PRIOR = 0.5
"""Added to each of four cells: Jeffreys' prior."""
FEW_POSITIVES = 3
"""With so many samples or fewer that a rater calls present, a coefficient says little."""


def dirichlet_intervals(
    tables: Counts,
    coefficient: Callable[[Any], Floats],
    *,
    draws: int = TABLE_DRAWS,
    seed: int = SEED,
) -> Floats:
    """Return the ends of the interval of a coefficient for each table; NaN where it has none.

    The shares of the cells are drawn from Dirichlet(n + 1/2), n their counts (of k x k cells
    n + 2/k^2, the same sum), and the coefficient is computed from each draw; the ends are the
    quantiles at 0.025 and 0.975. The samples are taken as independent. Coverage in
    simulations is in docs/uncertainty.md; the analytic intervals cover 0.54 to 0.83. Source: the
    Bayesian bootstrap (Rubin 1981, Ann. Statist. 9, 130) with Jeffreys' prior on the cells.

    Tables are int64 of shape (tables, categories, categories), the ends (tables, 2); a coefficient
    takes float64 of shape (..., categories, categories) and returns (...). Each table has its own
    stream of random numbers.

    >>> from tabwb.agreement.pairs import cohen_kappa
    >>> dirichlet_intervals(np.array([[[20, 5], [10, 15]]]), cohen_kappa).round(1).tolist()
    [[0.1, 0.6]]
    """
    of = [coefficient]
    (ends,) = several_dirichlet_intervals(tables, of, draws=draws, seed=seed)
    return np.asarray(ends)


def several_dirichlet_intervals(
    tables: Counts,
    coefficients: Sequence[Callable[[Any], Floats]],
    *,
    draws: int = TABLE_DRAWS,
    seed: int = SEED,
) -> Floats:
    """Return :func:`dirichlet_intervals` of several coefficients: (coefficients, tables, 2)."""
    ends = np.full((len(coefficients), len(tables), 2), np.nan)
    for at, table in enumerate(tables):
        if not table.sum():
            continue
        generator = np.random.Generator(np.random.PCG64([seed, at]))
        prior = 4 * PRIOR / table.size
        shares = generator.dirichlet(table.ravel() + prior, draws).reshape(draws, *table.shape)
        for place, coefficient in enumerate(coefficients):
            values = coefficient(shares)
            defined = values[~np.isnan(values)]
            if defined.size:
                ends[place, at] = np.quantile(defined, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return ends


def least_positives(tables: Counts) -> Counts:
    """Return, for each table, the smaller number of present of both raters."""
    first, second = tables[..., 1, :].sum(axis=-1), tables[..., :, 1].sum(axis=-1)
    least: Counts = np.minimum(first, second)
    return least


def shifted_quantiles(drawn: Sequence[Floats], estimate: Floats | float) -> Floats:
    """Return quantiles of draws, extended by as much as draws lie off the estimate on average.

    Coefficients of pairs that share few samples are too low on average, in the sample as in the
    draws, and pseudo-counts move the draws towards chance. The largest shift is added at the end
    that it concerns; the estimate lies inside. Without it the mean kappa of ten pairs that share
    25 samples each covers 0.80, a weighted kappa above 0.8 of 34 samples 0.79. The rule is ours.

    Draws are float64 of shape (draws, ...) each, and the quantiles those of the first. Draws
    without a value are left out. The ends are of shape (..., 2), NaN where the estimate, from the
    sample itself, is undefined, and where more draws than :data:`MOST_UNDEFINED` are.

    >>> shifted_quantiles([np.linspace(0.3, 0.7, 1001)], 0.6).round(2).tolist()
    [0.31, 0.79]
    """
    estimate = np.asarray(estimate, np.float64)
    missing = np.stack([np.isnan(draws).mean(axis=0) for draws in drawn]).max(axis=0)
    quantile, mean = np.quantile, np.mean
    if missing.any():
        quantile, mean = np.nanquantile, np.nanmean
        undefined = np.isnan(estimate) | (missing > MOST_UNDEFINED)
        drawn = [np.where(undefined, 0.0, draws) for draws in drawn]
        estimate = np.where(undefined, np.nan, estimate)
    low, high = quantile(drawn[0], (0.025, 0.975), axis=0)
    off = np.stack([estimate - mean(draws, axis=0) for draws in drawn])
    low, high = low + np.fmin(off.min(axis=0), 0), high + np.fmax(off.max(axis=0), 0)
    ends = np.stack([np.minimum(low, estimate), np.maximum(high, estimate)], axis=-1)
    return np.asarray(ends)


def bias_corrected(drawn: Floats, estimate: float) -> tuple[float, float]:
    """Return the ends of the bias-corrected interval of an estimate from its resampled values.

    Quantiles at Phi(2 z0 +- z), z0 the normal quantile of the share of draws below the estimate.
    Where resampling moves a value (the mean over features with weights from the same verdicts),
    the sample moved it too, by about as much. The estimate lies inside. Source: Efron 1981, Can.
    J. Statist. 9, 139.

    >>> low, high = bias_corrected(np.linspace(0, 1, 1001), 0.5)
    >>> round(low, 3), round(high, 3)
    (0.025, 0.975)
    """
    defined = drawn[~np.isnan(drawn)]
    below = (defined < estimate).sum() + (defined == estimate).sum() / 2
    normal = NormalDist()
    middle = normal.inv_cdf((below + 0.5) / (defined.size + 1))
    tail = normal.inv_cdf((1 + LEVEL) / 2)
    shares = normal.cdf(2 * middle - tail), normal.cdf(2 * middle + tail)
    low, high = np.quantile(defined, shares)
    return min(float(low), estimate), max(float(high), estimate)


LEAST_DISPERSION = 0.5
"""Of the variance of edits, as a multiple of their number; ours."""
_UPPER = 0.975


def ratio_interval(
    counts: NDArray[np.generic],
    sizes: NDArray[np.generic],
    *,
    speakers: NDArray[np.integer] | None = None,
) -> Interval | None:
    """Return the 95 % interval of sum(counts) / sum(sizes), for example of a PER.

    Poisson limits with a dispersion. With n responses (or speakers), S the sum of counts, T of
    sizes, r = S / T: V = n/(n - 1) sum (counts - r sizes)^2, phi = max(1/2, V / S), and
    q = (1.96 / t_{n-1})^2 / phi the limits are chi2_{.025}(2 S q) / (2 T q) and
    chi2_{.975}(2 S q + 2) / (2 T q). Source: Garwood 1936, Biometrika 28, 437; the dispersion is
    that of the linearised ratio (Cochran 1977, Sampling Techniques, 6.3).

    Counts (edits) and sizes (phonemes of the reference) are of each response. None with fewer than
    five responses or speakers, and where the sizes add up to 0.

    >>> found = ratio_interval(np.array([0, 0, 2, 0, 1, 0]), np.array([3, 4, 4, 5, 6, 3]))
    >>> round(found.low, 3), round(found.high, 3)
    (0.007, 0.549)
    """
    of = np.arange(len(counts)) if speakers is None else np.unique(speakers, return_inverse=True)[1]
    above: Floats = np.bincount(of, weights=counts.astype(np.float64)).astype(np.float64)
    below: Floats = np.bincount(of, weights=sizes.astype(np.float64)).astype(np.float64)
    n, s, t = len(above), float(above.sum()), float(below.sum())
    if n < FEWEST_UNITS or not t:
        return None
    variance = n / (n - 1) * float(((above - s / t * below) ** 2).sum())
    phi = max(LEAST_DISPERSION, variance / s) if s else 1.0
    q = (_Z / t_quantile(_UPPER, n - 1)) ** 2 / phi
    low = chi2_quantile(1 - _UPPER, 2 * s * q) / (2 * t * q) if s else 0.0
    return Interval(low, chi2_quantile(_UPPER, 2 * s * q + 2) / (2 * t * q))
