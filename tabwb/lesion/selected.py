"""Which units a list or the localizer takes, and random units in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tabwb.lesion.declared import TARGETS
from tabwb.lesion.draw import bits_of, how_many
from tabwb.lesion.file_option import shown
from tabwb.lesion.part import Part
from tabwb.lesion.spec import Lesion
from tabwb.lesion.unit_list import read_units
from tabwb.records.errors import UsageError

Numbers = NDArray[np.int64]
Scores = Mapping[str, NDArray[np.float64]]
"""Name of a part to the statistic of each of its units, nan where it is undefined."""


def selected(
    lesion: Lesion, parts: Sequence[Part], among: Sequence[Numbers], scores: Scores | None
) -> list[Numbers]:
    """Return the units that a lesion by list or localizer takes, or those of its control.

    Over all parts together those with the largest statistic are taken, so that growing amounts are
    nested. A control takes as many units of each part as the lesion, at random by seed and name of
    the part, among the units that are not in the list (of the localizer: that are not taken).
    """
    if lesion.amount == 0.0:
        return [numbers[:0] for numbers in among]
    if lesion.source == "list":
        found, left = _of_list(lesion, parts, among)
    elif scores is None:
        raise UsageError(
            f"the units of the lesion '{lesion}' are known when the localizer was run",
            hint="tabwb lesion plan runs it",
        )
    else:
        values = [scores[part.name][some] for part, some in zip(parts, among, strict=True)]
        found = left = _largest(lesion, among, values)
    if not lesion.is_control:
        return [np.sort(numbers) for numbers in found]
    return [
        _in_place(lesion, part, numbers, np.setdiff1d(some, out))
        for part, numbers, some, out in zip(parts, found, among, left, strict=True)
    ]


def top(values: NDArray[np.float64], share: float) -> NDArray[np.int64] | None:
    """Return the places of the largest values, the largest first; None where too few are defined.

    Of equal values the first are taken.
    """
    count = how_many(len(values), share)
    if count > np.isfinite(values).sum():
        return None
    order = np.argsort(np.where(np.isfinite(values), -values, np.inf), kind="stable")
    return order[:count]


def drawn(seed: int, name: str, units: int, numbers: Numbers, count: int) -> Numbers:
    """Return units taken at random, in order: those with the smallest draws."""
    draws = bits_of(seed, name, "units", units)[numbers]
    return np.sort(numbers[np.argsort(draws, kind="stable")[:count]])


def _of_list(
    lesion: Lesion, parts: Sequence[Part], among: Sequence[Numbers]
) -> tuple[list[Numbers], list[Numbers]]:
    """Return the units that are taken of a list, and all units of the list."""
    listed = read_units(lesion.file, lesion.sha256)
    for part in parts:
        if (last := max(listed.units.get(part.name, ()), default=0)) >= part.units:
            what = f"finds the unit {last} of '{part.name}' in its list, which the model lacks"
            raise wrong(lesion, what, f"0 to {part.units - 1}: a list of units of this model")
    whole = [np.array(listed.units.get(part.name, ()), dtype=np.int64) for part in parts]
    kept = [np.isin(own, some) for own, some in zip(whole, among, strict=True)]
    units = [own[keep] for own, keep in zip(whole, kept, strict=True)]
    if lesion.amount == 1.0:
        return units, whole
    if not listed.t:
        what = "takes a share of a list that has no statistic of its units"
        raise wrong(lesion, what, 'the amount 1, or a list with "t"')
    t = [np.array(listed.t.get(part.name, ()), dtype=np.float64) for part in parts]
    values = [own[keep] for own, keep in zip(t, kept, strict=True)]
    return _largest(lesion, units, values), whole


def _largest(
    lesion: Lesion, numbers: Sequence[Numbers], values: Sequence[NDArray[np.float64]]
) -> list[Numbers]:
    """Return the units with the largest values over all parts; of equal ones the first."""
    together = np.concatenate([np.empty(0), *values])
    largest = top(together, lesion.amount)
    if largest is None:
        count, defined = how_many(len(together), lesion.amount), int(np.isfinite(together).sum())
        raise wrong(
            lesion,
            f"takes {count} units, but the statistic of only {defined} is defined: the others "
            "give the same value for every text",
            f"an amount of {defined / len(together):.3g} or less",
        )
    taken = np.zeros(len(together), dtype=np.bool_)
    taken[largest] = True
    ends = np.cumsum([0, *map(len, values)])
    return [
        some[taken[first:last]]
        for some, first, last in zip(numbers, ends[:-1], ends[1:], strict=True)
    ]


def _in_place(lesion: Lesion, part: Part, taken: Numbers, others: Numbers) -> Numbers:
    """Return as many random units of a part as are taken."""
    if len(taken) > len(others):
        raise wrong(
            lesion,
            f"needs {len(taken)} other units of '{part.name}' and finds {len(others)}",
            "a lesion that takes less than half of each part",
        )
    return drawn(lesion.seed, part.name, part.units, others, len(taken))


def check_names(lesion: Lesion, parts: Sequence[Part]) -> None:
    """Check that a list names parts of a model, and has some of the lesion's target."""
    names = {part.name: part.target for part in parts}
    listed = read_units(lesion.file, lesion.sha256).units
    for name in listed:
        if name not in names:
            allowed = f"the names that 'tabwb lesion plan {lesion.target}:zero' shows"
            raise wrong(lesion, f"finds '{name}' in its list, which the model lacks", allowed)
    if lesion.target not in {names[name] for name in listed}:
        has = ", ".join(dict.fromkeys(names[name] for name in listed))
        raise wrong(lesion, f"finds no unit of '{lesion.target}' in its list", has)


def none_taken(lesion: Lesion, count: int) -> UsageError:
    """Return the error for an amount that takes no unit."""
    unit = TARGETS[lesion.target].unit
    if lesion.source == "list":
        return wrong(lesion, f"takes no {unit} of its list", "a larger amount, or other layers")
    return wrong(
        lesion,
        f"takes less than half of one {unit}: there are {count} to choose from",
        f"an amount of {1 / (2 * count):.3g} or more",
    )


def wrong(lesion: Lesion, what: str, allowed: str) -> UsageError:
    """Return the error for a lesion that does not fit a model."""
    return UsageError(f"the lesion '{shown(str(lesion))}' {what}", allowed=allowed)
