"""Models are pulled through a session: one turn at a time, or to the end; and asked again."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeGuard

from tabwb.administer.cost import NO_LIMITS, Meter
from tabwb.administer.session.exchange import manipulation_facts, request_for, storable
from tabwb.administer.session.session import Session
from tabwb.administer.session.setup import versions_of
from tabwb.battery.loader import battery_from_canonical
from tabwb.host.making import opened
from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import LANES, PARENT_PARTS, PERPLEXITY, PERPLEXITY_REASON
from tabwb.plugin_api.components import (
    BatchingBackend,
    Cancel,
    LesionableBackend,
    LikelihoodBackend,
    ModelBackend,
)
from tabwb.records import events
from tabwb.records.errors import (
    ComponentError,
    Interrupted,
    NoAnswer,
    TabwbError,
    UsageError,
    error_text,
)
from tabwb.records.exchange import Likelihood, Reply, Request, Wait
from tabwb.records.states import AdministrationStatus, AttemptState, Protocol, StopReason
from tabwb.records.trials import Administration, Trial
from tabwb.scoring.choice import choose_by_likelihood
from tabwb.store.store import Store

LOG_PROBABILITIES = "option_log_probabilities"
"""Metadata key: JSON list, natural logarithms in the order of the options; null for -infinity."""
TOKENS = "option_tokens"
"""Metadata key: JSON list, the number of tokens of each option, in the same order."""
OPTIONS = "options_weighed"
"""Metadata key: JSON list, the options themselves, in the order in which they were shown."""


def is_weighed(request: Request) -> bool:
    """Return whether the answer to a request is the most likely of its options.

    >>> is_weighed(Request((), protocol=Protocol.LIKELIHOOD, options=("a", "b")))
    True
    >>> is_weighed(Request((), protocol=Protocol.LIKELIHOOD))
    False
    """
    return request.protocol is Protocol.LIKELIHOOD and bool(request.options)


def gives_likelihoods(backend: ModelBackend) -> TypeGuard[LikelihoodBackend]:
    """Return whether a back end has ``likelihood``."""
    return isinstance(backend, LikelihoodBackend)


def pieces(backend: ModelBackend, request: Request, cancel: Cancel) -> Iterator[object]:
    """Yield what a back end answers to one request: pieces of text, waits, then one reply."""
    if is_weighed(request) and gives_likelihoods(backend):
        reply = chosen(backend, request, cancel)
        if reply.text:
            yield reply.text
        yield reply
        return
    yield from backend.reply(request, cancel)


def chosen(backend: LikelihoodBackend, request: Request, cancel: Cancel) -> Reply:
    """Return the option with the highest summed log probability as the reply."""
    started = time.monotonic()
    options = request.options
    weighed = backend.likelihood(request, options, cancel)
    latency = time.monotonic() - started
    if len(weighed) < len(options) and cancel.is_set():
        return Reply("", StopReason.CANCELLED, latency)
    _check(options, weighed)
    by_option = dict(zip(options, weighed, strict=True))
    choice = choose_by_likelihood(by_option)
    metadata: dict[str, str] = {}
    for likelihood in weighed:
        metadata |= likelihood.metadata
    logs = (likelihood.log_probability for likelihood in weighed)
    sums = [round(value, 6) if math.isfinite(value) else None for value in logs]
    metadata |= {
        "protocol": Protocol.LIKELIHOOD.value,
        "sampled": "no",
        OPTIONS: json.dumps(options, ensure_ascii=False),
        LOG_PROBABILITIES: json.dumps(sums),
        TOKENS: json.dumps([likelihood.tokens for likelihood in weighed]),
        "choice_per_token": choice.per_token,
        "choice_per_character": choice.per_character,
    }
    counted = (likelihood.prompt_tokens for likelihood in weighed)
    return Reply(
        choice.by_sum,
        StopReason.END,
        latency,
        first_piece_s=latency,
        prompt_tokens=next((tokens for tokens in counted if tokens is not None), None),
        reply_tokens=by_option[choice.by_sum].tokens,
        metadata=metadata,
    )


def _check(options: Sequence[str], weighed: Sequence[Likelihood]) -> None:
    if len(weighed) != len(options):
        raise ComponentError(
            f"the back end gave {len(weighed)} likelihoods for {len(options)} options"
        )
    for option, likelihood in zip(options, weighed, strict=True):
        if not isinstance(likelihood, Likelihood):
            raise ComponentError(
                f"the back end gave {type(likelihood).__name__} for option '{option}'",
                allowed="tabwb.records.exchange.Likelihood",
            )
        if math.isnan(likelihood.log_probability) or likelihood.log_probability == math.inf:
            raise ComponentError(
                f"the log probability of option '{option}' is {likelihood.log_probability}",
                allowed="a natural logarithm: a finite number, or -inf",
            )
    if all(likelihood.log_probability == -math.inf for likelihood in weighed):
        raise ComponentError("every option has probability 0, so that none is the most likely")


CONSECUTIVE_FAILURES = 3
"""After so many attempts in error in a row a run pauses: then the back end is down."""
NO_ANSWER = "no answer"
"""Cause of an attempt in error whose back end works and has no answer to this item."""


def ask(session: Session, backend: ModelBackend, cancel: Cancel) -> Generator[events.Event]:
    """Put the current prompt to the model and record what comes back.

    Yields pieces and waits as :class:`~tabwb.records.events.Streamed` and ``Waiting`` (transient),
    then what was committed. Whatever the back end raises becomes an attempt in error.
    """
    request = session.request()
    number, trial = session.administration.id, session.position[0]
    reply: Reply | None = None
    error, cause = "the back end ended without a reply", ""
    try:
        for piece in pieces(backend, request, cancel):
            if isinstance(piece, Reply):
                reply = piece
            elif isinstance(piece, Wait):
                yield session.tell(_waiting(number, trial, piece))
            else:
                yield session.tell(events.Streamed(number, trial, str(piece)))
    except Exception as failure:  # noqa: BLE001 - a back end's failure is an attempt in error
        reply, error, cause = None, _words(failure), _cause(failure)
    if reply is None:
        yield from session.fail(error, request, cause=cause)
    else:
        yield from session.record(reply, request)


def drive(
    session: Session,
    backend: ModelBackend,
    cancel: Cancel,
    *,
    together: int = 1,
    meter: Meter | None = None,
) -> Generator[events.Event]:
    """Give every remaining item to the model until done, paused or cancelled.

    After :data:`CONSECUTIVE_FAILURES` failures in a row, and when only failed items are left, the
    session is paused with the reason; ``resume`` asks those items again.
    """
    alone = together == 1 or session.administration.conditions.conversation
    crowd = backend if isinstance(backend, BatchingBackend) and not alone else None
    if meter is not None and meter.limits == NO_LIMITS:
        meter = None  # each request is built once
    failures = 0
    while session.status is AdministrationStatus.RUNNING and not cancel.is_set():
        trials = session.upcoming(1 if crowd is None else together) if crowd or meter else ()
        asked: dict[int, Request] = {}
        if meter is not None and trials:
            requests = [session.request(trial) for trial in trials]
            if not (room := meter.room(requests)):
                yield from session.pause(meter.reached(requests[0]))
                return
            trials = trials[:room]
            asked = {trial.plan.number: one for trial, one in zip(trials, requests, strict=False)}
        if crowd is not None and trials:
            turns = _ask_together(session, crowd, trials, cancel)
        else:
            yield from session.next()
            if not session.awaiting:
                return
            turns = ask(session, backend, cancel)
        last = ""
        for event in turns:
            yield event
            if isinstance(event, events.AttemptRecorded):
                if meter is not None:
                    meter.count(event.attempt, asked.get(event.trial))
                failed = event.attempt.state is AttemptState.ERROR
                counts = failed and event.attempt.metadata.get("cause") != NO_ANSWER
                failures = failures + 1 if counts else 0
                last = event.attempt.error
                if failures >= CONSECUTIVE_FAILURES:
                    break
        turns.close()
        if cancel.is_set():
            break
        if failures >= CONSECUTIVE_FAILURES:
            yield from session.pause(f"{failures} attempts in a row failed; the last one: {last}")
            return
    if session.status is AdministrationStatus.RUNNING:
        if session.next_planned() or session.state.in_error:
            yield from session.pause("stopped by the user")
        else:  # the last answer came before the stop: nothing is left to ask
            yield from session.next()


def _ask_together(
    session: Session, backend: BatchingBackend, trials: Sequence[Trial], cancel: Cancel
) -> Generator[events.Event]:
    """Put several trials to the back end and record what comes back, in the trials' order.

    An answer waits for those before it, because some verdicts depend on what was said earlier; it
    is recorded as soon as they are there, and at the latest when the run stops. Answers that a
    cancelled back end did not give leave their trials as they were.
    """
    number = session.administration.id
    requests = [session.request(trial) for trial in trials]
    at_once = getattr(backend, "concurrency", None)
    numbers = tuple(trial.plan.number for trial in trials)
    yield session.tell(events.Asked(number, numbers, at_once))
    arrived: dict[int, Reply | ComponentError] = {}
    recorded = 0
    try:
        with closing(answers(backend, requests, cancel)) as pieces_given:
            for index, piece in pieces_given:
                if isinstance(piece, Wait):
                    trial = trials[index].plan.number
                    yield session.tell(_waiting(number, trial, piece))
                    continue
                # An error of the whole (no index) counts for the first that is still open.
                arrived[recorded if index < 0 else index] = piece
                while recorded in arrived:
                    yield from session.next()
                    given, asked = arrived.pop(recorded), requests[recorded]
                    if isinstance(given, Reply):
                        yield from session.record(given, asked)
                    else:
                        yield from session.fail(str(given), asked, cause=_cause(given))
                    recorded += 1
    finally:
        # A run that stops early throws nothing away that has come.
        if session.status is AdministrationStatus.RUNNING and not session.awaiting:
            for index in sorted(arrived):
                late = arrived[index]
                if isinstance(late, Reply) and late.stop_reason is not StopReason.CANCELLED:
                    session.begin_at(trials[index].plan.number)
                    session.record(late, requests[index])


def _waiting(number: int, trial: int, wait: Wait) -> events.Waiting:
    return events.Waiting(number, trial, wait.seconds, wait.reason, wait.voids)


def _cause(error: Exception) -> str:
    return NO_ANSWER if isinstance(error, NoAnswer) else ""


def _words(error: Exception) -> str:
    return error_text(error, typed=not isinstance(error, TabwbError))


def _as_of_component(error: Exception) -> ComponentError:
    return error if isinstance(error, NoAnswer) else ComponentError(_words(error))


def answers(
    backend: ModelBackend, requests: Sequence[Request], cancel: Cancel
) -> Generator[tuple[int, Reply | Wait | ComponentError]]:
    """Yield what a back end answers to requests, in any order; its failure has the index -1."""
    left = set(range(len(requests)))
    weighed = [index for index in sorted(left) if is_weighed(requests[index])]
    if weighed and gives_likelihoods(backend):
        for index in weighed:
            if cancel.is_set():
                return
            left.discard(index)
            yield index, _chosen(backend, requests[index], cancel)
    asked = sorted(left)
    if not asked:
        return
    waiting = [requests[at] for at in asked]
    try:
        for index, piece in _replies(backend, waiting, cancel):
            yield asked[index], piece
            if not isinstance(piece, Wait):
                left.discard(asked[index])
    except Exception as error:  # noqa: BLE001 - a back end's failure is an attempt in error
        if left:  # what is answered is not in error
            yield -1, _as_of_component(error)
    else:
        if left and not cancel.is_set():
            yield -1, ComponentError("the back end ended without a reply")


def answers_in_order(
    backend: ModelBackend, requests: Sequence[Request], together: int, cancel: Cancel
) -> Iterator[Reply | ComponentError]:
    """Yield the answer to each request, or its error, in the order of the requests."""
    size = together if isinstance(backend, BatchingBackend) else 1
    for first in range(0, len(requests), size):
        batch = requests[first : first + size]
        arrived: dict[int, Reply | ComponentError] = {}
        for index, piece in answers(backend, batch, cancel):
            if isinstance(piece, Wait):
                continue
            if index < 0:
                raise ComponentError(str(piece))
            arrived[index] = piece
        if cancel.is_set():
            raise Interrupted("stopped; nothing is stored")
        yield from (arrived[index] for index in range(len(batch)))


def _replies(
    backend: ModelBackend, requests: Sequence[Request], cancel: Cancel
) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
    if isinstance(backend, BatchingBackend):
        yield from backend.reply_many(requests, cancel)
        return
    for index, request in enumerate(requests):
        for piece in backend.reply(request, cancel):
            if not isinstance(piece, str):
                yield index, piece


def _chosen(backend: LikelihoodBackend, request: Request, cancel: Cancel) -> Reply | ComponentError:
    try:
        return chosen(backend, request, cancel)
    except Exception as error:  # noqa: BLE001 - a back end's failure is an attempt in error
        return _as_of_component(error)


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not as it was stored.

    Attributes:
        what: the name of a fact, or subtest and item of an answer.
        stored: as it was.
        now: as it is; an answer that was not given has the reason in angle brackets.
    """

    what: str
    stored: str
    now: str


@dataclass(frozen=True, slots=True)
class Repetition:
    """How the answers to a condition compare with those that are stored.

    Attributes:
        answers: number of answers that were compared.
        different: those that are not the same, in order.
        facts: what is not as it was, of the model and of the versions of packages.
    """

    answers: int
    different: tuple[Difference, ...]
    facts: tuple[Difference, ...]


def repeat(
    store: Store,
    plugins: Plugins,
    given: Administration,
    cancel: Cancel,
    *,
    model: str | None = None,
    together: int = 64,
) -> Repetition:
    """Return how the model answers the items of an administration now.

    The battery is the stored one, the lesion is applied from its spec, and each reply has the seed
    that it had. Before each prompt of a conversation are the stored answers.
    """
    conditions = given.conditions
    if conditions.kind != "model":
        raise UsageError(f"administration {given.id} is not one of a model")
    battery = battery_from_canonical(store.battery_canonical(given.battery_hash))
    trials = store.trials(given.id)
    asked = [trial for trial in trials if trial.counting is not None]
    if not asked:
        raise UsageError(f"administration {given.id} has no answers")
    requests = [
        request_for(battery, conditions, one.plan, trials, attempt=_number_of_reply(one))
        for one in asked
    ]
    spec = model or conditions.examinee
    backend = plugins.open_model(spec, conditions.lesion)
    if not isinstance(backend, LesionableBackend):
        raise plugins.no_lesions(spec)
    before = dict(store.history(given.id).model_facts)
    try:
        facts = dict(opened(backend, cancel))
        if PERPLEXITY in before or PERPLEXITY_REASON in before:  # sweeps check intact models too
            facts |= manipulation_facts(backend, cancel)
        replies = list(answers_in_order(backend, requests, together, cancel))
    finally:
        backend.close()
    before |= given.versions
    for name in (LANES, PARENT_PARTS):  # of its sweep, not of the model
        before.pop(name, None)
    now = {**facts, **versions_of(plugins)}
    different = []
    for trial, reply in zip(asked, replies, strict=True):
        assert trial.counting is not None
        text = storable(reply.text) if isinstance(reply, Reply) else f"<{reply}>"
        if trial.counting.response != text:
            name = f"{trial.plan.subtest}/{trial.plan.item}"
            different.append(Difference(name, trial.counting.response, text))
    changed = (
        Difference(name, value, now.get(name, "not known"))
        for name, value in sorted(before.items())
        if now.get(name) != value
    )
    return Repetition(len(asked), tuple(different), tuple(changed))


def _number_of_reply(trial: Trial) -> int:
    """Return which reply to a trial counts, from 1: an attempt in error gave none."""
    counting = trial.counting
    assert counting is not None
    return sum(
        one.state is not AttemptState.ERROR and one.number <= counting.number
        for one in trial.attempts
    )
