"""The search for a split of speakers whose parts are alike: least mean Kullback-Leibler divergence.

With h[s, k] the time of split s in stratum k, p_s[k] = h[s, k] / sum_k h[s, k], and p the same of
the whole corpus, the divergence of an assignment is the mean over its splits of

    KL(p_s || p) = sum_k p_s[k] ln(p_s[k] / p[k])    (nats; a stratum with p_s[k] = 0 adds 0)

Source: the paper, section 3: "the lowest average KL divergence for duration of audio across the
three splits (with a value of about 0.007)". It has no formula. The direction follows from its table
7: the validation split has no hours of *very severe*, which makes KL(p || p_valid) infinite, and
the shares of that table with the hours of table 1 give 0.0071 to 0.0076 for KL(p_s || p). Every
stratum of a split is one of the corpus, so the value is finite. Strata of several keys are crossed;
their divergence is at least that of each key alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]
Places = NDArray[np.int64]
"""The split of each speaker, from 0; the last axis is that of speakers."""

ALL_UP_TO = 20_000
"""So many assignments are all tried (9 speakers in 3 splits) [ours]."""
STARTS = 3
"""Candidates that are improved [ours]."""
CHUNK = 2_000
"""Candidates that are compared together, to bound the memory."""


@dataclass(frozen=True, slots=True)
class Found:
    """An assignment.

    Attributes:
        places: the split of each speaker, shape (speakers,).
        divergence: in nats.
        random: that of the best random candidate; None where all assignments were tried.
        tried: candidates, or all assignments.
        method: ``random``: the best candidate, as in the paper; ``improved``: moves and swaps of
            speakers after it [ours]; ``all``: the best of all assignments.
        tolerance: by which share of the time a split may differ from its aim.
    """

    places: Places
    divergence: float
    random: float | None
    tried: int
    method: Literal["random", "improved", "all"]
    tolerance: float


def divergence(times: Times) -> Times:
    """Return the mean divergence of splits from the whole, in nats; inf where a split is empty.

    Args:
        times: by split and stratum, shape (..., splits, strata).

    >>> round(float(divergence(np.array([[2.0, 1.0], [1.0, 0.0]]))), 4)  # (.0174 + .2877) / 2
    0.1525
    """
    whole = times.sum(-2, keepdims=True)
    own, total = times.sum(-1, keepdims=True), whole.sum(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = times / own
        terms = np.where(times > 0, shares * np.log(shares * total / whole), 0.0)
    found: Times = np.where((own > 0).all((-2, -1)), terms.sum(-1).mean(-1), np.inf)
    return found


def search(
    seconds: Times, aims: Sequence[float], candidates: int, seed: int, *, improve: bool = True
) -> Found:
    """Return the assignment of speakers with the least divergence that was found.

    A candidate is a random order of the speakers, cut where the sum of their seconds is nearest to
    the aims; every split has a speaker. No split may differ from its aim by more than the share of
    the speaker with most seconds, as far as that is possible [ours]: less is worse than any
    divergence. The first of equal ones is taken.

    Args:
        seconds: of each speaker by stratum, shape (speakers, strata); each speaker has some.
        aims: shares of the seconds, one for each split, in sum 1, each above 0.
        candidates: random assignments.
        seed: of the random orders; the same seed finds the same assignment.
        improve: try all assignments of few speakers; of many, improve the best candidates while
            moving one speaker or swapping two lowers the divergence.
    """
    wanted, times = np.asarray(aims, float), np.rint(seconds * 1e6)  # whole, so that sums are exact
    speakers, splits = len(times), len(wanted)
    share = times.sum(1) / times.sum()
    tolerance = float(share.max())

    def value(places: Places) -> float:
        return float(divergence(_sums(places[None], times, splits))[0])

    def cost(places: Places) -> Times:
        return _cost(_sums(places, times, splits), wanted, tolerance)

    if improve and splits**speakers <= max(ALL_UP_TO, candidates):
        every = np.indices((splits,) * speakers).reshape(speakers, -1).T
        best = every[int(cost(every).argmin())]
        return Found(best, value(best), None, len(every), "all", tolerance)
    kept: list[tuple[float, Places]] = []
    for drawn in _candidates(share, wanted, candidates, seed):
        costs = cost(drawn)
        first = np.argsort(costs, kind="stable")[:STARTS]
        kept += [(float(costs[one]), drawn[one]) for one in first]
        kept = sorted(kept, key=lambda pair: pair[0])[:STARTS]
    best = kept[0][1]
    of_random = value(best)
    if not improve:
        return Found(best, of_random, of_random, candidates, "random", tolerance)
    better = [_improved(places, times, wanted, tolerance) for _, places in kept]
    best = min(better, key=lambda pair: pair[0])[1]
    return Found(best, value(best), of_random, candidates, "improved", tolerance)


def _sums(places: Places, times: Times, splits: int) -> Times:
    """Return the times by assignment, split and stratum."""
    return np.stack([(places == split).astype(float) @ times for split in range(splits)], axis=1)


def _cost(sums: Times, aims: Times, tolerance: float) -> Times:
    """Return the divergence; beyond the tolerance far more, the more the further."""
    shares = sums.sum(-1)
    off = np.abs(shares / shares.sum(-1, keepdims=True) - aims).max(-1)
    over = np.maximum(off - tolerance - 1e-12, 0.0)
    cost: Times = divergence(sums) + 1e9 * over
    return cost


def _candidates(share: Times, aims: Times, candidates: int, seed: int) -> Iterator[Places]:
    """Yield random assignments, many together."""
    random, speakers = np.random.default_rng(seed), len(share)
    bounds, places = np.cumsum(aims)[:-1], np.arange(speakers)
    for first in range(0, candidates, CHUNK):
        order = random.random((min(CHUNK, candidates - first), speakers)).argsort(1)
        middles = np.cumsum(share[order], axis=1) - share[order] / 2
        split = np.zeros(order.shape, np.int64)
        cut = np.zeros(len(order), np.int64)
        for number, bound in enumerate(bounds):
            # One speaker at least after the last cut, and one for each split that follows.
            last = speakers - len(bounds) + number
            cut = np.clip((middles < bound).sum(1), cut + 1, last)
            split += places >= cut[:, None]
        drawn = np.empty_like(split)
        np.put_along_axis(drawn, order, split, axis=1)
        yield drawn


def _improved(start: Places, times: Times, aims: Times, tolerance: float) -> tuple[float, Places]:
    """Return an assignment that no move of a speaker and no swap of two makes better."""
    places, splits, speakers = start.copy(), len(aims), len(start)
    sums = _sums(places[None], times, splits)[0]
    cost = float(_cost(sums, aims, tolerance))
    to, rows = np.arange(splits), splits + np.arange(speakers)
    unchanged = one = 0
    while unchanged < speakers:
        own = places[one]
        changed = np.repeat(sums[None], splits + speakers, axis=0)
        changed[to, own] -= times[one]
        changed[to, to] += times[one]
        changed[rows, own] += times - times[one]
        changed[rows, places] += times[one] - times
        costs = _cost(changed, aims, tolerance)
        best = int(costs.argmin())
        unchanged += 1
        if costs[best] < cost - 1e-12:
            if best < splits:
                places[one] = best
            else:
                places[one], places[best - splits] = places[best - splits], own
            sums, cost, unchanged = changed[best], float(costs[best]), 0
        one = (one + 1) % speakers
    return cost, places
