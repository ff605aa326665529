"""Transactions of an open store, for its parts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, TypeAlias

from tabwb.records.errors import StoreError
from tabwb.store import people
from tabwb.store.database import EmbeddedDatabase, Keys, Transaction
from tabwb.store.people import finish

if TYPE_CHECKING:
    from tabwb.store.server import ServerDatabase

    Database: TypeAlias = EmbeddedDatabase | ServerDatabase


UNREADABLE = (LookupError, ValueError, TypeError, AttributeError, AssertionError, RecursionError)
"""Errors of code that reads a row which is not as it was stored."""


class Access:
    """Transactions for the parts of a store. May be used from several threads."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.embedded = database.path if isinstance(database, EmbeddedDatabase) else None
        self.keys = Keys()
        self._turn = threading.Lock()
        self._held = threading.local()

    @property
    def only_read(self) -> bool:
        """Whether the store could not be opened for writing."""
        return isinstance(self.database, EmbeddedDatabase) and self.database.only_read

    def make_private_before_people(self, transaction: Transaction) -> None:
        """Close the file to other users before it holds the first person's data."""
        if isinstance(self.database, EmbeddedDatabase) and not people.has_people(transaction):
            self.database.make_private()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Yield a reading transaction; inside :meth:`unchanged` that one."""
        held = self.held
        try:
            with self.database.reading() if held is None else nullcontext(held) as transaction:
                yield transaction
        except UNREADABLE as error:
            raise StoreError(
                f"the store is damaged: a row cannot be read ({error})",
                where=self.database.location,
                hint="'tabwb store check' says where; restore a backup, and keep this file",
            ) from error

    @property
    def held(self) -> Transaction | None:
        """The open transaction of this thread, or None."""
        return getattr(self._held, "transaction", None)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Let this thread read one state of the store; it must not write meanwhile."""
        with self.database.reading() as transaction, self._holding(transaction):
            yield

    @contextmanager
    def _holding(self, transaction: Transaction) -> Iterator[None]:
        self._held.transaction = transaction
        try:
            yield
        finally:
            self._held.transaction = None

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Yield a writing transaction, in which this thread also reads; writers of this process
        take turns.
        """
        with self._turn:
            try:
                with self.database.writing() as transaction, self._holding(transaction):
                    self.keys.renew(transaction)
                    yield transaction
            except BaseException:
                self.keys.forget()
                raise
            self.keys.keep()

    @contextmanager
    def erasing(self) -> Iterator[Transaction]:
        """Yield a writing transaction whose deletions leave nothing in the file."""
        with self._turn, self.database.erasing() as transaction:
            yield transaction

    def finish_erasing(self) -> bool:
        """Remove what a deletion left on the disk; False where traces may be left."""
        if not isinstance(self.database, EmbeddedDatabase):
            return True
        with self._turn:
            return finish(self.database)
