"""Other inventories than PSST's 40: any segment of IPA that panphon has features for.

The costs are PSST's rule on panphon's own 24 features: its ``feature_edit_distance``.
This is not PSST's feature error rate and not comparable with it: panphon has no ɝ and ɚ, reads a
diphthong as two segments, and has other features. Needs the extra ``audio``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

from tabwb.phonology.costs import CostTable, make_costs
from tabwb.phonology.inventory import SILENT
from tabwb.phonology.labels import Mapped
from tabwb.records.errors import MissingExtra

LIMITS: Final = (
    "Distances over panphon's 24 features, not PSST's: panphon has no ɝ and ɚ, and a diphthong is "
    "two segments. These rates are not comparable with PSST's."
)
"""Shown with every figure."""

_PASSED_OVER: Final = dict.fromkeys(map(ord, "ˈˌ'.|/[]"))
_SAME: Final = {ord("g"): "ɡ"}


@cache
def _table() -> Any:
    try:
        import panphon
    except ImportError as error:
        raise MissingExtra("the inventory of panphon", "panphon", package="panphon") from error
    return panphon.FeatureTable()


def segment(text: str) -> Mapped:
    """Read IPA as panphon's segments, with or without blanks between them.

    Args:
        text: IPA, in which ``<sil>``, ``<spn>`` and ``<unk>`` may stand as words.

    Returns:
        Segments, the index of the word that each stood in, and every letter that panphon does not
        know, which is dropped and counted. Stress and boundaries are passed over.
    """
    table = _table()
    segments: list[str] = []
    indices: list[int] = []
    dropped: Counter[str] = Counter()
    for index, word in enumerate(text.split()):
        if word.lower() in SILENT:
            known = [word.lower()]
        else:
            bare = word.translate(_PASSED_OVER).translate(_SAME)
            letters = table.segs_safe(bare)
            known = [letter for letter in letters if table.seg_known(letter)]
            dropped.update(letter for letter in letters if not table.seg_known(letter))
        segments += known
        indices += [index] * len(known)
    return Mapped(tuple(segments), tuple(indices), dropped)


def panphon_costs(utterances: Iterable[Sequence[str]]) -> CostTable:
    """Return the costs of all segments of some utterances.

    Substitution: the sum over 24 features of |a - b| / 2; insertion, deletion: the sum of 0.5 where
    the value is 0, else 1 (PSST, section 4.1 and figure 1, on panphon's values).
    """
    table = _table()
    spoken = sorted({phoneme for utterance in utterances for phoneme in utterance} - set(SILENT))
    values = [table.fts(phoneme).numeric() for phoneme in spoken]
    return make_costs(
        spoken,
        [[sum(abs(a - b) for a, b in zip(x, y, strict=True)) / 2 for y in values] for x in values],
        [sum(1.0 if value else 0.5 for value in phoneme) for phoneme in values],
        len(table.names),
    )
