"""Rows that are equal in several columns of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.store.columns import Ints

Column = tuple[NDArray[Any], int]
"""Integers from 0, or bool; and a bound above all of them."""


def combined(*columns: Column) -> Column:
    """Return integers that are equal where all columns are, and a bound above them."""
    values, size = columns[0]
    codes: Ints = values.astype(np.int64)
    for values, bound in columns[1:]:
        if size * bound >= 1 << 62:
            codes, size = dense(codes)
        codes, size = codes * bound + values, size * bound
    return codes, size


def dense(values: Ints) -> tuple[Ints, int]:
    """Return integers from 0 that are equal where the values are, and a bound above them."""
    different, codes = np.unique(values, return_inverse=True)
    return codes, len(different)


def alike(*columns: Column) -> tuple[Ints, Ints, Ints]:
    """Return where different rows come first, how often they come, and of each row which it is.

    The different rows are in the order in which they come first.

    >>> first, times, which = alike((np.array([7, 3, 7]), 8), (np.array([0, 1, 0]), 2))
    >>> first.tolist(), times.tolist(), which.tolist()
    ([0, 1], [2, 1], [0, 1, 0])
    """
    codes, bound = combined(*columns)
    if bound > 4 * len(codes) + 1_000:
        codes, bound = dense(codes)
    first = np.full(bound, -1)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    used = np.flatnonzero(first >= 0)
    used = used[np.argsort(first[used])]
    which = np.empty(bound, np.int64)
    which[used] = np.arange(len(used))
    places = which[codes]
    return first[used], np.bincount(places, minlength=len(used)), places
