"""Streams the text of tokens in pieces that join to exactly the reply."""

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
    """

    def __init__(self, decode: Decode, prompt: Sequence[int]) -> None:
        self._decode = decode
        self._settled = list(prompt[-_CONTEXT:])
        self._waiting: list[int] = []

    def feed(self, token: int) -> str:
        """Append a token; return the text that it completes, perhaps none."""
        self._waiting.append(token)
        text = self._new()
        if not text or text.endswith(_INCOMPLETE):
            return ""
        return self._settle(text)

    def flush(self) -> str:
        """Return the text that was held back."""
        return self._settle(self._new()) if self._waiting else ""

    def _new(self) -> str:
        before = self._decode(self._settled)
        after = self._decode([*self._settled, *self._waiting])
        return after[len(before) :]

    def _settle(self, text: str) -> str:
        self._settled = [*self._settled, *self._waiting][-_CONTEXT - len(self._waiting) :]
        self._waiting.clear()
        return text
