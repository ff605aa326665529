"""Several lesions of one model side by side: each row of a batch is answered under its own.

A row's lesion is its *lane*. Lesions of heads and neurons are factors on the inputs of the
projection after them, and all lanes share its weights. Other lesions of linear layers give each
lane its own matrix. Everything else of the model is shared. Imported only where torch is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from tabwb.lesion.declared import TARGETS, Part
from tabwb.lesion.spec import Lesion, parse_lesions
from tabwb.lesion.taken import Taken, parts_taken
from tabwb.records.errors import ComponentError
from tabwb_transformers.lesions.anatomy import Located
from tabwb_transformers.lesions.surgery import Surgery, chosen

MOST_BYTES = 32 * 2**20
"""A lesion that copies more never has its own matrices next to those of others."""
SIZES = {32 * 2**20: 16, 512 * 2**20: 4}
"""Bytes of a model's layers, and how many conditions share a batch up to there: as measured."""

Forward = Callable[[torch.Tensor], torch.Tensor]
Sites = list[tuple[Lesion, Taken, Located]]


def most_lanes(surgery: Surgery, spec: str, dtype: torch.dtype) -> int:
    """Return how many conditions like this one should share a batch.

    Args:
        surgery: of the model.
        spec: of the lesion; empty: the intact model.
        dtype: in which the model computes.
    """
    lesions = parse_lesions(spec) if spec else ()
    if any(lesion.source == "localizer" for lesion in lesions):
        return 0  # it needs the localizer's scores
    sites = _sites(surgery, lesions)
    if not all(_is_linear(one) for _, _, one in sites):
        return 0
    if not _by_factors(lesions) and _bytes(one.part for _, _, one in sites) > MOST_BYTES:
        return 0
    size = _bytes(part for part in surgery.parts if part.layer is not None)
    if dtype != torch.float32:
        return 1
    return next((count for most, count in SIZES.items() if size <= most), 1)


class Lanes:
    """Lesions of one model that can be in force at one time."""

    def __init__(self, surgery: Surgery, specs: Sequence[str]) -> None:
        lesions = [parse_lesions(spec) if spec else () for spec in specs]
        sites = [_sites(surgery, one) for one in lesions]
        if not all(_is_linear(one) for lane in sites for _, _, one in lane):
            raise ComponentError("such lesions cannot be side by side in one batch")
        self._rows = _Rows(len(specs))
        own = [not _by_factors(one) for one in lesions]
        with_matrices = {
            id(piece.module): piece.module
            for is_own, lane in zip(own, sites, strict=True)
            if is_own
            for _, _, one in lane
            for piece in one.pieces
        }
        self._forwards: list[tuple[nn.Module, Forward]] = []
        weights: dict[int, list[torch.Tensor]] = {key: [] for key in with_matrices}
        try:
            for one in lesions:
                if with_matrices:
                    surgery.apply(one)
                for key, module in with_matrices.items():
                    weights[key].append(_matrix(module))
        finally:
            surgery.restore()
        for key, module in with_matrices.items():
            self._forwards.append((module, self._multiplied(module, torch.stack(weights[key]))))
        for module, factors in _factors(sites, own).values():
            if id(module) not in with_matrices:
                self._forwards.append((module, self._scaled(module, factors)))

    def at(self, lanes: torch.Tensor | None) -> None:
        """Say which lane each row of the next reading is in; None: all rows are intact."""
        self._rows.lanes = lanes

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Let the model read under these lesions as long as the context lasts."""
        try:
            for module, forward in self._forwards:
                module.forward = forward
            yield
        finally:
            for module, _ in self._forwards:
                module.__dict__.pop("forward", None)

    def _scaled(self, module: nn.Module, factors: torch.Tensor) -> Forward:
        """Return the layer with the inputs of each row multiplied by those of its lane."""
        inner: Forward = module.forward
        rows = self._rows
        held: list[Any] = [None, None]

        def forward(inputs: torch.Tensor) -> torch.Tensor:
            if rows.lanes is None:
                return inner(inputs)
            if held[0] is not rows.lanes:
                held[:] = rows.lanes, factors[rows.lanes][:, None]
            return inner(inputs * held[1])

        return forward

    def _multiplied(self, module: nn.Module, matrices: torch.Tensor) -> Forward:
        """Return the layer with a matrix for each lane, shape (lanes, inputs, outputs)."""
        inner: Forward = module.forward
        rows = self._rows
        bias = module._parameters.get("bias")

        def forward(inputs: torch.Tensor) -> torch.Tensor:
            if rows.lanes is None:
                return inner(inputs)
            places, back = rows.grouped()
            _, tokens, width = inputs.shape
            grouped = inputs[places].reshape(len(matrices), -1, width)
            results = torch.bmm(grouped, matrices).reshape(len(places), tokens, -1)[back]
            return results if bias is None else results + bias

        return forward


class _Rows:
    """The lanes of the rows that are being read."""

    def __init__(self, count: int) -> None:
        self.lanes: torch.Tensor | None = None
        self._count = count
        self._known: torch.Tensor | None = None
        self._places = self._back = torch.empty(0)

    def grouped(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the rows lane by lane, each lane with as many (row 0 fills), and the way back.

        Returns:
            Number of a row at each place, shape (lanes * rows of the fullest lane,), and the place
            of each row.
        """
        if self._known is not self.lanes:
            lanes = self.lanes
            assert lanes is not None
            counts = torch.bincount(lanes, minlength=self._count)
            fullest = int(counts.max())
            order = lanes.argsort(stable=True)
            first = counts.cumsum(0) - counts
            within = torch.arange(len(lanes), device=lanes.device) - first[lanes[order]]
            self._back = torch.empty_like(lanes)
            self._back[order] = lanes[order] * fullest + within
            self._places = lanes.new_zeros(self._count * fullest)
            self._places[self._back] = torch.arange(len(lanes), device=lanes.device)
            self._known = lanes
        return self._places, self._back


def _sites(surgery: Surgery, lesions: Sequence[Lesion]) -> Sites:
    return [
        (lesion, taken, surgery.located(taken.part))
        for lesion in lesions
        for taken in parts_taken(lesion, surgery.parts)
    ]


def _is_linear(located: Located) -> bool:
    """Return whether a part is weights of linear layers that read (rows, tokens, inputs)."""
    return located.part.layer is not None and all(
        piece.attribute == "weight" and type(piece.module).__name__ in ("Linear", "Conv1D")
        for piece in located.pieces
    )


def _by_factors(lesions: Sequence[Lesion]) -> bool:
    """Return whether lesions are factors on inputs, whatever was lesioned before."""
    return all(
        TARGETS[lesion.target].unit in ("head", "neuron")
        and lesion.operation in ("zero", "scale")
        and (lesion.select != "magnitude" or len(lesions) == 1)
        for lesion in lesions
    )


def _bytes(parts: Iterable[Part]) -> int:
    """Return the number of bytes of the tensors of parts, each counted once."""
    tensors: dict[str, int] = {}
    for part in parts:
        tensors |= part.tensors
    return sum(tensors.values())


def _factors(
    sites: Sequence[Sites], own: Sequence[bool]
) -> dict[int, tuple[nn.Module, torch.Tensor]]:
    """Return each layer with factors, shape (lanes, inputs), of the lanes that have no matrices."""
    found: dict[int, tuple[nn.Module, torch.Tensor]] = {}
    for lane, several in enumerate(sites):
        for lesion, taken, located in [] if own[lane] else several:
            (piece,) = located.pieces
            (units,) = chosen(lesion, located, taken)
            weight = piece.tensor
            view = piece.view(weight.data)
            width = view.numel() // (len(view) * _outputs(piece.module))
            if id(piece.module) not in found:
                ones = weight.new_ones(len(sites), len(view) * width)
                found[id(piece.module)] = (piece.module, ones)
            own_factors = found[id(piece.module)][1][lane].view(len(view), width)
            factor = 0.0 if lesion.operation == "zero" else lesion.factor
            assert factor is not None
            own_factors[slice(None) if units is None else units] *= factor
    return found


def _outputs(module: nn.Module) -> int:
    return int(_matrix(module).shape[1])


def _matrix(module: nn.Module) -> torch.Tensor:
    """Return the weights of a linear layer as they are now, shape (inputs, outputs)."""
    weight = module._parameters["weight"]
    assert weight is not None
    return weight.detach() if type(module).__name__ == "Conv1D" else weight.detach().mT
