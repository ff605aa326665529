"""What lesions do to the values that they take. Imported only where torch is.

Values are computed in float32, or in float64 where the weights are, and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from tabwb.lesion.draw import normal, order
from tabwb.lesion.spec import Lesion

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
