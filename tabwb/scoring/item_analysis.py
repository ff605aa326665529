"""How an item tells examinees apart: the correlation with the rest of the test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import fsum

from tabwb.scoring.estimate import Estimate, Interval
from tabwb.scoring.intervals import Z

LEAST_EXAMINEES = 5
"""Examinees from which on an item is correlated with the rest of the test."""
FEW = f"fewer than {LEAST_EXAMINEES} examinees answered it and another item"
ITEM_ALIKE = "all examinees have the same score on the item"
REST_ALIKE = "all examinees have the same score on the other items"

Scores = Sequence[Sequence[float | None]]
"""For each examinee the share right on each item, None where it was not answered."""


def discrimination(scores: Scores, item: int) -> Estimate:
    """Return the corrected item-total correlation: of an item with the mean of the other items.

    Pearson's r over examinees between the score on the item and the mean score on the other items
    that the examinee answered; with scores 0 and 1 it is a point-biserial correlation. The item
    itself is left out of the total, which would otherwise correlate with itself. Undefined where
    one of the two does not vary, or with fewer than five examinees.

    Source: Henrysson, Psychometrika 28 (1963), 211; Lord and Novick, Statistical Theories of Mental
    Test Scores (1968), 15.5.

    >>> able, weak = [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]
    >>> round(discrimination([able, able, able, weak, weak], 0).value, 6)
    1.0
    >>> discrimination([able, able, able, weak, weak], 2).reason
    'all examinees have the same score on the item'
    """
    pairs = _pairs(scores, item)
    if len(pairs) < LEAST_EXAMINEES:
        return Estimate(None, FEW)
    n = len(pairs)
    means = [fsum(pair[at] for pair in pairs) / n for at in (0, 1)]
    own, rest = (fsum((pair[at] - means[at]) ** 2 for pair in pairs) for at in (0, 1))
    # Means of shares are rounded: below this nothing differs.
    if own <= 1e-12:
        return Estimate(None, ITEM_ALIKE)
    if rest <= 1e-12:
        return Estimate(None, REST_ALIKE)
    product = fsum((x - means[0]) * (y - means[1]) for x, y in pairs)
    return Estimate(max(-1.0, min(1.0, product / math.sqrt(own * rest))))


def discrimination_interval(scores: Scores, item: int) -> Interval | None:
    """Return the 95 % interval of :func:`discrimination` over examinees like these.

    ``tanh(atanh(r) +- 1.96 / sqrt(n - 3))``, Fisher's transformation. Its coverage for scores of 0
    and 1, which are not normal, is in docs/uncertainty.md. None where r is undefined or 1 or -1.

    Source: Fisher, Metron 1 (1921), 3.

    >>> rows = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    >>> found = discrimination_interval(rows, 0)
    >>> round(found.low, 2), round(found.high, 2)
    (-0.66, 0.9)
    """
    r = discrimination(scores, item).value
    if r is None or abs(r) >= 1 - 1e-12:
        return None
    half = Z / math.sqrt(len(_pairs(scores, item)) - 3)
    middle = math.atanh(r)
    return Interval(math.tanh(middle - half), math.tanh(middle + half))


def _pairs(scores: Scores, item: int) -> list[tuple[float, float]]:
    pairs = []
    for row in scores:
        own = row[item]
        rest = [x for at, x in enumerate(row) if at != item and x is not None]
        if own is not None and rest:
            pairs.append((own, fsum(rest) / len(rest)))
    return pairs
