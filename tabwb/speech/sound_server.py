"""The sound server that PortAudio would use, and the source that it gives a recorder.

libpulse connects in C, where the audit hook of :mod:`tabwb.host.offline` sees nothing:
a server on another computer is refused here while offline. When a microphone disappears,
PulseAudio and PipeWire may switch to another one, and neither PortAudio nor ALSA reports it. Their
own tool ``pactl`` does; without such a server nothing is watched.
"""

from __future__ import annotations

import os
import re
import select
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

from tabwb.records import system
from tabwb.records.errors import NeedsNetwork
from tabwb.records.system import child_environ, is_offline, sound_servers_elsewhere

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
