"""Opening a store: made when new, upgraded when older, refused when newer or not ours."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from tabwb.records import workfolder
from tabwb.records.errors import StoreError
from tabwb.records.files import make_private_folder
from tabwb.store import blobs, takes
from tabwb.store.database import EmbeddedDatabase, Transaction
from tabwb.store.sqlite_errors import PATIENCE_S
from tabwb.store.write import STATUSES

REVISIONS = ("0001", "0002", "0003", "0004", "0005")
"""Every revision in order, oldest first, as in ``migrations/versions``."""
CURRENT = REVISIONS[-1]


def needs_upgrade(version: str | None, location: str) -> bool:
    """Return whether a store of this schema version is older than this program."""
    if version not in REVISIONS:
        raise StoreError(
            f"this store has schema '{version}', which this version of tabwb does not know",
            where=location,
            allowed=f"up to {CURRENT}",
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
            version = _make(database)
        if needs_upgrade(version, str(path)):
            from tabwb.store.migrate import upgrade_embedded

            database.close()
            upgrade_embedded(path)
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
    from tabwb.store.people_rows import finish

    # A failure here must not prevent the opening; the next one tries again.
    with suppress(StoreError):
        finish(database)


def _sweep(database: EmbeddedDatabase) -> None:
    """Remove leftovers of killed processes: files without a row, and work folders."""
    if database.only_read:
        return
    workfolder.sweep(takes.work_root_beside(database.path))
    workfolder.sweep(takes.user_work_root())
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


def version_of(transaction: Transaction, location: str) -> str | None:
    """Return the schema version; None when there is no table at all.

    Args:
        transaction: to read in.
        location: place of the store, for the message.

    Raises:
        StoreError: the tables are those of another program.
    """
    tables = {row[0] for row in transaction.rows("SELECT name FROM sqlite_master")}
    if not tables:
        return None
    if not {"alembic_version", "administrations"} <= tables:
        raise StoreError(
            "this SQLite file belongs to another program",
            where=location,
            hint="name another file with --store",
        )
    version = transaction.value("SELECT version_num FROM alembic_version")
    return "none" if version is None else str(version)


def _make(database: EmbeddedDatabase) -> str:
    """Make the tables of a new SQLite store, with their fixed rows, and return their version."""
    schema = files("tabwb.store").joinpath("schema.sql").read_text(encoding="utf-8")
    with database.writing() as transaction:
        # Another process may have made the tables while this one waited.
        version = version_of(transaction, database.location)
        if version is not None:
            return version
        for statement in filter(str.strip, schema.split(";\n")):
            transaction.execute(statement)
        transaction.many(
            "INSERT INTO rating_statuses (id, name) VALUES (?, ?)",
            [(number, status.value) for number, status in enumerate(STATUSES)],
        )
        transaction.execute("INSERT INTO alembic_version (version_num) VALUES (?)", CURRENT)
    return CURRENT
