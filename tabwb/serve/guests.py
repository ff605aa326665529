"""Who a key lets in, as the store knows it; and the tickets for one web socket each."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from tabwb.administer.rating.access import link_state
from tabwb.records.classes import dataclass

if TYPE_CHECKING:
    from tabwb.records.rating_sets import RaterLink

TICKET_S = 30.0
"""Seconds within which a page opens its web socket."""


class Links(Protocol):
    """What the server asks of the links of a store, in threads; each may raise ``StoreError``."""

    def of(self, token_sha256: bytes) -> RaterLink | None:
        """Return the link whose key has this SHA-256, also one that ended."""

    def all(self) -> Sequence[RaterLink]:
        """Return all links."""


@dataclass(frozen=True)
class Guest:
    """A rater who came by a valid link."""

    link: RaterLink

    @property
    def who(self) -> tuple[int, str]:
        """The rating set and the rater: one page is open for each."""
        return self.link.set_id, self.link.rater


def find_guest(links: Links, digest: bytes) -> Guest | None:
    """Return who a key lets in now, or None."""
    link = links.of(digest)
    if link is None or link_state(link, datetime.now(UTC)) != "valid":
        return None
    return Guest(link)


def no_longer_valid(links: Links, guests: Collection[Guest]) -> frozenset[int]:
    """Return the ids of those links that have expired or were revoked."""
    now = datetime.now(UTC)
    ids = {guest.link.id for guest in guests}
    kept = {link.id for link in links.all() if link_state(link, now) == "valid"}
    return frozenset(ids - kept)


class Tickets:
    """Random names of web sockets: each opens one, once, within :data:`TICKET_S` seconds.

    The address of a web socket may come into a proxy's log; a key must not, so a ticket stands in
    its place. A rater has one at a time, so nobody can push out those of others.
    """

    def __init__(self) -> None:
        self._made: dict[str, tuple[Guest, float]] = {}

    def make(self, guest: Guest, now: float) -> str:
        """Return a new ticket, in place of the rater's older one."""
        ticket = secrets.token_urlsafe(32)
        self._made = {
            one: (of, until) for one, (of, until) in self._made.items() if of.who != guest.who
        }
        self._made[ticket] = guest, now + TICKET_S
        return ticket

    def take(self, ticket: str, now: float) -> Guest | None:
        """Return whom a ticket lets in, or None; it is used up."""
        guest, until = self._made.pop(ticket, (None, 0.0))
        return guest if now < until else None
