"""Draw groups and sessions on the same items, and test their differences.

Generators, not fitted to any data:

- *Two sides*: rates with item means of 0.12 or 0.5 (logits -2 or 0), or burdens of ten such
  features; items with sd 0.7 logits, side by item sd 0 or 0.7; no difference, or one of 1 logit.
- *Groups*: seven groups and a baseline, items with sd 1, group by item sd 0.7; in half the cells
  three groups differ by 1.5 logits and only the others count.
- *Sessions*: items with sd 1.5 on the logit scale, no change; the form of the day adds normal (0,
  0.25) or (0, 0.5) to all items of a session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage import averaged, expit
from tabwb.analysis.frame import Side
from tabwb.analysis.paired import compare_sides
from tabwb.scoring.participant_tests import (
    compare_sets,
    mcnemar,
    rate_of_change_weights,
    trend_weights,
)
from tabwb.scoring.permutation import holm, paired_permutation, sign_flip_max_t

Floats = NDArray[np.float64]
Generator = np.random.Generator
LEVEL = 0.05
FEATURES = 10


def two_sides(
    k: int,
    replicates: tuple[int, int],
    middle: float,
    apart: float,
    burden: bool,
    difference: float,
    studies: int,
    rng: Generator,
) -> dict[str, float]:
    """Return how often two sides are called different, and the coverage of their difference.

    Args:
        k: items.
        replicates: of each side.
        middle: mean of the items, in logits.
        apart: sd of side by item, in logits.
        burden: of ten features; else a rate.
        difference: of the first side, in logits.
        studies: how many.
        rng: of the draws.
    """
    features = FEATURES if burden else 1
    shift = np.array([difference, 0.0])
    means = averaged(middle + shift, float(np.hypot(0.7, apart))) * features
    truth = float(means[0] - means[1])
    found = np.zeros(3)
    for _ in range(studies):
        logits = rng.normal(middle, 0.7, k) + rng.normal(0, apart, (2, k)) + shift[:, None]
        values = [
            rng.binomial(features, expit(side)[:, None], (k, r)).astype(float)
            for side, r in zip(logits, replicates, strict=True)
        ]
        sides = [
            Side({("s", str(at)): tuple(row) for at, row in enumerate(side.tolist())})
            for side in values
        ]
        made = compare_sides(sides[0], sides[1], FEATURES if burden else None)
        flipped = paired_permutation(
            list(zip(*(side.mean(axis=1).tolist() for side in values), strict=True))
        )
        ends = made.like.interval.interval
        assert made.like.p is not None and flipped is not None and ends is not None
        held = ends.low <= truth <= ends.high
        found += [made.like.p <= LEVEL, flipped.p <= LEVEL, held]
    return dict(zip(("made", "flipped", "coverage"), (found / studies).tolist(), strict=True))


def groups(k: int, r: int, effect: float, studies: int, rng: Generator) -> dict[str, float]:
    """Return how often any true null hypothesis of seven groups is rejected: maxT, Holm."""
    rejected = np.zeros(2)
    for _ in range(studies):
        own = rng.normal(rng.choice([-2, 0, 2]), 1, k) + rng.normal(0, 0.7, (8, k))
        own[1:4] += effect
        means = rng.binomial(r, expit(own)) / r
        d = means[1:] - means[0]
        null = slice(3, None) if effect else slice(None)
        together = sign_flip_max_t(d.tolist())
        alone = [paired_permutation([(x, 0.0) for x in row]) for row in d.tolist()]
        assert together is not None
        single = holm([one.p if one is not None else 1.0 for one in alone])
        rejected += [min(p[null]) < LEVEL for p in (together.p, single)]
    return dict(zip(("together", "alone"), (rejected / studies).tolist(), strict=True))


Contrast = Callable[[Floats], float]
"""Answers (items, sessions) to a p value."""


def sessions(
    n: int, t: int, form: float, test: Contrast, studies: int, rng: Generator
) -> dict[str, float]:
    """Return how often a test rejects without any change."""
    rejected = 0
    for _ in range(studies):
        logits = rng.normal(0, 1.5, (n, 1)) + (rng.normal(0, form, (1, t)) if form else 0.0)
        rejected += test((rng.random((n, t)) < expit(logits)).astype(float)) < LEVEL
    return {"rejected": rejected / studies}


def exact(answers: Floats) -> float:
    """Return p of McNemar's exact test."""
    return mcnemar(answers[:, 0].tolist(), answers[:, -1].tolist()).p


def mid(answers: Floats) -> float:
    """Return p of McNemar's mid-p test."""
    return mcnemar(answers[:, 0].tolist(), answers[:, -1].tolist()).mid_p


def trend(answers: Floats) -> float:
    """Return p of the trend."""
    return _flipped(answers, trend_weights(answers.shape[1]))


def _flipped(answers: Floats, weights: Sequence[float]) -> float:
    """Return p of :func:`~tabwb.scoring.participant_tests.weighted_test`, without its interval."""
    found = paired_permutation([(value, 0.0) for value in (answers @ np.array(weights)).tolist()])
    return 1.0 if found is None else found.p


def rate(answers: Floats) -> float:
    """Return p of the rate of change after two baselines."""
    return _flipped(answers, rate_of_change_weights(2, answers.shape[1]))


def sets(answers: Floats) -> float:
    """Return p of the trend of the first half of the items less the others."""
    half = len(answers) // 2
    rows = answers.tolist()
    p = compare_sets(rows[:half], rows[half:], trend_weights(answers.shape[1])).p
    return 1.0 if p is None else p
