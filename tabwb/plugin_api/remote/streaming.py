"""The text of one streamed reply: bounded, cut at stop strings, timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol as TypingProtocol

from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Reply, Request, Wait
from tabwb.records.reasoning import AUTO, ReasoningStream, passed_on, with_split
from tabwb.records.states import Protocol, StopReason

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
        """Yield the text that was held back and the reply.

        Args:
            facts: what the service said of the reply.
            metadata: what is kept with it.
            read: gives the option in the text of an enforced reply.
        """
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
