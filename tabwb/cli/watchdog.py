"""A second process that ends the program where a plugin holds the interpreter's lock for ever.

No Python code of the program runs then, no thread and no signal handler. The system still writes
each signal into the wake-up pipe, which this process reads and passes on. In the workbench ctrl+c
is a key, which nobody reads then: keys that stay unread make ctrl+c a signal again until they are
read.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

from tabwb.records import system

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
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""ctrl+c, ``kill``, and a terminal that was closed."""
STOPPED = b"\nstopped at once; all answers are saved\n"
_LEAVE_SCREEN = b"\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[?1049l\x1b[?25h"
"""Ends what a full-screen program asks of a terminal: the mouse, pasting, keys, screen, cursor."""


def start(reading: int, writing: int) -> int:
    """Start the watchdog; return where the signals' numbers can be read that it passes on."""
    passed, passing = os.pipe()
    program = os.getpid()

    def work() -> None:
        signal.set_wakeup_fd(-1)
        for end in (writing, passed):  # so that the end of the program ends the pipe
            os.close(end)
        for number in ENDING:
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
        with contextlib.suppress(OSError):
            os.write(self._passing, numbers)
        now = time.monotonic()
        self._times = [at for at in self._times if now - at < TWICE_S]
        self._times += [now for number in numbers if number in ENDING]
        if len(self._times) >= 2:
            wait = GRACE_S if len(self._times) > 2 else BLOCKED_S
            self._deadline = min(now + wait, self._deadline or now + wait)

    def _kill(self) -> None:
        if os.getppid() != self._program:
            return
        # Before a shell has the terminal again, or the terminal ends with the program.
        screen = b"" if self._keys is None else self._keys.restore()
        with contextlib.suppress(OSError):
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

        with contextlib.suppress(termios.error, OSError):
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
