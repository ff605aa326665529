"""A part of a model that can be lesioned, as its back end describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a model as a lesion sees it.

    Attributes:
        name: its draws depend on it: ``3.attention.q`` in layer 3, ``embedding``.
        target: a target of docs/lesions.md, not a group: ``attention.q``, not ``attention``.
        layer: its layer, from 0, or None where the target is in no layer (``embedding``, ``head``).
        units: number of units: of weights where the target's unit is a weight.
        parameters: number of parameters in it, the same in each unit.
        tensors: names of the model's tensors in which they are, and their bytes.
    """

    name: str
    target: str
    layer: int | None
    units: int
    parameters: int
    tensors: Mapping[str, int]
