"""Integer keys of what many rows share, and the notation of values in rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime

from tabwb.store.database import Transaction

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
