"""The processes that this one has started, so that all of them can be ended at once."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:  # every command imports this module, and few start a process
    import subprocess

_STARTED: WeakSet[subprocess.Popen[bytes]] = WeakSet()


def register(process: subprocess.Popen[bytes]) -> None:
    """Let :func:`kill_all` end this process.

    Args:
        process: started with ``start_new_session=True``, so that it leads a process group.
    """
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
