"""The conformance checks find what does not conform, and say it plainly."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tabwb.battery.model import Item, Subtest
from tabwb.host.plugins import Plugins
from tabwb.host.remote_model import RemoteModel, Retries
from tabwb.plugin_api.components import Cancel, Response
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.extensions import Responses, Statistic
from tabwb.plugin_api.hookspecs import RegisterStatistic, hookimpl
from tabwb.records.exchange import Likelihood, Reply, Request
from tabwb.records.ratings import Rating, undefined, valued
from tabwb.records.speech import Clip, Segment, Transcript
from tabwb.records.states import Protocol, StopReason
from tabwb.testing import (
    NonConformance,
    check_exporter,
    check_judge,
    check_model,
    check_scorer,
    check_statistic,
    check_transcriber,
)

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "pronoun-share" / "pronoun_share.py"

OWN = """
[battery]
id = "own"
title = "Own"
version = "1"
language = "en"
license = "MIT"

[[subtest]]
id = "tales"
title = "Tales"
response = "free"
scorers = ["under-test"]
item = [{ id = "t1", prompt = "Tell me about a trip.", metadata = { own = 2 } }]
"""


def plugins_with(kind: str, component: Any, **more: Any) -> Plugins:
    def register(register: Callable[[Descriptor], None]) -> None:
        register(Descriptor("under-test", "Under test", lambda spec, options: component, **more))

    register.__name__ = f"tabwb_register_{kind}"
    module = SimpleNamespace(**{f"tabwb_register_{kind}": hookimpl(register)})
    return Plugins.load(modules={"under-test": module})


def failures(check: Callable[..., None], kind: str, component: Any, **more: Any) -> list[str]:
    """The names of the checks that failed."""
    plugins = plugins_with(kind, component, **more)
    try:
        check("under-test", plugins=plugins)
    except NonConformance as error:
        return [line.strip().split(": ")[0] for line in str(error).splitlines()[1:]]
    finally:
        plugins.close()
    return []


class Model:
    """Answers well; subclasses in the tests do one thing wrong."""

    text = "a lion"

    def open(self) -> dict[str, str]:
        return {"model": "small"}

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        if request.protocol.value != "generate":
            from tabwb.records.errors import ComponentError

            raise ComponentError("only generate")
        if cancel.is_set():
            yield Reply("", StopReason.CANCELLED, 0.0)
            return
        yield self.text
        yield Reply(self.text, StopReason.END, 0.0)

    def close(self) -> None:
        pass


def test_a_model_that_keeps_its_contract_passes() -> None:
    assert failures(check_model, "models", Model()) == []


def test_a_reply_that_is_not_its_pieces_is_found() -> None:
    class Other(Model):
        def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
            yield "one"
            yield Reply("two", StopReason.CANCELLED if cancel.is_set() else StopReason.END, 0.0)

    assert "contract, reply" in failures(check_model, "models", Other())


def test_a_model_that_ignores_a_cancel_is_found() -> None:
    class Deaf(Model):
        def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
            yield from Model.reply(self, request, Cancel())

    assert failures(check_model, "models", Deaf()) == ["cancellation, before"]


def test_a_greedy_model_that_changes_its_mind_is_found() -> None:
    class Fickle(Model):
        @property
        def text(self) -> str:  # type: ignore[override]
            self.n = getattr(self, "n", 0) + 1
            return f"answer {self.n // 2}"

    assert "determinism, greedy" in failures(check_model, "models", Fickle())


def test_what_a_descriptor_declares_must_be_there() -> None:
    for field, method in (("likelihood", "likelihood"), ("batches", "reply_many")):
        plugins = plugins_with("models", Model(), **{field: True})
        with pytest.raises(NonConformance, match=f"lacks {method}"):
            check_model("under-test", plugins=plugins)
        plugins.close()


def test_what_tabwb_refuses_itself_is_not_asked_of_a_model() -> None:
    class Trusting(Model):
        def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
            _ = request.messages[0]  # tabwb always sends one
            yield from super().reply(replace(request, protocol=Protocol.GENERATE), cancel)

    class OneReply(Model):
        def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
            *_, reply = super().reply(request, cancel)
            return iter([reply])

    class Service(RemoteModel):
        def __init__(self) -> None:
            super().__init__(concurrency=2, retries=Retries(attempts=2))

        def open(self) -> dict[str, str]:
            return {"model": "service"}

        def call(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
            yield "a lion"
            yield Reply("a lion", StopReason.END, 0.0)

        def close(self) -> None:
            pass

    for model in (Trusting(), OneReply(), Service()):
        assert failures(check_model, "models", model) == []


def test_generators_are_taken_as_tabwb_takes_them() -> None:
    class Yields(Scorer):
        def score(self, subtest: Any, item: Any, response: Response) -> Any:
            yield from super().score(subtest, item, response)

    class Judge:
        rater, features, caution = "under-test", ["retracing"], "A rule."

        def judge(self, response: Response, features: Sequence[Any]) -> Any:
            empty = not response.text.strip()
            reason = "there is no text"
            yield (
                undefined("under-test", "retracing", reason)
                if empty
                else valued("under-test", "retracing", 0)
            )

    assert failures(check_scorer, "scorers", Yields()) == []
    assert failures(check_judge, "judges", Judge()) == []


def test_an_async_method_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    class Async(Scorer):
        async def score(self, subtest: Any, item: Any, response: Response) -> Any:  # type: ignore[override]
            return []

    plugins = plugins_with("scorers", Async())
    with pytest.raises(NonConformance, match=r"Async\.score is an 'async def'"):
        check_scorer("under-test", plugins=plugins)
    plugins.close()


def test_likelihoods_that_follow_the_order_of_the_options_are_found() -> None:
    class Ordered(Model):
        def likelihood(
            self, request: Request, continuations: Sequence[str], cancel: Cancel
        ) -> Sequence[Likelihood]:
            return [Likelihood(-1.0 - n, 1) for n, _ in enumerate(continuations)]

    assert failures(check_model, "models", Ordered(), likelihood=True) == ["likelihoods"]


def test_a_model_with_likelihoods_that_refuses_items_without_options_is_found() -> None:
    class Refuses(Model):
        def likelihood(
            self, request: Request, continuations: Sequence[str], cancel: Cancel
        ) -> Sequence[Likelihood]:
            return [Likelihood(-float(len(text)), 1) for text in continuations]

    class Answers(Refuses):
        def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
            protocol = request.protocol if request.options else Protocol.GENERATE
            return super().reply(replace(request, protocol=protocol), cancel)

    assert failures(check_model, "models", Refuses(), likelihood=True) == ["likelihoods"]
    assert failures(check_model, "models", Answers(), likelihood=True) == []


class Scorer:
    measures: Mapping[str, str] = MappingProxyType({"right": "verdict"})

    def score(self, subtest: Any, item: Any, response: Response) -> Sequence[Rating]:
        if response.expected is None:
            return []
        return [valued("under-test", "right", response.text == response.expected)]


def test_a_scorer_that_keeps_its_contract_passes() -> None:
    assert failures(check_scorer, "scorers", Scorer()) == []


def test_a_scorer_is_checked_with_the_items_of_a_battery(tmp_path: Path) -> None:
    class NeedsWeight:
        """Raises for items without the metadata of its battery."""

        measures = ("weighed",)  # a number

        def score(self, subtest: Subtest, item: Item, response: Response) -> list[Rating]:
            return [valued("under-test", "weighed", float(item.metadata["own"]))]  # type: ignore[arg-type]

    battery = tmp_path / "battery.toml"
    battery.write_text(OWN, encoding="utf-8")
    plugins = plugins_with("scorers", NeedsWeight())
    check_scorer("under-test", plugins=plugins, kinds=(), battery=str(battery))
    with pytest.raises(NonConformance, match=r"response .* to item 'i1' raised KeyError"):
        check_scorer("under-test", plugins=plugins, kinds=("free",), battery=str(battery))
    with pytest.raises(NonConformance, match="no subtest of the battery 'tab' names the scorer"):
        check_scorer("under-test", plugins=plugins, battery="tab")
    plugins.close()


def test_a_scorer_that_raises_or_signs_with_another_name_is_found() -> None:
    class Raises(Scorer):
        def score(self, subtest: Any, item: Any, response: Response) -> Sequence[Rating]:
            return [valued("under-test", "right", 1 / len(response.text) > 0)]

    class Signs(Scorer):
        def score(self, subtest: Any, item: Any, response: Response) -> Sequence[Rating]:
            unkeyed = undefined("other", "right", "there is no expected answer")
            return [valued("other", "right", 1) if response.expected else unkeyed]

    class Undeclared(Scorer):
        def score(self, subtest: Any, item: Any, response: Response) -> Sequence[Rating]:
            return [valued("under-test", "more", 1)]

    assert "contract, ratings" in failures(check_scorer, "scorers", Raises())
    assert failures(check_scorer, "scorers", Signs()) == ["contract, ratings"]
    assert failures(check_scorer, "scorers", Undeclared()) == ["contract, ratings"]


def test_a_scorer_that_calls_an_item_without_a_key_right_or_wrong_is_found() -> None:
    class Strict(Scorer):
        def score(self, subtest: Any, item: Any, response: Response) -> Sequence[Rating]:
            return [valued("under-test", "right", response.text == response.expected)]

    class Generous(Scorer):
        def score(self, subtest: Any, item: Any, response: Response) -> Sequence[Rating]:
            return [valued("under-test", "right", (response.expected or "") in response.text)]

    for made in (Strict(), Generous()):
        assert failures(check_scorer, "scorers", made) == ["failure, no expected answer"]


def test_a_judge_that_leaves_features_out_is_found() -> None:
    class Judge:
        rater, features, caution = "under-test", ("fragments",), "A rule."

        def judge(self, response: Response, features: Sequence[Any]) -> Sequence[Rating]:
            return []

    assert "contract, ratings" in failures(check_judge, "judges", Judge())


def test_a_transcriber_that_raises_for_one_clip_is_found() -> None:
    class Hears:
        unit = "phonemes"

        def open(self) -> dict[str, str]:
            return {}

        def transcribe_many(
            self, clips: Sequence[Clip], cancel: Cancel
        ) -> Iterator[tuple[int, Transcript]]:
            for index, clip in enumerate(clips):
                with open(clip.path, "rb"):  # noqa: PTH123
                    heard = (Segment("D", 0.0, 0.1),)
                    yield index, Transcript("under-test", "ok", heard, seconds=0.6)

        def close(self) -> None:
            pass

    assert failures(check_transcriber, "transcribers", Hears()) == [
        "failure, a file that is not there"
    ]


def test_an_exporter_that_leaves_half_a_file_is_found() -> None:
    class Writes:
        suffix = ".txt"

        def export(self, document: Any, out: Any) -> None:
            out.parent.mkdir(exist_ok=True)
            out.write_text("half", encoding="utf-8")

    found = failures(check_exporter, "exporters", Writes())
    assert found == ["contract, what is written", "failure, a folder that is not there"]


def test_every_failure_is_named_at_once() -> None:
    class Bad(Scorer):
        def score(self, subtest: Any, item: Any, response: Response) -> Sequence[Rating]:
            raise ValueError("no")

    plugins = plugins_with("scorers", Bad())
    with pytest.raises(NonConformance, match="scorer 'under-test' does not conform") as caught:
        check_scorer("under-test", plugins=plugins)
    assert "raised ValueError: no" in str(caught.value)
    plugins.close()


def test_importing_the_kit_imports_nothing_heavy() -> None:
    code = (
        "import sys, tabwb.testing; "
        "print([m for m in ('pytest', 'numpy', 'pydantic', 'textual', 'pluggy', "
        "'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_statistic_of_the_documentation_passes() -> None:
    example = ModuleType("pronoun_share")
    exec(EXAMPLE.read_text("utf-8"), vars(example))
    with closing(Plugins.load(modules={"example": example})) as plugins:
        check_statistic("pronoun-share", plugins=plugins)


def test_a_statistic_of_two_judges_is_given_two() -> None:
    def compute(responses: Responses) -> float | None:
        first, second = responses.judges
        return float(np.nansum(responses.burdens(first) - responses.burdens(second))) or None

    class Made:
        @hookimpl
        def tabwb_register_statistics(self, register: RegisterStatistic) -> None:
            register(Statistic("made-up", "made up", "a made-up statistic", compute, judges=2))

    with closing(Plugins.load(modules={"made-up": Made()})) as plugins:
        check_statistic("made-up", plugins=plugins)


@pytest.mark.parametrize(
    ("compute", "said"),
    [
        (lambda given: 1 / len(given.table), "without responses: 'made-up' failed: ZeroDivision"),
        (lambda given: float("nan"), "returned nan without a reason: return StatisticValue(None"),
        (lambda given: "much", "it returned 'much', which is not a number"),
        (lambda given: random.random(), "determinism: unlike values"),
        (
            lambda given: float(given.table["words"].values.__iadd__(1).sum()),
            "stay as they are: it changed the responses",
        ),
    ],
)
def test_a_statistic_that_breaks_its_contract_is_found(
    compute: Callable[[Responses], Any], said: str
) -> None:
    class Made:
        @hookimpl
        def tabwb_register_statistics(self, register: RegisterStatistic) -> None:
            register(Statistic("made-up", "made up", "a made-up statistic", compute))

    plugins = Plugins.load(modules={"made-up": Made()})
    with closing(plugins), pytest.raises(NonConformance) as raised:
        check_statistic("made-up", plugins=plugins)
    assert said in str(raised.value)
