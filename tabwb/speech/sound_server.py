"""The sound server that PortAudio would use; one on another computer is refused while offline.

libpulse connects in C, where the audit hook of :mod:`tabwb.plugin_api.remote.offline` sees nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from tabwb.records.addresses import is_offline, sound_servers_elsewhere
from tabwb.records.errors import NeedsNetwork

_DEFAULT = re.compile(r"^\s*default-server\s*=\s*(.*?)\s*$", re.MULTILINE)
SYSTEM = Path("/etc/pulse/client.conf")


def environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of the sound host.

    Offline it has no ``DISPLAY``: libpulse reads the name of a server from the root window too.

    Raises:
        NeedsNetwork: offline, and the sound server is on another computer.
    """
    env = dict(os.environ if environ is None else environ)
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
