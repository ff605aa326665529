"""Which responses are rated: random samples from strata, with their weights."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tabwb.records.errors import UsageError
from tabwb.records.specs import seed_of
from tabwb.records.words import plural

Unit = TypeVar("Unit", bound=Hashable)
PURPOSE = "tabwb-rating-sample-1"
"""Names this way to draw; another one gets another name."""


@dataclass(frozen=True, slots=True)
class Drawn(Generic[Unit]):
    """A response that was drawn.

    Attributes:
        unit: the response.
        stratum: it was drawn from.
        weight: responses of the stratum for each one drawn: its size over the number drawn.
    """

    unit: Unit
    stratum: str
    weight: float


def allocated(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Return how many are drawn from each stratum when ``total`` are drawn in proportion.

    The largest remainders get what rounding down leaves (Hamilton's method), first strata first.
    With enough to draw every stratum has at least one.

    >>> allocated({"a": 70, "b": 20, "c": 10}, 10), allocated({"a": 98, "b": 1, "c": 1}, 10)
    ({'a': 7, 'b': 2, 'c': 1}, {'a': 8, 'b': 1, 'c': 1})
    """
    everything = sum(sizes.values())
    if total >= everything:
        return dict(sizes)
    shares = {name: size * total / everything for name, size in sizes.items()}
    least = int(total >= len(sizes))
    given = {name: max(int(share), least) for name, share in shares.items()}
    while (wrong := total - sum(given.values())) != 0:
        step = 1 if wrong > 0 else -1
        free = [
            name
            for name in sizes
            if (given[name] < sizes[name] if step > 0 else given[name] > least)
        ]
        given[max(free, key=lambda name: step * (shares[name] - given[name]))] += step
    return given


def drawn(
    units: Sequence[tuple[Unit, str]],
    *,
    seed: int,
    total: int | None = None,
    per_stratum: int | None = None,
) -> tuple[Drawn[Unit], ...]:
    """Return a random sample without replacement from each stratum, in the order of the units."""
    if total is not None and per_stratum is not None:
        raise UsageError("--samples and --per-stratum cannot be combined", allowed="one of them")
    members: dict[str, list[int]] = {}
    for place, (_, stratum) in enumerate(units):
        members.setdefault(stratum, []).append(place)
    sizes = {name: len(places) for name, places in members.items()}
    if total is not None and total > len(units):
        raise UsageError(
            f"{total} samples are asked for, and {plural(len(units), 'response')} can be drawn",
            where="--samples",
            allowed=f"1 to {len(units)}",
        )
    if total is not None:
        numbers = allocated(sizes, total)
    else:
        numbers = {name: min(size, per_stratum or size) for name, size in sizes.items()}
    chosen: dict[int, Drawn[Unit]] = {}
    for name, places in members.items():
        stream = random.Random(seed_of(PURPOSE, seed, name))
        for place in stream.sample(places, numbers[name]):
            chosen[place] = Drawn(units[place][0], name, sizes[name] / numbers[name])
    return tuple(chosen[place] for place in sorted(chosen))
