"""A small prompt and models that say, or find likely, what a test wants."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

from tabwb.host.judge_prompt_files import FeatureTable, PromptTable
from tabwb.host.judge_prompts import JudgePrompt
from tabwb.plugin_api.components import Judge, Response
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Likelihood, Reply, Request, Wait
from tabwb.records.ratings import Verdict
from tabwb.records.specs import parse_spec
from tabwb.records.states import RatingStatus, ResponseKind, ResponseStatus, StopReason

SPEC = parse_spec("small:scripted:one")
SMALL = JudgePrompt(
    id="small",
    title="A small prompt",
    version="1",
    license="MIT",
    caution="for tests",
    templates=PromptTable.model_validate(
        {"user": "Judge “{transcript}”.", "repair": "Again: {problem}."}
    ),
    features=(
        FeatureTable.model_validate({"id": "anomia", "key": "Anomia"}),
        FeatureTable.model_validate({"id": "jargon", "key": "Jargon"}),
    ),
)
GOOD = '{"Anomia": 1, "Jargon": 0}'

Say = Callable[[Request], str | Reply | ComponentError]


class Scripted:
    """Replies as ``say`` tells it, one by one."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.asked: list[Request] = []
        self.is_open = False

    def open(self) -> Mapping[str, str]:
        self.is_open = True
        return {"model": "scripted"}

    def close(self) -> None:
        self.is_open = False

    def answer(self, request: Request) -> Reply:
        assert self.is_open
        self.asked.append(request)
        said = self.say(request)
        if isinstance(said, ComponentError):
            raise said
        return said if isinstance(said, Reply) else reply(said)

    def reply(self, request: Request, cancel: threading.Event) -> Iterator[str | Wait | Reply]:
        yield Wait(1.5, "rate limit")
        made = self.answer(request)
        yield made.text
        yield made


class Together(Scripted):
    """The same, all at once and the last one first."""

    def reply_many(
        self, requests: Sequence[Request], cancel: threading.Event
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        for index in reversed(range(len(requests))):
            try:
                yield index, self.answer(requests[index])
            except ComponentError as error:
                yield index, error


class Leaning:
    """A model that finds 1 as likely as ``lean`` says for a prompt and what is written so far."""

    def __init__(self, lean: Callable[[str, str], float]) -> None:
        self.lean = lean
        self.weighed: list[tuple[str, tuple[str, ...]]] = []

    def open(self) -> Mapping[str, str]:
        return {"model": "leaning"}

    def close(self) -> None:
        pass

    def reply(self, request: Request, cancel: threading.Event) -> Iterator[str | Wait | Reply]:
        raise AssertionError("asked to write")

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: threading.Event
    ) -> Sequence[Likelihood]:
        prompt = request.messages[-1].content
        self.weighed.append((prompt, tuple(continuations)))
        found = []
        for text in continuations:
            one = self.lean(prompt, text[:-1])
            share = math.log(one if text[-1] == "1" else 1 - one)
            found.append(Likelihood(share - 0.1 * len(text), len(text)))  # what they share cancels
        return found


def reply(text: str, stop_reason: StopReason = StopReason.END) -> Reply:
    return Reply(text, stop_reason, 0.5, 0.1, 100, 20)


def response(text: str = "I went home.", status: ResponseStatus = ResponseStatus.OK) -> Response:
    return Response(
        text, status, "Tell me about trips.", "Talk. Tell me about trips.",
        ResponseKind.CONNECTED_TEXT,
    )  # fmt: skip


def verdicts(judge: Judge, *texts: Response) -> dict[int, Verdict]:
    return {
        index: piece
        for index, piece in judge.judge_many(texts, (), threading.Event())
        if isinstance(piece, Verdict)
    }


def values(verdict: Verdict) -> dict[str, float | None]:
    return {rating.measure: rating.value for rating in verdict.ratings}


def statuses(verdict: Verdict) -> set[RatingStatus]:
    return {rating.status for rating in verdict.ratings}


def last_key(written: str) -> str:
    """The JSON key after which a label is weighed."""
    found = re.search(r'"([^"]+)": $', written)
    assert found is not None
    return found[1]
