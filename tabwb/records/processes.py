"""Child processes, so that all can be ended at once; and ctrl+c, as a signal raises it."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:  # every command imports this module, and few start a process
    import subprocess
import threading
from types import FrameType

_STARTED: WeakSet[subprocess.Popen[bytes]] = WeakSet()


def register(process: subprocess.Popen[bytes]) -> None:
    """Let :func:`kill_all` end this process, which was started with ``start_new_session=True``."""
    # A program that is interrupted while it waits for the end of a process leaves none behind.
    atexit.unregister(kill_all)
    atexit.register(kill_all)
    _STARTED.add(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it has started, also where it is stopped or busy."""
    if process.poll() is not None:
        return
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def kill_all() -> None:
    """Kill every registered process that still runs."""
    for process in list(_STARTED):
        kill_group(process)


class Interrupt(KeyboardInterrupt):
    """Raised by our signal handlers: a person pressed ctrl+c, or the process is asked to end."""


def interrupt(number: int, frame: FrameType | None) -> None:
    """Handle a signal by raising :class:`Interrupt`.

    Args:
        number: of the signal.
        frame: ignored.

    Raises:
        Interrupt: always.
    """
    raise Interrupt


def is_real(error: KeyboardInterrupt) -> bool:
    """Return whether a ``KeyboardInterrupt`` comes from a signal.

    Signals reach the main thread only. Where Python's own handler is in force there, every
    ``KeyboardInterrupt`` counts as one.

    >>> is_real(Interrupt())
    True
    """
    if isinstance(error, Interrupt):
        return True
    if threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler
