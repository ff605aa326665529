"""Responses and verdicts as numpy columns, and which of them count in a group.

They are read from a store (:meth:`tabwb.store.store.Store.columns`) or taken from trials in memory
one by one. :func:`prepare` adds what is known of each response by itself; a :class:`Table` has the
responses of a group, with those that count as a mask.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData, Part
from tabwb.analysis.paired import Place, Side
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.plugin_api.extensions import Statistic
from tabwb.records.ratings import MeasureKind
from tabwb.records.states import Protocol, ResponseStatus
from tabwb.records.trials import Attempt, Trial
from tabwb.report.summaries.subtests import Measured
from tabwb.scoring.burden import REPEATED_PROMPTS, Usable, count_usable
from tabwb.store.columns import (
    STATUSES,
    Ints,
    Places,
    RaterColumns,
    Ratings,
    ResponseColumns,
    Texts,
    distinct,
    seed_code,
)
from tabwb.store.facts import NOTES, of_text
from tabwb.store.verdicts import STATUSES as RATING_STATUSES

Column = tuple[NDArray[Any], int]
"""Integers from 0, or bool; and a bound above all of them."""


def combined(*columns: Column) -> Column:
    """Return integers that are equal where all columns are, and a bound above them."""
    values, size = columns[0]
    codes: Ints = values.astype(np.int64)
    for values, bound in columns[1:]:
        if size * bound >= 1 << 62:
            codes, size = dense(codes)
        codes, size = codes * bound + values, size * bound
    return codes, size


def dense(values: Ints) -> tuple[Ints, int]:
    """Return integers from 0 that are equal where the values are, and a bound above them."""
    different, codes = np.unique(values, return_inverse=True)
    return codes, len(different)


def alike(*columns: Column) -> tuple[Ints, Ints, Ints]:
    """Return where different rows come first, how often they come, and of each row which it is.

    The different rows are in the order in which they come first.

    >>> first, times, which = alike((np.array([7, 3, 7]), 8), (np.array([0, 1, 0]), 2))
    >>> first.tolist(), times.tolist(), which.tolist()
    ([0, 1], [2, 1], [0, 1, 0])
    """
    codes, bound = combined(*columns)
    if bound > 4 * len(codes) + 1_000:
        codes, bound = dense(codes)
    first = np.full(bound, -1)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    used = np.flatnonzero(first >= 0)
    used = used[np.argsort(first[used])]
    which = np.empty(bound, np.int64)
    which[used] = np.arange(len(used))
    places = which[codes]
    return first[used], np.bincount(places, minlength=len(used)), places


REPEATED = STATUSES.index(ResponseStatus.REPEATED_ANSWER)
PROTOCOLS = tuple(Protocol)
_USABLE = np.array([status.usable for status in STATUSES] + [True])  # -1: no status is taken as ok
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """What is known of each response by itself, before responses are put together in groups.

    Attributes:
        columns: as read.
        sources: of each administration, its battery, conditions and declarations; no trials.
        statuses: under which each response counts, places in ``STATUSES`` or -1.
        protocols: places in ``PROTOCOLS``.
        fixed: whether nothing was drawn; shared: whether it shares a random stream.
        statistics: of plugins, to be computed of each group.
    """

    columns: ResponseColumns
    sources: Sequence[AdministrationData]
    statuses: Ints
    protocols: Ints
    fixed: Bools
    shared: Bools
    statistics: tuple[Statistic, ...] = ()


def items_of(
    source: AdministrationData, columns: ResponseColumns
) -> list[tuple[int, Subtest, Item] | None]:
    """Return, by place, the number of its subtest, subtest and item; None: of other batteries."""
    known = {
        (subtest.id, item.id): (number, subtest, item)
        for number, subtest in enumerate(source.battery.subtests)
        for item in subtest.items
    }
    return [known.get(place) for place in columns.places]


def prepare(columns: ResponseColumns, sources: Sequence[AdministrationData]) -> Frame:
    """Return what is known of each response by itself."""
    statuses = columns.statuses.astype(np.int8)
    protocols = np.zeros(len(columns), np.int8)
    fixed, shared = np.zeros(len(columns), bool), np.zeros(len(columns), bool)
    known: dict[str, list[tuple[int, Subtest, Item] | None]] = {}
    noted = {value: code for code, value in enumerate(columns.noted)}
    for place, source in enumerate(sources):
        rows = slice(int(columns.starts[place]), int(columns.starts[place + 1]))
        if rows.start == rows.stop:
            continue
        battery = source.battery.content_hash
        if battery not in known:
            known[battery] = items_of(source, columns)
        items = known[battery]
        repeated = _repeated(items, columns.items[rows], columns.texts[rows], columns.responses)
        own = statuses[rows]
        own[repeated & (own >= 0) & _USABLE[own]] = REPEATED
        _obtained(source, items, columns, noted, rows, protocols, fixed, shared)
    return Frame(columns, sources, statuses, protocols, fixed, shared)


def _repeated(
    items: Sequence[tuple[int, Subtest, Item] | None],
    places: Ints,
    given: Ints,
    responses: Texts,
) -> Bools:
    texts = responses.spoken[given].astype(np.int64)
    prompts: dict[str, int] = {}
    prompt = np.full(len(items), -1)
    expected = np.full(len(items), -1)
    closed = np.full(len(items), -1)
    for place in distinct(places).tolist():
        entry = items[place]
        assert entry is not None
        number, subtest, item = entry
        if subtest.task.coded:
            continue
        prompt[place] = prompts.setdefault(item.prompt, len(prompts))
        if subtest.task.closed:
            closed[place] = number
        elif item.expected is not None:
            expected[place] = responses.code(item.expected)
    repeated = np.zeros(len(places), bool)
    groups = closed[places]
    compared = (prompt[places] >= 0) & (groups < 0) & (texts != expected[places])
    repeated[compared] = _several(texts[compared], prompt[places][compared])
    for number in distinct(groups[groups >= 0]).tolist():
        own = groups == number
        if len(distinct(texts[own])) == 1:
            repeated[own] = _several(texts[own], prompt[places][own])
    return repeated


def _several(texts: Ints, prompts: Ints) -> Bools:
    """Return which texts (0: without a word) were given to three or more different prompts."""
    if not len(texts):
        return np.zeros(0, bool)
    pairs = distinct(texts * (prompts.max() + 1) + prompts) // (prompts.max() + 1)
    given, n = np.unique(pairs, return_counts=True)
    several: Bools = np.isin(texts, given[(n >= REPEATED_PROMPTS) & (given > 0)])
    return several


def _obtained(
    source: AdministrationData,
    items: Sequence[tuple[int, Subtest, Item] | None],
    columns: ResponseColumns,
    noted: Mapping[str, int],
    rows: slice,
    protocols: Ints,
    fixed: Bools,
    shared: Bools,
) -> None:
    """Set how the answers of one administration were obtained; see ``protocol_of``."""

    def has(name: str, value: str) -> Bools:
        same: Bools = columns.notes[name][rows] == noted.get(value, -2)
        return same

    listed = np.array([bool(options) for options in columns.shown])
    answers = np.array([entry is not None and bool(entry[1].task.answers) for entry in items])
    chosen = listed[columns.options[rows]] | answers[columns.items[rows]]
    own = np.where(chosen, PROTOCOLS.index(source.protocol), PROTOCOLS.index(Protocol.GENERATE))
    for code, protocol in enumerate(PROTOCOLS):
        own[has("protocol", protocol.value)] = code
    protocols[rows] = own
    conditions = source.conditions
    if conditions.kind != "model":
        return
    fixed[rows] = ~has("replayed_sampled", "yes") & (
        conditions.decoding.greedy
        | (own == PROTOCOLS.index(Protocol.LIKELIHOOD))
        | has("sampled", "no")
    )
    if conditions.origin is None:
        unseeded = (columns.seeds[rows] == -1) & (columns.notes["replayed_line"][rows] < 0)
        shared[rows] = unseeded & ~fixed[rows]


_SHARED, _SEEDED, _REPLAYED = 1, 2, 3


def representatives(table: Table) -> Ints:
    """Return, for each row, the row as which it counts: itself, or an earlier one.

    Practice, skipped and void trials have no rows. Where nothing is drawn, the same response to the
    same messages says nothing new and counts once, also in another administration of the model.
    Whoever answers by sampling, and every person, counts each time; but the draw of an earlier
    administration of the model counts once: the same run with the same seed gives the same
    responses, and in earlier versions so do replicates of neighbouring seeds. That holds for an
    administration whose every response to an earlier question and seed is the same text. Where one
    differs, the back end does not keep to seeds, and all count.
    """
    own = np.arange(len(table))
    examinees: dict[str, int] = {}
    who = [examinees.setdefault(source.examinee, len(examinees)) for source in table.sources]
    asked = table.columns.asked[table.rows].astype(np.int64)
    questions, _ = combined(
        (np.array(who)[table.source], len(examinees)),
        (table.frame.protocols[table.rows].astype(np.int64), len(PROTOCOLS)),
        (table.place, len(table.known)),
        (asked, int(asked.max(initial=0)) + 1),
    )
    fixed = np.flatnonzero(table.fixed)
    if len(fixed):
        texts = table.text[fixed].astype(np.int64)
        same, _ = combined(dense(questions[fixed]), dense(texts))
        own[fixed] = fixed[_first(same)]
    if len(table.sources) > 1:
        rows, earlier = _again_drawn(table, questions)
        own[rows] = earlier
    return own


def _again_drawn(table: Table, questions: Ints) -> tuple[Ints, Ints]:
    """Return rows that repeat a draw of an earlier administration, and the rows repeated."""
    kinds, numbers, decodings = _draws(table)
    rows = np.flatnonzero(kinds)
    numbers, size = dense(numbers[rows])
    # Most numbers are drawn once: only the others can be the same draw.
    several = np.bincount(numbers, minlength=size)[numbers] > 1
    rows, numbers = rows[several], numbers[several]
    codes, _ = combined(
        dense(questions[rows]),
        (kinds[rows], 4),
        (decodings[rows], len(table.sources)),
        (numbers, size),
    )
    first = rows[_first(codes)]
    source, text = table.source, table.text
    before = source[first] < source[rows]
    # A back end that once gave another text does not keep to seeds.
    differs = np.zeros(len(table.sources), bool)
    differs[source[rows[before & (text[first] != text[rows])]]] = True
    repeated = before & ~differs[source[rows]]
    return rows[repeated], first[repeated]


def _draws(table: Table) -> tuple[Ints, Ints, Ints]:
    """Return what each row was drawn with: a kind, 0 where it is not known, a seed and a decoding.

    A replayed response has the administration and the line of its record for a seed, because a file
    can be replayed twice. In earlier versions replicate r shares the stream of ``seed + r``.
    """
    columns, rows, noted = table.columns, table.rows, table.columns.noted
    seeds = columns.seeds[rows].astype(np.int64)
    lines = columns.notes["replayed_line"][rows].astype(np.int64)
    uids = columns.notes["replayed_administration"][rows].astype(np.int64)
    given = [source.conditions for source in table.sources]
    is_model = np.array([one.kind == "model" for one in given])
    numbers = np.where(seeds >= 0, seeds, 0)
    is_seed = seeds >= 0
    large: dict[int, int] = {}
    for code in distinct(seeds[seeds < -1]).tolist():
        text = noted[-2 - code]
        if text.isascii() and text.isdecimal():
            value = int(text)
            own = seeds == code
            is_seed |= own
            numbers[own] = value if value < 2**62 else -1 - large.setdefault(value, len(large))
    first = np.array([one.decoding.seed for one in given])[table.source]
    numbers = np.where(table.shared, first + columns.replicates[rows], numbers)
    numbers = np.where(lines >= 0, uids * len(noted) + lines, numbers)
    kinds = np.where(table.shared, _SHARED, np.where(is_seed, _SEEDED, 0))
    told = np.array([bool(value) for value in noted] + [False])[uids]
    kinds = np.where(lines >= 0, np.where(told, _REPLAYED, 0), kinds)
    ways: dict[object, int] = {}
    decodings = [
        ways.setdefault((one.decoding.temperature, one.decoding.top_p), len(ways)) for one in given
    ]
    kinds = np.where(is_model[table.source] & ~table.fixed, kinds, 0)
    own_decodings = np.array(decodings)[table.source]
    return kinds, numbers, np.where(kinds == _REPLAYED, 0, own_decodings)


def _first(codes: Ints) -> Ints:
    """Return, for each code, the place at which it comes first."""
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    return first[which]


_COLUMNS = ("trials", "attempts", "items", "replicates", "options", "asked", "texts", "statuses")


def _ints() -> array[int]:
    return array("i")


@dataclass(slots=True)
class _Measure:
    rows: array[int] = field(default_factory=_ints)
    values: array[float] = field(default_factory=lambda: array("d"))
    statuses: array[int] = field(default_factory=lambda: array("b"))
    reasons: array[int] = field(default_factory=_ints)

    @property
    def arrays(self) -> tuple[array[Any], ...]:
        return self.rows, self.values, self.statuses, self.reasons


@dataclass(slots=True)
class _Rater:
    rows: array[int] = field(default_factory=_ints)
    order: array[int] = field(default_factory=_ints)
    measures: dict[str, _Measure] = field(default_factory=dict)
    prompts: dict[int, int] = field(default_factory=dict)

    def columns(self) -> RaterColumns:
        judged = sorted(self.prompts.items())
        return RaterColumns(
            _copied(self.rows),
            _copied(self.order),
            {
                name: Ratings(*map(_copied, given.arrays))
                for name, given in self.measures.items()
                if given.rows
            },
            np.array([row for row, _ in judged], np.int64),
            np.array([prompt for _, prompt in judged], np.int64),
        )


def _copied(values: array[Any]) -> NDArray[Any]:
    return np.array(values)


class Memory:
    """Answers of trials that count, taken one by one, as if they were read from a store.

    :meth:`columns` copies what was taken so far, so that more can be taken afterwards.
    """

    def __init__(self) -> None:
        self.starts = [0]
        self.planned: list[Counter[str]] = []
        self._rows = {name: _ints() for name in (*_COLUMNS, *NOTES)}
        self._seeds = array("q")
        self._raters: dict[str, _Rater] = {}
        self._items, self._shown = Places[tuple[str, str]](), Places[tuple[str, ...]]()
        self._asked, self._noted, self._prompts = Places[object](), Places[str](), Places[str]()
        self._reasons = Places[str]({"": 0})
        self._texts = Places[str]()
        self._of_text = [array("q"), array("i"), array("b"), array("b")]

    def add(self, source: AdministrationData) -> None:
        """Take all trials of an administration, and what its judges were told."""
        self.planned.append(planned_of(source.trials))
        first = len(self)
        self.take(source.trials)
        self.starts.append(len(self))
        numbers = zip(self._rows["trials"][first:], self._rows["attempts"][first:], strict=True)
        rows = {place: row for row, place in enumerate(numbers, first)}
        for judged in source.judged:
            call = judged.judgement
            place = rows.get((judged.trial, judged.attempt))
            if place is not None and not call.repeat and call.rater in self._raters:
                # A later verdict takes the place of an earlier one.
                self._raters[call.rater].prompts[place] = self._prompts[call.prompt_text]

    def again(self, before: Sequence[Trial], trials: Sequence[Trial]) -> Sequence[Trial]:
        """Take the trials of the only administration as they are now, and return those that differ.

        Those before the first that differs stay as they were taken.
        """
        pairs = enumerate(zip(before, trials, strict=False))
        same = min(len(before), len(trials))
        first = next((at for at, (old, new) in pairs if old is not new), same)
        self._cut(sum(trial.is_answered for trial in before[:first]))
        self.take(trials[first:])
        if len(trials) != len(before):
            self.planned = [planned_of(trials)]
        self.starts = [0, len(self)]
        return [
            trial
            for at, trial in enumerate(trials[first:], first)
            if at >= len(before) or trial is not before[at]
        ]

    def __len__(self) -> int:
        return len(self._seeds)

    def take(self, trials: Iterable[Trial]) -> None:
        """Take the answers of trials that count."""
        for trial in trials:
            attempt = trial.counting
            if attempt is not None and trial.is_answered:
                self._take(trial, attempt)

    def _cut(self, row: int) -> None:
        if row == len(self):
            return
        for values in (*self._rows.values(), self._seeds):
            del values[row:]
        for rater in self._raters.values():
            at = bisect_left(rater.rows, row)
            del rater.rows[at:], rater.order[at:]
            for measure in rater.measures.values():
                at = bisect_left(measure.rows, row)
                for values in measure.arrays:
                    del values[at:]

    def _take(self, trial: Trial, attempt: Attempt) -> None:
        plan, noted, row = trial.plan, attempt.metadata, len(self)
        places = (
            plan.number,
            attempt.number,
            self._items[plan.subtest, plan.item],
            plan.replicate,
            self._shown[plan.options],
            self._asked[attempt.messages or plan.prompt],
            self._text(attempt.response),
            -1 if attempt.status is None else STATUSES.index(attempt.status),
        )
        for name, value in zip(_COLUMNS, places, strict=True):
            self._rows[name].append(value)
        for name in NOTES:
            self._rows[name].append(self._noted[noted[name]] if name in noted else -1)
        self._seeds.append(seed_code(noted["seed"], self._noted) if "seed" in noted else -1)
        for order, rating in enumerate(trial.ratings):
            rater = self._raters.setdefault(rating.rater, _Rater())
            if not rater.rows or rater.rows[-1] != row:
                rater.rows.append(row)
                rater.order.append(order)
            measure = rater.measures.setdefault(rating.measure, _Measure())
            measure.rows.append(row)
            measure.values.append(math.nan if rating.value is None else rating.value)
            measure.statuses.append(RATING_STATUSES.index(rating.status))
            measure.reasons.append(self._reasons[rating.reason])

    def _text(self, text: str) -> int:
        """Return the place of a text, with what :class:`Texts` has of each if it is new."""
        if text not in self._texts:
            for values, fact in zip(self._of_text, of_text(text)[1:], strict=True):
                values.append(fact)
        return self._texts[text]

    def columns(self) -> ResponseColumns:
        """Return what was taken."""
        arrays: dict[str, Any] = {name: _copied(self._rows[name]) for name in _COLUMNS}
        return ResponseColumns(
            administrations=tuple(range(len(self.planned))),
            starts=np.array(self.starts),
            planned=tuple(self.planned),
            ids=np.empty(0, np.int32),
            places=tuple(self._items),
            shown=tuple(self._shown),
            responses=Texts(tuple(self._texts), [*map(_copied, self._of_text)]),
            seeds=_copied(self._seeds),
            notes={name: _copied(self._rows[name]) for name in NOTES},
            noted=tuple(self._noted),
            ratings={name: one.columns() for name, one in self._raters.items() if one.rows},
            reasons={code: text for text, code in self._reasons.items()},
            prompts={code: text for text, code in self._prompts.items()},
            **arrays,
        )


def planned_of(trials: Iterable[Trial]) -> Counter[str]:
    """Return the number of trials of each subtest, without practice."""
    return Counter(trial.plan.subtest for trial in trials if not trial.plan.practice)


def columns_in_memory(sources: Sequence[AdministrationData]) -> ResponseColumns:
    """Return the answers of trials in memory that count."""
    held = Memory()
    for source in sources:
        held.add(source)
    return held.columns()


TRUNCATED = STATUSES.index(ResponseStatus.TRUNCATED)
NOT_RATED = -1


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """The ratings of one measure by row of a table: value nan or status -1 where there is none."""

    values: NDArray[np.float64]
    statuses: Ints
    reasons: Ints


class Table:
    """The responses of a group of administrations, those that count and their duplicates.

    ``members`` are places of administrations in the frame; of each, ``parts`` has the responses
    that are summarised, None for all; empty: all of all.
    """

    def __init__(
        self, frame: Frame, members: Sequence[int], parts: Sequence[Part | None] = ()
    ) -> None:
        self.frame = frame
        self.members = tuple(members)
        self.columns = frame.columns
        starts = frame.columns.starts
        self.ranges = [(int(starts[place]), int(starts[place + 1])) for place in members]
        chosen = parts or [None] * len(members)
        self.sources = [
            replace(frame.sources[place], part=part)
            for place, part in zip(members, chosen, strict=True)
        ]
        self.battery: Battery = self.sources[0].battery
        self.planned = [
            frame.columns.planned[place] if part is None else part.planned
            for place, part in zip(members, chosen, strict=True)
        ]
        self.own: list[Ints | None] = [
            None if part is None else part.rows(frame.columns, *limits)
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
        self.known = items_of(self.sources[0], frame.columns)
        self.place: Ints = self.columns.items[self.rows].astype(np.int64)
        number = [-1 if entry is None else entry[0] for entry in self.known]
        self.subtest: Ints = np.array(number, np.int64)[self.place]
        self.status: Ints = frame.statuses[self.rows]
        self.fixed: Bools = frame.fixed[self.rows]
        self.shared: Bools = frame.shared[self.rows]
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
        usable: Bools = plain & ~(
            (self.status == TRUNCATED) & self.columns.responses.blank[self.text]
        )
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
        """Return the rows of this table among ``rated``, ascending, and their values."""
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
        """Return the ratings of a measure for every row, or for some."""
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
        """Return what a rater gave to a measure."""
        ratings = self.columns.ratings.get(rater)
        return self.spread(None if ratings is None else ratings.measures.get(measure), rows)

    def verdict(self, rater: str, policy: str, rows: Ints | None = None) -> Given:
        """Return a scorer's verdicts; ``exact`` is its first verdict, whatever its name."""
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
        """Return values of rows by item as one side of a comparison; nan is left out."""
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
        frame = prepare(columns_in_memory(sources), sources)
        return Table(frame, range(len(sources)), parts)
    if len(read) < len(sources) or any(frame is not read[0][0] for frame, _ in read):
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
