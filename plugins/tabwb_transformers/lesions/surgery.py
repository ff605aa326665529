"""Applies lesions to a loaded model and takes them back. Imported only where torch is.

A lesion changes a copy of each tensor that it touches, and the model then uses the copy; the
original stays as it was, and restoring uses it again. So restoring is exact, also after an error in
the middle.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from tabwb.lesion.declared import DRAWS, PARAMETERS, TARGETS, Part
from tabwb.lesion.draw import VERSION, how_many, weights_taken
from tabwb.lesion.spec import Lesion, lesion_text
from tabwb.lesion.taken import Scores, Taken, parts_taken, units_facts, units_of
from tabwb_transformers.lesions.anatomy import Located, Piece, locate_parts
from tabwb_transformers.lesions.operations import act, clear, clears


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


Chosen = tuple[Located, list[torch.Tensor | None]]
"""A part, and what is taken of each of its pieces."""


class Surgery:
    """Lesions of one model."""

    def __init__(self, model: Any, changed: Callable[[], None]) -> None:
        self._located = {one.part.name: one for one in locate_parts(model)}
        self._changed = changed
        self._kept: dict[tuple[int, str], tuple[nn.Module, str, nn.Parameter]] = {}

    @property
    def parts(self) -> list[Part]:
        """The parts of the model, in the order of its layers."""
        return [one.part for one in self._located.values()]

    def of_target(self, target: str) -> list[Located]:
        """Return the parts of a target with their places, in the order of the layers."""
        return [one for one in self._located.values() if one.part.target == target]

    def located(self, part: Part) -> Located:
        """Return where a part is."""
        return self._located[part.name]

    def apply(self, lesions: Sequence[Lesion], scores: Scores | None = None) -> Mapping[str, str]:
        """Restore the model, then apply lesions together; return facts to store.

        Each lesion after the first acts on what those before it left.
        """
        chosen = [parts_taken(lesion, self.parts, scores=scores) for lesion in lesions]
        self.restore()
        counts: list[int | torch.Tensor] = []
        try:
            for lesion, parts in zip(lesions, chosen, strict=True):
                for located, masks in self._masks(lesion, parts):
                    counts += self._lesioned(lesion, located, masks)
        except BaseException:
            self.restore()
            raise
        if self._kept:
            self._changed()
        return {
            "lesion": lesion_text(lesions),
            # On an accelerator the numbers are waited for here, once everything is queued.
            PARAMETERS: str(sum(map(int, counts))),
            DRAWS: VERSION,
            **units_facts(lesions, chosen),
        }

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of all weights that the model uses now."""
        digest = hashlib.sha256()
        for one in self._located.values():
            for piece in one.pieces:
                digest.update(piece.name.encode() + b"\0")
                plain = piece.tensor.detach().contiguous().view(torch.uint8).cpu().numpy()
                digest.update(plain.tobytes())
        return digest.hexdigest()

    def restore(self) -> None:
        """Use the original weights again."""
        for module, attribute, original in self._kept.values():
            module._parameters[attribute] = original
        if self._kept:
            self._kept.clear()
            self._changed()

    # ---------------------------------------------------------------- the steps

    def _use(self, piece: Piece, copy: torch.Tensor) -> None:
        """Make the model use a copy of a tensor, and keep the original."""
        original = piece.module._parameters[piece.attribute]
        assert original is not None
        self._kept[_place(piece)] = (piece.module, piece.attribute, original)
        piece.module._parameters[piece.attribute] = nn.Parameter(copy, requires_grad=False)

    def _masks(self, lesion: Lesion, parts: Sequence[Taken]) -> Iterator[Chosen]:
        """Yield each part of a lesion with what is taken of its pieces."""
        if lesion.amount == 0.0:
            return

        def of_part(taken: Taken) -> Chosen:
            located = self._located[taken.part.name]
            return located, chosen(lesion, located, taken)

        # Each part has its own draws. Other choices look at weights, or take no time.
        is_drawn = TARGETS[lesion.target].unit == "weight" and lesion.select == "random"
        yield from _ahead(of_part, parts, torch.get_num_threads() if is_drawn else 1)

    def _lesioned(
        self, lesion: Lesion, located: Located, masks: Sequence[torch.Tensor | None]
    ) -> Iterator[int | torch.Tensor]:
        """Apply one lesion to one part; yield the number of parameters taken of each piece."""
        for place, (piece, inside) in enumerate(zip(located.pieces, masks, strict=True)):
            tensor = piece.tensor.data
            view = piece.view(tensor)
            count = _count(view, inside)
            if isinstance(count, int) and not count:
                continue
            yield count
            if _place(piece) not in self._kept:
                is_whole = view.numel() == tensor.numel()
                if is_whole and inside is not None and clears(lesion, inside, piece.offset):
                    # Written once, not copied and then changed.
                    copy = torch.empty_like(tensor)
                    clear(view, inside, piece.view(copy))
                    self._use(piece, copy)
                    continue
                copy = tensor.clone()
                self._use(piece, copy)
                view = piece.view(copy)
            name = located.part.name + (f"/{place}" if place else "")
            act(lesion, view, inside, name, piece.offset)


def _ahead(
    function: Callable[[Taken], Chosen], parts: Sequence[Taken], threads: int
) -> Iterator[Chosen]:
    """Yield the result for each part in order, computed in threads a few parts ahead."""
    if threads == 1 or len(parts) == 1:
        yield from map(function, parts)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Chosen]] = deque()
        for part in parts:
            waiting.append(pool.submit(function, part))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _place(piece: Piece) -> tuple[int, str]:
    return id(piece.module), piece.attribute


def _count(view: torch.Tensor, taken: torch.Tensor | None) -> int | torch.Tensor:
    """Return the number of parameters that are taken of a view; of a mask elsewhere as a tensor."""
    if taken is None:
        return view.numel()
    if taken.dtype == torch.bool:
        # Of booleans in memory numpy counts a hundred times as fast.
        return int(np.count_nonzero(taken.numpy())) if taken.device.type == "cpu" else taken.sum()
    return len(taken) * (view.numel() // len(view))
