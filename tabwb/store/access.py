"""Access to the database of an open store: transactions, keys of shared texts, locks."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tabwb.records.errors import StoreError
from tabwb.store import locks, people_rows, write
from tabwb.store.database import Database, EmbeddedDatabase, Transaction
from tabwb.store.erase import finish


class Access:
    """What the parts of a store share. May be used from several threads.

    Attributes:
        database: where the rows are.
        location: for people, without any password.
        keys: of what is stored once.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.location = database.location
        self.keys = write.Keys()
        self._turn = threading.Lock()

    @property
    def embedded(self) -> Path | None:
        """The SQLite file, or None for a server."""
        return self.database.path if isinstance(self.database, EmbeddedDatabase) else None

    def lock(self, administration_id: int) -> AbstractContextManager[None]:
        """Hold an administration for this process; the lock is freed when the process ends.

        Raises:
            StoreError: another process holds it; the message names the process.
        """
        if self.embedded is not None:
            return locks.lock_file(self.embedded, administration_id)
        from tabwb.store.server import ServerDatabase

        assert isinstance(self.database, ServerDatabase)
        return self.database.lock(administration_id)

    def held(self, administrations: Collection[int]) -> frozenset[int]:
        """Return those of some administrations that a session holds now."""
        if self.embedded is not None:
            store = self.embedded
            return frozenset(number for number in administrations if locks.is_held(store, number))
        from tabwb.store.server import ServerDatabase

        assert isinstance(self.database, ServerDatabase)
        return self.database.held()

    def make_private_before_people(self, transaction: Transaction) -> None:
        """Close the file to other users before it holds the first person's data."""
        if isinstance(self.database, EmbeddedDatabase) and not people_rows.has_people(transaction):
            self.database.make_private()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Yield a reading transaction; rows that cannot be read are a damaged store."""
        try:
            with self.database.reading() as transaction:
                yield transaction
        except (KeyError, ValueError, TypeError) as error:
            raise StoreError(
                f"the store is damaged: a row cannot be read ({error})",
                where=self.location,
                hint="'tabwb store check' says where; put back a backup, and keep this one",
            ) from error

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Yield a writing transaction; writers of this process take turns."""
        with self._turn:
            try:
                with self.database.writing() as transaction:
                    self.keys.renew(transaction)
                    yield transaction
            except BaseException:
                self.keys.forget()
                raise
            self.keys.keep()

    @contextmanager
    def erasing(self) -> Iterator[Transaction]:
        """Yield a writing transaction whose deletions leave nothing in the file."""
        database = self.database
        with self._turn:
            if not isinstance(database, EmbeddedDatabase):
                with database.writing() as transaction:
                    yield transaction
                return
            with database.erasing() as transaction:
                yield transaction

    def finish_erasing(self) -> bool:
        """Remove what a deletion left on the disk; False where traces may be left."""
        if not isinstance(self.database, EmbeddedDatabase):
            return True
        with self._turn:
            return finish(self.database)
