"""Which parts of a model, and which of their units, a lesion takes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.lesion.declared import TARGETS
from tabwb.lesion.draw import how_many
from tabwb.lesion.facts import UNITS, UNITS_HASH
from tabwb.lesion.part import Part
from tabwb.lesion.selected import Scores, check_names, drawn, none_taken, selected, wrong
from tabwb.lesion.spec import Lesion
from tabwb.lesion.unit_list import units_text


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
