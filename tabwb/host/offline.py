"""The offline mode: an audit hook refuses every connection to another machine.

The switches of model hubs are set as well, so that their libraries use the files on disk instead of
failing. The hook cannot be removed: a process that went offline stays offline.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

from tabwb.records.errors import NeedsNetwork
from tabwb.records.system import stays_here

SWITCHES = {
    "TABWB_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}
"""Read by tabwb's own child processes and by the libraries of model hubs when imported."""

_CONNECTING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOKING_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_offline = False


class OfflineError(NeedsNetwork, OSError):
    """A connection was refused because tabwb is offline.

    Also an ``OSError``, which libraries handle that can work without a network.
    """


def is_offline() -> bool:
    """Return whether this process went offline."""
    return _offline


def go_offline() -> None:
    """Refuse all but loopback and unix sockets from now on, here and in child processes."""
    global _offline
    os.environ.update(SWITCHES)
    if not _offline:
        _offline = True
        sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _CONNECTING:
        family, address = arguments[0].family, arguments[1]
        if address is None or family == getattr(socket, "AF_UNIX", None):
            return
        inet = family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple)
        host, allowed = (address[0], stays_here(address[0])) if inet else (address, False)
    elif event in _LOOKING_UP:
        host, allowed = arguments[0], stays_here(arguments[0])
    else:
        return
    if not allowed:
        shown = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        raise OfflineError(
            f"a connection to {shown} was refused: tabwb is offline",
            allowed="this machine's own addresses (localhost, unix sockets)",
            hint="leave out --offline (or TABWB_OFFLINE, or 'offline' in tabwb.toml)",
        )
