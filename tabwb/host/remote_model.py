"""The base of model back ends of remote services: failures, retries, pauses, parallel requests.

A back end implements one try (:meth:`RemoteModel.call`). What a server may send is bounded.
"""

from __future__ import annotations

import json
import math
import random
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from queue import Empty, SimpleQueue
from typing import Any, Literal
from typing import Protocol as TypingProtocol
from urllib.parse import urlsplit

from tabwb.host.keys import redact, secrets
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError, NeedsNetwork, TabwbError, error_text
from tabwb.records.exchange import Reply, Request, Wait
from tabwb.records.reasoning import AUTO, ReasoningStream, passed_on, with_split
from tabwb.records.states import Protocol, StopReason

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


MAX_CHARACTERS = 1_000_000
"""A longer reply is taken for one without end."""


class StopStrings:
    r"""Ends a stream at the first stop string; text that may begin one is held back.

    >>> stops = StopStrings(["\nQ:"])
    >>> stops.feed("lion\n"), stops.feed("Q: and"), stops.found
    ('lion', '', '\nQ:')
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._held = ""
        self.found: str | None = None

    def feed(self, text: str) -> str:
        """Take in text; return the text that certainly belongs to the reply."""
        if self.found is not None:
            return ""
        self._held += text
        places = [(self._held.find(stop), stop) for stop in self._stops if stop in self._held]
        if places:
            at, self.found = min(places, key=lambda place: (place[0], -len(place[1])))
            sure, self._held = self._held[:at], ""
            return sure
        keep = self._beginning()
        sure, self._held = self._held[: len(self._held) - keep], self._held[-keep:] if keep else ""
        return sure

    def flush(self) -> str:
        """Return the text that was held back, at the end of the stream."""
        held, self._held = self._held, ""
        return held

    def anew(self) -> StopStrings:
        """Return the same stop strings before any text."""
        return StopStrings(self._stops)

    def _beginning(self) -> int:
        """Return the length of the longest end of the held text that begins a stop string."""
        longest = min(len(self._held), max(map(len, self._stops), default=1) - 1)
        for length in range(longest, 0, -1):
            if any(stop.startswith(self._held[-length:]) for stop in self._stops):
                return length
        return 0


class _Facts(TypingProtocol):
    """What the service sent besides text, reasoning in fields of its own; it counts the tokens."""

    @property
    def stop_reason(self) -> StopReason: ...
    @property
    def prompt_tokens(self) -> int | None: ...
    @property
    def reply_tokens(self) -> int | None: ...
    @property
    def reasoning(self) -> str: ...


class StreamedReply:
    """Collects the pieces of one reply; an enforced reply is passed on as one piece.

    Args:
        request: what was asked.
        title: of the model, for messages.
        structured: the reply is kept to a schema, in which stop strings mean nothing.
        started: when the request was begun, monotonic seconds.
        reasoning: the option ``reasoning`` of the model: tags of thinking in the text are taken
            out; stop strings are not looked for in thinking.
    """

    def __init__(
        self,
        request: Request,
        *,
        title: str,
        structured: bool,
        started: float,
        reasoning: str = AUTO,
    ) -> None:
        self.enforced = is_enforced(request)
        self.cancelled = False  # set where the user stops the reply
        self._request = request
        self._title = title
        self._started = started
        self._stops = StopStrings(() if structured else request.decoding.stop)
        self._thinking = ReasoningStream(reasoning)
        self._parts: list[str] = []
        self._length = 0
        self._first_s: float | None = None
        self._void = False

    @property
    def stop_string(self) -> str | None:
        """The stop string at which the text was cut, or None."""
        return self._stops.found

    @property
    def is_cut(self) -> bool:
        """Whether the reply was ended here, so that the service need not have completed it."""
        return self.cancelled or self.stop_string is not None

    def taken_back(self) -> bool:
        """Return whether what was passed on has just proved to be no response; True once."""
        void, self._void = self._void, False
        return void

    def feed(self, text: str) -> str:
        """Take in a piece of text; return what can be passed on.

        Raises:
            ComponentError: the reply is too long.
        """
        self._length += len(text)
        if self._length > MAX_CHARACTERS:
            raise ComponentError(f"{self._title}: the reply does not end; it is not kept")
        certain = self._cut(self._thinking.feed(text))
        if certain and self._first_s is None:
            self._first_s = time.monotonic() - self._started
        self._parts.append(certain)
        return "" if self.enforced else certain

    def _cut(self, response: str) -> str:
        """Return new text of the response up to a stop string; after thinking, from its start."""
        if self._thinking.taken_back():
            self._void = True
            self._parts.clear()
            self._stops = self._stops.anew()
        return self._stops.feed(response)

    def finish(
        self, facts: _Facts, metadata: Mapping[str, str], read: Callable[[str], str]
    ) -> Iterator[str | Wait | Reply]:
        """Yield the text that was held back and the reply."""
        split = self._thinking.finish(cut=facts.stop_reason is StopReason.LENGTH)
        rest = self._cut(self._thinking.rest_of(split.response)) + self._stops.flush()
        if self.stop_string is not None:
            before, found, _ = split.response.partition(self.stop_string)
            said = before if found else "".join(self._parts) + rest
            split = replace(split, response=said, unclosed=False)
        raw = text = split.response
        protocol = Protocol.ENFORCED if self.enforced else Protocol.GENERATE
        kept = {**metadata, "protocol": protocol.value}
        if self.enforced:
            rest = text = read(raw)
            kept["constrained"] = "yes" if text in self._request.options else "no"
            if text not in {raw, raw.strip()}:
                kept["raw_reply"] = raw
        yield from passed_on(self, rest)
        reason = facts.stop_reason
        if self.cancelled:
            reason = StopReason.CANCELLED
        elif self.stop_string is not None:
            reason = StopReason.STOP_STRING
            kept["stop_string"] = self.stop_string
        latency = time.monotonic() - self._started
        tokens = (facts.prompt_tokens, facts.reply_tokens)
        reply = Reply(
            text, reason, latency, self._first_s, *tokens, kept, reasoning=facts.reasoning
        )
        yield with_split(reply, replace(split, response=text))


def is_enforced(request: Request) -> bool:
    """Return whether the reply must be one of the item's options; without options it is free."""
    return request.protocol is Protocol.ENFORCED and bool(request.options)


POLL_S = 0.05
"""Seconds between two checks whether a call was cancelled."""
GRACE_S = 1.0
"""Seconds that a cancelled call may take to end; then its thread is abandoned."""
REPLY_S = 1800.0
"""The default limit of one reply, in seconds over all its tries."""
SILENCE_S = 30.0
"""Silence is reported each time so many seconds have passed; sooner under a short limit."""

Piece = str | Wait | Reply
Arrivals = SimpleQueue[tuple[int, Piece | ComponentError | None]]
"""Pieces by the index of their request; None at the end of each."""
Rest = Callable[[Cancel, float], bool]
"""Waits for some seconds; returns True at once when cancelled."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is tried, and the pauses in between.

    Attributes:
        attempts: number of tries.
        first_s: the longest first pause, seconds.
        factor: by which pauses grow.
        longest_s: the longest pause of our own, seconds. A service may ask for ten times as much;
            a request whose service asks for more fails at once.
    """

    attempts: int = 6
    first_s: float = 1.0
    factor: float = 2.0
    longest_s: float = 60.0

    def pause_s(self, attempt: int, retry_after_s: float | None, chance: float) -> float:
        """Return the seconds to wait after a failed attempt.

        min(longest, first x factor^(attempt - 1)) x (1 + chance) / 2, or ``retry_after_s``.

        Args:
            attempt: number of the failed attempt, from 1.
            retry_after_s: the pause that the service asks for, or None.
            chance: jitter in [0, 1), so that many requests do not return at one moment.

        >>> [Retries().pause_s(attempt, None, 0.5) for attempt in (1, 2, 3, 20)]
        [0.75, 1.5, 3.0, 45.0]
        >>> Retries().pause_s(1, 7.0, 0.5)
        7.0
        """
        if retry_after_s is not None:
            return retry_after_s
        pause = self.first_s * math.pow(self.factor, min(attempt - 1, 64))
        return min(self.longest_s, pause) * (1 + chance) / 2

    def too_long(self, retry_after_s: float | None) -> bool:
        """Return whether a service asks for a longer pause than a run should wait for.

        >>> Retries().too_long(None), Retries().too_long(600.0), Retries().too_long(86_400.0)
        (False, False, True)
        """
        return retry_after_s is not None and retry_after_s > 10 * self.longest_s


class _Gate:
    """Makes every thread wait while a service asks one of them to wait."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = -math.inf
        self._lock = threading.Lock()

    def close_for(self, seconds: float) -> None:
        with self._lock:
            self._until = max(self._until, self._clock() + seconds)

    @property
    def remaining_s(self) -> float:
        with self._lock:
            return max(0.0, self._until - self._clock())


@dataclass(slots=True, eq=False)
class _Flight:
    stop: threading.Event
    began: float | None = None  # monotonic seconds at the start of its try; None between tries
    spent_s: float = 0.0  # of the tries before this one
    heard: float = 0.0  # monotonic seconds of the last bytes
    said_s: float = 0.0  # silence that was reported last


class RemoteModel(ABC):
    """The base of model back ends of services; fulfils ``BatchingBackend``.

    Args:
        concurrency: the most requests in progress at one time.
        retries: tries and pauses.
        reply_s: maximum seconds of all tries of one request together, without the pauses between
            them; needed for servers that send a little for ever.
        silence_s: after so many seconds without a byte the client ends a try; silence is reported
            before. None: the client does not call :meth:`heard`, and nothing is reported.
        title: name of the model in errors (``openai:gpt-4o``).
        chance: returns numbers in [0, 1) for jitter.
        clock: returns monotonic seconds.
        rest: waits; returns True when cancelled.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        retries: Retries,
        reply_s: float = REPLY_S,
        silence_s: float | None = None,
        title: str = "the service",
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
        rest: Rest = threading.Event.wait,
    ) -> None:
        self.concurrency = max(1, concurrency)
        self.retries = retries
        self.reply_s = reply_s
        self.silence_s = silence_s
        self.title = title
        self._here = threading.local()
        self._chance = chance
        self._rest = rest
        self._gate = _Gate(clock)

    @abstractmethod
    def open(self) -> Mapping[str, str]:
        """Make the client; return plain facts to store. Sends no request that costs."""

    @abstractmethod
    def call(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        """Try once: yield pieces of text as they come and, last, one :class:`Reply`.

        Called from several threads at once.

        Args:
            request: the prompt.
            cancel: ends the try between pieces.

        Raises:
            RemoteFailure: the try failed; its pieces are void.
            ComponentError: no try can succeed.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the client; may be called twice."""

    def heard(self) -> None:
        """Take note of bytes of a service; called in the thread of :meth:`call`."""
        flight: _Flight | None = getattr(self._here, "flight", None)
        if flight is not None:
            flight.heard, flight.said_s = time.monotonic(), 0.0

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        """Stream a reply; after a :class:`Wait` it starts again.

        Args:
            request: the prompt.
            cancel: ends the reply.

        Raises:
            ComponentError: every try failed, or another try cannot succeed.
        """
        started = time.monotonic()
        texts: list[str] = []
        with closing(self._together([request], cancel)) as pieces:
            for _, piece in pieces:
                if isinstance(piece, TabwbError):
                    raise piece
                if isinstance(piece, str):
                    texts.append(piece)
                elif isinstance(piece, Wait) and piece.voids:
                    texts.clear()
                yield piece
                if isinstance(piece, Reply):
                    return
        yield Reply(redact("".join(texts)), StopReason.CANCELLED, time.monotonic() - started)

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        """Yield ``(index, reply)`` as they come, with at most ``concurrency`` in progress.

        A new request is sent when a reply was consumed, so that few replies wait here.

        Args:
            requests: the prompts.
            cancel: ends the replies.
        """
        with closing(self._together(requests, cancel)) as pieces:
            for index, piece in pieces:
                ended = isinstance(piece, Reply) and piece.stop_reason is StopReason.CANCELLED
                if not isinstance(piece, str) and not ended:
                    yield index, piece

    def _together(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Generator[tuple[int, Piece | ComponentError]]:
        # Each from a thread: a silent service blocks no other request.
        flights: dict[int, _Flight] = {}
        arrived: Arrivals = SimpleQueue()
        waiting = iter(enumerate(requests))
        try:
            while True:
                while len(flights) < self.concurrency and not cancel.is_set():
                    index, request = next(waiting, (-1, None))
                    if request is None:
                        break
                    flights[index] = flight = _Flight(threading.Event())
                    threading.Thread(
                        target=self._work,
                        args=(index, request, flight, arrived),
                        name=f"{self.title}, request {index}",
                        daemon=True,
                    ).start()
                if not flights:
                    return
                arrival = self._next(arrived, cancel, flights)
                if arrival is None:
                    return
                index, piece = arrival
                if index not in flights:
                    continue  # abandoned
                if piece is None:
                    del flights[index]
                else:
                    yield index, piece
        finally:
            for flight in flights.values():
                flight.stop.set()

    def _next(
        self, arrived: Arrivals, cancel: Cancel, flights: dict[int, _Flight]
    ) -> tuple[int, Piece | ComponentError | None] | None:
        """Return the next piece or failure; None where a cancelled call does not end in time."""
        deadline: float | None = None
        while True:
            if cancel.is_set() and deadline is None:
                for flight in flights.values():
                    flight.stop.set()
                deadline = time.monotonic() + GRACE_S
            for index, flight in flights.items():
                began, now = flight.began, time.monotonic()
                if began is None:
                    continue
                # Once cancelled nothing is reported: each report would begin the grace again.
                if deadline is None and (silence := self._silence(flight, now)) is not None:
                    return index, silence
                if flight.spent_s + now - began > self.reply_s:
                    flight.stop.set()
                    flight.began = None
                    arrived.put((index, None))
                    return index, ComponentError(
                        f"{self.title}: the reply was not complete after {self.reply_s:g} s",
                        hint="set a longer limit with the option reply_s",
                    )
            try:
                return arrived.get(timeout=POLL_S)
            except Empty:
                if deadline is not None and time.monotonic() > deadline:
                    return None

    def _silence(self, flight: _Flight, now: float) -> Wait | None:
        """Return the report of a silent service, once for each step of time."""
        limit = self.silence_s
        if limit is None:
            return None
        step, silent = min(SILENCE_S, limit / 4), now - flight.heard
        if not flight.said_s + step <= silent < limit:
            return None
        flight.said_s = silent
        reason = f"no byte for {silent:.0f} s (limit {limit:g} s)"
        return Wait(limit - silent, reason, voids=False)

    def _work(self, index: int, request: Request, flight: _Flight, arrived: Arrivals) -> None:
        self._here.flight = flight
        try:
            for piece in self._tries(request, flight):
                arrived.put((index, piece))
        except ComponentError as error:
            arrived.put((index, error))
        except Exception as error:  # noqa: BLE001 - a worker: what a client raises is an error here
            reason = redact(error_text(error))
            arrived.put((index, ComponentError(f"{self.title}: {reason}")))
        finally:
            arrived.put((index, None))

    def _tries(self, request: Request, flight: _Flight) -> Iterator[Piece]:
        stop = flight.stop
        for attempt in range(1, self.retries.attempts + 1):
            while held := self._gate.remaining_s:
                # Not all at the same moment when the gate opens.
                held *= 1 + 0.1 * self._chance()
                yield Wait(held, "rate limit met by another request")
                if self._rest(stop, held):
                    return
            if stop.is_set():
                return
            self.heard()
            flight.began = began = time.monotonic()
            try:
                yield from self._guarded(request, attempt, stop)
            except RemoteFailure as failure:
                flight.began = None
                flight.spent_s += time.monotonic() - began
                if stop.is_set():
                    return
                final = attempt >= self.retries.attempts or failure.kind not in RETRIED
                if final or self.retries.too_long(failure.retry_after_s):
                    raise self._given_up(failure, attempt) from None
                pause = self.retries.pause_s(attempt, failure.retry_after_s, self._chance())
                if failure.kind == "rate-limit":
                    self._gate.close_for(pause)
                reason = f"{failure.what}, attempt {attempt} of {self.retries.attempts}"
                yield Wait(pause, reason)
                if self._rest(stop, pause):
                    return
            else:
                return

    def _guarded(self, request: Request, attempt: int, stop: Cancel) -> Iterator[Piece]:
        """Try once; text that may begin a key is held back, and a key is never yielded."""
        keys = StopStrings(secrets())
        for piece in self.call(request, stop):
            if isinstance(piece, Reply) and any(
                redact(part) != part for part in (piece.text, piece.reasoning or "")
            ):
                raise self._key_sent_back()
            if isinstance(piece, Wait):
                keys = StopStrings(secrets())
                yield piece
                continue
            sure = keys.flush() if isinstance(piece, Reply) else keys.feed(piece)
            if keys.found is not None:
                raise self._key_sent_back()
            if sure:
                yield sure
            if isinstance(piece, Reply):
                yield self._completed(piece, attempt)

    def _key_sent_back(self) -> ComponentError:
        return ComponentError(
            f"{self.title}: the reply contains the service's key and is not kept",
            hint="the service sent the key back: replace the key",
        )

    def _completed(self, reply: Reply, attempt: int) -> Reply:
        metadata = {name: redact(value) for name, value in reply.metadata.items()}
        if attempt > 1:
            metadata["attempts"] = str(attempt)
        return replace(
            reply,
            prompt_tokens=_valid_count(reply.prompt_tokens),
            reply_tokens=_valid_count(reply.reply_tokens),
            metadata=metadata,
        )

    def _given_up(self, failure: RemoteFailure, attempt: int) -> ComponentError:
        tried = f" after {attempt} attempts" if attempt > 1 else ""
        why = f": {redact(failure.message)}" if failure.message else ""
        if self.retries.too_long(failure.retry_after_s):
            why += f"; the service asks to wait {failure.retry_after_s:.0f} s"
        hint = None
        if failure.kind == "timeout" and failure.status is None and self.silence_s is not None:
            hint = f"the limit of silence is the option timeout_s, {self.silence_s:g} s"
        return ComponentError(f"{self.title}: {failure.what}{tried}{why}", hint=hint)


def _valid_count(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens < 2**53 else None
