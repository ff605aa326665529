"""Which parts of a model, and which of their units, lesions take; computed without its numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.lesion.declared import TARGETS, UNITS, UNITS_HASH, Part
from tabwb.lesion.draw import bits_of, how_many, weights_taken
from tabwb.lesion.spec import Lesion, read_units, shown, units_text
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


@dataclass(frozen=True, slots=True)
class Taken:
    """A part that a lesion takes units of."""

    part: Part
    amount: float
    among: tuple[int, ...] | None = None

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the units in question, shape (units,)."""
        return np.arange(self.part.units) if self.among is None else np.array(self.among)

    @property
    def count(self) -> int:
        """How many units (heads, neurons, experts) are taken."""
        units = self.part.units if self.among is None else len(self.among)
        return how_many(units, self.amount)


def parts_taken(
    lesion: Lesion,
    parts: Sequence[Part],
    model: str = "the model",
    scores: Scores | None = None,
) -> list[Taken]:
    """Return the parts that a lesion takes units of."""
    found = named_parts(lesion, parts, model)
    unit = TARGETS[lesion.target].unit
    if unit == "weight":
        return [Taken(part, lesion.amount) for part in found]
    if unit == "layer":
        most, taken = len(found), _layers(lesion, found)
        count = len(taken)
    elif lesion.source in ("list", "localizer"):
        among = [Taken(part, 1.0, _among(lesion, part)).numbers for part in found]
        chosen = selected(lesion, found, among, scores)
        taken = [
            Taken(part, 1.0, tuple(some.tolist()))
            for part, some in zip(found, chosen, strict=True)
            if len(some)
        ]
        most, count = sum(map(len, among)), len(taken)
    else:
        taken = [Taken(part, lesion.amount, _among(lesion, part)) for part in found]
        most, count = max(len(one.numbers) for one in taken), sum(one.count for one in taken)
    if lesion.amount > 0.0 and not count:
        raise none_taken(lesion, most)
    return taken


def named_parts(lesion: Lesion, parts: Sequence[Part], model: str) -> list[Part]:
    """Return the parts that a lesion names by target and layers."""
    targets = TARGETS[lesion.target].of or (lesion.target,)
    found = [part for part in parts if part.target in targets]
    if not found:
        own = {part.target for part in parts}
        has = ", ".join(one.id for one in TARGETS.values() if own & {one.id, *one.of})
        raise wrong(lesion, f"finds no '{lesion.target}' in {model}", has)
    if lesion.source == "list":
        check_names(lesion, parts)
    if lesion.layers:
        numbers = [part.layer for part in parts if part.layer is not None]
        layers = set(_resolved(lesion, lesion.layers, max(numbers) + 1, "layer"))
        found = [part for part in found if part.layer in layers]
        missing = layers - {part.layer for part in found}
        if missing:
            has = "the layers that 'tabwb lesion targets' shows"
            raise wrong(lesion, f"finds no '{lesion.target}' in layer {min(missing)}", has)
    return found


def spread(lesion: Lesion, parts: Sequence[Part], model: str) -> list[Taken]:
    """Return as many units as the localizer takes, spread over the parts as evenly as can be.

    For a plan before the localizer was run: only the total is what a lesion takes.
    """
    found = named_parts(lesion, parts, model)
    among = [Taken(part, 1.0, _among(lesion, part)).numbers for part in found]
    ends = np.cumsum([0, *map(len, among)])
    count = how_many(int(ends[-1]), lesion.amount)
    if lesion.amount > 0.0 and not count:
        raise none_taken(lesion, int(ends[-1]))
    shares = np.diff(count * ends // ends[-1])
    return [
        Taken(part, 1.0, tuple(some[:share].tolist()))
        for part, some, share in zip(found, among, shares, strict=True)
        if share
    ]


def units_of(lesion: Lesion, taken: Taken) -> NDArray[np.int64]:
    """Return the units (heads, neurons, experts) that a random choice takes, in order.

    Returns:
        Shape (taken units,), int64: those with the smallest draws among the units in question.
    """
    return drawn(lesion.seed, taken.part.name, taken.part.units, taken.numbers, taken.count)


def _layers(lesion: Lesion, parts: Sequence[Part]) -> list[Taken]:
    """Return the layers that are taken, each whole."""
    numbers = np.array([part.layer for part in parts])
    count = how_many(len(parts), lesion.amount)
    taken = set(drawn(lesion.seed, "layers", int(numbers.max()) + 1, numbers, count).tolist())
    return [Taken(part, 1.0) for part in parts if part.layer in taken]


def _among(lesion: Lesion, part: Part) -> tuple[int, ...] | None:
    if not lesion.units:
        return None
    unit = TARGETS[lesion.target].unit
    return tuple(sorted(set(_resolved(lesion, lesion.units, part.units, unit))))


def _resolved(lesion: Lesion, numbers: Sequence[int], count: int, what: str) -> list[int]:
    """Return numbers counted from 0, negative ones from the end."""
    for number in numbers:
        if not -count <= number < count:
            allowed = f"0 to {count - 1}, or -{count} to -1 counted from the end"
            raise wrong(lesion, f"names the {what} {number}, which is not there", allowed)
    return [number % count for number in numbers]


def units_facts(lesions: Sequence[Lesion], taken: Sequence[Sequence[Taken]]) -> dict[str, str]:
    """Return facts to store: the units that list, localizer or their controls took."""
    found = [
        units_text({one.part.name: one.numbers.tolist() for one in several})
        for lesion, several in zip(lesions, taken, strict=True)
        if lesion.source in ("list", "localizer")
    ]
    if not found:
        return {}
    text = "+".join(found)
    return {UNITS: text, UNITS_HASH: hashlib.sha256(text.encode()).hexdigest()}


@dataclass(frozen=True, slots=True)
class Planned:
    """One part under one lesion."""

    lesion: Lesion
    taken: Taken

    @property
    def part(self) -> Part:
        """The part."""
        return self.taken.part

    @property
    def units(self) -> int:
        """How many of its units are taken: weights, heads, neurons, experts or layers."""
        part, amount = self.part, self.taken.amount
        is_drawn = TARGETS[self.lesion.target].unit == "weight" and self.lesion.select == "random"
        if is_drawn and 0.0 < amount < 1.0:
            return int(weights_taken(self.lesion.seed, part.name, part.units, amount).sum())
        return self.taken.count

    @property
    def parameters(self) -> int:
        """How many of its parameters are taken."""
        return self.units * self.part.parameters // self.part.units

    @property
    def expected(self) -> float:
        """How many parameters are taken on average over seeds."""
        if TARGETS[self.lesion.target].unit == "weight":
            return self.taken.amount * self.part.parameters
        return float(self.parameters)


def planned(
    lesions: Sequence[Lesion], parts: Sequence[Part], model: str, scores: Scores | None = None
) -> list[Planned]:
    """Return what lesions take of each part, in their order."""
    found = []
    for lesion in lesions:
        if lesion.source == "localizer" and scores is None:
            taken = spread(lesion, parts, model)
        else:
            taken = parts_taken(lesion, parts, model, scores)
        found += [Planned(lesion, one) for one in taken]
    return found


def whole(parts: Sequence[Part], facts: Mapping[str, str]) -> int:
    """Return how many parameters a model has: as it says; else the weights of all parts."""
    told = facts.get("parameters", "")
    if told.isdecimal() and int(told):
        return int(told)
    return sum(one.parameters for one in parts if TARGETS[one.target].unit == "weight")


def change_text(taken: int, of: int, about: str = "") -> str:
    """Return how much of a model a lesion changes, in words.

    >>> change_text(73_696, 1_197_440)
    'changes 73,696 of 1,197,440 parameters (6.15%)'
    """
    share = f" ({100 * taken / of:.3g}%)" if of else ""
    return f"changes {about}{taken:,} of {of:,} parameters{share}"


def kept(plan: Sequence[Planned]) -> int:
    """Return how many bytes of the model are copied, each tensor once."""
    sizes = {name: size for one in plan if one.units for name, size in one.part.tensors.items()}
    return sum(sizes.values())
