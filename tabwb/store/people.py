"""Speakers in the store: records, consents, recordings, log, deletion (docs/speakers.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.records.errors import StoreError
from tabwb.records.speakers import (
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
from tabwb.records.workfolder import WorkFolder
from tabwb.store import blobs, people_rows, read, takes
from tabwb.store.database import Transaction
from tabwb.store.keys import now, to_json
from tabwb.store.location import default_path

if TYPE_CHECKING:
    from tabwb.store.access import Access


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
        versions: dict[str, int] = {}
        with self._access.reading() as transaction:
            known = {speaker: Speaker(speaker) for _, speaker in people_rows.guarded(transaction)}
            for (speaker,) in transaction.rows("SELECT DISTINCT speaker FROM consents"):
                known[speaker] = Speaker(speaker)
            for speaker, record, recorded_at, who in transaction.rows(
                "SELECT speaker, record, recorded_at, who FROM speakers ORDER BY id"
            ):
                versions[speaker] = versions.get(speaker, 0) + 1
                values = json.loads(record)
                known[speaker] = Speaker(speaker, values, recorded_at, who, versions[speaker])
        return tuple(known[speaker] for speaker in sorted(known))

    def speaker(self, speaker: str) -> Speaker:
        """Return the latest record of a speaker; version 0 without one."""
        with self._access.reading() as transaction:
            versions = people_rows.records(transaction, speaker)
            if versions:
                return versions[-1]
            if people_rows.is_known(transaction, speaker):
                return Speaker(speaker)
            gone = people_rows.tombstones(transaction, speaker)
        if gone:
            raise StoreError(
                f"speaker {speaker} was deleted on {gone[-1].deleted_at[:10]} ({gone[-1].reason})",
                where=self._access.database.location,
            )
        raise StoreError(
            f"there is no speaker '{speaker}' in this store",
            where=self._access.database.location,
            hint=f"'tabwb speaker list' lists who there is; 'tabwb speaker add {speaker}' adds one",
        )

    def speaker_versions(self, speaker: str) -> tuple[Speaker, ...]:
        """Return every version of a speaker's record, oldest first."""
        with self._access.reading() as transaction:
            return people_rows.records(transaction, speaker)

    def keep_speaker(self, speaker: Speaker) -> Speaker:
        """Add a version of a speaker's record and return it."""
        row = {
            "speaker": speaker.id,
            "record": to_json(dict(speaker.values)),
            "who": speaker.by or operator(),
            "recorded_at": now(),
        }
        with self._access.writing() as transaction:
            self._access.make_private_before_people(transaction)
            people_rows.refuse_deleted(transaction, speaker.id)
            transaction.insert("speakers", row)
            kept = people_rows.records(transaction, speaker.id)[-1]
            if kept.version == 1:
                entry = LogEntry("registered", kept.id, who=kept.by, at=kept.recorded_at)
                people_rows.insert_log(transaction, entry)
        return kept

    def keep_consents(self, consents: Sequence[Consent]) -> None:
        """Record consents and withdrawals in one commit; the last row of a scope counts."""
        with self._access.writing() as transaction:
            for consent in consents:
                people_rows.refuse_deleted(transaction, consent.speaker)
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
        where = "" if speaker is None else " WHERE speaker = ?"
        with self._access.reading() as transaction:
            rows = transaction.rows(
                "SELECT speaker, scope, given, day, document, note, recorded_at, who FROM consents"
                f"{where} ORDER BY id",
                *([] if speaker is None else [speaker]),
            )
        return tuple(Consent(who, scope, bool(given), *rest) for who, scope, given, *rest in rows)

    def allowed(self, speaker: str, scope: Scope) -> bool:
        """Return whether a speaker's consent to a scope is recorded and holds."""
        return scope in in_force(self.consents(speaker))

    def log(self, *entries: LogEntry) -> None:
        """Append to the log; who and when are filled in where they are empty."""
        if not entries:
            return
        with self._access.writing() as transaction:
            for entry in entries:
                who = entry.who or operator()
                people_rows.insert_log(transaction, replace(entry, who=who))

    def log_entries(
        self, speaker: str | None = None, administration: int | None = None
    ) -> tuple[LogEntry, ...]:
        """Return the log, oldest first: all of it, of a speaker, or of an administration."""
        limits = {"speaker": speaker, "administration": administration}
        wanted = {column: value for column, value in limits.items() if value is not None}
        where = f" WHERE {' AND '.join(f'{column} = ?' for column in wanted)}" if wanted else ""
        with self._access.reading() as transaction:
            rows = transaction.rows(
                "SELECT act, speaker, administration, detail, who, at FROM access_log"
                f"{where} ORDER BY id",
                *wanted.values(),
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
                blobs.place(folder, new)
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
        for number, before in people_rows.recordings(transaction, "uid = ?", recording.uid):
            if (number, before.sha256) == (administration_id, kept[0]):
                return
            raise StoreError(
                f"recording {recording.uid} is kept already, with other content",
                where=f"administration {number}",
            )
        if recording.derived_from is not None:
            originals = people_rows.recordings(transaction, "uid = ?", recording.derived_from)
            if administration_id not in [number for number, _ in originals]:
                raise StoreError(
                    f"recording {recording.derived_from}, of which this is a derived copy, is not"
                    " kept with it",
                    where=f"administration {administration_id}",
                )
        people_rows.insert_recording(transaction, administration_id, recording, *kept)
        conditions = administration.conditions
        if conditions.guarded and recording.role == "original":
            entry = LogEntry(
                "imported" if conditions.origin else "recorded",
                conditions.person,
                administration_id,
                f"recording {recording.uid}, {recording.seconds:.1f} s",
                who or operator(),
            )
            people_rows.insert_log(transaction, entry)

    def recordings(self, administration_id: int) -> tuple[KeptRecording, ...]:
        """Return the recordings of an administration, in the order in which they were kept."""
        with self._access.reading() as transaction:
            rows = people_rows.recordings(
                transaction, "administration_id = ? ORDER BY recorded_at, uid", administration_id
            )
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
            return people_rows.counts(transaction, speaker)

    def shared_recordings(self, speaker: str) -> tuple[tuple[str, str], ...]:
        """Return a speaker's recordings that another ID has too: (SHA-256, that ID).

        A deletion keeps their files for the other's administrations.
        """
        with self._access.reading() as transaction:
            return people_rows.shared_recordings(transaction, speaker)

    def delete_speaker(self, speaker: str, reason: str, *, who: str = "") -> Tombstone:
        """Delete a speaker with everything that was recorded of them.

        When this returns the rows are gone from the file, not only marked; ``finished`` is False
        where another program that reads the store kept the file from being rewritten. The next
        opening does that.
        """
        because = checked_reason(reason)
        self.speaker(speaker)
        with self._access.reading() as transaction:
            numbers = tuple(number for number, _ in people_rows.guarded(transaction, speaker))
            uids = [read.administrations(transaction, number, number)[0].uid for number in numbers]
        embedded = self._access.embedded is not None
        with ExitStack() as held:
            for number in numbers:
                held.enter_context(self._access.database.lock(number))
            with self._access.erasing() as transaction:
                stone = people_rows.delete(
                    transaction,
                    speaker,
                    because,
                    who or operator(),
                    held=numbers,
                    embedded=embedded,
                )
        self.close()
        if not embedded:
            # A server's recordings grow on the computer that makes them.
            people_rows.remove_takes(default_path(), uids)
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
            return people_rows.tombstones(transaction, speaker)
