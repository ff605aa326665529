"""Responses and their verdicts as numpy columns: what summaries read.

One row stands for each answer that counts, in the order of administrations and trials. Which
answer counts is decided as in :mod:`tabwb.store.derive`: an administration in which something was
skipped, voided, taken back or corrected is folded there; in all others the last attempt that is
``ok`` counts. The facts of an answer are stored (:mod:`tabwb.store.facts`), texts are read
when they are asked for.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import StoreError
from tabwb.records.exchange import REASONING
from tabwb.records.states import RatingStatus, ResponseStatus
from tabwb.records.trials import Attempt
from tabwb.scoring.calibrated import Calibration
from tabwb.store import facts
from tabwb.store.database import Transaction
from tabwb.store.facts import NOTES
from tabwb.store.read import trial_parts
from tabwb.store.verdicts import MEANT, OTHER, by_place, texts
from tabwb.store.verdicts import STATUSES as RATING_STATUSES

if TYPE_CHECKING:
    from tabwb.store.store import Access

T = TypeVar("T")
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
Floats = NDArray[np.floating[Any]]
STATUSES = tuple(ResponseStatus)
"""A response's status is its place here; -1 where none was stored."""
CHUNK = 20_000
"""Trials that are read at a time."""
_BLOCK = 2_000
"""Texts that are read at a time."""


def _none() -> NDArray[Any]:
    return np.empty(0, np.int64)


class Places(dict[T, int]):
    """The place of each different value; one that is asked for first is added."""

    def __missing__(self, value: T) -> int:
        """Add a value."""
        self[value] = place = len(self)
        return place


def seed_code(noted: str, table: Places[str]) -> int:
    """Return a noted seed as ``Frame.seeds`` has it."""
    seed = facts.number(noted)
    return -2 - table[noted] if seed is None else seed


class Texts(Sequence[str]):
    """Different responses, with what summaries need of each.

    ``sizes`` are numbers of words; ``spoken`` is equal where the words are, 0 where there are none;
    ``blank`` and ``thinks`` say whether a text is empty, and whether it holds a model's reasoning.
    ``read`` returns the texts from one place to another; it is called for blocks of them.
    """

    def __init__(self, read: Callable[[int, int], Sequence[str]], given: Sequence[Ints]) -> None:
        self._read, self._blocks = read, dict[int, Sequence[str]]()
        spoken, self.sizes = given[:2]
        self.blank, self.thinks = (np.asarray(one, np.bool_) for one in given[2:])
        known, codes = np.unique(np.append(spoken, 0), return_inverse=True)
        self._known, self._zero = known, int(np.searchsorted(known, 0))
        # Words have codes from 1.
        spoken = np.where(codes == self._zero, 0, codes + (codes < self._zero))
        self.spoken = spoken[:-1].astype(np.int32)

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, at: Any) -> Any:
        """Return a text, or several."""
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        number, within = divmod(range(len(self))[at], _BLOCK)
        if number not in self._blocks:
            self._blocks[number] = self._read(number * _BLOCK, (number + 1) * _BLOCK)
        return self._blocks[number][within]

    def code(self, text: str) -> int:
        """Return ``spoken`` of the texts with the same words as another; -1 where none has."""
        said, n = facts.spoken(text)
        at = int(np.searchsorted(self._known, said))
        if not n or at == len(self._known) or self._known[at] != said:
            return -1 if n else 0
        return at + (at < self._zero)


_VALUES = np.array([np.nan if value is None else value for value, _ in MEANT.values()])
_STATUSES = np.array([RATING_STATUSES.index(status) for _, status in MEANT.values()], np.int8)


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings of one measure by one rater, those that it gave last, at ``rows``, ascending.

    ``codes`` (uint8) are those of :mod:`tabwb.store.verdicts`; ``numbers`` the values where the
    code is ``OTHER``, or None; ``reasons`` ids of texts, 0 for none.
    """

    rows: Ints
    codes: NDArray[np.uint8]
    numbers: Floats | None
    reasons: Ints

    @classmethod
    def of(cls, rows: Ints, values: Floats, statuses: Ints, reasons: Ints) -> Ratings:
        """Return ratings from values, nan where the status is not *value*, and statuses."""
        plain = np.where(values == 0, 0, np.where(values == 1, 1, OTHER))
        codes = np.where(statuses == 0, plain, statuses + 1).astype(np.uint8)
        return cls(rows, codes, values if (codes == OTHER).any() else None, reasons)

    def at(self, places: Any = slice(None)) -> tuple[Floats, NDArray[np.int8], Ints]:
        """Return values (nan where there is none), statuses and reasons of some of the ratings."""
        codes = self.codes[places]
        values = _VALUES[codes]
        if self.numbers is not None:
            values = np.where(codes == OTHER, self.numbers[places], values)
        return values, _STATUSES[codes], self.reasons[places]

    def has(self, status: RatingStatus) -> bool:
        """Return whether a rating has a status."""
        codes = np.flatnonzero(RATING_STATUSES.index(status) == _STATUSES)
        return any(bool((self.codes == code).any()) for code in codes.tolist())


@dataclass(frozen=True, slots=True, eq=False)
class RaterColumns:
    """What one rater gave, at ``rows``, ascending: those of all responses that it rated.

    ``order`` is higher for raters who rated a response later. ``measures`` follow the order in
    which the rater gave them. ``judged`` are the rows whose verdict came from a call of a model,
    ``prompts`` the ids of what it was told. ``calibration`` is that of a calibrated judge.
    """

    rows: Ints
    order: Ints
    measures: Mapping[str, Ratings]
    judged: Ints = field(default_factory=_none)
    prompts: Ints = field(default_factory=_none)
    calibration: Mapping[str, Calibration] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The answers that count of some administrations. Arrays have one element per response.

    Those of the last group are what is known of each response by itself, without others
    (:func:`tabwb.analysis.frame.prepare`).
    """

    administrations: tuple[int, ...]
    starts: Ints  # of administration i the rows are starts[i] to starts[i + 1] - 1
    planned: tuple[Mapping[str, int], ...]  # by subtest the number of trials without practice
    ids: Ints  # of the attempts that count, in the store; empty in memory
    trials: Ints
    attempts: Ints
    items: Ints  # places in places, the (subtest, item) pairs
    replicates: Ints
    options: Ints  # places in shown, the options in the order shown
    asked: Ints  # equal where the same messages were sent, or the same prompt was shown
    texts: Ints  # places in responses, the different texts
    statuses: Ints  # places in STATUSES, or -1
    places: tuple[tuple[str, str], ...]
    shown: tuple[tuple[str, ...], ...]
    responses: Texts
    seeds: Ints  # of the draws; -1: none; -2 minus a place in noted: not a number below 10 ** 18
    notes: Mapping[str, Ints]  # by name, places in noted, or -1
    noted: tuple[str, ...]
    ratings: Mapping[str, RaterColumns]
    reasons: Mapping[int, str]  # of ratings without a value and of the verdicts asked for, by id
    prompts: Mapping[int, str]  # what judges were told, by id

    counted: Ints = field(default_factory=_none)  # the statuses under which responses count
    protocols: Ints = field(default_factory=_none)
    fixed: Bools = field(default_factory=_none)  # nothing was drawn
    shared: Bools = field(default_factory=_none)  # drawn from a random stream that others share
    statistics: tuple[Any, ...] = ()  # of plugins, to be computed of each group

    def __len__(self) -> int:
        return len(self.trials)


_CASES = " ".join(f"WHEN '{status.value}' THEN {at}" for at, status in enumerate(STATUSES))
_TRIALS = (
    ("administration", np.int32, "administration_id"),
    ("trial", np.int32, "number"),
    ("item", np.int32, "item_id"),
    ("replicate", np.int32, "replicate"),
    ("options", np.int32, "options_id"),
)
_TEXT = (
    ("text", np.int64, "text"),
    ("spoken", np.int64, "spoken"),
    ("words", np.int32, "words"),
    ("blank", np.bool_, "CAST(blank AS INTEGER)"),
    ("thinks", np.bool_, "CAST(thinks AS INTEGER)"),
)
_ATTEMPTS = (
    ("id", np.int32, "id"),
    ("administration", np.int32, "administration_id"),
    ("trial", np.int32, "trial"),
    ("attempt", np.int32, "number"),
    ("status", np.int8, f"CASE coalesce(status, '') {_CASES} WHEN '' THEN -1 ELSE -2 END"),
    *_TEXT,
    ("asked", np.int64, "asked"),
    ("seed", np.int64, "coalesce(seed, -1)"),
    ("line", np.int64, "coalesce(line, -1)"),
    ("notes", np.int32, "coalesce(notes_id, 0)"),
)
_Columns = Sequence[tuple[str, Any, str]]
_CORRECTIONS = "('skipped', 'voided', 'undone', 'not-needed', 'observed')"
_BETWEEN = "administration_id BETWEEN ? AND ?"


def _table(
    transaction: Transaction, columns: _Columns, rest: str, *parameters: object
) -> dict[str, NDArray[Any]]:
    """Return columns of a query as arrays, by administration, trial and attempt."""
    joined = transaction.joined(*(column for *_, column in columns))
    row = transaction.first(f"SELECT {joined} {rest}", *parameters) or ()
    table = {
        name: _integers(text).astype(kind)
        for (name, kind, _), text in zip(columns, row, strict=True)
    }
    keys = [table[name] for name in ("attempt", "trial", "administration") if name in table]
    order = np.lexsort(keys)
    if (np.diff(order) != 1).any():
        table = {name: values[order] for name, values in table.items()}
    return table


def _integers(text: str | None) -> NDArray[np.int64]:
    """Return integers that a database has joined."""
    return np.fromstring(text or "", np.int64, sep=",")


def read_frame(
    access: Access, administrations: Sequence[int], explained: Collection[str] = ()
) -> Frame:
    """Read the answers that count, with their ratings."""
    with access.reading() as transaction:
        return _Reader(transaction, administrations, explained).frame(access)


class _Reader:
    def __init__(
        self, transaction: Transaction, administrations: Sequence[int], explained: Collection[str]
    ) -> None:
        self._transaction, self._administrations = transaction, administrations
        self._explained = explained
        rows = transaction.rows("SELECT id, subtest, item FROM items")
        self._items = {number: (subtest, item) for number, subtest, item in rows}
        self._subtests = Places[str]()
        self._subtest_of = np.zeros(max(self._items, default=0) + 1, np.int64)
        for number, (subtest, _) in self._items.items():
            self._subtest_of[number] = self._subtests[subtest]
        self._judged = transaction.value("SELECT 1 FROM judgements LIMIT 1") is not None
        self._columns: dict[str, NDArray[Any]] = {}
        self._n = 0
        self._sizes: list[int] = []
        self._planned: list[dict[str, int]] = []
        self._set: dict[int, Attempt] = {}
        """Rows of administrations with corrections: a person may have set their texts."""
        self._rated: defaultdict[int, list[tuple[Ints, Ints]]] = defaultdict(list)
        """By rater rows, and the ids of its first verdicts."""
        self._codes: defaultdict[tuple[int, int], list[tuple[Ints, NDArray[np.uint8]]]]
        self._codes = defaultdict(list)
        """By rater and list of measures rows, and codes of each measure."""
        self._others: defaultdict[tuple[str, int, int], defaultdict[int, dict[int, float]]]
        self._others = defaultdict(lambda: defaultdict(dict))
        """Numbers and reasons by rater, list of measures and place in it: row to value or id."""
        self._told: defaultdict[int, list[tuple[Ints, Ints]]] = defaultdict(list)
        """By rater rows, and the ids of prompts."""

    def frame(self, access: Access) -> Frame:
        transaction = self._transaction
        chunks = list(_chunks(transaction, self._administrations))
        # Allocated once: what is joined from parts leaves gaps in the memory.
        self._columns = {
            name: np.empty(sum(size for *_, size in chunks), kind)
            for name, kind, _ in (*_TRIALS, *_ATTEMPTS)
        }
        del self._columns["administration"]
        for low, high, _ in chunks:
            self._chunk([n for n in self._administrations if low <= n <= high])
        columns = {name: self._columns.pop(name)[: self._n] for name in [*self._columns]}
        noted: Places[str] = Places()
        notes, seeds = self._notes(columns, noted)
        changed = self._corrected(columns, notes)
        places, items = _in_order(columns.pop("item"))
        options, shown = _in_order(columns.pop("options"))
        known = texts(transaction, options.tolist())
        first, own = _firsts(columns.pop("text"))
        kept = [columns.pop(name)[first] for name, *_ in _TEXT[1:]]
        of_text = columns["id"][first]
        places_of = enumerate(first.tolist() if changed else ())
        set_at = {at: changed[row] for at, row in places_of if row in changed}

        def read(start: int, stop: int) -> list[str]:
            ids = of_text[start:stop].tolist()
            with access.reading() as transaction:
                found = texts(transaction, ids, "attempts", "response")
            if len(found) < len(set(ids)):
                raise StoreError(_DELETED, hint="read them again")
            return [set_at.get(at, found[id]) for at, id in enumerate(ids, start)]

        ratings = self._by_rater()
        prompts = {n for rater in ratings.values() for n in distinct(rater.prompts).tolist()}
        reasons = {
            number
            for rater in ratings.values()
            for one in rater.measures.values()
            for number in distinct(one.reasons).tolist()
        }
        return Frame(
            administrations=tuple(self._administrations),
            starts=np.cumsum([0, *self._sizes]),
            planned=tuple(self._planned),
            ids=columns.pop("id"),
            trials=small(columns.pop("trial")),
            attempts=small(columns.pop("attempt")),
            items=small(items),
            replicates=small(columns.pop("replicate")),
            options=small(shown),
            asked=small(np.unique(columns.pop("asked"), return_inverse=True)[1]),
            texts=small(own),
            statuses=small(columns.pop("status")),
            places=tuple(self._items[number] for number in places.tolist()),
            shown=tuple(tuple(json.loads(known[number])) for number in options.tolist()),
            responses=Texts(read, kept),
            seeds=small(seeds),
            notes={name: small(codes) for name, codes in notes.items()},
            noted=tuple(noted),
            ratings=ratings,
            reasons=texts(transaction, reasons - {0}),
            prompts=texts(transaction, prompts),
        )

    def _chunk(self, chosen: Sequence[int]) -> None:
        """Read administrations between which the store has no other."""
        transaction, span = self._transaction, (chosen[0], chosen[-1])
        trials = _table(
            transaction, _TRIALS, f"FROM trials WHERE {_BETWEEN} AND NOT practice", *span
        )
        attempts = _table(transaction, _ATTEMPTS, f"FROM attempts WHERE {_BETWEEN} AND ok", *span)
        if (attempts["status"] == -2).any():
            raise ValueError("a response has a status that does not exist")
        at = found(_pairs(trials), _pairs(attempts))
        corrected = self._folded(span)
        keep = at >= 0
        if corrected:
            for row, (number, trial, attempt) in enumerate(
                zip(*(attempts[name].tolist() for name in _TRIED), strict=True)
            ):
                if number in corrected:
                    counting = corrected[number].get(trial)
                    keep[row] &= counting is not None and counting.number == attempt
        # Of several attempts of a trial that are ok the last one counts.
        kept = np.flatnonzero(keep)
        kept = kept[np.append(np.diff(at[kept]) != 0, True)[: len(kept)]]
        own = {name: values[kept] for name, values in attempts.items()}
        own |= {name: values[at[kept]] for name, values in trials.items() if name not in own}
        before, self._n = self._n, self._n + len(kept)
        if corrected:
            pairs = zip(own["administration"].tolist(), own["trial"].tolist(), strict=True)
            for row, (number, trial) in enumerate(pairs, before):
                if number in corrected:
                    self._set[row] = corrected[number][trial]
        places = np.searchsorted(chosen, own.pop("administration"))
        for name, values in own.items():
            self._columns[name][before : self._n] = values
        self._sizes += np.bincount(places, minlength=len(chosen)).tolist()
        self._planned += self._planned_of(chosen, trials)
        if len(kept):
            self._verdicts(span, own["id"], before)
            if self._judged:
                self._prompts(span, own["id"], before)

    def _planned_of(
        self, chosen: Sequence[int], trials: Mapping[str, NDArray[Any]]
    ) -> list[dict[str, int]]:
        planned: list[dict[str, int]] = [{} for _ in chosen]
        of, names = np.searchsorted(chosen, trials["administration"]), list(self._subtests)
        pairs = of * len(names) + self._subtest_of[trials["item"]]
        different, first, counts = np.unique(pairs, return_index=True, return_counts=True)
        for at in np.argsort(first).tolist():
            place, subtest = divmod(int(different[at]), len(names))
            planned[place][names[subtest]] = int(counts[at])
        return planned

    def _folded(self, span: tuple[int, int]) -> dict[int, dict[int, Attempt]]:
        """Return, of administrations with corrections, the attempt that counts of each trial."""
        numbers = self._transaction.rows(
            f"SELECT DISTINCT administration_id FROM entries WHERE {_BETWEEN}"
            # Compared first, as most entries are of these kinds.
            f" AND kind <> 'attempt-ok' AND kind <> 'trial-started' AND kind IN {_CORRECTIONS}",
            *span,
        )
        return {
            number: {
                trial.plan.number: trial.counting
                for trial in chain.from_iterable(trial_parts(self._transaction, number))
                if trial.is_answered and trial.counting is not None
            }
            for (number,) in numbers
        }

    def _corrected(
        self, columns: Mapping[str, NDArray[Any]], notes: Mapping[str, Ints]
    ) -> dict[int, str]:
        """Set the facts of the texts that persons have set; return these by row."""
        changed: dict[int, str] = {}
        for row, attempt in self._set.items():
            given = facts.of_text(attempt.response)
            if given.text != columns["text"][row]:
                changed[row] = attempt.response
                for name, value in given._asdict().items():
                    columns[name][row] = value
                columns["status"][row] = _place_of(attempt.status)
                if notes["cause"].flags.writeable:  # some response has a cause
                    notes["cause"][row] = -1
        return changed

    def _notes(
        self, columns: dict[str, NDArray[Any]], noted: Places[str]
    ) -> tuple[dict[str, Ints], Ints]:
        """Return places of the notes that summaries read, and seeds."""
        seeds, lines, given = columns.pop("seed"), columns.pop("line"), columns.pop("notes")
        notes: dict[str, Ints] = {name: np.broadcast_to(np.int32(-1), len(seeds)) for name in NOTES}
        ids, own = np.unique(given, return_inverse=True) if given.any() else (given[:0], given)
        known = texts(self._transaction, set(ids.tolist()) - {0})
        read = [json.loads(known[number]) if number else {} for number in ids.tolist()]
        for name in {name for one in read for name in one}:
            codes = [noted[one[name]] if name in one else -1 for one in read]
            if name == "seed":
                other = np.array(codes)[own]
                seeds = np.where(other >= 0, -2 - other, seeds)
            else:
                notes[name] = np.array(codes, np.int32)[own]
        if (lines >= 0).any():
            different, own = np.unique(lines, return_inverse=True)
            codes = [noted[str(line)] if line >= 0 else -1 for line in different.tolist()]
            line = np.array(codes)[own]
            notes["replayed_line"] = np.where(lines >= 0, line, notes["replayed_line"])
        return notes, seeds

    def _verdicts(self, span: tuple[int, int], keys: Ints, before: int) -> None:
        """Read what each rater gave last."""
        low, high = int(keys.min()), int(keys.max())
        rest, limits = "FROM verdicts v WHERE v.attempt_id BETWEEN ? AND ?", (low, high)
        if high - low > 4 * len(keys) + 1000:
            rest = "FROM attempts a JOIN verdicts v ON v.attempt_id = a.id WHERE"
            rest, limits = f"{rest} a.administration_id BETWEEN ? AND ?", span
        joined = self._transaction.joined("v.id", "v.attempt_id")
        codes = self._transaction.joined_bytes("v.codes")
        parts = self._transaction.rows(
            "SELECT v.rater_id, v.measures_id, min(length(v.codes)), max(length(v.codes)),"
            f" {joined}, {codes} {rest} GROUP BY 1, 2",
            *limits,
        )
        # A verdict without measures replaces nothing.
        empty = {measures for _, measures, _, most, *_ in parts if not most}
        if any(text != "[]" for text in texts(self._transaction, empty).values()):
            raise ValueError(_NOT_ONE)
        parts = [part for part in parts if part[3]]
        if not parts:
            return
        given = [(_integers(ids), _integers(attempts)) for *_, ids, attempts, _ in parts]
        ids, attempts = (np.concatenate(one) for one in zip(*given, strict=True))
        sizes = [len(one) for one, _ in given]
        part_of = np.repeat(np.arange(len(parts)), sizes)
        rater_of = np.array([part[0] for part in parts])[part_of]
        of = found(keys, attempts)
        # Of each response and rater the first verdict gives the order, the last one the ratings.
        order = np.lexsort((ids, rater_of, of))
        order = order[np.searchsorted(of[order], 0) :]
        place, rater_of = of[order], rater_of[order]
        heads = np.flatnonzero(_is_new(place, rater_of))
        latest = np.append(heads[1:], len(place))[: len(heads)] - 1
        raters, rows = rater_of[latest], (place[latest] + before).astype(np.int32)
        source = order[latest]
        for rater in distinct(raters).tolist():
            mine = raters == rater
            self._rated[rater].append((rows[mine], ids[order[heads]][mine]))
        starts = np.cumsum([0, *sizes])
        for at, (rater, measures, least, most, *_, text) in enumerate(parts):
            if least != most:
                raise ValueError(_NOT_ONE)
            own = np.flatnonzero(part_of[source] == at)
            whole = np.frombuffer(bytes.fromhex(text), np.uint8).reshape(sizes[at], -1)
            taken = whole[source[own] - starts[at]].T
            self._codes[rater, measures].append((rows[own], np.ascontiguousarray(taken)))
        others = self._transaction.rows(
            f"SELECT v.id, v.rater_id, v.measures_id, v.numbers, v.reasons {rest}"
            " AND (v.numbers IS NOT NULL OR v.reasons IS NOT NULL)",
            *limits,
        )
        row_of_id = dict(zip(ids[source].tolist(), rows.tolist(), strict=True)) if others else {}
        for number, rater, measures, *said in others:
            if (row := row_of_id.get(number)) is not None:
                for what, one in zip(("numbers", "reasons"), said, strict=True):
                    for at, value in by_place(one).items():
                        self._others[what, rater, measures][at][row] = value

    def _prompts(self, span: tuple[int, int], keys: Ints, before: int) -> None:
        """Read what judges were told for the verdicts that count."""
        rows = self._transaction.rows(
            "SELECT j.id, j.attempt_id, j.rater_id, j.prompt_id FROM attempts a"
            " JOIN judgements j ON j.attempt_id = a.id"
            " WHERE a.administration_id BETWEEN ? AND ? AND j.repeat = 0",
            *span,
        )
        if not rows:
            return
        calls, of, raters, prompts = np.array(rows, np.int64).T
        place = found(keys, of)
        order = np.lexsort((calls, raters, place))
        order = order[place[order] >= 0]
        raters, prompts, place = raters[order], prompts[order], place[order] + before
        last = np.append(_is_new(place, raters)[1:], True)[: len(place)]
        for rater in distinct(raters[last]).tolist():
            mine = last & (raters == rater)
            self._told[rater].append((place[mine], prompts[mine]))

    def _by_rater(self) -> dict[str, RaterColumns]:
        specs = dict(self._transaction.rows("SELECT id, spec FROM raters"))
        lists = texts(self._transaction, {measures for _, measures in self._codes})
        columns = {}
        for rater, parts in sorted(self._rated.items()):
            rows, order = map(np.concatenate, zip(*parts, strict=True))
            measures: dict[str, Ratings] = {}
            for key in sorted(key for key in self._codes if key[0] == rater):
                for name, given in self._ratings(key, json.loads(lists[key[1]])):
                    measures[name] = _joined(measures[name], given) if name in measures else given
            for name, given in measures.items():  # the same rows are held once
                if np.array_equal(given.rows, rows):
                    measures[name] = replace(given, rows=rows)
            told = self._told.get(rater, [(_none(), _none())])
            judged, prompts = map(np.concatenate, zip(*told, strict=True))
            columns[specs[rater]] = RaterColumns(rows, small(order), measures, judged, prompts)
        return columns

    def _ratings(
        self, key: tuple[int, int], measures: Sequence[str]
    ) -> Iterator[tuple[str, Ratings]]:
        parts = self._codes.pop(key)
        rows = np.concatenate([part for part, _ in parts])
        codes = np.concatenate([part for _, part in parts], axis=1)
        if len(codes) != len(measures) or codes.max(initial=0) > OTHER:
            raise ValueError(_NOT_ONE)
        numbers, reasons = (self._others[what, *key] for what in ("numbers", "reasons"))
        for place, name in enumerate(measures):
            own, values = codes[place], None
            if given := numbers.get(place):
                values = np.full(len(rows), np.nan)
                values[_rows(rows, given)] = list(given.values())
            known = np.zeros(len(rows), bool) if values is None else np.isfinite(values)
            if ((own == OTHER) != known).any():
                raise ValueError("a rating has a value exactly when its status is 'value'")
            why = np.zeros(len(rows), np.int32)
            if said := reasons.get(place):
                why[_rows(rows, said)] = list(said.values())
                if name not in self._explained:
                    why[_STATUSES[own] == 0] = 0
            yield name, Ratings(rows, own, None if values is None else small(values), small(why))


_TRIED = "administration", "trial", "attempt"
_DELETED = "responses were deleted while they were read"
_NOT_ONE = "a verdict has not one code for each measure"


def _place_of(status: ResponseStatus | None) -> int:
    return -1 if status is None else STATUSES.index(status)


def _rows(rows: Ints, wanted: Collection[int]) -> Ints:
    return np.asarray(np.searchsorted(rows, np.fromiter(wanted, rows.dtype, len(wanted))))


def _pairs(table: Mapping[str, NDArray[Any]]) -> Ints:
    return np.asarray(table["administration"].astype(np.int64) << 32 | table["trial"])


def _is_new(*ordered: Ints) -> Bools:
    """Return where one of some ordered columns differs from the row before."""
    new = np.ones(len(ordered[0]), bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in ordered], axis=0)
    return new


def _firsts(values: Ints) -> tuple[Ints, Ints]:
    """Return where each different value stands first, in that order, and the place of each."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse]


def _in_order(values: Ints) -> tuple[Ints, Ints]:
    """Return the different values in the order of their first appearance, and their places."""
    first, places = _firsts(values)
    return values[first], places


def _joined(first: Ratings, second: Ratings) -> Ratings:
    """Return what a rater gave to one measure with two lists of measures."""
    rows = np.concatenate([first.rows, second.rows])
    order = np.argsort(rows, kind="stable")
    given = zip(first.at(), second.at(), strict=True)
    values, statuses, reasons = (np.concatenate(pair)[order] for pair in given)
    return Ratings.of(rows[order], values, statuses, small(reasons))


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the different values of a column of integers, ascending.

    >>> distinct(np.array([7, 2, 7])).tolist()
    [2, 7]
    """
    ordered = np.sort(values[:1] if values.strides == (0,) else values)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def small(values: NDArray[Any]) -> NDArray[Any]:
    """Return the same values in the smallest type that holds each; equal ones are kept once.

    >>> small(np.array([0.0, 1.0, np.nan])).dtype, small(np.array([7, 7, 7])).strides
    (dtype('float16'), (0,))
    """
    if not len(values):
        return values
    if values.dtype.kind == "f":
        types: tuple[Any, ...] = (np.float16, np.float32, values.dtype)
    else:
        types = (np.int8, np.int16, np.int32, values.dtype)
    with np.errstate(over="ignore"):
        for kind in types:
            made = values.astype(kind)
            if np.array_equal(made, values, equal_nan=values.dtype.kind == "f"):
                break
    if np.array_equal(made, np.broadcast_to(made[:1], len(made)), equal_nan=made.dtype.kind == "f"):
        return np.broadcast_to(made[:1].copy(), len(made))
    return made


def found(values: Ints, wanted: Ints) -> Ints:
    """Return where each wanted value is among different values, or -1."""
    if not len(values) or not len(wanted):
        return np.full(len(wanted), -1)
    low, high = int(values.min()), int(values.max())
    if high - low < 4 * len(values) + 1000:
        table = np.full(high - low + 3, -1)
        table[values - low + 1] = np.arange(len(values))
        return table[np.clip(wanted, low - 1, high + 1) - low + 1]
    order = np.argsort(values)
    at = order[np.minimum(np.searchsorted(values, wanted, sorter=order), len(values) - 1)]
    return np.asarray(np.where(values[at] == wanted, at, -1))


def _chunks(
    transaction: Transaction, administrations: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield first and last numbers of administrations that follow each other in the store.

    The third number is that of their trials.
    """
    if not administrations:
        return
    between = "administration_id BETWEEN ? AND ?"
    sizes = dict(
        transaction.rows(
            f"SELECT administration_id, count(*) FROM trials WHERE {between} GROUP BY 1",
            administrations[0],
            administrations[-1],
        )
    )
    chosen = set(administrations)
    first, last, size = administrations[0], administrations[0], 0
    for number in administrations:
        gap = any(other not in chosen for other in sizes.keys() & set(range(last + 1, number)))
        if size and (gap or size + sizes.get(number, 0) > CHUNK):
            yield first, last, size
            first, size = number, 0
        last, size = number, size + sizes.get(number, 0)
    yield first, last, size


_DETAILS = """
SELECT a.id, prompt_id, stop_reason, recorded_at, latency_s,
       CASE WHEN metadata LIKE '%"reasoning":%' THEN metadata END
FROM attempts a
JOIN trials t ON t.administration_id = a.administration_id AND t.number = a.trial
JOIN entries e ON e.administration_id = a.administration_id AND e.sequence = a.sequence
WHERE a.id BETWEEN ? AND ?
"""


@dataclass(frozen=True, slots=True, eq=False)
class AttemptDetails:
    """What responses do not have: the latencies in seconds, nan where unknown, and texts.

    ``texts`` has the places of each attempt in a list of different texts, -1 for none, and that
    list, of ``prompt``, ``stop_reason``, ``recorded_at`` and ``reasoning``.
    """

    latencies: NDArray[np.float64]
    texts: Mapping[str, tuple[NDArray[np.int32], Sequence[str]]]


def attempt_details(transaction: Transaction, ids: Ints) -> AttemptDetails:
    """Read attempts in the order of their ids given."""
    row_of = {number: row for row, number in enumerate(ids.tolist())}
    different = [Places[Any]() for _ in range(4)]
    prompts, stops, times, thoughts = different
    places = np.full((len(ids), 4), -1, np.int32)
    latencies = np.full(len(ids), np.nan)
    n = 0
    for number, prompt, stop, time, latency, noted in transaction.each(
        _DETAILS, min(row_of, default=0), max(row_of, default=-1)
    ):
        if (row := row_of.get(number)) is None:
            continue
        n += 1
        thought = json.loads(noted).get(REASONING, "") if noted else ""
        places[row, :3] = prompts[prompt], stops[stop], times[time]
        if thought:
            places[row, 3] = thoughts[thought]
        if latency is not None:
            latencies[row] = latency
    if n < len(row_of):
        raise StoreError(_DELETED, hint="read them again")
    known = texts(transaction, prompts)
    lists = [known[number] for number in prompts], *map(list, different[1:])
    names = "prompt", "stop_reason", "recorded_at", "reasoning"
    coded = zip(names, zip(places.T, lists, strict=True), strict=True)
    return AttemptDetails(latencies, dict(coded))
