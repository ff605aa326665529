"""The chunks of one streamed chat completion."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabwb.plugin_api import RemoteFailure
from tabwb.records.exchange import THOUGHT_AWAY
from tabwb.records.states import StopReason

REASONS: Mapping[str, StopReason] = {
    "stop": StopReason.END,
    "length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSED,
}
"""Finish reason: why the reply ended. Other reasons of services are kept unaltered."""


@dataclass(slots=True)
class Heard:
    """The state of a completion besides its text.

    Attributes:
        finish: why it ended, in the service's word; None until it ends.
        stop_string: the string at which the server ended the reply, where it says so.
        refused: the model sent a refusal.
        prompt_tokens, reply_tokens: as the service counts, or None.
        reasoning: what the service sent as reasoning, in fields of its own.
        thoughts: tokens of reasoning, which the service counts among those of the reply.
        has_text: whether there was any text.
        facts: of the service (model, fingerprint, id of the completion).
        chunks: number of chunks.
    """

    finish: str | None = None
    stop_string: str | None = None
    refused: bool = False
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    reasoning: str = ""
    thoughts: int = 0
    has_text: bool = False
    facts: dict[str, str] = field(default_factory=dict)
    chunks: int = 0

    def take(self, chunk: Any) -> str:
        """Read a chunk; return its text.

        Raises:
            RemoteFailure: it is not a chunk of a chat completion.
        """
        try:
            self._count(getattr(chunk, "usage", None))
            self._note(chunk)
            choices = chunk.choices or []
            text = "".join(self._choice(choice) for choice in choices if not choice.index)
            self.has_text = self.has_text or bool(text.strip())
        except (AttributeError, TypeError, ValueError) as error:
            raise RemoteFailure(
                "malformed", f"a part of the answer has not the form of one: {error}"
            ) from None
        self.chunks += 1
        return text

    @property
    def stop_reason(self) -> StopReason:
        """Why the reply ended."""
        if self.refused:
            return StopReason.REFUSED
        if self.stop_string is not None:
            return StopReason.STOP_STRING
        return REASONS.get(self.finish or "", StopReason.END)

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata to keep with the reply."""
        kept = dict(self.facts)
        if self.finish is not None:
            kept["finish_reason"] = self.finish
        if self.refused:
            kept["refusal"] = "yes"
        if self.stop_string is not None:
            kept["stop_string"] = self.stop_string
        if self.reasoning:
            kept["reasoning_characters"] = str(len(self.reasoning))
        if self.thoughts:
            kept["thought_tokens"] = str(self.thoughts)
        if self.finish == "length" and not self.has_text and (self.reasoning or self.thoughts):
            kept["cause"] = THOUGHT_AWAY
        return kept

    def _choice(self, choice: Any) -> str:
        finish = getattr(choice, "finish_reason", None)
        if finish is not None:
            self.finish = str(finish)
            reason = getattr(choice, "stop_reason", None)  # vLLM has the string
            self.stop_string = reason if isinstance(reason, str) else None
        delta = getattr(choice, "delta", None)
        if delta is None:
            return ""
        self.reasoning += _reasoning(delta)
        refusal = getattr(delta, "refusal", None) or ""
        self.refused = self.refused or bool(refusal)
        return _text(getattr(delta, "content", None)) + refusal

    def _count(self, usage: Any) -> None:
        prompt, reply = (
            getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")
        )
        if isinstance(prompt, int) and isinstance(reply, int):
            self.prompt_tokens, self.reply_tokens = prompt, reply
        details = getattr(usage, "completion_tokens_details", None)
        thoughts = getattr(details, "reasoning_tokens", None)
        if isinstance(thoughts, int):
            self.thoughts = thoughts

    def _note(self, chunk: Any) -> None:
        names = {"model": "model", "system_fingerprint": "system_fingerprint", "id": "response_id"}
        for name, kept in names.items():
            value = getattr(chunk, name, None)
            if isinstance(value, str) and value:
                self.facts[kept] = value


def _reasoning(delta: Any) -> str:
    """Return the reasoning of a chunk; services name its field differently, some by two names."""
    for name in ("reasoning_content", "reasoning", "thinking", "thought"):
        if isinstance(text := getattr(delta, name, None), str) and text:
            return text
    details = getattr(delta, "reasoning_details", None)  # OpenRouter
    parts = details if isinstance(details, list) else []
    content = getattr(delta, "content", None)  # Mistral: a list of parts
    parts = [*parts, *(content if isinstance(content, list) else [])]
    return "".join(_parts(parts, thought=True))


def _text(content: object) -> str:
    """Return the text of a message; of a list of parts, without those of its thinking."""
    return content if isinstance(content, str) else "".join(_parts(content, thought=False))


def _parts(content: object, *, thought: bool) -> Iterator[str]:
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, Mapping):
            continue
        kind = str(part.get("type", "text"))
        if ("thinking" in kind or "reasoning" in kind) != thought:
            continue
        text = part.get("thinking", part.get("text", part.get("summary", "")))
        yield text if isinstance(text, str) else "".join(_parts(text, thought=False))


def chosen(raw: str, choices: Sequence[str]) -> str:
    """Return the answer in an enforced reply; the reply itself where it has none.

    >>> chosen('{"answer": "lion"}', ["lion", "drum"]), chosen("A lion.", ["lion", "drum"])
    ('lion', 'A lion.')
    """
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    answer = document.get("answer") if isinstance(document, dict) else None
    return answer if isinstance(answer, str) and answer in choices else raw
