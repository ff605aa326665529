"""Contingency tables of resampled samples, jointly over pairs of raters and features.

The weights of samples are exponential with mean 1 (Rubin's Bayesian bootstrap), one for each sample
or, where several samples are of one speaker, one for each of G speakers. Those of speakers have a
gamma distribution with the variance (t/1.96)^2 G/(G - 1), t with G - 1 degrees of freedom at 0.975:
speakers are few, and with the variance 1, which is right for many, intervals are too narrow. A
table is a sum over samples, so that all tables of all draws are one matrix product, computed for
some thousand samples at a time: memory does not grow with the number of samples.

The shares of a table can be smoothed with four pseudo-counts with gamma(1/2) distributions, one for
each cell, shared by all pairs of a feature; a pair gets them in proportion to its share of the
samples that any pair rated. For one pair and independent samples the shares of the four cells then
have exactly the Dirichlet(n + 1/2) distribution of :mod:`tabwb.agreement.intervals`, because sums
of exponentials are gamma distributed. The draws of all pairs and features use the same weights:
samples are resampled with everything that raters said of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.intervals import PRIOR
from tabwb.agreement.verdicts import PRESENT, Floats, Verdicts
from tabwb.scoring.distributions import t_quantile

DRAWS = 2_000
SEED = 20260
CHUNK = 4_096
"""Samples in one matrix product; the random numbers depend on it."""

_Z = 1.959963984540054

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

    Args:
        pairs: one or more, all of the same shape.
        consensus: int8 of shape (samples, features), for the weights of features.
        draws: number of draws.
        seed: of numpy's PCG64.
        speakers: the speaker of each sample, integers from 0; None: samples are independent.
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
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.intp], NDArray[np.intp] | None]]:
    """Yield weights (draws, groups), the samples of these groups, and where each group begins."""
    shape = 1.0
    if speakers is None:
        order, groups = np.arange(n), np.arange(n + 1)
    else:
        order = np.argsort(speakers, kind="stable")
        new = np.flatnonzero(np.diff(np.asarray(speakers)[order])) + 1
        groups = np.concatenate([[0], new, [n]])
        shape = _shape(len(groups) - 1)
    generator = np.random.Generator(np.random.PCG64(seed))
    for first in range(0, len(groups) - 1, CHUNK):
        starts = groups[first : first + CHUNK + 1]
        weights = generator.standard_gamma(shape, (draws, len(starts) - 1), np.float32)
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
