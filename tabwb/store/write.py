"""Rows from records. Every function works inside a transaction that its caller opened.

Rows are only ever inserted. What many rows share (texts, raters, measures, reasons) is stored once
and named by a small integer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from tabwb.battery.model import Battery
from tabwb.records.condition import plain
from tabwb.records.conditions import Conditions
from tabwb.records.declared_conditions import CONDITIONS
from tabwb.records.errors import StoreError
from tabwb.records.ratings import Declaration, Rating
from tabwb.records.specs import uuid7
from tabwb.records.states import RatingStatus
from tabwb.records.trials import (
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    PlannedTrial,
    RatingsEntry,
)
from tabwb.store.database import Transaction

STATUSES = (RatingStatus.VALUE, RatingStatus.UNDEFINED, RatingStatus.UNPARSED, RatingStatus.ERROR)
"""Statuses by their keys. SQLite keeps 0 and 1 in no byte, so the common ones have them."""
STATUS_OF_KEY = dict(enumerate(STATUSES))
_KEPT = 20_000


class Keys:
    """Integer keys of what is stored once, remembered between transactions.

    A key found in a transaction counts only after that has committed (:meth:`keep`): one that was
    undone must not be remembered.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], int] = {}
        self._new: dict[tuple[str, str], int] = {}
        self._deletions = 0

    def renew(self, transaction: Transaction) -> None:
        """Forget everything if a speaker was deleted since: a key may stand for something else."""
        deletions = transaction.value("SELECT max(id) FROM tombstones") or 0
        if deletions != self._deletions:
            self._known.clear()
            self._deletions = deletions

    def of(self, transaction: Transaction, table: str, text: str) -> int:
        """Return the key of ``text`` in ``raters``, ``measures``, ``reasons`` or ``texts``."""
        place = table, text
        key = self._known.get(place) or self._new.get(place)
        if key is None:
            key = self._new[place] = _key(transaction, table, text)
        return key

    def keep(self) -> None:
        """Remember the new keys: the transaction was committed."""
        if len(self._known) > _KEPT:
            self._known.clear()
        self._known |= self._new
        self._new.clear()

    def forget(self) -> None:
        """Forget the new keys: the transaction was undone."""
        self._new.clear()


_NAMED = {"raters": "spec", "measures": "name"}


def _key(transaction: Transaction, table: str, text: str) -> int:
    if table in _NAMED:
        row: dict[str, object] = {_NAMED[table]: text}
    else:
        row = {"sha256": hashlib.sha256(text.encode()).digest(), "text": text}
    column, sought = next(iter(row.items()))
    find = f"SELECT id FROM {table} WHERE {column} = ?"
    key = transaction.value(find, sought)
    if key is None:
        transaction.insert(table, row, "ON CONFLICT DO NOTHING")
        key = transaction.value(find, sought)
    return int(key)


def to_json(value: object) -> str:
    """Return canonical JSON: sorted keys, no spaces, text as it is.

    >>> to_json({"b": ["é"], "a": 1})
    '{"a":1,"b":["é"]}'
    """
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def now() -> str:
    """UTC, ISO 8601, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def insert_battery(transaction: Transaction, keys: Keys, battery: Battery) -> int | None:
    """Keep a battery's canonical form; its key, or None when it exists already."""
    there = transaction.value(
        "SELECT content_hash FROM batteries WHERE battery = ? AND version = ?",
        battery.id,
        battery.version,
    )
    if there == battery.content_hash:
        return None
    if there is not None:
        raise StoreError(
            f"battery '{battery.id}' version '{battery.version}' was given before with other "
            f"content: stored {there}, now {battery.content_hash}",
            where=battery.origin or None,
            hint="give the changed battery its own version",
        )
    row = {
        "battery": battery.id,
        "version": battery.version,
        "content_hash": battery.content_hash,
        "title": battery.title,
        "canonical_id": keys.of(transaction, "texts", battery.canonical),
        "kept_at": now(),
    }
    return int(transaction.insert("batteries", row, "RETURNING id"))


def insert_assets(
    transaction: Transaction,
    battery_id: int,
    battery: Battery,
    content: Mapping[str, bytes],
    *,
    with_content: bool,
) -> None:
    """Keep which files belong to a battery, and their bytes where ``with_content``."""
    transaction.many(
        "INSERT INTO assets (sha256, size, content) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [
            (digest, len(content[path]), content[path] if with_content else None)
            for path, digest in battery.assets.items()
        ],
    )
    transaction.many(
        "INSERT INTO battery_assets (battery_id, path, sha256) VALUES (?, ?, ?)",
        [(battery_id, path, digest) for path, digest in battery.assets.items()],
    )


def insert_administration(
    transaction: Transaction,
    keys: Keys,
    battery_id: int,
    conditions: Conditions,
    plan: Sequence[PlannedTrial],
    versions: Mapping[str, str],
) -> int:
    """Return a new administration with its whole plan; its small id."""
    row: dict[str, object] = {
        "uid": uuid7(),
        "battery_id": battery_id,
        "examinee": conditions.examinee,
        "kind": conditions.kind,
        **{known.id: plain(known.of(conditions)) for known in CONDITIONS if known.stored},
        "conditions": to_json(asdict(conditions)),
        "versions": to_json(dict(versions)),
        "created_at": now(),
    }
    number = int(transaction.insert("administrations", row, "RETURNING id"))
    transaction.many(
        "INSERT INTO trials (administration_id, number, subtest, item, replicate, options,"
        " prompt_id, practice) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                number,
                trial.number,
                trial.subtest,
                trial.item,
                trial.replicate,
                to_json(trial.options),
                keys.of(transaction, "texts", trial.prompt),
                trial.practice,
            )
            for trial in plan
        ],
    )
    return number


def append(
    transaction: Transaction, keys: Keys, administration_id: int, entries: Sequence[Entry]
) -> None:
    """Append entries to an administration, numbering attempts and events."""
    sequence = (
        transaction.value(
            "SELECT max(sequence) FROM entries WHERE administration_id = ?", administration_id
        )
        or 0
    )
    moment = now()
    steps: list[tuple[object, ...]] = []
    for entry in entries:
        match entry:
            case AttemptEntry(trial=trial, attempt=attempt):
                kind, when = f"attempt-{attempt.state.value}", attempt.recorded_at or moment
                steps.append((kind, trial, "", None, when))
            case EventEntry(kind=kind, trial=trial, text=text, undoes=undoes):
                steps.append((kind, trial, text, undoes, moment))
    transaction.many(
        "INSERT INTO entries"
        " (administration_id, sequence, kind, trial, text, undoes, recorded_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(administration_id, sequence + at, *step) for at, step in enumerate(steps, 1)],
    )
    attempt_ids: dict[tuple[int, int], int] = {}
    for entry in entries:
        if isinstance(entry, RatingsEntry):
            place = entry.trial, entry.attempt
            attempt_id = attempt_ids.get(place)
            insert_ratings(
                transaction,
                keys,
                attempt_id or attempt_key(transaction, administration_id, *place),
                entry.ratings,
                None if attempt_id else moment,
            )
            continue
        if isinstance(entry, DeclarationEntry):
            insert_declaration(transaction, keys, administration_id, entry.declaration, moment)
            continue
        sequence += 1
        if isinstance(entry, AttemptEntry):
            attempt_ids[entry.trial, entry.attempt.number] = _insert_attempt(
                transaction, keys, administration_id, sequence, entry
            )


def _insert_attempt(
    transaction: Transaction,
    keys: Keys,
    administration_id: int,
    sequence: int,
    entry: AttemptEntry,
) -> int:
    attempt = entry.attempt
    row = {
        "administration_id": administration_id,
        "trial": entry.trial,
        "number": attempt.number,
        "sequence": sequence,
        "response": attempt.response,
        "status": None if attempt.status is None else attempt.status.value,
        "stop_reason": attempt.stop_reason.value,
        "latency_s": attempt.latency_s,
        "error": attempt.error,
        "metadata": to_json(dict(attempt.metadata)),
    }
    attempt_id = transaction.insert("attempts", row, "ON CONFLICT DO NOTHING RETURNING id")
    if attempt_id is None:
        raise StoreError(
            f"attempt {attempt.number} of trial {entry.trial} is recorded already",
            where=f"administration {administration_id}",
            hint="another program may have this administration open",
        )
    transaction.many(
        "INSERT INTO messages (attempt_id, position, role, text_id) VALUES (?, ?, ?, ?)",
        [
            (attempt_id, position, message.role, keys.of(transaction, "texts", message.content))
            for position, message in enumerate(attempt.messages)
        ],
    )
    return int(attempt_id)


def attempt_key(transaction: Transaction, administration_id: int, trial: int, attempt: int) -> int:
    """Return the key of an attempt that is there."""
    key = transaction.value(
        "SELECT id FROM attempts WHERE administration_id = ? AND trial = ? AND number = ?",
        administration_id,
        trial,
        attempt,
    )
    if key is None:
        raise StoreError(
            f"trial {trial} has no attempt {attempt} to rate",
            where=f"administration {administration_id}",
        )
    return int(key)


def insert_ratings(
    transaction: Transaction,
    keys: Keys,
    attempt_id: int,
    ratings: Sequence[Rating],
    recorded_at: str | None,
) -> dict[str, int]:
    """Insert ratings; the key of the set of each rater."""
    sets: dict[str, int] = {}
    by_rater: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_rater.setdefault(rating.rater, []).append(rating)
    rows: list[tuple[object, ...]] = []
    for rater, given in by_rater.items():
        rater_id = keys.of(transaction, "raters", rater)
        # Ratings in the attempt's own commit are the first: only later ones can replace others.
        replaces = recorded_at and transaction.value(
            "SELECT max(id) FROM rating_sets WHERE attempt_id = ? AND rater_id = ?",
            attempt_id,
            rater_id,
        )
        row = {
            "attempt_id": attempt_id,
            "rater_id": rater_id,
            "replaces": replaces,
            "recorded_at": recorded_at,
        }
        set_id = transaction.insert("rating_sets", row, "RETURNING id")
        sets[rater] = int(set_id)
        rows += [
            (
                set_id,
                keys.of(transaction, "measures", rating.measure),
                rating.value,
                STATUSES.index(rating.status),
                keys.of(transaction, "reasons", rating.reason) if rating.reason else None,
            )
            for rating in given
        ]
    transaction.many(
        "INSERT INTO ratings (set_id, measure_id, value, status_id, reason_id)"
        " VALUES (?, ?, ?, ?, ?)",
        rows,
    )
    return sets


def _said(declaration: Declaration) -> str:
    plugin = declaration.plugin
    if not declaration.measures and plugin is None:
        return to_json(declaration.features)
    said: dict[str, object] = {"features": declaration.features}
    if declaration.measures:
        said["measures"] = list(declaration.measures.items())  # in their order
    if plugin is not None:
        said["plugin"] = [plugin.distribution, plugin.version, plugin.sha256]
    return to_json(said)


def insert_declaration(
    transaction: Transaction,
    keys: Keys,
    administration_id: int,
    declaration: Declaration,
    recorded_at: str,
) -> None:
    """Keep a rater's declaration, unless it is equal to its last one in this administration."""
    prompt = declaration.prompt_text
    values = {
        "kind": declaration.kind,
        "scope": declaration.scope,
        "features_id": keys.of(transaction, "texts", _said(declaration)),
        "caution_id": keys.of(transaction, "texts", declaration.caution),
        "prompt_id": keys.of(transaction, "texts", prompt) if prompt else None,
    }
    rater_id = keys.of(transaction, "raters", declaration.rater)
    last = transaction.first(
        f"SELECT {', '.join(values)} FROM rater_declarations"
        " WHERE administration_id = ? AND rater_id = ? ORDER BY id DESC LIMIT 1",
        administration_id,
        rater_id,
    )
    if last is None or tuple(last) != tuple(values.values()):
        place = {"administration_id": administration_id, "rater_id": rater_id}
        row = {**place, **values, "recorded_at": recorded_at}
        transaction.insert("rater_declarations", row)
