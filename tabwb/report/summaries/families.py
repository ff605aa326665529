"""Base and instruct models over several families: the mean difference, families being a sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from tabwb.report.summaries.paired import Place
from tabwb.report.summaries.pairs import Gap, Pair
from tabwb.report.summaries.summary import Json
from tabwb.scoring.difference_interval import LEAST_FAMILIES, family_interval
from tabwb.scoring.estimand import EstimatedInterval


@dataclass(frozen=True, slots=True)
class FamilyMean:
    """One measure of base - instruct over families.

    Attributes:
        gap: of one of the pairs: measure, subtest, rater and terms.
        families: those with a pair, in order of appearance.
        items: those for which every family has a difference; the others are left out.
        difference: mean over families and items; several sizes of one family are averaged first.
        interval: for prompts like these, and families like these.
    """

    gap: Gap
    families: tuple[str, ...]
    items: int
    difference: float
    interval: EstimatedInterval

    def to_json(self) -> Json:
        """As plain data."""
        found = self.interval.interval
        return {
            "measure": self.gap.measure,
            "subtest": self.gap.subtest or None,
            "rater": self.gap.rater,
            "families": list(self.families),
            "items": self.items,
            "difference": self.difference,
            "estimand": self.interval.estimand.value,
            "interval": None if found is None else [found.low, found.high],
            "interval_reason": self.interval.reason,
        }


def over_families(pairs: Iterable[Pair]) -> tuple[FamilyMean, ...]:
    """Return the mean of each measure over families that have a pair; three families or more.

    Pairs of different batteries or lesions are not put together. The variance has a floor from the
    draws alone, see :func:`tabwb.scoring.difference_interval.family_interval`.
    """
    measures: dict[tuple[object, ...], dict[str, list[Gap]]] = {}
    for pair in pairs:
        for gap in pair.gaps:
            if gap.differences:
                key = (pair.battery, pair.lesion, gap.measure, gap.subtest, gap.rater, gap.terms)
                measures.setdefault(key, {}).setdefault(pair.family, []).append(gap)
    made = (_mean(by_family) for by_family in measures.values() if len(by_family) >= LEAST_FAMILIES)
    return tuple(each for each in made if each is not None)


def _mean(by_family: dict[str, list[Gap]]) -> FamilyMean | None:
    every = [gap for gaps in by_family.values() for gap in gaps]
    places = [at for at in every[0].differences if all(at in gap.differences for gap in every)]
    if not places:
        return None
    rows = [[_at(gaps, place) for place in places] for gaps in by_family.values()]
    floors = [fsum(gap.floor for gap in gaps) / len(gaps) ** 2 for gaps in by_family.values()]
    terms = every[0].terms
    largest = 1.0 if terms is None else float(len(terms.features))
    return FamilyMean(
        every[0],
        tuple(by_family),
        len(places),
        fsum(fsum(row) for row in rows) / len(rows) / len(places),
        family_interval(rows, fsum(floors) / len(rows) ** 2, largest),
    )


def _at(gaps: Sequence[Gap], place: Place) -> float:
    return fsum(gap.differences[place] for gap in gaps) / len(gaps)
