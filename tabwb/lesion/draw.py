"""The random draws of lesions: which units are taken, noise, and orders.

The draws of a part depend on the seed and the part's name alone, so that they are the same whatever
else a lesion takes, and masks of growing amounts are nested: what 10 % takes, 30 % takes too.

SFC64 (C. Doty-Humphrey, PractRand, 2010) gives 64 random bits at a time; it is seeded with the
BLAKE2b hash (RFC 7693) of purpose, seed and name. Draws use the raw bits only, which numpy
guarantees to keep; its distributions may change between versions.
"""

from __future__ import annotations

import hashlib
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION = "tabwb-lesion-1"
_UNUSED: Any = np.random.SeedSequence(0)
"""Replaced at once; without it numpy asks the system for entropy, which takes longer."""
Bits = NDArray[np.uint32]
BLOCK = 2**17
"""So many draws are made at once, in a processor's cache; the result does not depend on it."""


def bits_of(seed: int, name: str, purpose: str, count: int) -> Bits:
    """Return random bits.

    Returns:
        Shape (count,), uint32, each value as likely as any other.

    >>> [int(bits) for bits in bits_of(7, "3.attention.q", "units", 3)]
    [2243211266, 2832821967, 190352206]
    """
    return Draws(seed, name, purpose).take(count)


class Draws:
    """A stream of random bits; see :func:`bits_of`."""

    def __init__(self, seed: int, name: str, purpose: str) -> None:
        text = "\0".join((VERSION, purpose, str(seed), name))
        digest = hashlib.blake2b(text.encode(), digest_size=24).digest()
        self._bits: Any = np.random.SFC64(_UNUSED)
        words = np.frombuffer(digest, dtype="<u8").astype(np.uint64)
        # The seeding of the author's reference program: three words, a counter of 1, and 12
        # results thrown away.
        first = np.array([*words, 1], dtype=np.uint64)
        self._bits.state = {
            "bit_generator": "SFC64",
            "state": {"state": first},
            "has_uint32": 0,
            "uinteger": 0,
        }
        self._bits.random_raw(12, output=False)

    def take(self, count: int) -> Bits:
        """Return the next bits, an even number of them at each call but the last."""
        raw = self._bits.random_raw((count + 1) // 2)
        # The low half of each result first, on machines of either byte order.
        halves: Bits = raw.astype("<u8", copy=False).view("<u4")[:count]
        return halves.astype(np.uint32, copy=False)


def threshold(amount: float) -> int:
    """Return the number below which bits are taken, 0 to 2**32.

    >>> threshold(0.0), threshold(0.5) == 2**31, threshold(1.0) == 2**32
    (0, True, True)
    """
    return round(amount * 2**32)


def weights_taken(seed: int, name: str, count: int, amount: float) -> NDArray[np.bool_]:
    """Return which weights of a part a lesion takes: each with probability ``amount``.

    Returns:
        Shape (count,), bool.
    """
    taken = np.empty(count, dtype=np.bool_)
    draws, limit = Draws(seed, name, "units"), threshold(amount)
    if limit == 2**32:
        taken[:] = True
        return taken
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        np.less(draws.take(last - first), np.uint32(limit), out=taken[first:last])
    return taken


def how_many(count: int, amount: float) -> int:
    """Return how many units an amount takes: rounded, a half upwards.

    >>> how_many(4, 0.1), how_many(4, 0.125), how_many(10, 0.3), how_many(4, 1.0)
    (0, 1, 3, 4)
    """
    # By the written number: 0.3 of 5 is one and a half, though the nearest float is less.
    return int((Decimal(repr(amount)) * count).to_integral_value(ROUND_HALF_UP))


def normal(seed: int, name: str, count: int) -> NDArray[np.float32]:
    """Return normal draws of mean 0 and standard deviation 1.

    Two draws of each pair of uniform numbers (G. E. P. Box and M. E. Muller, 1958, Annals of
    Mathematical Statistics 29, 610-611).

    Returns:
        Shape (count,), float32.
    """
    drawn = np.empty(count, dtype=np.float32)
    draws = Draws(seed, name, "noise")
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        pairs = (last - first + 1) // 2
        # 0 to 1, both ends left out.
        uniform = (draws.take(2 * pairs).astype(np.float64) + 0.5) / 2**32
        radius = np.sqrt(-2.0 * np.log(uniform[0::2]))
        angle = 2.0 * np.pi * uniform[1::2]
        both = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        drawn[first:last] = both.reshape(-1)[: last - first]
    return drawn


def order(seed: int, name: str, count: int) -> NDArray[np.int64]:
    """Return the numbers from 0 to ``count - 1`` in a random order, shape (count,)."""
    draws = Draws(seed, name, "order")
    high = draws.take(2 * count).astype(np.uint64)
    # 64 bits each, so that equal draws, which would keep their order, do not occur in practice.
    return np.argsort(high[0::2] << np.uint64(32) | high[1::2], kind="stable")
