"""Remote models: tries again where that helps, rests where it was told to, many at once.

A back end of a service writes one try (:meth:`RemoteModel.call`); what all services have in
common is here: exponential pauses with jitter, ``Retry-After``, one gate for all threads where a
rate limit is met, cancelling, and errors without keys in them.
"""

from __future__ import annotations

import math
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from tabwb.extend.components import Cancel
from tabwb.extend.keys import redact, secrets
from tabwb.extend.remote_failures import RETRIED, RemoteFailure
from tabwb.extend.stops import StopStrings
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.exchange import Reply, Request, Wait
from tabwb.records.states import StopReason

POLL_S = 0.05
"""How often it is looked whether a call was cancelled."""
GRACE_S = 1.0
"""How long a cancelled call may take to end; then it is left to itself."""
THOUGHT_AWAY = "thinking used the limit of tokens"
"""Kept with an empty reply as its ``cause``, where the service tells so."""

Piece = str | Wait | Reply
Rest = Callable[[Cancel, float], bool]
"""Waits so many seconds; True at once when cancelled."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how patiently a request is tried.

    Attributes:
        attempts: tries in all.
        first_s: the longest first pause.
        factor: by which pauses grow.
        longest_s: the longest pause of our own; a service may ask for ten times as much.
    """

    attempts: int = 6
    first_s: float = 1.0
    factor: float = 2.0
    longest_s: float = 60.0

    def pause_s(self, attempt: int, retry_after_s: float | None, chance: float) -> float:
        """Seconds to wait after a failed attempt.

        min(longest, first x factor^(attempt - 1)) x (1 + chance) / 2; where the service says how
        long, that, up to 10 x longest.

        Args:
            attempt: the one that failed, 1-based.
            retry_after_s: what the service asks for, or None.
            chance: in [0, 1); the jitter that keeps many from coming back at one moment.

        >>> [Retries().pause_s(attempt, None, 0.5) for attempt in (1, 2, 3, 20)]
        [0.75, 1.5, 3.0, 45.0]
        >>> Retries().pause_s(1, 7.0, 0.5), Retries().pause_s(1, 86_400.0, 0.5)
        (7.0, 600.0)
        """
        if retry_after_s is not None:
            return min(retry_after_s, 10 * self.longest_s)
        pause = self.first_s * math.pow(self.factor, min(attempt - 1, 64))
        return min(self.longest_s, pause) * (1 + chance) / 2


class Gate:
    """Holds back every thread while one has been told to wait.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = -math.inf
        self._lock = threading.Lock()

    def close_for(self, seconds: float) -> None:
        """Stay closed for so long; a longer rest that is under way stays."""
        with self._lock:
            self._until = max(self._until, self._clock() + seconds)

    @property
    def remaining_s(self) -> float:
        """Seconds until it opens; 0 when open."""
        with self._lock:
            return max(0.0, self._until - self._clock())


class RemoteModel(ABC):
    """The base of model back ends that ask a service; fulfils ``BatchingBackend``.

    Args:
        concurrency: requests in flight at once, at most.
        retries: how often and how patiently.
        title: what errors call it (``openai:gpt-4o``).
        chance: gives numbers in [0, 1) for jitter.
        clock: monotonic seconds.
        rest: waits; True when cancelled.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        retries: Retries,
        title: str = "the service",
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
        rest: Rest = threading.Event.wait,
    ) -> None:
        self.concurrency = max(1, concurrency)
        self.retries = retries
        self.title = title
        self._chance = chance
        self._rest = rest
        self._gate = Gate(clock)

    @abstractmethod
    def open(self) -> Mapping[str, str]:
        """Make the client; plain facts to store. Asks the service nothing that costs."""

    @abstractmethod
    def call(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        """Try once: yield pieces of text as they come and, last, one :class:`Reply`.

        Called from several threads at once. A set ``cancel`` ends it between pieces.

        Raises:
            RemoteFailure: the try failed; what came before is no answer.
            ComponentError: it cannot work, whatever is tried.
        """

    @abstractmethod
    def close(self) -> None:
        """Give the client back; may be called twice."""

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        """Stream a reply; a :class:`Wait` before each pause, after which it begins anew.

        Raises:
            ComponentError: every try failed, or trying again is of no use.
        """
        started = time.monotonic()
        said: list[str] = []
        with closing(self._together([request], cancel)) as pieces:
            for _, piece in pieces:
                if isinstance(piece, TabwbError):
                    raise piece
                if isinstance(piece, str):
                    said.append(piece)
                elif isinstance(piece, Wait):
                    said.clear()
                yield piece
                if isinstance(piece, Reply):
                    return
        text = redact("".join(said))
        yield Reply(text, StopReason.CANCELLED, time.monotonic() - started)

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        """Yield ``(index, reply)`` as they come, never more than ``concurrency`` in flight.

        A new request goes out when a reply was taken away, so that what waits here is bounded too.
        """
        with closing(self._together(requests, cancel)) as pieces:
            for index, piece in pieces:
                if isinstance(piece, str):
                    continue
                if isinstance(piece, Reply) and piece.stop_reason is StopReason.CANCELLED:
                    continue
                yield index, piece

    # ---------------------------------------------------------------- inside

    def _together(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Generator[tuple[int, Piece | ComponentError]]:
        """All pieces of all requests. Each has a thread, so that no silent service blocks us."""
        stop = threading.Event()
        arrived: SimpleQueue[tuple[int, Piece | ComponentError | None]] = SimpleQueue()
        waiting = iter(enumerate(requests))
        in_flight = 0
        try:
            while True:
                while in_flight < self.concurrency and not cancel.is_set():
                    index, request = next(waiting, (-1, None))
                    if request is None:
                        break
                    threading.Thread(
                        target=self._work,
                        args=(index, request, stop, arrived),
                        name=f"{self.title}, request {index}",
                        daemon=True,
                    ).start()
                    in_flight += 1
                if not in_flight:
                    return
                came = _next(arrived, cancel, stop)
                if came is None:
                    return
                if came[1] is None:
                    in_flight -= 1
                else:
                    yield came[0], came[1]
        finally:
            stop.set()

    def _work(
        self,
        index: int,
        request: Request,
        stop: Cancel,
        arrived: SimpleQueue[tuple[int, Piece | ComponentError | None]],
    ) -> None:
        try:
            for piece in self._tries(request, stop):
                arrived.put((index, piece))
        except ComponentError as error:
            arrived.put((index, error))
        except Exception as error:  # noqa: BLE001 - a worker: what a client raises is an error here
            what = redact(f"{type(error).__name__}: {error}")
            arrived.put((index, ComponentError(f"{self.title}: {what}")))
        finally:
            arrived.put((index, None))

    def _tries(self, request: Request, stop: Cancel) -> Iterator[Piece]:
        """Pieces of one request over all its tries; ends without a reply when stopped."""
        for attempt in range(1, self.retries.attempts + 1):
            while held := self._gate.remaining_s:
                # Not all at the same moment when the gate opens.
                held *= 1 + 0.1 * self._chance()
                yield Wait(held, "rate limit met by another request")
                if self._rest(stop, held):
                    return
            if stop.is_set():
                return
            try:
                yield from self._guarded(request, attempt, stop)
            except RemoteFailure as failure:
                if stop.is_set():
                    return
                if failure.kind not in RETRIED or attempt >= self.retries.attempts:
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

    def _guarded(self, request: Request, attempt: int, stop: Cancel) -> Iterator[str | Reply]:
        """One try; what might be the beginning of a key is held back, and a key is never shown."""
        keys = StopStrings(secrets())
        for piece in self.call(request, stop):
            if isinstance(piece, Reply) and redact(piece.text) != piece.text:
                raise self._key_sent_back()
            sure = keys.flush() if isinstance(piece, Reply) else keys.feed(piece)
            if keys.found is not None:
                raise self._key_sent_back()
            if sure:
                yield sure
            if isinstance(piece, Reply):
                yield self._told(piece, attempt)

    def _key_sent_back(self) -> ComponentError:
        return ComponentError(
            f"{self.title}: the reply contains the service's key and is not kept",
            hint="the service sends back what it should keep to itself: change the key",
        )

    def _told(self, reply: Reply, attempt: int) -> Reply:
        reply = replace(
            reply,
            prompt_tokens=_believable(reply.prompt_tokens),
            reply_tokens=_believable(reply.reply_tokens),
        )
        metadata = {name: redact(value) for name, value in reply.metadata.items()}
        if attempt > 1:
            metadata["attempts"] = str(attempt)
        return replace(reply, metadata=metadata)

    def _given_up(self, failure: RemoteFailure, attempt: int) -> ComponentError:
        tried = f" after {attempt} attempts" if attempt > 1 else ""
        said = f": {redact(failure.message)}" if failure.message else ""
        return ComponentError(f"{self.title}: {failure.what}{tried}{said}")


def _next(
    arrived: SimpleQueue[tuple[int, Piece | ComponentError | None]], cancel: Cancel, stop: Cancel
) -> tuple[int, Piece | ComponentError | None] | None:
    """What comes next; None where a cancelled call does not end in time."""
    deadline: float | None = None
    while True:
        if cancel.is_set() and deadline is None:
            stop.set()
            deadline = time.monotonic() + GRACE_S
        try:
            return arrived.get(timeout=POLL_S)
        except Empty:
            if deadline is not None and time.monotonic() > deadline:
                return None


def _believable(tokens: int | None) -> int | None:
    """A number of tokens that can be one; what a service makes up is not counted."""
    return tokens if tokens is not None and 0 <= tokens < 2**53 else None
