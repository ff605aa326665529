"""Rows from records. Every function works inside a transaction that its caller opened.

Rows are only ever inserted. What many rows share (texts, raters, measures, reasons) is stored once
and named by a small integer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from tabwb.battery.model import Battery
from tabwb.records.conditions import Conditions
from tabwb.records.declared_conditions import CONDITIONS, plain
from tabwb.records.errors import StoreError
from tabwb.records.speakers import LogEntry, operator
from tabwb.records.specs import uuid7
from tabwb.records.states import AttemptState
from tabwb.records.trials import (
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    PlannedTrial,
    RatingsEntry,
)
from tabwb.store import facts, people, verdicts
from tabwb.store.database import Keys, Transaction, now, to_json


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
        "INSERT INTO trials (administration_id, number, item_id, replicate, options_id,"
        " prompt_id, practice) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                number,
                trial.number,
                keys.of(transaction, "items", trial.subtest, trial.item),
                trial.replicate,
                keys.of(transaction, "texts", to_json(trial.options)),
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
            verdicts.insert(
                transaction,
                keys,
                attempt_id or verdicts.attempt_key(transaction, administration_id, *place),
                entry.ratings,
                None if attempt_id else moment,
            )
            continue
        if isinstance(entry, DeclarationEntry):
            verdicts.insert_declaration(
                transaction, keys, administration_id, entry.declaration, moment
            )
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
    noted = facts.of_notes(attempt.metadata)
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
        "ok": attempt.state is AttemptState.OK,
        **facts.of_text(attempt.response)._asdict(),
        "asked": _asked(transaction, administration_id, entry),
        "seed": noted.seed,
        "line": noted.line,
        "notes_id": keys.of(transaction, "texts", noted.notes) if noted.notes else None,
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


def _asked(transaction: Transaction, administration_id: int, entry: AttemptEntry) -> int:
    sent = [(one.role, facts.named(one.content.encode())) for one in entry.attempt.messages]
    if sent:
        return facts.asked(sent, 0)
    prompt = transaction.value(
        "SELECT text FROM trials JOIN texts ON texts.id = prompt_id"
        " WHERE administration_id = ? AND number = ?",
        administration_id,
        entry.trial,
    )
    return facts.asked((), facts.named((prompt or "").encode()))


@dataclass(frozen=True, slots=True)
class WholeAdministration:
    """An administration with all its entries, the last of which ends it."""

    conditions: Conditions
    plan: Sequence[PlannedTrial]
    versions: Mapping[str, str]
    entries: Sequence[Entry]
    acts: Sequence[LogEntry] = ()


def insert(
    transaction: Transaction, keys: Keys, battery_id: int, given: WholeAdministration
) -> int:
    """Insert an administration with its entries and log; return its number."""
    conditions = given.conditions
    if conditions.guarded:
        people.refuse_deleted(transaction, conditions.person)
    number = insert_administration(
        transaction, keys, battery_id, conditions, given.plan, given.versions
    )
    append(transaction, keys, number, given.entries)
    for act in given.acts:
        entry = replace(act, administration=number, who=act.who or operator())
        people.insert_log(transaction, entry)
    return number
