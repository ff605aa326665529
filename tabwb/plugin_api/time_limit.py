"""A time limit for calls that have none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return the result of ``work``, which runs in a thread that is abandoned at the limit.

    A server that sends a byte now and then never times out, and a chat template can loop for ever.

    Args:
        seconds: the limit.
        work: the call.

    Raises what the call raises, or ``TimeoutError`` where it does not return in time.
    """
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            done.set_exception(error)

    # Not by an executor, whose threads the interpreter waits for when it ends.
    threading.Thread(target=run, daemon=True).start()
    return done.result(timeout=seconds)
