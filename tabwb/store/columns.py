"""Responses and their ratings as numpy columns: what summaries of large stores read.

One row stands for each answer that counts, in the order of administrations and trials. Which
answer counts is decided as in :mod:`tabwb.store.derive`: an administration in which something was
skipped, voided, taken back or corrected is folded there; in all others the last attempt that is
``ok`` counts. The facts of an answer are stored (:mod:`tabwb.store.facts`), texts are read
when they are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import StoreError
from tabwb.records.exchange import REASONING
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import Attempt
from tabwb.scoring.calibrated import Calibration
from tabwb.store import facts
from tabwb.store.database import Transaction
from tabwb.store.facts import NOTES
from tabwb.store.read import trial_parts
from tabwb.store.verdicts import OTHER, by_place, texts

if TYPE_CHECKING:
    from tabwb.store.access import Access


T = TypeVar("T")
Ints = NDArray[np.integer[Any]]
STATUSES = tuple(ResponseStatus)
"""A response's status is its place here; -1 where none was stored."""
CHUNK = 20_000
"""Trials that are read at a time."""
_BLOCK = 2_000
"""Texts that are read at a time."""


class Places(dict[T, int]):
    """The place of each different value; one that is asked for first is added."""

    def __missing__(self, value: T) -> int:
        """Add a value."""
        self[value] = place = len(self)
        return place


def seed_code(noted: str, table: Places[str]) -> int:
    """Return a noted seed as ``ResponseColumns.seeds`` has it."""
    seed = facts.number(noted)
    return -2 - table[noted] if seed is None else seed


class Texts(Sequence[str]):
    """Different responses, with what summaries need of each.

    Attributes:
        sizes: numbers of words.
        blank, thinks: whether a text is empty; whether it holds a model's reasoning.
        spoken: equal where the words are; 0 where there are none.
    """

    def __init__(self, values: Sequence[str], given: Sequence[Ints]) -> None:
        self.values = values
        spoken, self.sizes = given[:2]
        self.blank, self.thinks = (np.asarray(one, np.bool_) for one in given[2:])
        known, codes = np.unique(np.append(spoken, 0), return_inverse=True)
        zero = int(np.searchsorted(known, 0))
        # Words have codes from 1.
        self.spoken = np.where(codes == zero, 0, codes + (codes < zero))[:-1].astype(np.int32)
        self._known, self._zero = known, zero

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...

    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        """Return a text, or several."""
        return self.values[at]

    def code(self, text: str) -> int:
        """Return ``spoken`` of the texts with the same words as another; -1 where none has."""
        said, n = facts.spoken(text)
        at = int(np.searchsorted(self._known, said))
        if not n or at == len(self._known) or self._known[at] != said:
            return -1 if n else 0
        return at + (at < self._zero)


class _Stored(Sequence[str]):
    """Responses in a store, by the ids of attempts; read in blocks when they are asked for."""

    def __init__(self, access: Access, attempts: Ints, changed: Mapping[int, str]) -> None:
        self._access, self._attempts, self._changed = access, attempts, changed
        self._blocks: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return len(self._attempts)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        number, within = divmod(range(len(self))[at], _BLOCK)
        if number not in self._blocks:
            self._blocks[number] = self._read(number * _BLOCK)
        return self._blocks[number][within]

    def _read(self, start: int) -> list[str]:
        ids = self._attempts[start : start + _BLOCK].tolist()
        with self._access.reading() as transaction:
            found = texts(transaction, ids, "attempts", "response")
        if len(found) < len(set(ids)):
            raise StoreError("responses were deleted while they were read", hint="read them again")
        return [self._changed.get(at, found[id]) for at, id in enumerate(ids, start)]


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings of one measure by one rater, those that it gave last.

    Attributes:
        rows: of the responses rated, ascending.
        values: floats; nan where the status is not *value*.
        statuses: int8, places in :data:`tabwb.store.verdicts.STATUSES` (0 is *value*).
        reasons: ids of texts; 0 for none.
    """

    rows: Ints
    values: NDArray[np.floating[Any]]
    statuses: NDArray[np.int8]
    reasons: Ints


@dataclass(frozen=True, slots=True, eq=False)
class RaterColumns:
    """What one rater gave.

    Attributes:
        rows: of all responses that it rated, ascending.
        order: of each, a number that is higher for raters who rated the response later.
        measures: name to ratings, in the order in which the rater gave them.
        judged: rows whose verdict that counts came from a call of a model, and prompts: the ids of
            what it was told.
        calibration: of a calibrated judge, by measure, what its values were made with.
    """

    rows: Ints
    order: Ints
    measures: Mapping[str, Ratings]
    judged: Ints
    prompts: Ints
    calibration: Mapping[str, Calibration] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ResponseColumns:
    """The answers that count of some administrations. Arrays have one element per response.

    Attributes:
        administrations: their numbers, in the order read.
        starts: of administration ``i`` the rows are ``starts[i]`` to ``starts[i + 1]`` - 1.
        planned: of each administration, subtest to number of its trials without practice.
        ids: of the attempts that count, in the store; empty in memory.
        trials, attempts: numbers of the trial and of the attempt that counts.
        items: places in ``places``, the (subtest, item) pairs.
        replicates: from 0.
        options: places in ``shown``, the options in the order shown.
        asked: from 0, equal where the same messages were sent, or the same prompt was shown.
        texts: places in ``responses``, the different texts.
        statuses: places in :data:`STATUSES`, or -1.
        seeds: of the draws; -1 without one. Where it is not a number below 10 to the 18th: -2 minus
            its place in ``noted``.
        notes: by name, places in ``noted``, or -1.
        ratings: by rater.
        reasons: id to text, of ratings without a value and of the verdicts asked for.
        prompts: id to text, of what judges were told.
    """

    administrations: tuple[int, ...]
    starts: Ints
    planned: tuple[Mapping[str, int], ...]
    ids: Ints
    trials: Ints
    attempts: Ints
    items: Ints
    replicates: Ints
    options: Ints
    asked: Ints
    texts: Ints
    statuses: Ints
    places: tuple[tuple[str, str], ...]
    shown: tuple[tuple[str, ...], ...]
    responses: Texts
    seeds: Ints
    notes: Mapping[str, Ints]
    noted: tuple[str, ...]
    ratings: Mapping[str, RaterColumns]
    reasons: Mapping[int, str]
    prompts: Mapping[int, str]

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
_ATTEMPTS = (
    ("id", np.int32, "id"),
    ("administration", np.int32, "administration_id"),
    ("trial", np.int32, "trial"),
    ("attempt", np.int32, "number"),
    ("status", np.int8, f"CASE coalesce(status, '') {_CASES} WHEN '' THEN -1 ELSE -2 END"),
    ("text", np.int64, "text"),
    ("spoken", np.int64, "spoken"),
    ("words", np.int32, "words"),
    ("blank", np.bool_, "CAST(blank AS INTEGER)"),
    ("thinks", np.bool_, "CAST(thinks AS INTEGER)"),
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
        name: _integers(text, kind) for (name, kind, _), text in zip(columns, row, strict=True)
    }
    keys = [table[name] for name in ("attempt", "trial", "administration") if name in table]
    order = np.lexsort(keys)
    if (np.diff(order) != 1).any():
        table = {name: values[order] for name, values in table.items()}
    return table


def _integers(text: str | None, kind: Any = np.int64) -> NDArray[Any]:
    """Return integers that a database has joined."""
    return np.fromstring(text or "", np.int64, sep=",").astype(kind)


@dataclass(slots=True)
class _Given:
    """What one rater gave with one list of measures, chunk by chunk."""

    rows: list[Ints] = field(default_factory=list)
    codes: list[NDArray[np.uint8]] = field(default_factory=list)
    numbers: dict[int, dict[int, float]] = field(default_factory=dict)
    reasons: dict[int, dict[int, int]] = field(default_factory=dict)
    """By place in the list: row to value, and to id."""


@dataclass(slots=True)
class _Read:
    """What has been read."""

    sizes: list[int] = field(default_factory=list)
    planned: list[dict[str, int]] = field(default_factory=list)
    parts: dict[str, list[Ints]] = field(default_factory=dict)
    changed: dict[int, Attempt] = field(default_factory=dict)
    """Rows whose text a person has set."""
    raters: dict[int, list[tuple[Ints, Ints]]] = field(default_factory=dict)
    given: dict[tuple[int, int], _Given] = field(default_factory=dict)
    prompts: dict[int, list[tuple[Ints, Ints]]] = field(default_factory=dict)


def response_columns(
    access: Access, administrations: Sequence[int], explained: Collection[str] = ()
) -> ResponseColumns:
    """Read the answers that count, with their ratings."""
    with access.reading() as transaction:
        return _Reader(transaction, administrations, explained).columns(access)


class _Reader:
    def __init__(
        self, transaction: Transaction, administrations: Sequence[int], explained: Collection[str]
    ) -> None:
        self._transaction, self._administrations = transaction, administrations
        self._explained = explained
        rows = transaction.rows("SELECT id, subtest, item FROM items")
        self._items = {number: (subtest, item) for number, subtest, item in rows}
        self._judged = transaction.value("SELECT 1 FROM judgements LIMIT 1") is not None
        self._read = _Read()

    def columns(self, access: Access) -> ResponseColumns:
        read, transaction = self._read, self._transaction
        for low, high in _chunks(transaction, self._administrations):
            self._chunk([n for n in self._administrations if low <= n <= high])
        kinds = {name: kind for name, kind, _ in (*_TRIALS, *_ATTEMPTS)}
        columns = {
            name: np.concatenate([*read.parts.pop(name, ()), np.empty(0, kind)])
            for name, kind in kinds.items()
            if name != "administration"
        }
        noted: Places[str] = Places()
        notes, seeds = self._notes(columns, noted)
        changed = self._corrected(columns, notes)
        places, items = _in_order(columns.pop("item"))
        options, shown = _in_order(columns.pop("options"))
        known = texts(transaction, options.tolist())
        first, own = _firsts(columns.pop("text"))
        kept = [columns.pop(name)[first] for name in ("spoken", "words", "blank", "thinks")]
        stored = _Stored(
            access,
            columns["id"][first],
            {
                at: changed[row]
                for at, row in enumerate(first.tolist() if changed else ())
                if row in changed
            },
        )
        ratings = self._by_rater()
        reasons = {
            number
            for rater in ratings.values()
            for one in rater.measures.values()
            for number in distinct(one.reasons[:1] if _same(one.reasons) else one.reasons).tolist()
        }
        prompts = {n for rater in ratings.values() for n in distinct(rater.prompts).tolist()}
        return ResponseColumns(
            administrations=tuple(self._administrations),
            starts=np.cumsum([0, *read.sizes]),
            planned=tuple(read.planned),
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
            responses=Texts(stored, kept),
            seeds=small(seeds),
            notes={name: small(codes) for name, codes in notes.items()},
            noted=tuple(noted),
            ratings=ratings,
            reasons=texts(transaction, reasons - {0}),
            prompts=texts(transaction, prompts),
        )

    def _chunk(self, chosen: Sequence[int]) -> None:
        """Read administrations between which the store has no other."""
        read, transaction, span = self._read, self._transaction, (chosen[0], chosen[-1])
        trials = _table(
            transaction, _TRIALS, f"FROM trials WHERE {_BETWEEN} AND NOT practice", *span
        )
        attempts = _table(transaction, _ATTEMPTS, f"FROM attempts WHERE {_BETWEEN} AND ok", *span)
        if (attempts["status"] == -2).any():
            raise ValueError("a response has a status that does not exist")
        at = found(_pairs(trials), _pairs(attempts))
        keep = at >= 0
        folded = self._folded(span)
        if folded:
            names = "administration", "trial", "attempt"
            rows = zip(*(attempts[name].tolist() for name in names), strict=True)
            for row, (number, trial, attempt) in enumerate(rows):
                if number in folded:
                    counting = folded[number].get(trial)
                    keep[row] &= counting is not None and counting.number == attempt
        # Of several attempts of a trial that are ok the last one counts.
        kept = np.flatnonzero(keep)
        if len(kept):
            kept = kept[np.append(np.diff(at[kept]) != 0, True)]
        own = {name: values[kept] for name, values in attempts.items()}
        own |= {name: values[at[kept]] for name, values in trials.items() if name not in own}
        before = sum(read.sizes)
        for row, (number, trial) in enumerate(
            zip(own["administration"].tolist(), own["trial"].tolist(), strict=True)
            if folded
            else ()
        ):
            if number in folded:
                read.changed[before + row] = folded[number][trial]
        places = np.searchsorted(chosen, own.pop("administration"))
        for name, values in own.items():
            read.parts.setdefault(name, []).append(values)
        read.sizes += np.bincount(places, minlength=len(chosen)).tolist()
        read.planned += self._planned(chosen, trials)
        if len(kept):
            self._verdicts(span, own["id"], before)
            if self._judged:
                self._prompts(span, own["id"], before)

    def _planned(
        self, chosen: Sequence[int], trials: Mapping[str, NDArray[Any]]
    ) -> list[dict[str, int]]:
        planned: list[dict[str, int]] = [{} for _ in chosen]
        of = np.searchsorted(chosen, trials["administration"]).astype(np.int64)
        pairs, first, counts = np.unique(
            of << 32 | trials["item"], return_index=True, return_counts=True
        )
        for at in np.argsort(first).tolist():
            subtest = self._items[int(pairs[at]) & 0xFFFFFFFF][0]
            own = planned[int(pairs[at]) >> 32]
            own[subtest] = own.get(subtest, 0) + int(counts[at])
        return planned

    def _folded(self, span: tuple[int, int]) -> dict[int, dict[int, Attempt]]:
        """Return, of administrations with corrections, the attempt that counts of each trial."""
        numbers = self._transaction.rows(
            f"SELECT DISTINCT administration_id FROM entries WHERE {_BETWEEN}"
            f" AND kind IN {_CORRECTIONS}",
            *span,
        )
        return {number: self._fold(number) for (number,) in numbers}

    def _fold(self, number: int) -> dict[int, Attempt]:
        return {
            trial.plan.number: trial.counting
            for part in trial_parts(self._transaction, number)
            for trial in part
            if trial.is_answered and trial.counting is not None
        }

    def _corrected(
        self, columns: Mapping[str, NDArray[Any]], notes: Mapping[str, Ints]
    ) -> dict[int, str]:
        """Set the facts of the texts that persons have set; return these by row."""
        changed: dict[int, str] = {}
        for row, attempt in self._read.changed.items():
            given = facts.of_text(attempt.response)
            if given.text != columns["text"][row]:
                changed[row] = attempt.response
                for name, value in given._asdict().items():
                    columns[name][row] = value
                columns["status"][row] = (
                    -1 if attempt.status is None else STATUSES.index(attempt.status)
                )
                notes["cause"][row] = -1
        return changed

    def _notes(
        self, columns: Mapping[str, NDArray[Any]], noted: Places[str]
    ) -> tuple[dict[str, Ints], Ints]:
        """Return places of the notes that summaries read, and seeds."""
        n, seeds, lines = len(columns["id"]), columns["seed"], columns["line"]
        notes: dict[str, Ints] = {name: np.full(n, -1, np.int32) for name in NOTES}
        ids, own = np.unique(columns["notes"], return_inverse=True)
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
            notes["replayed_line"] = np.where(
                lines >= 0, np.array(codes)[own], notes["replayed_line"]
            )
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
        # A verdict without measures replaces nothing.
        parts = self._transaction.rows(
            "SELECT v.rater_id, v.measures_id, min(length(v.codes)), max(length(v.codes)),"
            f" {joined}, {codes} {rest} AND length(v.codes) > 0 GROUP BY 1, 2",
            *limits,
        )
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
        new = np.ones(len(place), bool)
        new[1:] = (place[1:] != place[:-1]) | (rater_of[1:] != rater_of[:-1])
        heads = np.flatnonzero(new)
        latest = np.append(heads[1:], len(place))[: len(heads)] - 1
        first, raters, row_of = ids[order[heads]], rater_of[latest], place[latest] + before
        source, rows = order[latest], row_of.astype(np.int32)
        for rater in distinct(raters).tolist():
            mine = raters == rater
            self._read.raters.setdefault(rater, []).append((rows[mine], first[mine]))
        starts = np.cumsum([0, *sizes])
        for at, (rater, measures, least, most, *_, text) in enumerate(parts):
            if least != most:
                raise ValueError("a verdict has not one code for each measure")
            own = np.flatnonzero(part_of[source] == at)
            whole = np.frombuffer(bytes.fromhex(text), np.uint8).reshape(sizes[at], -1)
            into = self._read.given.setdefault((rater, measures), _Given())
            into.rows.append(rows[own])
            into.codes.append(whole[source[own] - starts[at]])
        others = self._transaction.rows(
            f"SELECT v.id, v.rater_id, v.measures_id, v.numbers, v.reasons {rest}"
            " AND (v.numbers IS NOT NULL OR v.reasons IS NOT NULL)",
            *limits,
        )
        row_of_id = dict(zip(ids[source].tolist(), rows.tolist(), strict=True)) if others else {}
        for number, rater, measures, numbers, reasons in others:
            if (row := row_of_id.get(number)) is not None:
                into = self._read.given[rater, measures]
                for at, value in by_place(numbers).items():
                    into.numbers.setdefault(at, {})[row] = value
                for at, reason in by_place(reasons).items():
                    into.reasons.setdefault(at, {})[row] = reason

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
        last = np.ones(len(place), bool)
        last[:-1] = (place[1:] != place[:-1]) | (raters[1:] != raters[:-1])
        for rater in distinct(raters[last]).tolist():
            mine = last & (raters == rater)
            self._read.prompts.setdefault(rater, []).append((place[mine], prompts[mine]))

    def _by_rater(self) -> dict[str, RaterColumns]:
        specs = dict(self._transaction.rows("SELECT id, spec FROM raters"))
        lists = texts(self._transaction, {measures for _, measures in self._read.given})
        columns = {}
        for rater, parts in sorted(self._read.raters.items()):
            rows, order = _joined(parts)
            measures: dict[str, list[Ratings]] = {}
            for key in sorted(key for key in self._read.given if key[0] == rater):
                for name, ratings in self._ratings(key, json.loads(lists[key[1]])):
                    measures.setdefault(name, []).append(ratings)
            judged, prompts = _joined(self._read.prompts.get(rater, []))
            whole = {name: _whole(given, rows) for name, given in measures.items()}
            columns[specs[rater]] = RaterColumns(rows, small(order), whole, judged, prompts)
        return columns

    def _ratings(
        self, key: tuple[int, int], measures: Sequence[str]
    ) -> Iterator[tuple[str, Ratings]]:
        given = self._read.given.pop(key)
        rows, codes = np.concatenate(given.rows), np.concatenate(given.codes)
        if codes.shape[1] != len(measures) or codes.max(initial=0) > OTHER:
            raise ValueError("a verdict has not one code for each measure")
        for place, name in enumerate(measures):
            own = codes[:, place]
            values: NDArray[Any] = _VALUES[own]
            if others := given.numbers.get(place):
                values = values.astype(np.float64)
                values[_rows(rows, others)] = list(others.values())
            statuses = _STATUSES[own]
            if (np.isfinite(values) != (statuses == 0)).any():
                raise ValueError("a rating has a value exactly when its status is 'value'")
            reasons = np.zeros(len(rows), np.int32)
            if said := given.reasons.get(place):
                reasons[_rows(rows, said)] = list(said.values())
                if name not in self._explained:
                    reasons[statuses == 0] = 0
            yield name, Ratings(rows, small(values), small(statuses), small(reasons))


_VALUES = np.array([0, 1] + [np.nan] * 254, np.float16)
_STATUSES = np.array([0, 0, 1, 2, 3, 0] + [0] * 250, np.int8)


def _rows(rows: Ints, wanted: Collection[int]) -> Ints:
    return np.asarray(np.searchsorted(rows, np.fromiter(wanted, rows.dtype, len(wanted))))


def _pairs(table: Mapping[str, NDArray[Any]]) -> Ints:
    return np.asarray(table["administration"].astype(np.int64) << 32 | table["trial"])


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


def _same(values: NDArray[Any]) -> bool:
    return bool(values.strides == (0,))


def _whole(parts: Sequence[Ratings], rated: Ints) -> Ratings:
    """Return parts joined; where every response of the rater was rated the rows are shared."""
    if len(parts) == 1:
        (one,) = parts
        rows = rated if np.array_equal(one.rows, rated) else one.rows
        return Ratings(rows, one.values, one.statuses, one.reasons)
    rows = np.concatenate([part.rows for part in parts])
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    return Ratings(
        rated if np.array_equal(rows, rated) else rows,
        small(np.concatenate([part.values for part in parts])[order]),
        small(np.concatenate([part.statuses for part in parts])[order]),
        small(np.concatenate([part.reasons for part in parts])[order]),
    )


def _joined(parts: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([ids for _, ids in parts])


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the different values of a column of integers, ascending.

    >>> distinct(np.array([7, 2, 7])).tolist()
    [2, 7]
    """
    ordered = np.sort(values)
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


def _chunks(transaction: Transaction, administrations: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last numbers of administrations that follow each other in the store."""
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
            yield first, last
            first, size = number, 0
        last, size = number, size + sizes.get(number, 0)
    yield first, last


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
        raise StoreError("responses were deleted while they were read", hint="read them again")
    known = texts(transaction, prompts)
    lists = [known[number] for number in prompts], *map(list, different[1:])
    names = "prompt", "stop_reason", "recorded_at", "reasoning"
    coded = zip(names, zip(places.T, lists, strict=True), strict=True)
    return AttemptDetails(latencies, dict(coded))
