"""The program's side of the sound host: PortAudio works in its own process.

PortAudio and ALSA write to C's stderr, where Textual draws; they list devices once per process, so
that a headset plugged in later is not found; they may hang or crash with a device that disappears;
and a Python callback is late while its process computes. A program that only reads lines from a
pipe is not affected. When the program dies, the pipe closes and the recorder ends its file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tabwb.records import system
from tabwb.records.errors import ComponentError, MissingExtra, NeedsNetwork, TabwbError, UsageError
from tabwb.records.system import child_environ, is_installed, is_offline, sound_servers_elsewhere
from tabwb.records.words import near

_DEFAULT = re.compile(r"^\s*default-server\s*=\s*(.*?)\s*$", re.MULTILINE)
SYSTEM = Path("/etc/pulse/client.conf")


def environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of the sound host.

    Offline it has no ``DISPLAY``: libpulse reads the name of a server from the root window too.
    """
    env = child_environ(os.environ if environ is None else environ)
    if not is_offline(env):
        return env
    env.pop("DISPLAY", None)
    for where, servers in configured(env):
        elsewhere = sound_servers_elsewhere(servers)
        if elsewhere:
            raise NeedsNetwork(
                f"the sound server {elsewhere[0]} was refused: tabwb is offline",
                where=where,
                allowed="a sound server on this computer (a unix socket or a loopback address)",
                hint="leave out --offline, or unset PULSE_SERVER and default-server",
            )
    return env


def configured(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the servers that libpulse would try, each with the place that names it.

    ``PULSE_SERVER`` counts before the ``default-server`` of ``client.conf``.
    """
    if environ.get("PULSE_SERVER"):
        return (("PULSE_SERVER", environ["PULSE_SERVER"]),)
    servers = []
    for path in _files(environ):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        servers += [(str(path), value) for value in _DEFAULT.findall(text)]
    return tuple(servers)


def _files(environ: Mapping[str, str]) -> list[Path]:
    if environ.get("PULSE_CLIENTCONFIG"):
        return [Path(environ["PULSE_CLIENTCONFIG"])]
    home = Path(environ.get("HOME") or Path.home())
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    # libpulse reads the first that exists; all are checked, which may refuse more than needed.
    files = [config / "pulse" / "client.conf", home / ".pulse" / "client.conf", SYSTEM]
    return files + [path for file in files for path in sorted(Path(f"{file}.d").glob("*.conf"))]


ASK_S = 2.0
LOOK_S = 2.0
"""Seconds between checks without an event, because pactl begins to listen with a delay."""


class Routing:
    """Watches the source of this process's recording; ``changed`` says how it changed, if so."""

    def __init__(self) -> None:
        self.source = ""
        self.changed = ""
        self._number = ""
        self._watching: subprocess.Popen[bytes] | None = None
        self._pactl = system.find_program("pactl")
        if self._pactl is None:
            return
        self._number = _source_number(self._ask("source-outputs"), os.getpid())
        if not self._number:
            return
        self.source = _description(self._ask("sources"), self._number)
        self._watching = system.start(
            (self._pactl, "subscribe"), _environment(), stdout=system.PIPE, apart=False
        )
        threading.Thread(target=self._listen, name="routing", daemon=True).start()

    def close(self) -> None:
        """Watch no more."""
        if self._watching is not None:
            self._watching.kill()
            self._watching.wait()

    def _listen(self) -> None:
        assert self._watching is not None and self._watching.stdout is not None
        events = self._watching.stdout.fileno()
        while True:
            ready, _, _ = select.select([events], [], [], LOOK_S)
            if ready:
                output = os.read(events, 65_536)
                if not output:
                    return
                # "Event 'change' on source-output #7"; clients and sinks are not our business.
                if b" on source" not in output:
                    continue
            self._look()

    def _look(self) -> None:
        number = _source_number(self._ask("source-outputs"), os.getpid())
        if not number:
            return  # not connected: the watchdog reports that no sound comes
        if number == self._number:
            self.changed = ""
            return
        other = _description(self._ask("sources"), number)
        self.changed = f"sound comes from another source now: {other}, not {self.source}"

    def _ask(self, what: str) -> str:
        assert self._pactl is not None
        try:
            asked = system.start(
                (self._pactl, "list", what), _environment(), stdout=system.PIPE, apart=False
            )
        except OSError:
            return ""
        try:
            return asked.communicate(timeout=ASK_S)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            asked.kill()
            asked.communicate()
            return ""


def _source_number(listing: str, pid: int) -> str:
    r"""Return the source that a process records from, of ``pactl list source-outputs``, or empty.

    >>> _source_number('Source Output #3\n\tSource: 1\n\tapplication.process.id = "42"\n', 42)
    '1'
    """
    for block in re.split(r"^(?=Source Output #)", listing, flags=re.MULTILINE):
        if f'application.process.id = "{pid}"' in block:
            match = re.search(r"^\s*Source: (\d+)$", block, flags=re.MULTILINE)
            return match[1] if match else ""
    return ""


def _description(listing: str, number: str) -> str:
    r"""Return the description of a source, of ``pactl list sources``, or its number.

    >>> _description("Source #1\n\tName: m\n\tDescription: Desk microphone\n", "1")
    'Desk microphone'
    """
    for block in re.split(r"^(?=Source #)", listing, flags=re.MULTILINE):
        if block.startswith(f"Source #{number}\n"):
            match = re.search(r"^\s*Description: (.+)$", block, flags=re.MULTILINE)
            if match:
                return match[1]
    return f"source {number}"


def _environment() -> dict[str, str]:
    return {**child_environ(os.environ), "LC_ALL": "C"}


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


@dataclass(frozen=True, slots=True)
class Device:
    """A microphone or a loudspeaker.

    Attributes:
        index: its number in this list; other lists may have other numbers.
        host: the interface it is reached by, such as ``ALSA``, ``Core Audio``, ``Windows WASAPI``.
        rate: its own rate in Hz.
        default: whether it is used where none is named.
    """

    index: int
    name: str
    host: str
    channels: int
    rate: int
    default: bool


def inputs() -> tuple[Device, ...]:
    """Return every microphone, from a new search."""
    return _listed("input")


def outputs() -> tuple[Device, ...]:
    """Return every loudspeaker, from a new search. Raises as :func:`inputs`."""
    return _listed("output")


def pick(wanted: str | int | None) -> Device:
    """Return a microphone by its name, a part of it, or its number; None for the default one."""
    return choose(inputs(), wanted, "microphone")


def pick_output(wanted: str | int | None) -> Device:
    """Return a loudspeaker, as :func:`pick`."""
    return choose(outputs(), wanted, "loudspeaker")


def choose(devices: Sequence[Device], wanted: str | int | None, noun: str) -> Device:
    """Return one of several devices."""
    if not devices:
        files = "; existing sound files: tabwb name BATTERY ... --input FOLDER"
        raise ComponentError(
            f"no {noun} was found",
            hint="plug one in, or start the sound server, and try again"
            + (files if noun == "microphone" else ""),
        )
    if wanted is None:
        return next((device for device in devices if device.default), devices[0])
    if isinstance(wanted, int) or wanted.isdecimal():
        matching = [device for device in devices if device.index == int(wanted)]
    else:
        word = wanted.casefold()
        matching = [
            device
            for device in devices
            if word in {device.name.casefold(), title(device).casefold()}
        ]
        matching = matching or [device for device in devices if word in device.name.casefold()]
    if len(matching) == 1:
        return matching[0]
    allowed = "; ".join(f"{device.index} {title(device)}" for device in devices)
    if matching:
        raise UsageError(f"'{wanted}' is the name of several {noun}s", allowed=allowed)
    like = near(str(wanted), [device.name for device in devices])
    hint = f"did you mean '{like}'?" if like else "'tabwb microphone list' shows them"
    raise UsageError(f"there is no {noun} '{wanted}'", allowed=allowed, hint=hint)


def title(device: Device) -> str:
    """Return a device's name with its interface, which distinguishes equal names."""
    return f"{device.name}, {device.host}"


def _listed(kind: str) -> tuple[Device, ...]:
    replies: list[Message] = []
    host = SoundHost("devices", {}, replies.append)
    try:
        finished = host.over.wait(ANSWER_S)
    finally:
        host.end()
    if not finished or len(replies) < 2:  # nothing before "over"
        raise host.failure()
    own = ("index", "name", "host", f"{kind}s", "rate", f"default_{kind}")
    devices = (device for device in replies[0]["devices"] if device[f"{kind}s"] > 0)
    return tuple(Device(*(device[key] for key in own)) for device in devices)
