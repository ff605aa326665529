"""Which tables a store has: new ones are made, older ones upgraded, newer ones refused."""

from __future__ import annotations

from importlib.resources import files

from tabwb.records.errors import StoreError
from tabwb.records.states import RatingStatus
from tabwb.store.database import Transaction

REVISIONS = ("0001", "0002", "0003", "0004")
"""Every revision in order, oldest first, as in ``migrations/versions``."""
CURRENT = REVISIONS[-1]

STATUS_IDS = {
    RatingStatus.VALUE: 0,
    RatingStatus.UNDEFINED: 1,
    RatingStatus.UNPARSED: 2,
    RatingStatus.ERROR: 3,
}
"""Keys of the rating statuses. SQLite keeps 0 and 1 in no byte, so the common ones have them."""
STATUSES = {number: status for status, number in STATUS_IDS.items()}


def make_tables(transaction: Transaction) -> None:
    """Make the tables of a new SQLite store, with their fixed rows."""
    schema = files("tabwb.store").joinpath("schema.sql").read_text(encoding="utf-8")
    for statement in schema.split(";\n"):
        if statement.strip():
            transaction.execute(statement)
    transaction.many(
        "INSERT INTO rating_statuses (id, name) VALUES (?, ?)",
        [(number, status.value) for status, number in STATUS_IDS.items()],
    )
    transaction.execute("INSERT INTO alembic_version (version_num) VALUES (?)", CURRENT)


def needs_upgrade(version: str | None, location: str) -> bool:
    """Return whether a store of this schema version is older than this program.

    Raises:
        StoreError: it is newer, or its version is unknown.
    """
    if version not in REVISIONS:
        raise StoreError(
            f"this store has schema '{version}', which this version of tabwb does not know",
            where=location,
            allowed=f"up to {CURRENT}",
            hint="it was made by a newer tabwb: upgrade this one",
        )
    return version != CURRENT
