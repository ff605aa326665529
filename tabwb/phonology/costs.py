"""Costs of the steps of an alignment, as tables of whole quarters: PSST's, and those of any IPA.

The other segments of IPA have PSST's rule on the 24 features of panphon (extra ``audio``), that is
its ``feature_edit_distance``: not PSST's feature error rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tabwb.phonology.distance import Operation, Step, indel_cost, substitution_cost
from tabwb.phonology.inventory import FEATURES, PHONEMES, SILENT
from tabwb.phonology.labels import Mapped
from tabwb.records.errors import MissingExtra

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
    return _make_costs(
        PHONEMES,
        [[substitution_cost(phoneme, other) for other in PHONEMES] for phoneme in PHONEMES],
        [indel_cost(phoneme) for phoneme in PHONEMES],
        len(FEATURES),
    )


def _make_costs(
    phonemes: Sequence[str],
    substitution: Sequence[Sequence[float]],
    indel: Sequence[float],
    features: int,
) -> CostTable:
    """Return a table of K x K and K costs, multiples of 0.25 features, with silence and noise."""
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


PANPHON_LIMITS: Final = (
    "Distances over panphon's 24 features, not PSST's: panphon has no ɝ and ɚ, and a diphthong is "
    "two segments. These rates are not comparable with PSST's."
)
"""Shown with every figure."""
_PLAIN: Final = str.maketrans("g", "ɡ", "ˈˌ'.|/[]")


@cache
def _table() -> Any:
    try:
        import panphon
    except ImportError as error:
        raise MissingExtra("the inventory of panphon", "panphon", package="panphon") from error
    return panphon.FeatureTable()


def segment(text: str) -> Mapped:
    """Read IPA, silence and noise as words, as panphon's segments, and unknown letters."""
    table = _table()
    segments: list[str] = []
    dropped: Counter[str] = Counter()
    for word in text.split():
        if word.lower() in SILENT:
            segments.append(word.lower())
            continue
        for letter in table.segs_safe(word.translate(_PLAIN)):
            if table.seg_known(letter):
                segments.append(letter)
            else:
                dropped[letter] += 1
    return Mapped(tuple(segments), dropped)


def panphon_costs(utterances: Iterable[Sequence[str]]) -> CostTable:
    """Return the costs of all segments of some utterances.

    Substitution: the sum over 24 features of |a - b| / 2; insertion, deletion: the sum of 0.5 where
    the value is 0, else 1 (PSST, section 4.1 and figure 1, on panphon's values).
    """
    table = _table()
    spoken = sorted({phoneme for utterance in utterances for phoneme in utterance} - set(SILENT))
    values = [table.fts(phoneme).numeric() for phoneme in spoken]
    return _make_costs(
        spoken,
        [[sum(abs(a - b) for a, b in zip(x, y, strict=True)) / 2 for y in values] for x in values],
        [sum(1.0 if value else 0.5 for value in phoneme) for phoneme in values],
        len(table.names),
    )
