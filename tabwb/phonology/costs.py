"""Costs of the steps of an alignment, as tables of whole quarters for array lookup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from tabwb.phonology.distance import Operation, Step, indel_cost, substitution_cost
from tabwb.phonology.inventory import FEATURES, PHONEMES, SILENT

Ints = NDArray[np.int32]

QUARTERS = 4
"""Costs are kept as whole quarters of a feature, so that sums are exact and ties are ties."""

NEVER = 1000
"""Quarters of a forbidden substitution: a deletion with an insertion is cheaper."""


@dataclass(frozen=True, eq=False)
class CostTable:
    """An inventory and the cost of each step in it.

    Attributes:
        labels: of the inventory, K of them; a label's code is its index, K stands for none.
        substitution: int32 (K, K), in quarters of a feature; 0 on the diagonal.
        indel: int32 (K,), in quarters of a feature.
        spoken: bool (K,); False for silence and noise, which cost nothing and are not counted.
        features: how many features a phoneme has; distances are over ``features x phonemes``.
    """

    labels: tuple[str, ...]
    substitution: Ints
    indel: Ints
    spoken: NDArray[np.bool_]
    features: int

    @cached_property
    def codes(self) -> dict[str, int]:
        """Label to code."""
        return {label: code for code, label in enumerate(self.labels)}

    @property
    def none(self) -> int:
        """The code that stands for no label: the other side of an insertion or deletion."""
        return len(self.labels)

    @cached_property
    def step_quarters(self) -> Ints:
        """int32 ((K + 1) squared,): quarters of each step, by ``ref x (K + 1) + hyp``."""
        size = len(self.labels) + 1
        quarters = np.zeros((size, size), dtype=np.int32)
        quarters[:-1, :-1] = self.substitution
        quarters[:-1, -1] = quarters[-1, :-1] = self.indel
        return quarters.ravel()

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every possible step, by ``ref x (K + 1) + hyp``; the last one is empty."""
        either = (*self.labels, None)
        quarters = iter(self.step_quarters.tolist())
        return tuple(_step(ref, hyp, next(quarters)) for ref in either for hyp in either)


@lru_cache(maxsize=1)
def psst_costs() -> CostTable:
    """Return the 40 phonemes and silence, with the costs of :mod:`tabwb.phonology.distance`.

    >>> costs = psst_costs()
    >>> int(costs.substitution[costs.codes["P"], costs.codes["M"]])  # 3.5 features
    14
    """
    return make_costs(
        PHONEMES,
        [[substitution_cost(phoneme, other) for other in PHONEMES] for phoneme in PHONEMES],
        [indel_cost(phoneme) for phoneme in PHONEMES],
        len(FEATURES),
    )


def make_costs(
    phonemes: Sequence[str],
    substitution: Sequence[Sequence[float]],
    indel: Sequence[float],
    features: int,
) -> CostTable:
    """Return a table of costs for any inventory, with silence and noise added.

    Args:
        phonemes: of the inventory, K of them.
        substitution: K rows of K costs, in features; multiples of 0.25.
        indel: K costs, in features; multiples of 0.25.
        features: how many features a phoneme has.
    """
    size, silent = len(phonemes), len(SILENT)
    full = np.full((size + silent, size + silent), NEVER, dtype=np.int32)
    full[:size, :size] = _quarters(substitution).reshape(size, size)
    np.fill_diagonal(full, 0)
    return CostTable(
        labels=(*phonemes, *SILENT),
        substitution=full,
        indel=np.concatenate([_quarters(indel), np.zeros(silent, dtype=np.int32)]),
        spoken=np.arange(size + silent) < size,
        features=features,
    )


def _quarters(costs: Sequence[Sequence[float]] | Sequence[float]) -> Ints:
    scaled = QUARTERS * np.asarray(costs, dtype=np.float64)
    whole = scaled.astype(np.int32)
    if (whole != scaled).any():
        raise ValueError("costs that are not multiples of a quarter of a feature")
    return whole


def _step(ref: str | None, hyp: str | None, quarters: int) -> Step:
    if ref == hyp:
        return Step("EQ", ref, hyp, 0.0)
    op: Operation = "INS" if ref is None else "DEL" if hyp is None else "SUB"
    return Step(op, ref, hyp, quarters / QUARTERS)
