"""Two raters: contingency tables and the coefficients of agreement that are computed from them.

Every coefficient takes tables of shape (..., categories, categories), counts of samples by the
first rater's category (rows) and the second's (columns), and returns float64 of shape (...). Where
a coefficient is undefined it is NaN: no sample, or nothing that could vary. It is never 0 for that
reason, and it is left out of means (see :func:`mean_of_defined`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.verdicts import Floats, Verdicts, verdicts_of

Counts = NDArray[np.int64]
Tables = Counts | Floats
"""Counts of samples, or sums of their weights."""


def tables_of(first: Floats | Verdicts, second: Floats | Verdicts, categories: int = 2) -> Counts:
    """Return the contingency table of two raters for each feature.

    Args:
        first: verdicts of a rater, of shape (..., samples, features): int8 as in
            :mod:`tabwb.agreement.verdicts`, or float64 with 1 present, 0 absent, NaN without a
            verdict. A sample counts for a feature where both raters have a verdict.
        second: those of the other rater, of the same shape.
        categories: number of categories; the verdicts are 0 to categories - 1.

    Returns:
        int64 of shape (..., features, categories, categories); of two, index 1 is present.

    >>> tables_of(np.array([[1.0], [0.0], [np.nan]]), np.array([[1.0], [1.0], [1.0]])).tolist()
    [[[0, 1], [0, 1]]]
    """
    if first.shape != second.shape or first.ndim < 2:
        raise ValueError(
            f"two arrays (samples, features) of one shape, not {first.shape} and {second.shape}"
        )
    one, other = _integers(first), _integers(second)
    if max(one.max(initial=0), other.max(initial=0)) >= categories:
        raise ValueError(f"a verdict is at most {categories - 1}")
    cells = categories * categories
    *leading, _, features = one.shape
    tables = np.empty((*leading, features, cells), dtype=np.int64)
    for at in np.ndindex(*leading):
        # One count for all features: cell of the sample plus the place of its feature's cells.
        shared = (one[at] >= 0) & (other[at] >= 0)
        cell = one[at].astype(np.int32) * categories + other[at] + np.arange(features) * cells
        tables[at] = np.bincount(cell[shared], minlength=features * cells).reshape(features, cells)
    return tables.reshape(*leading, features, categories, categories)


def samples(tables: Tables) -> Tables:
    """Return how many samples each table counts: of shape (...)."""
    total: Tables = tables.sum(axis=(-2, -1))
    return total


def percent_agreement(tables: Tables) -> Floats:
    """Return the share of samples with the same category from both, in [0, 1].

    >>> float(percent_agreement(np.array([[20, 5], [10, 15]])))
    0.7
    """
    return divided(np.trace(tables, axis1=-2, axis2=-1), samples(tables))


def cohen_kappa(tables: Tables) -> Floats:
    """Return Cohen's kappa, (po - pe) / (1 - pe) with pe the product of both raters' own shares.

    Undefined where neither rater varies: both used one category only, the same (pe = 1) or not
    (0 / 1 says nothing of agreement). Source: Cohen 1960, Educ. Psychol. Meas. 20.

    >>> round(float(cohen_kappa(np.array([[20, 5], [10, 15]]))), 12)
    0.4
    """
    # In whole numbers, so that one sample among a hundred thousand is not rounded away:
    # (n agreed - s) / (n^2 - s) with s the sum over k of row total x column total.
    total = samples(tables).astype(np.float64)
    agreed = np.trace(tables, axis1=-2, axis2=-1).astype(np.float64)
    rows, columns = (tables.sum(axis=axis).astype(np.float64) for axis in (-1, -2))
    shared = (rows * columns).sum(axis=-1)
    return divided(total * agreed - shared, (total * total - shared) * _varies(tables))


def weighted_kappa(tables: Tables, power: int = 2) -> Floats:
    """Return Cohen's weighted kappa, 1 - sum(w o) / sum(w e), w = |i - j|^power.

    o are the counts, e those expected from both raters' own shares. For ordered categories at equal
    distances; for codes without an order use :func:`cohen_kappa`. Undefined where neither rater
    varies. Source: Cohen 1968, Psychol. Bull. 70, 213.

    Args:
        tables: int64 of shape (..., categories, categories).
        power: 1 (linear weights) or 2 (quadratic weights).

    >>> abstractors = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    >>> [round(float(weighted_kappa(abstractors, power)), 3) for power in (1, 2)]
    [0.843, 0.892]
    """
    ranks = np.arange(tables.shape[-1], dtype=np.float64)
    weights = np.abs(ranks[:, None] - ranks) ** power
    rows, columns = (tables.sum(axis=axis).astype(np.float64) for axis in (-1, -2))
    by_chance = rows[..., :, None] * columns[..., None, :]
    total = samples(tables).astype(np.float64)
    expected = (weights * by_chance).sum(axis=(-2, -1))
    return divided(
        expected - total * (weights * tables).sum(axis=(-2, -1)), expected * _varies(tables)
    )


def _varies(tables: Tables) -> NDArray[np.bool_]:
    """Return where a rater used two categories, so that more than one cell has a sample."""
    varies: NDArray[np.bool_] = np.count_nonzero(tables, axis=(-2, -1)) > 1
    return varies


def gwet_ac1(tables: Tables) -> Floats:
    """Return Gwet's AC1, (po - pe) / (1 - pe), pe = sum_k p_k (1 - p_k) / (categories - 1).

    p_k is the mean of both raters' shares of category k. Defined also where neither varies.
    Source: Gwet 2008, Br. J. Math. Stat. Psychol. 61.

    >>> float(gwet_ac1(np.array([[10, 0], [0, 0]])))
    1.0
    """
    total = samples(tables)[..., None]
    shares = divided(tables.sum(axis=-1) + tables.sum(axis=-2), 2 * total)
    by_chance = (shares * (1 - shares)).sum(axis=-1) / (tables.shape[-1] - 1)
    # Never 1: with k categories it is 1/k at most.
    return divided(percent_agreement(tables) - by_chance, 1 - by_chance)


def specific_agreement(tables: Tables, category: int) -> Floats:
    """Return the agreement on one category, 2 a / (2 a + b + c), in [0, 1].

    ``a`` is the number of samples that both put into it, ``b + c`` those that one of them did.
    Undefined where nobody used it. Source: Cicchetti & Feinstein 1990, J. Clin. Epidemiol. 43.

    >>> round(float(specific_agreement(np.array([[20, 5], [10, 15]]), 1)), 4)
    0.6667
    """
    both = 2 * tables[..., category, category]
    used = tables[..., category, :].sum(axis=-1) + tables[..., :, category].sum(axis=-1)
    return divided(both, used)


def mean_of_defined(values: Floats) -> tuple[float | None, int]:
    """Return the unweighted mean of the defined values (None without any) and their number.

    >>> mean_of_defined(np.array([1.0, np.nan, 0.0]))
    (0.5, 2)
    """
    defined = values[~np.isnan(values)]
    return (float(defined.mean()), int(defined.size)) if defined.size else (None, 0)


def divided(above: NDArray[np.generic], below: NDArray[np.generic]) -> Floats:
    """Return quotients, NaN where the lower number is 0."""
    above, below = np.broadcast_arrays(
        np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    )
    ratio: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
    return ratio


def _integers(values: Floats | Verdicts) -> Verdicts:
    return (
        verdicts_of(np.asarray(values, np.float64))
        if values.dtype.kind == "f"
        else values.astype(np.int8, copy=False)
    )
