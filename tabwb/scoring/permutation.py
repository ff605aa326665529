"""Two examinees on the same items: could the difference be chance?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import fsum

EXACT_UP_TO = 16
"""Pairs up to which every one of the 2^n assignments is looked at."""
DRAWS = 20_000
"""Random assignments beyond that."""
SEED = 20260
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A mean difference over pairs, with its permutation p value.

    Attributes:
        difference: mean of (first - second) over the pairs.
        p: two-sided; the share of assignments with a mean at least as far from 0.
        n: pairs.
        exact: every assignment was looked at.
    """

    difference: float
    p: float
    n: int
    exact: bool


def paired_permutation(pairs: Sequence[tuple[float, float]]) -> PairedTest | None:
    """Sign-flip test of the mean difference of pairs, two-sided.

    If it makes no difference who answered, each difference could as well have the other sign. With
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
    moving = [each for each in differences if each]
    if len(moving) <= EXACT_UP_TO:
        reached = sum(
            abs(fsum(sign * each for sign, each in zip(signs, moving, strict=True)))
            >= total - _SLACK
            for signs in product((-1, 1), repeat=len(moving))
        )
        return PairedTest(mean, reached / 2 ** len(moving), n, True)
    import numpy as np  # here, because a comparison of twenty items needs no arrays

    generator = np.random.Generator(np.random.PCG64(SEED))
    values = np.array(sorted(abs(each) for each in moving), dtype=np.float64)
    reached = 0
    for _ in range(0, DRAWS, 1000):
        signs = generator.integers(0, 2, size=(1000, values.size), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ values) >= total - _SLACK).sum())
    return PairedTest(mean, (reached + 1) / (DRAWS + 1), n, False)
