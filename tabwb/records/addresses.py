"""Which addresses can only mean this computer."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping

OFFLINE_VARIABLE = "TABWB_OFFLINE"
_NO = frozenset({"", "0", "false", "no", "off"})


def stays_here(host: object) -> bool:
    """Return whether an address or host name can only mean this computer.

    >>> [stays_here(host) for host in ("localhost", "127.0.0.1", "::1", "192.168.1.5", "hub.org")]
    [True, True, True, False, False]
    """
    name = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else host
    if name is None or name in ("", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(str(name).partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    # The unspecified address as a destination is this machine.
    return bool(mapped.is_loopback or mapped.is_unspecified)


def is_offline(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether this process, and so every library in it, must use no network.

    >>> is_offline({"TABWB_OFFLINE": "1"}), is_offline({"TABWB_OFFLINE": "off"}), is_offline({})
    (True, False, False)
    """
    env = os.environ if environ is None else environ
    return env.get(OFFLINE_VARIABLE, "").strip().lower() not in _NO


def servers_elsewhere(hosts: str) -> tuple[str, ...]:
    """Return the hosts of a PostgreSQL connection that are not this computer.

    >>> servers_elsewhere("/run/postgresql,localhost,::1"), servers_elsewhere("db.example.org,")
    ((), ('db.example.org',))
    """
    names = (host.strip() for host in hosts.split(","))
    return tuple(host for host in names if not host.startswith(("/", "@")) and not stays_here(host))


def sound_servers_elsewhere(servers: str) -> tuple[str, ...]:
    """Return the PulseAudio servers that are not this computer.

    >>> sound_servers_elsewhere("unix:/run/user/1/pulse/native tcp:127.0.0.1:4713 tcp6:[::1]:4713")
    ()
    >>> sound_servers_elsewhere("{ab12}tcp:192.0.2.7:4713 studio")
    ('192.0.2.7', 'studio')
    """
    elsewhere = []
    for word in servers.split():
        entry = word.partition("}")[2] if word.startswith("{") else word
        if not entry or entry.startswith(("unix:", "/")):
            continue
        kind, colon, rest = entry.partition(":")
        address = rest if colon and kind in ("tcp", "tcp4", "tcp6") else entry
        if address.startswith("["):
            host = address[1:].partition("]")[0]
        else:
            host = address.partition(":")[0] if address.count(":") == 1 else address
        if not stays_here(host):
            elsewhere.append(host)
    return tuple(elsewhere)
