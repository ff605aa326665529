"""The burden as versions before 0.2.0 gave it, to say of older results how far they have moved.

Responses had equal weights, and the F features of a response counted as F observations.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from tabwb.scoring.distributions import chi2_quantile, t_quantile
from tabwb.scoring.estimate import UPPER, Estimand, Interval, clopper_pearson, missing_reason
from tabwb.scoring.intervals import REPLICATE_CORRELATION, Totals, Z


def former_burden(items: Sequence[Totals]) -> float | None:
    """Return the mean over all responses.

    >>> former_burden([Totals(1, 3, 9), Totals(3, 3, 3)])
    1.5
    """
    n = sum(item.n for item in items)
    return fsum(item.total for item in items) / n if n else None


def former_interval(
    items: Sequence[Totals], n_features: int, estimand: Estimand = Estimand.PROMPTS_LIKE_THESE
) -> Interval | None:
    """Return the 95 % interval of :func:`former_burden`, or None.

    >>> alike = [Totals(10, 0, 0)] * 5
    >>> round(former_interval(alike, 19).high, 2)
    0.14
    """
    given = [item for item in items if item.n]
    sizes = [item.n for item in given]
    mean = former_burden(given)
    if mean is None or n_features < 1 or missing_reason(estimand, sizes, deterministic=False):
        return None
    k, total = len(given), sum(sizes)
    if estimand is Estimand.THESE_PROMPTS:
        df, most = total - k, max(sizes)
        pooled = fsum(item.sum_of_squares for item in given) / df
        variance = fsum(
            item.n * (item.sum_of_squares / (item.n - 1) if item.n > 1 else pooled)
            + item.n * (1 - item.n / most) * (item.mean - mean) ** 2
            for item in given
        )
        phi = max(1.0, variance / total / mean) if mean > 0 else 1.0
        n = total / phi * (Z / t_quantile(UPPER, df)) ** 2
        low = chi2_quantile(1 - UPPER, 2 * mean * n) / (2 * n) if mean > 0 else 0.0
        high = chi2_quantile(UPPER, 2 * mean * n + 2) / (2 * n)
        return Interval(low, min(high, float(n_features)))
    p, weights = min(mean / n_features, 1.0), [n / total for n in sizes]
    squares = fsum((w * (item.mean - mean)) ** 2 for w, item in zip(weights, given, strict=True))
    variance = k / (k - 1) * squares / n_features**2
    usual = fsum(n * n for n in sizes) / total
    n = total * n_features / (1 + (usual - 1) * REPLICATE_CORRELATION)
    if variance > 0 and 0 < p < 1:
        even = 1 / fsum(w * w for w in weights)
        q = (t_quantile(UPPER, total * n_features - 1) / t_quantile(UPPER, even - 1)) ** 2
        n = min(n, p * (1 - p) / variance * q)
    share = clopper_pearson(min(n * p, n), n)
    assert share is not None
    return Interval(n_features * share.low, n_features * share.high)
