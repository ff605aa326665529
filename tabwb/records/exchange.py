"""What goes to a model and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tabwb.records.states import Protocol, ResponseKind, StopReason

Role = Literal["system", "user", "assistant"]
MAX_TOKENS = 256
"""Token limit of a reply where neither the battery nor the run has one."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Decoding:
    """How text is drawn from a model. Greedy is ``temperature=0``.

    Attributes:
        max_tokens: token limit of a reply.
        temperature: 0 for greedy, else the sampling temperature.
        top_p: nucleus mass in (0, 1].
        stop: strings at which a reply ends; they are not part of it.
        seed: of the sampler, from 0 to 2**31 - 1. In a request it is this reply's own
            (:func:`tabwb.records.specs.reply_seed`): a back end uses it as it is.
    """

    max_tokens: int = MAX_TOKENS
    temperature: float = 0.0
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    seed: int = 0

    @property
    def greedy(self) -> bool:
        """Whether the same prompt always gives the same reply."""
        return self.temperature == 0.0


REASONING, REASONING_TOKENS = "reasoning", "thought_tokens"
"""In an attempt's metadata: the text of the model's thinking, and how many tokens it took."""
RESPLIT = "reasoning_of_attempt"
"""In the metadata of an attempt that is an earlier one with its reasoning taken out: its number."""
THOUGHT_AWAY = "thinking used the limit of tokens"
"""In a reply's metadata as ``cause``, where there is no text because of that: then the response is
*truncated*, not *empty*."""
NOT_SENT = "not sent"
"""In a reply's metadata under ``max_tokens``, ``temperature``, ``top_p``, ``stop`` or ``seed``: the
back end did without this part of the request's decoding."""


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt for a model, exactly as it is sent.

    Attributes:
        options: the options of the item in the order shown, under every protocol; for yes/no
            questions ``Yes`` and ``No``, except under ``generate``. They are already in the
            prompt: only ``enforced`` and ``likelihood`` need them.
        key: names the item (``subtest/item``) for back ends that replay recorded answers, with
            ``replicate``; never part of what a model is shown.
        json_schema: of the reply, as canonical JSON text; empty for free text. A back end whose API
            can keep a reply to a schema does so and says it in the reply's metadata
            (``structured``); any other one ignores it.
        kind: the kind of response, or None; selects the examples of a template.
    """

    messages: tuple[Message, ...]
    decoding: Decoding = field(default_factory=Decoding)
    protocol: Protocol = Protocol.GENERATE
    options: tuple[str, ...] = ()
    key: str = ""
    replicate: int = 0
    kind: ResponseKind | None = None
    json_schema: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        text: the response, unaltered; without the model's reasoning, where that is apart.
        stop_reason: why it ended.
        latency_s: seconds from request to the last piece.
        first_piece_s: seconds to the first piece, or None.
        prompt_tokens: tokens of the prompt, or None where the back end does not count.
        reply_tokens: tokens of the reply, or None.
        metadata: plain strings worth keeping (revision, dtype, rendered prompt, finish reason). The
            engine adds the request's decoding (``max_tokens``, ``temperature``, ``stop`` and, where
            it samples, ``top_p`` and ``seed``). A back end that sent something else says so under
            the same name: the value that it sent, or :data:`NOT_SENT`.
        reasoning: what the model wrote in its thinking, which is not part of the response; empty
            where there was none. None: the back end did not look, and tabwb takes it from the
            text, by its tags (:func:`tabwb.records.reasoning.split_reasoning`).
    """

    text: str
    stop_reason: StopReason
    latency_s: float
    first_piece_s: float | None = None
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """A back end waits before it continues a request (transient: shown, never stored).

    Attributes:
        seconds: how long; 0 where only what came before is void.
        reason: why, for people (``rate limit, attempt 2 of 6``).
        voids: the pieces before it are void; False where the same reply goes on, which is silent.
    """

    seconds: float
    reason: str
    voids: bool = True


@dataclass(frozen=True, slots=True)
class Likelihood:
    """How likely a model finds a continuation.

    Attributes:
        log_probability: natural logarithm, summed over the continuation's tokens.
        prompt_tokens: number of tokens of the prompt, or None where the back end does not count.
        metadata: plain strings worth keeping with the answer (rendered prompt, template). Those of
            all options of an item are stored together, so that one option may carry them for all.
    """

    log_probability: float
    tokens: int
    prompt_tokens: int | None = None
    metadata: Mapping[str, str] = field(default_factory=dict, compare=False)
