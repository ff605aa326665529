"""A first try of a model: load or reach it, ask it one thing, see what comes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tabwb.host.making import opened
from tabwb.host.plugins import Plugins
from tabwb.host.prices import Price, cost_of
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Message, Reply, Request, Wait

PROMPT = "Say hello."
MOST_TOKENS = 32


@dataclass(frozen=True, slots=True)
class Tried:
    """What a model did with one prompt, after ``opened_s`` seconds of loading or reaching it."""

    model: str
    facts: Mapping[str, str]
    opened_s: float
    prompt: str
    reply: Reply
    price: Price | None

    @property
    def cost(self) -> float | None:
        """US dollars of this try, or None where unknown."""
        return cost_of(self.price, self.reply.prompt_tokens, self.reply.reply_tokens)


def try_model(
    plugins: Plugins,
    spec: str,
    cancel: Cancel,
    *,
    prompt: str = PROMPT,
    max_tokens: int = MOST_TOKENS,
    on_wait: Callable[[Wait], object] = lambda wait: None,
) -> Tried:
    """Open the model that a spec names, ask it one question and close it again."""
    price = plugins.price(spec)
    backend = plugins.open_model(spec)
    started = time.monotonic()
    try:
        facts = dict(opened(backend, cancel))
        opened_s = time.monotonic() - started
        request = Request((Message("user", prompt),), Decoding(max_tokens=max_tokens))
        reply: Reply | None = None
        for piece in backend.reply(request, cancel):
            if isinstance(piece, Wait) and piece.seconds:
                on_wait(piece)
            elif isinstance(piece, Reply):
                reply = piece
    finally:
        backend.close()
    if reply is None:
        raise ComponentError(f"'{spec}' ended without a reply")
    return Tried(str(plugins.resolve("models", spec)[1]), facts, opened_s, prompt, reply, price)
