"""The connection to the scheduler of a Dask cluster. Imported only where ``distributed`` is."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from distributed import Client
from distributed.comm.core import connect
from distributed.core import send_recv
from distributed.security import Security

from tabwb.administer.sweep.address import ALLOWED, scheduler_address
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import Interrupted, UsageError

CONNECT_S = 15.0
"""Seconds in which the scheduler must have answered."""
_POLL_S = 0.1


def connected(address: str, cancel: Cancel) -> Client:
    """Return a client of a cluster.

    The scheduler is asked who it is before a client is made: a client waits without end for a
    program that accepts the connection and is silent, and keeps its threads after an error.
    """
    found = scheduler_address(address)
    security = Security()
    arguments = security.get_connection_args("client")
    if found.startswith(("tls", "wss")) and not arguments.get("ssl_context"):
        raise UsageError(
            f"'{found}' needs the certificates of the cluster, which Dask's configuration "
            "does not name",
            where="--cluster",
            hint="see https://distributed.dask.org/en/stable/tls.html",
        )
    try:
        kind = asyncio.run(_kind(found, arguments, cancel))
        if kind != "Scheduler":
            raise _no_scheduler(found, f"what answers is '{kind[:50]}'")
        # A lost scheduler is an error of the command, without Dask's tracebacks before it.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        return Client(found, timeout=CONNECT_S, security=security, set_as_default=False)
    except TimeoutError as error:
        raise _no_scheduler(found, f"no answer in {CONNECT_S:g} s") from error
    except MemoryError as error:  # its reply was read as a length
        raise _no_scheduler(found, "what answers is another program") from error
    except (OSError, ValueError, EOFError) as error:
        raise _no_scheduler(found, str(error) or type(error).__name__) from error


async def _kind(address: str, arguments: dict[str, Any], cancel: Cancel) -> str:
    """Return what kind of server answers."""
    asked = asyncio.ensure_future(_identity(address, arguments))
    try:
        async with asyncio.timeout(CONNECT_S):
            while not (await asyncio.wait([asked], timeout=_POLL_S))[0]:
                if cancel.is_set():
                    raise Interrupted("stopped while waiting for the scheduler of the cluster")
        return asked.result()
    finally:
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)


async def _identity(address: str, arguments: dict[str, Any]) -> str:
    comm = await connect(address, timeout=CONNECT_S, **arguments)
    try:
        found = await send_recv(comm, op="identity")
    finally:
        comm.abort()
    return str(found.get("type")) if isinstance(found, dict) else type(found).__name__


def _no_scheduler(address: str, why: str) -> UsageError:
    return UsageError(
        f"no scheduler of Dask answers at '{address}': {why}", where="--cluster", allowed=ALLOWED
    )
