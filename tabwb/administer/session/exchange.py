"""What a model is sent for one trial, and the attempt that is stored of its answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace

from tabwb.battery.model import Battery, Subtest
from tabwb.battery.prompts import opening_messages
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.exchange import (
    NOT_SENT,
    REASONING,
    THOUGHT_AWAY,
    Decoding,
    Message,
    Reply,
    Request,
)
from tabwb.records.specs import model_name, reply_seed
from tabwb.records.states import AttemptState, Protocol, ResponseKind, ResponseStatus, StopReason
from tabwb.records.trials import Attempt, PlannedTrial, Trial
from tabwb.scoring.response_status import response_status
from tabwb.store.database import now


def request_for(
    battery: Battery,
    conditions: Conditions,
    plan: PlannedTrial,
    trials: Sequence[Trial] = (),
    *,
    attempt: int = 1,
) -> Request:
    """Return the exact request for one trial.

    With ``conversation`` the counting answers of earlier trials of the same replicate precede
    the prompt, in the order given. Protocols that need options have Yes and No for questions of
    that kind, which show none (TAB, B.6).
    """
    subtest = battery.subtest(plan.subtest)
    messages = list(opening_messages(battery, conditions.system_message))
    if conditions.conversation:
        for trial in trials:
            answered = trial.counting
            earlier = trial.plan.number < plan.number and trial.plan.replicate == plan.replicate
            if earlier and answered is not None:
                messages.append(Message("user", trial.plan.prompt))
                messages.append(Message("assistant", answered.response))
    messages.append(Message("user", plan.prompt))
    limit = token_limit(subtest, conditions)
    seed = _seed_for(battery, conditions, plan, attempt)
    decoding = replace(conditions.decoding, max_tokens=limit, seed=seed)
    options = plan.options
    if conditions.protocol is not Protocol.GENERATE:
        options = options or subtest.possible_answers
    return Request(
        messages=tuple(messages),
        decoding=decoding,
        protocol=conditions.protocol,
        options=options,
        key=f"{plan.subtest}/{plan.item}",
        replicate=plan.replicate,
        kind=subtest.task.own_kind or subtest.task.text_kind,
    )


def token_limit(subtest: Subtest, conditions: Conditions) -> int:
    """Return the most tokens of a reply to a subtest (:attr:`Conditions.token_limits`)."""
    own, given = subtest.max_tokens, conditions.decoding.max_tokens
    if own is None or conditions.token_limits == "run":
        return given
    return own if conditions.token_limits == "battery" else min(own, given)


def _seed_for(battery: Battery, conditions: Conditions, plan: PlannedTrial, attempt: int) -> int:
    """Return the seed of one reply; no two replies of a study share it, except by chance.

    Besides the parts that :func:`~tabwb.records.specs.reply_seed` names it depends on the battery's
    version, the model (without its options and its folder, so that another batch size, device or
    computer draws the same), the lesion, protocol, temperature, top-p, conversation, prompt
    noise and the system message given in place of the battery's. It does not depend on the number
    of replicates, the order of items, token limits or stop sequences: runs that differ in nothing
    else repeat the same draws.
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
            *([] if conditions.prompt_noise is None else [conditions.prompt_noise]),
            *([] if conditions.system_message is None else [conditions.system_message]),
        ),
    )


def attempt_with_answer(
    trial: Trial,
    reply: Reply,
    request: Request | None,
    expected: str | None,
    *,
    kind: ResponseKind | None = None,
    language: str = "",
    answers: Iterable[str] = (),
) -> Attempt:
    """Return the next attempt of a trial: an answer, with its response status."""
    response = storable(reply.text)
    status = response_status(
        response,
        reply.stop_reason,
        trial.plan.prompt,
        expected,
        kind=kind,
        language=language,
        answers=(*trial.plan.options, *answers),
    )
    if reply.metadata.get("cause") == THOUGHT_AWAY and status is not ResponseStatus.REFUSED:
        status = ResponseStatus.TRUNCATED
    return Attempt(
        number=len(trial.attempts) + 1,
        response=response,
        state=AttemptState.OK,
        status=status,
        stop_reason=reply.stop_reason,
        latency_s=reply.latency_s,
        messages=request.messages if request else (),
        metadata=_metadata(reply, request.decoding if request else None),
        recorded_at=now(),
    )


def attempt_in_error(
    trial: Trial, error: str, request: Request | None, partial: Reply | None = None
) -> Attempt:
    """Return the next attempt of a trial: there is no answer, for the reason ``error``."""
    decoding = request.decoding if request else None
    return Attempt(
        number=len(trial.attempts) + 1,
        response=storable(partial.text) if partial else "",
        state=AttemptState.ERROR,
        status=None,
        stop_reason=partial.stop_reason if partial else StopReason.ERROR,
        latency_s=partial.latency_s if partial else None,
        messages=request.messages if request else (),
        error=storable(error),
        metadata=_metadata(partial, decoding) if partial else sent(decoding),
        recorded_at=now(),
    )


def storable(text: str) -> str:
    r"""Return text as every store can keep it: NUL and halves of characters become visible escapes.

    Bytes of a terminal that are not UTF-8 come as such halves (PEP 383); PostgreSQL keeps no NUL.

    >>> storable("caf\udce9"), storable("a\x00b")
    ('caf\\udce9', 'a\\x00b')
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


SAMPLING = tuple(
    part.name for part in fields(Decoding) if part.name not in ("max_tokens", "temperature", "stop")
)
"""Parts of the decoding that matter only where something is sampled."""


def sent(decoding: Decoding | None, *, drawn: bool = True, written: bool = True) -> dict[str, str]:
    """Return the decoding of a request as an attempt keeps it: plain strings, stop as a JSON list.

    >>> sent(Decoding(64, 0.7, 0.9, ("Q:",), 5))["stop"], sent(Decoding(64)).keys()
    ('["Q:"]', dict_keys(['max_tokens', 'temperature', 'stop']))
    """
    if decoding is None:
        return {}
    kept = {
        "max_tokens": str(decoding.max_tokens) if written else NOT_SENT,
        "temperature": str(float(decoding.temperature)) if drawn else NOT_SENT,
        "stop": json.dumps(decoding.stop, ensure_ascii=False) if written else NOT_SENT,
    }
    if drawn and not decoding.greedy:
        kept |= {name: str(getattr(decoding, name)) for name in SAMPLING}
    return kept


def _metadata(reply: Reply, decoding: Decoding | None) -> Mapping[str, str]:
    names = ("prompt_tokens", "reply_tokens", "first_piece_s")
    known = {name: value for name in names if (value := getattr(reply, name)) is not None}
    if reply.reasoning:
        known[REASONING] = reply.reasoning
    # What a back end says that it sent has priority over what it was asked for.
    drawn = reply.metadata.get("sampled") != "no"
    written = reply.metadata.get("protocol") != Protocol.LIKELIHOOD
    said = {name: value for name, value in reply.metadata.items() if name not in names}
    whole = {**sent(decoding, drawn=drawn, written=written), **said, **known}
    return {storable(key): storable(str(value)) for key, value in whole.items()}


def in_words(text: str, what: str) -> str:
    """Return a reason or a note as it is stored."""
    if not text.strip():
        raise TabwbError(f"{what} needs some words", allowed="any text")
    return storable(text.strip())
