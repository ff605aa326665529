"""The text of one streamed reply: bounded, cut at stop strings, timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol as TypingProtocol

from tabwb.plugin_api.stops import StopStrings
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Reply, Request
from tabwb.records.states import Protocol, StopReason

MAX_CHARACTERS = 1_000_000
"""A longer reply is taken for one without end."""


class _Facts(TypingProtocol):
    """What the service sent besides text; it counts the tokens."""

    @property
    def stop_reason(self) -> StopReason: ...
    @property
    def prompt_tokens(self) -> int | None: ...
    @property
    def reply_tokens(self) -> int | None: ...


class StreamedReply:
    """Collects the pieces of one reply.

    Args:
        request: what was asked.
        title: of the model, for messages.
        structured: the reply is kept to a schema, in which stop strings mean nothing.
        started: when the request was begun, monotonic seconds.

    Attributes:
        enforced: the reply must be one of the item's options; it is passed on as one piece.
        cancelled: the user stopped the reply.
    """

    def __init__(self, request: Request, *, title: str, structured: bool, started: float) -> None:
        self.enforced = is_enforced(request)
        self.cancelled = False
        self._request = request
        self._title = title
        self._started = started
        self._stops = StopStrings(() if structured else request.decoding.stop)
        self._parts: list[str] = []
        self._length = 0
        self._first_s: float | None = None

    @property
    def stop_string(self) -> str | None:
        """The stop string at which the text was cut, or None."""
        return self._stops.found

    @property
    def is_cut(self) -> bool:
        """Whether the reply was ended here, so that the service need not have completed it."""
        return self.cancelled or self.stop_string is not None

    def feed(self, text: str) -> str:
        """Take in a piece of text; return what can be passed on.

        Raises:
            ComponentError: the reply is too long.
        """
        self._length += len(text)
        if self._length > MAX_CHARACTERS:
            raise ComponentError(f"{self._title}: the reply does not end; it is not kept")
        certain = self._stops.feed(text)
        if certain and self._first_s is None:
            self._first_s = time.monotonic() - self._started
        self._parts.append(certain)
        return "" if self.enforced else certain

    def finish(
        self, facts: _Facts, metadata: Mapping[str, str], read: Callable[[str], str]
    ) -> Iterator[str | Reply]:
        """Yield the text that was held back and the reply.

        Args:
            facts: what the service said of the reply.
            metadata: what is kept with it.
            read: gives the option in the text of an enforced reply.
        """
        rest = self._stops.flush()
        raw = text = "".join(self._parts) + rest
        protocol = Protocol.ENFORCED if self.enforced else Protocol.GENERATE
        kept = {**metadata, "protocol": protocol.value}
        if self.enforced:
            rest = text = read(raw)
            kept["constrained"] = "yes" if text in self._request.options else "no"
            if text not in {raw, raw.strip()}:
                kept["raw_reply"] = raw
        if rest:
            yield rest
        reason = facts.stop_reason
        if self.cancelled:
            reason = StopReason.CANCELLED
        elif self.stop_string is not None:
            reason = StopReason.STOP_STRING
            kept["stop_string"] = self.stop_string
        latency = time.monotonic() - self._started
        tokens = (facts.prompt_tokens, facts.reply_tokens)
        yield Reply(text, reason, latency, self._first_s, *tokens, kept)


def is_enforced(request: Request) -> bool:
    """Return whether the reply must be one of the item's options; without options it is free."""
    return request.protocol is Protocol.ENFORCED and bool(request.options)
