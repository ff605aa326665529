"""Rows of the store as arrays: answers that count, what was sent, ratings, prompts of judges."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabwb.records.states import ResponseStatus
from tabwb.records.trials import Attempt
from tabwb.store.database import Row, Transaction
from tabwb.store.read import outline

T = TypeVar("T")
Ints = NDArray[np.integer[Any]]
STATUSES = tuple(ResponseStatus)
"""A response's status is its place here; -1 where none was stored."""
NOTES = ("protocol", "sampled", "replayed_sampled", "batch_exact", "cause", "replayed_line",
         "replayed_administration")  # fmt: skip
"""The notes of a back end that summaries read, besides the seed."""
_NOTED = {*NOTES, "seed"}
_NOTE = re.compile(rf'[{{,]"({"|".join(_NOTED)})":"([^"]*)"')
"""One note in canonical JSON without escapes (:func:`tabwb.store.write.to_json`)."""
BLOCK = 2_000
"""Answers that are kept as rows at a time."""
_CORRECTIONS = "('skipped', 'voided', 'undone', 'not-needed', 'observed')"
_STATUS = {status.value: place for place, status in enumerate(STATUSES)}
_MEASURE_BITS = 16
_PLACE = f"((CAST(s.id AS BIGINT) << {_MEASURE_BITS}) | r.measure_id)"
"""SQL: names one rating by its set and measure."""
_INTS = ("trials", "attempts", "items", "replicates", "options", "asked", "texts", "statuses",
         "seeds", *NOTES)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings of one measure by one rater, those that it gave last.

    Attributes:
        rows: of the responses rated, ascending.
        values: float64; nan where the status is not *value*.
        statuses: int8, keys of ``rating_statuses`` (0 is *value*).
        reasons: ids of texts; 0 for none.
    """

    rows: Ints
    values: NDArray[np.float64]
    statuses: NDArray[np.int8]
    reasons: Ints


@dataclass(slots=True)
class Read:
    """What has been read; dictionaries map a value to its place."""

    starts: list[int] = field(default_factory=lambda: [0])
    planned: list[dict[str, int]] = field(default_factory=list)
    ints: dict[str, list[Ints]] = field(default_factory=lambda: {name: [] for name in _INTS})
    places: dict[tuple[str, str], int] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)
    asked: dict[object, int] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)
    noted: dict[str, int] = field(default_factory=dict)
    raters: dict[int, list[tuple[Ints, Ints]]] = field(default_factory=dict)
    ratings: dict[tuple[int, int], list[Ratings]] = field(default_factory=dict)
    prompts: dict[int, list[tuple[Ints, Ints]]] = field(default_factory=dict)


_ANSWERS = """
SELECT t.administration_id, t.number, subtest, item, replicate, options, prompt_id, practice,
       a.id, a.number, e.kind, response, status, metadata
FROM trials t
LEFT JOIN attempts a ON a.administration_id = t.administration_id AND a.trial = t.number
LEFT JOIN entries e ON e.administration_id = a.administration_id AND e.sequence = a.sequence
WHERE t.administration_id BETWEEN ? AND ?
ORDER BY t.administration_id, t.number, a.number
"""


def read_chunk(
    transaction: Transaction, chosen: Sequence[int], read: Read, explained: Collection[int]
) -> None:
    """Read administrations between which the store has no other."""
    span = chosen[0], chosen[-1]
    corrected = _corrected(transaction, span)
    asked = _asked(transaction, span)
    keys = array("q")
    read.planned += [{} for _ in chosen]
    at, own = 0, list[Row]()
    sizes = [0] * len(chosen)
    for (number, _), attempts in groupby(transaction.each(_ANSWERS, *span), key=itemgetter(0, 1)):
        while chosen[at] != number:
            at += 1
        row = _counting_row(list(attempts), corrected.get(number), read.planned[at - len(chosen)])
        if row is not None:
            own.append(row)
            sizes[at] += 1
        if len(own) == BLOCK:
            _add(read, own, asked, keys)
            own = []
    _add(read, own, asked, keys)
    for size in sizes:
        read.starts.append(read.starts[-1] + size)
    if keys:
        _read_ratings(transaction, span, np.frombuffer(keys, np.int64), read, explained)
        _read_prompts(transaction, span, np.frombuffer(keys, np.int64), read)


def _counting_row(
    attempts: Sequence[Row], corrected: Mapping[int, Attempt] | None, planned: dict[str, int]
) -> Row | None:
    """Return the row of the attempt of a trial that counts, or None; count the trial as planned."""
    (_, trial, subtest, *_, practice) = attempts[0][:8]
    if practice:
        return None
    planned[subtest] = planned.get(subtest, 0) + 1
    if any(row[8] is not None and row[10] is None for row in attempts):
        raise ValueError("an attempt has no entry")
    if corrected is None:
        answered = (row for row in reversed(attempts) if row[10] == "attempt-ok")
        return next(answered, None)
    counting = corrected.get(trial)
    if counting is None:
        return None
    row: Row = next(row for row in attempts if row[9] == counting.number)
    if counting.response == row[11]:
        return row
    # A person has set the text.
    notes = {name: value for name, value in json.loads(row[13]).items() if name != "cause"}
    status = None if counting.status is None else counting.status.value
    return (*row[:11], counting.response, status, json.dumps(notes, separators=(",", ":")))


def _add(read: Read, rows: Sequence[Row], asked: Mapping[int, object], added: array[int]) -> None:
    """Add answers that count, and the keys of their attempts to ``added``."""
    if not rows:
        return
    _, trials, subtests, items, replicates, options, prompts, _, keys, attempts, *answered = zip(
        *rows, strict=True
    )
    _, responses, statuses, metadata = answered
    added.extend(keys)
    messages = [asked.get(key, prompt) for key, prompt in zip(keys, prompts, strict=True)]
    columns: dict[str, Iterable[int]] = {
        "trials": trials,
        "attempts": attempts,
        "items": _places(zip(subtests, items, strict=True), read.places),
        "replicates": replicates,
        "options": _places(options, read.shown),
        "asked": _places(messages, read.asked),
        "texts": _places(responses, read.texts),
        "statuses": (-1 if status is None else _STATUS[status] for status in statuses),
    }
    for name, values in columns.items():
        read.ints[name].append(np.fromiter(values, np.int32, len(rows)))
    notes = {name: np.full(len(rows), -1, np.int32) for name in NOTES}
    seeds = np.full(len(rows), -1, np.int64)
    for row, text in enumerate(metadata):
        for name, value in _notes(text):
            if name == "seed":
                seeds[row] = seed_code(value, read.noted)
            else:
                notes[name][row] = read.noted.setdefault(value, len(read.noted))
    read.ints["seeds"].append(seeds)
    for name, noted in notes.items():
        read.ints[name].append(noted)


def _notes(metadata: str) -> Iterable[tuple[str, str]]:
    """Return the notes that summaries read; decoding all of the JSON would take twice as long."""
    if metadata[:1] != "{" or metadata[-1:] != "}":
        raise ValueError("the notes of a reply are not JSON")
    if "\\" in metadata:
        return [pair for pair in json.loads(metadata).items() if pair[0] in _NOTED]
    notes: list[tuple[str, str]] = _NOTE.findall(metadata)
    return notes


def seed_code(noted: str, table: dict[str, int]) -> int:
    """Return a noted seed as ``ResponseColumns.seeds`` has it.

    Args:
        noted: the seed.
        table: place of each value that is not a number; a new one is added.
    """
    if noted.isascii() and noted.isdecimal() and len(noted) < 19:
        return int(noted)
    return -2 - table.setdefault(noted, len(table))


def _places(values: Iterable[T], table: dict[T, int]) -> Iterator[int]:
    return (table.setdefault(value, len(table)) for value in values)


def _asked(transaction: Transaction, span: tuple[int, int]) -> dict[int, object]:
    """Return, by attempt, the messages that were sent: roles and ids of texts."""
    rows = transaction.rows(
        "SELECT attempt_id, role, text_id FROM attempts"
        " JOIN messages ON messages.attempt_id = attempts.id"
        " WHERE administration_id BETWEEN ? AND ? ORDER BY attempt_id, position",
        *span,
    )
    return {
        attempt: tuple((role, text) for _, role, text in own)
        for attempt, own in groupby(rows, key=itemgetter(0))
    }


def _corrected(transaction: Transaction, span: tuple[int, int]) -> dict[int, dict[int, Attempt]]:
    """Return, of administrations with corrections, the attempt that counts of each trial."""
    numbers = transaction.rows(
        "SELECT DISTINCT administration_id FROM entries"
        f" WHERE administration_id BETWEEN ? AND ? AND kind IN {_CORRECTIONS}",
        *span,
    )
    return {number: _folded(transaction, number) for (number,) in numbers}


def _folded(transaction: Transaction, number: int) -> dict[int, Attempt]:
    answers = {
        sequence: (attempt, response, None if status is None else ResponseStatus(status))
        for sequence, attempt, response, status in transaction.rows(
            "SELECT sequence, number, response, status FROM attempts WHERE administration_id = ?",
            number,
        )
    }
    return {
        trial.plan.number: trial.counting
        for trial in outline(transaction, number, answers).trials
        if trial.is_answered and trial.counting is not None
    }


def _read_ratings(
    transaction: Transaction,
    span: tuple[int, int],
    keys: Ints,
    read: Read,
    explained: Collection[int],
) -> None:
    """Read what each rater gave last of the attempts ``keys``, the last ones that were added."""
    rated = (
        "FROM attempts a JOIN rating_sets s ON s.attempt_id = a.id"
        " JOIN ratings r ON r.set_id = s.id WHERE a.administration_id BETWEEN ? AND ?"
    )
    ids, of, raters = transaction.integers(
        ("s.id", "s.attempt_id", "s.rater_id"),
        "FROM attempts a JOIN rating_sets s ON s.attempt_id = a.id"
        " WHERE a.administration_id BETWEEN ? AND ?",
        *span,
    )
    # Set, measure, status and value in one integer each.
    (packed,) = transaction.integers(
        (
            f"CASE WHEN r.status_id BETWEEN 0 AND 3 THEN ({_PLACE} << 4) | (r.status_id << 2)"
            " | CASE WHEN r.value IS NULL THEN 0 WHEN r.value = 0 THEN 1"
            " WHEN r.value = 1 THEN 2 ELSE 3 END ELSE -1 END",
        ),
        rated,
        *span,
    )
    if (packed < 0).any():
        raise ValueError("a rating has a status that does not exist")
    rows = _find(keys, of)
    # A set without ratings replaces nothing.
    counting = (rows >= 0) & np.isin(ids, packed >> (_MEASURE_BITS + 4))
    ids, raters = ids[counting], raters[counting]
    rows = rows[counting] + read.starts[-1] - len(keys)
    # Of each response and rater the first set gives the order, the last set the ratings.
    by_set = np.lexsort((ids, raters, rows))
    ids, raters, rows = ids[by_set], raters[by_set], rows[by_set]
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]) | (raters[1:] != raters[:-1])
    heads = np.flatnonzero(new)
    latest = np.append(heads[1:], len(rows))[: len(heads)] - 1
    order, ids, raters, rows = ids[heads], ids[latest], raters[latest], rows[latest]
    for rater in np.unique(raters).tolist():
        mine = raters == rater
        read.raters.setdefault(rater, []).append((rows[mine].astype(np.int32), order[mine]))
    at = _find(ids, packed >> (_MEASURE_BITS + 4))
    packed, at = packed[at >= 0], at[at >= 0]
    places, statuses = packed >> 4, (packed >> 2 & 3).astype(np.int8)
    values = np.choose(packed & 3, (np.nan, 0.0, 1.0, np.nan))
    others = np.fromiter(
        transaction.each(f"SELECT {_PLACE}, r.value {rated} AND r.value NOT IN (0, 1)", *span),
        np.dtype([("place", np.int64), ("value", np.float64)]),
    )
    _put(values, places, others["place"], others["value"])
    if (np.isfinite(values) != (statuses == 0)).any():
        raise ValueError("a rating has a value exactly when its status is 'value'")
    reasons = np.zeros(len(places), np.int64)
    measures = ", ".join(map(str, explained)) or "-1"
    _put(
        reasons,
        places,
        *transaction.integers(
            (_PLACE, "r.reason_id"),
            f"{rated} AND r.reason_id > 0 AND (r.status_id <> 0 OR r.measure_id IN ({measures}))",
            *span,
        ),
    )
    kinds = raters[at] << _MEASURE_BITS | places & (1 << _MEASURE_BITS) - 1
    by_kind = np.lexsort((rows[at], kinds))
    bounds = np.flatnonzero(np.diff(kinds[by_kind], prepend=-1))
    for own in np.split(by_kind, bounds[1:]) if len(bounds) else ():
        kind = int(kinds[own[0]])
        read.ratings.setdefault(
            (kind >> _MEASURE_BITS, kind & (1 << _MEASURE_BITS) - 1), []
        ).append(
            Ratings(
                rows[at[own]].astype(np.int32),
                values[own],
                statuses[own],
                reasons[own].astype(np.int32),
            )
        )


def _put(values: NDArray[Any], places: Ints, wanted: Ints, given: NDArray[Any]) -> None:
    """Set the values at the places wanted, as far as these are there."""
    at = _find(places, wanted)
    values[at[at >= 0]] = given[at >= 0]


def _find(values: Ints, wanted: Ints) -> Ints:
    """Return where each wanted value is among different values, or -1."""
    if not len(values):
        return np.full(len(wanted), -1)
    order = np.argsort(values)
    at = order[np.minimum(np.searchsorted(values, wanted, sorter=order), len(values) - 1)]
    return np.where(values[at] == wanted, at, -1)


def _read_prompts(transaction: Transaction, span: tuple[int, int], keys: Ints, read: Read) -> None:
    """Read what judges were told for the verdicts that count, of the attempts ``keys``."""
    calls, of, raters, prompts = transaction.integers(
        ("j.id", "j.attempt_id", "j.rater_id", "j.prompt_id"),
        "FROM attempts a JOIN judgements j ON j.attempt_id = a.id"
        " WHERE a.administration_id BETWEEN ? AND ? AND j.repeat = 0",
        *span,
    )
    rows = _find(keys, of)
    counting = rows >= 0
    calls, raters, prompts = calls[counting], raters[counting], prompts[counting]
    rows = rows[counting] + read.starts[-1] - len(keys)
    by_call = np.lexsort((calls, raters, rows))
    raters, prompts, rows = raters[by_call], prompts[by_call], rows[by_call]
    last = np.ones(len(rows), bool)
    last[:-1] = (rows[1:] != rows[:-1]) | (raters[1:] != raters[:-1])
    raters, prompts, rows = raters[last], prompts[last], rows[last]
    for rater in np.unique(raters).tolist():
        mine = raters == rater
        read.prompts.setdefault(rater, []).append((rows[mine], prompts[mine]))
