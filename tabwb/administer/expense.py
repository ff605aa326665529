"""What requests will take, estimated before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tabwb.plugin_api.remote.prices import Price, cost_of
from tabwb.records.exchange import Request

CHARACTERS_PER_TOKEN = 4
"""Of English text, for estimates before anything is asked [ours]; a bill counts real tokens."""


@dataclass(frozen=True, slots=True)
class Expense:
    """What a number of requests will take at most.

    Attributes:
        requests: how many.
        prompt_tokens: estimated from the length of the text.
        reply_tokens: the most that replies may have, all limits used up, reasoning included.
        cost: US dollars for all of that, or None where the price is unknown.
    """

    requests: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None


def tokens_of(request: Request) -> int:
    """Estimated tokens of a prompt."""
    return sum(len(message.content) for message in request.messages) // CHARACTERS_PER_TOKEN


def call_at_most(
    price: Price | None, prompt_tokens: int, reply_limit: int, requests: int
) -> float | None:
    """The most that one call of a judge may cost, US dollars; None where the price is unknown.

    Each request with the longest reply; a second one holds the first one's reply too. A token of
    the prompt is reckoned with three letters here, which is on the safe side for English.

    Args:
        price: of the judge's model.
        prompt_tokens: estimated, of the first request.
        reply_limit: the most tokens of a reply.
        requests: how many there may be.

    >>> call_at_most(Price("m", 1.0, 2.0), 300, 100, 2)  # 400 + 400 + 100 + 40 sent, 200 back
    0.00134
    """
    prompt = prompt_tokens * CHARACTERS_PER_TOKEN / 3
    sent = requests * prompt + (requests - 1) * (reply_limit + prompt / 10)
    return cost_of(price, math.ceil(sent), requests * reply_limit)


def expense_of(
    requests: Iterable[Request],
    price: Price | None,
    reply_tokens: Callable[[int], int] = int,
) -> Expense:
    """Return what requests will take at most.

    Args:
        requests: what is asked.
        price: of the model's tokens.
        reply_tokens: the most tokens of a reply, reasoning included, by the limit of its text.

    >>> from tabwb.records.exchange import Decoding, Message
    >>> asked = Request((Message("user", "x" * 400),), Decoding(max_tokens=50))
    >>> expense_of([asked, asked], Price("m", 1.0, 2.0))
    Expense(requests=2, prompt_tokens=200, reply_tokens=100, cost=0.0004)
    >>> expense_of([asked], None, lambda limit: limit + 1000).reply_tokens
    1050
    """
    count = prompt = reply = 0
    for request in requests:
        count += 1
        prompt += tokens_of(request)
        reply += reply_tokens(request.decoding.max_tokens)
    return Expense(count, prompt, reply, cost_of(price, prompt, reply))
