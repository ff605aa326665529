"""What a model is sent for one trial, and the attempt that is stored of its answer.

And a model that was opened: whether it is the one that began, its check under a lesion, a first
try.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Final

from tabwb.battery.model import Battery, Subtest
from tabwb.battery.prompts import opening_messages
from tabwb.host.making import opened
from tabwb.host.plugins import Plugins
from tabwb.host.prices import Price, cost_of
from tabwb.lesion.declared import CHECK_TEXT, PERPLEXITY, PERPLEXITY_REASON, UNITS_HASH
from tabwb.plugin_api.components import Cancel, LikelihoodBackend, ModelBackend
from tabwb.records.conditions import FUNCTION, Conditions
from tabwb.records.errors import ComponentError, TabwbError, UsageError
from tabwb.records.exchange import (
    NOT_SENT,
    REASONING,
    THOUGHT_AWAY,
    Decoding,
    Likelihood,
    Message,
    Reply,
    Request,
    Wait,
)
from tabwb.records.specs import model_name, options_that_count, parse_spec, reply_seed
from tabwb.records.states import AttemptState, Protocol, ResponseKind, ResponseStatus, StopReason
from tabwb.records.trials import HASHES, IDENTITY, Attempt, PlannedTrial, Trial
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
            conditions.examinee
            if conditions.kind == "speaker"
            else model_name(conditions.examinee),
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


TEXT: Final = "plain-1"
"""The id of the text of the manipulation check of a lesion; another text gets another id."""


@cache
def check_passages() -> tuple[tuple[str, str], ...]:
    """Return prompts with a reply to each: plain English prose, written for this purpose.

    They are replies because a model with a chat template is used in no other way.
    """
    text = (files("tabwb.lesion") / "data" / f"{TEXT}.txt").read_text("utf-8").strip()
    pairs = (block.split("\n") for block in text.split("\n\n"))
    return tuple((prompt, reply) for prompt, reply in pairs)


def perplexity(found: Sequence[Likelihood]) -> float | None:
    """Return the perplexity of texts together: exp(-sum of ln P(text) / sum of tokens).

    It is the number of equally likely tokens that would be as hard to predict.

    >>> texts = [Likelihood(6 * math.log(0.25), tokens=6), Likelihood(2 * math.log(0.25), tokens=2)]
    >>> round(perplexity(texts), 9)
    4.0
    """
    tokens = sum(one.tokens for one in found)
    total = math.fsum(one.log_probability for one in found)
    if not tokens or not math.isfinite(total):
        return None
    try:
        return math.exp(-total / tokens)
    except OverflowError:
        return None


def opened_facts(
    backend: ModelBackend, lesion: str | None, cancel: Cancel, *, perplexity: bool = True
) -> Mapping[str, str]:
    """Open a back end; return what it says of itself, and under a lesion the text's perplexity."""
    facts = opened(backend, cancel)
    if lesion is None or not perplexity:
        return facts
    return {**facts, **manipulation_facts(backend, cancel)}


def manipulation_facts(backend: ModelBackend, cancel: Cancel) -> Mapping[str, str]:
    """Return the perplexity of the fixed text under the model as it is now, as facts to store."""
    if not isinstance(backend, LikelihoodBackend):
        return {PERPLEXITY_REASON: "the back end gives no likelihoods"}
    found: list[Likelihood] = []
    try:
        for prompt, reply in check_passages():
            asked = Request((Message("user", prompt),), Decoding(max_tokens=1))
            found += backend.likelihood(asked, [reply], cancel)
    except ComponentError as error:  # for example, the lesioned model gives no numbers
        return {PERPLEXITY_REASON: str(error), CHECK_TEXT: TEXT}
    if len(found) < len(check_passages()):
        return {}
    value = perplexity(found)
    if value is None:
        return {PERPLEXITY_REASON: "the model gives the text no probability", CHECK_TEXT: TEXT}
    # Six digits: what float32 can tell, and the same after a restart.
    return {PERPLEXITY: f"{value:.6g}", CHECK_TEXT: TEXT}


PROMPT = "Say hello."
MOST_TOKENS = 32


@dataclass(frozen=True, slots=True)
class Tried:
    """What a model did with one prompt, after ``opened_s`` seconds of loading or reaching it."""

    model: str
    facts: Mapping[str, str]
    opened_s: float
    prompt: str
    reply: Reply
    price: Price | None

    @property
    def cost(self) -> float | None:
        """US dollars of this try, or None where unknown."""
        return cost_of(self.price, self.reply.prompt_tokens, self.reply.reply_tokens)


def try_model(
    plugins: Plugins,
    spec: str,
    cancel: Cancel,
    *,
    prompt: str = PROMPT,
    max_tokens: int = MOST_TOKENS,
    on_wait: Callable[[Wait], object] = lambda wait: None,
) -> Tried:
    """Open the model that a spec names, ask it one question and close it again."""
    price = plugins.price(spec)
    backend = plugins.open_model(spec)
    started = time.monotonic()
    try:
        facts = dict(opened(backend, cancel))
        opened_s = time.monotonic() - started
        request = Request((Message("user", prompt),), Decoding(max_tokens=max_tokens))
        reply: Reply | None = None
        for piece in backend.reply(request, cancel):
            if isinstance(piece, Wait) and piece.seconds:
                on_wait(piece)
            elif isinstance(piece, Reply):
                reply = piece
    finally:
        backend.close()
    if reply is None:
        raise ComponentError(f"'{spec}' ended without a reply")
    return Tried(str(plugins.resolve("models", spec)[1]), facts, opened_s, prompt, reply, price)


def stand_in(plugins: Plugins, conditions: Conditions, spec: str) -> str:
    """Return the resolved spec of a model that is to continue an administration."""
    began = conditions.examinee
    if conditions.kind != "model" or began.startswith(FUNCTION):
        what = "a person" if conditions.kind != "model" else f"the function '{began}'"
        raise UsageError(f"the examinee is {what}: '{spec}' cannot continue for it")
    found = plugins.resolve("models", spec)[1]
    before, now = options_that_count(parse_spec(began)), options_that_count(found)
    for key in dict.fromkeys((*before, *now)):
        if before.get(key) != now.get(key):
            raise UsageError(
                f"'{found}' cannot continue for '{began}': option '{key}' is "
                f"{now.get(key, 'not given')} and was {before.get(key, 'not given')}",
                hint="options of the model are conditions: give those it began with",
            )
    return str(found)


def check_same(
    earlier: Mapping[str, str], now: Mapping[str, str], *, began: str, spec: str
) -> None:
    """Check that a model is the one that an administration began with."""
    weights, *_ = HASHES
    alike = weights in now and earlier.get(weights) == now[weights]
    if spec != began and earlier:
        for key in HASHES:
            was, found = earlier.get(key), now.get(key)
            if found != was and (key == weights or was is not None):
                raise _other(began, spec, key, was, found)
            if found is None and key == weights:
                raise TabwbError(
                    f"whether '{spec}' is '{began}' is not known: their weights have no hash",
                    allowed="a model in a folder",
                )
    for key in (*IDENTITY, *HASHES, UNITS_HASH):
        was, found = earlier.get(key, now.get(key)), now.get(key)
        if was == found or (key == "model" and alike):
            continue
        if spec != began:
            raise _other(began, spec, key, was, found)
        raise TabwbError(
            f"the model is not the one this administration began with: {key} was {was} and is "
            f"{found or 'unknown'}",
            hint="restore the recorded answers as they were, or begin a new administration"
            if key == "file_sha256"
            else "begin a new administration for the changed model",
        )


def _other(began: str, spec: str, key: str, was: str | None, found: str | None) -> TabwbError:
    return TabwbError(
        f"'{spec}' is not the model that this administration began with, '{began}': {key} is "
        f"{found or 'unknown'} and was {was or 'not recorded'}",
        hint="give the folder with the same weights and tokenizer, or begin a new administration",
    )
