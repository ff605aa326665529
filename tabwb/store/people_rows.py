"""Rows of people: records, consents, recordings, the log. Inside a transaction of the caller's."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from tabwb.records.condition_table import conditions_from
from tabwb.records.errors import StoreError
from tabwb.records.speakers import Consent, KeptRecording, LogEntry, Speaker, Tombstone
from tabwb.store.database import Transaction
from tabwb.store.write import now, to_json


def speakers(transaction: Transaction) -> tuple[Speaker, ...]:
    """Return everybody known by record, consent or administration, ordered by ID."""
    known = {speaker: Speaker(speaker) for _, speaker in guarded(transaction)}
    for (speaker,) in transaction.rows("SELECT DISTINCT speaker FROM consents"):
        known[speaker] = Speaker(speaker)
    versions: dict[str, int] = {}
    for speaker, record, recorded_at, who in transaction.rows(
        "SELECT speaker, record, recorded_at, who FROM speakers ORDER BY id"
    ):
        versions[speaker] = versions.get(speaker, 0) + 1
        values = json.loads(record)
        known[speaker] = Speaker(speaker, values, recorded_at, who, versions[speaker])
    return tuple(known[speaker] for speaker in sorted(known))


def records(transaction: Transaction, speaker: str) -> tuple[Speaker, ...]:
    """Return every version of a speaker's record, oldest first."""
    rows = transaction.rows(
        "SELECT record, recorded_at, who FROM speakers WHERE speaker = ? ORDER BY id", speaker
    )
    return tuple(
        Speaker(speaker, json.loads(record), recorded_at, who, version)
        for version, (record, recorded_at, who) in enumerate(rows, 1)
    )


def is_known(transaction: Transaction, speaker: str) -> bool:
    """Return whether anything is recorded of a speaker."""
    return bool(guarded(transaction, speaker)) or any(
        transaction.value(f"SELECT 1 FROM {table} WHERE speaker = ? LIMIT 1", speaker)
        for table in ("speakers", "consents")
    )


def guarded(transaction: Transaction, speaker: str | None = None) -> tuple[tuple[int, str], ...]:
    """Return the administrations that are, or may be, people's: their ids and whose they are."""
    rows = transaction.rows(
        "SELECT id, conditions FROM administrations"
        # Of a model's only those can be meant that were imported or replayed.
        " WHERE kind = 'speaker' OR conditions LIKE ? ORDER BY id",
        '%"origin":"%',
    )
    given = ((number, conditions_from(json.loads(conditions))) for number, conditions in rows)
    return tuple(
        (number, conditions.person)
        for number, conditions in given
        if conditions.guarded and speaker in (None, conditions.person)
    )


def has_people(transaction: Transaction) -> bool:
    """Return whether the store holds anything of a person."""
    return any(
        transaction.value(f"SELECT 1 FROM {table} LIMIT 1")
        for table in ("speakers", "consents", "administrations WHERE kind = 'speaker'")
    )


def insert_speaker(transaction: Transaction, speaker: Speaker) -> None:
    """Insert a new version of a speaker's record."""
    refuse_deleted(transaction, speaker.id)
    row = {
        "speaker": speaker.id,
        "record": to_json(dict(speaker.values)),
        "who": speaker.by,
        "recorded_at": now(),
    }
    transaction.insert("speakers", row)


def consents(transaction: Transaction, speaker: str) -> tuple[Consent, ...]:
    """Return all that a speaker gave and withdrew, in the order recorded."""
    return tuple(
        Consent(speaker, scope, bool(given), day, document, note, recorded_at, who)
        for scope, given, day, document, note, recorded_at, who in transaction.rows(
            "SELECT scope, given, day, document, note, recorded_at, who FROM consents"
            " WHERE speaker = ? ORDER BY id",
            speaker,
        )
    )


def insert_consent(transaction: Transaction, consent: Consent) -> None:
    """Insert one consent or withdrawal."""
    refuse_deleted(transaction, consent.speaker)
    row = {
        "speaker": consent.speaker,
        "scope": consent.scope,
        "given": consent.given,
        "day": consent.on,
        "document": consent.document,
        "note": consent.note,
        "who": consent.by,
        "recorded_at": now(),
    }
    transaction.insert("consents", row)


def insert_log(transaction: Transaction, entry: LogEntry) -> None:
    """Insert one line of the log."""
    transaction.insert("access_log", {**asdict(entry), "at": entry.at or now()})


def log_entries(
    transaction: Transaction, speaker: str | None, administration: int | None
) -> tuple[LogEntry, ...]:
    """Return the log, oldest first: all of it, of a speaker, or of an administration."""
    limits = {"speaker": speaker, "administration": administration}
    wanted = {column: value for column, value in limits.items() if value is not None}
    where = f" WHERE {' AND '.join(f'{column} = ?' for column in wanted)}" if wanted else ""
    rows = transaction.rows(
        f"SELECT act, speaker, administration, detail, who, at FROM access_log{where} ORDER BY id",
        *wanted.values(),
    )
    return tuple(LogEntry(*row) for row in rows)


_RECORDING = (
    "uid, seconds, rate, channels, role, derived_from, parameters, started_at, sha256, recorded_at"
)
"""The columns that are fields of :class:`KeptRecording`."""


def recordings(transaction: Transaction, administration_id: int) -> tuple[KeptRecording, ...]:
    """Return the recordings of an administration, in the order in which they were kept."""
    rows = transaction.rows(
        f"SELECT {_RECORDING} FROM recordings WHERE administration_id = ?"
        " ORDER BY recorded_at, uid",
        administration_id,
    )
    return tuple(map(_recording, rows))


def recording(transaction: Transaction, uid: str) -> tuple[int, KeptRecording] | None:
    """Return a recording with the administration that it belongs to, or None."""
    row = transaction.first(
        f"SELECT {_RECORDING}, administration_id FROM recordings WHERE uid = ?", uid
    )
    return None if row is None else (int(row[10]), _recording(row))


def _recording(row: Any) -> KeptRecording:
    values = dict(zip(_RECORDING.split(", "), row, strict=False))
    return KeptRecording(**{**values, "parameters": json.loads(values["parameters"])})


def insert_recording(
    transaction: Transaction,
    administration_id: int,
    recording: KeptRecording,
    digest: str,
    size: int,
    content: bytes | None,
) -> None:
    """Insert a recording, and its file unless that is there already."""
    asset = {"sha256": digest, "size": size, "content": content}
    transaction.insert("assets", asset, "ON CONFLICT DO NOTHING")
    row = {
        **asdict(recording),
        "administration_id": administration_id,
        "sha256": digest,
        "parameters": to_json(dict(recording.parameters)),
        "recorded_at": now(),
    }
    transaction.insert("recordings", row)


def tombstones(transaction: Transaction, speaker: str | None = None) -> tuple[Tombstone, ...]:
    """Return who was deleted and when, oldest first."""
    rows = transaction.rows(
        "SELECT speaker, deleted_at, who, reason, counts, pending FROM tombstones"
        f"{'' if speaker is None else ' WHERE speaker = ?'} ORDER BY id",
        *(() if speaker is None else (speaker,)),
    )
    return tuple(
        Tombstone(whose, deleted_at, who, reason, json.loads(counts), pending is None)
        for whose, deleted_at, who, reason, counts, pending in rows
    )


def refuse_deleted(transaction: Transaction, speaker: str) -> None:
    """Refuse to record anything of a speaker who was deleted.

    Raises:
        StoreError: the speaker was deleted, and not for having been entered by mistake.
    """
    stones = tombstones(transaction, speaker)
    gone = [stone for stone in stones if stone.reason != "entered-by-mistake"]
    if gone:
        raise StoreError(
            f"speaker {speaker} was deleted on {gone[-1].deleted_at[:10]} ({gone[-1].reason})",
            hint="nothing more is recorded under this ID; another person has another ID",
        )
