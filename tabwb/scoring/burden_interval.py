"""Intervals of a symptom burden: for prompts like these, and for these prompts."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from tabwb.scoring.distributions import chi2_quantile, t_quantile
from tabwb.scoring.estimate import (
    DETERMINISTIC,
    LEVEL,
    NO_VALUE,
    ONE_ITEM,
    ONE_RESPONSE,
    Estimand,
    EstimatedInterval,
    Interval,
    clopper_pearson,
)

REPLICATE_CORRELATION = 0.1
"""Lower limit of the correlation of replicates of one item in the interval."""
UPPER = (1 + LEVEL) / 2
Z = 1.959963984540054
"""The 0.975 quantile of the normal distribution."""


def burden_interval(
    values: Sequence[Sequence[float]],
    n_features: int,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    deterministic: bool = False,
) -> EstimatedInterval:
    """Return the 95 % interval of the mean number of features present per response.

    Args:
        values: for each item the number of features present in each usable response to it. Items
            without a response are left out.
        n_features: size of the fixed feature set.
        estimand: what the interval is for.
        deterministic: nothing was drawn: another run gives the same responses.

    >>> found = burden_interval([[0.0]] * 5, 19)
    >>> found.interval.low, round(found.interval.high, 2)
    (0.0, 0.72)
    >>> burden_interval([[1.0]] * 5, 19, Estimand.THESE_PROMPTS, deterministic=True).reason
    'deterministic'
    """
    items = [item for item in values if len(item)]
    if estimand is Estimand.THESE_PROMPTS and deterministic and items:
        return EstimatedInterval(estimand, None, DETERMINISTIC)
    if not items or n_features < 1:
        return EstimatedInterval(estimand, None, NO_VALUE)
    if estimand is Estimand.PROMPTS_LIKE_THESE:
        if len(items) < 2:
            return EstimatedInterval(estimand, None, ONE_ITEM)
        means = [fsum(item) / len(item) for item in items]
        return EstimatedInterval(
            estimand, korn_graubard(means, [len(item) for item in items], n_features)
        )
    if all(len(item) < 2 for item in items):
        return EstimatedInterval(estimand, None, ONE_RESPONSE)
    return EstimatedInterval(estimand, dispersed_garwood(items, n_features))


def korn_graubard(means: Sequence[float], replicates: Sequence[int], n_features: int) -> Interval:
    """Return the interval of a burden for prompts like these (two items or more).

    With k items, r replicates, F features, y the item means:
    ``N = krF``, ``p = mean(y)/F``, ``v = var(y)/(k F^2)``, ``q = (t_{N-1} / t_{k-1})^2`` at 0.975,
    ``n = min(p(1-p)/v q, N / (1 + (r-1) 0.1))``; the interval is F times the exact binomial
    interval of ``n p`` of ``n``. The second term of the minimum is a lower limit on the
    correlation of replicates: without it equal item means would give far too short an interval.

    Unequal replicates r_i (missing or unusable responses): with weights ``w_i = r_i / sum r``,
    ``p = sum w_i y_i / F`` (the mean over responses), ``v = k/(k-1) sum w_i^2 (y_i - pF)^2 / F^2``
    (the ratio estimator's variance), ``N = F sum r_i`` and, for r in the lower limit,
    ``sum r_i^2 / sum r_i``; ``t_{k-1}`` becomes t with ``1 / sum w_i^2 - 1`` degrees of freedom.
    All equal the formulas above when the r_i are equal.

    Source: Korn and Graubard, Survey Methodology 24 (1998), 193; the lower limit:
    docs/uncertainty.md.

    Args:
        means: of the items, 0 to F.
        replicates: responses to each item, 1 or more.
        n_features: F.

    Raises:
        ValueError: fewer than two items.

    >>> found = korn_graubard([4.0, 3.0, 1.8, 4.2, 2.4], [10] * 5, 19)
    >>> round(found.low, 4), round(found.high, 4)
    (1.9062, 4.5946)
    """
    k = len(means)
    if k < 2:
        raise ValueError("an interval for prompts like these needs two items or more")
    total = sum(replicates)
    weights = [r / total for r in replicates]
    mean = min(fsum(w * y for w, y in zip(weights, means, strict=True)), float(n_features))
    p = mean / n_features
    variance = (
        k / (k - 1) * fsum((w * (y - mean)) ** 2 for w, y in zip(weights, means, strict=True))
    ) / n_features**2
    size = float(total * n_features)
    usual = fsum(r * r for r in replicates) / total
    n = size / (1 + (usual - 1) * REPLICATE_CORRELATION)
    if variance > 0 and 0 < p < 1:
        df = 1 / fsum(w * w for w in weights) - 1
        q = (t_quantile(UPPER, size - 1) / t_quantile(UPPER, df)) ** 2
        n = min(n, p * (1 - p) / variance * q)
    share = clopper_pearson(n * p, n)
    assert share is not None
    return Interval(n_features * share.low, n_features * share.high)


def dispersed_garwood(values: Sequence[Sequence[float]], n_features: int) -> Interval:
    """Return the interval of a burden for these prompts (two responses to some item, at least).

    With k items, r replicates, s_i^2 the variance of the responses to an item, m their mean:
    ``V = sum s_i^2 / (k^2 r)``, ``phi = max(1, V kr / m)``, ``n = kr / phi (1.96 / t_{k(r-1)})^2``;
    limits ``chi2_{.025}(2mn) / 2n`` and ``chi2_{.975}(2mn + 2) / 2n``.

    Unequal replicates r_i: m is the mean over all R responses, as it is printed, so that items are
    weighted by their responses. ``V = sum r_i (s_i^2 + (1 - r_i / max r) (y_i - m)^2) / R^2``, kr
    becomes R and the degrees of freedom ``R - k``. The second term is needed because another run
    would get usable responses to other items. An item with one response takes the pooled s^2.

    Source: Garwood, Biometrika 28 (1936), 437 (Poisson limits); the dispersion:
    docs/uncertainty.md; the second term is ours.

    Args:
        values: for each item the values of its responses.
        n_features: F, the largest possible burden.

    Raises:
        ValueError: no item has two responses.

    >>> found = dispersed_garwood([[0.0, 0.0]] * 5, 19)
    >>> found.low, round(found.high, 2)
    (0.0, 0.63)
    """
    sizes = [len(item) for item in values]
    total, most = sum(sizes), max(sizes)
    df = total - len(values)
    if df < 1:
        raise ValueError("an interval for these prompts needs two responses to an item")
    mean = fsum(map(fsum, values)) / total
    squares = [sum_of_squares(item) for item in values]
    pooled = fsum(squares) / df
    variance = (
        fsum(
            r * (square / (r - 1) if r > 1 else pooled)
            + r * (1 - r / most) * (fsum(item) / r - mean) ** 2
            for r, square, item in zip(sizes, squares, values, strict=True)
        )
        / total**2
    )
    phi = max(1.0, variance * total / mean) if mean > 0 else 1.0
    n = total / phi * (Z / t_quantile(UPPER, df)) ** 2
    low = chi2_quantile(1 - UPPER, 2 * mean * n) / (2 * n) if mean > 0 else 0.0
    high = chi2_quantile(UPPER, 2 * mean * n + 2) / (2 * n)
    return Interval(low, min(high, float(n_features)))


def sum_of_squares(values: Sequence[float]) -> float:
    """Return the sum of squared distances from the mean.

    >>> sum_of_squares([1.0, 3.0])
    2.0
    """
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values)


def effective_responses(replicates: Sequence[int]) -> float:
    """Return how many responses, evenly spread over the items, give as exact a mean of item means.

    ``k^2 / sum(1 / r_i)``: with equal replicates the number of responses, kr; less where some items
    have few.

    >>> effective_responses([4, 4]), round(effective_responses([1, 7]), 3)
    (8.0, 3.5)
    """
    return len(replicates) ** 2 / fsum(1 / r for r in replicates)
