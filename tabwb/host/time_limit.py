"""Limits of time and memory for calls that have none."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tabwb.records.errors import ComponentError

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

MEMORY = 2 * 1024**3
"""Bytes by which the program may grow meanwhile."""
_LOOK_S = 0.05
_STATM = Path("/proc/self/statm")


class LimitReached(ComponentError):
    """A plugin's call reached a limit of time or memory."""


class _Stopped(SystemExit):
    """Raised in the thread of a call that is abandoned, so that it ends and frees its memory."""


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return the result of ``work``, which runs in a thread that is abandoned at the limit.

    A server that sends a byte now and then never times out, and a chat template can loop for ever.

    Args:
        seconds: the limit.
        work: the call.

    Raises what the call raises, or ``TimeoutError`` where it does not return in time.
    """
    thread, done = _prepared(work)
    thread.start()
    return done.result(timeout=seconds)


def limited(name: str, seconds: float, work: Callable[[], T], *, memory: int = MEMORY) -> T:
    """Return the result of a plugin's call, which has limits of time and memory.

    The call runs in its own thread. At a limit it is abandoned; code in Python ends then, a
    call in C continues until it returns. Memory is what the whole program grows by; where the
    system does not tell, it has no limit.

    Raises:
        LimitReached: a limit is reached. What the call raises is raised too; a
            ``KeyboardInterrupt`` says what was running.
    """
    thread, done = _prepared(work)
    deadline, most = time.monotonic() + seconds, _memory() + memory
    try:
        thread.start()  # in here, because ctrl+c may come while it starts
        while True:
            try:
                return done.result(timeout=min(_LOOK_S, max(0.0, deadline - time.monotonic())))
            except TimeoutError:
                if done.done():  # one that the call itself raised
                    raise
            if time.monotonic() >= deadline:
                raise _exceeded(name, f"did not end within {seconds:g} s", f"{seconds:g} s")
            if _memory() > most:
                size = f"{memory / 1024**3:.2g} GiB"
                raise _exceeded(name, f"took more than {size} of memory", size)
    except KeyboardInterrupt as stopped:
        stopped.args = stopped.args or (f"{name} was running",)
        raise
    finally:
        if not done.done():
            _stop(thread)


def _prepared(work: Callable[[], T]) -> tuple[threading.Thread, Future[T]]:
    """Return a thread that makes a call, not yet started, and what its result will be."""
    from concurrent.futures import Future

    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except _Stopped:
            done.cancel()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            done.set_exception(error)

    # Not by an executor, whose threads the interpreter waits for when it ends.
    return threading.Thread(target=run, daemon=True), done


def _exceeded(name: str, what: str, allowed: str) -> LimitReached:
    return LimitReached(
        f"{name} {what}",
        allowed=allowed,
        hint="choose fewer administrations, or remove the plugin (tabwb plugins list) and report "
        "it to its author",
    )


def _stop(thread: threading.Thread) -> None:
    """Raise an exception in a thread; one that waits in C gets it when that returns."""
    import ctypes

    if thread.ident is not None:
        stopped = ctypes.py_object(_Stopped)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), stopped)


def _memory() -> int:
    """Return the bytes of memory that the program takes; 0 where that is not known."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0
