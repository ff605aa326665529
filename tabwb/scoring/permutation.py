"""Sign-flip tests of two examinees on the same items.

Signs are flipped over items, for *prompts like these*. The permutation of labels within items, for
*these prompts* only, is in :mod:`tabwb.scoring.label_permutation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT_UP_TO = 20
"""Pairs that differ up to which every one of the 2^m assignments of signs is counted."""
DRAWS = 100_000
"""Random assignments beyond that."""
SEED = 20260
"""Of numpy's PCG64, from which the random assignments are drawn."""
MAX_T_FROM = 8
"""Items from which on many measures are tested together over items."""
_SLACK = 1e-9
_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A mean difference over pairs, with its permutation p value.

    Attributes:
        difference: mean of (first - second) over the pairs.
        p: two-sided; the share of assignments with a mean at least as far from 0.
        n: pairs.
        exact: every assignment was counted; else :data:`DRAWS` random ones with :data:`SEED`.
    """

    difference: float
    p: float
    n: int
    exact: bool

    @property
    def smallest_p(self) -> float:
        """The smallest p value that so many pairs can give."""
        return smallest_p(self.n)


def smallest_p(n: int) -> float:
    """Return the smallest two-sided p value of a sign-flip test over n pairs, 2^(1-n).

    Above 20 pairs, where assignments are drawn, it is 1 / (draws + 1). Five pairs never reach .05.

    >>> smallest_p(5), smallest_p(6)
    (0.0625, 0.03125)
    """
    if n > EXACT_UP_TO:
        return 1 / (DRAWS + 1)
    return min(1.0, 2.0 ** (1 - n))


def paired_permutation(pairs: Sequence[tuple[float, float]]) -> PairedTest | None:
    """Return the sign-flip test of the mean difference of pairs, two-sided.

    Under the null hypothesis each difference could have either sign. With
    ``d`` the differences, ``p = #{s in {-1, 1}^n : |sum s_i d_i| >= |sum d_i|} / 2^n``, all of them
    up to :data:`EXACT_UP_TO` pairs that differ; beyond that :data:`DRAWS` random ones and
    ``p = (count + 1) / (draws + 1)``, which is never 0. None without pairs. Source: Fisher 1935,
    The Design of Experiments, section 21; Phipson and Smyth 2010 for the added one.

    The pairs must be independent: one pair for each item, not for each replicate.

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
    limit = total - _SLACK * max(1.0, total)
    if len(moving) <= EXACT_UP_TO:
        return PairedTest(mean, _share_of_all_sums(moving, limit), n, True)
    import numpy as np  # imported here to keep the start of the command line fast

    values = np.array(moving, dtype=np.float64)
    reached = sum(
        int((np.abs(signs @ values) >= limit).sum()) for signs in _drawn_signs(values.size)
    )
    return PairedTest(mean, (reached + 1) / (DRAWS + 1), n, False)


def _share_of_all_sums(values: Sequence[float], limit: float) -> float:
    """Return the share of the sums of +-v_i at least ``limit`` from 0."""
    if not values:
        return 1.0
    import numpy as np

    # The first sign is fixed: the sums with the other one are the same, negated.
    sums = np.array([values[0]], dtype=np.float64)
    for value in values[1:]:
        sums = np.concatenate([sums + value, sums - value])
    return int((np.abs(sums) >= limit).sum()) / len(sums)


@dataclass(frozen=True, slots=True)
class MaxT:
    """Many measures of the same items, tested together.

    Attributes:
        differences: mean (first - second) over items, by measure.
        p: adjusted for all measures; 1 for one that does not differ on any item.
        n: items.
        exact: every assignment was counted.
    """

    differences: tuple[float, ...]
    p: tuple[float, ...]
    n: int
    exact: bool


def sign_flip_max_t(differences: Sequence[Sequence[float]]) -> MaxT | None:
    """Return sign-flip p values of several measures, adjusted for all of them by maxT.

    With d_f the differences of measure f over items and ``T_f(s) = |sum s_i d_fi| / sqrt(sum
    d_fi^2)``: ``p_f = #{s : max_g T_g(s) >= T_f} / 2^m``; the signs of an item flip for all
    measures at once, which keeps their correlation. Beyond :data:`EXACT_UP_TO` items
    :data:`DRAWS` random assignments and the added one. None without items or measures. Source:
    Westfall and Young, Resampling-Based Multiple Testing (1993), algorithm 2.5 (single step).

    Args:
        differences: a row for each measure, a column for each item.

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
    observed = np.abs(scaled.sum(axis=1))
    limits = observed - _SLACK * sqrt(n)
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
    means = (fsum(row) / n for row in differences)
    return MaxT(tuple(means), tuple(float(value) for value in p), n, exact)


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
