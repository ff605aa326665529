"""Speakers in the store: records, consents, recordings, log, deletion (docs/speakers.md)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.records import files
from tabwb.records.conditions import conditions_from
from tabwb.records.errors import StoreError
from tabwb.records.files import WorkFolder
from tabwb.records.speakers import (
    Act,
    Consent,
    KeptRecording,
    LogEntry,
    Scope,
    Speaker,
    Tombstone,
    checked_reason,
    in_force,
    operator,
)
from tabwb.store import blobs, read, takes
from tabwb.store.database import EmbeddedDatabase, Transaction, now, to_json
from tabwb.store.location import default_path

if TYPE_CHECKING:
    from tabwb.store.store import Access


class People:
    """The part of an open store that keeps people."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._temporary: WorkFolder | None = None

    def close(self) -> None:
        """Remove the temporary copies of recordings."""
        if self._temporary is not None:
            self._temporary.close()
            self._temporary = None

    def speakers(self) -> tuple[Speaker, ...]:
        """Return everybody known by record, consent or administration, in the order of IDs."""
        with self._access.reading() as transaction:
            known = {speaker: Speaker(speaker) for _, speaker in guarded(transaction)}
            for (speaker,) in transaction.rows("SELECT DISTINCT speaker FROM consents"):
                known[speaker] = Speaker(speaker)
            known |= {record.id: record for record in _records(transaction)}
        return tuple(known[speaker] for speaker in sorted(known))

    def speaker(self, speaker: str) -> Speaker:
        """Return the latest record of a speaker; version 0 without one."""
        with self._access.reading() as transaction:
            versions = _records(transaction, speaker)
            consented = "SELECT 1 FROM consents WHERE speaker = ? LIMIT 1"
            if versions:
                return versions[-1]
            if guarded(transaction, speaker) or transaction.value(consented, speaker):
                return Speaker(speaker)
            gone = tombstones(transaction, speaker)
        where = self._access.database.location
        if gone:
            raise StoreError(_deleted(gone[-1]), where=where)
        raise StoreError(
            f"there is no speaker '{speaker}' in this store",
            where=where,
            hint=f"'tabwb speaker list' lists who there is; 'tabwb speaker add {speaker}' adds one",
        )

    def speaker_versions(self, speaker: str) -> tuple[Speaker, ...]:
        """Return every version of a speaker's record, oldest first."""
        with self._access.reading() as transaction:
            return _records(transaction, speaker)

    def keep_speaker(self, speaker: Speaker) -> Speaker:
        """Add a version of a speaker's record and return it."""
        return self.keep_speakers([speaker])[0]

    def keep_speakers(self, speakers: Sequence[Speaker]) -> tuple[Speaker, ...]:
        """Add a version of the records of speakers in one commit, and return them."""
        kept = []
        with self._access.writing() as transaction:
            self._access.make_private_before_people(transaction)
            for speaker in speakers:
                refuse_deleted(transaction, speaker.id)
                row = {
                    "speaker": speaker.id,
                    "record": to_json(dict(speaker.values)),
                    "who": speaker.by or operator(),
                    "recorded_at": now(),
                }
                transaction.insert("speakers", row)
                *before, made = _records(transaction, speaker.id)
                if made.is_imported or all(one.is_imported for one in before):
                    act: Act = "imported" if made.is_imported else "registered"
                    entry = LogEntry(act, made.id, who=made.by, at=made.recorded_at)
                    insert_log(transaction, entry)
                kept.append(made)
        return tuple(kept)

    def keep_consents(self, consents: Sequence[Consent]) -> None:
        """Record consents and withdrawals in one commit; the last row of a scope counts."""
        with self._access.writing() as transaction:
            for consent in consents:
                refuse_deleted(transaction, consent.speaker)
                row = {
                    "speaker": consent.speaker,
                    "scope": consent.scope,
                    "given": consent.given,
                    "day": consent.on,
                    "document": consent.document,
                    "note": consent.note,
                    "who": consent.by or operator(),
                    "recorded_at": now(),
                }
                transaction.insert("consents", row)

    def consents(self, speaker: str | None = None) -> tuple[Consent, ...]:
        """Return all that a speaker, or everybody, gave and withdrew, in the order recorded."""
        with self._access.reading() as transaction:
            rows = transaction.selected(
                "SELECT speaker, scope, given, day, document, note, recorded_at, who FROM consents",
                {"speaker": speaker},
                "ORDER BY id",
            )
        return tuple(Consent(who, scope, bool(given), *rest) for who, scope, given, *rest in rows)

    def allowed(self, speaker: str, scope: Scope) -> bool:
        """Return whether a speaker's consent to a scope is recorded and holds."""
        return scope in in_force(self.consents(speaker))

    def log(self, *entries: LogEntry) -> None:
        """Append to the log; who and when are filled in where they are empty."""
        if entries:
            with self._access.writing() as transaction:
                for entry in entries:
                    insert_log(transaction, entry)

    def log_entries(
        self, speaker: str | None = None, administration: int | None = None
    ) -> tuple[LogEntry, ...]:
        """Return the log, oldest first: all of it, of a speaker, or of an administration."""
        with self._access.reading() as transaction:
            rows = transaction.selected(
                "SELECT act, speaker, administration, detail, who, at FROM access_log",
                {"speaker": speaker, "administration": administration},
                "ORDER BY id",
            )
        return tuple(LogEntry(*row) for row in rows)

    def keep_recording(
        self, administration_id: int, recording: KeptRecording, file: Path, *, who: str = ""
    ) -> str:
        """Keep a sound file with an administration and return its SHA-256.

        The file is copied and left unchanged. Keeping it again under its uid changes nothing. A
        person's original is entered in the log as recorded.
        """
        try:
            source = file.open("rb")
        except OSError as error:
            raise StoreError(f"cannot be read: {error.strerror}", where=str(file)) from error
        with source:
            if self._access.embedded is None:
                content = source.read()
                kept = hashlib.sha256(content).hexdigest(), len(content), content
                with self._access.writing() as transaction:
                    self._insert(transaction, administration_id, recording, kept, who)
                return kept[0]
            folder = blobs.folder_of(self._access.embedded)
            with blobs.staged(folder, source) as new, self._access.writing() as transaction:
                row = (new.digest, new.size, None)
                self._insert(transaction, administration_id, recording, row, who)
                blobs.place(folder, new, self._access.unsynced)
            return new.digest

    def _insert(
        self,
        transaction: Transaction,
        administration_id: int,
        recording: KeptRecording,
        kept: tuple[str, int, bytes | None],
        who: str,
    ) -> None:
        (administration,) = read.administrations(transaction, administration_id, administration_id)
        for number, before in _recordings(transaction, uid=recording.uid):
            if (number, before.sha256) == (administration_id, kept[0]):
                return
            raise StoreError(
                f"recording {recording.uid} is kept already, with other content",
                where=f"administration {number}",
            )
        if recording.derived_from is not None:
            originals = _recordings(transaction, uid=recording.derived_from)
            if administration_id not in [number for number, _ in originals]:
                raise StoreError(
                    f"recording {recording.derived_from}, of which this is a derived copy, is not"
                    " kept with it",
                    where=f"administration {administration_id}",
                )
        asset = dict(zip(("sha256", "size", "content"), kept, strict=True))
        transaction.insert("assets", asset, "ON CONFLICT DO NOTHING")
        row = {
            **asdict(recording),
            "administration_id": administration_id,
            "sha256": kept[0],
            "parameters": to_json(dict(recording.parameters)),
            "recorded_at": now(),
        }
        transaction.insert("recordings", row)
        conditions = administration.conditions
        if conditions.guarded and recording.role == "original":
            entry = LogEntry(
                "imported" if conditions.origin else "recorded",
                conditions.person,
                administration_id,
                f"recording {recording.uid}, {recording.seconds:.1f} s",
                who,
            )
            insert_log(transaction, entry)

    def recordings(self, administration_id: int) -> tuple[KeptRecording, ...]:
        """Return the recordings of an administration, in the order in which they were kept."""
        with self._access.reading() as transaction:
            rows = _recordings(transaction, administration_id=administration_id)
        return tuple(recording for _, recording in rows)

    def recording_path(self, sha256: str) -> Path:
        """Return the path of a recording's bytes; for a server, of a temporary copy."""
        if self._access.embedded is not None:
            folder = blobs.folder_of(self._access.embedded)
            return blobs.whole_path(folder, sha256, "the recording")
        with self._access.reading() as transaction:
            content = transaction.value("SELECT content FROM assets WHERE sha256 = ?", sha256)
        if content is None:
            raise StoreError(f"no recording {sha256} is kept", where=self._access.database.location)
        if self._temporary is None:
            with blobs.explained(takes.user_work_root()):
                self._temporary = WorkFolder(takes.user_work_root())
        folder = self._temporary.path
        blobs.keep(folder, sha256, bytes(content))
        return blobs.path_of(folder, sha256)

    def data_of(self, speaker: str) -> dict[str, int]:
        """Return the number of rows kept of a speaker, by kind."""
        with self._access.reading() as transaction:
            return _counts(transaction, speaker, _numbers(guarded(transaction, speaker)))

    def shared_recordings(self, speaker: str) -> tuple[tuple[str, str], ...]:
        """Return a speaker's recordings that another ID has too: (SHA-256, that ID).

        A deletion keeps their files for the other's administrations.
        """
        with self._access.reading() as transaction:
            own = f"administration_id IN ({_numbers(guarded(transaction, speaker))})"
            rows = transaction.rows(
                "SELECT DISTINCT sha256, examinee FROM recordings"
                " JOIN administrations ON administrations.id = administration_id"
                f" WHERE NOT {own} AND sha256 IN (SELECT sha256 FROM recordings WHERE {own})"
            )
        return tuple(sorted(tuple(row) for row in rows))

    def delete_speaker(self, speaker: str, reason: str, *, who: str = "") -> Tombstone:
        """Delete a speaker with everything that was recorded of them.

        When this returns the rows are gone from the file, not only marked; ``finished`` is False
        where another program that reads the store kept the file from being rewritten. The next
        opening does that.
        """
        because = checked_reason(reason)
        self.speaker(speaker)
        with self._access.reading() as transaction:
            own = guarded(transaction, speaker)
        embedded = self._access.embedded is not None
        with ExitStack() as held:
            for number, _ in own:
                held.enter_context(self._access.database.lock(number))
            with self._access.erasing() as transaction:
                if guarded(transaction, speaker) != own:
                    raise StoreError(
                        f"something was recorded of speaker {speaker} at this moment",
                        hint="try again",
                    )
                find = f"SELECT uid FROM administrations WHERE id IN ({_numbers(own)}) ORDER BY id"
                uids = [uid for (uid,) in transaction.rows(find)]
                counts = _counts(transaction, speaker, _numbers(own))
                who = who or operator()
                stone = Tombstone(speaker, now(), who, because, counts, not embedded)
                _delete(transaction, stone, _numbers(own), uids)
        self.close()
        if not embedded:
            # A server's recordings grow on the computer that makes them.
            remove_takes(default_path(), uids)
        try:
            return replace(stone, finished=self._access.finish_erasing())
        except StoreError as error:
            raise StoreError(
                f"speaker {speaker} was deleted, but traces may be left: {error.message}",
                where=error.where,
                hint="they are removed when the store is opened next and can be written",
            ) from error

    def tombstones(self, speaker: str | None = None) -> tuple[Tombstone, ...]:
        """Return who was deleted and when, oldest first."""
        with self._access.reading() as transaction:
            return tombstones(transaction, speaker)


def _records(transaction: Transaction, speaker: str | None = None) -> tuple[Speaker, ...]:
    """Return every version of a speaker's record, or of everybody's, oldest first."""
    sql = "SELECT speaker, record, recorded_at, who FROM speakers"
    versions: Counter[str] = Counter()
    made = []
    for whose, record, recorded_at, who in transaction.selected(
        sql, {"speaker": speaker}, "ORDER BY id"
    ):
        versions[whose] += 1
        made.append(Speaker(whose, json.loads(record), recorded_at, who, versions[whose]))
    return tuple(made)


def guarded(transaction: Transaction, speaker: str | None = None) -> tuple[tuple[int, str], ...]:
    """Return the administrations that are, or may be, people's: their ids and whose they are."""
    rows = transaction.rows(
        "SELECT id, kind, conditions FROM administrations"
        # Of a model's only those can be meant that were imported or replayed.
        " WHERE kind = 'speaker' OR conditions LIKE ? ORDER BY id",
        '%"origin":"%',
    )
    given = ((number, person_in(kind, conditions)) for number, kind, conditions in rows)
    return tuple(
        (number, person)
        for number, person in given
        if person is not None and speaker in (None, person)
    )


def person_in(kind: str, conditions: str) -> str | None:
    """Return whose an administration is, or may be, by two of its columns; None: a model's."""
    if kind != "speaker" and '"origin":"' not in conditions:
        return None
    read = conditions_from(json.loads(conditions))
    return read.person if read.guarded else None


def has_people(transaction: Transaction) -> bool:
    """Return whether the store holds anything of a person."""
    return any(
        transaction.value(f"SELECT 1 FROM {table} LIMIT 1")
        for table in ("speakers", "consents", "administrations WHERE kind = 'speaker'")
    )


def insert_log(transaction: Transaction, entry: LogEntry) -> None:
    """Insert one line of the log; who and when are filled in where they are empty."""
    moment, who = entry.at or now(), entry.who or operator()
    transaction.insert("access_log", asdict(entry) | {"at": moment, "who": who})


_RECORDING = (
    "uid, seconds, rate, channels, role, derived_from, parameters, started_at, sha256, recorded_at"
)
"""The columns that are fields of :class:`KeptRecording`."""


def _recordings(transaction: Transaction, **limits: object) -> list[tuple[int, KeptRecording]]:
    """Return the recordings whose columns have these values, each with whose it is."""
    rows = transaction.selected(
        f"SELECT administration_id, {_RECORDING} FROM recordings",
        limits,
        "ORDER BY recorded_at, uid",
    )
    made = []
    for number, *row in rows:
        values = dict(zip(_RECORDING.split(", "), row, strict=True))
        values["parameters"] = json.loads(values["parameters"])
        made.append((number, KeptRecording(**values)))
    return made


def tombstones(transaction: Transaction, speaker: str | None = None) -> tuple[Tombstone, ...]:
    """Return who was deleted and when, oldest first."""
    rows = transaction.selected(
        "SELECT speaker, deleted_at, who, reason, counts, pending IS NULL FROM tombstones",
        {"speaker": speaker},
        "ORDER BY id",
    )
    return tuple(
        Tombstone(speaker, at, who, reason, json.loads(counts), bool(finished))
        for speaker, at, who, reason, counts, finished in rows
    )


def refuse_deleted(transaction: Transaction, speaker: str) -> None:
    """Refuse to record anything of a speaker who was deleted."""
    stones = tombstones(transaction, speaker)
    gone = [stone for stone in stones if stone.reason != "entered-by-mistake"]
    if gone:
        raise StoreError(
            _deleted(gone[-1]),
            hint="nothing more is recorded under this ID; another person has another ID",
        )


def _deleted(stone: Tombstone) -> str:
    return f"speaker {stone.speaker} was deleted on {stone.deleted_at[:10]} ({stone.reason})"


def _numbers(guarded: Sequence[tuple[int, str]]) -> str:
    """Return administrations for SQL; no administration is 0."""
    return ", ".join(map(str, (0, *(number for number, _ in guarded))))


_OWN = "administration_id IN ({0})"
_ATTEMPTS = f"SELECT id FROM attempts WHERE {_OWN}"
_OF_ATTEMPTS = f"attempt_id IN ({_ATTEMPTS})"
_OF_SAMPLES = f"(set_id, sample) IN (SELECT set_id, number FROM samples WHERE {_OF_ATTEMPTS})"
_THEIRS = {
    **dict.fromkeys(("trials", "attempts", "rater_declarations", "recordings"), _OWN),
    **dict.fromkeys(("verdicts", "messages", "judgements", "samples"), _OF_ATTEMPTS),
}
"""By table the condition by which its rows are an administration's."""
_COUNTED = {
    "attempts": f"SELECT count(*) FROM attempts WHERE {_OWN}",
    "ratings": f"SELECT coalesce(sum(length(codes)), 0) FROM verdicts WHERE {_OF_ATTEMPTS}",
    "judgements": f"SELECT count(*) FROM judgements WHERE {_OF_ATTEMPTS}",
    "samples": f"SELECT count(*) FROM samples WHERE {_OF_ATTEMPTS}",
    "recordings": f"SELECT count(*) FROM recordings WHERE {_OWN}",
}
_COUNTED_OF_SPEAKER = {
    "records": "SELECT count(*) FROM speakers WHERE speaker = ?",
    "consents": "SELECT count(*) FROM consents WHERE speaker = ?",
    # Exports that ended, and those that began only: their files may exist.
    "exports": (
        "SELECT count(*) FROM access_log WHERE speaker = ? AND (act = 'exported'"
        " OR act = 'export-begun' AND NOT EXISTS (SELECT 1 FROM access_log l"
        " WHERE l.act = 'exported' AND l.id > access_log.id AND l.speaker = access_log.speaker"
        " AND l.administration = access_log.administration AND l.detail = access_log.detail))"
    ),
}
# Children before parents.
_STEPS = (
    "UPDATE judgements SET same_as = NULL WHERE same_as IN"
    f" (SELECT id FROM judgements WHERE {_OF_ATTEMPTS})",
    f"DELETE FROM judgements WHERE {_OF_ATTEMPTS}",
    "DELETE FROM sample_ratings WHERE (set_id, rater_id, position) IN"
    f" (SELECT set_id, rater_id, position FROM assignments WHERE {_OF_SAMPLES})",
    f"DELETE FROM adjudications WHERE {_OF_SAMPLES}",
    f"DELETE FROM assignments WHERE {_OF_SAMPLES}",
    f"DELETE FROM samples WHERE {_OF_ATTEMPTS}",
    f"DELETE FROM verdicts WHERE {_OF_ATTEMPTS}",
    f"DELETE FROM messages WHERE {_OF_ATTEMPTS}",
    f"DELETE FROM attempts WHERE {_OWN}",
    f"DELETE FROM rater_declarations WHERE {_OWN}",
    f"DELETE FROM recordings WHERE {_OWN}",
    f"DELETE FROM entries WHERE {_OWN}",
    f"DELETE FROM trials WHERE {_OWN}",
    "DELETE FROM administrations WHERE id IN ({0})",
)
_SHARED = {
    ("texts", "id"): (
        "trials.prompt_id trials.options_id attempts.notes_id verdicts.measures_id"
        " verdicts.reasons messages.text_id rater_declarations.features_id"
        " rater_declarations.caution_id rater_declarations.prompt_id judgements.prompt_id"
        " judgements.raw_id judgements.first_raw_id samples.prompt_id sample_sets.form_text_id"
        " sample_sets.guidelines_id batteries.canonical_id"
    ),
    ("items", "id"): "trials.item_id",
    # The spec of a rater may hold the path of a transcript, and so the speaker's ID or name.
    ("raters", "id"): (
        "verdicts.rater_id judgements.rater_id rater_declarations.rater_id assignments.rater_id"
        " rater_links.rater_id"
    ),
    ("assets", "sha256"): "recordings.sha256 samples.audio_sha256 battery_assets.sha256",
}
"""What administrations share: its table and key; and every column that refers to it."""


def _counts(transaction: Transaction, speaker: str, numbers: str) -> dict[str, int]:
    """Return the number of rows of a speaker, by kind."""
    found = {"administrations": numbers.count(",")}
    for kind, sql in _COUNTED.items():
        found[kind] = int(transaction.value(sql.format(numbers)))
    for kind, sql in _COUNTED_OF_SPEAKER.items():
        found[kind] = int(transaction.value(sql, speaker))
    return found


def _delete(
    transaction: Transaction, stone: Tombstone, numbers: str, administrations: Sequence[str]
) -> None:
    """Delete every row of a speaker and write the tombstone."""
    used = {shared: _used(transaction, uses, numbers) for shared, uses in _SHARED.items()}
    for step in _STEPS:
        transaction.execute(step.format(numbers))
    for (table, key), uses in _SHARED.items():
        used[table, key] -= _used(transaction, uses, None)
        rows = [(value,) for value in used[table, key]]
        transaction.many(f"DELETE FROM {table} WHERE {key} = ?", rows)
    for table in ("speakers", "consents"):
        transaction.execute(f"DELETE FROM {table} WHERE speaker = ?", stone.speaker)
    # Who did what is kept; the details may identify the person.
    transaction.execute("UPDATE access_log SET detail = '' WHERE speaker = ?", stone.speaker)
    insert_log(transaction, LogEntry("deleted", stone.speaker, who=stone.by, at=stone.deleted_at))
    left = {"files": sorted(map(str, used["assets", "sha256"])), "takes": administrations}
    row = {
        "speaker": stone.speaker,
        "deleted_at": stone.deleted_at,
        "who": stone.by,
        "reason": stone.reason,
        "counts": to_json(stone.counts),
        "pending": None if stone.finished else to_json(left),
    }
    transaction.insert("tombstones", row)


def _used(transaction: Transaction, uses: str, numbers: str | None) -> set[int | str]:
    """Return what the rows of these administrations (all, where none given) refer to."""
    used: set[int | str] = set()
    for table, column in (use.split(".") for use in uses.split()):
        if numbers is not None and table not in _THEIRS:
            continue
        theirs = "" if numbers is None else f" AND {_THEIRS[table].format(numbers)}"
        found = transaction.rows(
            f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL{theirs}"
        )
        for (value,) in found:
            used.update(json.loads(value).values() if column == "reasons" else (value,))
    return used


def remove_takes(store: Path, administrations: Iterable[str]) -> None:
    """Remove recordings that were begun in administrations (their uids) and never kept.

    Copies that a transcriber was working on when its process died go too, whosever they are.
    """
    folder = store.with_name(f"{store.name}.takes")
    files.sweep(takes.work_root_beside(store))
    files.sweep(takes.user_work_root())
    for uid in administrations:
        for path in folder.glob(f"{uid}.*"):
            with blobs.explained(folder):
                path.unlink(missing_ok=True)


def finish(database: EmbeddedDatabase) -> bool:
    """Remove what deletions left on the disk; False where another program reads the store.

    May be repeated: what is done already is done.
    """
    folder = blobs.folder_of(database.path)
    with database.writing() as transaction:
        stones = transaction.rows("SELECT id, pending FROM tombstones WHERE pending IS NOT NULL")
        known = {row[0] for row in transaction.rows("SELECT sha256 FROM assets")}
        for _, pending in stones:
            left = json.loads(pending)
            for digest in left["files"]:
                if digest not in known:
                    blobs.remove(folder, digest)
            remove_takes(database.path, left["takes"])
        blobs.sweep(folder, known)
    if not database.scrub():
        return False
    with database.writing() as transaction:
        transaction.many(
            "UPDATE tombstones SET pending = NULL WHERE id = ?", [(row[0],) for row in stones]
        )
    return True
