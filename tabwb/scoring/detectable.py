"""The smallest difference of two examinees that a design can show."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tabwb.scoring.differences import sampling_floor
from tabwb.scoring.distributions import noncentral_t_tail, t_quantile
from tabwb.scoring.dose import FEW_SEEDS, LEAST_SEEDS
from tabwb.scoring.estimate import (
    ALPHA,
    ONE_ITEM,
    ONE_RESPONSE,
    UPPER,
    Estimand,
    Estimate,
)
from tabwb.scoring.intervals import Z, effective_responses
from tabwb.scoring.permutation import smallest_p

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

POWER = 0.8
DISPERSION = 2.0
"""phi: variance of a burden over its mean, within an item, unless piloted."""
ITEM_VARIATION = 0.25
"""CV: how much item means differ, as a share of the burden, unless piloted."""
ITEM_CORRELATION = 0.6
"""Between two examinees' item means; 1.2 in the formula is twice this."""
ACCURACY_BETWEEN_ITEMS = 0.3
"""Share of the variance of right and wrong that lies between items, unless piloted [ours]."""
ITEM_SPREAD = 0.831
"""Variance of the normal terms of items that leaves this share there, for an accuracy of .5."""
BURDEN = 1.0
ACCURACY = 0.5
"""Of the first examinee, unless piloted: where a difference is hardest to show."""
STUDIES = 1000
SEED = 20262
EXACT, FLIPS = 11, 1000
"""Items up to which all signs are counted in a simulated study; beyond, so many are drawn."""
SUMMED = 300
"""Responses of a side from which on only their sums are drawn."""
DEGREES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 40.0, 80.0, 200.0, 1000.0, 1e5)
OUT_OF_RANGE = "no possible difference is large enough"
MOST_OF_ALL = "only a difference of more than half of all features"


@dataclass(frozen=True, slots=True)
class Design:
    """The k items that both of two examinees are given, and r responses to each.

    The harmonic mean where they are unequal; where nothing is drawn, one response to an item. For
    prompts like these a cluster of items takes the place of an item (``unit`` is then
    ``clusters``), with the responses to all of them: items of one theme are taken as alike [ours].
    """

    items: int
    replicates: float
    unit: str = "items"


def design_of(counts: Mapping[Any, int], clusters: Mapping[Any, Hashable]) -> Design:
    """Return the design of so many responses to each item.

    >>> design_of({"a": 4, "b": 4, "c": 8}, {})
    Design(items=3, replicates=4.8, unit='items')
    >>> design_of({"a": 4, "b": 4, "c": 8}, {"a": "sea", "b": "sea"})
    Design(items=2, replicates=8.0, unit='clusters')
    """
    units: dict[Hashable, int] = {}
    for item, n in counts.items():
        unit = ("cluster", clusters[item]) if item in clusters else item
        units[unit] = units.get(unit, 0) + n
    sizes = list(units.values())
    unit = "items" if len(units) == len(counts) else "clusters"
    return Design(len(units), effective_responses(sizes) / len(units), unit)


@lru_cache(maxsize=256)
def detection_factor(df: float) -> float:
    """Return c(df): how many standard errors a difference must have to be found.

    The noncentrality at which a two-sided t test at .05 rejects with power .8:
    ``P(T_df(c) > t_{.975, df}) = 0.8``.

    >>> [round(detection_factor(df), 2) for df in (4, 9, 190)]
    [3.76, 3.15, 2.82]
    """
    critical = t_quantile(UPPER, df)
    most = 4 * critical + 4
    return _least(lambda at: noncentral_t_tail(critical, df, at) >= POWER, most, share=1e-9)


def _least(
    holds: Callable[[float], bool], high: float, *, share: float = 0.0, apart: float = 0.0
) -> float:
    """Return by bisection the least number above 0 from which on it holds, as at ``high``."""
    low = 0.0
    while high - low > share * high + apart:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def never(items: int, unit: str = "items") -> str:
    """Return why so few items (or clusters) cannot show a difference, or empty where they can.

    >>> never(5), never(6)
    ('sign flips over 5 items never reach .05', '')
    """
    few = smallest_p(items) >= ALPHA
    return f"sign flips over {items} {unit} never reach .05" if few else ""


def simulated_test(estimand: Estimand) -> str:
    """Return the name of the test of a difference whose power is simulated."""
    like = estimand is Estimand.PROMPTS_LIKE_THESE
    return "sign flips over items with t" if like else "labels permuted within items with Welch's t"


def detectable_burden(
    design: Design,
    n_features: int,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    burden: float = BURDEN,
) -> Estimate:
    """Return the smallest difference in burden that is found in 4 of 5 simulated studies.

    The first examinee has the burden A, the other A + delta. Of 1,000 studies with a fixed seed the
    smallest delta is returned with which the test in use has p < .05 in 80 %. Responses vary with
    2 x their mean. For prompts like these item means vary by 25 % of the burden, with a correlation
    of .6 between the two. Source: docs/uncertainty.md.

    >>> detectable_burden(Design(5, 20), 19).reason
    'sign flips over 5 items never reach .05'
    """
    return _found(_Study(design, estimand, min(burden, n_features), n_features))


def detectable_accuracy(
    design: Design,
    estimand: Estimand = Estimand.PROMPTS_LIKE_THESE,
    *,
    accuracy: float = ACCURACY,
) -> Estimate:
    """Return the smallest difference in accuracy that is found in 4 of 5 simulated studies.

    As :func:`detectable_burden`, for accuracies A and A + delta. For prompts like these the share
    right of an item is the normal distribution function of a normal term of variance
    :data:`ITEM_SPREAD` [ours], which leaves 30 % of the variance of right and wrong between items.

    >>> detectable_accuracy(Design(6, 1)).reason
    'no possible difference is large enough'
    """
    return _found(_Study(design, estimand, accuracy, None))


@dataclass(frozen=True, slots=True)
class _Study:
    """What is simulated: ``base`` of the first examinee; ``n_features`` is None for an accuracy."""

    design: Design
    estimand: Estimand
    base: float
    n_features: int | None

    @property
    def replicates(self) -> int:
        """Whole responses to an item."""
        return max(1, round(self.design.replicates))

    def floor(self, first: Floats, second: Floats) -> Floats:
        """Return the least variance of the difference in each study, from the item means."""
        n = self.design.items * self.replicates
        means: tuple[Floats, Floats] = first.mean(axis=1), second.mean(axis=1)
        both: Floats = sampling_floor(means[0], n, self.n_features)
        return both + sampling_floor(means[1], n, self.n_features)

    @property
    def reason(self) -> str:
        """Why no difference can be shown, else empty."""
        items = self.design.items
        if self.estimand is Estimand.PROMPTS_LIKE_THESE:
            return ONE_ITEM if items < 2 else never(items, self.design.unit)
        if self.design.replicates <= 1:
            return ONE_RESPONSE
        r = self.replicates
        if items * math.log(math.comb(2 * r, r)) < math.log(2 / ALPHA):
            return "labels of so few responses never reach .05"
        return ""


@lru_cache(maxsize=512)
def _found(study: _Study) -> Estimate:
    """Return the smallest difference with the power .8, by bisection with one seed."""
    if study.reason:
        return Estimate(None, study.reason)
    largest = (study.n_features or 1.0) - study.base
    if largest <= 0 or _power(study, largest) < POWER:
        return Estimate(None, OUT_OF_RANGE)
    high = _least(lambda delta: _power(study, delta) >= POWER, largest, share=0.01)
    if study.n_features is not None and high > study.n_features / 2:
        return Estimate(None, MOST_OF_ALL)
    return Estimate(high)


def _power(study: _Study, delta: float) -> float:
    """Return the share of simulated studies in which the test in use has p < .05."""
    import numpy as np

    generator = np.random.Generator(np.random.PCG64(SEED))
    like = study.estimand is Estimand.PROMPTS_LIKE_THESE
    shape = STUDIES, study.design.items
    z = generator.standard_normal((2, *shape)) if like else np.zeros((2, *shape))
    z[1] = ITEM_CORRELATION * z[0] + math.sqrt(1 - ITEM_CORRELATION**2) * z[1]
    sides = [
        _drawn(study, _item_means(study, base, own), generator)
        for base, own in zip((study.base, study.base + delta), z, strict=True)
    ]
    rejects = _rejects_like if like else _rejects_these
    return float(rejects(study, *sides).mean())


def _item_means(study: _Study, mean: float, z: Floats) -> Floats:
    """Return the means of items whose standard normal terms are z."""
    from statistics import NormalDist

    import numpy as np

    if study.n_features is not None:
        return np.clip(mean * (1 + ITEM_VARIATION * z), 0.0, float(study.n_features))
    mean = min(max(mean, 1e-9), 1 - 1e-9)
    if study.estimand is Estimand.THESE_PROMPTS:
        return np.full(z.shape, mean)
    at = NormalDist().inv_cdf(mean) * math.sqrt(1 + ITEM_SPREAD) + math.sqrt(ITEM_SPREAD) * z
    grid = np.linspace(-8.0, 8.0, 1601)
    return np.interp(at, grid, [NormalDist().cdf(x) for x in grid.tolist()])


def _drawn(study: _Study, means: Floats, generator: Generator) -> tuple[Floats, Floats]:
    """Return the mean of the responses to each item, and their variance (0 for one response)."""
    import numpy as np

    r = study.replicates
    if study.n_features is None:
        share = generator.binomial(r, means) / r
        return share, share * (1 - share) * r / max(r - 1, 1)
    most = float(study.n_features)
    if study.design.items * r > SUMMED or study.estimand is Estimand.PROMPTS_LIKE_THESE:
        # Sums of r negative binomial numbers are negative binomial; the variance is theirs.
        size = np.maximum(means * r / (DISPERSION - 1), 1e-9)
        totals = generator.negative_binomial(size, 1 / DISPERSION) / r
        own = np.minimum(totals, most)
        return own, DISPERSION * means * generator.chisquare(max(r - 1, 1), means.shape) / max(
            r - 1, 1
        )
    size = np.maximum(means / (DISPERSION - 1), 1e-9)[..., None]
    each = np.minimum(generator.negative_binomial(size, 1 / DISPERSION, (*means.shape, r)), most)
    return each.mean(axis=-1), each.var(axis=-1, ddof=1)


def _rejects_like(
    study: _Study, first: tuple[Floats, Floats], second: tuple[Floats, Floats]
) -> NDArray[np.bool_]:
    """Return in which studies sign flips and the paired t both have p < .05."""
    import numpy as np

    d = first[0] - second[0]
    k = d.shape[1]
    floor = study.floor(first[0], second[0])
    error = np.sqrt(np.maximum(d.var(axis=1, ddof=1) / k, floor))
    found = np.abs(d.mean(axis=1)) > t_quantile(UPPER, k - 1) * error
    exact = k <= EXACT
    if exact:
        signs = 1.0 - 2 * ((np.arange(1 << (k - 1))[:, None] >> np.arange(k)) & 1)
    else:
        signs = np.random.Generator(np.random.PCG64(SEED)).integers(0, 2, (FLIPS, k)) * 2.0 - 1
    own = d[found]
    limit = np.abs(own.sum(axis=1)) * (1 - 1e-9) - 1e-9
    reached = (np.abs(signs @ own.T) >= limit).sum(axis=0)
    p = reached / len(signs) if exact else (reached + 1) / (len(signs) + 1)
    found[found] = p < ALPHA
    return np.asarray(found, np.bool_)


def _rejects_these(
    study: _Study, first: tuple[Floats, Floats], second: tuple[Floats, Floats]
) -> NDArray[np.bool_]:
    """Return in which studies permuted labels and Welch's t both have p < .05."""
    import numpy as np

    (a, va), (b, vb) = first, second
    k, r = a.shape[1], study.replicates
    difference = np.abs((a - b).mean(axis=1))
    # The variance of all 2r responses to an item, and that of the difference of two halves.
    pooled = ((r - 1) * (va + vb) + r / 2 * (a - b) ** 2) / (2 * r)
    spread = np.sqrt((pooled * 2 / r * 2 * r / (2 * r - 1)).sum(axis=1)) / k
    found = difference - 1 / (r * k) > Z * spread
    parts = np.concatenate([va, vb], axis=1) / r / k**2
    variance = parts.sum(axis=1)
    squares = (parts**2).sum(axis=1) / (r - 1)
    df = np.where(squares > 0, variance**2 / np.where(squares > 0, squares, 1.0), 2.0 * k * (r - 1))
    floor = study.floor(a, b)
    known = 1 / np.array(DEGREES)
    quantiles = np.interp(1 / df, known[::-1], [t_quantile(UPPER, n) for n in DEGREES[::-1]])
    welch: NDArray[np.bool_] = found & (
        difference > quantiles * np.sqrt(np.maximum(variance, floor))
    )
    return welch


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

    def shown(delta: float) -> bool:
        return delta >= factor * math.sqrt(variance(delta))

    factor = detection_factor(seeds - 1)
    largest = base if n_features is None else n_features - base
    if not shown(largest):
        return Estimate(None, OUT_OF_RANGE)
    return Estimate(_least(shown, largest, apart=1e-9))
