"""Intervals of a symptom burden and of a rate: for prompts like these, and for these prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import fsum, log, pi
from typing import TYPE_CHECKING, NamedTuple

from tabwb.scoring.distributions import beta_quantile, chi2_quantile, t_quantile
from tabwb.scoring.estimate import (
    DETERMINISTIC,
    LOWER,
    NO_VALUE,
    UPPER,
    Estimand,
    EstimatedInterval,
    Interval,
    by_item,
    clopper_pearson,
    item_mean,
    missing_reason,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


REPLICATE_CORRELATION = 0.1
"""Lower limit of the correlation of replicates of one item in the interval."""
FEATURE_CORRELATION, PRIOR_FEATURES = 0.4, 2
"""Prior of the correlation of two features of one response, and its weight in found features."""
Z = 1.959963984540054


class Totals(NamedTuple):
    """The responses to one item: how many, the sum of their values, the sum of the squares."""

    n: int
    total: float
    squares: float

    @property
    def mean(self) -> float:
        """The mean value."""
        return self.total / self.n

    @property
    def sum_of_squares(self) -> float:
        """The sum of squared distances from the mean."""
        return max(0.0, self.squares - self.total**2 / self.n)


def totals_of(values: Sequence[float]) -> Totals:
    """Return the totals of the values of one item.

    >>> totals_of([1.0, 0.0, 2.0])
    Totals(n=3, total=3.0, squares=5.0)
    """
    return Totals(len(values), fsum(values), fsum(value * value for value in values))


def totals_of_profiles(
    profiles: Mapping[frozenset[str], int], features: Collection[str]
) -> tuple[Totals, int]:
    """Return the totals of how many of some features are present, and how many responses have any.

    >>> both = frozenset({"jargon", "anomia"})
    >>> totals_of_profiles({both: 3, frozenset(): 1}, ["jargon", "anomia"])
    (Totals(n=4, total=6, squares=12), 3)
    """
    members = frozenset(features)
    numbers = [(len(present & members), n) for present, n in profiles.items()]
    totals = Totals(
        sum(profiles.values()),
        sum(number * n for number, n in numbers),
        sum(number * number * n for number, n in numbers),
    )
    return totals, sum(n for number, n in numbers if number)


def burden_interval(
    values: Sequence[Sequence[float]],
    n_features: int,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    deterministic: bool = False,
    clusters: Sequence[Hashable] | None = None,
) -> EstimatedInterval:
    """Return the 95 % interval of the mean number of features present per response.

    Items have equal weights: the estimate is the mean of the item means.

    Args:
        values: for each item the number of features present in each usable response to it. Items
            without a response are left out.
        n_features: size of the fixed feature set.
        estimand: what the interval is for.
        deterministic: nothing was drawn: another run gives the same responses.
        clusters: of each item, where several items are one unit; None: each item is one.

    >>> found = burden_interval([[0.0]] * 5, 19)
    >>> found.interval.low, round(found.interval.high, 2)
    (0.0, 5.18)
    >>> burden_interval([[1.0]] * 5, 19, Estimand.THESE_PROMPTS, deterministic=True).reason
    'deterministic'
    """
    items = [totals_of(item) for item in values]
    return interval_of_totals(
        items, n_features, estimand, deterministic=deterministic, clusters=clusters
    )


def interval_of_totals(
    values: Sequence[Totals],
    n_features: int,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    deterministic: bool = False,
    clusters: Sequence[Hashable] | None = None,
    items: Sequence[Hashable] | None = None,
) -> EstimatedInterval:
    """Return the interval of :func:`burden_interval` from totals by item.

    Of pooled speakers each total is of one speaker's responses to one item, ``items`` has the
    item and ``clusters`` the speaker of each; see :func:`unit_values`.
    """
    named = range(len(values)) if clusters is None else clusters
    kept = [(cell, unit) for cell, unit in zip(values, named, strict=True) if cell.n]
    cells, units = [cell for cell, _ in kept], [unit for _, unit in kept]
    sizes, own = [cell.n for cell in cells], None
    if items is not None:
        own = [item for cell, item in zip(values, items, strict=True) if cell.n]
    of_units = Counter(units).values() if estimand is Estimand.PROMPTS_LIKE_THESE else sizes
    reason = missing_reason(estimand, list(of_units), deterministic)
    if n_features < 1 and reason != DETERMINISTIC:
        reason = NO_VALUE
    if reason:
        return EstimatedInterval(estimand, None, reason)
    if estimand is Estimand.THESE_PROMPTS:
        return EstimatedInterval(estimand, dispersed_garwood(cells, n_features, own))
    rho = feature_correlation(cells, n_features)
    totals = [cell.total for cell in cells]
    return EstimatedInterval(estimand, ratio_of_items(totals, sizes, n_features, rho, units, own))


def feature_correlation(items: Sequence[Totals], n_features: int) -> float:
    """Return the correlation of two features of one response, shrunk towards a prior.

    With T features found in all R responses, s^2 the variance of the R numbers of features, p the
    mean of the item means over F: ``rho_hat = (s^2 / (F p (1-p)) - 1) / (F - 1)``, 0 where p is 1;
    ``rho = max(0, (T rho_hat + 2 * 0.4) / (T + 2))``. 0 for one feature. Source:
    docs/uncertainty.md.

    >>> nothing, all_in_one = Totals(4, 0, 0), Totals(4, 7, 49)
    >>> feature_correlation([nothing] * 5, 7), feature_correlation([nothing] * 4, 1)
    (0.4, 0.0)
    >>> round(feature_correlation([nothing, nothing, nothing, all_in_one], 7), 3)
    0.927
    """
    found = fsum(item.total for item in items)
    n = sum(item.n for item in items)
    if n_features < 2:
        return 0.0
    if not found or n < 2:
        return FEATURE_CORRELATION
    p = min(fsum(item.mean for item in items) / len(items) / n_features, 1.0)
    spread = n_features * p * (1 - p)
    estimate = 0.0
    if spread > 0:
        variance = (fsum(item.squares for item in items) - found**2 / n) / (n - 1)
        estimate = (variance / spread - 1) / (n_features - 1)
    weighed = found * estimate + PRIOR_FEATURES * FEATURE_CORRELATION
    return max(0.0, weighed / (found + PRIOR_FEATURES))


def design_effect(rho: float, n_features: int) -> float:
    """Return how many times as large correlation makes a variance: ``1 + (F - 1) rho``.

    >>> design_effect(0.5, 7)
    4.0
    """
    return 1 + (n_features - 1) * rho


def by_cluster(means: Sequence[float], clusters: Sequence[Hashable]) -> list[float]:
    """Return a value for each cluster of items: with their mean, and the variance of a ratio.

    With C clusters, y_c the mean of the n_c items of one, m the mean of all K items:
    ``m + C n_c / K (y_c - m)``. The mean of these values is m, and their variance over C is that of
    the ratio estimator. Where each item is a cluster these are the item means.

    >>> by_cluster([1.0, 3.0, 5.0, 7.0], "aabb"), by_cluster([1.0, 3.0], "ab")
    ([2.0, 6.0], [1.0, 3.0])
    """
    members = _members(means, clusters)
    if len(members) == len(means):
        return list(means)
    middle = fsum(means) / len(means)
    scale = len(members) / len(means)
    return [middle + scale * len(own) * (fsum(own) / len(own) - middle) for own in members]


def unit_values(
    totals: Sequence[float],
    sizes: Sequence[int],
    clusters: Sequence[Hashable],
    items: Sequence[Hashable],
) -> list[float]:
    """Return values of clusters whose variance is that of the mean of item means, from cells.

    A cell is the responses of one cluster (a speaker) to one item. With K items, m_i the mean of
    all n_i responses to item i and m the mean of these, the value of each of C clusters is ``m +
    C/K sum (total - n m_i) / n_i`` over its cells: the linearised mean, whose variance over
    clusters is that of the estimate (Cochran 1977, Sampling Techniques, 6.3). The item of a single
    cell takes m in the place of m_i; where all items are so these are :func:`by_cluster`.

    >>> unit_values([3, 0, 1, 1], [3, 1, 1, 1], "abab", "xyyx")
    [1.0, 0.5]
    """
    of_items = dict(
        zip(dict.fromkeys(items), zip(*by_item(totals, sizes, items), strict=True), strict=True)
    )
    parts: dict[Hashable, list[float]] = {}
    middle = fsum(total / n for total, n in of_items.values()) / len(of_items)
    times = Counter(items)
    for total, n, cluster, item in zip(totals, sizes, clusters, items, strict=True):
        of_item, responses = of_items[item]
        mean = of_item / responses if times[item] > 1 else middle
        parts.setdefault(cluster, []).append((total - n * mean) / responses)
    scale = len(parts) / len(of_items)
    return [middle + scale * fsum(own) for own in parts.values()]


def ratio_of_items(
    totals: Sequence[float],
    sizes: Sequence[int],
    n_features: int,
    rho: float,
    clusters: Sequence[Hashable],
    items: Sequence[Hashable] | None,
) -> Interval:
    """Return :func:`korn_graubard` of cells of an item and a cluster; None: each is an item."""
    if items is None:
        means = [total / n for total, n in zip(totals, sizes, strict=True)]
        return korn_graubard(means, sizes, n_features, rho, clusters)
    sums, responses = by_item(totals, sizes, items)
    means = [total / n for total, n in zip(sums, responses, strict=True)]
    units = unit_values(totals, sizes, clusters, items)
    return korn_graubard(means, responses, n_features, rho, units=units)


def cluster_parts(means: Sequence[float], clusters: Sequence[Hashable]) -> list[float]:
    """Return what each cluster adds to the mean of the items, times the number of clusters.

    With C clusters of K items in all: ``C / K sum of y``. Their mean is that of the items; signs
    are flipped by these. Where each item is a cluster these are the item means.

    >>> cluster_parts([1.0, 3.0, 8.0], "aab"), cluster_parts([1.0, 3.0], "ab")
    ([2.6666666666666665, 5.333333333333333], [1.0, 3.0])
    """
    members = _members(means, clusters)
    if len(members) == len(means):
        return list(means)
    return [len(members) / len(means) * fsum(own) for own in members]


def _members(means: Sequence[float], clusters: Sequence[Hashable]) -> list[list[float]]:
    """Return the means of the items of each cluster, in the order in which clusters come first."""
    members: dict[Hashable, list[float]] = {}
    for mean, cluster in zip(means, clusters, strict=True):
        members.setdefault(cluster, []).append(mean)
    return list(members.values())


def korn_graubard(
    means: Sequence[float],
    replicates: Sequence[int],
    n_features: int,
    rho: float = 0.0,
    clusters: Sequence[Hashable] | None = None,
    *,
    units: Sequence[float] | None = None,
) -> Interval:
    """Return the interval of a burden for prompts like these (two items or more).

    With k items, r replicates, F features, y the item means: ``N = krF / (1 + (F-1) rho)``,
    ``p = mean(y)/F``, ``v = var(y)/(k F^2)``, ``q = (t_{krF-1} / t_{k-1})^2`` at 0.975,
    ``n = min(p(1-p)/v q, N / (1 + (r-1) 0.1))``; the interval is F times the exact binomial
    interval of ``n p`` of ``n``. The second term of the minimum is a lower limit on the
    correlation of replicates and of features, for item means that are equal.

    Unequal replicates r_i (missing or unusable responses): kr in N becomes
    ``R = k^2 / sum(1 / r_i)`` and r becomes R / k. With clusters of items, k is their number and
    y the values of :func:`by_cluster`, or of :func:`unit_values` (``units``); R stays that of the
    items.

    Source: Korn and Graubard, Survey Methodology 24 (1998), 193; the lower limits:
    docs/uncertainty.md.

    >>> found = korn_graubard([4.0, 3.0, 1.8, 4.2, 2.4], [10] * 5, 19)
    >>> round(found.low, 4), round(found.high, 4)
    (1.9062, 4.5946)
    """
    if units is None:
        units = means if clusters is None else by_cluster(means, clusters)
    p, n = effective_size(means, replicates, n_features, rho, units)
    share = clopper_pearson(min(n * p, n), n)
    assert share is not None
    return Interval(n_features * share.low, n_features * share.high)


def effective_size(
    means: Sequence[float],
    replicates: Sequence[int],
    n_features: int,
    rho: float,
    units: Sequence[float],
) -> tuple[float, float]:
    """Return p and n of :func:`korn_graubard`; the variance is that of the units' values."""
    k = len(units)
    if k < 2:
        raise ValueError("an interval for prompts like these needs two items or more")
    p = min(fsum(means) / len(means) / n_features, 1.0)
    variance = sum_of_squares(units) / (k - 1) / k / n_features**2
    responses = effective_responses(replicates)
    size = responses * n_features / design_effect(rho, n_features)
    n = size / (1 + (responses / k - 1) * REPLICATE_CORRELATION)
    if variance > 0 and 0 < p < 1:
        whole = t_quantile(UPPER, sum(replicates) * n_features - 1)
        n = min(n, p * (1 - p) / variance * (whole / t_quantile(UPPER, k - 1)) ** 2)
    return p, n


def dispersed_garwood(
    values: Sequence[Totals], n_features: int, items: Sequence[Hashable] | None = None
) -> Interval:
    """Return the interval of a burden for these prompts (two responses to some item, at least).

    With k items, r replicates, s_i^2 the variance of the responses to an item, m the mean of the
    item means, T features found, F features: ``V = sum s_i^2 / (k^2 r)``, ``phi_hat = V kr / m``,
    ``phi = max(1, (T phi_hat + 2 D) / (T + 2))`` with ``D = 1 + (F-1) 0.4``,
    ``n = kr / phi (1.96 / t_{k(r-1)})^2``; limits ``chi2_{.025}(2mn) / 2n`` and
    ``chi2_{.975}(2mn + 2) / 2n``.

    Unequal replicates r_i: ``V = sum (s_i^2 / r_i) / k^2``, kr becomes ``k^2 / sum(1 / r_i)`` and
    the degrees of freedom the number of responses less k. An item with one response takes the
    pooled s^2. Of pooled speakers (``items``, as in :func:`interval_of_totals`) s^2 is that of
    one speaker's responses to one item, with the weight that they have in the mean.

    Source: Garwood, Biometrika 28 (1936), 437 (Poisson limits); the dispersion:
    docs/uncertainty.md.

    >>> found = dispersed_garwood([Totals(2, 0, 0)] * 5, 19)
    >>> found.low, round(found.high, 2)
    (0.0, 5.2)
    """
    sums, sizes = [item.total for item in values], [item.n for item in values]
    shares = [1.0] * len(values)
    if items is not None:
        sums, sizes = by_item(sums, sizes, items)
        of_item = dict(zip(dict.fromkeys(items), sizes, strict=True))
        shares = [one.n / of_item[item] for one, item in zip(values, items, strict=True)]
    k, df = len(sizes), sum(sizes) - len(values)
    if df < 1:
        raise ValueError("an interval for these prompts needs two responses to an item")
    mean = fsum(total / n for total, n in zip(sums, sizes, strict=True)) / k
    found = fsum(item.total for item in values)
    responses = effective_responses(sizes)
    pooled = fsum(item.sum_of_squares for item in values) / df
    variance = (
        fsum(
            (one.sum_of_squares / (one.n - 1) if one.n > 1 else pooled) / one.n * share**2
            for one, share in zip(values, shares, strict=True)
        )
        / k**2
    )
    estimate = variance * responses / mean if mean > 0 else 1.0
    prior = PRIOR_FEATURES * design_effect(FEATURE_CORRELATION, n_features)
    phi = max(1.0, (found * estimate + prior) / (found + PRIOR_FEATURES))
    n = responses / phi * (Z / t_quantile(UPPER, df)) ** 2
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
    """Return how many responses, evenly spread, give as exact a mean: ``k^2 / sum(1 / r_i)``.

    >>> effective_responses([4, 4]), round(effective_responses([1, 7]), 3)
    (8.0, 3.5)
    """
    if min(replicates) == max(replicates):  # k r, without the rounding of k thirds
        return float(sum(replicates))
    return len(replicates) ** 2 / fsum(1 / r for r in replicates)


MEANS, CORRELATIONS = 120, 24
"""Points of the grid: of the mean, and of the correlation of responses within an item."""
CACHED_RESPONSES = 512
"""Number of responses to one item up to which the grid's logarithms are cached."""


def rate_interval(
    hits: Sequence[int],
    responses: Sequence[int],
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    deterministic: bool = False,
    clusters: Sequence[Hashable] | None = None,
    items: Sequence[Hashable] | None = None,
) -> EstimatedInterval:
    """Return the 95 % interval of a share, from counts per item.

    The share is the mean of the items' shares. For these prompts: the exact (Clopper-Pearson)
    interval of this share of ``k^2 / sum(1 / r_i)`` responses, which is somewhat too wide when the
    items' shares differ. The interval for prompts like these (:func:`beta_binomial`, over clusters
    where there are any) is extended to the share where it does not contain it.

    ``hits`` are for each item the responses with the feature, or the right answers, of its usable
    ``responses``; items without any are left out. Of pooled speakers (``items``, as in
    :func:`interval_of_totals`) the interval for prompts like these is that of a burden of one
    feature. The rest is as in :func:`burden_interval`.

    >>> found = rate_interval([2, 0, 1, 1, 2], [10] * 5)
    >>> round(found.interval.low, 3), round(found.interval.high, 3)
    (0.054, 0.377)
    """
    pairs = list(zip(hits, responses, strict=True))
    if any(not 0 <= x <= n for x, n in pairs):
        raise ValueError("hits must be between 0 and the number of responses of their item")
    named = range(len(pairs)) if clusters is None else clusters
    of_items = range(len(pairs)) if items is None else items
    places = [item for (_, n), item in zip(pairs, of_items, strict=True) if n]
    kept = [(int(x), int(n), unit) for (x, n), unit in zip(pairs, named, strict=True) if n]
    sizes = [n for _, n, _ in kept]
    units = counts_by_unit(kept)
    counted = [n for _, n in units] if estimand is Estimand.PROMPTS_LIKE_THESE else sizes
    if reason := missing_reason(estimand, counted, deterministic):
        return EstimatedInterval(estimand, None, reason)
    counts = [x for x, _, _ in kept]
    share = item_mean(counts, sizes, NO_VALUE, None if items is None else places).value
    assert share is not None
    if estimand is Estimand.THESE_PROMPTS:
        even = effective_responses(sizes if items is None else by_item(counts, sizes, places)[1])
        return EstimatedInterval(estimand, clopper_pearson(min(share * even, even), even))
    if items is not None:
        own = [unit for _, _, unit in kept]
        return EstimatedInterval(estimand, ratio_of_items(counts, sizes, 1, 0.0, own, places))
    interval = beta_binomial(units)
    return EstimatedInterval(
        estimand, Interval(min(interval.low, share), max(interval.high, share))
    )


def counts_by_unit(counted: Iterable[tuple[int, int, Hashable]]) -> tuple[tuple[int, int], ...]:
    """Return (hits, responses) of each item, or cluster of items, sorted.

    The order does not matter to a posterior, and equal counts share a cache entry.

    >>> counts_by_unit([(2, 3, "a"), (0, 1, "b"), (1, 1, "a")])
    ((0, 1), (3, 4))
    """
    units: dict[Hashable, tuple[int, int]] = {}
    for x, n, unit in counted:
        before = units.get(unit, (0, 0))
        units[unit] = before[0] + x, before[1] + n
    return tuple(sorted(units.values()))


@lru_cache(maxsize=16384)
def beta_binomial(items: tuple[tuple[int, int], ...]) -> Interval:
    """Return the interval of a share for prompts like these, by a beta-binomial posterior.

    Hits x_i of n_i responses to item i are binomial with a share of the item, drawn from
    Beta(a, b), ``a = mu s``, ``b = (1 - mu) s``, ``s = (1 - rho) / rho``, so that
    ``P(x, n) ~ (a)_x (b)_{n-x} / (a + b)_n`` with ``(a)_x = a (a+1) ... (a+x-1)``. Prior: Jeffreys'
    Beta(1/2, 1/2) on the mean mu, uniform on the correlation rho within an item. The posterior is
    summed on a grid of 120 means ``sin^2(pi/2 (i + 1/2)/120)``, of equal prior weight, by 24
    correlations ``(j + 1/2)/24``. The ends are its 0.025 and 0.975 quantiles, between the grid's
    points by linear interpolation; 0 and 1 where no response or every response is a hit.

    With one response to each item rho has no influence and the interval is Jeffreys', which is
    computed exactly: quantiles of Beta(x + 1/2, n - x + 1/2). Source: docs/uncertainty.md; Brown,
    Cai and DasGupta, Statistical Science 16 (2001), 101.

    >>> jeffreys = beta_binomial(((0, 1), (0, 1), (0, 1), (1, 1), (1, 1)))
    >>> round(jeffreys.low, 4), round(jeffreys.high, 4)
    (0.0944, 0.7906)
    """
    hits, total = sum(x for x, _ in items), sum(n for _, n in items)
    if all(n == 1 for _, n in items):
        low = beta_quantile(LOWER, hits + 0.5, total - hits + 0.5)
        high = beta_quantile(UPPER, hits + 0.5, total - hits + 0.5)
    else:
        import numpy as np  # here, because a run of twenty items needs no arrays

        low, high = map(float, np.interp((LOWER, UPPER), _posterior(items), _means()))
    return Interval(0.0 if hits == 0 else low, 1.0 if hits == total else high)


def drawn_shares(
    items: tuple[tuple[int, int], ...], draws: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return draws of the share whose interval is :func:`beta_binomial`: float64, (draws,)."""
    import numpy as np

    if all(n == 1 for _, n in items):
        hits = sum(x for x, _ in items)
        return generator.beta(hits + 0.5, len(items) - hits + 0.5, draws)
    return np.interp(generator.random(draws), _posterior(items), _means())


def _posterior(items: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """Return the distribution function of the mean at the points of the grid: float64, (means,)."""
    import numpy as np

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
    middle: NDArray[np.float64] = np.cumsum(mass) - mass / 2
    return middle


def _means() -> NDArray[np.float64]:
    import numpy as np

    means: NDArray[np.float64] = np.sin(np.pi / 2 * (np.arange(MEANS) + 0.5) / MEANS) ** 2
    return means


def _rising(counts: Sequence[int], most: int) -> NDArray[np.float64]:
    """Return the sum over items of log (a)_x on the grid."""
    reached = _times_reached(counts, min(most, CACHED_RESPONSES))
    size = 1 << (len(reached) - 1).bit_length()
    sums: NDArray[np.float64] = _grid(size)[..., : len(reached)] @ reached
    for count, times in Counter(counts).items():
        if count > CACHED_RESPONSES:
            a = _parameters()
            sums += times * (_log_gamma(a + count) - _log_gamma(a + CACHED_RESPONSES))
    return sums


def _log_gamma(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log gamma of numbers from :data:`CACHED_RESPONSES` on, by Stirling's series.

    ``(z - 1/2) log z - z + log(2 pi)/2 + 1/(12 z) - 1/(360 z^3)``; the next term is below 1e-16.
    """
    import numpy as np

    stirling: NDArray[np.float64] = (
        (z - 0.5) * np.log(z) - z + log(2 * pi) / 2 + 1 / (12 * z) - 1 / (360 * z**3)
    )
    return stirling


def _times_reached(counts: Sequence[int], most: int) -> NDArray[np.float64]:
    """Return for j = 0 ... most - 1 how many counts are above j: float64, (most,)."""
    import numpy as np

    above = np.zeros(most + 1, dtype=np.float64)
    for count, times in Counter(counts).items():
        above[:count] += times
    return above[:most]


def _parameters() -> NDArray[np.float64]:
    """Return a on the grid: float64, (means, correlations)."""
    import numpy as np

    correlations = (np.arange(CORRELATIONS) + 0.5) / CORRELATIONS
    a: NDArray[np.float64] = _means()[:, None] * ((1 - correlations) / correlations)[None, :]
    return a


@lru_cache(maxsize=12)
def _grid(size: int) -> NDArray[np.float64]:
    """Return log(a + j) for j from 0: float64, (means, correlations, size)."""
    import numpy as np

    logarithms: NDArray[np.float64] = np.log(_parameters()[..., None] + np.arange(size))
    return logarithms


def former_burden(items: Sequence[Totals]) -> float | None:
    """Return the mean over all responses, the burden before 0.2.0; for :mod:`tabwb.analysis.moved`.

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
