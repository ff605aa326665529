"""Runs: copies of the same words that follow each other, found in about linear time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import eq
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    """Each word of a text as a number."""

FEW = 400
"""In a text of so many words every size of a unit is tried."""
SHORT = 64
"""In a longer text so many sizes are tried; longer units are found by their order."""


class Run(NamedTuple):
    """``times`` copies of the same ``size`` words in a row, from position ``start``."""

    start: int
    size: int
    times: int

    @property
    def end(self) -> int:
        """The position after the last copy."""
        return self.start + self.size * self.times


def find_runs(words: Sequence[str], shortest: int, longest: int) -> Iterator[Run]:
    """Yield all maximal runs of two or more copies of a unit of words.

    A unit has no copies itself: *no no no no* is four times *no*, not twice *no no*. The time is
    proportional to the words and to the number of sizes.

    >>> list(find_runs("the kite is the kite is flying".split(), 2, 6))
    [Run(start=0, size=3, times=2)]
    """
    for size in range(shortest, min(longest, len(words) // 2) + 1):
        same = bytes(map(eq, words, words[size:]))
        for matched in re.finditer(rb"(?<!\x01)\x01{%d,}" % size, same):
            at = matched.start()
            if _is_primitive(words[at : at + size]):
                yield Run(at, size, (matched.end() - at) // size + 1)


def _is_primitive(unit: Sequence[str]) -> bool:
    size = len(unit)
    return not any(size % part == 0 and unit[part:] == unit[:-part] for part in range(1, size))


def fills(words: Sequence[str], times: int, least: float) -> bool:
    """Return whether copies of one unit in runs are so many and have so many words together.

    >>> fills("the lake and the lake and the lake and".split(), 3, 9)
    True
    """
    if len(words) <= FEW:
        copies: Counter[tuple[str, ...]] = Counter()
        for run in find_runs(words, 1, len(words) // 2):
            copies[tuple(words[run.start : run.start + run.size])] += run.times
        return any(n >= times and n * len(unit) >= least for unit, n in copies.items())
    codes = _codes(words)
    if any(_fills(codes, size, times, least) for size in range(1, SHORT + 1)):
        return True
    distances = _distances(codes)
    # A run of n copies of a unit of p words has more than (n - 1.5) p windows that come again, so
    # that runs which fill half of the text have an eighth of it.
    if 8 * distances.sum() < len(words):
        return False
    if _fills(codes, int(distances.argmax()), times, least):
        return True
    return any(n >= times and n * size >= least for size, n in _copies(codes) if size > SHORT)


def _codes(words: Sequence[str]) -> Codes:
    import numpy as np

    number: dict[str, int] = {}
    return np.array([number.setdefault(word, len(number)) for word in words], dtype=np.int64)


def _fills(codes: Codes, size: int, times: int, least: float) -> bool:
    """Return whether the copies of a unit of one size are enough."""
    import numpy as np

    if not 0 < size <= len(codes) // 2:
        return False
    edges = np.flatnonzero(codes[size:] != codes[:-size])
    edges = np.concatenate(([-1], edges, [len(codes) - size]))
    matched = np.diff(edges) - 1
    copies: Counter[bytes] = Counter()
    for at in np.flatnonzero(matched >= size):
        unit = codes[edges[at] + 1 : edges[at] + 1 + size]
        copies[unit.tobytes()] += int(matched[at]) // size + 1
    return any(
        n >= times
        and n * size >= least
        and _is_primitive(np.frombuffer(unit, dtype=np.int64).tolist())
        for unit, n in copies.items()
    )


def _distances(codes: Codes) -> Codes:
    """Return how many windows of words come again after each distance, from 0."""
    import numpy as np

    width = max(SHORT // 2, 1)

    # Windows that are equal have equal sums; others may, which costs time alone.
    base = np.uint64(0x9E3779B97F4A7C15)
    powers = np.cumprod(np.full(len(codes), base, dtype=np.uint64))
    values = (codes.astype(np.uint64) + np.uint64(1)) * np.uint64(0xD1342543DE82EF95)
    values ^= values >> np.uint64(29)
    sums = np.concatenate(([np.uint64(0)], np.cumsum(values * powers)))
    inverse = np.cumprod(np.full(len(codes), pow(int(base), -1, 2**64), dtype=np.uint64))
    windows = (sums[width:] - sums[:-width]) * inverse[: len(codes) - width + 1]
    order = np.argsort(windows, kind="stable")
    again = np.diff(windows[order]) == 0
    return np.bincount(np.diff(order)[again], minlength=1)


def _copies(codes: Codes) -> Iterator[tuple[int, int]]:
    """Yield size and number of copies, in all of its runs, of each unit of a text.

    Each run has a Lyndon root: the longest Lyndon word that begins somewhere, in one of the two
    orders of the alphabet. It ends where the next smaller suffix begins. Source: Bannai et al., The
    "runs" theorem, SIAM Journal on Computing 46 (2017).
    """
    import numpy as np

    runs: set[tuple[int, int, int]] = set()
    n = len(codes)
    for ordered in (codes, codes.max() - codes):
        ranks = _ranks(ordered)
        roots = _next_smaller(ranks[-1].tolist())
        start = np.arange(n)
        after = np.array(roots)
        inside = after < n
        start, after = start[inside], after[inside]
        forward, backward = np.zeros_like(start), np.zeros_like(start)
        for level in range(len(ranks) - 1, -1, -1):
            rank, width = ranks[level], 1 << level
            fits = after + forward + width <= n
            left, right = np.where(fits, start + forward, 0), np.where(fits, after + forward, 0)
            forward += width * (fits & (rank[left] == rank[right]))
            fits = start - backward - width >= 0
            left = np.where(fits, start - backward - width, 0)
            right = np.where(fits, after - backward - width, 0)
            backward += width * (fits & (rank[left] == rank[right]))
        sizes = after - start
        is_run = forward + backward >= sizes
        found = (start - backward)[is_run], sizes[is_run], (after + forward)[is_run]
        runs.update(zip(*(each.tolist() for each in found), strict=True))
    copies: Counter[tuple[int, int, int]] = Counter()
    for at, size, end in runs:
        level = size.bit_length() - 1
        unit = size, int(ranks[level][at]), int(ranks[level][at + size - (1 << level)])
        copies[unit] += (end - at) // size
    for (size, _, _), times in copies.items():
        yield size, times


def _ranks(codes: Codes) -> list[Codes]:
    """Return the order of the windows of 1, 2, 4 ... words; the last are whole suffixes."""
    import numpy as np

    n = len(codes)
    ranks = [np.unique(codes, return_inverse=True)[1]]
    width = 1
    while width < n:
        following = np.full(n, 0, dtype=np.int64)
        following[:-width] = ranks[-1][width:] + 1
        pairs = ranks[-1] * np.int64(n + 1) + following
        ranks.append(np.unique(pairs, return_inverse=True)[1])
        width *= 2
    return ranks


def _next_smaller(ranks: list[int]) -> list[int]:
    """Return the position of the next smaller number behind each, or the length."""
    found = [len(ranks)] * len(ranks)
    open_ones: list[int] = []
    for at, rank in enumerate(ranks):
        while open_ones and ranks[open_ones[-1]] > rank:
            found[open_ones.pop()] = at
        open_ones.append(at)
    return found
