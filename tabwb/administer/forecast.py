"""What judges that ask a model will take after an administration, told before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabwb.administer.expense import CHARACTERS_PER_TOKEN, call_at_most, tokens_of
from tabwb.administer.session.conversation import token_limit
from tabwb.administer.session.plan import plan_trials
from tabwb.battery.model import Battery
from tabwb.plugin_api.components import ModelJudge, Response
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.states import ResponseStatus


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one judge will take at most.

    Attributes:
        judge: its spec.
        answers: how many it will judge.
        requests: the most, where each reply is asked for as often as it may be.
        answer_tokens: the most that an answer is reckoned with.
        cost: US dollars for all of that, or None where the price is unknown.
    """

    judge: str
    answers: int
    requests: int
    answer_tokens: int
    cost: float | None

    def told(self, when: str) -> str:
        """In one line; ``when`` it judges is another thing in each face."""
        cost = "cost unknown" if self.cost is None else f"at most {self.cost:.2g} USD"
        money = "" if self.cost == 0 else f", {cost}"
        return (
            f"{self.judge} judges {when}: "
            f"{self.answers} answers, at most {self.requests} requests{money} "
            f"(for answers of {self.answer_tokens} tokens)"
        )


def forecasts(plugins: Plugins, battery: Battery, conditions: Conditions) -> Iterator[Forecast]:
    """One for each judge behind which a model stands; asks nothing.

    Connected text is what is judged by itself. Each answer is reckoned with all the tokens that it
    may have, and no two of them as the same.

    Args:
        plugins: where judges come from.
        battery: to be given.
        conditions: already resolved.
    """
    texts = [
        plan
        for plan in plan_trials(battery, conditions)
        if not plan.practice and battery.subtest(plan.subtest).task.connected
    ]
    for spec in conditions.judges:
        judge = plugins.judge(spec)
        if not isinstance(judge, ModelJudge):
            continue
        price = plugins.price_behind(judge)
        cost: float | None = 0.0
        longest = 0
        for plan in texts:
            subtest = battery.subtest(plan.subtest)
            limit = token_limit(subtest, conditions)
            longest = max(longest, limit)
            response = Response(
                "x" * (limit * CHARACTERS_PER_TOKEN),
                ResponseStatus.OK,
                subtest.item(plan.item).prompt,
                plan.prompt,
                subtest.task.text_kind,
            )
            requests = judge.requests(response, battery.features)
            one = call_at_most(
                price,
                sum(tokens_of(request) for request in requests),
                sum(
                    plugins.reply_tokens_behind(judge, request.decoding.max_tokens)
                    for request in requests
                ),
                judge.most_requests,
            )
            cost = None if cost is None or one is None else cost + one
        yield Forecast(judge.rater, len(texts), len(texts) * judge.most_requests, longest, cost)
