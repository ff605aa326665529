"""Transactions, the embedded database (one SQLite file), locks, and keys of what rows share.

Plain SQL with ``?`` for a parameter.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.records.errors import HeldElsewhere, StoreError
from tabwb.records.files import make_private_folder

if TYPE_CHECKING:
    from filelock import BaseFileLock

PATIENCE_S = 5.0
"""How long to wait for another program that writes."""
SAFE = "what was recorded before is safe; this step was not recorded"


def name_of(error: sqlite3.Error) -> str:
    """Return the name of an error, such as ``SQLITE_FULL``; empty where it has none."""
    return getattr(error, "sqlite_errorname", "") or ""


_ERRORS = (
    ("SQLITE_FULL", "the disk is full", f"{SAFE}: free some space, then resume"),
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "the store is locked: another program has been writing for {patience_s:g} s",
        f"{SAFE}: wait for that program or close it, then try again",
    ),
    (
        "SQLITE_NOTADB",
        "this is not a tabwb store: it is not an SQLite file, or its beginning is damaged",
        "name another file with --store, or restore a backup",
    ),
    (
        "SQLITE_CANTOPEN",
        "the store cannot be opened: no permission, or its folder cannot be written",
        "SQLite keeps two files beside it while it is open; name a place of your own with --store",
    ),
    (
        "SQLITE_IOERR",
        "the disk failed or refused to write ({name})",
        f"{SAFE}: look for a full disk, a quota or a file size limit",
    ),
)
"""Beginning of the name of an error of SQLite, message and hint."""


def damaged(what: str, where: str) -> StoreError:
    """Return the error for a file that is not as SQLite wrote it."""
    return StoreError(
        f"the store is damaged ({what})",
        where=where,
        hint="'tabwb store check' says where; restore a backup, and keep the damaged file",
    )


def read_only(where: str) -> StoreError:
    """Return the error for a store that may only be read."""
    return StoreError(
        "the store cannot be written: its file or its folder is read-only",
        where=where,
        hint="allow writing there, or name another place with --store",
    )


def explain(error: sqlite3.Error, where: str, patience_s: float = PATIENCE_S) -> StoreError:
    """Return what an error of SQLite means to a person, and what to do about it."""
    name = name_of(error)
    if name.startswith("SQLITE_READONLY"):
        return read_only(where)
    if name.startswith("SQLITE_CORRUPT"):
        return damaged(str(error), where)
    for beginning, message, hint in _ERRORS:
        if name.startswith(beginning):
            text = message.format(name=name, patience_s=patience_s)
            return StoreError(text, where=where, hint=hint)
    return StoreError(f"the store failed: {error}", where=where, hint=SAFE)


Row = Sequence[Any]
LOCKED, UNCHANGING = "mode=ro", "immutable=1"
"""Ways to read a file; the first may make files beside it."""


class Conflict(StoreError):
    """A row violates a unique or foreign key, or a check."""


class Transaction:
    """One open transaction."""

    def __init__(self, cursor: Any, mark: str = "?") -> None:
        self._cursor = cursor
        self._mark = mark
        self.server = mark != "?"
        self._joined = "string_agg(({})::text, ',')" if self.server else "group_concat({})"

    def rows(self, sql: str, *parameters: object) -> list[Any]:
        """Return all rows of a query."""
        self.execute(sql, *parameters)
        return list(self._cursor.fetchall())

    def selected(self, sql: str, limits: Mapping[str, object], tail: str = "") -> list[Any]:
        """Return the rows of a query whose columns have these values; None is any value."""
        given = {column: value for column, value in limits.items() if value is not None}
        where = f" WHERE {' AND '.join(f'{column} = ?' for column in given)}" if given else ""
        return self.rows(f"{sql}{where} {tail}", *given.values())

    def each(self, sql: str, *parameters: object) -> Iterator[Any]:
        """Yield the rows of a query one by one; no other statement may run meanwhile."""
        self.execute(sql, *parameters)
        return iter(self._cursor)

    def joined(self, *columns: str) -> str:
        """Return SQL that joins columns of integers of a group, with commas, in one order.

        Rows of as many integers take twice as long to read.
        """
        return ", ".join(map(self._joined.format, columns))

    def joined_bytes(self, column: str) -> str:
        """Return SQL that joins a column of bytes as :meth:`joined` does, in hex without commas."""
        if self.server:
            return f"string_agg(encode({column}, 'hex'), '')"
        return f"group_concat(hex({column}), '')"

    def first(self, sql: str, *parameters: object) -> Any | None:
        """Return the first row of a query, or None."""
        self.execute(sql, *parameters)
        return self._cursor.fetchone()

    def value(self, sql: str, *parameters: object) -> Any:
        """Return the first column of the first row, or None."""
        row = self.first(sql, *parameters)
        return None if row is None else row[0]

    def execute(self, sql: str, *parameters: object) -> None:
        """Run one statement."""
        self._cursor.execute(self._written(sql), parameters)

    def insert(self, table: str, row: Mapping[str, object], tail: str = "") -> Any:
        """Insert a row, a value for each column; ``tail`` ends the statement."""
        marks = ", ".join("?" * len(row))
        self.execute(
            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks}) {tail}", *row.values()
        )
        returned = self._cursor.fetchone() if "RETURNING" in tail else None
        return None if returned is None else returned[0]

    def many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run one statement for each row of parameters."""
        if rows:
            self._cursor.executemany(self._written(sql), rows)

    def _written(self, sql: str) -> str:
        return sql if self._mark == "?" else sql.replace("?", self._mark)


class EmbeddedDatabase:
    """One SQLite file in WAL mode. Each thread has its own connection; a fork makes new ones.

    A file that cannot be written (a colleague's, an archive's, one on a read-only disk) is opened
    for reading; what would write to it is refused.

    Every failure is a :class:`StoreError`.
    """

    def __init__(self, path: Path, *, patience_s: float = PATIENCE_S) -> None:
        self.path = path
        self.location = str(path)
        self._patience_s = patience_s
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._file: tuple[int, int] | None = None
        self.only_read = False

    def lock(self, administration_id: int) -> AbstractContextManager[None]:
        """Hold an administration for this process; the lock is freed when the process ends."""
        what = open_administration(administration_id)
        return lock_file(self.path, str(administration_id), what)

    def lock_rater(self, set_id: int, rater_id: int, what: str) -> AbstractContextManager[None]:
        """Hold one rater's work on one rating set for this process."""
        return lock_file(self.path, f"set-{set_id}-{rater_id}", what)

    def lock_import(self) -> AbstractContextManager[None]:
        """Hold the imports of spoken naming for this process."""
        return lock_file(self.path, "import", IMPORTING)

    def held(self, administrations: Collection[int]) -> frozenset[int]:
        """Return those of some administrations that a session holds now."""
        return frozenset(number for number in administrations if is_held(self.path, number))

    def reading(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that sees one state of the store throughout."""
        return self._transaction("BEGIN")

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Yield a transaction that is durable when the block ends and undone when it raises."""
        self.refuse_read_only()
        with self._transaction("BEGIN IMMEDIATE") as transaction:
            yield transaction
            self._still_there()

    def erasing(self) -> AbstractContextManager[Transaction]:
        """Return a writing transaction whose deletions leave nothing in the file's pages."""
        return self.rewriting(secure=True)

    @contextmanager
    def rewriting(self, *, secure: bool = False) -> Iterator[Transaction]:
        """Yield a writing transaction whose foreign keys are checked once, at its end.

        Row by row, taking away a text that nothing uses would read whole tables.
        """
        self.refuse_read_only()
        with self.explained(), closing(self._new(str(self.path))) as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA secure_delete = {'ON' if secure else 'OFF'}")
            connection.execute("BEGIN IMMEDIATE")
            yield Transaction(connection.cursor())
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
            if broken is not None:
                raise damaged(f"a row of '{broken[0]}' refers to nothing", self.location)
            self._still_there()
            connection.execute("COMMIT")

    def scrub(self) -> bool:
        """Rewrite the file without its unused pages and empty the log beside it."""
        with closing(self._new(str(self.path))) as connection:
            try:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("VACUUM")
                (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.Error as error:
                if name_of(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                    return False
                raise explain(error, self.location, self._patience_s) from error
        return not busy

    def make_private(self) -> None:
        """Make the file readable by its owner only; another user's file is left unchanged."""
        for tail in ("", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{self.path}{tail}").chmod(0o600)

    def refuse_read_only(self) -> None:
        """Refuse to write to a file that could only be opened for reading."""
        with self.explained():
            self.connection()
        if self.only_read:
            raise read_only(self.location)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        with self.explained():
            connection = self.connection()
            try:
                connection.execute(begin)
                yield Transaction(connection.cursor())
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                raise

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of SQLite into one that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            if isinstance(error, sqlite3.IntegrityError):
                raise Conflict(
                    f"what was to be stored does not fit ({error})", where=self.location, hint=SAFE
                ) from error
            raise explain(error, self.location, self._patience_s) from error
        except UnicodeDecodeError as error:
            # SQLite's own message quotes a name of the schema that is not valid text.
            cause = sqlite3.DatabaseError(str(error))
            raise damaged("names in it are not text", self.location) from cause
        except (UnicodeEncodeError, OverflowError) as error:
            raise StoreError(
                f"something cannot be stored: {error}", where=self.location, hint=SAFE
            ) from error

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection."""
        mine: tuple[int, sqlite3.Connection] | None = getattr(self._local, "mine", None)
        if mine is None or mine[0] != os.getpid():
            mine = os.getpid(), self._connect()
            self._local.mine = mine
            self._all.append(mine[1])
        return mine[1]

    def close(self) -> None:
        """Close every connection; may be called twice."""
        while self._all:
            with suppress(sqlite3.Error):
                self._all.pop().close()
        self._local = threading.local()
        self._file = None

    def _still_there(self) -> None:
        if self._identity() != self._file:
            raise StoreError(
                "the store was moved, deleted or replaced while it was open",
                where=self.location,
                hint="restore it (or a backup of it); this step and what was given since then "
                "may be lost",
            )

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _connect(self) -> sqlite3.Connection:
        if self._file is None:
            self._refuse_foreign()
        try:
            return self._connect_for_writing()
        except sqlite3.OperationalError as error:
            if not name_of(error).startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
                raise
            connection = self._connect_for_reading(LOCKED, UNCHANGING)
            if connection is None:
                raise
            self.only_read = True
            return connection

    def _refuse_foreign(self) -> None:
        """Refuse another program's file before a connection that may write changes it."""
        with suppress(sqlite3.Error, UnicodeDecodeError):  # of what is damaged, later
            if (connection := self._connect_for_reading(UNCHANGING, LOCKED)) is not None:
                with closing(connection):
                    version_of(Transaction(connection.cursor()), self.location)

    def _connect_for_reading(self, *ways: str) -> sqlite3.Connection | None:
        """Return a connection that does not write, by the first way that works; None: by none."""
        wal = self.path.with_name(self.path.name + "-wal")
        uri = self.path.as_uri()
        # SQLite needs to write beside a file in WAL mode even to read it, unless it is told that
        # the file does not change. Data still in the log of another program would be missing.
        try:
            has_log = wal.exists() and wal.stat().st_size > 0
        except OSError:
            return None
        for way in ways:
            if has_log and way == UNCHANGING:
                continue
            with suppress(sqlite3.Error):
                connection = self._new(f"{uri}?{way}", uri=True)
                try:
                    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                except sqlite3.Error:
                    connection.close()
                    raise
                return connection
        return None

    def _new(self, place: str, *, uri: bool = False) -> sqlite3.Connection:
        return sqlite3.connect(
            place,
            timeout=self._patience_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=uri,
        )

    def _connect_for_writing(self) -> sqlite3.Connection:
        connection = self._new(str(self.path))
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
            self._write_ahead(connection)
            self._file = self._file or self._identity()
        except BaseException:
            connection.close()
            raise
        return connection

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        # SQLite does not wait by itself for the lock that changing the mode needs.
        until = time.monotonic() + self._patience_s
        while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if name_of(error) != "SQLITE_BUSY" or time.monotonic() > until:
                    raise
                time.sleep(0.01)


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


LOOK_S = 2.0
"""Seconds for which a lock is tried whose holder is not known."""
_OWN: set[Path] = set()
"""The files of the locks that this process holds."""


def lock_folder(store: Path) -> Path:
    """Return where the locks of a store lie."""
    return store.with_name(f"{store.name}.locks")


@contextmanager
def lock_file(store: Path, name: str, what: str) -> Iterator[None]:
    """Hold one lock."""
    path = lock_folder(store) / name
    try:
        make_private_folder(path.parent)
        lock = _claimed(path, what)
    except OSError as error:
        raise StoreError(
            f"the lock for '{what}' cannot be made: {error.strerror}",
            where=str(path),
            hint="allow writing there, or name another place with --store",
        ) from error
    _remove_stale(path.parent)
    owner = os.getpid()
    _OWN.add(path)
    try:
        yield
    finally:
        if os.getpid() == owner:
            # Removed while it is still held, so that no process locks a file that is being removed.
            # Windows does not remove open files; there it remains without meaning.
            with suppress(OSError):
                path.unlink()
            lock.release()
            _OWN.discard(path)


def is_held(store: Path, administration_id: int) -> bool:
    """Return whether a session holds the lock of an administration."""
    return _is_held(lock_folder(store) / str(administration_id))


def _remove_stale(folder: Path) -> None:
    """Remove the files of processes that are gone."""
    with suppress(OSError):
        for path in folder.iterdir():
            _is_held(path)


def _is_held(path: Path) -> bool:
    """Return whether the lock of a file is held; remove the file of a process that is gone.

    The lock itself is tried unless the process that the file names is known to run, so that nobody
    who opens the administration meanwhile is refused. A process that was killed before it wrote its
    number leaves a file without one; on Windows a locked file cannot be read.
    """
    if not path.exists():
        return False
    if _has_known_holder(path):
        return True
    try:
        lock = _acquired(path, "")
    except (StoreError, OSError):
        return True
    with suppress(OSError):
        path.unlink()
    lock.release()
    return False


def _has_known_holder(path: Path) -> bool:
    """Return whether this process holds a lock, or one that its file names and that runs."""
    if path in _OWN:
        return True
    # In a container each run of the program may have the same process id.
    process = _holder(path)
    return bool(process) and int(process) != os.getpid() and _is_alive(int(process))


def _is_alive(process: int) -> bool:
    """Return whether a process of this machine is known to run."""
    if os.name == "nt":  # there a signal 0 would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    with suppress(OSError, IndexError):  # only Linux says more
        # A process that has ended stays, as a zombie, until its parent asks for its status.
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}
    return True


def _claimed(path: Path, what: str) -> BaseFileLock:
    """Acquire a lock and write the process into its file.

    One that nobody is known to hold may be tried at this moment by who only looks: it is tried
    again for a while.
    """
    end = time.monotonic() + LOOK_S
    while True:
        try:
            lock = _acquired(path, what)
        except HeldElsewhere:
            if _has_known_holder(path) or time.monotonic() > end:
                raise
            time.sleep(0.001)
            continue
        from filelock import SoftFileLock

        if not isinstance(lock, SoftFileLock):  # that one writes the process itself
            with suppress(OSError):  # on Windows nobody reads or writes a locked file
                path.write_text(str(os.getpid()), encoding="ascii")
        return lock


def _acquired(path: Path, what: str) -> BaseFileLock:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a platform has no locks
        from filelock import FileLock, Timeout

    lock: BaseFileLock = FileLock(path, timeout=0, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise held_by(_holder(path), what) from None
    return lock


def _holder(path: Path) -> str:
    try:
        first, *_ = path.read_text(encoding="ascii", errors="replace").split() or [""]
    except OSError:
        return ""
    return first if first.isdigit() else ""


IMPORTING = "another import into this store is running"
"""What is open while :meth:`Database.lock_import` is held."""


def open_administration(number: int) -> str:
    """Return what is open while an administration is held."""
    return f"administration {number} is open"


def held_by(process: str, what: str) -> HeldElsewhere:
    """Return the error for a lock that another process holds."""
    holder = f"process {process}" if process else "another process"
    return HeldElsewhere(
        f"{what} in {holder}",
        hint="close it there first; when that process ends, however it ends, the lock is free",
    )


_KEPT = 20_000


class Keys:
    """Integer keys of what is stored once, remembered between transactions.

    A key found in a transaction counts only after that has committed (:meth:`keep`): one that was
    undone must not be remembered.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], int] = {}
        self._new: dict[tuple[str, ...], int] = {}
        self._deletions = 0

    def renew(self, transaction: Transaction) -> None:
        """Forget everything if a speaker was deleted since: a key may stand for something else."""
        deletions = transaction.value("SELECT max(id) FROM tombstones") or 0
        if deletions != self._deletions:
            self._known.clear()
            self._deletions = deletions

    def of(self, transaction: Transaction, table: str, *names: str) -> int:
        """Return the key of a text, a rater's spec, or a subtest and its item."""
        place = table, *names
        key = self._known.get(place) or self._new.get(place)
        if key is None:
            key = self._new[place] = _key(transaction, table, names)
        return key

    def keep(self) -> None:
        """Remember the new keys: the transaction was committed."""
        if len(self._known) > _KEPT:
            self._known.clear()
        self._known |= self._new
        self._new.clear()

    def forget(self) -> None:
        """Forget the new keys: the transaction was undone."""
        self._new.clear()


_NAMED = {"raters": ("spec",), "items": ("subtest", "item")}


def _key(transaction: Transaction, table: str, names: Sequence[str]) -> int:
    if table in _NAMED:
        row: dict[str, object] = dict(zip(_NAMED[table], names, strict=True))
        sought = row
    else:
        (text,) = names
        sought = {"sha256": hashlib.sha256(text.encode()).digest()}
        row = {**sought, "text": text}
    where = " AND ".join(f"{column} = ?" for column in sought)
    find = f"SELECT id FROM {table} WHERE {where}"
    key = transaction.value(find, *sought.values())
    if key is None:
        transaction.insert(table, row, "ON CONFLICT DO NOTHING")
        key = transaction.value(find, *sought.values())
    return int(key)


def to_json(value: object) -> str:
    """Return canonical JSON: sorted keys, no spaces, text as it is.

    >>> to_json({"b": ["é"], "a": 1})
    '{"a":1,"b":["é"]}'
    """
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def now() -> str:
    """UTC, ISO 8601, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
