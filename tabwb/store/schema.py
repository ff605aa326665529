"""Opening a store: made when new, upgraded when older, refused when newer or not ours."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from tabwb.records import files
from tabwb.records.errors import HeldElsewhere, StoreError
from tabwb.records.files import make_private_folder
from tabwb.store import blobs, takes
from tabwb.store.database import PATIENCE_S, EmbeddedDatabase, Transaction, read_only
from tabwb.store.migrate import CURRENT, copy_of, make, not_upgraded, upgrade_embedded


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


def version_of(transaction: Transaction, location: str) -> int | None:
    """Return the schema version; None when there is no table at all."""
    tables = {row[0] for row in transaction.rows("SELECT name FROM sqlite_master")}
    if not tables:
        return None
    version = int(transaction.value("PRAGMA user_version"))
    if "administrations" in tables and version:
        return version
    if not {"alembic_version", "administrations"} <= tables:
        raise StoreError(
            "this SQLite file belongs to another program",
            where=location,
            hint="name another file with --store",
        )
    return named_version(transaction)


def named_version(transaction: Transaction) -> int:
    """Return the version of a store that was made before version 6."""
    named = str(transaction.value("SELECT version_num FROM alembic_version"))
    return int(named) if named.isdecimal() else 0


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
