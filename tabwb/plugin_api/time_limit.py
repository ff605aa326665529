"""A time limit for calls that have none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return the result of ``work``, which runs in a thread that is abandoned at the limit.

    A server that sends a byte now and then never times out, and a chat template can loop for ever.

    Args:
        seconds: the limit.
        work: the call.

    Raises:
        TimeoutError: the call did not return in time.
        Exception: as raised by the call.
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
