"""Intervals of a rate (a feature, right answers) with several responses to an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from tabwb.scoring.distributions import beta_quantile
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEANS, CORRELATIONS = 120, 24
"""Points of the grid: of the mean, and of the correlation of responses within an item."""
CACHED_RESPONSES = 512
"""Number of responses to one item up to which the grid's logarithms are cached."""
LOWER, UPPER = (1 - LEVEL) / 2, (1 + LEVEL) / 2


def rate_interval(
    hits: Sequence[int],
    responses: Sequence[int],
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    deterministic: bool = False,
) -> EstimatedInterval:
    """Return the 95 % interval of a share, from counts per item.

    For these prompts: the exact (Clopper-Pearson) interval of all hits of all responses, which is
    somewhat too wide when the items' shares differ. With unequal numbers of responses it contains
    the pooled share that is printed, in which items are weighted by their responses. The interval
    for prompts like these gives every item the same weight; where it does not contain the printed
    share, it is extended to it.

    Args:
        hits: for each item the responses with the feature, or the right answers.
        responses: for each item all usable responses; items without any are left out.
        estimand: what the interval is for.
        deterministic: nothing was drawn: another run gives the same responses.

    Raises:
        ValueError: a count is below 0, or more hits than responses.

    >>> found = rate_interval([2, 0, 1, 1, 2], [10] * 5)
    >>> round(found.interval.low, 3), round(found.interval.high, 3)
    (0.054, 0.377)
    """
    pairs = list(zip(hits, responses, strict=True))
    if any(not 0 <= x <= n for x, n in pairs):
        raise ValueError("hits must be between 0 and the number of responses of their item")
    items = [(int(x), int(n)) for x, n in pairs if n]
    if not items:
        return EstimatedInterval(estimand, None, NO_VALUE)
    if estimand is Estimand.THESE_PROMPTS:
        if deterministic:
            return EstimatedInterval(estimand, None, DETERMINISTIC)
        if all(n < 2 for _, n in items):
            return EstimatedInterval(estimand, None, ONE_RESPONSE)
        exact = clopper_pearson(sum(x for x, _ in items), sum(n for _, n in items))
        return EstimatedInterval(estimand, exact)
    if len(items) < 2:
        return EstimatedInterval(estimand, None, ONE_ITEM)
    # Sorted, because the order of the items does not matter and equal counts share a cache entry.
    interval = beta_binomial(tuple(sorted(items)))
    share = sum(x for x, _ in items) / sum(n for _, n in items)
    return EstimatedInterval(
        estimand, Interval(min(interval.low, share), max(interval.high, share))
    )


@lru_cache(maxsize=16384)
def beta_binomial(items: tuple[tuple[int, int], ...]) -> Interval:
    """Return the interval of a share for prompts like these, by a beta-binomial posterior.

    Hits x_i of n_i responses to item i are binomial with a share of its own, drawn from
    Beta(a, b), ``a = mu s``, ``b = (1 - mu) s``, ``s = (1 - rho) / rho``, so that
    ``P(x, n) ~ (a)_x (b)_{n-x} / (a + b)_n`` with ``(a)_x = a (a+1) ... (a+x-1)``. Prior: Jeffreys'
    Beta(1/2, 1/2) on the mean mu, uniform on the correlation rho within an item. The posterior is
    summed on a grid of 120 means ``sin^2(pi/2 (i + 1/2)/120)``, of equal prior weight, by 24
    correlations ``(j + 1/2)/24``. The ends are its 0.025 and 0.975 quantiles, between the grid's
    points by linear interpolation; 0 and 1 where no response or every response is a hit.

    Unequal numbers of responses need nothing further: the likelihood holds for any n_i. With one
    response to each item rho has no influence and the interval is Jeffreys', which is computed
    exactly: quantiles of Beta(x + 1/2, n - x + 1/2).

    Source: docs/uncertainty.md; Jeffreys' interval: Brown, Cai and DasGupta, Statistical
    Science 16 (2001), 101.

    Args:
        items: (hits, responses) of each item, with one response or more.

    >>> jeffreys = beta_binomial(((0, 1), (0, 1), (0, 1), (1, 1), (1, 1)))
    >>> round(jeffreys.low, 4), round(jeffreys.high, 4)
    (0.0944, 0.7906)
    """
    hits, total = sum(x for x, _ in items), sum(n for _, n in items)
    if all(n == 1 for _, n in items):
        low = beta_quantile(LOWER, hits + 0.5, total - hits + 0.5)
        high = beta_quantile(UPPER, hits + 0.5, total - hits + 0.5)
    else:
        low, high = _posterior_quantiles(items)
    return Interval(0.0 if hits == 0 else low, 1.0 if hits == total else high)


def _posterior_quantiles(items: Sequence[tuple[int, int]]) -> tuple[float, float]:
    import numpy as np  # here, because a run of twenty items needs no arrays

    most = max(n for _, n in items)
    log_posterior = _rising([x for x, _ in items], most)
    # The grid of means is symmetric: b at mu is a at 1 - mu.
    log_posterior += _rising([n - x for x, n in items], most)[::-1]
    correlations = (np.arange(CORRELATIONS) + 0.5) / CORRELATIONS
    sizes = (1 - correlations) / correlations
    terms = np.log(sizes[:, None] + np.arange(most))
    log_posterior -= terms @ _times_reached([n for _, n in items], most)
    mass = np.exp(log_posterior - log_posterior.max()).sum(axis=1)
    mass /= mass.sum()
    middle = np.cumsum(mass) - mass / 2
    low, high = np.interp((LOWER, UPPER), middle, _means())
    return float(low), float(high)


def _means() -> NDArray[np.float64]:
    import numpy as np

    means: NDArray[np.float64] = np.sin(np.pi / 2 * (np.arange(MEANS) + 0.5) / MEANS) ** 2
    return means


def _rising(counts: Sequence[int], most: int) -> NDArray[np.float64]:
    """Return the sum over items of log (a)_x on the grid: float64, (means, correlations)."""
    import numpy as np

    reached = _times_reached(counts, most)
    sums = np.zeros((MEANS, CORRELATIONS), dtype=np.float64)
    for start in range(0, most, CACHED_RESPONSES):
        part = reached[start : start + CACHED_RESPONSES]
        if part.any():
            size = 1 << (len(part) - 1).bit_length()
            terms = _logarithms(start, size) if start == 0 else _grid(start, size)
            sums += terms[..., : len(part)] @ part
    return sums


def _times_reached(counts: Sequence[int], most: int) -> NDArray[np.float64]:
    """Return for j = 0 ... most - 1 how many counts are above j: float64, (most,)."""
    import numpy as np

    above = np.zeros(most + 1, dtype=np.float64)
    for count, times in Counter(counts).items():
        above[:count] += times
    return above[:most]


@lru_cache(maxsize=12)
def _logarithms(start: int, size: int) -> NDArray[np.float64]:
    return _grid(start, size)


def _grid(start: int, size: int) -> NDArray[np.float64]:
    """Return log(a + j) for j from ``start``: float64, (means, correlations, size)."""
    import numpy as np

    correlations = (np.arange(CORRELATIONS) + 0.5) / CORRELATIONS
    a = _means()[:, None] * ((1 - correlations) / correlations)[None, :]
    logarithms: NDArray[np.float64] = np.log(a[..., None] + np.arange(start, start + size))
    return logarithms
