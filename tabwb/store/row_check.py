"""Whether values in the rows of a store are of the declared types, and can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import checked_set_name
from tabwb.records.states import ResponseStatus, StopReason
from tabwb.store import people_rows, read, set_rows
from tabwb.store.database import Transaction

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


def wrong_types(transaction: Transaction) -> Iterator[tuple[str, str]]:
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
                yield table, f"{count:.0f} values of '{name}' are of a wrong type"


def unreadable(transaction: Transaction) -> Iterator[tuple[str, str]]:
    """Yield each table with a row that cannot be read, and why."""
    for (table, column), names in _NAMES.items():
        known = {name.value for name in names}
        for (value,) in transaction.rows(
            f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"
        ):
            if value not in known:
                yield table, f"{value!r:.40} is not a valid {column.replace('_', ' ')}"
    readers: dict[str, Callable[[Transaction], object]] = {
        "administrations": read.administrations,
        "tombstones": people_rows.tombstones,
        "sample_sets": _named_sets,
    }
    for table, reader in readers.items():
        try:
            reader(transaction)
        except (KeyError, ValueError, TypeError, TabwbError) as error:
            yield table, f"a row cannot be read ({error!s:.80})"


def _named_sets(transaction: Transaction) -> None:
    for one in set_rows.sets(transaction):
        checked_set_name(one.name)
