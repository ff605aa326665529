"""Who rates which sample, and in which order."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tabwb.records.errors import UsageError
from tabwb.records.rating_sets import Assignment, Purpose
from tabwb.records.specs import seed_of
from tabwb.records.words import plural

AGAIN = 0.1
"""The share of a rater's samples that is shown again."""
DISTANCE = 20
"""The least distance of a sample from its first showing, in samples, where the list allows it."""


@dataclass(frozen=True, slots=True)
class Design:
    """How the work is divided.

    Attributes:
        raters: codes.
        overlap: number of samples that several raters rate; None: all samples.
        each: number of raters of each of these; None: all raters.
        most: largest number of samples of one rater, without repeats and calibration; None: any.
        again: share of a rater's samples that is shown again, 0 to 0.5.
        distance: least number of positions between the two showings.
        seed: of every draw and order.
    """

    raters: tuple[str, ...]
    overlap: int | None = None
    each: int | None = None
    most: int | None = None
    again: float = AGAIN
    distance: int = DISTANCE
    seed: int = 0


def assigned(
    samples: Sequence[int], design: Design, calibration: Sequence[int] = ()
) -> tuple[Assignment, ...]:
    """Return the assignments of all raters, each rater's in order.

    A rater gets the calibration samples first, then their own samples in their own order, of
    which a share comes again later. The samples of several raters are drawn at random; each has the
    raters with the fewest samples so far, among these those who have shared the fewest samples.
    """
    checked_design(len(samples), design)
    shares = _shared_out(samples, design)
    assignments = []
    for rater in design.raters:
        stream = random.Random(seed_of("tabwb-rating-order-1", design.seed, rater))
        shown: list[tuple[int, Purpose]] = [
            (number, "calibration") for number in _shuffled(calibration, stream)
        ]
        own = _shuffled(shares[rater], stream)
        shown += with_repeats(own, design.again, design.distance, stream)
        assignments += [
            Assignment(rater, position, number, purpose)
            for position, (number, purpose) in enumerate(shown, start=1)
        ]
    return tuple(assignments)


def checked_design(n: int, design: Design) -> None:
    """Check that the numbers of a design fit each other and the samples."""
    raters, each = len(design.raters), _each(design)
    if not raters:
        raise UsageError("no rater is named", where="--raters", hint="for example: --raters R1,R2")
    twice = [rater for rater, times in Counter(design.raters).items() if times > 1]
    if twice:
        raise UsageError(f"rater '{twice[0]}' is named twice", where="--raters")
    if design.overlap is not None and not 0 <= design.overlap <= n:
        raise _out_of_range("--overlap", design.overlap, f"0 to {n}")
    if not 1 <= each <= raters:
        raise _out_of_range("--raters-per-sample", each, f"1 to {raters}")
    if not 0 <= design.again <= 0.5:
        raise _out_of_range("--again", design.again, "0 to 0.5")
    if design.most is not None:
        needed, possible = ratings_needed(n, design), raters * design.most
        if needed > possible:
            raise UsageError(
                f"{plural(n, 'sample')} need {needed} ratings, and {plural(raters, 'rater')} with "
                f"{design.most} each give {possible}",
                where="--per-rater",
                allowed=f"at least {math.ceil(needed / raters)}, fewer samples, or less overlap",
            )


def ratings_needed(n: int, design: Design) -> int:
    """Return the number of first ratings of a plan, without repeats and calibration.

    >>> ratings_needed(561, Design(("R1", "R2", "R3", "R4", "R5"), overlap=82, each=2))
    643
    """
    shared = n if design.overlap is None else design.overlap
    return n - shared + shared * _each(design)


def with_repeats(
    order: Sequence[int], share: float, distance: int, stream: random.Random
) -> list[tuple[int, Purpose]]:
    """Return an order in which a share of the samples comes again, each not too soon.

    Those that come again are drawn from the first half; each is at a random place at least
    ``distance`` positions later, or half the length of the list where that is less.
    """
    n = len(order)
    times = math.ceil(round(share * n, 9)) if n > 1 else 0
    apart = min(distance, n // 2)
    places: list[tuple[float, int, Purpose]] = [
        (float(place), number, "rate") for place, number in enumerate(order)
    ]
    for place in stream.sample(range(max(n // 2, times)), times):
        later = stream.uniform(place + apart, n)
        places.append((later, order[place], "again"))
    return [(number, purpose) for _, number, purpose in sorted(places, key=lambda one: one[0])]


def pair_counts(assignments: Sequence[Assignment]) -> dict[tuple[str, str], int]:
    """Return how many samples each pair of raters shares, without calibration and repeats."""
    raters: dict[int, list[str]] = {}
    known: dict[str, None] = {}
    for one in assignments:
        known[one.rater] = None
        if one.purpose == "rate":
            raters.setdefault(one.sample, []).append(one.rater)
    counts = dict.fromkeys(combinations(known, 2), 0)
    order = {rater: place for place, rater in enumerate(known)}
    for of_sample in raters.values():
        for pair in combinations(sorted(of_sample, key=order.__getitem__), 2):
            counts[pair] += 1
    return counts


def _shared_out(samples: Sequence[int], design: Design) -> Mapping[str, list[int]]:
    stream = random.Random(seed_of("tabwb-rating-overlap-1", design.seed))
    order = _shuffled(samples, stream)
    overlap = len(order) if design.overlap is None else design.overlap
    shares: dict[str, list[int]] = {rater: [] for rater in design.raters}
    together: Counter[frozenset[str]] = Counter()
    for place, number in enumerate(order):
        wanted = _each(design) if place < overlap else 1
        chosen: list[str] = []
        turn = {rater: stream.random() for rater in design.raters}
        while len(chosen) < wanted:
            free = [rater for rater in design.raters if rater not in chosen]
            chosen.append(
                min(
                    free,
                    key=lambda rater: (
                        len(shares[rater]),
                        sum(together[frozenset((rater, other))] for other in chosen),
                        turn[rater],
                    ),
                )
            )
        for rater in chosen:
            shares[rater].append(number)
        together.update(map(frozenset, combinations(chosen, 2)))
    return shares


def _each(design: Design) -> int:
    return len(design.raters) if design.each is None else design.each


def _shuffled(numbers: Sequence[int], stream: random.Random) -> list[int]:
    return stream.sample(list(numbers), len(numbers))


def _out_of_range(where: str, value: float, allowed: str) -> UsageError:
    return UsageError(f"{value:g} is out of range", where=where, allowed=allowed)
