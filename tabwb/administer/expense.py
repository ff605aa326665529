"""What requests will take, estimated before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tabwb.extend.prices import Price, cost_of
from tabwb.records.exchange import Request

CHARACTERS_PER_TOKEN = 4
"""Of English text, for estimates before anything is asked [ours]; a bill counts real tokens."""


@dataclass(frozen=True, slots=True)
class Expense:
    """What a number of requests will take at most.

    Attributes:
        requests: how many.
        prompt_tokens: estimated from the length of the text.
        reply_tokens: the most that replies may have, all limits used up.
        cost: US dollars for all of that, or None where the price is unknown.
    """

    requests: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None


def tokens_of(request: Request) -> int:
    """Estimated tokens of a prompt."""
    return sum(len(message.content) for message in request.messages) // CHARACTERS_PER_TOKEN


def expense_of(requests: Iterable[Request], price: Price | None) -> Expense:
    """What requests will take at most.

    >>> from tabwb.records.exchange import Decoding, Message
    >>> asked = Request((Message("user", "x" * 400),), Decoding(max_tokens=50))
    >>> expense_of([asked, asked], Price("m", 1.0, 2.0))
    Expense(requests=2, prompt_tokens=200, reply_tokens=100, cost=0.0004)
    """
    count = prompt = reply = 0
    for request in requests:
        count += 1
        prompt += tokens_of(request)
        reply += request.decoding.max_tokens
    return Expense(count, prompt, reply, cost_of(price, prompt, reply))
