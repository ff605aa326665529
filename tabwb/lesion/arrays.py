"""Lesions of a model whose weights are numpy arrays, for back ends without torch.

Values are computed in float32, or in float64 where the weights are, and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.lesion.declared import DRAWS, PARAMETERS, TARGETS, Part
from tabwb.lesion.draw import VERSION, how_many, normal, order, weights_taken
from tabwb.lesion.spec import Lesion, lesion_text, parse_lesions
from tabwb.lesion.taken import Scores, Taken, parts_taken, units_facts, units_of
from tabwb.records.errors import ComponentError

Values = NDArray[Any]
Arrays = Mapping[str, Values]
View = Callable[[Part, Arrays], Values]


def lesioned_arrays(
    spec: str, parts: Sequence[Part], arrays: Arrays, view: View, scores: Scores | None = None
) -> tuple[dict[str, Values], dict[str, str]]:
    """Return a model's arrays under a lesion, and the facts to store.

    The arrays given are not changed: those that the lesion touches are copied. So the model is
    restored with the arrays given, and another lesion is made from them too.

    Args:
        spec: one or more lesions joined by ``+``; empty: the intact model.
        parts: of the model.
        arrays: its weights, intact, by the names that ``tensors`` of the parts has.
        view: returns the weights of a part as a view into the arrays that it is given: where the
            unit is a weight one row for each output, else one unit along the first dimension.
        scores: of :func:`tabwb.lesion.localizer.localizer_scores`, for lesions that the localizer
            selects.

    Raises:
        UsageError: the spec is wrong, or the model lacks what it names.
        ComponentError: a view does not fit its part.
    """
    if not spec:
        return dict(arrays), {}
    lesions = parse_lesions(spec)
    chosen = [parts_taken(lesion, parts, scores=scores) for lesion in lesions]
    changed, count = dict(arrays), 0
    copied: set[str] = set()
    for lesion, several in zip(lesions, chosen, strict=True):
        for taken in several if lesion.amount else ():
            for name in taken.part.tensors.keys() - copied:
                changed[name] = np.array(arrays[name])
                copied.add(name)
            values = _fitting(taken.part, view(taken.part, changed), changed)
            inside = _chosen(lesion, taken, values)
            count += values[inside].size
            values[inside] = _acted(lesion, values, inside, taken.part.name)
    facts = {
        "lesion": lesion_text(lesions),
        PARAMETERS: str(count),
        DRAWS: VERSION,
        **units_facts(lesions, chosen),
    }
    return changed, facts


def _fitting(part: Part, values: Any, arrays: Arrays) -> Values:
    """Return the view of a part, if it has the declared size and can be written."""
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        raise ComponentError(f"the view of '{part.name}' is not an array of floats")
    if not any(np.shares_memory(values, arrays[name]) for name in part.tensors):
        what = f"the view of '{part.name}' is not a view into {', '.join(part.tensors)}"
        raise ComponentError(what, hint="a transposed or sliced array is a view; a copy is not")
    is_weight = TARGETS[part.target].unit == "weight"
    units = values.size if is_weight else len(values)
    if units != part.units or values.size != part.parameters:
        raise ComponentError(
            f"the view of '{part.name}' has {units} units and {values.size} parameters",
            allowed=f"{part.units} and {part.parameters}, as the part declares",
        )
    return values


def _chosen(lesion: Lesion, taken: Taken, values: Values) -> Values:
    """Return a mask in the shape of the view, or the numbers of units."""
    by_size = lesion.select == "magnitude"
    if TARGETS[lesion.target].unit != "weight":
        if not by_size:
            return units_of(lesion, taken)
        squares = np.square(values.astype(np.float64)).reshape(len(values), -1).sum(1)
        weakest = np.argsort(squares[taken.numbers], kind="stable")[: taken.count]
        return np.sort(taken.numbers[weakest])
    if not by_size:
        mask = weights_taken(lesion.seed, taken.part.name, values.size, lesion.amount)
        return mask.reshape(values.shape)
    mask = np.zeros(values.size, dtype=np.bool_)
    smallest = np.argsort(np.abs(values).reshape(-1), kind="stable")
    mask[smallest[: how_many(values.size, lesion.amount)]] = True
    return mask.reshape(values.shape)


def _acted(lesion: Lesion, view: Values, inside: Values, name: str) -> Values:
    """Return the new values of what a lesion takes of a view; see docs/lesions.md."""
    values: Values = view[inside]
    wide: Values = values.astype(np.promote_types(view.dtype, np.float32))
    if lesion.operation == "scale":
        assert lesion.factor is not None
        scaled: Values = wide * wide.dtype.type(lesion.factor)
        return scaled
    if lesion.operation == "mean":
        return np.full_like(wide, view.astype(np.float64).mean())
    if lesion.operation == "noise":
        assert lesion.sigma is not None
        drawn = normal(lesion.seed, name, view.size).reshape(view.shape)[inside]
        deviation = lesion.sigma * float(view.astype(np.float64).std())
        noisy: Values = wide + wide.dtype.type(deviation) * drawn
        return noisy
    if lesion.operation == "quantise":
        assert lesion.bits is not None
        whole = view.astype(wide.dtype)
        levels = wide.dtype.type(2.0 ** (lesion.bits - 1.0) - 1.0)
        step = np.abs(whole).max(-1, keepdims=True) / levels
        safe = np.where(step > 0.0, step, 1.0)
        rounded: Values = np.where(step > 0.0, np.rint(whole / safe) * step, whole)
        return rounded[inside]
    if lesion.operation == "shuffle":
        return values.reshape(-1)[order(lesion.seed, name, values.size)].reshape(values.shape)
    if lesion.operation == "swap":
        mixed = order(lesion.seed, name, len(values))
        first, second = mixed[0 : len(values) - 1 : 2], mixed[1::2]
        partner = np.arange(len(values))
        partner[first], partner[second] = second, first  # of an odd number the last one stays
        return values[partner]
    assert lesion.operation == "zero"
    return np.zeros_like(values)
