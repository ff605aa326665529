"""Models are pulled through a session: one turn at a time, or to the end."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from tabwb.administer.limits import NO_LIMITS, Meter
from tabwb.administer.session.choosing import chosen, gives_likelihoods, is_weighed, pieces
from tabwb.administer.session.session import Session
from tabwb.plugin_api.components import BatchingBackend, Cancel, LikelihoodBackend, ModelBackend
from tabwb.records import events
from tabwb.records.errors import (
    ComponentError,
    Interrupted,
    NoAnswer,
    TabwbError,
    error_text,
)
from tabwb.records.exchange import Reply, Request, Wait
from tabwb.records.states import AdministrationStatus, AttemptState, StopReason
from tabwb.records.trials import Trial

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
