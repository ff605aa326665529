"""Where the parts of a model are in its tensors. Imported only where torch is.

A part is one or more pieces: a tensor and a view of it in which the units come first, or of weights
in the order (outputs, inputs) of a linear layer, whatever the architecture stores. So a seed takes
the same weights of the same projection in each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tabwb.lesion.declared import Part
from tabwb.records.errors import ComponentError

View = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Piece:
    """A view of one tensor of a model.

    Attributes:
        module: whose parameter it is.
        attribute: its name there.
        name: its name in the model.
        view: returns what of the tensor is in the part, its units along the first dimension; shares
            the tensor's memory.
        offset: added to a value before it acts: 1 of norms that multiply by 1 + w.
    """

    module: nn.Module
    attribute: str
    name: str
    view: View
    offset: float = 0.0

    @property
    def tensor(self) -> torch.Tensor:
        """The tensor that the model uses now."""
        return self.module._parameters[self.attribute]  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Located:
    """A part, and where it is."""

    part: Part
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """How an architecture names what is in its layers.

    Attributes:
        layers: path of the list of layers.
        embedding: path of the embedding of tokens.
        attention: path in a layer.
        mlp: path in a layer.
        q, k, v: paths in attention of separate projections; empty where they are fused.
        qkv: path in attention of a fused projection, or empty.
        by_head: whether the fused projection has q, k and v of one head in a row; otherwise it has
            all of q, then all of k, then all of v.
        o: path in attention.
        gate, up, down: paths in the network; ``gate`` is empty where there is none.
        gate_up: path of a fused projection, the gate first; or empty.
        sums: paths in a layer of linear layers whose results are added to what the layer was given,
            besides ``o`` and ``down`` (a shared expert).
    """

    layers: str = "model.layers"
    embedding: str = "model.embed_tokens"
    attention: str = "self_attn"
    mlp: str = "mlp"
    q: str = "q_proj"
    k: str = "k_proj"
    v: str = "v_proj"
    qkv: str = ""
    by_head: bool = False
    o: str = "o_proj"
    gate: str = "gate_proj"
    up: str = "up_proj"
    down: str = "down_proj"
    gate_up: str = ""
    sums: tuple[str, ...] = ()


_LIKE_LLAMA = (
    *("llama", "mistral", "ministral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text"),
    *("olmo", "olmo2", "olmo3", "smollm3", "mixtral", "qwen3_moe", "olmoe", "gpt_oss"),
)
FAMILIES = {
    **dict.fromkeys(_LIKE_LLAMA, Family()),
    "phi3": Family(q="", k="", v="", qkv="qkv_proj", gate="", gate_up="gate_up_proj"),
    "qwen2_moe": Family(sums=("mlp.shared_expert.down_proj",)),
    "phi": Family(o="dense", gate="", up="fc1", down="fc2"),
    "gpt_neox": Family(
        layers="gpt_neox.layers",
        embedding="gpt_neox.embed_in",
        attention="attention",
        q="",
        k="",
        v="",
        qkv="query_key_value",
        by_head=True,
        o="dense",
        gate="",
        up="dense_h_to_4h",
        down="dense_4h_to_h",
    ),
    "gpt2": Family(
        layers="transformer.h",
        embedding="transformer.wte",
        attention="attn",
        q="",
        k="",
        v="",
        qkv="c_attn",
        o="c_proj",
        gate="",
        up="c_fc",
        down="c_proj",
    ),
}
"""``model_type`` of the configuration to the names; others are refused until they are derived."""


def locate_parts(model: Any) -> list[Located]:
    """Return the parts of a model that can be lesioned, in the order of its layers."""
    config = model.config.get_text_config()
    family = FAMILIES.get(config.model_type)
    if family is None:
        raise ComponentError(
            f"lesions are not derived for the architecture '{config.model_type}'",
            allowed=", ".join(sorted(FAMILIES)),
        )
    _check_tensors(model)
    names = {id(module): name for name, module in model.named_modules()}
    builder = _Builder(family, config, names)
    parts: list[Located] = []
    layers = model.get_submodule(family.layers)
    for number, layer in enumerate(layers):
        parts += builder.of_layer(number, layer)
    embedding = builder.piece(model.get_submodule(family.embedding), "weight")
    parts.append(_weights("embedding", "embedding", None, embedding))
    head = model.get_output_embeddings()
    parts.append(_weights("head", "head", None, builder.piece(head, "weight")))
    return parts


class _Builder:
    """Finds the parts of the layers of one model."""

    def __init__(self, family: Family, config: Any, names: dict[int, str]) -> None:
        self.family = family
        self.heads = int(config.num_attention_heads)
        self.names = names

    def piece(
        self, module: nn.Module, attribute: str, view: View | None = None, **more: Any
    ) -> Piece:
        name = f"{self.names[id(module)]}.{attribute}"
        return Piece(module, attribute, name, view or _whole, **more)

    def of_layer(self, number: int, layer: nn.Module) -> Iterator[Located]:
        """Yield the parts of a layer."""
        family = self.family
        attention = layer.get_submodule(family.attention)
        o = attention.get_submodule(family.o)
        width = _inputs(o) // self.heads
        for letter, piece in self._projections(attention, o):
            yield _weights(f"{number}.attention.{letter}", f"attention.{letter}", number, piece)
        heads = self.piece(o, "weight", _columns(o, self.heads, width))
        yield _located(f"{number}.attention.heads", "attention.heads", number, self.heads, (heads,))
        yield from self._network(number, layer.get_submodule(family.mlp))
        norms = tuple(self._norms(layer))
        if norms:
            name = f"{number}.norm"
            yield _located(name, "norm", number, sum(p.tensor.numel() for p in norms), norms)
        yield _located(f"{number}.layer", "layer", number, 1, self._added(layer))

    def _projections(self, attention: nn.Module, o: nn.Module) -> Iterator[tuple[str, Piece]]:
        family = self.family
        if not family.qkv:
            for letter, path in (("q", family.q), ("k", family.k), ("v", family.v)):
                module = attention.get_submodule(path)
                yield letter, self.piece(module, "weight", _canonical(module))
        else:
            fused = attention.get_submodule(family.qkv)
            q = _inputs(o)
            kv = (_outputs(fused) - q) // 2
            for place, letter in enumerate("qkv"):
                if family.by_head:
                    view = _head_rows(fused, self.heads, place)
                else:
                    first = (0, q, q + kv)[place]
                    view = _rows(fused, first, first + (q if letter == "q" else kv))
                yield letter, self.piece(fused, "weight", view)
        yield "o", self.piece(o, "weight", _canonical(o))

    def _network(self, number: int, mlp: nn.Module) -> Iterator[Located]:
        family = self.family
        experts = getattr(mlp, "experts", None)
        if experts is not None:
            yield from self._experts(number, experts)
            return
        down = mlp.get_submodule(family.down)
        up = "mlp.up" if family.gate or family.gate_up else "mlp.in"
        out = "mlp.down" if up == "mlp.up" else "mlp.out"
        places: list[tuple[str, Piece]]
        if family.gate_up:
            fused = mlp.get_submodule(family.gate_up)
            half = _outputs(fused) // 2
            places = [
                ("mlp.gate", self.piece(fused, "weight", _rows(fused, 0, half))),
                ("mlp.up", self.piece(fused, "weight", _rows(fused, half, 2 * half))),
            ]
        else:
            named = [("mlp.gate", family.gate)] if family.gate else []
            modules = [(t, mlp.get_submodule(path)) for t, path in [*named, (up, family.up)]]
            places = [(t, self.piece(one, "weight", _canonical(one))) for t, one in modules]
        places.append((out, self.piece(down, "weight", _canonical(down))))
        for target, piece in places:
            yield _weights(f"{number}.{target}", target, number, piece)
        # What a neuron adds is its column of the last projection: exact with and without a gate.
        column = self.piece(down, "weight", _columns(down, _inputs(down), 1))
        yield _located(f"{number}.mlp.neurons", "mlp.neurons", number, _inputs(down), (column,))

    def _experts(self, number: int, experts: nn.Module) -> Iterator[Located]:
        both = experts._parameters["gate_up_proj"]
        down = experts._parameters["down_proj"]
        assert both is not None and down is not None
        bias = experts._parameters.get("down_proj_bias")
        # GPT-OSS keeps (experts, inputs, outputs), the gate in every second column.
        is_turned = bias is not None
        half = both.shape[2 if is_turned else 1] // 2

        def gate(tensor: torch.Tensor) -> torch.Tensor:
            return tensor[:, :, ::2].mT if is_turned else tensor[:, :half]

        def up(tensor: torch.Tensor) -> torch.Tensor:
            return tensor[:, :, 1::2].mT if is_turned else tensor[:, half:]

        def last(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.mT if is_turned else tensor

        for target, attribute, view in (
            ("mlp.gate", "gate_up_proj", gate),
            ("mlp.up", "gate_up_proj", up),
            ("mlp.down", "down_proj", last),
        ):
            piece = self.piece(experts, attribute, view)
            yield _weights(f"{number}.{target}", target, number, piece)
        pieces = [self.piece(experts, "down_proj")]
        if is_turned:
            pieces.append(self.piece(experts, "down_proj_bias"))
        yield _located(f"{number}.experts", "experts", number, down.shape[0], tuple(pieces))

    def _added(self, layer: nn.Module) -> tuple[Piece, ...]:
        """Return what makes the results that a layer adds to what it was given."""
        family = self.family
        mlp = layer.get_submodule(family.mlp)
        modules = [layer.get_submodule(f"{family.attention}.{family.o}")]
        modules += [layer.get_submodule(path) for path in family.sums]
        attributes = ["weight", "bias"]
        if (experts := getattr(mlp, "experts", None)) is not None:
            modules.append(experts)
            attributes += ["down_proj", "down_proj_bias"]
        else:
            modules.append(mlp.get_submodule(family.down))
        return tuple(
            self.piece(module, attribute, _alone)
            for module in modules
            for attribute in attributes
            if module._parameters.get(attribute) is not None
        )

    def _norms(self, layer: nn.Module) -> Iterator[Piece]:
        for path, module in layer.named_modules():
            if (
                type(module).__name__.endswith("Norm")
                and module._parameters.get("weight") is not None
            ):
                yield self.piece(module, "weight", offset=_offset(module, path))


def _located(
    name: str, target: str, layer: int | None, units: int, pieces: tuple[Piece, ...]
) -> Located:
    tensors = {piece.name: piece.tensor.numel() * piece.tensor.element_size() for piece in pieces}
    count = sum(piece.view(piece.tensor).numel() for piece in pieces)
    return Located(Part(name, target, layer, units, count, tensors), pieces)


def _weights(name: str, target: str, layer: int | None, piece: Piece) -> Located:
    return _located(name, target, layer, piece.view(piece.tensor).numel(), (piece,))


# ------------------------------------------------------------------ views


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def _alone(tensor: torch.Tensor) -> torch.Tensor:
    return tensor[None]


def _is_turned(module: nn.Module) -> bool:
    """Return whether a layer keeps (inputs, outputs): the Conv1D of GPT-2."""
    return type(module).__name__ == "Conv1D"


def _canonical(module: nn.Module) -> View:
    return (lambda tensor: tensor.mT) if _is_turned(module) else _whole


def _outputs(module: nn.Module) -> int:
    return int(module.weight.shape[1 if _is_turned(module) else 0])  # type: ignore[index]


def _inputs(module: nn.Module) -> int:
    return int(module.weight.shape[0 if _is_turned(module) else 1])  # type: ignore[index]


def _rows(module: nn.Module, first: int, last: int) -> View:
    turned = _canonical(module)
    return lambda tensor: turned(tensor)[first:last]


def _head_rows(module: nn.Module, heads: int, place: int) -> View:
    """Return the rows of q, k or v of a fused projection that has the three of one head in a row.

    The view has the shape (heads, width, inputs): in this order it is the separate projection's.
    """
    turned = _canonical(module)
    return lambda tensor: _split(turned(tensor), 0, (heads, 3, -1))[:, place]


def _columns(module: nn.Module, count: int, width: int) -> View:
    """Return the inputs of a projection in groups: shape (count, outputs, width)."""
    turned = _canonical(module)
    return lambda tensor: _split(turned(tensor), 1, (count, width)).transpose(0, 1)


def _split(tensor: torch.Tensor, dimension: int, sizes: tuple[int, ...]) -> torch.Tensor:
    return tensor.unflatten(dimension, sizes)  # type: ignore[no-untyped-call, no-any-return]


def _offset(module: nn.Module, path: str) -> float:
    """Return what a norm adds to its weights, found by setting them to 0."""
    weight = module._parameters["weight"]
    assert weight is not None
    zero = nn.Parameter(torch.zeros_like(weight), requires_grad=False)
    probe = torch.arange(1, weight.numel() + 1, dtype=weight.dtype, device=weight.device)
    bias = module._parameters.get("bias")
    try:
        module._parameters["weight"] = zero
        with torch.inference_mode():
            result = module(probe[None]) - (0 if bias is None else bias)
    finally:
        module._parameters["weight"] = weight
    if not bool(result.any()):
        return 0.0
    scaled = probe / probe.float().square().mean().sqrt()
    if torch.allclose(result[0].float(), scaled.float(), rtol=0.02):
        return 1.0
    raise ComponentError(f"the norm '{path}' uses its weights in a way that is not derived")


def _check_tensors(model: Any) -> None:
    """Check that the parameters are plain numbers in memory."""
    if getattr(model, "is_quantized", False) or hasattr(model, "hf_device_map"):
        raise ComponentError(
            "quantised or offloaded weights cannot be lesioned: their numbers are not those that "
            "the model computes with, or are not in memory",
            hint="load the model whole, for example with dtype=bfloat16",
        )
    for name, parameter in model.named_parameters():
        plain = type(parameter.data) is torch.Tensor and parameter.is_floating_point()
        if not plain or parameter.is_meta:
            raise ComponentError(f"the weights '{name}' are not plain numbers in memory")
