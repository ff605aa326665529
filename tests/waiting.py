"""Time limits of tests: generous, so that a slow machine fails none of them."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT_S = 60.0


def until(condition: Callable[[], object], what: str = "", *, poll_s: float = 0.02) -> float:
    """Wait until a condition holds and return how many seconds it took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < LIMIT_S, f"not within {LIMIT_S:.0f} s: {what}"
        time.sleep(poll_s)
    return time.monotonic() - began
