"""What answers at the address of a cluster, before a client of Dask is made."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("distributed", reason="needs tabwb[cluster]")

from tabwb.administer.sweep import scheduler
from tabwb.administer.sweep.scheduler import connected
from tabwb.records.errors import Interrupted, UsageError


@contextmanager
def answering(text: bytes) -> Iterator[str]:
    """Yield the address of a program that sends a text to whoever connects, and then waits."""
    held: list[socket.socket] = []

    def answer() -> None:
        while True:
            try:
                connection = listening.accept()[0]
            except OSError:
                return
            held.append(connection)
            connection.sendall(text)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, daemon=True).start()
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
    for connection in held:
        connection.close()


def test_where_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "CONNECT_S", 0.3)
    with pytest.raises(UsageError, match="no scheduler of Dask answers"):
        connected("tcp://127.0.0.1:9", threading.Event())


def test_a_program_that_is_silent_is_waited_for_a_limited_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduler, "CONNECT_S", 0.3)
    with (
        answering(b"") as address,
        pytest.raises(UsageError, match=r"no scheduler of Dask answers at .*: no answer in 0.3 s"),
    ):
        connected(address, threading.Event())


def test_the_wait_for_a_scheduler_ends_at_once_when_cancelled() -> None:
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    with answering(b"") as address, pytest.raises(Interrupted, match="waiting for the scheduler"):
        connected(address, cancel)


def test_a_web_server_is_refused() -> None:
    with (
        answering(b"HTTP/1.0 400 Bad request syntax\r\n\r\n") as address,
        pytest.raises(UsageError, match="what answers is another program"),
    ):
        connected(address, threading.Event())
