"""Features within responses, and profiles of features beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tabwb.scoring.distributions import t_quantile
from tabwb.scoring.estimate import UPPER, Estimate, Interval

Floats = NDArray[np.float64]
LEAST_ITEMS = 5
"""Items from which on there are intervals."""
DRAWS = 2000
"""Of a bootstrap."""
SEED = 20260101
"""Of the draws, so that intervals are the same each time."""
NEVER_OR_ALWAYS = "a feature is in no response, or in all"
FEW_ITEMS = f"fewer than {LEAST_ITEMS} items"
SAME = "all items give the same value"
EQUAL_RATES = "all rates of a profile are equal"
NO_RATE = "all rates of a profile are 0"


def phi(both: float, first: float, second: float, n: float) -> Estimate:
    """Return the correlation of two features within responses.

    ``(n n_11 - n_1 n_2) / sqrt(n_1 (n - n_1) n_2 (n - n_2))``: Pearson's correlation of two
    features that are present (1) or absent (0).

    Args:
        both: responses with both features.
        first: responses with the first.
        second: responses with the second.
        n: all responses.

    >>> phi(4, 5, 5, 10).value, phi(0, 0, 5, 10).reason
    (0.6, 'a feature is in no response, or in all')
    """
    below = float(first) * float(n - first) * float(second) * float(n - second)
    if below <= 0.0:
        return Estimate(None, NEVER_OR_ALWAYS)
    return Estimate((float(n) * both - float(first) * second) / sqrt(below))


def phi_interval(counts: Sequence[tuple[int, int, int, int]]) -> tuple[Interval | None, str]:
    """Return the 95 % interval of phi for items like these, or None with the reason.

    The delete-one jackknife over items: responses to one item depend on each other. With the phi of
    all items and of all but one, ``k phi - (k - 1) phi_-i`` are pseudo-values; their standard error
    and t of k - 1 degrees of freedom give the interval around phi, within -1 and 1 (Tukey 1958).

    Args:
        counts: of each item: responses with both features, the first, the second, and all.
    """
    k = len(counts)
    if k < LEAST_ITEMS:
        return None, FEW_ITEMS
    total = np.array(counts, np.float64).sum(axis=0)
    middle = phi(*total).value
    if middle is None:
        return None, NEVER_OR_ALWAYS
    without = [phi(*(total - np.array(one))).value for one in counts]
    known = [value for value in without if value is not None]
    if len(known) < k:
        return None, "a feature is in the responses to one item alone"
    error = sqrt((k - 1) / k * sum((value - sum(known) / k) ** 2 for value in known))
    if error <= 1e-12:
        return None, SAME
    half = t_quantile(UPPER, k - 1) * error
    return Interval(max(-1.0, middle - half), min(1.0, middle + half)), ""


def cosine(first: Floats, second: Floats) -> Estimate:
    """Return the cosine of two profiles: ``sum a b / sqrt(sum a^2 sum b^2)``.

    Args:
        first: rates of features.
        second: rates of the same features.

    >>> cosine(np.array([1.0, 0.0]), np.array([1.0, 1.0])).value.__round__(4)
    0.7071
    """
    below = float((first @ first) * (second @ second))
    return Estimate(float(first @ second) / sqrt(below)) if below > 0 else Estimate(None, NO_RATE)


def spearman(first: Floats, second: Floats) -> Estimate:
    """Return Spearman's rank correlation of two profiles: Pearson's of mean ranks.

    Args:
        first: rates of features.
        second: rates of the same features.

    >>> spearman(np.array([0.1, 0.2, 0.4]), np.array([0.0, 0.5, 0.3])).value
    0.5
    """
    ranks = [_ranks(one) for one in (first, second)]
    centred = [one - one.mean() for one in ranks]
    below = float((centred[0] @ centred[0]) * (centred[1] @ centred[1]))
    if below <= 0.0:
        return Estimate(None, EQUAL_RATES)
    return Estimate(float(centred[0] @ centred[1]) / sqrt(below))


def _ranks(values: Floats) -> Floats:
    """Return ranks from 1; equal values have the mean of theirs."""
    below = (values[:, None] > values[None, :]).sum(axis=1)
    equal = (values[:, None] == values[None, :]).sum(axis=1)
    return np.asarray(below + (equal + 1) / 2, np.float64)


def similarity_interval(
    first: Floats,
    second: Floats | None,
    reference: Floats,
    measure: Callable[[Floats, Floats], Estimate],
) -> tuple[Interval | None, str]:
    """Return the bootstrap interval (95 %) of a similarity, or None with the reason.

    Items are drawn with replacement, on both sides by themselves. Noise makes profiles less alike,
    in the draws once more, so that percentiles are far too low. With m and s, mean and standard
    deviation of the draws, and k items (of the smaller side) the interval is
    ``2 value - m +- t_{k-1} s sqrt(k / (k - 1))``, within the least and largest similarity. In
    simulations with 5 to 20 items and 7 features it covered .93 to .97 of cosines and .86 to .95 of
    rank correlations; the percentiles .37 to .90 and .65 to .98.

    Args:
        first: (items, features + 1): of each item responses with each feature, and all responses.
        second: likewise of the reference; None: its rates are given.
        reference: rates of the reference, where ``second`` is None.
        measure: :func:`cosine` or :func:`spearman`.
    """
    sides = [first] if second is None else [first, second]
    if min(map(len, sides)) < LEAST_ITEMS:
        return None, FEW_ITEMS
    random = np.random.Generator(np.random.SFC64(SEED))
    drawn = [_drawn(side, random) for side in sides]
    others = [reference] * DRAWS if second is None else list(drawn[1])
    found = [measure(one, other) for one, other in zip(drawn[0], others, strict=True)]
    values = [one.value for one in found if one.value is not None]
    if len(values) < 0.95 * DRAWS:
        return None, next(one.reason for one in found if one.value is None) + " in some draws"
    value = measure(_rates(first), reference if second is None else _rates(second)).value
    k = min(map(len, sides))
    error = float(np.std(values, ddof=1)) * sqrt(k / (k - 1))
    if value is None or error <= 1e-12:
        return None, SAME
    middle, half = 2.0 * value - float(np.mean(values)), t_quantile(UPPER, k - 1) * error
    least = 0.0 if measure is cosine else -1.0
    return Interval(max(least, middle - half), min(1.0, middle + half)), ""


def _rates(counts: Floats) -> Floats:
    sums = counts.sum(axis=0)
    return np.asarray(sums[:-1] / sums[-1], np.float64)


def _drawn(counts: Floats, random: np.random.Generator) -> Floats:
    """Return the rates of each draw of items: (draws, features)."""
    items = random.integers(0, len(counts), (DRAWS, len(counts)))
    sums = counts[items].sum(axis=1)
    return np.asarray(sums[:, :-1] / sums[:, -1:], np.float64)
