"""The smallest difference of two examinees that a design can show."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from tabwb.scoring.distributions import noncentral_t_tail, t_quantile
from tabwb.scoring.dose import FEW_SEEDS, LEAST_SEEDS
from tabwb.scoring.estimate import (
    ONE_ITEM,
    ONE_RESPONSE,
    UPPER,
    Estimand,
    Estimate,
)

POWER = 0.8
"""The chance that a difference of the printed size is found."""
DISPERSION = 2.0
"""phi: variance of a burden over its mean, within an item, unless piloted."""
ITEM_VARIATION = 0.25
"""CV: how much item means differ, as a share of the burden, unless piloted."""
ITEM_CORRELATION = 0.6
"""Between two examinees' item means; 1.2 in the formula is twice this."""
ACCURACY_BETWEEN_ITEMS = 0.3
"""Share of the variance of right and wrong that lies between items, unless piloted [ours]."""
BURDEN = 1.0
"""Of the first examinee, unless piloted."""
ACCURACY = 0.5
"""Of the first examinee, unless piloted: where a difference is hardest to show."""
OUT_OF_RANGE = "no possible difference is large enough"


@dataclass(frozen=True, slots=True)
class Design:
    """The k items that both of two examinees are given, and r responses to each.

    The harmonic mean where they are unequal; where nothing is drawn, one response to an item.
    """

    items: int
    replicates: float

    def degrees_of_freedom(self, estimand: Estimand) -> float:
        """Return k - 1 for prompts like these, 2k(r - 1) for these prompts."""
        like = estimand is Estimand.PROMPTS_LIKE_THESE
        return self.items - 1 if like else 2 * self.items * (self.replicates - 1)


@lru_cache(maxsize=256)
def detection_factor(df: float) -> float:
    """Return c(df): how many standard errors a difference must have to be found.

    The noncentrality at which a two-sided t test at .05 rejects with power .8:
    ``P(T_df(c) > t_{.975, df}) = 0.8``.

    >>> [round(detection_factor(df), 2) for df in (4, 9, 190)]
    [3.76, 3.15, 2.82]
    """
    critical = t_quantile(UPPER, df)
    low, high = 0.0, 4 * critical + 4
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        detected = noncentral_t_tail(critical, df, middle) >= POWER
        low, high = (low, middle) if detected else (middle, high)
    return high


def detectable_burden(
    design: Design,
    n_features: int,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    burden: float = BURDEN,
) -> Estimate:
    """Return the smallest difference in burden that two examinees on the same items can show.

    ``delta = c(df) sqrt(V)``, ``V = phi (A + B) / (kr)`` and, for prompts like these,
    ``+ CV^2 (A^2 + B^2 - 1.2 AB) / k``, with burdens A and B = A + delta, phi 2 and CV 0.25 unless
    piloted. Source: docs/uncertainty.md.

    Args:
        design: items and replicates of each of the two.
        n_features: size of the feature set: the largest burden there is.
        estimand: what the difference is to be shown for.
        burden: A.

    >>> like = detectable_burden(Design(5, 20), 19)
    >>> these = detectable_burden(Design(5, 20), 19, Estimand.THESE_PROMPTS)
    >>> round(these.value, 2), round(like.value, 1)
    (0.65, 1.2)
    """

    def variance(delta: float) -> float:
        other = burden + delta
        total = DISPERSION * (burden + other) / (design.items * design.replicates)
        if estimand is Estimand.PROMPTS_LIKE_THESE:
            total += ITEM_VARIATION**2 * _of_items(burden, other) / design.items
        return total

    return _of_items_of(design, estimand, variance, n_features - burden)


def detectable_accuracy(
    design: Design,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    accuracy: float = ACCURACY,
) -> Estimate:
    """Return the smallest difference in accuracy that two examinees on the same items can show.

    ``delta = c(df) sqrt(V)``, with a = A(1 - A) and b = B(1 - B) for accuracies A and B = A +
    delta. These prompts: ``V = (a + b) / (kr)``. Prompts like these: the share rho = 0.3 of a and b
    lies between items, ``V = (1 - rho)(a + b) / (kr) + rho (a + b - 1.2 sqrt(ab)) / k``, and no
    less than for these prompts. Ours, after the formula of the burden.

    Args:
        design: items and replicates of each of the two.
        estimand: what the difference is to be shown for.
        accuracy: A.

    >>> round(detectable_accuracy(Design(15, 10)).value, 2)
    0.23
    >>> detectable_accuracy(Design(5, 1)).reason
    'no possible difference is large enough'
    """

    def variance(delta: float) -> float:
        other = min(accuracy + delta, 1.0)
        a, b = accuracy * (1 - accuracy), other * (1 - other)
        draws = (a + b) / (design.items * design.replicates)
        if estimand is Estimand.THESE_PROMPTS:
            return draws
        items = _of_items(math.sqrt(a), math.sqrt(b)) / design.items
        share = ACCURACY_BETWEEN_ITEMS
        return max(draws, (1 - share) * draws + share * items)

    return _of_items_of(design, estimand, variance, 1 - accuracy)


def detectable_over_seeds(
    seeds: int, items: int, n_features: int | None, *, controls: bool
) -> Estimate:
    """Return the smallest difference at one amount of a lesion that a sweep can show.

    The test is that over seeds, for other draws of units and these prompts: paired t with n - 1
    degrees of freedom of n seeds, each with a control or all compared with a greedy intact model.
    ``delta = c(n - 1) sqrt(V)``. Of k items ``V = (a + b) / (kn)`` with controls and ``b / (kn)``
    without, with a = A(1 - A) and b = B(1 - B) of accuracies A and B = A - delta, or a = A and
    b = B = A + delta of burdens; A is 0.5 or 1. That a value varies between seeds as if the answers
    to its items were drawn one by one is ours: in the study of docs/lesion-study.md the variance
    over seeds was 0.95 times that of accuracies and 1.00 times that of burdens.

    Args:
        seeds: n, of one lesion at one amount.
        items: k, of one subtest.
        n_features: size of the feature set for a burden; None for an accuracy.
        controls: whether each lesion has a control of its size and seed.

    >>> round(detectable_over_seeds(5, 5, None, controls=True).value, 2)
    0.43
    >>> detectable_over_seeds(4, 5, None, controls=True).reason
    'fewer than 5 seeds'
    """
    if seeds < LEAST_SEEDS:
        return Estimate(None, FEW_SEEDS)
    accuracy = n_features is None
    base = ACCURACY if accuracy else BURDEN

    def spread(value: float) -> float:
        return value * (1 - value) if accuracy else value

    def variance(delta: float) -> float:
        own = spread(max(base - delta, 0.0) if accuracy else base + delta)
        return (own + (spread(base) if controls else 0.0)) / (items * seeds)

    largest = base if n_features is None else n_features - base
    return _smallest(seeds - 1, variance, largest)


def _of_items(first: float, second: float) -> float:
    """Return the variance of a difference of item means, of spreads correlated by 0.6."""
    return first * first + second * second - 2 * ITEM_CORRELATION * first * second


def _of_items_of(
    design: Design, estimand: Estimand, variance: Callable[[float], float], largest: float
) -> Estimate:
    if estimand is Estimand.PROMPTS_LIKE_THESE and design.items < 2:
        return Estimate(None, ONE_ITEM)
    df = design.degrees_of_freedom(estimand)
    if df <= 0:
        return Estimate(None, ONE_RESPONSE)
    return _smallest(df, variance, largest)


def _smallest(df: float, variance: Callable[[float], float], largest: float) -> Estimate:
    """Return the smallest delta from 0 to ``largest`` with ``delta >= c sqrt(variance(delta))``."""
    factor = detection_factor(df)

    def shown(delta: float) -> bool:
        return delta >= factor * math.sqrt(variance(delta))

    if not shown(largest):
        return Estimate(None, OUT_OF_RANGE)
    low, high = 0.0, largest
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return Estimate(high)
