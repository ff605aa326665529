"""Who and what is let in: pages and their replies, keys and tickets, wrong tries, messages."""

from __future__ import annotations

import ipaddress
import json
import secrets
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from tabwb.administer.rating.access import link_state
from tabwb.records.system import stays_here

if TYPE_CHECKING:
    from tabwb.records.rating_sets import RaterLink


FEATURES = (
    "accelerometer", "camera", "clipboard-read", "display-capture", "geolocation", "gyroscope",
    "hid", "magnetometer", "microphone", "midi", "payment", "serial", "usb",
)  # fmt: skip
"""Parts of a computer that the page never uses."""


@dataclass(frozen=True)
class Site:
    """Where browsers reach the server.

    Attributes:
        url: without a final slash, as ``access.checked_address`` has it.
        port: on which the server listens; names of this computer are accepted with it.
    """

    url: str
    port: int

    @property
    def is_here(self) -> bool:
        """Whether only browsers of this computer reach it."""
        return stays_here(urlsplit(self.url).hostname)

    @property
    def hosts(self) -> frozenset[str]:
        """What ``Host`` may say. Any other name means that a foreign page points to this server."""
        hosts = {urlsplit(self.url).netloc}
        if self.is_here:
            hosts |= {f"{name}:{self.port}" for name in ("localhost", "127.0.0.1", "[::1]")}
        return frozenset(hosts)

    @property
    def origins(self) -> frozenset[str]:
        """What ``Origin`` may say: pages of this server and no other."""
        scheme = urlsplit(self.url).scheme
        return frozenset(f"{scheme}://{host}" for host in self.hosts)

    @property
    def encrypted(self) -> bool:
        """Whether browsers reach it by https."""
        return self.url.startswith("https:")

    def security_headers(self, *, terminal: bool = False) -> Mapping[str, str]:
        """Return the headers of every reply; ``terminal``: of the page that draws a terminal."""
        # Older Safari does not count a web socket as the page's own origin. The syntax of policies
        # has no IPv6 addresses.
        named = sorted(origin for origin in self.origins if "[" not in origin)
        sockets = " ".join(f"ws{origin[4:]}" for origin in named)
        policy = {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "img-src": "'self' data:",
            "media-src": "'self'",
            "connect-src": "'self'",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
            "require-trusted-types-for": "'script'",  # no text becomes a part of the page
            "trusted-types": "'none'",
        }
        if terminal:  # it writes its own style elements, and what it draws is an own script's
            policy |= {
                "style-src": "'self' 'unsafe-inline'",
                "font-src": "'self'",
                "connect-src": f"'self' {sockets}",
            }
            del policy["require-trusted-types-for"], policy["trusted-types"]
        headers = {
            "Content-Security-Policy": "; ".join(f"{key} {value}" for key, value in policy.items()),
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "X-Robots-Tag": "noindex, nofollow",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": ", ".join(f"{feature}=()" for feature in FEATURES),
            "Cache-Control": "no-store",
            "Server": "tabwb",
        }
        if self.encrypted:
            headers["Strict-Transport-Security"] = "max-age=31536000"
        return headers


def client_address(peer: str | None, forwarded: str, *, behind_proxy: bool) -> str | None:
    """Return the address of the browser that sent a request.

    >>> client_address("127.0.0.1", "9.9.9.9, 192.0.2.7", behind_proxy=True)
    '192.0.2.7'
    >>> client_address("127.0.0.1", "9.9.9.9, 192.0.2.7", behind_proxy=False)
    '127.0.0.1'
    """
    if behind_proxy and forwarded:
        return forwarded.rpartition(",")[2].strip()
    return peer


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


BURST = 10
"""Wrong links that an address may try at once."""
REFILL_S = 6.0
"""Seconds after which it may try one more."""
ADDRESSES = 4096
"""Addresses that are remembered; of more, those that tried longest ago are forgotten."""


class WrongTries:
    """Counts wrong links by address, in a table whose size is bounded.

    Each address has a bucket of :data:`BURST` tries, which gets one more every :data:`REFILL_S`
    seconds. Only wrong links take one.
    """

    def __init__(self, *, burst: int = BURST, size: int = ADDRESSES) -> None:
        self._burst = float(burst)
        self._size = size
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._left)

    def take(self, address: str, now: float) -> float:
        """Take a try, and return 0; or return after how many seconds there is one again."""
        tries = self._tries(address, now)
        if tries < 1.0:
            return (1.0 - tries) * REFILL_S
        self._keep(address, tries - 1.0, now)
        return 0.0

    def _keep(self, address: str, tries: float, now: float) -> None:
        self._left[address] = (tries, now)
        self._left.move_to_end(address)
        while len(self._left) > self._size:
            self._left.popitem(last=False)

    def _tries(self, address: str, now: float) -> float:
        left, at = self._left.get(address, (self._burst, now))
        return min(self._burst, left + (now - at) / REFILL_S)


def network(address: str | None) -> str:
    """Return what stands for an address in the table: one IPv6 customer has 2**64 addresses.

    >>> network("192.0.2.7"), network("2001:db8::1:2"), network("::ffff:192.0.2.7"), network("x")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7', 'unknown')
    """
    try:
        read = ipaddress.ip_address((address or "").strip().partition("%")[0])
    except ValueError:
        return "unknown"
    if read.version == 4:
        return str(read)
    if read.ipv4_mapped is not None:
        return str(read.ipv4_mapped)
    return str(ipaddress.ip_network((read, 64), strict=False))


MOST_BYTES = 65_536
"""Length of a message; a longer one ends the connection."""
SMALLEST, LARGEST = 2, 500
"""Columns and lines of a terminal; the process reserves memory for each cell."""


@dataclass(frozen=True)
class Keys:
    """What was typed or pasted, or what the mouse did, as a terminal sends it."""

    text: str


@dataclass(frozen=True)
class Size:
    """Size of the terminal in the browser."""

    columns: int
    lines: int


@dataclass(frozen=True)
class Ping:
    """Is to be sent back."""

    text: str


@dataclass(frozen=True)
class Focus:
    """The terminal got the focus or lost it."""

    has: bool


Envelope = Keys | Size | Ping | Focus


def read_envelope(text: str) -> Envelope | None:
    """Return what textual-serve's terminal said, or None where it can't have said this.

    >>> read_envelope('["stdin", "a"]'), read_envelope('["resize", {"width": 80, "height": 24}]')
    (Keys(text='a'), Size(columns=80, lines=24))
    >>> read_envelope('["resize", {"width": 1e9, "height": 24}]') is None
    True
    """
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match read:
        case ["stdin", str(typed)]:
            return Keys(typed)
        case ["resize", {"width": width, "height": height}]:
            return read_size(width, height)
        case ["ping", str(mark)] if len(mark) <= 32:
            return Ping(mark)
        case ["focus" | "blur" as which]:
            return Focus(which == "focus")
        case _:
            return None


def read_size(width: object, height: object) -> Size | None:
    """Return a size of a terminal, or None where it is not one."""
    sides = []
    for side in (width, height):
        if isinstance(side, str) and side.isascii() and side.isdigit() and len(side) < 5:
            side = int(side)  # noqa: PLW2901 - the same side, read
        if type(side) is not int or not SMALLEST <= side <= LARGEST:
            return None
        sides.append(side)
    return Size(*sides)
