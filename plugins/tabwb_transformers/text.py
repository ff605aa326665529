"""From tokens to streamed text: pieces that join to exactly the reply, and stop strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Decode = Callable[[Sequence[int]], str]
_INCOMPLETE = "\N{REPLACEMENT CHARACTER}"
_CONTEXT = 8


class TextStream:
    """Decodes a growing list of tokens piece by piece.

    Tokens are decoded after the prompt's last ones, because a tokenizer may drop the space in
    front of a text but not inside it. A character whose bytes are spread over several tokens is
    held back until it is whole.

    Args:
        decode: tokens to text, special tokens written out.
        prompt: the prompt's tokens.
    """

    def __init__(self, decode: Decode, prompt: Sequence[int]) -> None:
        self._decode = decode
        self._settled = list(prompt[-_CONTEXT:])
        self._waiting: list[int] = []

    def feed(self, token: int) -> str:
        """The text that this token completes; may be empty."""
        self._waiting.append(token)
        text = self._new()
        if not text or text.endswith(_INCOMPLETE):
            return ""
        return self._settle(text)

    def flush(self) -> str:
        """What was held back, as it is."""
        return self._settle(self._new()) if self._waiting else ""

    def _new(self) -> str:
        before = self._decode(self._settled)
        after = self._decode([*self._settled, *self._waiting])
        return after[len(before) :]

    def _settle(self, text: str) -> str:
        self._settled = [*self._settled, *self._waiting][-_CONTEXT - len(self._waiting) :]
        self._waiting.clear()
        return text


class StopStrings:
    r"""Ends a stream at the first stop string; what might begin one is held back.

    >>> stops = StopStrings(["\nQ:"])
    >>> stops.feed("lion\n"), stops.feed("Q: and"), stops.found
    ('lion', '', '\nQ:')
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._held = ""
        self.found: str | None = None

    def feed(self, text: str) -> str:
        """The text that certainly belongs to the reply."""
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
        """What was held back: it turned out to be no stop string."""
        held, self._held = self._held, ""
        return held

    def _beginning(self) -> int:
        """Length of the longest end of the held text with which a stop string begins."""
        longest = min(len(self._held), max(map(len, self._stops), default=1) - 1)
        for length in range(longest, 0, -1):
            if any(stop.startswith(self._held[-length:]) for stop in self._stops):
                return length
        return 0
