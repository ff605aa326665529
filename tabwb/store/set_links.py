"""Secret links of raters, by the digests of their secrets: ``store.sets.links``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.records.errors import StoreError, UsageError
from tabwb.records.rating_sets import RaterLink
from tabwb.records.speakers import operator
from tabwb.store import set_rows
from tabwb.store.database import Transaction
from tabwb.store.keys import now

if TYPE_CHECKING:
    from tabwb.store.access import Access


class RaterLinks:
    """The links of an open store. Rows are only added: a row that ends a link names it."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def add(
        self, set_id: int, rater: str, token_sha256: bytes, *, expires_at: str = "", who: str = ""
    ) -> RaterLink:
        """Keep a link of one rater."""
        with self._access.writing() as transaction:
            (kept,) = set_rows.sets(transaction, set_rows.number_of(transaction, set_id))
            if rater not in kept.raters:
                raise UsageError(
                    f"'{rater}' is not a rater of rating set '{kept.name}'",
                    allowed=", ".join(kept.raters) or None,
                )
            row = _row(kept.id, self._access.keys.of(transaction, "raters", rater), who)
            row |= {"token_sha256": token_sha256, "expires_at": expires_at}
            number = int(transaction.insert("rater_links", row, "RETURNING id"))
        made_at, made_by = str(row["recorded_at"]), str(row["who"])
        return RaterLink(number, kept.id, rater, made_at, made_by, expires_at)

    def revoke(self, link_id: int, *, who: str = "") -> None:
        """End a link; one that ended already stays so."""
        with self._access.writing() as transaction:
            found = transaction.first(
                "SELECT set_id, rater_id FROM rater_links WHERE id = ? AND revokes IS NULL", link_id
            )
            if found is None:
                raise StoreError(f"there is no link {link_id}")
            row = {**_row(found[0], found[1], who), "revokes": link_id, "expires_at": ""}
            transaction.insert("rater_links", row, "ON CONFLICT DO NOTHING")

    def all(self, set_id: int | None = None) -> tuple[RaterLink, ...]:
        """Return the links of a set, or of all sets, oldest first; also those that ended."""
        where = "" if set_id is None else " AND l.set_id = ?"
        with self._access.reading() as transaction:
            return _links(transaction, where, *(() if set_id is None else (set_id,)))

    def of(self, token_sha256: bytes) -> RaterLink | None:
        """Return the link whose secret has this SHA-256, also when it ended; None without one."""
        with self._access.reading() as transaction:
            found = _links(transaction, " AND l.token_sha256 = ?", token_sha256)
        return found[0] if found else None


def _row(set_id: int, rater_id: int, who: str) -> dict[str, object]:
    return {"set_id": set_id, "rater_id": rater_id, "who": who or operator(), "recorded_at": now()}


def _links(transaction: Transaction, where: str, *parameters: object) -> tuple[RaterLink, ...]:
    rows = transaction.rows(
        "SELECT l.id, l.set_id, spec, l.recorded_at, l.who, l.expires_at, e.recorded_at"
        " FROM rater_links l JOIN raters ON raters.id = l.rater_id"
        " LEFT JOIN rater_links e ON e.revokes = l.id"
        f" WHERE l.revokes IS NULL{where} ORDER BY l.id",
        *parameters,
    )
    return tuple(
        RaterLink(number, of, rater, made_at, who, expires_at, ended or "")
        for number, of, rater, made_at, who, expires_at, ended in rows
    )
