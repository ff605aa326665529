"""How many wrong links one address may try."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict

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
