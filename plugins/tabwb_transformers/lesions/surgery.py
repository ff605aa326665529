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
from torch import nn

from tabwb.lesion.declared import DRAWS, PARAMETERS, TARGETS, Part
from tabwb.lesion.draw import VERSION
from tabwb.lesion.spec import Lesion, lesion_text
from tabwb.lesion.taken import Scores, Taken, parts_taken, units_facts
from tabwb_transformers.lesions.anatomy import Located, Piece, locate_parts
from tabwb_transformers.lesions.choice import chosen
from tabwb_transformers.lesions.operations import act, clear, clears

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
