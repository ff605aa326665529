"""Looking after a store: what is in it, a backup of it, whether it is whole."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tabwb.records import workfolder
from tabwb.records.errors import StoreError
from tabwb.records.files import make_private_folder, open_private, sync_file
from tabwb.records.workfolder import WorkFolder
from tabwb.store import blobs, schema, takes, verdicts
from tabwb.store.database import EmbeddedDatabase, Transaction
from tabwb.store.migrate import CURRENT
from tabwb.store.row_check import unreadable, wrong_types
from tabwb.store.set_check import wrong_in_sets
from tabwb.store.sqlite_errors import explain
from tabwb.store.store import Store

COUNTED = {
    "administrations": "administrations",
    "batteries": "batteries",
    "trials": "trials",
    "attempts": "attempts",
    "recordings": "recordings",
    "rating-sets": "sample_sets",
    "samples": "samples",
    "sample-ratings": "sample_ratings",
    "files": "assets",
}
"""What ``info`` counts: name for people to table."""


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What is in a store: ``sqlite`` or ``postgresql``.

    ``location`` has no password. Sizes are bytes: of the rows' file with its log, or of the
    database, and of the batteries' files.
    """

    location: str
    kind: str
    size: int
    blobs_size: int
    schema: str
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with a store, and where: a file, a table or an administration."""

    where: str
    what: str


def info(store: Store) -> StoreInfo:
    """Return what is in an open store."""
    path = store.embedded
    with store.database.reading() as transaction:
        counts = {
            name: int(transaction.value(f"SELECT count(*) FROM {table}"))
            for name, table in COUNTED.items()
        }
        counts["ratings"] = int(
            transaction.value("SELECT coalesce(sum(length(codes)), 0) FROM verdicts")
        )
        blobs_size = int(transaction.value("SELECT coalesce(sum(size), 0) FROM assets"))
        if path is None:
            kind = "postgresql"
            size = int(transaction.value("SELECT pg_database_size(current_database())"))
        else:
            kind = "sqlite"
            rows = path, path.with_name(f"{path.name}-wal")
            size = sum(file.stat().st_size for file in rows if file.exists())
    return StoreInfo(store.location, kind, size, blobs_size, f"{CURRENT:04}", counts)


def backup(store: Store, out: Path) -> None:
    """Copy an embedded store with its files while it may be in use, and check the copy.

    The copy is one state of the store, whatever is written meanwhile. It is written under another
    name and gets its own only when it is whole.
    """
    path = store.embedded
    if path is None:
        raise StoreError(
            "a store on a server is backed up with the server's own means",
            where=store.location,
            hint="for example pg_dump",
        )
    out = out.absolute()
    _refuse_existing(out, blobs.folder_of(out))
    work: WorkFolder | None = None
    try:
        make_private_folder(out.parent)
        work = WorkFolder(takes.user_work_root())
        draft = work.draft(out)
        assert isinstance(store.database, EmbeddedDatabase)
        os.close(open_private(draft, os.O_CREAT | os.O_RDWR))
        with store.database.explained(), closing(sqlite3.connect(draft)) as copy:
            store.database.connection().backup(copy)
            # A copy is one file: without the log that the original has beside it.
            copy.execute("PRAGMA journal_mode = DELETE")
        with closing(sqlite3.connect(draft)) as copy:
            digests = [row[0] for row in copy.execute("SELECT sha256 FROM assets")]
        for digest in digests:
            source = blobs.path_of(blobs.folder_of(path), digest)
            with source.open("rb") as file:
                blobs.copy_into(blobs.folder_of(draft), file)
        damage = check(draft)
        if damage:
            raise StoreError(
                f"the copy is damaged: {damage[0].where}: {damage[0].what}",
                where=str(path),
                hint="'tabwb store check' lists what is wrong with the store",
            )
        sync_file(draft)
        if digests:
            work.moving(blobs.folder_of(draft), blobs.folder_of(out), unless=out)
        _name(draft, out)
    except FileExistsError:
        _refuse_existing(out)
        raise
    except sqlite3.Error as error:
        raise explain(error, str(out)) from error
    except OSError as error:
        raise StoreError(
            f"the backup cannot be written: {error.strerror}",
            where=str(error.filename or out),
            hint="the store is unchanged",
        ) from error
    finally:
        if work is not None:
            work.close()


def _name(draft: Path, out: Path) -> None:
    try:
        # Unlike a rename, a link never replaces what somebody else put there meanwhile.
        os.link(draft, out)
    except FileExistsError:
        raise
    except OSError:
        # Memory sticks have no links.
        _refuse_existing(out)
        draft.rename(out)


def _refuse_existing(*paths: Path) -> None:
    for path in paths:
        if path.exists():
            raise StoreError(
                "this file exists already; a backup never overwrites",
                where=str(path),
                hint="name another file",
            )


def check(path: Path) -> tuple[Damage, ...]:
    """Return everything that is wrong with an embedded store; empty when it is whole.

    Looks at SQLite's own structure, at the types of values, at rows without what they refer to, at
    the hashes of texts (prompts, batteries, reasons) and of files, at gaps in the sequences of
    administrations, and at the ratings of rating sets. Changes nothing.
    """
    if not path.is_file():
        raise StoreError("there is no store here", where=str(path))
    folder = blobs.folder_of(path)
    database = EmbeddedDatabase(path.absolute())
    damages: list[Damage] = []
    try:
        with database.reading() as transaction:
            damages += _structure(transaction)
            if damages:
                # What SQLite itself cannot read is not worth reading further.
                return tuple(damages)
            version = schema.version_of(transaction, str(path))
            if version is None:
                raise StoreError(
                    "nothing has been stored here yet: the tables of this store were not made",
                    where=str(path),
                    hint="'tabwb run' makes them; a file without tables holds nothing to lose",
                )
            if schema.needs_upgrade(version, str(path)):
                # Its columns are those of its time: only what is true of every version is checked.
                return tuple(_foreign_keys(transaction))
            damages += wrong_in_rows(transaction)
            for digest, size in transaction.rows("SELECT sha256, size FROM assets"):
                damages += _file(blobs.path_of(folder, digest), digest, size)
    except StoreError as error:
        if not isinstance(error.__cause__, sqlite3.DatabaseError) or isinstance(
            error.__cause__, sqlite3.OperationalError
        ):
            raise
        damages.append(Damage(str(path), error.message))
    finally:
        database.close()
    return tuple(damages)


def remove_unnamed(path: Path) -> tuple[Path, ...]:
    """Remove files beside an embedded store that no row names; what was removed.

    Processes that were killed while they kept a recording left them. A process that is keeping
    one now is not disturbed. Of a store that can only be read nothing is removed.
    """
    database = EmbeddedDatabase(path.absolute())
    try:
        with database.explained():
            database.connection()
        if database.only_read:
            return ()
        with database.reading() as transaction:
            version = schema.version_of(transaction, database.location)
        if version is None or schema.needs_upgrade(version, database.location):
            return ()
        workfolder.sweep(takes.work_root_beside(database.path))
        return tuple(schema.remove_unnamed(database))
    finally:
        database.close()


def wrong_in_rows(transaction: Transaction) -> Iterator[Damage]:
    """Yield what is wrong in the rows of a store that SQLite can read."""
    if wrong := [Damage(*where) for where in wrong_types(transaction)]:
        yield from wrong
        return  # the others take values for what they should be
    for look in (_references, _texts, _sequences, _verdicts, _sets):
        yield from look(transaction)
    yield from (Damage(*where) for where in unreadable(transaction))


def _structure(transaction: Transaction) -> Iterator[Damage]:
    for (message,) in transaction.rows("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield Damage("file", " ".join(str(message).split()))


def _foreign_keys(transaction: Transaction) -> Iterator[Damage]:
    for table, row, parent, _ in transaction.rows("PRAGMA foreign_key_check"):
        where = "a row" if row is None else f"row {row}"
        yield Damage(table, f"{where} refers to a row of '{parent}' that is not there")


def _references(transaction: Transaction) -> Iterator[Damage]:
    yield from _foreign_keys(transaction)
    for number, sequence in transaction.rows(
        "SELECT entries.administration_id, entries.sequence FROM entries LEFT JOIN attempts"
        " ON attempts.administration_id = entries.administration_id"
        " AND attempts.sequence = entries.sequence AND attempts.trial = entries.trial"
        " WHERE kind LIKE 'attempt-%' AND attempts.id IS NULL"
    ):
        yield Damage(f"administration {number}", f"step {sequence} has lost its attempt")


def _texts(transaction: Transaction) -> Iterator[Damage]:
    for number, digest, text in transaction.each("SELECT id, sha256, text FROM texts"):
        if sha256(text.encode()).digest() != digest:
            yield Damage("texts", f"text {number} is not the one that was stored")


def _sequences(transaction: Transaction) -> Iterator[Damage]:
    for number, count, last in transaction.rows(
        "SELECT administration_id, count(*), max(sequence) FROM entries GROUP BY 1"
        " HAVING count(*) <> max(sequence)"
    ):
        yield Damage(f"administration {number}", f"{last - count} of {last} steps are missing")


def _verdicts(transaction: Transaction) -> Iterator[Damage]:
    for number, what in verdicts.wrong(transaction):
        yield Damage("verdicts", f"verdict {number} {what}")


def _sets(transaction: Transaction) -> Iterator[Damage]:
    for number, what in wrong_in_sets(transaction):
        yield Damage(f"rating set {number}", what)


def _file(path: Path, digest: str, size: int) -> Iterator[Damage]:
    if not path.is_file():
        yield Damage(str(path), "the file is missing")
    elif not blobs.is_whole(path, digest):
        yield Damage(str(path), f"the file is not the one that was stored ({size} bytes)")
