"""The values of a lesion's spec one by one: for keys of groups and columns of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from tabwb.lesion.declared import CONTROL, CONTROLS
from tabwb.lesion.numbers import numbers_text
from tabwb.lesion.spec import Lesion, parse_lesions
from tabwb.records.errors import UsageError

SpecValue = str | float | int
Read = Callable[[Sequence[Lesion]], SpecValue | None]
Role = Literal["intact", "lesion", "control", "layer control"]


def _common(value: Callable[[Lesion], SpecValue | None]) -> Read:
    def read(lesions: Sequence[Lesion]) -> SpecValue | None:
        found = {value(one) for one in lesions}
        return found.pop() if len(found) == 1 else None

    return read


def _seed(lesions: Sequence[Lesion]) -> SpecValue | None:
    """Return the seed of the lesions whose seed makes a difference."""
    found = {one.seed for one in lesions if one.draws}
    return found.pop() if len(found) == 1 else None


PARTS: Mapping[str, Read] = {
    "target": lambda lesions: "+".join(dict.fromkeys(one.target for one in lesions)),
    "operation": _common(lambda one: one.operation),
    "amount": _common(lambda one: one.amount),
    "factor": _common(lambda one: one.factor),
    "sigma": _common(lambda one: one.sigma),
    "bits": _common(lambda one: one.bits),
    "layers": _common(lambda one: numbers_text(one.layers) or "all"),
    "seed": _seed,
    "kind": lambda lesions: "+".join(one.kind() for one in lesions),
}
"""A value of a spec, as keys (``lesion-amount``) and columns (``lesion_amount``) name it, to the
function that returns what joined lesions share: None where they differ or have none. The columns
are declared in :data:`tabwb.records.columns.DECLARED`."""


@lru_cache(maxsize=4096)
def spec_values(spec: str) -> Mapping[str, SpecValue]:
    """Return the values of a spec by the ids of :data:`PARTS`, without those that it lacks.

    >>> spec_values("mlp.down:zero:0.3@layers=0-3,seed=7")["layers"], spec_values("made elsewhere")
    ('0-3', {})
    """
    try:
        lesions = parse_lesions(spec)
    except UsageError:
        return {}
    found = {name: read(lesions) for name, read in PARTS.items()}
    return {name: value for name, value in found.items() if value is not None}


def role_of(lesion: str | None, tags: Sequence[str]) -> Role:
    """Return what an administration to a model is in a lesion study.

    >>> role_of(None, []), role_of("mlp:zero", []), role_of("projections:zero:0.1", ["control"])
    ('intact', 'lesion', 'control')
    """
    if not lesion:
        return "intact"
    return control_role(lesion) if CONTROL in tags else "lesion"


@lru_cache(maxsize=4096)
def control_role(spec: str) -> Literal["control", "layer control"]:
    """Return the role of a control: whether it takes random units in the lesion's layers alone.

    >>> control_role("projections:zero:0.1@layers=2"), control_role("projections:zero:0.1")
    ('layer control', 'control')
    """
    try:
        lesions = parse_lesions(spec)
    except UsageError:  # made with another tool
        lesions = ()
    inside = bool(lesions) and all(one.layers and one.select == "random" for one in lesions)
    return next(one.role for one in CONTROLS.values() if one.in_layers == inside)


def row_of(target: str, unit: int | None) -> str:
    """Return what a row of a map is of: a target, or a single unit of it.

    >>> row_of("attention.heads", 3), row_of("mlp", None)
    ('attention.heads 3', 'mlp')
    """
    return target if unit is None else f"{target} {unit}"
