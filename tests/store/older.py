"""Stores as earlier versions of the program left them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tabwb.store.database import Transaction
from tabwb.store.schema import migrate

TAKEN = {
    "trials": "SELECT administration_id, number, subtest, item, replicate, o.text, prompt_id,"
    " practice FROM now.trials JOIN now.items i ON i.id = item_id"
    " JOIN now.texts o ON o.id = options_id",
    "measures": "SELECT row_number() OVER (ORDER BY place), name FROM (SELECT value AS name,"
    " min(v.id * 1000 + key) AS place FROM now.verdicts v JOIN now.texts l ON l.id = measures_id,"
    " json_each(l.text) GROUP BY value)",
    "reasons": "SELECT id, sha256, text FROM now.texts WHERE id IN"
    " (SELECT value FROM now.verdicts v, json_each(v.reasons))",
    "rating_sets": "SELECT id, attempt_id, rater_id, replaces, recorded_at FROM now.verdicts",
    "ratings": "SELECT v.id, m.id, CASE code WHEN 0 THEN 0 WHEN 1 THEN 1 WHEN 5 THEN"
    " json_extract(numbers, path) END, CASE WHEN code IN (2, 3, 4) THEN code - 1 ELSE 0 END,"
    " json_extract(reasons, path) FROM (SELECT v.*, l.value AS name, '$.\"' || l.key || '\"' AS"
    " path, instr('0123456', substr(hex(substr(codes, l.key + 1, 1)), 2)) - 1 AS code"
    " FROM now.verdicts v JOIN now.texts t ON t.id = measures_id, json_each(t.text) l) v"
    " JOIN main.measures m ON m.name = v.name",
}
"""Tables that are not there any more, or were others: how their rows follow from those of today."""
RENAMED = {
    ("judgements", "set_id"): "verdict_id",
    ("sample_ratings", "rating_set_id"): "verdict_id",
}


def make_tables(transaction: Transaction, version: int) -> None:
    """Make the tables of a version in a database that has none."""
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
            names = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
            today = ", ".join(f'"{RENAMED.get((table, name), name)}"' for name in names)
            rows = TAKEN.get(table, f"SELECT {today} FROM now.{table}")
            connection.execute(f"INSERT INTO main.{table} {rows}")
        connection.execute("DETACH now")
        connection.execute("PRAGMA journal_mode = WAL")
    for tail in ("", "-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
    old.rename(path)
