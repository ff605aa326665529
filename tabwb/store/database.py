"""Connections and transactions over the DB-API, the same for the embedded file and for a server.

Plain SQL with ``?`` for a parameter, without SQLAlchemy, whose import costs more than giving a
whole battery (``docs/store.md``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from tabwb.records.errors import StoreError

Row = Sequence[Any]


class Conflict(StoreError):
    """A row contradicts one that is there: a unique or foreign key, a check."""


class Transaction:
    """One open transaction.

    Args:
        cursor: of the DB-API.
        mark: what the driver writes for a parameter, ``?`` or ``%s``.
    """

    def __init__(self, cursor: Any, mark: str = "?") -> None:
        self._cursor = cursor
        self._mark = mark

    def rows(self, sql: str, *parameters: object) -> list[Any]:
        """Return all rows of a query."""
        self.execute(sql, *parameters)
        return list(self._cursor.fetchall())

    def each(self, sql: str, *parameters: object) -> Iterator[Any]:
        """Return the rows of a query one by one; no other statement may run meanwhile."""
        self.execute(sql, *parameters)
        return iter(self._cursor)

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

    def many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run one statement for each row of parameters."""
        if rows:
            self._cursor.executemany(self._written(sql), rows)

    def _written(self, sql: str) -> str:
        return sql if self._mark == "?" else sql.replace("?", self._mark)


class Database(Protocol):
    """What the store needs of a database. Every failure is a :class:`StoreError`."""

    location: str
    """For people; never holds a password."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that sees one state of the store throughout."""

    def writing(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that is durable when the block ends and undone when it raises."""

    def close(self) -> None:
        """Close every connection; may be called twice."""
