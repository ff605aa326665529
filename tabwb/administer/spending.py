"""What a run has under way and what it has taken so far; both faces say the same of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tabwb.plugin_api.remote.prices import Price, cost_of
from tabwb.records import events
from tabwb.records.states import AttemptState
from tabwb.records.trials import Attempt, Trial


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens and money of one administration; :meth:`after` each event it is another one.

    Attributes:
        price: of the model's tokens, or None where unknown.
        in_flight: requests that were put to the model together and have no answer on record yet.
        prompt_tokens, reply_tokens: of all attempts, or None as soon as one did not count them:
            what one reply did not count is not known of the sum either.
        at_once: how many the model has under way at one time, where it tells.
    """

    price: Price | None = None
    in_flight: int = 0
    prompt_tokens: int | None = 0
    reply_tokens: int | None = 0
    at_once: int | None = None

    @classmethod
    def of(cls, trials: Iterable[Trial], price: Price | None) -> Spending:
        """What the attempts that are on record have taken."""
        spending = cls(price)
        for trial in trials:
            for attempt in trial.attempts:
                spending = spending._with(attempt)
        return spending

    def after(self, event: events.Event) -> Spending:
        """The same with what an event tells."""
        if isinstance(event, events.Asked):
            return replace(self, in_flight=len(event.trials), at_once=event.at_once)
        if isinstance(event, events.AttemptRecorded):
            left = max(self.in_flight - 1, 0)
            return replace(self, in_flight=left)._with(event.attempt)
        if isinstance(event, events.Paused | events.Finished | events.Discontinued):
            return replace(self, in_flight=0)
        return self

    @property
    def free(self) -> bool:
        """Whether nothing is charged."""
        return self.price is not None and not self.price.prompt and not self.price.reply

    @property
    def cost(self) -> float | None:
        """US dollars, or None where the price or a number of tokens is unknown."""
        return cost_of(self.price, self.prompt_tokens, self.reply_tokens)

    def _with(self, attempt: Attempt) -> Spending:
        failed = attempt.state is AttemptState.ERROR
        return replace(
            self,
            prompt_tokens=_sum(self.prompt_tokens, attempt.metadata.get("prompt_tokens"), failed),
            reply_tokens=_sum(self.reply_tokens, attempt.metadata.get("reply_tokens"), failed),
        )


def told(spending: Spending) -> str:
    """What a run has under way and has taken, in one line; empty where there is nothing to say.

    >>> told(Spending(Price("m", 1.0, 2.0), 3, 1000, 500))
    '3 in flight, 1,500 tokens, 0.0020 USD'
    >>> told(Spending(None, 20, at_once=8)), told(Spending(None, 3, at_once=8))
    ('8 of 20 in flight', '3 in flight')
    >>> told(Spending(None, 1, 10, 5)), told(Spending(None, 0, 10, None)), told(Spending())
    ('15 tokens, cost unknown', 'tokens not counted, cost unknown', '')
    """
    asked = spending.in_flight
    flying = asked if spending.at_once is None else min(asked, spending.at_once)
    of = f" of {asked}" if flying < asked else ""
    parts = [f"{flying}{of} in flight"] if asked > 1 else []
    sent, received = spending.prompt_tokens, spending.reply_tokens
    if sent is None or received is None:
        if not spending.free:
            parts.append("tokens not counted")
    elif sent + received:
        parts.append(f"{sent + received:,} tokens")
    else:
        return ", ".join(parts)
    if not spending.free:
        cost = spending.cost
        parts.append("cost unknown" if cost is None else f"{cost:.4f} USD")
    return ", ".join(parts)


def _sum(so_far: int | None, given: str | None, failed: bool) -> int | None:
    if given is None:
        return so_far if failed else None
    return None if so_far is None else so_far + int(given)
