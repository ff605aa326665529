"""Models pulled through a session: answers, failures, cancelling, conversations."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from tabwb.administer.cost import Spending, format_spending
from tabwb.administer.session import setup
from tabwb.administer.session.drive import CONSECUTIVE_FAILURES, ask, drive
from tabwb.administer.session.session import Session
from tabwb.host.plugins import Plugins
from tabwb.records import events
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.exchange import Reply, Request, Wait
from tabwb.records.states import AdministrationStatus, AttemptState, StopReason, TrialState
from tabwb.store.store import Store

Begin = Callable[..., Session]


class Scripted:
    """A back end whose replies are written down beforehand; an exception stands for a failure."""

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []

    def open(self) -> Mapping[str, str]:
        return {"model": "scripted", "revision": "1"}

    def reply(self, request: Request, cancel: threading.Event) -> Iterator[str | Reply]:
        self.requests.append(request)
        said = self.replies.pop(0) if self.replies else "dog"
        if isinstance(said, Exception):
            yield "half an"
            raise said
        yield said
        yield Reply(said, StopReason.END, 0.01, prompt_tokens=7)

    def close(self) -> None:
        pass


def test_a_model_gets_every_item_and_the_exact_prompts(begin: Begin) -> None:
    session = begin("echo", "model")
    backend = Scripted("dog", "fish", "house.")
    made = list(drive(session, backend, threading.Event()))
    assert session.status is AdministrationStatus.DONE
    assert isinstance(made[-1], events.Finished)
    assert [request.messages[-1].content for request in backend.requests] == [
        trial.plan.prompt for trial in session.trials
    ]
    assert [trial.attempts[0].messages for trial in session.trials] == [
        request.messages for request in backend.requests
    ]
    assert all(len(request.messages) == 1 for request in backend.requests)
    assert session.trials[0].attempts[0].metadata["prompt_tokens"] == "7"


def test_pieces_come_before_the_reply_is_recorded(begin: Begin) -> None:
    session = begin("echo", "model")
    session.next()
    made = list(ask(session, Scripted("dog"), threading.Event()))
    assert [type(event) for event in made] == [
        events.Streamed,
        events.AttemptRecorded,
        events.Rated,
    ]


@pytest.mark.parametrize("failure", [ComponentError("the model died"), ValueError("odd")])
def test_a_failure_is_an_attempt_in_error_and_the_item_comes_again_last(
    begin: Begin, failure: Exception
) -> None:
    session = begin("echo", "model")
    list(drive(session, Scripted(failure, "fish", "house."), threading.Event()))
    assert session.status is AdministrationStatus.PAUSED
    assert "1 item is in error" in session.history.pause_reason
    first = session.trials[0]
    assert first.state is TrialState.PLANNED
    assert first.attempts[0].state is AttemptState.ERROR
    assert str(failure) in first.attempts[0].error
    assert [trial.state for trial in session.trials[1:]] == [TrialState.ANSWERED] * 2
    session.resume()
    backend = Scripted("dog")
    list(drive(session, backend, threading.Event()))
    assert len(backend.requests) == 1
    assert [attempt.number for attempt in session.trials[0].attempts] == [1, 2]
    assert session.status.value == "done"


def test_a_dead_back_end_pauses_the_run_soon(begin: Begin) -> None:
    session = begin("echo", "model", replicates=5)
    backend = Scripted(*[ComponentError("gone")] * 15)
    list(drive(session, backend, threading.Event()))
    assert len(backend.requests) == CONSECUTIVE_FAILURES
    assert "in a row failed; the last one: gone" in session.history.pause_reason


def test_a_back_end_that_ends_without_a_reply_is_an_error(begin: Begin) -> None:
    class Silent(Scripted):
        def reply(self, request: Request, cancel: threading.Event) -> Iterator[str | Reply]:
            yield "word"

    session = begin("echo", "model")
    session.next()
    list(ask(session, Silent(), threading.Event()))
    assert session.trials[0].attempts[0].error == "the back end ended without a reply"
    assert session.state.in_error == (session.trials[0],)


def test_cancelling_pauses_and_the_item_under_way_is_asked_again(begin: Begin) -> None:
    cancel = threading.Event()

    class Cancelled(Scripted):
        def reply(self, request: Request, cancel: threading.Event) -> Iterator[str | Reply]:
            yield "do"
            cancel.set()
            yield Reply("do", StopReason.CANCELLED, 0.01)

    session = begin("echo", "model")
    list(drive(session, Cancelled(), cancel))
    assert session.status is AdministrationStatus.PAUSED
    attempt = session.trials[0].attempts[0]
    assert (attempt.state, attempt.response) == (AttemptState.ERROR, "do")
    session.resume()
    list(drive(session, Scripted("dog", "fish", "house."), threading.Event()))
    assert session.status.value == "done"


def test_a_conversation_keeps_what_was_said(begin: Begin) -> None:
    session = begin("echo", "model", conversation=True)
    backend = Scripted("dog", "fish", "house.")
    list(drive(session, backend, threading.Event()))
    roles = [[message.role for message in request.messages] for request in backend.requests]
    assert roles == [
        ["user"],
        ["user", "assistant", "user"],
        ["user", "assistant", "user", "assistant", "user"],
    ]
    assert backend.requests[2].messages[1].content == "dog"


def test_a_repeat_that_fails_leaves_the_answer_that_counts(begin: Begin) -> None:
    session = begin("echo", "model")
    list(drive(session, Scripted("dog", "fish", "house."), threading.Event()))
    session.corrections.undo()
    session.next()
    list(ask(session, Scripted("house."), threading.Event()))
    session.repeat()
    list(ask(session, Scripted(ComponentError("gone")), threading.Event()))
    assert session.trials[2].state is TrialState.ANSWERED
    assert isinstance(session.next()[0], events.Finished)


def test_another_model_may_not_go_on(begin: Begin, store: Store, plugins: Plugins) -> None:
    session = begin("echo", "model")
    session.opened({"model": "a", "revision": "1", "device": "cpu"})
    number = session.administration.id
    session.close()
    with setup.resume(store, plugins, number) as again:
        again.opened({"model": "a", "revision": "1", "device": "cuda"})
        with pytest.raises(TabwbError, match="revision was 1 and is 2"):
            again.opened({"model": "a", "revision": "2"})


def test_other_units_of_a_lesion_may_not_go_on(begin: Begin, store: Store) -> None:
    session = begin("echo", "model")
    session.opened({"model": "a", "lesion_units_sha256": "12"})
    with pytest.raises(TabwbError, match="lesion_units_sha256 was 12 and is 13"):
        session.opened({"model": "a", "lesion_units_sha256": "13"})


def test_text_that_is_no_unicode_is_kept_visibly(begin: Begin, store: Store) -> None:
    session = begin()
    session.next()
    session.answer("caf\udce9")
    assert store.trials(session.administration.id)[0].attempts[0].response == "caf\\udce9"


def test_a_stop_after_the_last_answer_finishes(begin: Begin) -> None:
    cancel = threading.Event()

    class Last(Scripted):
        def reply(self, request: Request, cancel: threading.Event) -> Iterator[str | Reply]:
            yield from super().reply(request, cancel)
            if request.key == "saying/s1":
                cancel.set()

    session = begin("echo", "model")
    made = list(drive(session, Last("dog", "fish", "house."), cancel))
    assert session.status is AdministrationStatus.DONE
    assert isinstance(made[-1], events.Finished)


def test_resuming_what_has_nothing_left_finishes_it(begin: Begin) -> None:
    session = begin("echo", "model")
    for _ in session.trials:
        session.next()
        list(ask(session, Scripted("dog"), threading.Event()))
    session.pause("stopped before the end was recorded")
    session.resume()
    backend = Scripted()
    list(drive(session, backend, threading.Event()))
    assert session.status is AdministrationStatus.DONE
    assert backend.requests == []


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
