"""Signals: what ctrl+c, ``kill`` and a closed terminal do while something is under way."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = ("SIGTERM", "SIGHUP")
"""``kill``, and a terminal that was closed."""


@contextmanager
def caught(handler: Callable[[int, FrameType | None], None], *names: str) -> Iterator[None]:
    """Let ``handler`` answer these signals meanwhile (those that this platform has).

    A signal that was ignored from the start stays so: ``nohup`` and a shell's ``&`` mean it.
    """
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {
        number: signal.signal(number, handler)
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
