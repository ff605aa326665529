"""Parts of administrations: some items or replicates of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tabwb.records.trials import PlannedTrial

if TYPE_CHECKING:
    from tabwb.report.summaries.counted import Source
    from tabwb.store.columns import Ints, ResponseColumns

Place = tuple[str, str]
"""Subtest and item."""


@dataclass(frozen=True, slots=True)
class Part:
    """Which responses of one administration are summarised.

    Attributes:
        places: (subtest, item) of those that belong to it.
        replicates: their numbers, from 0.
        planned: subtest to number of its planned trials, practice not counted.
    """

    places: frozenset[Place]
    replicates: frozenset[int]
    planned: Mapping[str, int] = field(default_factory=dict)

    @property
    def subtests(self) -> frozenset[str]:
        """The subtests of which it has an item."""
        return frozenset(subtest for subtest, _ in self.places)

    def has(self, plan: PlannedTrial) -> bool:
        """Return whether a planned trial belongs to it."""
        return plan.replicate in self.replicates and (plan.subtest, plan.item) in self.places

    def rows(self, columns: ResponseColumns, start: int, stop: int) -> Ints:
        """Return the rows that belong to it.

        Args:
            columns: with the responses.
            start: the first row of the administration.
            stop: the row after its last one.
        """
        import numpy as np

        wanted = [at for at, place in enumerate(columns.places) if place in self.places]
        chosen = np.isin(columns.items[start:stop], wanted)
        chosen &= np.isin(columns.replicates[start:stop], sorted(self.replicates))
        return np.flatnonzero(chosen) + start


Cell = tuple[str, str, int]
"""Subtest, item and replicate."""
Plan = Mapping[Cell, int]
"""Number of planned trials, practice not counted, of each cell."""


def part_of(plan: Plan, cells: Iterable[Cell]) -> Part:
    """Return the part of an administration that has these cells."""
    places: set[Place] = set()
    replicates: set[int] = set()
    planned: dict[str, int] = {}
    for cell in cells:
        subtest, item, replicate = cell
        places.add((subtest, item))
        replicates.add(replicate)
        planned[subtest] = planned.get(subtest, 0) + plan[cell]
    return Part(frozenset(places), frozenset(replicates), planned)


def subtests_of(sources: Iterable[Source]) -> frozenset[str] | None:
    """Return the subtests of which a part is summarised; None: all of the battery."""
    chosen: set[str] = set()
    for source in sources:
        if source.part is None:
            return None
        chosen |= source.part.subtests
    return frozenset(chosen)
