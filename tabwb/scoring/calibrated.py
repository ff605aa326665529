"""Rates and burden of a judge after calibration with people's verdicts.

A verdict v of the judge stands for p(v), the share of people who find the feature where the judge
says v. Samples of known consensus estimate it: with k of n samples of verdict v present, its
posterior is Beta(k + 1/2, n - k + 1/2) (Jeffreys' prior; Brown, Cai and DasGupta, Statist. Sci. 16
(2001), 101). The rate of a feature is the mean over items of the mean of p(v) over responses, the
burden the sum of the rates. No label is made of p(v): a feature that people find in .10 of the
responses would vanish wherever p(1) is below 1/2.

Intervals draw p(0) and p(1) of each feature from their posteriors and, for each draw, the share or
the burden that the items leave open, so that the error of the calibration is in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from tabwb.scoring.distributions import t_quantile
from tabwb.scoring.estimate import (
    LOWER,
    UPPER,
    Estimand,
    EstimatedInterval,
    Interval,
    by_item,
    missing_reason,
)
from tabwb.scoring.intervals import (
    REPLICATE_CORRELATION,
    Z,
    by_cluster,
    counts_by_unit,
    design_effect,
    drawn_shares,
    effective_responses,
    effective_size,
    feature_correlation,
    totals_of_profiles,
    unit_values,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST = 10
"""Samples of a verdict from which on it is calibrated."""
DRAWS = 4000
SEED = 20261
NO_CATEGORY_RATE = (
    "calibration is by feature: how often features of a category come together is not known"
)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the verdicts *absent* and *present* on one feature stand for.

    Attributes:
        samples: with the verdict absent, and present.
        of: the same, as effective numbers where samples have unequal weights.
        found: of these, in how many people find the feature.
        verdicts: of people behind them.
        prompts: different ones that the samples answer; samples are taken as independent.
    """

    samples: tuple[int, int]
    of: tuple[float, float]
    found: tuple[float, float]
    verdicts: int = 0
    prompts: int = 0

    def known(self, verdict: int) -> bool:
        """Whether enough samples have the verdict."""
        return self.samples[verdict] >= FEWEST

    @property
    def complete(self) -> bool:
        """Whether both verdicts are calibrated."""
        return self.known(0) and self.known(1)

    def probability(self, verdict: int) -> float:
        """Return p(v), the mean of its posterior: ``(k + 1/2) / (n + 1)``.

        >>> Calibration((17, 12), (17, 12), (5, 9)).probability(1)
        0.7307692307692307
        """
        return (self.found[verdict] + 0.5) / (self.of[verdict] + 1)

    def unknown(self, verdict: int) -> str:
        """Return why a verdict stands for no probability."""
        n, word = self.samples[verdict], ("absent", "present")[verdict]
        return f"the verdict {word} is not calibrated: {n} of {FEWEST} samples"

    def rate(self, share: float) -> float:
        """Return the calibrated rate where the judge finds the feature in a share of responses."""
        return self.probability(0) + share * (self.probability(1) - self.probability(0))

    def to_json(self) -> dict[str, object]:
        """Return as plain data."""
        made: dict[str, object] = {
            word: {
                "samples": self.samples[verdict],
                "people": self.found[verdict],
                "p": self.probability(verdict) if self.known(verdict) else None,
            }
            for verdict, word in enumerate(("absent", "present"))
        }
        return {**made, "verdicts_of_people": self.verdicts}

    @property
    def relative_variance(self) -> float:
        """The variance of p(1) - p(0), of their posteriors, over its square."""
        parts = [(self.probability(v), self.of[v]) for v in (0, 1)]
        difference = self.probability(1) - self.probability(0)
        variance = fsum(p * (1 - p) / (n + 2) for p, n in parts)
        return variance / max(difference**2, 1e-12)


def calibrated_rates(
    profiles: Sequence[Mapping[frozenset[str], int]],
    calibration: Mapping[str, Calibration],
    items: Sequence[Hashable] | None = None,
) -> dict[str, float]:
    """Return the rate of each feature: the mean over items of the mean of p(v) over responses.

    Profiles are sets of features that the judge finds, to the number of responses; ``items`` has
    the item of each, where several are of one.

    >>> known = Calibration((17, 12), (17, 12), (5, 9))
    >>> found = calibrated_rates([{frozenset({"jargon"}): 1, frozenset(): 1}], {"jargon": known})
    >>> round(found["jargon"], 6), round((9.5 / 13 + 5.5 / 18) / 2, 6)
    (0.518162, 0.518162)
    """
    named = range(len(profiles)) if items is None else items
    merged: dict[Hashable, list[Mapping[frozenset[str], int]]] = {}
    for one, item in zip(profiles, named, strict=True):
        merged.setdefault(item, []).append(one)
    given = [(own, sum(sum(one.values()) for one in own)) for own in merged.values()]
    given = [(own, n) for own, n in given if n]
    if not given:
        return {}
    shares = {
        name: fsum(
            sum(times for one in own for profile, times in one.items() if name in profile) / n
            for own, n in given
        )
        / len(given)
        for name in calibration
    }
    return {name: known.rate(shares[name]) for name, known in calibration.items()}


def calibrated_rate_interval(
    hits: Sequence[int],
    responses: Sequence[int],
    calibration: Calibration,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    deterministic: bool = False,
    clusters: Sequence[Hashable] | None = None,
    items: Sequence[Hashable] | None = None,
) -> EstimatedInterval:
    """Return the 95 % interval of a calibrated rate, from the judge's verdicts per item.

    Each draw is ``p(0) + q (p(1) - p(0))`` with p(0), p(1) from their posteriors and q from that of
    the judge's own rate: for prompts like these the beta-binomial posterior, for these prompts the
    two Beta distributions of the exact interval; where nothing is drawn q is what was observed.

    ``hits`` are for each item the responses in which the judge finds the feature, of its
    ``responses`` with a burden. The rest: :func:`~tabwb.scoring.intervals.burden_interval`.
    """
    import numpy as np

    named = range(len(hits)) if clusters is None else clusters
    of_items = range(len(hits)) if items is None else items
    given = [one for one in zip(hits, responses, named, of_items, strict=True) if one[1]]
    kept, places = [(x, n, unit) for x, n, unit, _ in given], [item for *_, item in given]
    pairs = [(x, n) for x, n, _ in kept]
    units = counts_by_unit(kept)
    counted = units if estimand is Estimand.PROMPTS_LIKE_THESE else pairs
    reason = missing_reason(estimand, [n for _, n in counted], deterministic=False)
    fixed = deterministic and estimand is Estimand.THESE_PROMPTS
    if reason and not (fixed and pairs):
        return EstimatedInterval(estimand, None, reason)
    generator = np.random.Generator(np.random.PCG64(SEED))
    p = _probabilities([calibration], generator)[:, :, 0]
    counts, sizes = by_item([x for x, _ in pairs], [n for _, n in pairs], places)
    share = fsum(x / n for x, n in zip(counts, sizes, strict=True)) / len(sizes)
    if fixed:
        shares: tuple[object, object] = (share, share)
    elif estimand is Estimand.PROMPTS_LIKE_THESE and items is not None:
        given_sizes, clustered = [n for _, n in pairs], [unit for *_, unit in kept]
        own = unit_values([x for x, _ in pairs], given_sizes, clustered, places)
        means = [x / n for x, n in zip(counts, sizes, strict=True)]
        _, size = effective_size(means, sizes, 1, 0.0, own)
        x = min(share * size, size)
        shares = _beta(x, size - x + 1, generator), _beta(x + 1, size - x, generator)
    elif estimand is Estimand.PROMPTS_LIKE_THESE:
        drawn = drawn_shares(units, DRAWS, generator)
        shares = drawn, drawn
    else:
        x, n = sum(x for x, _ in pairs), sum(n for _, n in pairs)
        shares = _beta(x, n - x + 1, generator), _beta(x + 1, n - x, generator)
    ends = np.stack([p[0] + np.asarray(q) * (p[1] - p[0]) for q in shares])
    return EstimatedInterval(estimand, _around(ends.min(axis=0), ends.max(axis=0),
                                               calibration.rate(share)))  # fmt: skip


def calibrated_burden_interval(
    profiles: Sequence[Mapping[frozenset[str], int]],
    calibration: Mapping[str, Calibration],
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    deterministic: bool = False,
    clusters: Sequence[Hashable] | None = None,
    items: Sequence[Hashable] | None = None,
) -> EstimatedInterval:
    """Return the 95 % interval of a calibrated burden.

    Samples with several features make errors of p(v) alike: those of one verdict are drawn with the
    correlation of the judge's features
    (:func:`~tabwb.scoring.intervals.feature_correlation`). For each draw of all p(0) and p(1) a
    response has the score ``sum of p(v)`` over the features,
    between L and U, the sums of the smaller and of the larger of both. With u the mean over items
    of the scores' item means, scaled to 0 and 1 by L and U, the rest is the interval of a burden on
    that scale (:func:`tabwb.scoring.intervals.burden_interval`): an effective number n of
    observations from the variance of u between items (these prompts: within items), and at most
    that of observations with this correlation. The draw then takes a value from
    Beta(nu, n - nu + 1) for the low end and Beta(nu + 1, n - nu) for the high end, whose quantiles
    are the exact interval's ends. Without an error of the calibration it is that of the judge.
    """
    import numpy as np

    named = range(len(profiles)) if clusters is None else clusters
    of_items = range(len(profiles)) if items is None else items
    kept = [one for one in zip(profiles, named, of_items, strict=True) if sum(one[0].values())]
    cells, units = [cell for cell, _, _ in kept], [unit for _, unit, _ in kept]
    places = [place for _, _, place in kept]
    sizes = [sum(cell.values()) for cell in cells]
    counted = Counter(units).values() if estimand is Estimand.PROMPTS_LIKE_THESE else sizes
    reason = missing_reason(estimand, list(counted), deterministic=False)
    fixed = deterministic and estimand is Estimand.THESE_PROMPTS
    if reason and not (fixed and cells):
        return EstimatedInterval(estimand, None, reason)
    generator = np.random.Generator(np.random.PCG64(SEED))
    names = list(calibration)
    totals = [totals_of_profiles(cell, names)[0] for cell in cells]
    rho = min(1.0, feature_correlation(totals, len(names)))
    rows = [
        np.array([[name in profile for name in names] for profile in cell], np.float64)
        for cell in cells
    ]
    times = [np.array(list(cell.values()), np.float64) for cell in cells]
    found = [n @ row for n, row in zip(times, rows, strict=True)]
    sums, responses = by_item(found, sizes, places)
    means = np.array([total / n for total, n in zip(sums, responses, strict=True)])
    p = _probabilities([calibration[name] for name in names], generator, rho)
    weights, base = p[1] - p[0], p[0].sum(axis=1)
    middle = base + weights @ means.mean(axis=0)
    estimate = fsum(
        calibration[name].rate(share)
        for name, share in zip(names, means.mean(axis=0).tolist(), strict=True)
    )
    if fixed:
        return EstimatedInterval(estimand, _around(middle, middle, estimate))
    k = len(set(units))
    size = effective_responses(responses) * len(names) / design_effect(rho, len(names))
    if estimand is Estimand.PROMPTS_LIKE_THESE:
        own = np.array(
            [by_cluster(column, units) for column in means.T.tolist()]
            if items is None
            else [unit_values(one, sizes, units, places) for one in np.array(found).T.tolist()]
        )
        spread = np.cov(own, ddof=1).reshape(len(names), len(names)) / k
        size /= 1 + (effective_responses(responses) / k - 1) * REPLICATE_CORRELATION
        df = k - 1.0
    else:
        of_item = dict(zip(dict.fromkeys(places), responses, strict=True))
        shares = [n / of_item[place] for n, place in zip(sizes, places, strict=True)]
        spread, df = _within(rows, times, shares, len(responses))
    least, most = p.min(axis=0).sum(axis=1), p.max(axis=0).sum(axis=1)
    width = np.maximum(most - least, 1e-12)
    u = np.clip((middle - least) / width, 0.0, 1.0)
    variance = np.einsum("mf,fg,mg->m", weights, spread, weights) / width**2
    q = (Z / t_quantile(UPPER, df)) ** 2
    n = np.minimum(u * (1 - u) / np.maximum(variance, 1e-300) * q, size)
    n = np.where((variance > 0) & (u > 0) & (u < 1), n, size)
    low = least + width * _beta(n * u, n - n * u + 1, generator)
    high = least + width * _beta(n * u + 1, n - n * u, generator)
    return EstimatedInterval(estimand, _around(low, high, estimate))


def _within(
    rows: Sequence[NDArray[np.float64]],
    times: Sequence[NDArray[np.float64]],
    shares: Sequence[float],
    k: int,
) -> tuple[NDArray[np.float64], float]:
    """Return the covariance of the mean over k items from draws alone, and its df.

    ``shares`` is the part of the responses to its item that each of the cells has.
    """
    import numpy as np

    features = rows[0].shape[1]
    squares = []
    for row, n in zip(rows, times, strict=True):
        away = row - n @ row / n.sum()
        squares.append((away * n[:, None]).T @ away)
    sizes = [float(n.sum()) for n in times]
    df = fsum(sizes) - len(sizes)
    pooled = np.sum(squares, axis=0) / df
    total = np.zeros((features, features))
    for square, r, share in zip(squares, sizes, shares, strict=True):
        total += (square / (r - 1) if r > 1 else pooled) / r * share**2
    return total / k**2, df


def _probabilities(
    calibrations: Sequence[Calibration], generator: np.random.Generator, rho: float = 0.0
) -> NDArray[np.float64]:
    """Return draws of p(0) and p(1)."""
    import numpy as np

    shape = DRAWS, len(calibrations)
    drawn = np.empty((2, *shape))
    for v in (0, 1):
        found, of = (np.array([given[v] for given in column]) for column in zip(
            *((one.found, one.of) for one in calibrations), strict=True))  # fmt: skip
        sorted_draws = np.sort(generator.beta(found + 0.5, of - found + 0.5, shape), axis=0)
        common, own = generator.standard_normal((DRAWS, 1)), generator.standard_normal(shape)
        ranks = (np.sqrt(rho) * common + np.sqrt(1 - rho) * own).argsort(axis=0).argsort(axis=0)
        drawn[v] = np.take_along_axis(sorted_draws, ranks, axis=0)
    return drawn


def _beta(a: object, b: object, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return draws of Beta(a, b); 0 where a is 0, 1 where b is."""
    import numpy as np

    first, second = (np.broadcast_to(np.asarray(shape, float), DRAWS) for shape in (a, b))
    tiny = 1e-9
    drawn = generator.beta(np.maximum(first, tiny), np.maximum(second, tiny))
    found: NDArray[np.float64] = np.where(first <= tiny, 0.0, np.where(second <= tiny, 1.0, drawn))
    return found


def _around(low: NDArray[np.float64], high: NDArray[np.float64], estimate: float) -> Interval:
    import numpy as np

    ends = float(np.quantile(low, LOWER)), float(np.quantile(high, UPPER))
    return Interval(min(ends[0], estimate), max(ends[1], estimate))
