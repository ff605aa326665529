"""The address of a cluster's scheduler, checked before anything connects."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular

ALLOWED = "for example tcp://127.0.0.1:8786, or the path of a scheduler file (.json)"
_ADDRESS = re.compile(r"(?:tcp|tls|wss?)://(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+):([0-9]{1,5})/?", re.ASCII)
_TOO_LARGE = 10_000_000


def scheduler_address(text: str) -> str:
    """Return the address of a scheduler.

    A client of Dask that is made with another text fails and then keeps the program from ending.

    >>> scheduler_address("tcp://127.0.0.1:8786")
    'tcp://127.0.0.1:8786'
    """
    address = _of_file(Path(text)) if text.endswith(".json") else text
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match[1]) < 2**16:
        shown = address if len(address) <= 200 else address[:199] + "…"
        raise UsageError(
            f"'{shown}' is not the address of a scheduler of Dask",
            where="--cluster",
            allowed=ALLOWED,
        )
    return address


def _of_file(path: Path) -> str:
    raw = read_regular(path, _TOO_LARGE)
    if raw is None:
        raise UsageError("there is no such file", where=str(path), allowed=ALLOWED)
    try:
        return str(json.loads(raw)["address"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError("is not a scheduler file of Dask", where=str(path)) from error
