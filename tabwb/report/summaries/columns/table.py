"""The responses of a group of administrations as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData, Part
from tabwb.analysis.paired import Place, Side
from tabwb.battery.model import Battery, Item
from tabwb.records.ratings import MeasureKind
from tabwb.records.states import ResponseStatus
from tabwb.report.summaries.columns.duplicates import representatives
from tabwb.report.summaries.columns.in_memory import columns_in_memory
from tabwb.report.summaries.columns.prepared import Bools, Prepared, items_of, prepare
from tabwb.report.summaries.subtests import Measured
from tabwb.scoring.burden import Usable, count_usable
from tabwb.store.columns import STATUSES, Ints, Ratings, distinct

TRUNCATED = STATUSES.index(ResponseStatus.TRUNCATED)
REPEATED = STATUSES.index(ResponseStatus.REPEATED_ANSWER)
NOT_RATED = -1
_USABLE = np.array([status.usable for status in STATUSES] + [True])  # -1: no status is taken as ok


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """The ratings of one measure by row of a table: value nan or status -1 where there is none."""

    values: NDArray[np.float64]
    statuses: Ints
    reasons: Ints


class Table:
    """The responses of a group of administrations, those that count and their duplicates.

    Args:
        prepared: columns of all administrations.
        members: places of the administrations, in order.
        parts: of each member, the responses that are summarised, None for all; empty: all of all.
    """

    def __init__(
        self, prepared: Prepared, members: Sequence[int], parts: Sequence[Part | None] = ()
    ) -> None:
        self.prepared = prepared
        self.members = tuple(members)
        self.columns = prepared.columns
        starts = prepared.columns.starts
        self.ranges = [(int(starts[place]), int(starts[place + 1])) for place in members]
        chosen = parts or [None] * len(members)
        self.sources = [
            replace(prepared.sources[place], part=part)
            for place, part in zip(members, chosen, strict=True)
        ]
        self.battery: Battery = self.sources[0].battery
        self.planned = [
            prepared.columns.planned[place] if part is None else part.planned
            for place, part in zip(members, chosen, strict=True)
        ]
        self.own: list[Ints | None] = [
            None if part is None else part.rows(prepared.columns, *limits)
            for limits, part in zip(self.ranges, chosen, strict=True)
        ]
        rows = [
            np.arange(*limits) if own is None else own
            for limits, own in zip(self.ranges, self.own, strict=True)
        ]
        self.rows: Ints = np.concatenate(rows)
        sizes = list(map(len, rows))
        self.source: Ints = np.repeat(np.arange(len(members)), sizes)
        self.offsets = np.cumsum([0, *sizes])
        self.known = items_of(self.sources[0], prepared.columns)
        self.place: Ints = self.columns.items[self.rows].astype(np.int64)
        number = [-1 if entry is None else entry[0] for entry in self.known]
        self.subtest: Ints = np.array(number, np.int64)[self.place]
        self.status: Ints = prepared.statuses[self.rows]
        self.fixed: Bools = prepared.fixed[self.rows]
        self.shared: Bools = prepared.shared[self.rows]
        self.text: Ints = self.columns.texts[self.rows]
        self._places: dict[int, Ints] = {}
        self.representative = representatives(self)
        self.counts: Bools = self.representative == np.arange(len(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def item(self, place: int) -> Item:
        """Return the item at a place."""
        entry = self.known[place]
        assert entry is not None
        return entry[2]

    @cached_property
    def usable(self) -> Bools:
        """Whether a response can be described; see ``CountedResponse.usable``."""
        closed = np.array([subtest.task.closed for subtest in self.battery.subtests])
        plain: Bools = _USABLE[self.status] | ((self.status == REPEATED) & closed[self.subtest])
        usable: Bools = plain & ~((self.status == TRUNCATED) & self.prepared.blank[self.text])
        return usable

    @cached_property
    def connected(self) -> Bools:
        """Whether a response is connected text."""
        of_subtest = np.array([subtest.task.connected for subtest in self.battery.subtests])
        connected: Bools = of_subtest[self.subtest]
        return connected

    @cached_property
    def clusters(self) -> tuple[Ints, list[tuple[str, ...]]]:
        """Cluster of each row, and the clusters in sorted order."""
        people = {source.examinee for source in self.sources if source.is_speaker}
        keys: list[tuple[str, ...]] = list(self.columns.places)
        code = self.place
        if len(people) > 1:
            keys = keys + [(source.examinee,) for source in self.sources]
            spoken = np.array([source.is_speaker for source in self.sources])[self.source]
            code = np.where(spoken, len(self.columns.places) + self.source, code)
        used = distinct(code)
        names = sorted({keys[at] for at in used.tolist()})
        rank = {name: at for at, name in enumerate(names)}
        table = np.zeros(len(keys), np.int64)
        table[used] = [rank[keys[at]] for at in used.tolist()]
        return table[code], names

    def _found(self, rated: Ints) -> Ints:
        """Return, for each row, its place in ``rated``, rows of all columns; or -1."""
        if id(rated) not in self._places:
            found = np.full(len(self), -1, np.int32)
            for (start, stop), own, offset in zip(
                self.ranges, self.own, self.offsets.tolist(), strict=False
            ):
                # Of the same type: otherwise all of them would be converted.
                low, high = np.searchsorted(rated, np.array((start, stop), rated.dtype)).tolist()
                at, places = rated[low:high].astype(np.int64) - start, np.arange(low, high)
                if own is not None:
                    here = np.isin(at + start, own)
                    at, places = np.searchsorted(own, at[here] + start), places[here]
                found[at + offset] = places
            self._places[id(rated)] = found
        return self._places[id(rated)]

    def values_at(self, rated: Ints, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the rows of this table among ``rated``, ascending, and their values.

        Args:
            rated: rows of all columns, ascending.
            values: one for each of them.
        """
        found = self._found(rated)
        rows = np.flatnonzero(found >= 0)
        return [rows, values[found[rows]]]

    def order(self, rater: str) -> Ints:
        """Return the place of a rater among those who rated each response; -1: it did not."""
        ratings = self.columns.ratings[rater]
        rows, given = self.values_at(ratings.rows, ratings.order)
        order = np.full(len(self), -1, np.int64)
        order[rows] = given
        return order

    def spread(self, ratings: Ratings | None, rows: Ints | None = None) -> Given:
        """Return the ratings of a measure for every row, or for some.

        Args:
            ratings: of the measure; None where there are none.
            rows: of this table; None: all.
        """
        n = len(self) if rows is None else len(rows)
        given = Given(np.full(n, np.nan), np.full(n, NOT_RATED, np.int8), np.zeros(n, np.int32))
        if ratings is None:
            return given
        found = self._found(ratings.rows)
        if rows is not None:
            found = found[rows]
        at = np.flatnonzero(found >= 0)
        places = found[at]
        given.values[at] = ratings.values[places]
        given.statuses[at] = ratings.statuses[places]
        given.reasons[at] = ratings.reasons[places]
        return given

    def measure(self, rater: str, measure: str, rows: Ints | None = None) -> Given:
        """Return what a rater gave to a measure.

        Args:
            rater: its name.
            measure: its name.
            rows: of this table; None: all.
        """
        ratings = self.columns.ratings.get(rater)
        return self.spread(None if ratings is None else ratings.measures.get(measure), rows)

    def verdict(self, rater: str, policy: str, rows: Ints | None = None) -> Given:
        """Return a scorer's verdicts.

        Args:
            rater: the scorer.
            policy: ``exact`` is its first verdict, whatever its name.
            rows: of this table; None: all.
        """
        names = [source.verdict_measure(rater, policy) for source in self.sources]
        first, *others = dict.fromkeys(names)
        given = self.measure(rater, first, rows)
        sources = self.source if rows is None else self.source[rows]
        for name in others:
            other = self.measure(rater, name, rows)
            own = np.array([key == name for key in names])[sources]
            given = Given(
                np.where(own, other.values, given.values),
                np.where(own, other.statuses, given.statuses),
                np.where(own, other.reasons, given.reasons),
            )
        return given

    def side(self, rows: Ints, values: NDArray[np.float64]) -> Side:
        """Return values of rows by item as one side of a comparison; nan is left out.

        Args:
            rows: of this table.
            values: one for each.
        """
        return side_of(
            self.columns.places,
            self.place[rows],
            values,
            self.fixed[rows],
            self.shared[rows],
            self.battery.clusters,
        )

    def chosen(self, rater: str) -> Ints:
        """Return, for each row that counts, the row that a rater has rated: it or a duplicate."""
        rows = np.flatnonzero(self.order(rater) >= 0)
        best = np.full(len(self), len(self))
        np.minimum.at(best, self.representative[rows], rows)
        own = np.arange(len(self))
        return np.where(best < len(self), best, own)[self.counts]


def table_of(sources: Sequence[AdministrationData]) -> Table:
    """Return the table of administrations of one battery.

    Responses that were read together as columns are taken from these; else trials in memory are.
    """
    parts = [source.part for source in sources]
    read = [source.columns for source in sources if source.columns is not None]
    if not read:
        prepared = prepare(columns_in_memory(sources), sources)
        return Table(prepared, range(len(sources)), parts)
    if len(read) < len(sources) or any(prepared is not read[0][0] for prepared, _ in read):
        raise ValueError("the columns of these administrations were not read together")
    return Table(read[0][0], [place for _, place in read], parts)


def side_of(
    names: Sequence[Place],
    items: Ints,
    values: NDArray[np.float64],
    fixed: Bools,
    shared: Bools,
    clusters: Mapping[Place, str],
) -> Side:
    """Return values of responses by item as one side of a comparison; nan is left out."""
    known = ~np.isnan(values)
    items, values = items[known], values[known]
    return Side(
        {names[item]: tuple(values[items == item].tolist()) for item in first_of(items)},
        bool(len(items)) and bool(fixed[known].all()),
        bool(shared[known].any()),
        clusters,
    )


def first_of(values: Ints) -> list[int]:
    """Return the different values in the order in which they come first."""
    different, at = np.unique(values, return_index=True)
    return different[np.argsort(at)].tolist()  # type: ignore[no-any-return]


def status_counts(table: Table, rows: Ints) -> dict[str, int]:
    """Return response status to number of responses, in the order in which they come first."""
    statuses = table.status[rows]
    n = np.bincount(statuses[statuses >= 0], minlength=len(STATUSES))
    return {STATUSES[code].value: int(n[code]) for code in first_of(statuses[statuses >= 0])}


def unusable(table: Table, rows: Ints) -> Ints:
    """Return, of each response, the status that makes it unusable, a place in ``STATUSES``; or
    -1.
    """
    return np.where(table.usable[rows], -1, table.status[rows])


def usable_of(table: Table, rows: Ints) -> Usable:
    """Return how many responses are usable, and why others are not."""
    n = np.bincount(unusable(table, rows) + 1, minlength=len(STATUSES) + 1).tolist()
    names = ("", *(status.value for status in STATUSES))
    return count_usable(
        Counter({name: times for name, times in zip(names, n, strict=True) if times})
    )


def measured_of(
    values: NDArray[np.float64],
    rater: str = "",
    measure: str = "",
    kind: MeasureKind = "number",
) -> Measured:
    """Return counts and sum of values; nan where a value is undefined."""
    known = values[~np.isnan(values)]
    # A sum of integers is exact in any order.
    whole = bool((known == np.rint(known)).all())
    total = float(known.sum()) if whole else fsum(known.tolist())
    nonzero = int(np.count_nonzero(known))
    return Measured(len(known), total, nonzero, len(values) - len(known), rater, measure, kind)
