"""Protocol likelihood: the engine chooses, whatever the back end is."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Mapping, Sequence

import pytest

from tabwb.administer.session.choosing import chosen
from tabwb.administer.session.drive import NO_ANSWER, drive
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError, NoAnswer
from tabwb.records.exchange import Likelihood, Message, Reply, Request
from tabwb.records.states import AttemptState, Protocol, StopReason
from tests.administer.conftest import Begin

OPTIONS = ("dog", "tree", "cup")
REQUEST = Request((Message("user", "?"),), protocol=Protocol.LIKELIHOOD, options=OPTIONS)


class Weigher:
    """Writes free text, and finds the given option the likeliest."""

    def __init__(self, *sums: float, likeliest: str = "") -> None:
        self._sums, self._likeliest = sums, likeliest
        self.asked: list[str] = []

    def open(self) -> Mapping[str, str]:
        return {"model": "weigher"}

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        self.asked.append(request.key)
        yield "free text"
        yield Reply("free text", StopReason.END, 0.0)

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        sums = self._sums or [-1.0 if one == self._likeliest else -5.0 for one in continuations]
        return [Likelihood(value, 2, 7, {"note": "kept"}) for value in sums]

    def close(self) -> None:
        pass


class Crowd(Weigher):
    """Answers many requests together, too."""

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply]]:
        for index, request in enumerate(requests):
            self.asked.append(request.key)
            yield index, Reply("free text", StopReason.END, 0.0)


def choose(*sums: float) -> Reply:
    return chosen(Weigher(*sums), REQUEST, threading.Event())


def test_the_likeliest_option_is_the_reply_and_all_log_probabilities_are_kept() -> None:
    reply = choose(-3.0, -1.25, -math.inf)
    assert (reply.text, reply.prompt_tokens, reply.reply_tokens) == ("tree", 7, 2)
    assert json.loads(reply.metadata["option_log_probabilities"]) == [-3.0, -1.25, None]
    assert json.loads(reply.metadata["option_tokens"]) == [2, 2, 2]
    assert json.loads(reply.metadata["options_weighed"]) == list(OPTIONS)
    assert reply.metadata["protocol"] == "likelihood"
    assert reply.metadata["note"] == "kept"


@pytest.mark.parametrize(
    "sums", [(-1.0,), (math.nan, -1.0, -2.0), (math.inf, -1.0, -2.0), (-math.inf,) * 3]
)
def test_likelihoods_that_cannot_be_used_are_an_error(sums: tuple[float, ...]) -> None:
    with pytest.raises(ComponentError):
        choose(*sums)


def test_too_few_likelihoods_after_a_cancel_are_a_cancelled_reply() -> None:
    cancel = threading.Event()
    cancel.set()
    assert chosen(Weigher(-1.0), REQUEST, cancel).stop_reason is StopReason.CANCELLED


@pytest.mark.parametrize("together", [1, 8])
def test_items_with_options_are_weighed_and_the_others_written(begin: Begin, together: int) -> None:
    session = begin("bundled", "model", protocol=Protocol.LIKELIHOOD)
    backend = Crowd(likeliest="tree")
    for _ in drive(session, backend, threading.Event(), together=together):
        pass
    first, second, third = [trial.counting for trial in session.trials]
    assert first is not None and second is not None and third is not None
    assert first.response == "tree"
    assert json.loads(first.metadata["option_log_probabilities"]) == [-5.0, -1.0, -5.0]
    assert second.response in {"fish", "wall", "key"}
    assert third.response == "free text"
    assert backend.asked == ["saying/s1"]


def test_a_back_end_that_fails_to_weigh_is_an_attempt_in_error(begin: Begin) -> None:
    session = begin("bundled", "model", protocol=Protocol.LIKELIHOOD)
    for _ in drive(session, Crowd(math.nan, -1.0, -1.0), threading.Event(), together=8):
        pass
    states = [trial.attempts[0].state for trial in session.trials]
    assert states == [AttemptState.ERROR, AttemptState.ERROR, AttemptState.OK]


class Lacking(Crowd):
    """Has no answer to items with options."""

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        raise NoAnswer("nothing is recorded of it")


@pytest.mark.parametrize("together", [1, 8])
def test_that_nothing_is_recorded_of_an_item_is_kept_as_the_cause(
    begin: Begin, together: int
) -> None:
    session = begin("bundled", "model", protocol=Protocol.LIKELIHOOD)
    for _ in drive(session, Lacking(), threading.Event(), together=together):
        pass
    causes = [trial.attempts[0].metadata.get("cause") for trial in session.trials]
    assert causes == [NO_ANSWER, NO_ANSWER, None]
