"""What requests take in tokens and money: limits, estimates before a run, counts during it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Protocol

from tabwb.administer.session.exchange import token_limit
from tabwb.administer.session.plan import plan_trials
from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.host.prices import Price, cost_of
from tabwb.plugin_api.components import Response
from tabwb.records import events
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Request
from tabwb.records.states import AttemptState, ResponseStatus
from tabwb.records.trials import Attempt, Trial
from tabwb.records.words import plural

CHARACTERS_PER_TOKEN = 4
"""Of English text, for estimates before anything is asked [ours]; a bill counts real tokens."""


@dataclass(frozen=True, slots=True)
class Expense:
    """The most that a number of requests takes: estimated tokens, and US dollars or None."""

    requests: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None


def tokens_of(request: Request) -> int:
    """Return the estimated tokens of a prompt."""
    return sum(len(message.content) for message in request.messages) // CHARACTERS_PER_TOKEN


def call_at_most(
    price: Price | None, prompt_tokens: int, reply_limit: int, requests: int
) -> float | None:
    """Return the most that one call of a judge may cost, US dollars; None without a price.

    Each request has the longest reply; a second one contains the first one's reply too. A token of
    the prompt counts as three letters, which overestimates English.

    >>> call_at_most(Price("m", 1.0, 2.0), 300, 100, 2)  # 400 + 400 + 100 + 40 sent, 200 back
    0.00134
    """
    prompt = prompt_tokens * CHARACTERS_PER_TOKEN / 3
    sent = requests * prompt + (requests - 1) * (reply_limit + prompt / 10)
    return cost_of(price, math.ceil(sent), requests * reply_limit)


def expense_of(
    requests: Iterable[Request], price: Price | None, reply_tokens: Callable[[int], int] = int
) -> Expense:
    """Return what requests will take at most.

    >>> from tabwb.records.exchange import Decoding, Message
    >>> asked = Request((Message("user", "x" * 400),), Decoding(max_tokens=50))
    >>> expense_of([asked, asked], Price("m", 1.0, 2.0))
    Expense(requests=2, prompt_tokens=200, reply_tokens=100, cost=0.0004)
    >>> expense_of([asked], None, lambda limit: limit + 1000).reply_tokens
    1050
    """
    asked = list(requests)
    prompt = sum(map(tokens_of, asked))
    reply = sum(reply_tokens(request.decoding.max_tokens) for request in asked)
    return Expense(len(asked), prompt, reply, cost_of(price, prompt, reply))


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens and money of one administration.

    Attributes:
        price: of the model's tokens, or None where unknown.
        in_flight: requests that were put to the model together and have no answer on record yet.
        prompt_tokens, reply_tokens: of all attempts, or None where an attempt did not count them.
        at_once: how many requests the model works on at one time, or None where it is not known.
    """

    price: Price | None = None
    in_flight: int = 0
    prompt_tokens: int | None = 0
    reply_tokens: int | None = 0
    at_once: int | None = None

    @classmethod
    def of(cls, trials: Iterable[Trial], price: Price | None) -> Spending:
        """Return what the recorded attempts have taken."""
        attempts = (attempt for trial in trials for attempt in trial.attempts)
        return reduce(cls._with, attempts, cls(price))

    def after(self, event: events.Event) -> Spending:
        """Return the spending after an event."""
        if isinstance(event, events.Asked):
            return replace(self, in_flight=len(event.trials), at_once=event.at_once)
        if isinstance(event, events.AttemptRecorded):
            return replace(self, in_flight=max(self.in_flight - 1, 0))._with(event.attempt)
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


def format_spending(spending: Spending) -> str:
    """Return what a run has in progress and has taken, in one line, or nothing.

    >>> format_spending(Spending(Price("m", 1.0, 2.0), 3, 1000, 500))
    '3 in flight, 1,500 tokens, 0.0020 USD'
    >>> format_spending(Spending(None, 20, at_once=8))
    '8 of 20 in flight'
    >>> format_spending(Spending(None, 1, 10, 5)), format_spending(Spending(None, 0, 10, None))
    ('15 tokens, cost unknown', 'tokens not counted, cost unknown')
    >>> format_spending(Spending())
    ''
    """
    asked = spending.in_flight
    flying = asked if spending.at_once is None else min(asked, spending.at_once)
    of = f" of {asked}" if flying < asked else ""
    parts = [f"{flying}{of} in flight"] if asked > 1 else []
    sent, received = spending.prompt_tokens, spending.reply_tokens
    if sent is None or received is None:
        parts += [] if spending.free else ["tokens not counted"]
    elif sent + received:
        parts.append(f"{sent + received:,} tokens")
    else:
        return ", ".join(parts)
    if not spending.free:
        cost = spending.cost
        parts.append("cost unknown" if cost is None else f"{cost:.4f} USD")
    return ", ".join(parts)


def _sum(so_far: int | None, given: str | None, failed: bool) -> int | None:
    if given is None or not given.isdecimal():
        return so_far if failed else None
    return None if so_far is None else so_far + int(given)


@dataclass(frozen=True, slots=True)
class Forecast:
    """The most that one judge takes, in US dollars or None, for answers of ``answer_tokens``."""

    judge: str
    answers: int
    requests: int
    answer_tokens: int
    cost: float | None

    def line(self, when: str) -> str:
        """Return it in one line, with the time ``when`` the judge rates."""
        cost = "cost unknown" if self.cost is None else f"at most {self.cost:.2g} USD"
        money = "" if self.cost == 0 else f", {cost}"
        return (
            f"{self.judge} judges {when}: "
            f"{self.answers} answers, at most {self.requests} requests{money} "
            f"(for answers of {self.answer_tokens} tokens)"
        )


def forecasts(plugins: Plugins, battery: Battery, conditions: Conditions) -> Iterator[Forecast]:
    """Yield a forecast for each judge that asks a model; texts are as long as they may be."""
    plans = (plan for plan in plan_trials(battery, conditions) if not plan.practice)
    texts = [plan for plan in plans if battery.subtest(plan.subtest).task.connected]
    for spec in conditions.judges:
        judge = plugins.judge(spec)
        if not judge.examinee:
            continue
        price = plugins.price_behind(judge)
        cost: float | None = 0.0
        longest = 0
        for plan in texts:
            subtest = battery.subtest(plan.subtest)
            limit = token_limit(subtest, conditions)
            longest = max(longest, limit)
            text, prompt = "x" * (limit * CHARACTERS_PER_TOKEN), subtest.item(plan.item).prompt
            kind = subtest.task.text_kind
            response = Response(text, ResponseStatus.OK, prompt, plan.prompt, kind)
            requests = judge.requests(response, battery.features)
            tokens = sum(map(tokens_of, requests))
            limits = (request.decoding.max_tokens for request in requests)
            reply = sum(plugins.reply_tokens_behind(judge, limit) for limit in limits)
            call = call_at_most(price, tokens, reply, judge.most_requests)
            cost = None if cost is None or call is None else cost + call
        yield Forecast(judge.rater, len(texts), len(texts) * judge.most_requests, longest, cost)


class Taken(Protocol):
    """What work has taken: requests, and the most that they may have cost in US dollars."""

    @property
    def requests(self) -> int:
        """Requests that were sent."""

    @property
    def cost_at_most(self) -> float:
        """US dollars."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where asking stops by itself.

    Attributes:
        requests: the most requests that are sent. A call of a judge may need two (the second one
            asks for a reply that can be read), so it is made only while two are left.
        cost: the most that is spent, in US dollars; a request that is not sent yet counts with the
            longest reply it may have.
    """

    requests: int | None = None
    cost: float | None = None

    def after(self, taken: Taken) -> Limits:
        """Return what is left."""
        return Limits(
            None if self.requests is None else max(self.requests - taken.requests, 0),
            None if self.cost is None else max(self.cost - taken.cost_at_most, 0.0),
        )

    def check(self, price: Price | None) -> None:
        """Refuse a limit that cannot be kept."""
        if self.requests is not None and self.requests < 1:
            raise UsageError(f"at most {self.requests} requests", allowed="1 or more")
        if self.cost is not None and not 0 < self.cost < math.inf:
            raise UsageError(f"at most {self.cost:g} USD", allowed="more than 0")
        if self.cost is not None and price is None:
            raise UsageError(
                "a limit of cost needs a price, and none is known for this model",
                hint="write it into prices.toml in your configuration folder, "
                "or limit the requests (--max-requests)",
            )


NO_LIMITS = Limits()


def limits_of(
    plugins: Plugins, conditions: Conditions, requests: int | None, cost: float | None
) -> Limits:
    """Return the limits of a run, checked before anything is asked."""
    limits = Limits(requests, cost)
    if limits != NO_LIMITS and conditions.kind != "model":
        raise UsageError("limits of requests and cost apply only to models")
    limits.check(None if cost is None else plugins.price(conditions.examinee))
    return limits


class Meter:
    """Counts what an examinee's requests take, against limits.

    Attributes:
        requests, cost_at_most: see :class:`Taken`; of a request whose tokens are not counted the
            most that it may have cost.
    """

    def __init__(self, limits: Limits, plugins: Plugins, conditions: Conditions) -> None:
        self.limits = limits
        self.requests, self.cost_at_most = 0, 0.0
        self._plugins, self._spec = plugins, conditions.examinee
        limited = limits.cost is not None
        self._price = plugins.price(conditions.examinee) if limited else None
        limits.check(self._price)

    def room(self, requests: Sequence[Request]) -> int:
        """Return how many of these requests, from the first on, stay within the limits."""
        left = self.limits.after(self)
        fits = 0
        cost = left.cost
        for request in requests[: left.requests]:
            if cost is not None:
                cost -= self._reserved(request)
                if cost < 0:
                    break
            fits += 1
        return fits

    def count(self, attempt: Attempt, request: Request | None) -> None:
        """Count a request and what came back."""
        self.requests += 1
        tokens = (attempt.metadata.get(name, "") for name in ("prompt_tokens", "reply_tokens"))
        known = [int(one) if one.isdecimal() else None for one in tokens]
        spent = cost_of(self._price, *known)
        if spent is None:
            spent = 0.0 if request is None else self._reserved(request)
        self.cost_at_most += spent

    def reached(self, request: Request) -> str:
        """Return which limit leaves no room for a request, with its numbers."""
        limits, sent = self.limits, self.requests
        if limits.requests is not None and sent >= limits.requests:
            return f"the limit of {plural(limits.requests, 'request')} is reached"
        return (
            f"the limit is {limits.cost:.4g} USD; at most {self.cost_at_most:.4g} USD was spent, "
            f"and the next reply may cost {self._reserved(request):.4g} USD"
        )

    def _reserved(self, request: Request) -> float:
        # A token of the prompt counts as three letters, which overestimates English.
        prompt = math.ceil(tokens_of(request) * CHARACTERS_PER_TOKEN / 3)
        most = self._plugins.reply_tokens(self._spec, request.decoding.max_tokens)
        return cost_of(self._price, prompt, most) or 0.0
