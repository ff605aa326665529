"""P values corrected for how many comparisons were made."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Return Holm's adjusted p values, in the order given.

    With the values sorted, ``adjusted_(i) = max over j <= i of min(1, (m - j + 1) p_(j))``. The
    chance of any false finding in the family stays below the level, whatever the dependence.
    Source: Holm, Scandinavian Journal of Statistics 6 (1979), 65.

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    order = sorted(range(len(p)), key=p.__getitem__)
    adjusted = [0.0] * len(p)
    largest = 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[at]))
        adjusted[at] = largest
    return tuple(adjusted)


def benjamini_hochberg(p: Sequence[float]) -> tuple[float, ...]:
    """Return Benjamini and Hochberg's adjusted p values, in the order given.

    ``adjusted_(i) = min over j >= i of min(1, m p_(j) / j)``: the expected share of false findings
    among all findings stays below the level, for independent or positively dependent tests. For
    exploratory maps only. Source: Journal of the Royal Statistical Society B 57 (1995), 289.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    (0.03, 0.04, 0.04)
    """
    order = sorted(range(len(p)), key=p.__getitem__, reverse=True)
    adjusted = [0.0] * len(p)
    smallest = 1.0
    for place, at in enumerate(order):
        smallest = min(smallest, len(p) * p[at] / (len(p) - place))
        adjusted[at] = smallest
    return tuple(adjusted)
