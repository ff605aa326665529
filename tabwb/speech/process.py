"""The program's side of the sound host: PortAudio works in its own process.

PortAudio and ALSA write to C's stderr, where Textual draws; they list devices once per process, so
that a headset plugged in later is not found; they may hang or crash with a device that disappears;
and a Python callback is late while its process computes. A program that only reads lines from a
pipe is not affected. When the program dies, the pipe closes and the recorder ends its file.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any

from tabwb.records import system
from tabwb.records.errors import ComponentError, MissingExtra, TabwbError
from tabwb.records.system import is_installed
from tabwb.speech.sound_server import environment

Message = Mapping[str, Any]
"""One line from the host: ``event`` says what it is."""

LOG_LINES = 4
END_S = 2.0
ANSWER_S = 10.0
HINTS: Mapping[str, str] = {
    "library": "on Debian or Ubuntu: apt-get install libportaudio2; elsewhere it comes with "
    "pip install --force-reinstall sounddevice",
    "configuration": "is a sound server running, and may this user use sound devices? "
    "'tabwb microphone list' asks again",
    "device": "'tabwb microphone list' shows what is there now",
    "open": "another program may hold the device; 'tabwb microphone list' shows the others",
    "file": "make room there or allow writing, or choose another place",
}
"""A hint for each kind of error of the host."""


class SoundHost:
    """One running host: ``devices``, ``record`` or ``play``.

    Attributes:
        error: what the host said it could not do.
        over: set when its process has ended.
        printed: the last lines that C libraries printed there, once :meth:`end` was called.
    """

    def __init__(self, verb: str, options: Message, hear: Callable[[Message], None]) -> None:
        if not is_installed("sounddevice"):
            raise MissingExtra("recording and playing sound", "audio", package="sounddevice")
        inherited = environment()
        self._hear = hear
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the host
        self.printed = ""
        self.error: TabwbError | None = None
        self.over = threading.Event()
        self._stuck = False
        self._popen = system.start(
            system.python("tabwb.speech.host", verb),
            inherited,
            stdin=system.PIPE,
            stdout=system.PIPE,
            stderr=self._log,
        )
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self._stdin, self._stdout = self._popen.stdin, self._popen.stdout
        self._say(options)
        self._listener = threading.Thread(target=self._listen, name=f"sound {verb}", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """Of the host's process."""
        return self._popen.pid

    def ask_to_end(self) -> None:
        """Ask the host to end in good order."""
        self._say({"end": True})

    def end(self, timeout_s: float = END_S) -> None:
        """Wait for the end, and force it after a limit."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._stuck = not self.over.is_set()
        for act in (None, self._popen.terminate, self._popen.kill):
            if act is not None:
                act()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(timeout_s)
                break
        self._listener.join(timeout_s)
        if not self._log.closed:
            self.printed = _last(self._log)
            self._log.close()

    def failure(self) -> TabwbError:
        """Return why the host ended without having done what it was asked for."""
        if self.error is not None:
            return self.error
        status = self._popen.poll() or 0
        if self._stuck:
            how = f"did not answer within {ANSWER_S:g} s"
        elif status < 0:
            # PortAudio ends its process where ALSA's configuration cannot be read.
            how = f"broke down ({signal.Signals(-status).name})"
        else:
            how = f"ended unexpectedly (status {status})"
        return ComponentError(
            f"PortAudio {how}", hint="\n".join(filter(None, (HINTS["configuration"], self.printed)))
        )

    def _say(self, options: Message) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stdin.write(json.dumps(options).encode() + b"\n")
            self._stdin.flush()

    def _listen(self) -> None:
        # A host that is killed may leave half a line.
        with self._stdout, contextlib.suppress(json.JSONDecodeError):
            for line in self._stdout:
                message = json.loads(line)
                if message["event"] == "error":
                    self.error = ComponentError(
                        message["message"],
                        where=message.get("where"),
                        hint=HINTS.get(message["kind"]),
                    )
                else:
                    self._hear(message)
        self._popen.wait()
        self.over.set()
        self._hear({"event": "over"})


def _last(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    return "\n".join([line for line in lines if line.strip()][-LOG_LINES:])
