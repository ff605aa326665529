"""Child processes: how each is started, and ended; and ctrl+c, as a signal raises it.

Every child of the program is started here, so that none imports code from the current folder, gets
a key, or outlives the program. A test refuses other ways.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:  # every command imports this module, and few start a process
    import asyncio.subprocess
    import subprocess

PIPE = -1
"""A stream of a child is a pipe: ``subprocess.PIPE``."""
NOTHING = -3
"""A stream of a child is empty: ``subprocess.DEVNULL``."""
_STARTED: WeakSet[subprocess.Popen[bytes]] = WeakSet()


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module, with nothing imported from the current folder."""
    return sys.executable, "-P", "-m", module, *arguments


def find_program(name: str) -> str | None:
    """Return the path of a program of the system; never one in the current folder."""
    import shutil

    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    absolute = os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    found = shutil.which(name, path=absolute)
    return found if found and Path(found).is_absolute() else None


def start(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    stdin: int = NOTHING,
    stdout: int = NOTHING,
    stderr: int | IO[bytes] = NOTHING,
    apart: bool = True,
) -> subprocess.Popen[bytes]:
    """Start a child."""
    import subprocess

    started = subprocess.Popen(
        command, env=environ, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=apart
    )
    if not apart:
        return started
    # A program that is interrupted while it waits for the end of a process leaves none behind.
    atexit.unregister(kill_all)
    atexit.register(kill_all)
    _STARTED.add(started)
    return started


def fork(work: Callable[[], None]) -> int:
    """Run a function in a copy of this process, which then ends; return its process number."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


async def start_served(
    command: Sequence[str], environ: Mapping[str, str]
) -> asyncio.subprocess.Process:
    """Start a child with three pipes in a server; its session ends it."""
    import asyncio

    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environ, start_new_session=True
    )


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
    """Handle a signal by raising :class:`Interrupt`."""
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
