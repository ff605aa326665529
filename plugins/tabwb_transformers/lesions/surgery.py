"""Applies lesions to a loaded model and takes them back. Imported only where torch is.

A lesion changes a copy of each tensor that it touches, and the model then uses the copy; the
original stays as it was, and restoring uses it again. So restoring is exact, also after an error in
the middle.
"""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from tabwb.lesion.declared import DRAWS, MEASURES, PARAMETERS, TARGETS, Part, Pool
from tabwb.lesion.draw import VERSION, how_many, normal, order, weights_taken
from tabwb.lesion.localizer import localize, shipped_items
from tabwb.lesion.spec import Lesion, lesion_text
from tabwb.lesion.taken import Scores, Taken, parts_taken, units_facts, units_of
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Request
from tabwb_transformers.engine import Engine
from tabwb_transformers.lesions.anatomy import Located, Piece, locate_parts
from tabwb_transformers.prompts import Prompts

Values = torch.Tensor


@dataclass(frozen=True, slots=True)
class _Site:
    """Where values are taken from: the arguments of :func:`act`."""

    view: Values
    taken: Values | None
    name: str
    offset: float


def clears(lesion: Lesion, taken: Values | None, offset: float) -> bool:
    """Return whether a lesion sets some values to 0 and leaves the others: see :func:`clear`."""
    return lesion.operation == "zero" and taken is not None and not offset


def clear(values: Values, taken: Values, into: Values) -> None:
    """Write values into a view, with 0 in place of those that are taken.

    By their bits, in one pass: several times as fast as a copy and ``masked_fill_``.

    Args:
        values: of weights, or with the units along the first dimension.
        taken: a mask of the shape of ``values``, or the numbers of the units.
        into: of the same shape; may be ``values``.
    """
    kind = _BITS[values.element_size()]
    bits, into = values.view(kind), into.view(kind)
    if taken.dtype != torch.bool:
        # As wide as a row: a number for each unit would be read weight by weight, twice as slow.
        shape = [len(bits), *([1] * (bits.dim() - 2)), *bits.shape[1:][-1:]]
        kept = torch.full(shape, -1, dtype=kind, device=bits.device).index_fill_(0, taken, 0)
        torch.bitwise_and(bits, kept, out=into)
        return
    if bits.device.type != "cpu":
        torch.mul(bits, taken.logical_not(), out=into)
        return
    # numpy multiplies by booleans in small parts; torch would first make a tensor of integers.
    plain, masks, results = bits.numpy(), taken.numpy(), into.numpy()
    for rows in _blocks(bits):
        np.multiply(plain[rows], np.logical_not(masks[rows]), out=results[rows])


def act(lesion: Lesion, view: Values, taken: Values | None, name: str, offset: float) -> None:
    """Change the taken values of a view in place.

    Args:
        lesion: what is done.
        view: of weights, or with the units along the first dimension.
        taken: a mask of the shape of ``view``, or the numbers of the units; None: everything.
        name: of the random draws.
        offset: added to a value before it acts.
    """
    if taken is not None and clears(lesion, taken, offset):
        clear(view, taken, view)
        return
    if lesion.operation == "zero" and taken is not None:
        if taken.dtype == torch.bool:
            view.masked_fill_(taken, -offset)
        else:
            view.index_fill_(0, taken, -offset)
        return
    if lesion.operation == "quantise":
        _quantise(lesion, view, taken, offset)
        return
    if lesion.operation == "scale" and taken is not None and taken.dtype == torch.bool:
        for rows in _blocks(view):
            part = view[rows]
            part.copy_(torch.where(taken[rows], _scaled(lesion, part, offset), part))
        return
    values = view.reshape(-1) if taken is None else view[taken]
    changed = _OPERATIONS[lesion.operation](lesion, values, _Site(view, taken, name, offset))
    changed = changed.to(view.dtype)
    if taken is None:
        view.copy_(changed.reshape(view.shape))
    else:
        view[taken] = changed.reshape(values.shape)


_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_AT_ONCE = 2**16
"""So many weights are changed at once in memory."""


def _blocks(view: Values) -> Iterator[slice]:
    """Yield the rows of a view in parts that fit into a processor's cache."""
    rows = max(1, _AT_ONCE // max(1, view[0].numel())) if view.device.type == "cpu" else len(view)
    for first in range(0, len(view), rows):
        yield slice(first, first + rows)


def _zero(lesion: Lesion, values: Values, site: _Site) -> Values:
    return torch.full_like(values, 0.0 - site.offset)


def _mean(lesion: Lesion, values: Values, site: _Site) -> Values:
    return torch.full_like(values, float(site.view.double().mean()))


def _scale(lesion: Lesion, values: Values, site: _Site) -> Values:
    return _scaled(lesion, values, site.offset)


def _scaled(lesion: Lesion, values: Values, offset: float) -> Values:
    assert lesion.factor is not None
    return ((_wide(values) + offset) * lesion.factor - offset).to(values.dtype)


def _quantise(lesion: Lesion, view: Values, taken: Values | None, offset: float) -> None:
    """Round the taken weights to as many bits, symmetrically, with one step for each row.

    With b bits a row of weights w (those of one output) has the step s = max|w| / (2^(b-1) - 1),
    and w becomes s * round(w / s), halves to the even number. Source: "absmax quantization",
    T. Dettmers, M. Lewis, Y. Belkada and L. Zettlemoyer, 2022, LLM.int8(), arXiv:2208.07339,
    section 2.1, here by row (vector-wise). The step is that of the whole row, whichever of its
    weights are taken; a vector is one row. It simulates the rounding of weights, not the speed or
    the memory of a quantised model, and no kernel that also rounds activations.
    """
    assert lesion.bits is not None
    levels = 2.0 ** (lesion.bits - 1.0) - 1.0
    rows = view if view.dim() > 1 else view[None]
    mask = taken if taken is None or view.dim() > 1 else taken[None]
    for some in _blocks(rows):
        part = rows[some]
        wide = _wide(part) + offset
        step = wide.abs().amax(-1, keepdim=True) / levels
        rounded = torch.where(step > 0.0, (wide / step).round_() * step, wide) - offset
        rounded = rounded.to(part.dtype)
        part.copy_(rounded if mask is None else torch.where(mask[some], rounded, part))


def _noise(lesion: Lesion, values: Values, site: _Site) -> Values:
    assert lesion.sigma is not None
    deviation = float(site.view.double().std(correction=0))
    # Each weight has its own draw, whichever others are taken.
    drawn = torch.from_numpy(normal(lesion.seed, site.name, site.view.numel()))
    drawn = drawn.to(site.view.device).reshape(site.view.shape)
    drawn = drawn.reshape(-1) if site.taken is None else drawn[site.taken]
    return _wide(values) + lesion.sigma * deviation * drawn


def _shuffle(lesion: Lesion, values: Values, site: _Site) -> Values:
    mixed = torch.from_numpy(order(lesion.seed, site.name, values.numel())).to(values.device)
    return values.reshape(-1)[mixed]


def _swap(lesion: Lesion, values: Values, site: _Site) -> Values:
    count = len(values)
    mixed = order(lesion.seed, site.name, count)
    partner = np.arange(count)
    first, second = mixed[0 : count - 1 : 2], mixed[1::2]
    partner[first], partner[second] = second, first  # of an odd number the last one stays
    return values[torch.from_numpy(partner).to(values.device)]


def _wide(values: Values) -> Values:
    return values if values.dtype == torch.float64 else values.float()


_OPERATIONS: Mapping[str, Callable[[Lesion, Values, _Site], Values]] = {
    "zero": _zero,
    "mean": _mean,
    "scale": _scale,
    "noise": _noise,
    "shuffle": _shuffle,
    "swap": _swap,
}


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


class Responses:
    """The responses of one model's units, and what the localizer makes of them.

    Args:
        engine: of the model.
        prompts: of its tokenizer.
        check: raises where tokens do not fit into the model.
        surgery: of the model.
    """

    def __init__(
        self,
        engine: Engine,
        prompts: Prompts,
        check: Callable[[list[int]], object],
        surgery: Surgery,
    ) -> None:
        self._engine, self._prompts, self._check = engine, prompts, check
        self._surgery = surgery
        self._scores: dict[str, Scores] = {}

    def activations(
        self, target: str, texts: Sequence[str], pool: Pool, cancel: Cancel
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the response of each unit to each text, of the model as it is now.

        Args:
            target: ``mlp.neurons`` or ``attention.heads``.
            texts: each is read alone, after the token that begins texts where there is one.
            pool: of the tokens the mean, or the last one.
            cancel: ends the computation.

        Raises:
            ComponentError: the target has no units that can be measured, or a text does not fit.
        """
        if target not in MEASURES:
            message = f"the units of '{target}' cannot be measured"
            raise ComponentError(message, allowed=", ".join(MEASURES))
        rendered, before = self._prompts.encode(Request((), Decoding()))
        located = self._surgery.of_target(target)
        for text in texts:
            if cancel.is_set():
                return
            ids = [*before, *self._prompts.after(rendered, before, text)]
            self._check(ids)
            yield _measured(self._engine, located, ids, len(before), pool)

    def scores(self, lesions: Sequence[Lesion]) -> Scores | None:
        """Return the scores of the localizer on the intact model, None where no lesion needs them.

        It is run once for each target; the model is restored for it.

        Args:
            lesions: applied together.
        """
        targets = {one.target for one in lesions if one.source == "localizer"}
        if not targets:
            return None
        parts = self._surgery.parts
        for target in targets - {*self._scores}:
            if self._surgery.of_target(target):  # else the lesion is an error, said elsewhere
                self._surgery.restore()
                items, cancel = shipped_items(), threading.Event()
                self._scores[target] = localize(
                    self.activations, parts, target, items, cancel
                ).scores
        return {name: own for scores in self._scores.values() for name, own in scores.items()}


def _measured(
    engine: Engine, located: Sequence[Located], ids: Sequence[int], first: int, pool: Pool
) -> NDArray[np.float32]:
    """Return the response of each unit to a text, which is read alone.

    Neurons and heads are measured where they are lesioned: what a lesion takes away is their value
    at the input of the last projection, times its weights. The size of a neuron's value says how
    much the neuron adds, whatever its sign; of a head, which has several values, the 2-norm does,
    and does not depend on how a model spreads them over its axes.

    Returns:
        Shape (units,), float32: the units of all parts in their order.
    """
    if len(ids) <= first:
        raise ComponentError("a text of the localizer has no tokens")
    found: dict[str, torch.Tensor] = {}

    def watched(one: Located) -> Callable[[Any, Any], None]:
        def see(_: Any, inputs: Any) -> None:
            states = inputs[0][0, first:].detach()
            states = states if states.dtype == torch.float64 else states.float()
            sizes = torch.linalg.vector_norm(states.unflatten(-1, (one.part.units, -1)), dim=-1)
            found[one.part.name] = sizes[-1] if pool == "last" else sizes.mean(0)

        return see

    with ExitStack() as hooks:
        for one in located:
            # Of both targets the only piece is the projection that the units feed.
            handle = one.pieces[0].module.register_forward_pre_hook(watched(one))
            hooks.callback(handle.remove)
        engine.alone(ids)
    values = [found[one.part.name].float().cpu() for one in located]
    return torch.cat(values).numpy() if values else np.empty(0, dtype=np.float32)
