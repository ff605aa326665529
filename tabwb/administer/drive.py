"""Models are pulled through a session: one turn at a time, or to the end."""

from __future__ import annotations

from collections.abc import Iterator

from tabwb.administer.session import Session
from tabwb.extend.components import Cancel, ModelBackend
from tabwb.records import events
from tabwb.records.errors import TabwbError
from tabwb.records.exchange import Reply, Wait
from tabwb.records.states import AdministrationStatus, AttemptState

CONSECUTIVE_FAILURES = 3
"""After so many attempts in error in a row a run pauses: then the back end is down."""


def ask(session: Session, backend: ModelBackend, cancel: Cancel) -> Iterator[events.Event]:
    """Put the current prompt to the model and record what comes back.

    Yields pieces and waits as :class:`~tabwb.records.events.Streamed` and ``Waiting`` (transient),
    then what was committed.
    Whatever the back end raises becomes an attempt in error; it never ends the program.
    """
    request = session.request()
    trial = session.position[0]
    reply: Reply | None = None
    try:
        for piece in backend.reply(request, cancel):
            if isinstance(piece, Reply):
                reply = piece
            elif isinstance(piece, Wait):
                yield events.Waiting(session.administration.id, trial, piece.seconds, piece.reason)
            else:
                yield events.Streamed(session.administration.id, trial, piece)
    except TabwbError as error:
        yield from session.fail(str(error), request.messages)
        return
    except Exception as error:  # noqa: BLE001 - a back end's failure is an attempt in error
        yield from session.fail(f"{type(error).__name__}: {error}", request.messages)
        return
    if reply is None:
        yield from session.fail("the back end ended without a reply", request.messages)
        return
    yield from session.record(reply, request.messages)


def drive(session: Session, backend: ModelBackend, cancel: Cancel) -> Iterator[events.Event]:
    """Give every remaining item to the model until done, paused or cancelled.

    After :data:`CONSECUTIVE_FAILURES` failures in a row, and when only failed items are left, the
    session is paused with the reason; ``resume`` asks those items again.
    """
    failures = 0
    while session.status is AdministrationStatus.RUNNING and not cancel.is_set():
        yield from session.next()
        if not session.awaiting:
            return
        last = ""
        for event in ask(session, backend, cancel):
            yield event
            if isinstance(event, events.AttemptRecorded):
                failed = event.attempt.state is AttemptState.ERROR
                failures = failures + 1 if failed else 0
                last = event.attempt.error
        if cancel.is_set():
            break
        if failures >= CONSECUTIVE_FAILURES:
            yield from session.pause(f"{failures} attempts in a row failed; the last one: {last}")
            return
    if session.status is AdministrationStatus.RUNNING:
        yield from session.pause("stopped by the user")
