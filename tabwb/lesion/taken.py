"""Which parts of a model, and which of their units, a lesion takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.lesion.declared import TARGETS
from tabwb.lesion.draw import bits_of, how_many
from tabwb.lesion.part import Part
from tabwb.lesion.spec import Lesion
from tabwb.records.errors import UsageError


@dataclass(frozen=True, slots=True)
class Taken:
    """A part that a lesion takes units of.

    Attributes:
        part: the part.
        amount: the share of the units in question that is taken.
        among: numbers of the units in question; None: all of them.
    """

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


def parts_taken(lesion: Lesion, parts: Sequence[Part], model: str = "the model") -> list[Taken]:
    """Return the parts that a lesion takes units of.

    Args:
        lesion: the lesion.
        parts: of the model.
        model: its name, for errors.

    Raises:
        UsageError: the model has no such part, layer or unit, or the amount takes no unit.
    """
    targets = TARGETS[lesion.target].of or (lesion.target,)
    found = [part for part in parts if part.target in targets]
    if not found:
        own = {part.target for part in parts}
        has = ", ".join(one.id for one in TARGETS.values() if own & {one.id, *one.of})
        raise _wrong(lesion, f"finds no '{lesion.target}' in {model}", has)
    if lesion.layers:
        numbers = [part.layer for part in parts if part.layer is not None]
        layers = set(_resolved(lesion, lesion.layers, max(numbers) + 1, "layer"))
        found = [part for part in found if part.layer in layers]
        missing = layers - {part.layer for part in found}
        if missing:
            has = "the layers that 'tabwb lesion targets' shows"
            raise _wrong(lesion, f"finds no '{lesion.target}' in layer {min(missing)}", has)
    unit = TARGETS[lesion.target].unit
    if unit == "weight":
        return [Taken(part, lesion.amount) for part in found]
    if unit == "layer":
        most, taken = len(found), _layers(lesion, found)
        count = len(taken)
    else:
        taken = [Taken(part, lesion.amount, _among(lesion, part)) for part in found]
        most, count = max(len(one.numbers) for one in taken), sum(one.count for one in taken)
    if lesion.amount > 0.0 and not count:
        raise _wrong(
            lesion,
            f"takes less than half of one {unit}: there are {most} to choose from",
            f"an amount of {1 / (2 * most):.3g} or more, or 0",
        )
    return taken


def units_of(lesion: Lesion, taken: Taken) -> NDArray[np.int64]:
    """Return the units (heads, neurons, experts) that a random choice takes, in order.

    Args:
        lesion: with ``select=random``.
        taken: the part.

    Returns:
        Shape (taken units,), int64: those with the smallest draws among the units in question.
    """
    return _drawn(lesion, taken.part.name, taken.part.units, taken.numbers, taken.count)


def _drawn(
    lesion: Lesion, name: str, units: int, numbers: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    draws = bits_of(lesion.seed, name, "units", units)[numbers]
    return np.sort(numbers[np.argsort(draws, kind="stable")[:count]])


def _layers(lesion: Lesion, parts: Sequence[Part]) -> list[Taken]:
    """Return the layers that are taken, each whole."""
    numbers = np.array([part.layer for part in parts])
    count = how_many(len(parts), lesion.amount)
    taken = set(_drawn(lesion, "layers", int(numbers.max()) + 1, numbers, count).tolist())
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
            raise _wrong(lesion, f"names the {what} {number}, which is not there", allowed)
    return [number % count for number in numbers]


def _wrong(lesion: Lesion, what: str, allowed: str) -> UsageError:
    return UsageError(f"the lesion '{lesion}' {what}", allowed=allowed)
