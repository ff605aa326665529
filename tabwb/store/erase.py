"""Deleting a speaker: the one exception to a store that only grows (``docs/speakers.md``).

One transaction deletes every row and writes the tombstone. The remaining files on the disk (of
recordings, and pages that SQLite does not use any more) are named by the tombstone and removed by
:func:`finish`, at once or, after a crash, when the store is opened next.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.records import workfolder
from tabwb.records.errors import StoreError
from tabwb.records.speakers import LogEntry, Reason, Tombstone
from tabwb.store import blobs, people_rows, takes
from tabwb.store.database import Transaction
from tabwb.store.write import now, to_json

if TYPE_CHECKING:
    from tabwb.store.database import EmbeddedDatabase

_ATTEMPTS = "SELECT id FROM attempts WHERE administration_id = ?"
_SETS = f"SELECT id FROM rating_sets WHERE attempt_id IN ({_ATTEMPTS})"
_JUDGEMENTS = f"SELECT id FROM judgements WHERE attempt_id IN ({_ATTEMPTS})"

# Children before parents.
_STEPS = (
    f"UPDATE judgements SET same_as = NULL WHERE same_as IN ({_JUDGEMENTS})",
    f"DELETE FROM judgements WHERE attempt_id IN ({_ATTEMPTS})",
    f"DELETE FROM ratings WHERE set_id IN ({_SETS})",
    f"DELETE FROM rating_sets WHERE attempt_id IN ({_ATTEMPTS})",
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
            ("messages", "text_id", _OF_ATTEMPTS),
            ("rater_declarations", "features_id", _OWN),
            ("rater_declarations", "caution_id", _OWN),
            ("rater_declarations", "prompt_id", _OWN),
            ("judgements", "prompt_id", _OF_ATTEMPTS),
            ("judgements", "raw_id", _OF_ATTEMPTS),
            ("judgements", "first_raw_id", _OF_ATTEMPTS),
            ("batteries", "canonical_id", None),
        ),
    ),
    "reasons": ("id", (("ratings", "reason_id", f"set_id IN ({_SETS})"),)),
    # The spec of a rater may hold the path of a transcript, and so the speaker's ID or name.
    "raters": (
        "id",
        (
            ("rating_sets", "rater_id", _OF_ATTEMPTS),
            ("judgements", "rater_id", _OF_ATTEMPTS),
            ("rater_declarations", "rater_id", _OWN),
        ),
    ),
    "assets": (
        "sha256",
        (("recordings", "sha256", _OWN), ("battery_assets", "sha256", None)),
    ),
}
"""What administrations share: its table and key; and every table and column that refer to it, with
the condition by which its rows are an administration's."""


def counts(transaction: Transaction, speaker: str) -> dict[str, int]:
    """Return the number of rows of a speaker, by kind."""
    numbers = _numbers(transaction, speaker)

    def total(sql: str) -> int:
        return sum(int(transaction.value(sql, number)) for number in numbers)

    def of_speaker(table: str, also: str = "") -> int:
        sql = f"SELECT count(*) FROM {table} WHERE speaker = ?{also}"
        return int(transaction.value(sql, speaker))

    return {
        "administrations": len(numbers),
        "attempts": total("SELECT count(*) FROM attempts WHERE administration_id = ?"),
        "ratings": total(f"SELECT count(*) FROM ratings WHERE set_id IN ({_SETS})"),
        "judgements": total(f"SELECT count(*) FROM judgements WHERE attempt_id IN ({_ATTEMPTS})"),
        "recordings": total("SELECT count(*) FROM recordings WHERE administration_id = ?"),
        "records": of_speaker("speakers"),
        "consents": of_speaker("consents"),
        "exports": of_speaker("access_log", " AND act = 'exported'"),
    }


def shared_recordings(transaction: Transaction, speaker: str) -> tuple[tuple[str, str], ...]:
    """Return the recordings of a speaker that an administration of another ID holds too."""
    numbers = set(_numbers(transaction, speaker))
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
    """Delete every row of a speaker and write a tombstone.

    Args:
        transaction: its foreign keys may be checked at its end.
        speaker: study ID.
        reason: why.
        who: deletes.
        held: the administrations whose locks the caller holds.
        embedded: files lie beside the store, for :func:`finish` to remove.

    Raises:
        StoreError: an administration was begun meanwhile.
    """
    numbers = _numbers(transaction, speaker)
    if numbers != held:
        raise StoreError(
            f"something was recorded of speaker {speaker} at this moment", hint="try again"
        )
    stone = Tombstone(speaker, now(), who, reason, counts(transaction, speaker), not embedded)
    takes = [
        transaction.value("SELECT uid FROM administrations WHERE id = ?", number)
        for number in numbers
    ]
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
    people_rows.insert_log(transaction, LogEntry("deleted", speaker, who=who, at=stone.deleted_at))
    left = {"files": sorted(map(str, used["assets"])), "takes": takes}
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


def _numbers(transaction: Transaction, speaker: str) -> tuple[int, ...]:
    return tuple(number for number, _ in people_rows.guarded(transaction, speaker))


def _used(transaction: Transaction, uses: _Uses, numbers: tuple[int, ...] | None) -> set[int | str]:
    """Return the ids that the rows of these administrations (all, where none given) refer to."""
    used: set[int | str] = set()
    for table, column, theirs in uses:
        select = f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"
        if numbers is None:
            used |= {row[0] for row in transaction.rows(select)}
        elif theirs is not None:
            for number in numbers:
                rows = transaction.rows(f"{select} AND {theirs}", number)
                used |= {row[0] for row in rows}
    return used


def remove_takes(store: Path, administrations: Iterable[str]) -> None:
    """Remove recordings that were begun in administrations (their uids) and never kept.

    Copies that a transcriber was working on when its process died go too, whosever they are.
    """
    folder = store.with_name(f"{store.name}.takes")
    workfolder.sweep(takes.work_root_beside(store))
    workfolder.sweep(takes.user_work_root())
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
