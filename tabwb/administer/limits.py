"""Where asking a model stops by itself: a number of requests, or a sum of money."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tabwb.administer.cost import CHARACTERS_PER_TOKEN, tokens_of
from tabwb.host.plugins import Plugins
from tabwb.host.prices import Price, cost_of
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Request
from tabwb.records.trials import Attempt
from tabwb.records.words import plural


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
