"""Many items put to a back end together: what is recorded is what one by one would have given."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from tabwb.administer.cost import Spending, format_spending
from tabwb.administer.session.drive import CONSECUTIVE_FAILURES, drive
from tabwb.administer.session.session import Session
from tabwb.records import events
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Reply, Request, Wait
from tabwb.records.states import AdministrationStatus, AttemptState, StopReason, TrialState

Begin = Callable[..., Session]
Piece = str | Wait | ComponentError


class Crowd:
    """Answers the requests of a batch from the last to the first, as ``say`` tells."""

    concurrency = 3

    def __init__(self, say: Callable[[Request], Piece] = lambda request: request.key) -> None:
        self.say = say
        self.batches: list[list[str]] = []
        self.raises: Exception | None = None

    def open(self) -> Mapping[str, str]:
        return {"model": "crowd"}

    def reply(self, request: Request, cancel: threading.Event) -> Iterator[str | Wait | Reply]:
        raise AssertionError("asked one by one")
        yield ""

    def reply_many(
        self, requests: Sequence[Request], cancel: threading.Event
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        self.batches.append([request.key for request in requests])
        for index in reversed(range(len(requests))):
            said = self.say(requests[index])
            if isinstance(said, str):
                yield index, Reply(said, StopReason.END, 0.01)
            else:
                yield index, said
        if self.raises is not None:
            raise self.raises

    def close(self) -> None:
        pass


def run(session: Session, backend: Crowd, together: int = 2) -> list[events.Event]:
    return list(drive(session, backend, threading.Event(), together=together))


def test_items_go_out_together_and_are_recorded_in_order(begin: Begin) -> None:
    session = begin("echo", "model", replicates=2)
    backend = Crowd()
    made = run(session, backend, together=4)
    assert session.status is AdministrationStatus.DONE
    assert [len(batch) for batch in backend.batches] == [4, 2]
    recorded = [event.trial for event in made if isinstance(event, events.AttemptRecorded)]
    assert recorded == [1, 2, 3, 4, 5, 6]
    assert [trial.attempts[0].response for trial in session.trials] == [
        f"{trial.plan.subtest}/{trial.plan.item}" for trial in session.trials
    ]
    asked = [event for event in made if isinstance(event, events.Asked)]
    assert [event.trials for event in asked] == [(1, 2, 3, 4), (5, 6)]
    assert format_spending(Spending().after(asked[0])) == "3 of 4 in flight"
    assert format_spending(Spending().after(asked[1])) == "2 in flight"


def test_one_failure_harms_no_other_and_comes_again(begin: Begin) -> None:
    session = begin("echo", "model")
    run(session, Crowd(lambda r: ComponentError("odd") if r.key == "words/w1" else "fish"), 3)
    assert session.status is AdministrationStatus.PAUSED
    assert [trial.state for trial in session.trials] == [
        TrialState.PLANNED,
        TrialState.ANSWERED,
        TrialState.ANSWERED,
    ]
    session.resume()
    again = Crowd()
    run(session, again, 3)
    assert again.batches == [["words/w1"]]
    assert session.status.value == "done"


def test_a_back_end_that_is_down_ends_the_run_and_leaves_the_rest_unasked(begin: Begin) -> None:
    session = begin("echo", "model", replicates=5)
    run(session, Crowd(lambda request: ComponentError("gone")), together=15)
    failed = [trial for trial in session.trials if trial.attempts]
    assert len(failed) == CONSECUTIVE_FAILURES
    assert "in a row failed; the last one: gone" in session.history.pause_reason


@pytest.mark.parametrize("failure", [ComponentError("no memory"), ValueError("odd")])
def test_a_failure_of_the_whole_stands_on_the_first_open_item(
    begin: Begin, failure: Exception
) -> None:
    session = begin("echo", "model")
    backend = Crowd()

    def say(request: Request) -> Piece:
        if request.key == "saying/s1":
            return "house."
        raise failure

    backend.say = say
    run(session, backend, together=3)
    first = session.trials[0].attempts[0]
    assert first.state is AttemptState.ERROR and str(failure) in first.error
    # What had come for a later item was never recorded: it is asked again.
    assert all(not trial.attempts or len(trial.attempts) <= 2 for trial in session.trials)


def test_waits_are_told_and_not_recorded(begin: Begin) -> None:
    session = begin("echo", "model")

    class Waits(Crowd):
        def reply_many(
            self, requests: Sequence[Request], cancel: threading.Event
        ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
            yield 1, Wait(2.0, "rate limit")
            yield from super().reply_many(requests, cancel)

    made = run(session, Waits(), together=3)
    waits = [event for event in made if isinstance(event, events.Waiting)]
    assert [(event.trial, event.seconds, event.reason) for event in waits] == [
        (2, 2.0, "rate limit")
    ]
    assert session.status is AdministrationStatus.DONE


def test_cancelled_items_stay_as_they_were(begin: Begin) -> None:
    session = begin("echo", "model")
    cancel = threading.Event()

    class Stopped(Crowd):
        def reply_many(
            self, requests: Sequence[Request], given: threading.Event
        ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
            yield 0, Reply("dog", StopReason.END, 0.01)
            cancel.set()

    list(drive(session, Stopped(), cancel, together=3))
    assert session.status is AdministrationStatus.PAUSED
    assert [len(trial.attempts) for trial in session.trials] == [1, 0, 0]


@pytest.mark.parametrize("how", ["stopped", "down"])
def test_what_has_come_when_a_run_stops_early_is_kept(begin: Begin, how: str) -> None:
    session = begin("echo", "model", replicates=2)
    cancel = threading.Event()

    class Late(Crowd):
        def reply_many(
            self, requests: Sequence[Request], given: threading.Event
        ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
            # The first item has no answer; the last two have.
            for index in (4, 5):
                yield index, Reply(requests[index].key, StopReason.END, 0.01)
            if how == "stopped":
                cancel.set()
                return
            for index in (0, 1, 2):
                yield index, ComponentError("gone")

    list(drive(session, Late(), cancel, together=6))
    assert session.status is AdministrationStatus.PAUSED
    answered = [trial.plan.number for trial in session.trials if trial.counting]
    assert answered == [5, 6]
    session.resume()
    again = Crowd()
    run(session, again, 6)
    assert len(again.batches[0]) == 4
    assert session.status.value == "done"


def test_in_a_conversation_items_go_out_one_by_one(begin: Begin) -> None:
    session = begin("echo", "model", conversation=True)
    with pytest.raises(AssertionError, match="one by one"):
        for event in drive(session, Crowd(), threading.Event(), together=3):
            if isinstance(event, events.AttemptRecorded) and event.attempt.error:
                raise AssertionError(event.attempt.error)


def test_a_long_run_keeps_little_of_each_answer(begin: Begin) -> None:
    # A row of TAB's table 2 has 6,720 answers: below 30 MB of memory go to them.
    session = begin("echo", "model", replicates=100)
    answers = drive(session, Crowd(), threading.Event(), together=50)
    tracemalloc.start()
    try:
        held = {
            event.trial: tracemalloc.get_traced_memory()[0]
            for event in answers
            if isinstance(event, events.AttemptRecorded) and event.trial in (50, 300)
        }
    finally:
        tracemalloc.stop()
    assert session.status is AdministrationStatus.DONE
    assert (held[300] - held[50]) / 250 < 4_000
