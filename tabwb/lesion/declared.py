"""What a lesion can have as its target and do there; parts of a model; names of stored facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Unit = Literal["weight", "head", "neuron", "expert", "layer"]
"""What is lesioned as a whole: a single weight, or all weights of a head, neuron, expert, layer."""


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of part of a language model; without ``operations`` all; ``of`` what a group means."""

    id: str
    unit: Unit
    meaning: str
    in_layers: bool = True
    operations: tuple[str, ...] = ()
    of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Control:
    """A kind of control that has a lesion's number of weights."""

    id: str
    role: Literal["control", "layer control"]
    meaning: str
    in_layers: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done to the units that a lesion takes; without units it can be done to all kinds."""

    id: str
    meaning: str
    option: Literal["", "factor", "sigma", "bits"] = ""
    draws: bool = False
    units: tuple[Unit, ...] = ()


def _targets() -> dict[str, Target]:
    weights = (
        ("attention.q", "query projection"),
        ("attention.k", "key projection"),
        ("attention.v", "value projection"),
        ("attention.o", "output projection of attention"),
        ("mlp.gate", "gate projection of a feed-forward network"),
        ("mlp.up", "up projection of a gated feed-forward network"),
        ("mlp.down", "down projection of a gated feed-forward network"),
        ("mlp.in", "first projection of a feed-forward network without a gate"),
        ("mlp.out", "second projection of a feed-forward network without a gate"),
        ("norm", "weights of the layer norms of a layer"),
    )
    declared = [Target(name, "weight", meaning) for name, meaning in weights]
    attention, mlp = (
        tuple(name for name, _ in weights if name.startswith(group))
        for group in ("attention.", "mlp.")
    )
    declared += [
        Target("attention", "weight", "all projections of attention", of=attention),
        Target("mlp", "weight", "all projections of feed-forward networks", of=mlp),
        Target(
            "projections",
            "weight",
            "all projections of attention and feed-forward networks",
            of=attention + mlp,
        ),
    ]
    declared += [
        Target("attention.heads", "head", "attention heads, at the input of the output projection"),
        Target("mlp.neurons", "neuron", "feed-forward neurons, at the input of down (or out)"),
        Target("experts", "expert", "experts of a mixture: what each adds"),
        Target(
            "layer",
            "layer",
            "whole layers: what their attention and feed-forward network add",
            # A norm after the sum would undo a change of scale; other values belong to one layer.
            operations=("zero",),
        ),
        Target("embedding", "weight", "embedding of tokens", in_layers=False),
        Target("head", "weight", "the matrix that gives the logits of tokens", in_layers=False),
    ]
    return {target.id: target for target in declared}


TARGETS: Mapping[str, Target] = MappingProxyType(_targets())

OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        operation.id: operation
        for operation in (
            Operation("zero", "the units are set to 0"),
            Operation("mean", "the units are set to the mean of their tensor"),
            Operation("scale", "the units are multiplied by factor=", "factor"),
            Operation(
                "noise",
                "normal noise is added, its standard deviation sigma= times that of the tensor",
                "sigma",
                draws=True,
            ),
            Operation("shuffle", "the values of the units are put in a random order", draws=True),
            Operation("swap", "the units are paired at random and exchange values", draws=True),
            Operation(
                "quantise",
                "the units are rounded to bits= bits, with one step for each row of outputs",
                "bits",
                units=("weight",),
            ),
        )
    }
)

NUMBERS: Mapping[str, str] = MappingProxyType(
    {
        "factor": "a number other than 1",
        "sigma": "a number above 0",
        "bits": "a whole number from 2 to 16",
    }
)

PRESETS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "": ("none", "the intact model"),
        "mlp:zero:0.1@seed=1": ("mild", "10 % of the feed-forward weights, drawn by chance, are 0"),
        "mlp:zero:0.3@seed=1": ("strong", "30 % of the feed-forward weights are 0"),
        "attention.heads:zero:0.5@seed=1": ("heads", "half of the attention heads are silent"),
    }
)
"""Lesions that are offered first: name and what is done, by spec."""

PRUNE = "prune"
"""Another word for ``zero`` with ``select=magnitude``."""

SELECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "random": "drawn from the seed and the name of the part",
        "magnitude": "the smallest: by absolute value, units of many weights by their 2-norm",
        "list": "those of the list in file=",
        "localizer": "those that respond most to sentences compared with lists of nonwords",
        "list-control": "as many in each layer as of the list, drawn among the others",
        "localizer-control": "as many in each layer as the localizer takes, drawn among the others",
    }
)

CONTROLS_OF: Mapping[str, str] = MappingProxyType(
    {"list-control": "list", "localizer-control": "localizer"}
)
"""A selection of random units to the selection whose numbers in each layer it has."""

UNIT_KEYS: Mapping[str, str] = MappingProxyType(
    {"head": "heads", "neuron": "neurons", "expert": "experts"}
)
"""A unit of a target to the option of specs and grids that names such units."""

MEASURES: Mapping[str, str] = MappingProxyType(
    {
        "mlp.neurons": "absolute value of the neuron at the input of down (or out)",
        "attention.heads": "2-norm of the head's values at the input of the output projection",
    }
)
"""A target whose units the localizer can measure, to what it measures of each token."""

Pool = Literal["mean", "last"]
"""Of the values at the tokens of a text the mean, or that of the last token."""

CONTROL = "control"
"""The tag of administrations under a control of a lesion's size; see docs/lesions.md."""
CONTROLS: Mapping[str, Control] = MappingProxyType(
    {
        one.id: one
        for one in (
            Control("anywhere", "control", "anywhere in attention and feed-forward networks"),
            Control(
                "same layers",
                "layer control",
                "in attention and feed-forward networks of the same layers",
                in_layers=True,
            ),
        )
    }
)
SPREAD_OVER = "projections"
CONTROL_ROLES = tuple(one.role for one in CONTROLS.values())


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


PARAMETERS: Final = "lesion_parameters"
DRAWS: Final = "lesion_draws"
UNITS: Final = "lesion_units"
UNITS_HASH: Final = "lesion_units_sha256"
LANES: Final = "lesion_lanes"
PARENT_PARTS: Final = "parent_parts"
"""Whether a checkpoint has the parts of the model of its sweep: :data:`SAME` or :data:`OTHER`."""
SAME, OTHER = "the same", "others"
PERPLEXITY: Final = "lesion_perplexity"
PERPLEXITY_REASON: Final = "lesion_perplexity_reason"
CHECK_TEXT: Final = "lesion_check_text"
