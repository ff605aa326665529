"""Bounds on what a server may send, for clients built on httpx.

The clients read until the server ends. These bounds refuse what a working service never sends:
redirections to another address, compressed answers without request, and answers without end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from tabwb.records.errors import ComponentError

MAX_BYTES = 64 * 2**20
"""The most bytes of one answer, all its events and reasoning included."""
HEADERS = {"Accept-Encoding": "identity"}
"""Without compression the bytes that are counted are those of the answer."""


class BoundExceeded(ComponentError):
    """A server exceeded a bound."""


def client_arguments(
    max_bytes: int = MAX_BYTES, *, heard: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Return the arguments of an httpx client that bound every answer.

    Args:
        max_bytes: maximum size of one answer.
        heard: called whenever bytes of an answer have come.
    """

    def check(response: Any) -> None:
        heard()
        _refuse_redirection(response)
        encoding = response.headers.get("content-encoding", "identity")
        if encoding.lower() != "identity":
            raise BoundExceeded(
                f"the server sent an answer compressed as {encoding!r}, which was not asked for"
            )
        response.stream = _bounded(response, max_bytes, heard)

    return {"follow_redirects": False, "event_hooks": {"response": [check]}}


def _refuse_redirection(response: Any) -> None:
    target = response.headers.get("location")
    if not 300 <= response.status_code < 400 or not target:
        return
    there = response.request.url.join(target)
    raise BoundExceeded(
        f"the server at {_origin(response.request.url)} redirects to {_origin(there)}"
        f"{urlsplit(str(there)).path}; redirections are not followed",
        hint="set base_url to the new address if you trust it",
    )


def _origin(url: object) -> str:
    parts = urlsplit(str(url))
    return f"{parts.scheme}://{parts.netloc.split('@')[-1]}"


def _bounded(response: Any, max_bytes: int, heard: Callable[[], object]) -> Any:
    # The HTTP library of the client, because it accepts only its own class of streams.
    library = sys.modules[type(response).__module__.partition(".")[0]]
    below = response.stream

    class Bounded(library.SyncByteStream):  # type: ignore[misc, name-defined]
        """The stream of an answer, up to a limit."""

        def __iter__(self) -> Iterator[bytes]:
            read = 0
            for part in below:
                heard()
                read += len(part)
                if read > max_bytes:
                    raise BoundExceeded(
                        f"the answer is longer than {max_bytes // 2**20} MiB and is not kept"
                    )
                yield part

        def close(self) -> None:
            below.close()

    return Bounded()
