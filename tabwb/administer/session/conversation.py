"""What a model is sent for one trial: a fresh context, or the conversation so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabwb.battery.model import Battery, Subtest
from tabwb.battery.prompts import opening_messages
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Message, Request
from tabwb.records.seeds import model_name, reply_seed
from tabwb.records.states import Protocol
from tabwb.records.trials import PlannedTrial, Trial


def request_for(
    battery: Battery,
    conditions: Conditions,
    plan: PlannedTrial,
    trials: Sequence[Trial] = (),
    *,
    attempt: int = 1,
) -> Request:
    """Return the exact request for one trial.

    The seed is the reply's own (:func:`seed_for`), the token limit as :func:`token_limit` says.
    With ``conversation`` the counting answers of earlier trials of the same replicate stand before
    the prompt, in the order given. Protocols that need options have Yes and No for questions of
    that kind, which show none (TAB, B.6).

    Args:
        battery: what is given.
        conditions: how.
        plan: the trial.
        trials: all trials as they stand; needed for a conversation.
        attempt: 1-based; counts the replies to this trial, see
            :func:`~tabwb.records.seeds.reply_seed`.
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
    decoding = replace(
        conditions.decoding,
        max_tokens=token_limit(subtest, conditions),
        seed=seed_for(battery, conditions, plan, attempt),
    )
    options = plan.options
    if conditions.protocol is not Protocol.GENERATE:
        options = options or subtest.task.answers
    return Request(
        messages=tuple(messages),
        decoding=decoding,
        protocol=conditions.protocol,
        options=options,
        key=f"{plan.subtest}/{plan.item}",
        replicate=plan.replicate,
        kind=subtest.response,
    )


def token_limit(subtest: Subtest, conditions: Conditions) -> int:
    """Return the most tokens of a reply to a subtest (:attr:`Conditions.token_limits`).

    Args:
        subtest: with its own limit.
        conditions: with the limit of the run.
    """
    own, given = subtest.max_tokens, conditions.decoding.max_tokens
    if own is None or conditions.token_limits == "run":
        return given
    return own if conditions.token_limits == "battery" else min(own, given)


def seed_for(battery: Battery, conditions: Conditions, plan: PlannedTrial, attempt: int) -> int:
    """Return the seed of one reply; no two replies of a study share it, except by chance.

    Besides the parts that :func:`~tabwb.records.seeds.reply_seed` names it depends on the battery's
    version, the model (without its options and its folder, so that another batch size, device or
    computer draws the same), the lesion, protocol, temperature, top-p and conversation. So two
    models or two temperatures with one run seed are independent of each other. It does not depend
    on the number of replicates, the order of items, token limits or stop sequences: runs that
    differ in nothing else repeat the same draws.

    Args:
        battery: what is given.
        conditions: how.
        plan: the trial.
        attempt: 1-based, of the replies to this trial.
    """
    decoding = conditions.decoding
    return reply_seed(
        conditions.seed,
        battery.id,
        plan.subtest,
        plan.item,
        plan.replicate,
        attempt,
        options=plan.options,
        given=(
            battery.version,
            model_name(conditions.examinee),
            conditions.lesion,
            conditions.protocol.value,
            float(decoding.temperature),
            float(decoding.top_p),
            conditions.conversation,
        ),
    )
