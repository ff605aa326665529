"""The chunks of one streamed reply."""

from __future__ import annotations

from dataclasses import dataclass, field

from google.genai import types

from tabwb.plugin_api import RemoteFailure
from tabwb.records.exchange import THOUGHT_AWAY
from tabwb.records.states import StopReason

_BLOCKED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "ESCALATION",
        "MODEL_ARMOR",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    }
)
"""Finish reasons of answers that the service withholds."""
_WHOLE = frozenset({"STOP", "MAX_TOKENS"})
"""Finish reasons of complete answers. Any other reason is a failure."""


@dataclass(slots=True)
class Heard:
    """The state of a reply besides its text.

    Attributes:
        finish: why it ended, in the service's word; None until it ends.
        blocked: why the prompt was refused, in the service's word, or None.
        prompt_tokens, reply_tokens: as the service counts, including thinking; or None.
        facts: of the service (model version, id of the reply).
        chunks: number of chunks.
        candidates: number of chunks with a part of an answer.
        has_text: whether there was any text.
        thoughts: tokens of thinking.
        reasoning: its summary, where the service sends one.
    """

    finish: str | None = None
    blocked: str | None = None
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    facts: dict[str, str] = field(default_factory=dict)
    chunks: int = 0
    candidates: int = 0
    has_text: bool = False
    thoughts: int = 0
    reasoning: str = ""

    def take(self, chunk: types.GenerateContentResponse) -> str:
        """Read a chunk; return its text without thoughts."""
        self.chunks += 1
        for name in ("model_version", "response_id"):
            value = getattr(chunk, name, None)
            if value:
                self.facts[name] = str(value)
        self._count(chunk.usage_metadata)
        feedback = chunk.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            self.blocked = feedback.block_reason.value
        if not chunk.candidates:
            return ""
        self.candidates += 1
        candidate = chunk.candidates[0]
        if candidate.finish_reason is not None:
            self.finish = candidate.finish_reason.value
        parts = (candidate.content.parts if candidate.content else None) or []
        text = "".join(part.text for part in parts if part.text and not part.thought)
        self.reasoning += "".join(part.text for part in parts if part.text and part.thought)
        self.has_text = self.has_text or bool(text.strip())
        return text

    def check(self) -> None:
        """Check that the reply is complete: else the connection was cut.

        Raises:
            RemoteFailure: it is not, or the service failed.
        """
        if self.blocked is not None:
            return
        if not self.chunks:
            raise RemoteFailure("malformed", "the reply is not a valid stream")
        if not self.candidates:
            raise RemoteFailure("malformed", "the service sent no candidate of an answer")
        if self.finish is None:
            raise RemoteFailure("connection", "the answer broke off")
        if self.finish not in _WHOLE | _BLOCKED:
            raise RemoteFailure("server", f"the service ended the reply with {self.finish}")

    @property
    def stop_reason(self) -> StopReason:
        """Why the reply ended."""
        if self.blocked is not None or self.finish in _BLOCKED:
            return StopReason.REFUSED
        return StopReason.LENGTH if self.finish == "MAX_TOKENS" else StopReason.END

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata to keep with the reply."""
        kept = dict(self.facts)
        if self.finish is not None:
            kept["finish_reason"] = self.finish
        if self.blocked is not None:
            kept |= {"blocked": "the prompt", "block_reason": self.blocked}
        if self.finish == "MAX_TOKENS" and self.thoughts and not self.has_text:
            kept["cause"] = THOUGHT_AWAY
        return kept

    def _count(self, usage: types.GenerateContentResponseUsageMetadata | None) -> None:
        if usage is None:
            return
        thoughts = self.thoughts = usage.thoughts_token_count or self.thoughts
        if usage.prompt_token_count is not None:
            self.prompt_tokens = usage.prompt_token_count
        if usage.candidates_token_count is not None or thoughts:
            self.reply_tokens = (usage.candidates_token_count or 0) + thoughts
        if thoughts:
            self.facts["thought_tokens"] = str(thoughts)
