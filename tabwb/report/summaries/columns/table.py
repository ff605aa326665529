"""The responses of a group of administrations as a table."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.battery.model import Battery, Item
from tabwb.records.states import ResponseStatus
from tabwb.report.summaries.columns.in_memory import columns_in_memory
from tabwb.report.summaries.columns.prepared import Bools, Prepared, items_of, prepare
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.draws import again_drawn
from tabwb.report.summaries.paired import Place, Side
from tabwb.report.summaries.parts import Part
from tabwb.store.column_ratings import Ints, Ratings
from tabwb.store.column_rows import STATUSES

EMPTY = STATUSES.index(ResponseStatus.EMPTY)
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
        self.representative = self._representatives()
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
    def clusters(self) -> tuple[Ints, list[tuple[str, ...]]]:
        """Cluster of each row, and the clusters in sorted order."""
        people = {source.examinee for source in self.sources if source.is_speaker}
        keys: list[tuple[str, ...]] = list(self.columns.places)
        code = self.place
        if len(people) > 1:
            keys = keys + [(source.examinee,) for source in self.sources]
            spoken = np.array([source.is_speaker for source in self.sources])[self.source]
            code = np.where(spoken, len(self.columns.places) + self.source, code)
        used = np.unique(code)
        names = sorted({keys[at] for at in used.tolist()})
        rank = {name: at for at, name in enumerate(names)}
        table = np.zeros(len(keys), np.int64)
        table[used] = [rank[keys[at]] for at in used.tolist()]
        return table[code], names

    def _representatives(self) -> Ints:
        own = np.arange(len(self.rows))
        examinees: dict[str, int] = {}
        who = np.array(
            [examinees.setdefault(source.examinee, len(examinees)) for source in self.sources]
        )[self.source]
        asked = self.columns.asked[self.rows].astype(np.int64)
        columns = (who, self.prepared.protocols[self.rows], self.place, asked)
        at = np.flatnonzero(self.fixed)
        if len(at):
            first: dict[Hashable, int] = {}
            keys = zip(*(column[at].tolist() for column in (*columns, self.text)), strict=True)
            own[at] = [
                first.setdefault(key, row) for row, key in zip(at.tolist(), keys, strict=True)
            ]
        if len(self.sources) > 1:
            for row, earlier in self._again_drawn(columns):
                own[row] = earlier
        return own

    def _again_drawn(self, columns: Sequence[Ints]) -> Iterator[tuple[int, int]]:
        notes, noted = self.columns.notes, self.columns.noted
        at = np.flatnonzero(~self.fixed)
        keys = zip(*(column[at].tolist() for column in columns), strict=True)
        seeds = self.columns.seeds[self.rows[at]].tolist()
        lines = notes["replayed_line"][self.rows[at]].tolist()
        uids = notes["replayed_administration"][self.rows[at]].tolist()
        replicates = self.columns.replicates[self.rows[at]].tolist()
        draws = []
        for row, key, seed, line, uid, replicate in zip(
            at.tolist(), keys, seeds, lines, uids, replicates, strict=True
        ):
            place = int(self.source[row])
            conditions = self.sources[place].conditions
            if conditions is None or conditions.kind != "model":
                continue
            drawn: Hashable
            if line >= 0:
                if uid < 0 or not noted[uid]:
                    continue
                drawn = (noted[uid], noted[line])
            else:
                shared = bool(self.shared[row])
                text = str(seed) if seed >= 0 else noted[-2 - seed] if seed < -1 else ""
                if not shared and not (text.isascii() and text.isdecimal()):
                    continue
                number = conditions.decoding.seed + replicate if shared else int(text)
                decoding = conditions.decoding
                drawn = (shared, number, decoding.temperature, decoding.top_p)
            draws.append((row, place, (*key, drawn), str(self.text[row])))
        yield from again_drawn(draws).items()

    def local(self, rows: Ints, *columns: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the rows of this table among ``rows`` (ascending), and their values.

        Args:
            rows: of all columns.
            columns: values, one for each of ``rows``.
        """
        parts: list[list[NDArray[Any]]] = [[] for _ in range(1 + len(columns))]
        for (start, stop), own, offset in zip(
            self.ranges, self.own, self.offsets.tolist(), strict=False
        ):
            low, high = np.searchsorted(rows, (start, stop))
            at = rows[low:high].astype(np.int64)
            values = [column[low:high] for column in columns]
            if own is None:
                at -= start
            else:
                here = np.isin(at, own)
                at, values = np.searchsorted(own, at[here]), [value[here] for value in values]
            parts[0].append(at + offset)
            for part, value in zip(parts[1:], values, strict=True):
                part.append(value)
        return [np.concatenate(part) for part in parts]

    def rated_rows(self, rater: str) -> tuple[Ints, Ints]:
        """Return the rows that a rater has rated, ascending, and its order among their raters."""
        ratings = self.columns.ratings[rater]
        rows, order = self.local(ratings.rows, ratings.order)
        return rows, order

    def spread(self, ratings: Ratings | None) -> Given:
        """Return the ratings of a measure for every row."""
        n = len(self)
        given = Given(np.full(n, np.nan), np.full(n, NOT_RATED), np.zeros(n, np.int64))
        if ratings is None:
            return given
        at, values, statuses, reasons = self.local(
            ratings.rows, ratings.values, ratings.statuses, ratings.reasons
        )
        given.values[at], given.statuses[at], given.reasons[at] = values, statuses, reasons
        return given

    def measure(self, rater: str, measure: str) -> Given:
        """Return what a rater gave to a measure.

        Args:
            rater: its name.
            measure: its name.
        """
        ratings = self.columns.ratings.get(rater)
        return self.spread(None if ratings is None else ratings.measures.get(measure))

    def verdict(self, rater: str, policy: str) -> Given:
        """Return a scorer's verdicts.

        Args:
            rater: the scorer.
            policy: ``exact`` is its deciding measure, whatever its name.
        """
        names = {
            place: next(iter(declaration.features), "")
            for place, source in enumerate(self.sources)
            if policy == "exact"
            and (declaration := source.declarations.get(rater)) is not None
            and declaration.kind == "scorer"
        }
        given = self.measure(rater, policy)
        for name in set(names.values()) - {policy}:
            other = self.measure(rater, name)
            own = np.isin(self.source, [place for place, key in names.items() if key == name])
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
            self.columns.places, self.place[rows], values, self.fixed[rows], self.shared[rows]
        )

    def chosen(self, rater: str) -> Ints:
        """Return, for each row that counts, the row that a rater has rated: it or a duplicate."""
        rows, _ = self.rated_rows(rater)
        best = np.full(len(self), len(self))
        np.minimum.at(best, self.representative[rows], rows)
        own = np.arange(len(self))
        return np.where(best < len(self), best, own)[self.counts]


def table_of(sources: Sequence[Source]) -> Table:
    """Return the table of administrations of one battery.

    Responses that were read together as columns are taken from these; else trials in memory are.

    Raises:
        ValueError: their columns were not read together.
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
    names: Sequence[Place], items: Ints, values: NDArray[np.float64], fixed: Bools, shared: Bools
) -> Side:
    """Return values of responses by item as one side of a comparison; nan is left out.

    Args:
        names: of the items.
        items: places in ``names``, one for each response, as the others.
        values: of the responses.
        fixed: whether nothing was drawn.
        shared: whether it shares a random stream.
    """
    known = ~np.isnan(values)
    items, values = items[known], values[known]
    return Side(
        {names[item]: tuple(values[items == item].tolist()) for item in first_of(items)},
        bool(len(items)) and bool(fixed[known].all()),
        bool(shared[known].any()),
    )


def is_verdict(values: NDArray[np.float64]) -> bool:
    """Return whether all values are 1 or 0, or missing."""
    return bool(np.all(np.isnan(values) | (values == 0.0) | (values == 1.0)))


def first_of(values: Ints) -> list[int]:
    """Return the different values in the order in which they come first."""
    different, at = np.unique(values, return_index=True)
    return different[np.argsort(at)].tolist()  # type: ignore[no-any-return]


def status_counts(table: Table, rows: Ints) -> dict[str, int]:
    """Return response status to number of responses, in the order in which they come first.

    Args:
        table: with the statuses.
        rows: which responses.
    """
    statuses = table.status[rows]
    n = np.bincount(statuses[statuses >= 0], minlength=len(STATUSES))
    return {STATUSES[code].value: int(n[code]) for code in first_of(statuses[statuses >= 0])}


def unusable(table: Table, rows: Ints) -> Iterator[str]:
    """Yield, of each response, the status that makes it unusable; empty for a usable one.

    Args:
        table: with the statuses.
        rows: which responses.
    """
    usable, statuses = table.usable[rows], table.status[rows]
    for ok, status in zip(usable.tolist(), statuses.tolist(), strict=True):
        yield "" if ok or status < 0 else STATUSES[status].value


def plain(values: NDArray[np.float64]) -> list[float | None]:
    """Return values as a list; None for nan."""
    missing = np.isnan(values).tolist()
    return [None if gone else value for value, gone in zip(values.tolist(), missing, strict=True)]
