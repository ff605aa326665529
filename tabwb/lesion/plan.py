"""What a lesion would change, computed without the model's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabwb.lesion.declared import TARGETS
from tabwb.lesion.draw import weights_taken
from tabwb.lesion.part import Part
from tabwb.lesion.spec import Lesion
from tabwb.lesion.taken import Taken, parts_taken


@dataclass(frozen=True, slots=True)
class Planned:
    """One part under one lesion.

    Attributes:
        lesion: the lesion.
        part: the part.
        units: how many of its units are taken: weights, heads, neurons, experts or layers.
        parameters: how many of its parameters.
    """

    lesion: Lesion
    part: Part
    units: int
    parameters: int


def planned(lesions: Sequence[Lesion], parts: Sequence[Part], model: str) -> list[Planned]:
    """Return what lesions take of each part, in their order.

    Args:
        lesions: applied together.
        parts: of the model.
        model: its name, for errors.

    Raises:
        UsageError: the model lacks what a lesion names.
    """
    return [
        _planned(lesion, taken) for lesion in lesions for taken in parts_taken(lesion, parts, model)
    ]


def _planned(lesion: Lesion, taken: Taken) -> Planned:
    part, units = taken.part, taken.count
    is_drawn = TARGETS[lesion.target].unit == "weight" and lesion.select == "random"
    if is_drawn and 0.0 < taken.amount < 1.0:
        units = int(weights_taken(lesion.seed, part.name, part.units, taken.amount).sum())
    return Planned(lesion, part, units, units * part.parameters // part.units)


def kept(plan: Sequence[Planned]) -> int:
    """Return how many bytes of the model are copied, each tensor once."""
    sizes = {name: size for one in plan if one.units for name, size in one.part.tensors.items()}
    return sum(sizes.values())
