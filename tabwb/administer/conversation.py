"""What a model is sent for one trial: a fresh context, or the conversation so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabwb.battery.model import Battery
from tabwb.battery.prompts import opening_messages
from tabwb.records.exchange import Message, Request
from tabwb.records.trials import Conditions, PlannedTrial, Trial


def request_for(
    battery: Battery, conditions: Conditions, plan: PlannedTrial, trials: Sequence[Trial] = ()
) -> Request:
    """The exact request for one trial.

    Replicate r draws with ``seed + r``, so that replicates differ when decoding samples. The token
    limit is the smaller of the subtest's and the run's. With ``conversation`` the counting answers
    of earlier trials of the same replicate stand before the prompt, in the order given.
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
    return Request(
        messages=tuple(messages),
        decoding=replace(decoding, max_tokens=limit, seed=decoding.seed + plan.replicate),
        protocol=conditions.protocol,
        options=plan.options,
        key=f"{plan.subtest}/{plan.item}",
        replicate=plan.replicate,
        kind=subtest.response,
    )
