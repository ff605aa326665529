"""Speakers in the store: records, consents, recordings, log, deletion (docs/speakers.md)."""

from __future__ import annotations

import hashlib
import json
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
    Consent,
    KeptRecording,
    LogEntry,
    Reason,
    Scope,
    Speaker,
    Tombstone,
    checked_reason,
    in_force,
    operator,
)
from tabwb.store import blobs, read, takes
from tabwb.store.database import EmbeddedDatabase, Transaction
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
            known = {speaker: Speaker(speaker) for _, speaker in guarded(transaction)}
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
            versions = records(transaction, speaker)
            if versions:
                return versions[-1]
            if is_known(transaction, speaker):
                return Speaker(speaker)
            gone = tombstones(transaction, speaker)
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
            return records(transaction, speaker)

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
            refuse_deleted(transaction, speaker.id)
            transaction.insert("speakers", row)
            kept = records(transaction, speaker.id)[-1]
            if kept.version == 1:
                entry = LogEntry("registered", kept.id, who=kept.by, at=kept.recorded_at)
                insert_log(transaction, entry)
        return kept

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
                insert_log(transaction, replace(entry, who=who))

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
        for number, before in recordings(transaction, "uid = ?", recording.uid):
            if (number, before.sha256) == (administration_id, kept[0]):
                return
            raise StoreError(
                f"recording {recording.uid} is kept already, with other content",
                where=f"administration {number}",
            )
        if recording.derived_from is not None:
            originals = recordings(transaction, "uid = ?", recording.derived_from)
            if administration_id not in [number for number, _ in originals]:
                raise StoreError(
                    f"recording {recording.derived_from}, of which this is a derived copy, is not"
                    " kept with it",
                    where=f"administration {administration_id}",
                )
        insert_recording(transaction, administration_id, recording, *kept)
        conditions = administration.conditions
        if conditions.guarded and recording.role == "original":
            entry = LogEntry(
                "imported" if conditions.origin else "recorded",
                conditions.person,
                administration_id,
                f"recording {recording.uid}, {recording.seconds:.1f} s",
                who or operator(),
            )
            insert_log(transaction, entry)

    def recordings(self, administration_id: int) -> tuple[KeptRecording, ...]:
        """Return the recordings of an administration, in the order in which they were kept."""
        with self._access.reading() as transaction:
            rows = recordings(
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
            return counts(transaction, speaker)

    def shared_recordings(self, speaker: str) -> tuple[tuple[str, str], ...]:
        """Return a speaker's recordings that another ID has too: (SHA-256, that ID).

        A deletion keeps their files for the other's administrations.
        """
        with self._access.reading() as transaction:
            return shared_recordings(transaction, speaker)

    def delete_speaker(self, speaker: str, reason: str, *, who: str = "") -> Tombstone:
        """Delete a speaker with everything that was recorded of them.

        When this returns the rows are gone from the file, not only marked; ``finished`` is False
        where another program that reads the store kept the file from being rewritten. The next
        opening does that.
        """
        because = checked_reason(reason)
        self.speaker(speaker)
        with self._access.reading() as transaction:
            numbers = tuple(number for number, _ in guarded(transaction, speaker))
            uids = [read.administrations(transaction, number, number)[0].uid for number in numbers]
        embedded = self._access.embedded is not None
        with ExitStack() as held:
            for number in numbers:
                held.enter_context(self._access.database.lock(number))
            with self._access.erasing() as transaction:
                stone = delete(
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
    """Insert one line of the log."""
    transaction.insert("access_log", {**asdict(entry), "at": entry.at or now()})


_RECORDING = (
    "uid, seconds, rate, channels, role, derived_from, parameters, started_at, sha256, recorded_at"
)
"""The columns that are fields of :class:`KeptRecording`."""


def recordings(
    transaction: Transaction, where: str, value: object
) -> list[tuple[int, KeptRecording]]:
    """Return the recordings that a condition with one parameter selects, each with whose it is."""
    rows = transaction.rows(
        f"SELECT administration_id, {_RECORDING} FROM recordings WHERE {where}", value
    )
    recordings = []
    for number, *row in rows:
        values = dict(zip(_RECORDING.split(", "), row, strict=True))
        values["parameters"] = json.loads(values["parameters"])
        recordings.append((number, KeptRecording(**values)))
    return recordings


def insert_recording(
    transaction: Transaction,
    administration_id: int,
    recording: KeptRecording,
    digest: str,
    size: int,
    content: bytes | None,
) -> None:
    """Insert a recording, and its file unless that exists already."""
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
        "SELECT speaker, deleted_at, who, reason, counts, pending FROM tombstones ORDER BY id"
    )
    return tuple(
        Tombstone(whose, deleted_at, who, reason, json.loads(counts), pending is None)
        for whose, deleted_at, who, reason, counts, pending in rows
        if speaker in (None, whose)
    )


def refuse_deleted(transaction: Transaction, speaker: str) -> None:
    """Refuse to record anything of a speaker who was deleted."""
    stones = tombstones(transaction, speaker)
    gone = [stone for stone in stones if stone.reason != "entered-by-mistake"]
    if gone:
        raise StoreError(
            f"speaker {speaker} was deleted on {gone[-1].deleted_at[:10]} ({gone[-1].reason})",
            hint="nothing more is recorded under this ID; another person has another ID",
        )


_ATTEMPTS = "SELECT id FROM attempts WHERE administration_id = ?"
_JUDGEMENTS = f"SELECT id FROM judgements WHERE attempt_id IN ({_ATTEMPTS})"
_SAMPLES = f"SELECT set_id, number FROM samples WHERE attempt_id IN ({_ATTEMPTS})"
_ASSIGNED = (
    f"SELECT set_id, rater_id, position FROM assignments WHERE (set_id, sample) IN ({_SAMPLES})"
)
_RATED = f"(set_id, rater_id, position) IN ({_ASSIGNED})"

# Children before parents.
_STEPS = (
    f"UPDATE judgements SET same_as = NULL WHERE same_as IN ({_JUDGEMENTS})",
    f"DELETE FROM judgements WHERE attempt_id IN ({_ATTEMPTS})",
    f"DELETE FROM sample_ratings WHERE {_RATED}",
    f"DELETE FROM adjudications WHERE (set_id, sample) IN ({_SAMPLES})",
    f"DELETE FROM assignments WHERE (set_id, sample) IN ({_SAMPLES})",
    f"DELETE FROM samples WHERE attempt_id IN ({_ATTEMPTS})",
    f"DELETE FROM verdicts WHERE attempt_id IN ({_ATTEMPTS})",
    f"DELETE FROM messages WHERE attempt_id IN ({_ATTEMPTS})",
    "DELETE FROM attempts WHERE administration_id = ?",
    "DELETE FROM rater_declarations WHERE administration_id = ?",
    "DELETE FROM recordings WHERE administration_id = ?",
    "DELETE FROM entries WHERE administration_id = ?",
    "DELETE FROM trials WHERE administration_id = ?",
    "DELETE FROM administrations WHERE id = ?",
)

_OWN = "administration_id = ?"
_OF_ATTEMPTS = f"attempt_id IN ({_ATTEMPTS})"
_Uses = tuple[tuple[str, str, str | None], ...]
_SHARED: dict[str, tuple[str, _Uses]] = {
    "texts": (
        "id",
        (
            ("trials", "prompt_id", _OWN),
            ("trials", "options_id", _OWN),
            ("attempts", "notes_id", _OWN),
            ("verdicts", "measures_id", _OF_ATTEMPTS),
            ("verdicts", "reasons", _OF_ATTEMPTS),
            ("messages", "text_id", _OF_ATTEMPTS),
            ("rater_declarations", "features_id", _OWN),
            ("rater_declarations", "caution_id", _OWN),
            ("rater_declarations", "prompt_id", _OWN),
            ("judgements", "prompt_id", _OF_ATTEMPTS),
            ("judgements", "raw_id", _OF_ATTEMPTS),
            ("judgements", "first_raw_id", _OF_ATTEMPTS),
            ("samples", "prompt_id", _OF_ATTEMPTS),
            ("sample_sets", "form_text_id", None),
            ("sample_sets", "guidelines_id", None),
            ("batteries", "canonical_id", None),
        ),
    ),
    "items": ("id", (("trials", "item_id", _OWN),)),
    # The spec of a rater may hold the path of a transcript, and so the speaker's ID or name.
    "raters": (
        "id",
        (
            ("verdicts", "rater_id", _OF_ATTEMPTS),
            ("judgements", "rater_id", _OF_ATTEMPTS),
            ("rater_declarations", "rater_id", _OWN),
            ("assignments", "rater_id", None),
            ("rater_links", "rater_id", None),
        ),
    ),
    "assets": (
        "sha256",
        (
            ("recordings", "sha256", _OWN),
            ("samples", "audio_sha256", _OF_ATTEMPTS),
            ("battery_assets", "sha256", None),
        ),
    ),
}
"""What administrations share: its table and key; and every table and column that refer to it, with
the condition by which its rows are an administration's."""


def counts(transaction: Transaction, speaker: str) -> dict[str, int]:
    """Return the number of rows of a speaker, by kind."""
    numbers = tuple(number for number, _ in guarded(transaction, speaker))

    def total(sql: str) -> int:
        return sum(int(transaction.value(sql, number)) for number in numbers)

    def of_speaker(table: str, also: str = "") -> int:
        sql = f"SELECT count(*) FROM {table} WHERE speaker = ?{also}"
        return int(transaction.value(sql, speaker))

    return {
        "administrations": len(numbers),
        "attempts": total("SELECT count(*) FROM attempts WHERE administration_id = ?"),
        "ratings": total(
            f"SELECT coalesce(sum(length(codes)), 0) FROM verdicts WHERE {_OF_ATTEMPTS}"
        ),
        "judgements": total(f"SELECT count(*) FROM judgements WHERE attempt_id IN ({_ATTEMPTS})"),
        "samples": total(f"SELECT count(*) FROM samples WHERE attempt_id IN ({_ATTEMPTS})"),
        "recordings": total("SELECT count(*) FROM recordings WHERE administration_id = ?"),
        "records": of_speaker("speakers"),
        "consents": of_speaker("consents"),
        "exports": of_speaker("access_log", f" AND ({_EXPORTS})"),
    }


_EXPORTS = (
    "act = 'exported' OR act = 'export-begun' AND NOT EXISTS (SELECT 1 FROM access_log l"
    " WHERE l.act = 'exported' AND l.id > access_log.id AND l.speaker = access_log.speaker"
    " AND l.administration = access_log.administration AND l.detail = access_log.detail)"
)
"""Exports that ended, and those that began only: their files may exist."""


def shared_recordings(transaction: Transaction, speaker: str) -> tuple[tuple[str, str], ...]:
    """Return the recordings of a speaker that an administration of another ID holds too."""
    numbers = {number for number, _ in guarded(transaction, speaker)}
    holders: dict[str, set[int]] = {}
    for sha256, number in transaction.rows("SELECT sha256, administration_id FROM recordings"):
        holders.setdefault(sha256, set()).add(int(number))
    shared = {
        (sha256, str(transaction.value("SELECT examinee FROM administrations WHERE id = ?", other)))
        for sha256, held in holders.items()
        if held & numbers
        for other in held - numbers
    }
    return tuple(sorted(shared))


def delete(
    transaction: Transaction,
    speaker: str,
    reason: Reason,
    who: str,
    *,
    held: tuple[int, ...],
    embedded: bool,
) -> Tombstone:
    """Delete every row of a speaker and write a tombstone."""
    numbers = tuple(number for number, _ in guarded(transaction, speaker))
    if numbers != held:
        raise StoreError(
            f"something was recorded of speaker {speaker} at this moment", hint="try again"
        )
    stone = Tombstone(speaker, now(), who, reason, counts(transaction, speaker), not embedded)
    find = "SELECT uid FROM administrations WHERE id = ?"
    uids = [transaction.value(find, number) for number in numbers]
    used = {table: _used(transaction, uses, numbers) for table, (_, uses) in _SHARED.items()}
    for number in numbers:
        for step in _STEPS:
            transaction.execute(step, number)
    for table, (key, uses) in _SHARED.items():
        used[table] -= _used(transaction, uses, None)
        rows = [(value,) for value in used[table]]
        transaction.many(f"DELETE FROM {table} WHERE {key} = ?", rows)
    for table in ("speakers", "consents"):
        transaction.execute(f"DELETE FROM {table} WHERE speaker = ?", speaker)
    # Who did what is kept; the details may identify the person.
    transaction.execute("UPDATE access_log SET detail = '' WHERE speaker = ?", speaker)
    insert_log(transaction, LogEntry("deleted", speaker, who=who, at=stone.deleted_at))
    left = {"files": sorted(map(str, used["assets"])), "takes": uids}
    row = {
        "speaker": speaker,
        "deleted_at": stone.deleted_at,
        "who": who,
        "reason": reason,
        "counts": to_json(stone.counts),
        "pending": to_json(left) if embedded else None,
    }
    transaction.insert("tombstones", row)
    return stone


def _used(transaction: Transaction, uses: _Uses, numbers: tuple[int, ...] | None) -> set[int | str]:
    """Return the ids that the rows of these administrations (all, where none given) refer to."""
    used: set[int | str] = set()
    for table, column, theirs in uses:
        select = f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"
        if numbers is None:
            found = [row[0] for row in transaction.rows(select)]
        elif theirs is not None:
            found = [
                row[0]
                for number in numbers
                for row in transaction.rows(f"{select} AND {theirs}", number)
            ]
        else:
            found = []
        if column == "reasons":
            found = [number for text in found for number in json.loads(text).values()]
        used.update(found)
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
