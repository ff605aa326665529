"""Work that must not take longer than a limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what ``work`` returns; it runs in a thread that is abandoned at the limit.

    For calls that have no limit of their own: a server that sends a byte now and then is never
    silent, and a chat template can loop for ever.

    Args:
        seconds: the limit.
        work: what to do.

    Raises:
        TimeoutError: the work was not done in time.
        Exception: whatever the work raised.
    """
    done: SimpleQueue[tuple[bool, Any]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((True, work()))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            done.put((False, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        worked, result = done.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if not worked:
        raise result
    return cast("T", result)
