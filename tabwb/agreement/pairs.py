"""Two raters: contingency tables and the coefficients of agreement that are computed from them.

Every coefficient takes tables of shape (..., categories, categories), counts of samples by the
first rater's category (rows) and the second's (columns), and returns float64 of shape (...). Where
a coefficient is undefined it is NaN: no sample, or nothing that could vary. It is never 0 for that
reason, and it is left out of means (see :func:`mean_of_defined`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def tables_of(first: Floats, second: Floats) -> Counts:
    """Return the contingency table of present and absent for each feature.

    Args:
        first: verdicts of a rater, float64 of shape (samples, features): 1 present, 0 absent, NaN
            not rated, undefined or unparsed. A sample counts for a feature where both raters have
            a verdict.
        second: those of the other rater, of the same shape.

    Returns:
        int64 of shape (features, 2, 2); index 0 is absent, 1 present.

    Raises:
        ValueError: the arrays have different shapes or are not two-dimensional.

    >>> tables_of(np.array([[1.0], [0.0], [np.nan]]), np.array([[1.0], [1.0], [1.0]])).tolist()
    [[[0, 1], [0, 1]]]
    """
    if first.shape != second.shape or first.ndim != 2:
        raise ValueError(
            f"two arrays (samples, features) of one shape, not {first.shape} and {second.shape}"
        )
    shared = ~(np.isnan(first) | np.isnan(second))
    tables = np.empty((first.shape[1], 2, 2), dtype=np.int64)
    for row in (0, 1):
        for column in (0, 1):
            tables[:, row, column] = (shared & (first == row) & (second == column)).sum(axis=0)
    return tables


def samples(tables: Counts) -> Counts:
    """Return how many samples each table counts; int64 of shape (...)."""
    total: Counts = tables.sum(axis=(-2, -1))
    return total


def percent_agreement(tables: Counts) -> Floats:
    """Return the share of samples with the same category from both, in [0, 1].

    >>> float(percent_agreement(np.array([[20, 5], [10, 15]])))
    0.7
    """
    return _ratio(np.trace(tables, axis1=-2, axis2=-1), samples(tables))


def cohen_kappa(tables: Counts) -> Floats:
    """Return Cohen's kappa, (po - pe) / (1 - pe) with pe the product of both raters' own shares.

    Undefined where neither rater varies (pe = 1). Source: Cohen 1960, Educ. Psychol. Meas. 20.

    >>> round(float(cohen_kappa(np.array([[20, 5], [10, 15]]))), 12)
    0.4
    """
    # In whole numbers, so that one sample among a hundred thousand is not rounded away:
    # (n agreed - s) / (n^2 - s) with s the sum over k of row total x column total.
    total = samples(tables).astype(np.float64)
    agreed = np.trace(tables, axis1=-2, axis2=-1).astype(np.float64)
    rows, columns = (tables.sum(axis=axis).astype(np.float64) for axis in (-1, -2))
    shared = (rows * columns).sum(axis=-1)
    return _ratio(total * agreed - shared, total * total - shared)


def gwet_ac1(tables: Counts) -> Floats:
    """Return Gwet's AC1, (po - pe) / (1 - pe), pe = sum_k p_k (1 - p_k) / (categories - 1).

    p_k is the mean of both raters' shares of category k. Defined also where neither varies.
    Source: Gwet 2008, Br. J. Math. Stat. Psychol. 61.

    >>> float(gwet_ac1(np.array([[10, 0], [0, 0]])))
    1.0
    """
    total = samples(tables)[..., None]
    shares = _ratio(tables.sum(axis=-1) + tables.sum(axis=-2), 2 * total)
    by_chance = (shares * (1 - shares)).sum(axis=-1) / (tables.shape[-1] - 1)
    # Never 1: with k categories it is 1/k at most.
    return _ratio(percent_agreement(tables) - by_chance, 1 - by_chance)


def specific_agreement(tables: Counts, category: int) -> Floats:
    """Return the agreement on one category, 2 a / (2 a + b + c), in [0, 1].

    ``a`` is the number of samples that both put into it, ``b + c`` those that one of them did.
    Undefined where nobody used it. Source: Cicchetti & Feinstein 1990, J. Clin. Epidemiol. 43.

    Args:
        tables: int64 of shape (..., categories, categories).
        category: index of the category.

    >>> round(float(specific_agreement(np.array([[20, 5], [10, 15]]), 1)), 4)
    0.6667
    """
    both = 2 * tables[..., category, category]
    used = tables[..., category, :].sum(axis=-1) + tables[..., :, category].sum(axis=-1)
    return _ratio(both, used)


def mean_of_defined(values: Floats) -> tuple[float | None, int]:
    """Return the unweighted mean of the defined values (None without any) and their number.

    >>> mean_of_defined(np.array([1.0, np.nan, 0.0]))
    (0.5, 2)
    """
    defined = values[~np.isnan(values)]
    return (float(defined.mean()), int(defined.size)) if defined.size else (None, 0)


def _ratio(above: NDArray[np.generic], below: NDArray[np.generic]) -> Floats:
    above, below = np.broadcast_arrays(
        np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    )
    ratio: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
    return ratio
