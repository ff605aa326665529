"""Permutation tests of two examinees on the same items; p values of several comparisons.

Signs are flipped over items, for *prompts like these*; labels are permuted within items, for
*these prompts* only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, fsum, sqrt
from typing import TYPE_CHECKING

from tabwb.scoring.estimate import ALPHA

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


EXACT_UP_TO = 20
"""Pairs that differ up to which every one of the 2^m assignments of signs is counted."""
DRAWS = 100_000
SEED = 20260
MAX_T_FROM = 8
"""Items from which on many measures are tested together over items."""
_SLACK = 1e-9
_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The mean of (first - second) over n pairs, with its two-sided permutation p value.

    ``exact``: every assignment was counted; else :data:`DRAWS` random ones with :data:`SEED`.
    ``greater``: the one-sided p, of the same assignments: the share with a sum as large or larger.
    """

    difference: float
    p: float
    n: int
    exact: bool
    greater: float = field(default=1.0, repr=False)


def smallest_p(n: int) -> float:
    """Return the smallest two-sided p value of a sign-flip test over n pairs, 2^(1-n).

    Above 20 pairs, where assignments are drawn, it is 1 / (draws + 1). Five pairs never reach .05.

    >>> smallest_p(5), smallest_p(6)
    (0.0625, 0.03125)
    """
    return 1 / (DRAWS + 1) if n > EXACT_UP_TO else min(1.0, 2.0 ** (1 - n))


def paired_permutation(pairs: Sequence[tuple[float, float]]) -> PairedTest | None:
    """Return the sign-flip test of the mean difference of pairs, two-sided.

    With d the differences, ``p = #{s in {-1, 1}^n : |sum s_i d_i| >= |sum d_i|} / 2^n``, all of
    them up to :data:`EXACT_UP_TO` pairs that differ; beyond that :data:`DRAWS` random ones and
    ``p = (count + 1) / (draws + 1)``. None without pairs, which must be independent: one for each
    item, not for each replicate. Source: Fisher 1935, The Design of Experiments, section 21;
    Phipson and Smyth 2010 for the added one.

    >>> paired_permutation([(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)])
    PairedTest(difference=1.0, p=0.25, n=3, exact=True)
    """
    differences = [first - second for first, second in pairs]
    n = len(differences)
    if not n:
        return None
    total = abs(fsum(differences))
    mean = fsum(differences) / n
    # A pair without a difference is the same under both signs: it need not be flipped.
    moving = sorted(abs(difference) for difference in differences if difference)
    slack = _SLACK * max(1.0, total)
    exact = len(moving) <= EXACT_UP_TO
    if exact:
        p, beyond = _shares_of_all_sums(moving, total - slack, total + slack)
    else:
        import numpy as np  # imported here to keep the start of the command line fast

        values = np.array(moving, dtype=np.float64)
        sums = np.concatenate([np.abs(signs @ values) for signs in _drawn_signs(values.size)])
        p = (int((sums >= total - slack).sum()) + 1) / (DRAWS + 1)
        beyond = int((sums > total + slack).sum()) / (DRAWS + 1)
    # The sums are as often s as -s: at or below 0 all but those further below it are as large.
    greater = p / 2 if fsum(differences) > slack else 1 - beyond / 2
    return PairedTest(mean, p, n, exact, greater)


def sign_flip_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the ends of the 95 % interval that inverts the sign-flip test, and p at 0.

    The interval has every value that the test, two-sided, does not reject at .05. With the mean of
    each set S of values and that of the others, and v_S the smaller of both, ``p(x) = #{S : v_S <=
    x} / 2^n`` for x below the mean of all, so that the low end is one of the v_S; likewise the high
    end. An end is infinite where no value is rejected: up to five values. Beyond
    :data:`EXACT_UP_TO` values the sets are drawn. Source: Hartigan, JASA 64 (1969), 1303.

    >>> sign_flip_interval([1.0] * 5 + [2.0])[:2], sign_flip_interval([1.0] * 5)[:2]
    ((1.0, 2.0), (-inf, inf))
    """
    import numpy as np

    own = np.array(values, dtype=np.float64)
    n, exact = len(own), len(own) <= EXACT_UP_TO
    lower, upper = [], []
    for signs in _all_signs(n) if exact else _drawn_signs(n):
        inside = signs < 0
        sums, sizes = inside @ own, inside.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.stack([sums / sizes, (own.sum() - sums) / (n - sizes)])
        whole = (sizes == 0) | (sizes == n)
        lower.append(np.where(whole, -np.inf, means.min(axis=0)))
        upper.append(np.where(whole, np.inf, means.max(axis=0)))
    ends = np.sort(np.concatenate(lower)), np.sort(np.concatenate(upper))[::-1]
    # The share of drawn sets counts the observed one as well.
    extra = 0 if exact else 1
    within = _SLACK * float(np.abs(own).max())
    reached = max(int((ends[0] <= within).sum()), int((ends[1] >= -within).sum()))
    if abs(float(own.mean())) > within:
        side = ends[0] <= within if own.mean() > 0 else ends[1] >= -within
        reached = int(side.sum())
    total = len(ends[0]) + extra
    place = max(0, ceil(ALPHA * total - _SLACK) - 1 - extra)
    low, high = (0.0 if abs(end[place]) <= within else float(end[place]) for end in ends)
    return low, high, min(1.0, (reached + extra) / total)


def _shares_of_all_sums(
    values: Sequence[float], limit: float, further: float
) -> tuple[float, float]:
    """Return the shares of the sums of +-v_i at least ``limit``, and ``further``, from 0."""
    if not values:
        return 1.0, 0.0
    import numpy as np

    # The first sign is fixed: the sums with the other one are the same, negated.
    sums = np.array([values[0]], dtype=np.float64)
    for value in values[1:]:
        sums = np.concatenate([sums + value, sums - value])
    sums = np.abs(sums)
    return int((sums >= limit).sum()) / len(sums), int((sums > further).sum()) / len(sums)


@dataclass(frozen=True, slots=True)
class MaxT:
    """Mean (first - second) over n items of many measures, with p adjusted for all of them."""

    differences: tuple[float, ...]
    p: tuple[float, ...]
    n: int
    exact: bool


def sign_flip_max_t(differences: Sequence[Sequence[float]]) -> MaxT | None:
    """Return sign-flip p values of several measures, adjusted for all of them by maxT.

    With d_f the differences of measure f over items and ``T_f(s) = |sum s_i d_fi| / sqrt(sum
    d_fi^2)``: ``p_f = #{s : max_g T_g(s) >= T_f} / 2^m``; the signs of an item flip for all
    measures at once. Beyond :data:`EXACT_UP_TO` items :data:`DRAWS` random assignments and the
    added one. None without items or measures. Source: Westfall and Young, Resampling-Based Multiple
    Testing (1993), algorithm 2.5 (single step).

    Differences have a row for each measure, a column for each item.

    >>> found = sign_flip_max_t([[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]])
    >>> found.p
    (0.25, 1.0)
    """
    if not differences or not len(differences[0]):
        return None
    import numpy as np

    rows = np.array(differences, dtype=np.float64)
    n = rows.shape[1]
    scale = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    scaled = np.divide(rows, scale, out=np.zeros_like(rows), where=scale > 0)
    limits = np.abs(scaled.sum(axis=1)) - _SLACK * sqrt(n)
    moving = scaled[:, (scaled != 0).any(axis=0)].T
    exact = len(moving) <= EXACT_UP_TO
    blocks = _all_signs(len(moving)) if exact else _drawn_signs(len(moving))
    reached = np.zeros(len(rows), dtype=np.int64)
    seen = 0
    for signs in blocks:
        largest = np.abs(signs @ moving).max(axis=1)
        reached += (largest[:, None] >= limits[None, :]).sum(axis=0)
        seen += len(signs)
    if not exact:
        reached, seen = reached + 1, seen + 1
    p = np.where(scale[:, 0] > 0, reached / seen, 1.0)
    return MaxT(tuple(fsum(row) / n for row in differences), tuple(map(float, p)), n, exact)


def _all_signs(n: int) -> Iterator[NDArray[np.float64]]:
    """Yield every assignment of n signs in blocks: float64 of shape (up to 16,384, n)."""
    import numpy as np

    # With the first sign fixed: its negation gives the same absolute sums.
    count = 1 << max(n - 1, 0)
    bits = np.arange(n)
    for start in range(0, count, _BLOCK):
        numbers = np.arange(start, min(start + _BLOCK, count))
        yield np.asarray(1 - 2 * ((numbers[:, None] >> bits) & 1), dtype=np.float64)


def _drawn_signs(n: int) -> Iterator[NDArray[np.float64]]:
    """Yield :data:`DRAWS` random assignments of n signs in blocks: float64 of shape (1000, n)."""
    import numpy as np

    generator = np.random.Generator(np.random.PCG64(SEED))
    for _ in range(0, DRAWS, 1000):
        drawn = generator.integers(0, 2, size=(1000, n), dtype=np.int8)
        yield np.asarray(drawn * 2 - 1, dtype=np.float64)


LABEL_DRAWS = 10_000
_LABEL_BLOCK = 1000


@dataclass(frozen=True, slots=True)
class LabelTest:
    """Mean over items of (first - second) by measure, with p by itself and adjusted by maxT."""

    differences: tuple[float, ...]
    p: tuple[float, ...]
    adjusted: tuple[float, ...]
    total_p: float
    draws: int


def label_permutation(
    first: Sequence[Sequence[Sequence[float]]],
    second: Sequence[Sequence[Sequence[float]]],
    *,
    draws: int = LABEL_DRAWS,
) -> LabelTest | None:
    """Return the test of differences on these prompts, for one or several measures.

    The null hypothesis is that both answer each prompt from one distribution. The test does not
    apply to other prompts: there it rejects far more true null hypotheses than .05. Within each
    item the labels first and second are permuted over whole responses, so that the measures of one
    response stay together. The statistic of a measure is the mean over items of the difference of
    item means, divided for maxT by ``sqrt(sum_i v_i (1/a_i + 1/b_i))`` with v_i the variance of all
    responses to item i, which no permutation changes.
    ``p = (count + 1) / (draws + 1)``. A measure that is the same in all responses of every item
    has p = 1. Source: Pitman 1937; maxT: Westfall and Young 1993.

    Sides have for each item, for each response, the value of each measure. None without an item
    with two responses on one side at least: only the signs of items could be permuted then.

    >>> found = label_permutation([[[1.0]] * 4], [[[0.0]] * 4], draws=2000)
    >>> 0.02 < found.p[0] < 0.04   # 2 of 70 permutations
    True
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if len(a) and len(b)]
    if all(len(a) + len(b) < 3 for a, b in pairs):
        return None
    import numpy as np

    measures = len(pairs[0][0][0]) + 1  # the last one is the sum of the others
    generator = np.random.Generator(np.random.PCG64(SEED))
    observed = np.zeros(measures)
    variance = np.zeros(measures)
    items = []
    for a, b in pairs:
        values = np.array([*a, *b], dtype=np.float64)
        values = np.column_stack([values, values.sum(axis=1)])
        observed += (values[: len(a)].mean(axis=0) - values[len(a) :].mean(axis=0)) / len(pairs)
        variance += values.var(axis=0) * (1 / len(a) + 1 / len(b))
        items.append((values, len(a), len(b)))
    scale = np.sqrt(variance)
    varied = scale > 0
    limits = np.abs(observed) - _SLACK
    scaled_limits = np.divide(np.abs(observed), scale, out=np.zeros(measures), where=varied)
    reached = np.ones(measures, dtype=np.int64)
    largest_reached = np.ones(measures, dtype=np.int64)
    done = 0
    while done < draws:
        size = min(_LABEL_BLOCK, draws - done)
        drawn = np.zeros((size, measures))
        for values, n_a, n_b in items:
            lots = generator.random((size, n_a + n_b))
            last = np.partition(lots, n_a - 1, axis=1)[:, n_a - 1 : n_a]
            # The n_a lowest lots go to the first side: +1/a; the others -1/b.
            weights = np.where(lots <= last, 1 / n_a, -1 / n_b) / len(items)
            drawn += weights @ values
        reached += (np.abs(drawn) >= limits).sum(axis=0)
        scaled = np.divide(np.abs(drawn), scale, out=np.zeros_like(drawn), where=varied)
        largest = scaled[:, :-1].max(axis=1)
        largest_reached += (largest[:, None] >= scaled_limits - _SLACK).sum(axis=0)
        done += size
    p = np.where(varied, reached / (draws + 1), 1.0)
    adjusted = np.where(varied, largest_reached / (draws + 1), 1.0)
    differences, single, together = (row[:-1].tolist() for row in (observed, p, adjusted))
    return LabelTest(tuple(differences), tuple(single), tuple(together), float(p[-1]), draws)


def label_permutation_of_rates(
    first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]]
) -> float | None:
    """Return :func:`label_permutation`'s p value for one rate, drawing hypergeometric counts.

    Sides have (hits, responses) for each item.

    >>> 0.02 < label_permutation_of_rates([(4, 4)], [(0, 4)]) < 0.04   # 2 of 70 permutations
    True
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a[1] and b[1]]
    if all(a[1] + b[1] < 3 for a, b in pairs):
        return None
    import numpy as np

    generator = np.random.Generator(np.random.PCG64(SEED))
    observed = 0.0
    drawn = np.zeros(LABEL_DRAWS)
    for (x, a), (y, b) in pairs:
        hits = generator.hypergeometric(x + y, a + b - x - y, a, size=LABEL_DRAWS)
        drawn += hits / a - (x + y - hits) / b
        observed += x / a - y / b
    reached = int((np.abs(drawn) >= abs(observed) - _SLACK * len(pairs)).sum())
    return (reached + 1) / (LABEL_DRAWS + 1)


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Return Holm's adjusted p values, in the order given.

    With the values sorted, ``adjusted_(i) = max over j <= i of min(1, (m - j + 1) p_(j))``. The
    chance of any false finding in the family stays below the level, whatever the dependence.
    Source: Holm, Scandinavian Journal of Statistics 6 (1979), 65.

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, at in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        adjusted[at] = largest = max(largest, min(1.0, (len(p) - rank) * p[at]))
    return tuple(adjusted)


def benjamini_hochberg(p: Sequence[float]) -> tuple[float, ...]:
    """Return Benjamini and Hochberg's adjusted p values, in the order given.

    ``adjusted_(i) = min over j >= i of min(1, m p_(j) / j)``: the expected share of false findings
    among all findings stays below the level, for independent or positively dependent tests. For
    exploratory maps only. Source: Journal of the Royal Statistical Society B 57 (1995), 289.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    (0.03, 0.04, 0.04)
    """
    adjusted, smallest = [0.0] * len(p), 1.0
    for place, at in enumerate(sorted(range(len(p)), key=p.__getitem__, reverse=True)):
        adjusted[at] = smallest = min(smallest, len(p) * p[at] / (len(p) - place))
    return tuple(adjusted)
