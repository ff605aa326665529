"""What a model is sent for one trial: a fresh context, or the conversation so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabwb.battery.model import Battery
from tabwb.battery.prompts import opening_messages
from tabwb.records.exchange import Message, Request
from tabwb.records.states import Protocol, ResponseKind
from tabwb.records.trials import Conditions, PlannedTrial, Trial
from tabwb.scoring.yes_no import NO, YES


def request_for(
    battery: Battery, conditions: Conditions, plan: PlannedTrial, trials: Sequence[Trial] = ()
) -> Request:
    """The exact request for one trial.

    Replicate r draws with ``seed + r``, so that replicates differ when decoding samples. The token
    limit is the smaller of the subtest's and the run's. With ``conversation`` the counting answers
    of earlier trials of the same replicate stand before the prompt, in the order given. Protocols
    that need options have Yes and No for questions of that kind, which show none (TAB, B.6).
    """
    subtest = battery.subtest(plan.subtest)
    messages = list(opening_messages(battery))
    if conditions.conversation:
        for trial in trials:
            answered = trial.counting
            earlier = trial.plan.number < plan.number and trial.plan.replicate == plan.replicate
            if earlier and answered is not None:
                messages.append(Message("user", trial.plan.prompt))
                messages.append(Message("assistant", answered.response))
    messages.append(Message("user", plan.prompt))
    decoding = conditions.decoding
    limit = min(subtest.max_tokens or decoding.max_tokens, decoding.max_tokens)
    options = plan.options
    if subtest.response is ResponseKind.YES_NO and conditions.protocol is not Protocol.GENERATE:
        options = options or (YES, NO)
    return Request(
        messages=tuple(messages),
        decoding=replace(decoding, max_tokens=limit, seed=decoding.seed + plan.replicate),
        protocol=conditions.protocol,
        options=options,
        key=f"{plan.subtest}/{plan.item}",
        replicate=plan.replicate,
        kind=subtest.response,
    )
