"""The example of a model that can be lesioned keeps its contract; broken ones are found."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tabwb.plugin_api import Descriptor, Plugins, hookimpl
from tabwb.records.exchange import Decoding, Message, Request
from tabwb.testing import NonConformance, check_model

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "ngram-network"
REQUEST = Request((Message("user", "Birds can"),), Decoding(max_tokens=16))


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    """Yield the module of the model, importable as installed."""
    sys.path.insert(0, str(FOLDER))
    yield import_module("ngram_network_model")
    sys.path.remove(str(FOLDER))
    for name in ("ngram_network", "ngram_network_model"):
        sys.modules.pop(name, None)


def plugins_with(backend: Callable[[], Any], **more: Any) -> Plugins:
    @hookimpl
    def tabwb_register_models(register: Callable[[Descriptor], None]) -> None:
        able = {"likelihood": True, "lesions": True, "activations": True, "lanes": True, **more}
        register(Descriptor("broken", "Broken", lambda spec, options: backend(), **able))

    module: Any = SimpleNamespace(tabwb_register_models=tabwb_register_models)
    return Plugins.load(modules={"broken": module})


def failures(backend: Callable[[], Any], **more: Any) -> str:
    with closing(plugins_with(backend, **more)) as plugins, pytest.raises(NonConformance) as caught:
        check_model("broken", plugins=plugins)
    return str(caught.value)


def test_the_example_conforms(example: Any) -> None:
    with closing(Plugins.load(modules={"ngram": import_module("ngram_network")})) as plugins:
        check_model("ngram-network", plugins=plugins)


def test_the_network_has_the_probabilities_of_its_counts(example: Any) -> None:
    text = "\n" * example.LAYERS + example.TEXT
    for context in ("birds can ", "the sky is ", "the ", "xq"):
        shares = dict.fromkeys(example.LETTERS, 1 / example.WIDTH)
        for length in range(min(len(context), example.LAYERS) + 1):
            end = context[len(context) - length :]
            places = range(example.LAYERS, len(text))
            seen = Counter(text[at] for at in places if text[at - length : at] == end)
            if seen:
                total = example.SMOOTHING + sum(seen.values())
                shares = {
                    letter: (example.SMOOTHING * share + seen[letter]) / total
                    for letter, share in shares.items()
                }
        numbers = [example.NUMBER["\n"]] * example.LAYERS + example.numbers_of("?" + context)
        found = np.exp(example.log_probabilities(example.counted(example.TEXT), numbers))
        np.testing.assert_allclose(found, [*shares.values()], rtol=1e-4)


def test_a_neuron_is_a_context(example: Any) -> None:
    backend = example.Backend()
    backend.open()

    def said() -> str:
        *_, reply = backend.reply(REQUEST, threading.Event())
        return str(reply.text)

    assert said() == "fly"
    backend.lesion("mlp.neurons:zero@layers=4-7")  # contexts of 4 letters or fewer are left
    assert said() != "fly"
    backend.lesion("mlp.neurons:zero:0.02@select=localizer")
    backend.lesion("")
    assert said() == "fly"


def test_each_fault_is_named(example: Any) -> None:
    class NoFacts(example.Backend):  # type: ignore[misc]
        def lesion(self, spec: str) -> Any:
            super().lesion(spec)
            return {}

    class Accumulates(example.Backend):  # type: ignore[misc]
        def _lesioned(self, spec: str) -> Any:
            arrays, facts = super()._lesioned(spec)
            if spec:
                self._intact = arrays
            return arrays, facts

    class Ignores(example.Backend):  # type: ignore[misc]
        def _lesioned(self, spec: str) -> Any:
            return self._intact, super()._lesioned(spec)[1]

    class Names(example.Backend):  # type: ignore[misc]
        def parts(self) -> Any:
            return [replace(part, name=f"my-{part.name}") for part in super().parts()]

    class Short(example.Backend):  # type: ignore[misc]
        def activations(self, *given: Any) -> Any:
            for values in super().activations(*given):
                yield values[1:]

    class Intact(example.Backend):  # type: ignore[misc]
        def reply_lanes(self, lesions: Any, requests: Any, cancel: Any) -> Any:
            return super().reply_lanes([""] * len(lesions), requests, cancel)

    class AnswersAnyway(example.Backend):  # type: ignore[misc]
        def _ready(self) -> Any:
            return self._arrays or self._intact

    for broken, said in (
        (NoFacts, "the fact 'lesion' is None under 'mlp.in:zero:0.5@seed=3'"),
        (Accumulates, "answers depend on the lesion before"),
        (Ignores, "no lesion changes an answer"),
        (Names, "a part is named 'my-0.mlp.in', not '0.mlp.in'"),
        (Short, "an array of 'mlp.neurons' has the shape"),
        (Intact, "in lanes every lesion gives the same reply, alone they differ"),
        (AnswersAnyway, "a request was answered after 'mlp:explode', which could not be applied"),
    ):
        assert said in failures(broken)
    assert "activations and lanes without lesions=True" in failures(example.Backend, lesions=False)
