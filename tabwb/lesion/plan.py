"""What a lesion would change, computed without the model's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabwb.lesion.declared import TARGETS
from tabwb.lesion.draw import weights_taken
from tabwb.lesion.part import Part
from tabwb.lesion.selected import Scores
from tabwb.lesion.spec import Lesion
from tabwb.lesion.taken import Taken, parts_taken, spread


@dataclass(frozen=True, slots=True)
class Planned:
    """One part under one lesion.

    Attributes:
        lesion: the lesion.
        taken: the part, and how much of it.
    """

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
