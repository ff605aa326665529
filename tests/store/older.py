"""Stores as earlier versions of the program left them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tabwb.store.database import Transaction
from tabwb.store.migrate import LAST_NAMED, migrate

TAKEN: dict[str, str] = {}
"""Tables that are not there any more, or were others: how their rows follow from those of today."""


def make_tables(transaction: Transaction, version: int) -> None:
    """Make the tables of a version in a database that has none."""
    if version <= LAST_NAMED:
        transaction.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        transaction.execute("INSERT INTO alembic_version VALUES (?)", f"{version:04}")
    migrate(transaction, 0, version)


def make_older(path: Path, version: int) -> None:
    """Make a store what an earlier version of the program would have kept of its rows."""
    old = path.with_name("older.db")
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        make_tables(Transaction(connection.cursor()), version)
        connection.execute("ATTACH ? AS now", (str(path),))
        tables = connection.execute(
            "SELECT name FROM main.sqlite_master WHERE type = 'table'"
            " AND name NOT IN ('alembic_version', 'rating_statuses', 'sqlite_sequence')"
        ).fetchall()
        for (table,) in tables:
            columns = ", ".join(
                f'"{row[1]}"' for row in connection.execute(f"PRAGMA main.table_info({table})")
            )
            rows = TAKEN.get(table, f"SELECT {columns} FROM now.{table}")
            connection.execute(f"INSERT INTO main.{table} ({columns}) {rows}")
        connection.execute("DETACH now")
        connection.execute("PRAGMA journal_mode = WAL")
    for tail in ("", "-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
    old.rename(path)
