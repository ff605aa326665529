"""The tables of a store: made new, upgraded, refused when newer or not ours.

``schema.sql`` makes them as they are now; ``migrations/NNNN.sql`` make version NNNN of the one
before, with a step in Python where rows are computed. Both are written for SQLite;
:func:`statements` gives them for PostgreSQL too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from hashlib import sha256
from importlib import resources
from pathlib import Path

from tabwb.records import files
from tabwb.records.errors import HeldElsewhere, StoreError
from tabwb.records.files import make_private_folder, open_private, sync_file
from tabwb.store import blobs, facts, takes, verdicts
from tabwb.store.database import (
    PATIENCE_S,
    EmbeddedDatabase,
    Transaction,
    lock_file,
    read_only,
    to_json,
    version_of,
)

CURRENT = 8
"""The version of the tables that this program reads and writes."""
LAST_NAMED = 5
"""The last version that stood in the table of another library, ``alembic_version``."""
_SPACE = 3
"""What an upgrade needs beside a store, in sizes of the store: its copy, and the log."""
_ONLY = re.compile(r"-- only (sqlite|postgresql)\n")
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
_SERVER = (
    (re.compile(r"^\tid INTEGER NOT NULL", re.MULTILINE), "\tid SERIAL NOT NULL"),
    (re.compile(r" AUTOINCREMENT| WITHOUT ROWID"), ""),
    (re.compile(r"\bBLOB\b"), "BYTEA"),
    (re.compile(r"X'(\w*)'"), r"'\\x\1'"),
    (re.compile(r"\bDOUBLE\b"), "DOUBLE PRECISION"),
)
"""What PostgreSQL calls otherwise."""


def statements(name: str, *, server: bool) -> Iterator[str]:
    """Yield the statements of a file of SQL beside this one.

    A statement after a line ``-- only sqlite`` or ``-- only postgresql`` is for that database.
    """
    text = resources.files("tabwb.store").joinpath(name).read_text(encoding="utf-8")
    for statement in text.split(";\n"):
        only = _ONLY.search(statement)
        if not statement.strip() or (only and (only[1] == "postgresql") is not server):
            continue
        plain = _COMMENT.sub("", statement).strip()
        for pattern, replacement in _SERVER if server else ():
            plain = pattern.sub(replacement, plain)
        yield plain


def make(transaction: Transaction) -> None:
    """Make the tables of a new store."""
    _run(transaction, "schema.sql")
    _run(transaction, "views.sql")
    _write_version(transaction, CURRENT)


def _run(transaction: Transaction, name: str) -> None:
    for statement in statements(name, server=transaction.server):
        transaction.execute(statement)


def migrate(transaction: Transaction, version: int, to: int = CURRENT) -> None:
    """Bring the tables of an earlier version to a later one."""
    for number in range(version + 1, to + 1):
        _run(transaction, f"migrations/{number:04}.sql")
        if number in STEPS:
            STEPS[number](transaction)
    if to == CURRENT:
        _run(transaction, "views.sql")
    if to > LAST_NAMED:
        _write_version(transaction, to)


def _write_version(transaction: Transaction, version: int) -> None:
    if not transaction.server:
        transaction.execute(f"PRAGMA user_version = {version}")
        return
    transaction.execute("DELETE FROM schema_version")
    transaction.execute("INSERT INTO schema_version (version) VALUES (?)", version)


def copy_of(path: Path) -> Path:
    """Return where the copy of an older store lies until the upgraded one has been checked."""
    return path.with_name(f"{path.name}.before-{CURRENT:04}")


def upgrade_embedded(database: EmbeddedDatabase, version_of: Callable[[Transaction], int]) -> None:
    """Upgrade an SQLite store, or complete an upgrade that was killed.

    The file is copied first. The tables change in one transaction, which a killed process leaves
    undone. The copy goes when the upgraded store is found to be whole.
    """
    path = database.path
    with database.explained(), lock_file(path, "upgrade", "the store is being upgraded"):
        with database.reading() as transaction:
            version = version_of(transaction)
        if version < CURRENT:
            try:
                with database.explained():
                    _copy(path, copy_of(path))
                    _change(database, version_of)
            except StoreError as error:
                with database.reading() as transaction:
                    if version_of(transaction) == version:
                        copy_of(path).unlink(missing_ok=True)
                raise not_upgraded(error, path) from error
        _check(database)
        _remove_columns(database)
        copy_of(path).unlink(missing_ok=True)


def not_upgraded(error: StoreError, path: Path) -> StoreError:
    """Return why an older store was not upgraded, and what an upgrade needs."""
    megabytes = max(1, round(_SPACE * path.stat().st_size / 1e6))
    return StoreError(
        f"the store was made by an older tabwb and could not be upgraded: {error.message}",
        where=str(path),
        hint=f"the store is as it was; an upgrade writes to it and needs about {megabytes:,} MB of "
        "free space beside it. Or name a copy of it with --store",
    )


def _remove_columns(database: EmbeddedDatabase) -> None:
    """Remove copies of responses that earlier versions kept beside a store, under any name."""
    with database.reading() as transaction:
        uids = {uid for (uid,) in transaction.rows("SELECT uid FROM administrations")}
    for named in database.path.resolve().parent.glob("*.columns/administrations"):
        if not uids.isdisjoint(named.read_text(encoding="utf-8").split()):
            shutil.rmtree(named.parent)


def _copy(path: Path, copy: Path) -> None:
    part = copy.with_name(f"{copy.name}.part")
    try:
        os.close(open_private(part, os.O_CREAT | os.O_RDWR | os.O_TRUNC))
        with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(part)) as new:
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")
        sync_file(part)
        part.replace(copy)
    except OSError as error:
        raise StoreError(
            f"the store cannot be copied before it is upgraded: {error.strerror}",
            where=str(copy),
            hint="the store is unchanged; free some space or allow writing there",
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _change(database: EmbeddedDatabase, version_of: Callable[[Transaction], int]) -> None:
    with database.rewriting() as transaction:
        version = version_of(transaction)
        if version < CURRENT:
            migrate(transaction, version)


def _check(database: EmbeddedDatabase) -> None:
    with database.reading() as transaction:
        found = transaction.value("PRAGMA quick_check(1)")
    if found != "ok":
        raise StoreError(
            f"the upgraded store is damaged: {' '.join(str(found).split())}",
            where=database.location,
            hint=f"the store as it was before is in {copy_of(database.path)}; please report this",
        )
    with suppress(StoreError):  # the space of the old tables; the next deletion frees it too
        database.scrub()


RATER = "rules-1"
FEATURES = (
    "retracing", "abandoned-utterances", "perseverations", "neologisms", "jargon",
    "short-and-simplified-utterances", "false-starts",
)  # fmt: skip
CAUTION = "a text rule; not compared with expert raters"


def _declare_rules(transaction: Transaction) -> None:
    """Add what the one judge of stores before version 3 would have declared of itself."""
    rater = transaction.value("SELECT id FROM raters WHERE spec = ?", RATER)
    if rater is None:
        return
    features, caution = (
        _text(transaction, text) for text in (json.dumps(FEATURES, separators=(",", ":")), CAUTION)
    )
    rated = transaction.rows(
        "SELECT DISTINCT administration_id FROM rating_sets JOIN attempts ON attempts.id ="
        " attempt_id WHERE rater_id = ? ORDER BY 1",
        rater,
    )
    moment = datetime.now(UTC).isoformat(timespec="milliseconds")
    transaction.many(
        "INSERT INTO rater_declarations (administration_id, rater_id, kind, scope, features_id,"
        " caution_id, recorded_at) VALUES (?, ?, 'judge', 'connected-text', ?, ?, ?)",
        [(number, rater, features, caution, moment) for (number,) in rated],
    )


def _text(transaction: Transaction, text: str) -> int:
    digest = sha256(text.encode()).digest()
    transaction.insert("texts", {"sha256": digest, "text": text}, "ON CONFLICT DO NOTHING")
    return int(transaction.value("SELECT id FROM texts WHERE sha256 = ?", digest))


def _pack(transaction: Transaction) -> None:
    """Write the rows of version 7 from those of version 6."""
    _pack_trials(transaction)
    _pack_attempts(transaction)
    _pack_verdicts(transaction)


def _pack_trials(transaction: Transaction) -> None:
    transaction.execute(
        "INSERT INTO items (subtest, item) SELECT DISTINCT subtest, item FROM trials ORDER BY 1, 2"
    )
    rows = transaction.rows("SELECT subtest, item, id FROM items")
    items = {(subtest, item): number for subtest, item, number in rows}
    options = {
        text: _text(transaction, text)
        for (text,) in transaction.rows("SELECT DISTINCT options FROM trials ORDER BY 1")
    }
    for (administration,) in transaction.rows("SELECT id FROM administrations"):
        trials = transaction.rows(
            "SELECT subtest, item, options, administration_id, number FROM trials"
            " WHERE administration_id = ?",
            administration,
        )
        transaction.many(
            "UPDATE trials SET item_id = ?, options_id = ?"
            " WHERE administration_id = ? AND number = ?",
            [(items[subtest, item], options[shown], *key) for subtest, item, shown, *key in trials],
        )


def _pack_attempts(transaction: Transaction) -> None:
    notes: dict[str, int | None] = {"": None}
    assigned = ", ".join(f"{name} = ?" for name in (*facts.COLUMNS, "notes_id"))
    for made in facts.recorded(transaction):
        for left in dict.fromkeys(left for *_, left in made):
            if left not in notes:
                notes[left] = _text(transaction, left)
        rows = [(*values, notes[left], number) for number, values, left in made]
        transaction.many(f"UPDATE attempts SET {assigned} WHERE id = ?", rows)


_GIVEN = (
    f"r.measure_id * 8 + CASE WHEN r.status_id > 0 THEN r.status_id + 1 WHEN r.value = 0 THEN 0"
    f" WHEN r.value = 1 THEN 1 ELSE {verdicts.OTHER} END"
)
"""SQL: measure and code of a rating in one integer."""


def _pack_verdicts(transaction: Transaction) -> None:
    names = dict(transaction.rows("SELECT id, name FROM measures"))
    shared = {
        number: _text(transaction, text)
        for number, text in transaction.rows("SELECT id, text FROM reasons ORDER BY id")
    }
    known: dict[tuple[int, ...], int] = {}
    n = 0

    def list_of(measures: tuple[int, ...]) -> int:
        if measures not in known:
            known[measures] = _text(transaction, to_json([names[one] for one in measures]))
        return known[measures]

    for limits in verdicts.ranges(transaction, "verdicts"):
        given = {
            number: sorted(map(int, joined.split(",")))
            for number, joined in transaction.rows(
                f"SELECT r.set_id, {transaction.joined(_GIVEN)} FROM ratings r"
                " WHERE r.set_id BETWEEN ? AND ? GROUP BY r.set_id",
                *limits,
            )
        }
        n += sum(map(len, given.values()))
        others: dict[int, dict[int, float]] = {}
        reasons: dict[int, dict[int, int]] = {}
        for number, measure, value, reason in transaction.rows(
            "SELECT set_id, measure_id, value, reason_id FROM ratings WHERE set_id BETWEEN ? AND ?"
            " AND (reason_id IS NOT NULL OR value NOT IN (0, 1)) ORDER BY set_id, measure_id",
            *limits,
        ):
            if value not in (None, 0, 1):
                others.setdefault(number, {})[measure] = value
            if reason is not None:
                reasons.setdefault(number, {})[measure] = shared[reason]
        made = []
        for (number,) in transaction.rows(
            "SELECT id FROM verdicts WHERE id BETWEEN ? AND ?", *limits
        ):
            packed = given.get(number, [])
            measures = tuple(one >> 3 for one in packed)
            written = (
                verdicts.written({measures.index(one): value for one, value in found.items()})
                for found in (others.get(number, {}), reasons.get(number, {}))
            )
            codes = bytes(one & 7 for one in packed)
            made.append((list_of(measures), codes, *written, number))
        transaction.many(
            "UPDATE verdicts SET measures_id = ?, codes = ?, numbers = ?, reasons = ? WHERE id = ?",
            made,
        )
    if n != transaction.value("SELECT count(*) FROM ratings"):
        raise StoreError("ratings without a rater's set cannot be upgraded")


STEPS: dict[int, Callable[[Transaction], None]] = {3: _declare_rules, 7: _pack}
"""What is done in Python after the SQL of a version."""


def needs_upgrade(version: int, location: str) -> bool:
    """Return whether a store of this schema version is older than this program."""
    if not 0 < version <= CURRENT:
        raise StoreError(
            f"this store has schema '{version:04}', which this version of tabwb does not know",
            where=location,
            allowed=f"up to {CURRENT:04}",
            hint="it was made by a newer tabwb: upgrade this one",
        )
    return version != CURRENT


def open_embedded(path: Path, *, create: bool, patience_s: float = PATIENCE_S) -> EmbeddedDatabase:
    """Return the SQLite store at ``path``."""
    path = path.absolute()
    _prepare(path, create=create)
    database = EmbeddedDatabase(path, patience_s=patience_s)
    try:
        with database.explained():
            database.connection()
        with database.reading() as transaction:
            version = version_of(transaction, str(path))
        if version is None:
            _make(database)
        elif needs_upgrade(version, str(path)):
            _upgrade(database, patience_s)
        elif copy_of(path).exists() and not database.only_read:
            with suppress(HeldElsewhere):  # another process is completing the upgrade
                _upgrade(database, 0)
        _finish_deletions(database)
        _sweep(database)
    except BaseException:
        database.close()
        raise
    return database


def _prepare(path: Path, *, create: bool) -> None:
    try:
        if path.is_dir():
            raise StoreError(
                "this is a folder", where=str(path), allowed="a file, for example tabwb.db in it"
            )
        if path.exists() and not path.is_file():
            raise StoreError("this is a device or a pipe", where=str(path), allowed="a file")
        if path.exists():
            return
        if not create:
            raise StoreError(
                "there is no store here yet", where=str(path), hint="'tabwb run' makes one"
            )
        # Private, unless the folder was made to be shared.
        make_private_folder(path.parent)
        # SQLite gives the files that it keeps beside this one the same permissions.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(
            f"no store can be made or reached here: {error.strerror}",
            where=str(path),
            hint="allow writing there, or name another place with --store",
        ) from error


def _finish_deletions(database: EmbeddedDatabase) -> None:
    with database.reading() as transaction:
        # Every opening passes here: the table is small, and mostly empty.
        if not transaction.value("SELECT 1 FROM tombstones WHERE pending IS NOT NULL LIMIT 1"):
            return
    if database.only_read:
        return
    from tabwb.store.people import finish

    # A failure here must not prevent the opening; the next one tries again.
    with suppress(StoreError):
        finish(database)


def _sweep(database: EmbeddedDatabase) -> None:
    """Remove leftovers of killed processes: files without a row, and work folders."""
    if database.only_read:
        return
    files.sweep(takes.work_root_beside(database.path))
    files.sweep(takes.user_work_root())
    if not blobs.needs_sweep(blobs.folder_of(database.path)):
        return
    # A failure here must not prevent the opening; the next one tries again.
    with suppress(StoreError):
        remove_unnamed(database)


def remove_unnamed(database: EmbeddedDatabase) -> list[Path]:
    """Remove the files beside a store that no row names; return their paths."""
    with database.writing() as transaction:
        known = {row[0] for row in transaction.rows("SELECT sha256 FROM assets")}
        return blobs.sweep(blobs.folder_of(database.path), known)


def _make(database: EmbeddedDatabase) -> None:
    with database.writing() as transaction:
        # Another process may have made the tables while this one waited.
        if version_of(transaction, database.location) is None:
            make(transaction)


def _upgrade(database: EmbeddedDatabase, patience_s: float) -> None:
    """Upgrade a store; wait as long for another process that does so."""
    until = time.monotonic() + patience_s
    if database.only_read:
        raise not_upgraded(read_only(database.location), database.path)
    while True:
        try:
            upgrade_embedded(database, lambda rows: version_of(rows, database.location) or 0)
        except HeldElsewhere:
            if time.monotonic() >= until:
                raise
            time.sleep(0.05)
        else:
            return
