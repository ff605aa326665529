"""The process of a command: its three streams, signals, and a watchdog for a lock that is held.

Streams are used as they are found: closed, full, of another encoding, gone. Signals are what
ctrl+c, ``kill`` and a closed terminal do. The watchdog is a second process that ends the program
where a plugin holds the interpreter's lock for ever: no Python code of the program runs then, no
thread and no signal handler. The system still writes each signal into the wake-up pipe, which that
process reads and passes on. In the workbench ctrl+c is a key, which nobody reads then: keys that
stay unread make ctrl+c a signal again until they are read.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from tabwb.records import system
from tabwb.records.system import Interrupt, interrupt
from tabwb.records.words import VisibleStream

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_found: list[TextIO] = []
"""The streams as they were found, below the filters."""


def prepare() -> None:
    """Make the three streams such that writing '✓' or reading half a character raises nothing.

    A stream that was closed before the start (``>&-``) becomes the null device, so that no file
    of ours, a store least of all, takes its number. ASCII means that nobody said what the terminal
    can do; UTF-8 is then the better guess, as for Python itself in the C locale. In any other
    encoding a sign that it lacks becomes '?'. Bytes that cannot be decoded are kept as halves of
    characters (PEP 383), which :func:`tabwb.administer.session.session.storable` makes visible.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, this one
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    system.check_open_files()
    _reconfigure(sys.stdin, "surrogateescape", "surrogateescape")
    _reconfigure(sys.stdout, "backslashreplace", "replace")
    _reconfigure(sys.stderr, "backslashreplace", "backslashreplace")
    sys.stdout, sys.stderr = _filtered(sys.stdout), _filtered(sys.stderr)
    if getattr(sys.unraisablehook, "func", None) is not _tell_ignored:
        sys.unraisablehook = partial(_tell_ignored, sys.unraisablehook)


def _tell_ignored(
    tell: Callable[[UnraisableHookArgs], object], raised: UnraisableHookArgs, /
) -> None:
    """Let Python print what a finalizer raised: it goes on, so missing memory is not told."""
    if not isinstance(raised.exc_value, MemoryError):
        tell(raised)


def is_utf8(stream: object) -> bool:
    """Whether every character can be written to the stream as it is.

    >>> is_utf8(io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    False
    """
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    return encoding.replace("_", "-") in {"utf-8", "utf8", "utf-8-sig"}


def give_up(stream: object) -> None:
    """Send what is still to be written to a stream nowhere: its reader went away."""
    if isinstance(stream, io.TextIOWrapper):
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _filtered(stream: TextIO) -> TextIO:
    # Exactly this class: tests and other hosts put their own streams in its place.
    if type(stream) is not io.TextIOWrapper:
        return stream
    # Not detached, and kept: the workbench draws through the interpreter's own stream
    # (sys.__stderr__), and a stream that nothing refers to closes what lies below it.
    stream.flush()
    _found.append(stream)
    return VisibleStream(
        stream.buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
    )


def _reconfigure(stream: object, errors: str, errors_elsewhere: str) -> None:
    # Exactly this class: tests and other hosts put their own streams in its place.
    if type(stream) is not io.TextIOWrapper:
        return
    if stream.encoding.lower() in {"ascii", "us-ascii", "ansi_x3.4-1968", "646"}:
        stream.reconfigure(encoding="utf-8", errors=errors)
    else:
        stream.reconfigure(errors=errors if is_utf8(stream) else errors_elsewhere)


TWICE_S = 10.0
"""Signals within so many seconds count together."""
BLOCKED_S = 10.0
"""Seconds that the program has to end by itself after the second signal."""
GRACE_S = 2.0
"""Seconds that it has after the third one."""
READ_S = 0.1
"""Seconds that a terminal has to read the last message, where it ends with the program."""
LOOK_S = 0.5
"""Seconds between two looks at keys that are not read."""
LOOKS = 6
"""The program reads no keys if at so many looks the number of unread keys has not fallen."""
_ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""ctrl+c, ``kill``, and a terminal that was closed."""
STOPPED = b"\nstopped at once; all answers are saved\n"
_LEAVE_SCREEN = b"\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[?1049l\x1b[?25h"
"""Ends what a full-screen program asks of a terminal: the mouse, pasting, keys, screen, cursor."""


def _start_watchdog(reading: int, writing: int) -> int:
    """Start the watchdog; return where the signals' numbers can be read that it passes on."""
    passed, passing = os.pipe()
    program = os.getpid()

    def work() -> None:
        signal.set_wakeup_fd(-1)
        for end in (writing, passed):  # so that the end of the program ends the pipe
            os.close(end)
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)
        _Watchdog(program, reading, passing).run()

    try:
        system.fork(work)
    except OSError:  # no more processes are allowed
        os.close(passed)
        os.close(passing)
        return reading
    os.close(reading)
    os.close(passing)
    return passed


class _Watchdog:
    def __init__(self, program: int, reading: int, passing: int) -> None:
        self._program, self._reading, self._passing = program, reading, passing
        self._keys = _UnreadKeys.of_terminal()
        self._times: list[float] = []
        self._deadline: float | None = None
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):  # who reads the program's output need not wait for this process
            os.dup2(nothing, stream)

    def run(self) -> None:
        import select

        while True:
            now = time.monotonic()
            if self._deadline is not None and now >= self._deadline:
                self._kill()
                return
            waits = [] if self._deadline is None else [self._deadline - now]
            files = [self._reading]
            if self._keys is not None:
                looks = self._keys.looks_in_s(now)
                if looks is None:
                    files.append(self._keys.terminal)
                else:
                    waits.append(looks)
            ready = select.select(files, [], [], min(waits, default=None))[0]
            if self._keys is not None and (len(ready) > 1 or self._reading not in ready):
                self._keys.look(time.monotonic())
            if self._reading in ready:
                numbers = os.read(self._reading, 64)
                if not numbers:
                    return  # the program has ended
                self._take(numbers)

    def _take(self, numbers: bytes) -> None:
        with suppress(OSError):
            os.write(self._passing, numbers)
        now = time.monotonic()
        self._times = [at for at in self._times if now - at < TWICE_S]
        self._times += [now for number in numbers if number in _ENDING]
        if len(self._times) >= 2:
            wait = GRACE_S if len(self._times) > 2 else BLOCKED_S
            self._deadline = min(now + wait, self._deadline or now + wait)

    def _kill(self) -> None:
        if os.getppid() != self._program:
            return
        # Before a shell has the terminal again, or the terminal ends with the program.
        screen = b"" if self._keys is None else self._keys.restore()
        with suppress(OSError):
            os.write(2, screen + STOPPED)  # at once: ctrl+c drops output that waits
        time.sleep(READ_S)
        os.kill(self._program, signal.SIGKILL)


class _UnreadKeys:
    """Makes ctrl+c a signal while a program that reads keys itself does not read them."""

    def __init__(self, terminal: int) -> None:
        import termios

        self.terminal = terminal
        self._modes = termios.tcgetattr(terminal)  # before a program has changed them
        self._given: list[object] | None = None
        self._before: list[object] = []
        self._unread: list[int] = []
        self._next: float | None = None

    @classmethod
    def of_terminal(cls) -> _UnreadKeys | None:
        """Return those of the program's terminal, or None where it has none."""
        if not (os.isatty(0) and os.isatty(1)):
            return None
        try:
            return cls(os.dup(0))
        except Exception:  # noqa: BLE001 - the errors of termios are not OSErrors
            return None

    def looks_in_s(self, now: float) -> float | None:
        """Return the seconds to the next look; None: when a key is pressed."""
        return None if self._next is None else max(0.0, self._next - now)

    def look(self, now: float) -> None:
        """Look whether keys are unread."""
        import termios

        unread = self._count()
        self._unread = [*self._unread[1 - LOOKS :], unread] if unread else []
        # A terminal that was closed, or ended by ctrl+d, is always ready with nothing to read.
        self._next = now + LOOK_S if unread or self._next is None else None
        try:
            if not unread:
                self._take_back()
            elif len(self._unread) == LOOKS and self._unread == sorted(self._unread):
                self._give()
        except termios.error:
            self._next = now + TWICE_S  # not our terminal any more

    def restore(self) -> bytes:
        """Restore the modes that a program has changed; return what ends its full screen."""
        import termios

        with suppress(termios.error, OSError):
            if termios.tcgetattr(self.terminal)[3] == self._modes[3] or not self._is_foreground():
                return b""
            termios.tcsetattr(self.terminal, termios.TCSAFLUSH, self._modes)
            return _LEAVE_SCREEN if os.isatty(2) else b""
        return b""

    def _give(self) -> None:
        import termios

        modes = termios.tcgetattr(self.terminal)
        if modes[3] & termios.ISIG or not self._is_foreground():
            return
        self._before = list(modes)
        modes[3] |= termios.ISIG | termios.NOFLSH  # what is unread stays, to be counted
        termios.tcsetattr(self.terminal, termios.TCSANOW, modes)
        self._given = termios.tcgetattr(self.terminal)

    def _take_back(self) -> None:
        import termios

        given, self._given = self._given, None
        if given is not None and termios.tcgetattr(self.terminal) == given:
            termios.tcsetattr(self.terminal, termios.TCSANOW, self._before)  # type: ignore[arg-type]

    def _is_foreground(self) -> bool:
        return os.tcgetpgrp(self.terminal) == os.getpgrp()

    def _count(self) -> int:
        import fcntl
        import termios

        try:
            content = fcntl.ioctl(self.terminal, termios.FIONREAD, bytes(4))
        except OSError:
            return 0
        return int.from_bytes(content, sys.byteorder)


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
    passed = _start_watchdog(reading, writing)
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
        times = [at for at in times if now - at < TWICE_S]
        times += [now for number in signals if number in _ENDING]
        if len(times) >= 3:
            break
        if len(times) == 2 and deadline is None:
            deadline = now + LEAVE_S
    system.kill_all()
    with suppress(OSError):
        os.write(2, STOPPED)
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
    with suppress(KeyboardInterrupt):
        for thread in left:
            thread.join(max(0.0, deadline - time.monotonic()))
    names = ", ".join(thread.name for thread in left if thread.is_alive())
    if not names:
        return
    with suppress(OSError, ValueError):
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
        with suppress(OSError):
            os.write(2, f"\nstopping; {safe} (ctrl+c again to stop at once)\n".encode())

    with caught(handler, "SIGINT", *ENDING):
        yield
