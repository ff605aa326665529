"""A laboratory's store: the same tables in a PostgreSQL database, reached by URL."""

from __future__ import annotations

import logging
import os
import platform
import re
import threading
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tabwb.records.errors import MissingExtra, NeedsNetwork, StoreError
from tabwb.records.system import is_offline, servers_elsewhere
from tabwb.store import schema
from tabwb.store.database import (
    IMPORTING,
    Conflict,
    Transaction,
    held_by,
    named_version,
    open_administration,
)
from tabwb.store.location import is_plain, without_password
from tabwb.store.schema import make, migrate

if TYPE_CHECKING:
    import psycopg

LOCK_SPACE = 0x7AB
"""First key of our advisory locks; the second is the administration's id, 0 the schema.

Of a rater's work on a rating set the first key is this plus the set's id; of imports, one less."""


def _driver() -> Any:
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError as error:
        raise MissingExtra("a PostgreSQL store", "server", package="psycopg") from error
    # Of a lost connection it would also print a warning; the error says it once.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    return psycopg


class ServerDatabase:
    """One PostgreSQL database. Each thread has its own connection; a fork makes new ones."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.location = without_password(url)
        self._driver = _driver()
        parameters = _parameters(self._driver, url, self.location)
        self.has_database = bool(parameters.get("dbname"))
        self.elsewhere = _elsewhere(self._driver, parameters)
        self._secrets = _secrets(parameters)
        self._local = threading.local()
        self._all: list[psycopg.Connection[Any]] = []

    def reading(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that sees one state of the store throughout."""
        return self._transaction("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def writing(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that is durable when the block ends and undone when it raises."""
        return self._transaction("SET LOCAL synchronous_commit = on")

    erasing = writing  # the server's own clean-up removes deleted rows

    def lock(self, administration_id: int) -> AbstractContextManager[None]:
        """Return a lock of one administration, held on its own connection."""
        what = open_administration(administration_id)
        return self._lock((LOCK_SPACE, administration_id), what)

    def lock_rater(self, set_id: int, rater_id: int, what: str) -> AbstractContextManager[None]:
        """Return a lock of one rater's work on one rating set."""
        return self._lock((LOCK_SPACE + set_id, rater_id), what)

    def lock_import(self) -> AbstractContextManager[None]:
        """Return a lock of the imports of spoken naming."""
        return self._lock((LOCK_SPACE - 1, 0), IMPORTING)

    @contextmanager
    def _lock(self, key: tuple[int, int], what: str) -> Iterator[None]:
        with self._explained():
            connection = self.connect(autocommit=True)
        try:
            with self._explained():
                row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", key).fetchone()
                if row is None or not row[0]:
                    raise held_by(self._holder(connection, key), what)
            yield
        finally:
            connection.close()

    def held(self, administrations: Collection[int]) -> frozenset[int]:
        """Return those of some administrations that a session holds now."""
        with self._explained():
            rows = self._connection().execute(
                "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND classid = %s"
                " AND granted AND database ="
                " (SELECT oid FROM pg_database WHERE datname = current_database())",
                (LOCK_SPACE,),
            )
            return frozenset(int(row[0]) for row in rows.fetchall()) & frozenset(administrations)

    def connect(self, *, autocommit: bool) -> psycopg.Connection[Any]:
        """Return a new connection whose name identifies this process as a holder of locks."""
        connection: psycopg.Connection[Any] = self._driver.connect(
            self.url,
            autocommit=autocommit,
            application_name=f"tabwb {os.getpid()}@{platform.node()}",
            connect_timeout=10,
        )
        return connection

    def close(self) -> None:
        """Close every connection; may be called twice."""
        while self._all:
            with suppress(self._driver.Error):
                self._all.pop().close()
        self._local = threading.local()

    @contextmanager
    def _transaction(self, first: str) -> Iterator[Transaction]:
        with self._explained(), ExitStack() as held:
            yield Transaction(self._begun(first, held), "%s")

    def _begun(self, first: str, held: ExitStack) -> Any:
        """Return the cursor of a new transaction, which ends with ``held``.

        A server that was started again has closed the connections that nobody used meanwhile: then
        a new one is made, once. Nothing was asked yet, so nothing is lost.
        """
        while True:
            used = getattr(self._local, "mine", None)
            connection = self._connection()
            try:
                with ExitStack() as begun:
                    begun.enter_context(connection.transaction())
                    cursor = connection.cursor()
                    cursor.execute(first.encode())
                    held.push(begun.pop_all())
                    return cursor
            except self._driver.OperationalError:
                if used is None or used[1] is not connection or not connection.closed:
                    raise

    def _connection(self) -> psycopg.Connection[Any]:
        mine: tuple[int, psycopg.Connection[Any]] | None = getattr(self._local, "mine", None)
        if mine is None or mine[0] != os.getpid() or mine[1].closed:
            mine = os.getpid(), self.connect(autocommit=True)
            self._local.mine = mine
            self._all.append(mine[1])
        return mine[1]

    @contextmanager
    def _explained(self) -> Iterator[None]:
        driver = self._driver
        try:
            yield
        except driver.IntegrityError as error:
            raise Conflict(
                f"what was to be stored does not fit ({self._plain(error)})", where=self.location
            ) from error
        except driver.OperationalError as error:
            raise StoreError(
                f"the database cannot be reached or refuses to work: {self._plain(error)}",
                where=self.location,
                hint="what was recorded before is safe; check the server, then resume",
            ) from error
        except driver.Error as error:
            raise StoreError(
                f"the database failed: {self._plain(error)}", where=self.location
            ) from error

    def _plain(self, error: Exception) -> str:
        words = " ".join(str(error).split())
        for secret in self._secrets:
            words = words.replace(secret, "***")
        return words

    def _holder(self, connection: psycopg.Connection[Any], key: tuple[int, int]) -> str:
        row = connection.execute(
            "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND granted"
            " AND pg_locks.database ="
            " (SELECT oid FROM pg_database WHERE datname = current_database())",
            key,
        ).fetchone()
        return "" if row is None else str(row[0]).removeprefix("tabwb ")


def _parameters(driver: Any, url: str, location: str) -> dict[str, str]:
    """Return the parameters as libpq reads them; its own message would quote the password."""
    try:
        if not is_plain(url):
            raise ValueError("ambiguous")
        read = driver.conninfo.conninfo_to_dict(url)
    except (driver.Error, ValueError):
        raise StoreError(
            "this URL cannot be read",
            where=location,
            allowed="postgresql://USER@HOST/DATABASE",
            hint="write %23 for #, %2F for /, %3A for : and %40 for @ in a name or password; "
            "an IPv6 address is written in [ ]",
        ) from None
    return {key: str(value) for key, value in read.items() if value is not None}


def _elsewhere(driver: Any, parameters: dict[str, str]) -> tuple[str, ...]:
    """Return the hosts of a connection that are not this computer, with libpq's own defaults."""
    defaults = {
        default.keyword.decode(): default.val.decode()
        for default in driver.pq.Conninfo.get_defaults()
        if default.val
    }
    if "service" in parameters and "hostaddr" not in parameters:
        # A service file may name any address, also beside a host.
        return (f"service {parameters['service']}",)
    merged = {**defaults, **parameters}
    return servers_elsewhere(merged.get("hostaddr") or merged.get("host", ""))


def _secrets(parameters: dict[str, str]) -> tuple[str, ...]:
    """Return what must not be shown, as it is and as a URL has it; the longest first."""
    values = [parameters.get(key, "") for key in ("password", "sslpassword")]
    # "-c name=value" may hold anything.
    values += re.split(r"[\s=]+", parameters.get("options", ""))
    texts = {text for value in values if value for text in (value, quote(value, safe=""))}
    return tuple(sorted((text for text in texts if len(text) > 2), key=len, reverse=True))


def open_server(url: str, *, create: bool = True) -> ServerDatabase:
    """Return the store in a PostgreSQL database; its tables are made when there are none."""
    database = ServerDatabase(url)
    if not database.has_database:
        raise StoreError(
            "the URL names no database",
            where=database.location,
            allowed="postgresql://USER@HOST/DATABASE",
        )
    if database.elsewhere and is_offline():
        raise NeedsNetwork(
            f"the store is on another computer ({database.elsewhere[0]}), and tabwb is offline",
            where=database.location,
            allowed="a store on this computer: a path, a unix socket or a loopback address",
            hint="leave out --offline (or TABWB_OFFLINE, or 'offline' in tabwb.toml)",
        )
    try:
        with database.reading() as transaction:
            version = _version(transaction)
        if version is None and not create:
            raise StoreError("there is no store here yet", where=database.location)
        if version is None or schema.needs_upgrade(version, database.location):
            _make_or_upgrade(database)
    except BaseException:
        database.close()
        raise
    return database


def _version(transaction: Transaction) -> int | None:
    if transaction.value("SELECT to_regclass('schema_version')") is not None:
        return int(transaction.value("SELECT version FROM schema_version"))
    if transaction.value("SELECT to_regclass('alembic_version')") is not None:
        return named_version(transaction)
    return None


def _make_or_upgrade(database: ServerDatabase) -> None:
    with database.writing() as transaction:
        # One program at a time; those that waited find the work done.
        transaction.execute("SELECT pg_advisory_xact_lock(?, 0)", LOCK_SPACE)
        version = _version(transaction)
        if version is None:
            make(transaction)
        elif schema.needs_upgrade(version, database.location):
            migrate(transaction, version)
