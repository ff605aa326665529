"""A battery, models and judges by script, for tests of judging."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tabwb.administer.cost import Limits
from tabwb.administer.judging import Judging
from tabwb.administer.session import setup
from tabwb.administer.session.drive import drive
from tabwb.battery.model import Battery, Feature
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Judge, Response
from tabwb.records import events
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding, Message, Reply, Request, Wait
from tabwb.records.ratings import Rating, Verdict, failed, undefined, valued
from tabwb.records.states import StopReason
from tabwb.store.store import Store

BATTERY = """
[battery]
id = "talk"
title = "Talk"
version = "1"
language = "en"
license = "MIT"
examinees = ["model"]

[[feature]]
id = "anomia"
key = "Anomia"
title = "Anomia"
definition = "Overall impression of word-finding difficulties."

[[feature]]
id = "jargon"
key = "Jargon"
title = "Jargon"
definition = "Fluent but largely meaningless speech."

[[subtest]]
id = "text"
title = "Text"
response = "connected-text"
template = "{prompt}"
scorers = []
item = [
  { id = "t1", prompt = "Tell me about trips." },
  { id = "t2", prompt = "Tell me about jobs." },
  { id = "t3", prompt = "Tell me about meals." },
]

[[subtest]]
id = "saying"
title = "Saying"
response = "verbatim"
template = "{prompt}"
scorers = ["repetition"]
item = [{ id = "s1", prompt = "Please repeat exactly: house.", expected = "house." }]
"""


DECODING = Decoding(max_tokens=100)


class Talker:
    """Says what is written for each item."""

    def __init__(self, said: Mapping[str, str]) -> None:
        self.said = said

    def open(self) -> Mapping[str, str]:
        return {"model": "talker"}

    def reply(self, request: Request, cancel: threading.Event) -> Iterator[str | Wait | Reply]:
        yield Reply(self.said[request.key], StopReason.END, 0.01)

    def close(self) -> None:
        pass


class Scripted(Judge):
    """A judge that finds anomia where a response says "um"; counts what it was asked."""

    rater = "scripted:model"
    features: tuple[str, ...] = ("anomia", "jargon")
    caution = "a scripted judge"
    prompt_text = '{"system": "Judge."}'
    examinee = "model"
    most_requests = 2

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.draws: list[int] = []
        self.say: Callable[[str], Verdict | None] = lambda text: None

    def open(self) -> Mapping[str, str]:
        return {}

    def close(self) -> None:
        pass

    def requests(self, response: Response, features: Sequence[Feature]) -> Sequence[Request]:
        return (Request((Message("user", f"Judge: {response.text}" + "x" * 388),), DECODING),)

    def judge(self, response: Response, features: Sequence[Feature]) -> Sequence[Rating]:
        raise AssertionError("judged one by one")

    def judge_many(
        self, responses: Sequence[Response], features: Sequence[Feature], cancel: threading.Event
    ) -> Iterator[tuple[int, Verdict | Wait]]:
        for index, response in enumerate(responses):
            if cancel.is_set():
                return
            self.asked.append(response.text)
            self.draws.append(response.draw)
            yield index, self.say(response.text) or self.verdict("um" in response.text)

    def verdict(self, anomia: bool) -> Verdict:
        ratings = (
            valued(self.rater, "anomia", anomia),
            undefined(self.rater, "jargon", "not asked"),
        )
        return Verdict(ratings, raw=f"anomia {anomia}", prompt_tokens=100, reply_tokens=20)

    def down(self) -> Verdict:
        return Verdict(tuple(failed(self.rater, name, "HTTP 503") for name in self.features))


SAID = {
    "text/t1": "I um went away.",
    "text/t2": "I was a baker.",
    "text/t3": "I was a baker.",
    "saying/s1": "house.",
}


Work = Callable[..., Judging]


@pytest.fixture
def battery(tmp_path: Path) -> Battery:
    from tabwb.battery.loader import load_battery

    path = tmp_path / "battery.toml"
    path.write_text(BATTERY, encoding="utf-8")
    return load_battery(path)


@pytest.fixture
def give(store: Store, plugins: Plugins, battery: Battery) -> Callable[..., int]:
    def begun(said: Mapping[str, str] = SAID) -> int:
        conditions = Conditions("echo", "model", judges=())
        with setup.create(store, plugins, battery, conditions) as session:
            list(drive(session, Talker(said), threading.Event()))
            assert session.status.value == "done"
            return session.administration.id

    return begun


@pytest.fixture
def work(store: Store, plugins: Plugins, battery: Battery) -> Work:
    def made(number: int, judge: Judge, **options: object) -> Judging:
        return Judging(store, plugins, battery, number, judge, **options)  # type: ignore[arg-type]

    return made


def run(judging: Judging, limits: Limits = Limits()) -> list[events.Event]:  # noqa: B008
    return list(judging.run(limits, threading.Event()))


def verdicts(store: Store, number: int) -> list[float | None]:
    return [
        next((r.value for r in trial.ratings if r.measure == "anomia"), None)
        for trial in store.trials(number)
    ]
