"""Answers that count as arrays: what was answered to what, and how it was obtained."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

import numpy as np

from tabwb.records.states import ResponseStatus
from tabwb.records.trials import Attempt
from tabwb.store.column_ratings import Ints, ReadRatings, found, read_prompts, read_ratings
from tabwb.store.database import Row, Transaction
from tabwb.store.read import outline

T = TypeVar("T")
STATUSES = tuple(ResponseStatus)
"""A response's status is its place here; -1 where none was stored."""
NOTES = ("protocol", "sampled", "replayed_sampled", "batch_exact", "cause", "replayed_line",
         "replayed_administration")  # fmt: skip
"""The notes of a back end that summaries read, besides the seed."""
_NOTED = {*NOTES, "seed"}
_NOTE = re.compile(rf'[{{,]"({"|".join(_NOTED)})":"([^"]*)"')
"""One note in canonical JSON without escapes (:func:`tabwb.store.write.to_json`)."""
_OTHER_NOTE = re.compile(rf'"(?:{"|".join(NOTES)})":')
_SEED = re.compile(r'[{,]"seed":"(\d{1,18})"', re.ASCII)
BLOCK = 2_000
"""Answers that are kept as rows at a time."""
_CORRECTIONS = "('skipped', 'voided', 'undone', 'not-needed', 'observed')"
_STATUS: dict[str | None, int] = {status.value: place for place, status in enumerate(STATUSES)}
_STATUS[None] = -1
_INTS = ("trials", "attempts", "items", "replicates", "options", "texts", "statuses", "seeds",
         *NOTES)  # fmt: skip
ROWS = (*_INTS, "asked")
"""Columns with one value for each answer."""


class Places(dict[T, int]):
    """The place of each different value; one that is asked for first is added."""

    def __missing__(self, value: T) -> int:
        """Add a value."""
        self[value] = place = len(self)
        return place


@dataclass(slots=True)
class Read:
    """What has been read; ``ratings`` have the rows of all answers before."""

    sizes: list[int] = field(default_factory=list)
    planned: list[dict[str, int]] = field(default_factory=list)
    ints: dict[str, list[Ints]] = field(default_factory=dict)
    places: Places[tuple[str, str]] = field(default_factory=Places)
    shown: Places[str] = field(default_factory=Places)
    conversations: Places[bytes] = field(default_factory=Places)
    texts: Places[str] = field(default_factory=Places)
    noted: Places[str] = field(default_factory=Places)
    ratings: ReadRatings = field(default_factory=ReadRatings)


_ANSWERS = """
SELECT t.administration_id, t.number, subtest, item, replicate, options, prompt_id,
       CASE WHEN e.kind IS NULL THEN NULL ELSE a.id END, a.number, response, status, metadata
FROM trials t
JOIN attempts a ON a.administration_id = t.administration_id AND a.trial = t.number
LEFT JOIN entries e ON e.administration_id = a.administration_id AND e.sequence = a.sequence
WHERE t.administration_id BETWEEN ? AND ? AND NOT practice
    AND (e.kind = 'attempt-ok' OR e.kind IS NULL)
ORDER BY t.administration_id, t.number, a.number
"""
"""An attempt without an entry has no id here: the store is damaged."""
_BETWEEN = "administration_id BETWEEN ? AND ?"


def read_chunk(
    transaction: Transaction, chosen: Sequence[int], read: Read, explained: Sequence[int]
) -> None:
    """Read administrations between which the store has no other."""
    span = chosen[0], chosen[-1]
    corrected = _corrected(transaction, span)
    planned: dict[int, dict[str, int]] = {number: {} for number in chosen}
    for number, subtest, n in transaction.rows(
        f"SELECT administration_id, subtest, count(*) FROM trials WHERE {_BETWEEN}"
        " AND NOT practice GROUP BY administration_id, subtest",
        *span,
    ):
        planned[number][subtest] = n
    read.planned += planned.values()
    before = sum(read.sizes)
    parts: dict[str, list[Ints]] = {name: [] for name in (*_INTS, "keys", "prompts", "of")}
    rows = transaction.each(_ANSWERS, *span)
    while block := list(islice(rows, BLOCK)):
        if corrected:
            block = list(_counting(block, corrected))
        if block:
            _add(read, block, parts)
    columns = {name: _joined(values) for name, values in parts.items()}
    trials, administrations = columns["trials"], columns["of"]
    # Of several attempts of a trial that are ok the last one counts.
    last = np.ones(len(trials), bool)
    last[:-1] = (np.diff(trials) != 0) | (np.diff(administrations) != 0)
    if not last.all():
        columns = {name: values[last] for name, values in columns.items()}
    keys = columns.pop("keys")
    columns["asked"] = _asked(transaction, span, keys, columns.pop("prompts"), read.conversations)
    read.sizes += np.bincount(
        np.searchsorted(chosen, columns.pop("of")), minlength=len(chosen)
    ).tolist()
    for name, values in columns.items():
        read.ints.setdefault(name, []).append(values)
    if len(keys):
        read_ratings(transaction, span, keys, before, read.ratings, explained)
        read_prompts(transaction, span, keys, before, read.ratings)


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([*parts, np.empty(0, np.int32)])


def _counting(rows: Sequence[Row], corrected: Mapping[int, Mapping[int, Attempt]]) -> Iterator[Row]:
    """Yield the rows of attempts that count, with the text that a person has set."""
    for row in rows:
        folded = corrected.get(row[0])
        if folded is None:
            yield row
            continue
        counting = folded.get(row[1])
        if counting is None or counting.number != row[8]:
            continue
        if counting.response == row[9]:
            yield row
            continue
        notes = {name: value for name, value in json.loads(row[11]).items() if name != "cause"}
        status = None if counting.status is None else counting.status.value
        metadata = json.dumps(notes, separators=(",", ":"))
        yield (*row[:9], counting.response, status, metadata)


def _add(read: Read, rows: Sequence[Row], parts: Mapping[str, list[Ints]]) -> None:
    (
        administrations, trials, subtests, items, replicates, options, prompts, keys, attempts,
        responses, statuses, metadata,
    ) = zip(*rows, strict=True)  # fmt: skip
    columns = {
        "of": administrations,
        "trials": trials,
        "attempts": attempts,
        "items": map(read.places.__getitem__, zip(subtests, items, strict=True)),
        "replicates": replicates,
        "options": map(read.shown.__getitem__, options),
        "texts": map(read.texts.__getitem__, responses),
        "statuses": map(_STATUS.__getitem__, statuses),
    }
    for name, values in columns.items():
        parts[name].append(np.fromiter(values, np.int32, len(rows)))
    parts["keys"].append(np.fromiter(keys, np.int64, len(rows)))
    parts["prompts"].append(np.fromiter(prompts, np.int64, len(rows)))
    for name, noted in _notes(metadata, read.noted).items():
        parts[name].append(noted)


def _notes(metadata: Sequence[str], table: Places[str]) -> dict[str, Ints]:
    """Return seeds and places of the notes that summaries read.

    Most replies have a seed and none of the other notes: these are found in all texts at once.
    Decoding the JSON would take twice as long as looking for the notes of each.
    """
    n = len(metadata)
    notes: dict[str, Ints] = {name: np.full(n, -1, np.int32) for name in NOTES}
    seeds = np.full(n, -1, np.int64)
    joined = "".join(metadata)
    if any(text[:1] != "{" or text[-1:] != "}" for text in metadata):
        raise ValueError("the notes of a reply are not JSON")
    if "\\" not in joined and not _OTHER_NOTE.search(joined):
        plain = _SEED.findall(joined)
        if len(plain) == n:
            return {**notes, "seeds": np.fromiter(map(int, plain), np.int64, n)}
    for row, text in enumerate(metadata):
        given = (
            [pair for pair in json.loads(text).items() if pair[0] in _NOTED]
            if "\\" in text
            else _NOTE.findall(text)
        )
        for name, value in given:
            if name == "seed":
                seeds[row] = seed_code(value, table)
            else:
                notes[name][row] = table[value]
    return {**notes, "seeds": seeds}


def seed_code(noted: str, table: Places[str]) -> int:
    """Return a noted seed as ``ResponseColumns.seeds`` has it."""
    if noted.isascii() and noted.isdecimal() and len(noted) < 19:
        return int(noted)
    return -2 - table[noted]


def _asked(
    transaction: Transaction,
    span: tuple[int, int],
    keys: Ints,
    prompts: Ints,
    conversations: Places[bytes],
) -> Ints:
    """Return a number for each answer, equal where the same messages were sent.

    One message is named by its role and text, several by all of these, none by the prompt.
    """
    of, position, role, text = transaction.integers(
        (
            "attempt_id",
            "position",
            "CASE role WHEN 'system' THEN 0 WHEN 'user' THEN 1 WHEN 'assistant' THEN 2 END",
            "text_id",
        ),
        f"FROM attempts JOIN messages ON messages.attempt_id = attempts.id WHERE {_BETWEEN}",
        *span,
    )
    order = np.lexsort((position, of))
    of, messages = of[order], text[order] << 2 | role[order]
    attempts, first, n = np.unique(of, return_index=True, return_counts=True)
    codes: Ints = messages[first]
    for at in np.flatnonzero(n > 1).tolist():
        codes[at] = -2 * conversations[messages[first[at] : first[at] + n[at]].tobytes()] - 1
    own = found(attempts, keys)
    return np.where(own >= 0, codes[own] if len(codes) else 0, -2 * prompts - 2)


def _corrected(transaction: Transaction, span: tuple[int, int]) -> dict[int, dict[int, Attempt]]:
    """Return, of administrations with corrections, the attempt that counts of each trial."""
    numbers = transaction.rows(
        f"SELECT DISTINCT administration_id FROM entries WHERE {_BETWEEN}"
        f" AND kind IN {_CORRECTIONS}",
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
