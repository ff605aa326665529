"""Models pulled through a session: answers, failures, cancelling, conversations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

import pytest

from tabwb.administer.session import setup
from tabwb.administer.session.drive import CONSECUTIVE_FAILURES, ask, drive
from tabwb.administer.session.session import Session
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records import events
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.exchange import Reply, Request
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
