"""Failures of a remote service, and bounds on what a server may send."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from tabwb.host.keys import redact
from tabwb.records.errors import ComponentError, NeedsNetwork

MAX_BYTES = 64 * 2**20
"""The most bytes of one answer, all its events and reasoning included."""
HEADERS = {"Accept-Encoding": "identity"}
"""Without compression the bytes that are counted are those of the answer."""


class BoundExceeded(ComponentError):
    """A server exceeded a bound."""


def client_arguments(
    max_bytes: int = MAX_BYTES, *, heard: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Return the arguments of an httpx client that bound every answer."""

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


FailureKind = Literal[
    "rate-limit",
    "quota",
    "server",
    "connection",
    "timeout",
    "authentication",
    "request",
    "malformed",
]
RETRIED: frozenset[FailureKind] = frozenset(
    {"rate-limit", "server", "connection", "timeout", "malformed"}
)
"""Kinds that a later try may not meet. A quota, a wrong key or a wrong request does not change."""
LONGEST = 500
"""The most characters of a service's message that are kept; some send whole pages."""
TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "h11", "requests", "urllib3"})
"""Packages that the clients use, whose errors some clients do not translate."""


@dataclass(eq=False)
class RemoteFailure(Exception):
    """One try failed.

    Attributes:
        kind: what went wrong; decides whether the request is tried again.
        message: the service's message.
        status: of HTTP, or None.
        retry_after_s: the pause that the service asks for, or None.
    """

    kind: FailureKind
    message: str
    status: int | None = field(default=None, kw_only=True)
    retry_after_s: float | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        return self.message

    @property
    def what(self) -> str:
        """The kind in words, with the status: ``rate limit (429)``."""
        words = _WORDS[self.kind]
        return words if self.status is None else f"{words} ({self.status})"


_WORDS: Mapping[FailureKind, str] = {
    "rate-limit": "rate limit",
    "quota": "quota used up",
    "server": "server error",
    "connection": "no connection",
    "timeout": "no answer in time",
    "authentication": "key refused",
    "request": "request refused",
    "malformed": "malformed answer",
}


def kind_of_status(status: int) -> FailureKind:
    """Return the kind of failure of an HTTP status.

    >>> [kind_of_status(status) for status in (400, 401, 408, 429, 501, 503)]
    ['request', 'authentication', 'timeout', 'rate-limit', 'request', 'server']
    """
    if status in {401, 403}:
        return "authentication"
    if status == 408:
        return "timeout"
    if status == 429:
        return "rate-limit"
    # 501 and 505: the service does not have what was requested.
    return "server" if status >= 500 and status not in {501, 505} else "request"


def retry_after(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """Return the seconds that a service asks to wait, or None where it does not say.

    ``retry-after-ms`` (milliseconds) counts before ``Retry-After`` (seconds, or a date of HTTP,
    RFC 9110, section 10.2.3). A date is compared with the service's own ``Date``: clocks differ.

    >>> retry_after({"Retry-After": "12"}), retry_after({"retry-after-ms": "250"}), retry_after({})
    (12.0, 0.25, None)
    >>> retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:30 GMT",
    ...              "Date": "Wed, 21 Oct 2015 07:28:00 GMT"})
    30.0
    """
    given = {name.lower(): value.strip() for name, value in headers.items()}
    milliseconds = _seconds(given.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = given.get("retry-after")
    until = _date(text)
    if (seconds := _seconds(text)) is not None or until is None:
        return seconds
    here = _date(given.get("date"))
    if here is None:
        here = time.time() if now is None else now
    return max(0.0, until - here)


@contextmanager
def client_failures(read: Callable[[Exception], RemoteFailure | None]) -> Iterator[None]:
    """Turn what a service's client raises into failures; see :func:`failure_of`."""
    try:
        yield
    except (RemoteFailure, ComponentError):
        raise
    except Exception as error:
        if (failure := failure_of(error, read)) is not None:
            raise failure from None
        raise


def failure_of(
    error: Exception, read: Callable[[Exception], RemoteFailure | None]
) -> RemoteFailure | ComponentError | None:
    """Return the failure of an exception under a client; None where it is something else.

    A connection that ``--offline`` or a bound refused is a ``ComponentError``.
    """
    chain = list(causes(error))
    for cause in chain:
        if isinstance(cause, BoundExceeded):
            return cause
        if isinstance(cause, NeedsNetwork):
            return ComponentError(cause.message, allowed=cause.allowed, hint=cause.hint)
    if (failure := read(error)) is not None:
        return failure
    if isinstance(error, json.JSONDecodeError | UnicodeError):
        return malformed(error)
    if not any(type(cause).__module__.partition(".")[0] in TRANSPORTS for cause in chain):
        return None
    slow = any("Timeout" in type(cause).__name__ for cause in chain)
    return RemoteFailure("timeout" if slow else "connection", deepest(error))


def malformed(error: Exception) -> RemoteFailure:
    """Return the failure of a reply that the client cannot read."""
    message = f"the reply does not have the expected form: {error}"
    return RemoteFailure("malformed", shortened(message))


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, the first cause last."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def deepest(error: BaseException) -> str:
    """Return the message of the first cause: clients themselves say only that a request failed.

    >>> deepest(ConnectionError("refused")), deepest(ConnectionError())
    ('refused', 'ConnectionError')
    """
    messages = [str(cause) for cause in causes(error) if str(cause)]
    return shortened(messages[-1]) if messages else type(error).__name__


def shortened(text: str) -> str:
    """Return a service's message in one line, without keys and of limited length."""
    # Redacted before it is cut: a part of a key would not be recognised.
    flat = " ".join(redact(text).split())
    return flat if len(flat) <= LONGEST else f"{flat[:LONGEST]} ..."


def _seconds(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text or "").timestamp()
    except (ValueError, OverflowError):
        return None
