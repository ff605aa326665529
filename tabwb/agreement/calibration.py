"""A judge measured against reference verdicts: sensitivity, specificity, predictive values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.pairs import Counts, tables_of
from tabwb.agreement.resampling import DRAWS, SEED, drawn_tables
from tabwb.agreement.verdicts import Floats, Verdicts
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
    speakers, with the same prior.

    Args:
        judge: int8 of shape (samples, features).
        reference: the consensus or the verdicts of one person, of the same shape. A sample counts
            where both have a verdict.
        draws: of resampled speakers.
        seed: of the draws.
        speakers: the speaker of each sample, integers from 0; None: samples are independent.
    """
    tables = tables_of(reference, judge)
    ends: Floats | None = None
    if speakers is not None and draws:
        pairs = [(reference, judge)]
        drawn = drawn_tables(pairs, draws=draws, seed=seed, speakers=speakers).smoothed[:, 0]
        ends = np.quantile(_shares(drawn), (0.025, 0.975), axis=0)
    return tuple(
        _calibration(table, None if ends is None else ends[:, at])
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
    return np.asarray(np.divide(right, n, out=np.full(n.shape, np.nan), where=n > 0))


def _calibration(table: Counts, ends: Floats | None) -> Calibration:
    (tn, fp), (fn, tp) = ((int(cell) for cell in row) for row in table)
    parts = ((tp, tp + fn), (tn, tn + fp), (tp, tp + fp), (tn, tn + fn))
    shares = []
    for at, (count, n) in enumerate(parts):
        found = jeffreys(count, n)
        if found is not None and ends is not None:
            low, high = float(ends[0, at]), float(ends[1, at])
            found = Interval(min(low, count / n), max(high, count / n))
        shares.append(Share(count, n, found))
    return Calibration(tp, fp, fn, tn, *shares)
