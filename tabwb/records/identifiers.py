"""Identifiers: UUID version 7 for records, kebab-case for everything that people name."""

from __future__ import annotations

import os
import re
import time
import uuid

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Ids of batteries, subtests, items, features and components: ``conduite-d-approche``."""


def is_kebab(text: str) -> bool:
    """Return whether ``text`` is a kebab-case id.

    >>> is_kebab("tab-2026"), is_kebab("Tab 2026")
    (True, False)
    """
    return KEBAB.fullmatch(text) is not None


COMPONENT = re.compile(rf"{KEBAB.pattern}(\+{KEBAB.pattern})*")
"""Ids of components: kebab-case, variants joined by a plus sign (``tab-2026+prompt``)."""


def is_component_id(text: str) -> bool:
    """Return whether ``text`` can be the id of a component.

    >>> is_component_id("tab-2026+prompt"), is_component_id("tab-2026+")
    (True, False)
    """
    return COMPONENT.fullmatch(text) is not None


def uuid7(now_ms: int | None = None) -> str:
    """Return a UUID version 7 (RFC 9562, 5.7): 48 bits of Unix milliseconds, then random bits.

    Sorts by time of creation, so that exports of several stores merge in order.

    >>> uuid7(0)[:14], len(uuid7())
    ('00000000-0000-', 36)
    """
    milliseconds = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    value = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))
