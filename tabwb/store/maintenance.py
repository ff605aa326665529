"""Looking after a store: what is in it, a backup of it, whether it is whole."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tabwb.battery.forms import form_from_canonical
from tabwb.records import files
from tabwb.records.errors import StoreError, TabwbError
from tabwb.records.files import WorkFolder, make_private_folder, open_private, sync_file
from tabwb.records.rating_sets import checked_set_name
from tabwb.records.ratings import PERSON
from tabwb.records.states import ResponseStatus, StopReason
from tabwb.store import blobs, people, read, schema, sets, takes, verdicts
from tabwb.store.database import EmbeddedDatabase, Transaction, explain
from tabwb.store.migrate import CURRENT
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
        files.sweep(takes.work_root_beside(database.path))
        return tuple(schema.remove_unnamed(database))
    finally:
        database.close()


def wrong_in_rows(transaction: Transaction) -> Iterator[Damage]:
    """Yield what is wrong in the rows of a store that SQLite can read."""
    if wrong := list(_types(transaction)):
        yield from wrong
        return  # the others take values for what they should be
    for look in (_references, _texts, _sequences, _verdicts, _sets, _unreadable):
        yield from look(transaction)


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


def _file(path: Path, digest: str, size: int) -> Iterator[Damage]:
    if not path.is_file():
        yield Damage(str(path), "the file is missing")
    elif not blobs.is_whole(path, digest):
        yield Damage(str(path), f"the file is not the one that was stored ({size} bytes)")


_TYPES = {
    **dict.fromkeys(("VARCHAR", "TEXT"), "'text'"),
    **dict.fromkeys(("INTEGER", "SMALLINT", "BIGINT", "BOOLEAN"), "'integer'"),
    "DOUBLE": "'real', 'integer'",
    "BLOB": "'blob'",
}
"""What SQLite, which does not enforce it, says of the values of a declared type."""
_JSON = {
    ("attempts", "metadata"): "object",
    ("recordings", "parameters"): "object",
    ("speakers", "record"): "object",
    ("sample_ratings", "answers"): "object",
    ("judgements", "verdict"): "array",
    ("verdicts", "numbers"): "object",
    ("verdicts", "reasons"): "object",
}
_NAMES = {
    ("attempts", "status"): ResponseStatus,
    ("attempts", "stop_reason"): StopReason,
    ("judgements", "stop_reason"): StopReason,
}


def _types(transaction: Transaction) -> Iterator[Damage]:
    """Yield each table and column with a value that is not of the declared type."""
    tables = transaction.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    for (table,) in tables:
        checks = {}
        for _, name, declared, *_ in transaction.rows(f"PRAGMA table_info({table})"):
            if types := _TYPES.get(declared.partition("(")[0]):
                checks[name] = f'"{name}" IS NOT NULL AND typeof("{name}") NOT IN ({types})'
            if kind := _JSON.get((table, name)):
                # Of text that is not JSON, json_type would be an error.
                given = f"CASE WHEN json_valid({name}) THEN json_type({name}) ELSE '' END"
                checks[name] += f" OR {name} IS NOT NULL AND {given} <> '{kind}'"
        if not checks:
            continue
        counted = ", ".join(f"total({check})" for check in checks.values())
        counts = transaction.first(f"SELECT {counted} FROM {table}") or ()
        for name, count in zip(checks, counts, strict=True):
            if count:
                yield Damage(table, f"{count:.0f} values of '{name}' are of a wrong type")


def _unreadable(transaction: Transaction) -> Iterator[Damage]:
    """Yield each table with a row that cannot be read, and why."""
    for (table, column), names in _NAMES.items():
        known = {name.value for name in names}
        for (value,) in transaction.rows(
            f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"
        ):
            if value not in known:
                yield Damage(table, f"{value!r:.40} is not a valid {column.replace('_', ' ')}")
    readers: dict[str, Callable[[Transaction], object]] = {
        "administrations": read.administrations,
        "tombstones": people.tombstones,
        "sample_sets": _named_sets,
    }
    for table, reader in readers.items():
        try:
            reader(transaction)
        except (KeyError, ValueError, TypeError, TabwbError) as error:
            yield Damage(table, f"a row cannot be read ({error!s:.80})")


def _named_sets(transaction: Transaction) -> None:
    for one in sets.read_sets(transaction):
        checked_set_name(one.name)


_OF_ANOTHER = (
    "SELECT r.set_id, r.id, e.id FROM sample_ratings r JOIN sample_ratings e ON e.id = r.replaces"
    " WHERE e.id >= r.id OR e.set_id <> r.set_id OR e.rater_id <> r.rater_id"
    " OR e.position <> r.position"
)
_COUNTED_ELSEWHERE = (
    "SELECT r.set_id, r.id, g.id FROM sample_ratings r JOIN verdicts g ON g.id = r.verdict_id"
    " JOIN assignments a ON a.set_id = r.set_id AND a.rater_id = r.rater_id"
    " AND a.position = r.position"
    " JOIN samples s ON s.set_id = a.set_id AND s.number = a.sample"
    " WHERE g.attempt_id <> s.attempt_id OR (g.rater_id <> r.rater_id AND"
    " (SELECT spec FROM raters WHERE id = g.rater_id)"
    f" <> '{PERSON}' || (SELECT spec FROM raters WHERE id = r.rater_id))"
)


def _sets(transaction: Transaction) -> Iterator[Damage]:
    """Yield what is wrong in rating sets."""

    def damage(number: int, what: str) -> Damage:
        return Damage(f"rating set {number}", what)

    for number, text in transaction.rows(
        "SELECT sample_sets.id, text FROM sample_sets JOIN texts ON texts.id = form_text_id"
    ):
        try:
            form_from_canonical(text)
        except TabwbError as error:
            yield damage(number, error.message)
    for number, row, other in transaction.rows(_OF_ANOTHER):
        yield damage(
            number, f"rating {row} replaces rating {other}, which is of another sample or later"
        )
    for number, row, other in transaction.rows(_COUNTED_ELSEWHERE):
        yield damage(number, f"rating {row} is counted as row {other} of another response or rater")
    for table, column in (
        ("sample_ratings", "answers"),
        ("adjudications", "answer"),
        ("samples", "consensus"),
    ):
        for number, text in transaction.each(
            f"SELECT set_id, {column} FROM {table} WHERE {column} IS NOT NULL"
        ):
            try:
                json.loads(text)
            except ValueError:
                yield damage(number, f"an answer in '{table}' cannot be read: {text[:40]!r}")
