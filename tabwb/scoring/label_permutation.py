"""Two examinees on these prompts: labels permuted within items.

The null hypothesis is that both answer each prompt from one distribution. The test does not apply
to other prompts: there it rejects up to .66 of true null hypotheses at .05.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DRAWS = 10_000
"""Random permutations."""
SEED = 20260
"""Of numpy's PCG64."""
_SLACK = 1e-9
_BLOCK = 1000


@dataclass(frozen=True, slots=True)
class LabelTest:
    """Differences on these prompts, with permutation p values.

    Attributes:
        differences: mean over items of (first - second), by measure.
        p: two-sided, each measure by itself.
        adjusted: by maxT, adjusted for all measures.
        draws: random permutations, with :data:`SEED`.
    """

    differences: tuple[float, ...]
    p: tuple[float, ...]
    adjusted: tuple[float, ...]
    draws: int


def label_permutation(
    first: Sequence[Sequence[Sequence[float]]],
    second: Sequence[Sequence[Sequence[float]]],
    *,
    draws: int = DRAWS,
) -> LabelTest | None:
    """Return the test of differences on these prompts, for one or several measures.

    Within each item the labels first and second are permuted over whole responses, so that the
    measures of one response stay together. The statistic of a measure is the mean over
    items of the difference of item means, divided for maxT by ``sqrt(sum_i v_i (1/a_i + 1/b_i))``
    with v_i the variance of all responses to item i, which no permutation changes.
    ``p = (count + 1) / (draws + 1)``. A measure that is the same in all responses of every item
    has p = 1. Source: Pitman 1937; maxT: Westfall and Young 1993.

    Args:
        first: for each item, for each response, the value of each measure.
        second: likewise, the items in the same order.
        draws: random permutations.

    Returns:
        None where there is no item, or no item with two responses on one side at least: only the
        signs of items could be permuted then.

    >>> found = label_permutation([[[1.0]] * 4], [[[0.0]] * 4], draws=2000)
    >>> 0.02 < found.p[0] < 0.04   # 2 of 70 permutations
    True
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if len(a) and len(b)]
    if all(len(a) + len(b) < 3 for a, b in pairs):
        return None
    import numpy as np

    measures = len(pairs[0][0][0])
    generator = np.random.Generator(np.random.PCG64(SEED))
    observed = np.zeros(measures)
    variance = np.zeros(measures)
    items = []
    for a, b in pairs:
        values = np.array([*a, *b], dtype=np.float64)
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
        size = min(_BLOCK, draws - done)
        drawn = np.zeros((size, measures))
        for values, n_a, n_b in items:
            lots = generator.random((size, n_a + n_b))
            last = np.partition(lots, n_a - 1, axis=1)[:, n_a - 1 : n_a]
            # The n_a lowest lots go to the first side: +1/a; the others -1/b.
            weights = np.where(lots <= last, 1 / n_a, -1 / n_b) / len(items)
            drawn += weights @ values
        reached += (np.abs(drawn) >= limits).sum(axis=0)
        scaled = np.divide(np.abs(drawn), scale, out=np.zeros_like(drawn), where=varied)
        largest = scaled.max(axis=1)
        largest_reached += (largest[:, None] >= scaled_limits - _SLACK).sum(axis=0)
        done += size
    p = np.where(varied, reached / (draws + 1), 1.0)
    adjusted = np.where(varied, largest_reached / (draws + 1), 1.0)
    return LabelTest(
        tuple(float(value) for value in observed),
        tuple(float(value) for value in p),
        tuple(float(value) for value in adjusted),
        draws,
    )


def label_permutation_of_rates(
    first: Sequence[tuple[int, int]],
    second: Sequence[tuple[int, int]],
    *,
    draws: int = DRAWS,
) -> float | None:
    """Return the two-sided p value of :func:`label_permutation` for one rate, from counts.

    Permuting the labels of an item's responses makes the first side's hits hypergeometric, so they
    are drawn directly, whatever the number of responses.

    Args:
        first: (hits, responses) for each item.
        second: likewise, the items in the same order.
        draws: random permutations.

    Returns:
        None where there is no item, or none with two responses on one side at least.

    >>> 0.02 < label_permutation_of_rates([(4, 4)], [(0, 4)]) < 0.04   # 2 of 70 permutations
    True
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a[1] and b[1]]
    if all(a[1] + b[1] < 3 for a, b in pairs):
        return None
    import numpy as np

    generator = np.random.Generator(np.random.PCG64(SEED))
    observed = 0.0
    drawn = np.zeros(draws)
    for (x, a), (y, b) in pairs:
        hits = generator.hypergeometric(x + y, a + b - x - y, a, size=draws)
        drawn += hits / a - (x + y - hits) / b
        observed += x / a - y / b
    reached = int((np.abs(drawn) >= abs(observed) - _SLACK * len(pairs)).sum())
    return (reached + 1) / (draws + 1)
