"""Which weights or units of a model a lesion takes. Imported only where torch is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from tabwb.lesion.declared import TARGETS
from tabwb.lesion.draw import how_many, weights_taken
from tabwb.lesion.spec import Lesion
from tabwb.lesion.taken import Taken, units_of
from tabwb_transformers.lesions.anatomy import Located


def chosen(lesion: Lesion, located: Located, taken: Taken) -> list[torch.Tensor | None]:
    """Return what a lesion takes of each piece of a part.

    Returns:
        For each piece a mask in the shape of its view, or (of heads, neurons, experts and layers)
        the numbers of units, counted in the piece; None for the whole piece.
    """
    views = [piece.view(piece.tensor.data) for piece in located.pieces]
    if TARGETS[lesion.target].unit != "weight":
        return _of_units(lesion, taken, views)
    if lesion.amount == 1.0:
        return [None] * len(views)
    if lesion.select == "magnitude":
        mask = _smallest(lesion, located, views)
    else:
        count = located.part.units
        mask = sent(weights_taken(lesion.seed, located.part.name, count, lesion.amount), views[0])
    found: list[torch.Tensor | None] = []
    for view in views:
        own, mask = mask[: view.numel()], mask[view.numel() :]
        found.append(own.reshape(view.shape))
    return found


def sent(mask: NDArray[np.bool_], view: torch.Tensor) -> torch.Tensor:
    """Return a mask on the device of a view; eight weights travel in a byte.

    Args:
        mask: shape (weights,).
        view: on the device.
    """
    if view.device.type == "cpu":
        return torch.from_numpy(mask)
    return unpacked(torch.from_numpy(np.packbits(mask)).to(view.device), len(mask))


def unpacked(packed: torch.Tensor, count: int) -> torch.Tensor:
    """Return the mask that ``numpy.packbits`` packed, on the device of its bytes."""
    places = torch.tensor([128, 64, 32, 16, 8, 4, 2, 1], dtype=torch.uint8, device=packed.device)
    return (packed[:, None] & places).bool().reshape(-1)[:count]


def _of_units(
    lesion: Lesion, taken: Taken, views: Sequence[torch.Tensor]
) -> list[torch.Tensor | None]:
    units = _weakest(taken, views) if lesion.select == "magnitude" else units_of(lesion, taken)
    return [torch.from_numpy(units).to(view.device) for view in views]


def _weakest(taken: Taken, views: Sequence[torch.Tensor]) -> NDArray[np.int64]:
    """Return the units with the smallest 2-norm, in order; of equal ones the first."""
    squares = np.zeros(taken.part.units)
    for view in views:
        squares += view.double().square().reshape(len(view), -1).sum(1).cpu().numpy()
    order = np.argsort(squares[taken.numbers], kind="stable")
    return np.sort(taken.numbers[order[: taken.count]])


def _smallest(lesion: Lesion, located: Located, views: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return a mask of the weights with the smallest absolute values; of equal ones the first."""
    sizes = torch.cat(
        [
            (view.float() + piece.offset).abs().reshape(-1)
            for piece, view in zip(located.pieces, views, strict=True)
        ]
    )
    count = how_many(len(sizes), lesion.amount)
    if not count:
        return torch.zeros_like(sizes, dtype=torch.bool)
    limit = sizes.kthvalue(count).values
    mask = sizes < limit
    equal = (sizes == limit).nonzero()[: count - int(mask.sum()), 0]
    mask[equal] = True
    return mask
