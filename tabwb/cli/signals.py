"""Signals: what ctrl+c, ``kill`` and a closed terminal do while something runs."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from tabwb.cli import watchdog
from tabwb.records import system
from tabwb.records.system import Interrupt, interrupt

ENDING = ("SIGTERM", "SIGHUP")
"""``kill``, and a terminal that was closed."""


JOIN_S = 2.0
"""Seconds that threads of plugins have to end after the command is done."""
LEAVE_S = 3.0
"""Seconds that the program has to end in order after the second signal."""


def watch() -> None:
    r"""End the program after a second ctrl+c even where the main thread never returns.

    Python runs its signal handlers in the main thread only. A plugin that waits in a library, an
    import that hangs or a thread that a plugin left behind would keep the program alive. A thread
    reads the signals from the wake-up descriptor, kills the child processes and leaves. Code that
    holds Python's global lock for ever stops this thread too; there the watchdog kills the program.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        return
    reading, writing = os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    earlier = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    if earlier != -1:  # another program hosts this one and has its own
        signal.set_wakeup_fd(earlier, warn_on_full_buffer=False)
        return
    passed = watchdog.start(reading, writing)
    threading.Thread(target=_leave_after_two, args=(passed,), daemon=True).start()


def _leave_after_two(reading: int) -> None:
    import select

    times: list[float] = []
    deadline: float | None = None
    while deadline is None or time.monotonic() < deadline:
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not select.select([reading], [], [], wait)[0]:
            continue
        now = time.monotonic()
        signals = os.read(reading, 64)
        if not signals:
            return  # the watchdog was killed
        times = [at for at in times if now - at < watchdog.TWICE_S]
        times += [now for number in signals if number in watchdog.ENDING]
        if len(times) >= 3:
            break
        if len(times) == 2 and deadline is None:
            deadline = now + LEAVE_S
    system.kill_all()
    with contextlib.suppress(OSError):
        os.write(2, watchdog.STOPPED)
    os._exit(130)


@contextmanager
def own_interrupts() -> Iterator[None]:
    """Let ctrl+c raise :class:`~tabwb.records.system.Interrupt` while a command runs.

    A ``KeyboardInterrupt`` that a plugin raises is then known as the plugin's failure. A handler
    that another program has set stays.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    with caught(interrupt, "SIGINT"):
        yield


def end(status: int) -> None:
    """End the process where a plugin's threads still run after :data:`JOIN_S` and keep it alive."""
    own = threading.main_thread()
    left = [thread for thread in threading.enumerate() if thread is not own and not thread.daemon]
    deadline = time.monotonic() + JOIN_S
    with contextlib.suppress(KeyboardInterrupt):
        for thread in left:
            thread.join(max(0.0, deadline - time.monotonic()))
    names = ", ".join(thread.name for thread in left if thread.is_alive())
    if not names:
        return
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"warning: a plugin left threads that do not end: {names}\n")
        sys.stdout.flush()
        sys.stderr.flush()
    system.kill_all()
    os._exit(status)


@contextmanager
def caught(handler: Callable[[int, FrameType | None], None], *names: str) -> Iterator[None]:
    """Let a handler answer signals meanwhile.

    A signal that was ignored from the start stays ignored, as ``nohup`` and a shell's ``&`` want.
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


@contextmanager
def stopping(cancel: threading.Event, safe: str = "all answers are saved") -> Iterator[None]:
    """Let the first ctrl+c (or a closed terminal) stop after the current item, the second at
    once.
    """

    def handler(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            raise Interrupt
        cancel.set()
        # Not through Python's stderr: the signal may have come in the middle of writing there.
        with contextlib.suppress(OSError):
            os.write(2, f"\nstopping; {safe} (ctrl+c again to stop at once)\n".encode())

    with caught(handler, "SIGINT", *ENDING):
        yield
