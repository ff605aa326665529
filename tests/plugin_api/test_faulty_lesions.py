"""Back ends whose parts, facts of lesions or likelihoods cannot be: one clear message each."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from tabwb.lesion.declared import Part
from tabwb.plugin_api.lesionable import LesionableBackend
from tabwb.plugin_api.registry.guarded import GuardedModel
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Likelihood, Message, Request
from tests.plugin_api.conftest import Install

PART = Part("0.mlp.down", "mlp.down", 0, 100, 100, {"w": 400})


class Model:
    def __init__(self, parts: Sequence[Any] = (), facts: Any = None, value: float = 0.0) -> None:
        self.found, self.facts, self.value = parts, facts, value

    def parts(self) -> Sequence[Any]:
        return self.found

    def lesion(self, spec: str) -> Any:
        return self.facts

    def likelihood(self, request: Request, texts: Sequence[str], cancel: Any) -> list[Likelihood]:
        return [Likelihood(self.value, 5)]


def guarded(**given: Any) -> Any:
    return GuardedModel(Model(**given), "faulty", print)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "name = ''"),
        ({"name": "0.\x1b[31m"}, "name = "),
        ({"name": 5}, "name = 5"),
        ({"target": "xx"}, "target = 'xx'"),
        ({"layer": -1}, "layer = -1"),
        ({"layer": "0"}, "layer = '0'"),
        ({"units": 0}, "units = 0"),
        ({"units": 1.5}, "units = 1.5"),
        ({"parameters": 10**30}, "parameters = 1000"),
        ({"tensors": None}, "tensors = None"),
        ({"tensors": {"w": -1}}, "tensors"),
        ({"units": 99}, "units = 99 and parameters = 100"),
        ({"target": "mlp.neurons", "units": 9}, "units = 9 and parameters = 100"),
    ],
)
def test_a_part_that_cannot_be(fields: Mapping[str, Any], said: str) -> None:
    with pytest.raises(ComponentError, match="'faulty' gave a part with " + said):
        guarded(parts=[replace(PART, **fields)]).parts()


def test_parts_of_one_name_would_have_the_same_draws() -> None:
    assert guarded(parts=[PART]).parts() == [PART]
    with pytest.raises(ComponentError, match="several parts of one name"):
        guarded(parts=[PART, PART]).parts()


def test_facts_of_a_lesion_have_a_limit() -> None:
    assert guarded(facts={"a": 1}).lesion("") == {"a": "1"}
    with pytest.raises(ComponentError, match="gave None as facts of a lesion"):
        guarded().lesion("")
    with pytest.raises(ComponentError, match="with 20,000,001 characters"):
        guarded(facts={"lesion": "x" * 20_000_001}).lesion("")
    with pytest.raises(ComponentError, match="the fact lesion_parameters = 'many'"):
        guarded(facts={"lesion_parameters": "many"}).lesion("")


def test_an_error_of_lesion_names_the_model_and_the_method() -> None:
    class Raises(Model):
        def lesion(self, spec: str) -> Any:
            raise KeyError("units")

    with pytest.raises(ComponentError, match=r"lesion\(\) of 'faulty' failed: KeyError: 'units'"):
        GuardedModel(Raises(), "faulty", print).lesion("mlp:zero")


def test_no_text_is_more_than_certain() -> None:
    request = Request((Message("user", "Hello"),), Decoding())
    with pytest.raises(ComponentError, match="log_probability = 5"):
        guarded(value=5.0).likelihood(request, ["a"], threading.Event())


DIES = """
class Model:
    def open(self):
        return {}
    def close(self):
        pass
    def parts(self):
        return []
    def lesion(self, spec):
        if spec.startswith("layer"):
            os._exit(9)
        return {"lesion": spec}
    def reply(self, request, cancel):
        yield Reply("dog", StopReason.END, 0.1)

@hookimpl
def tabwb_register_models(register):
    register(Descriptor("dies", "D", lambda spec, options: Model(), runs="child", lesions=True))
"""


WITHOUT_METHODS = """
class Model:
    def open(self):
        return {}
    def close(self):
        pass
    def reply(self, request, cancel):
        yield Reply("dog", StopReason.END, 0.1)

@hookimpl
def tabwb_register_models(register):
    made = lambda spec, options: Model()
    register(Descriptor("plain", "P", made, lesions=True, activations=True))
"""


def test_a_descriptor_that_declares_methods_that_are_not_there(install: Install) -> None:
    install("plain", WITHOUT_METHODS)
    with (
        closing(Plugins.load()) as plugins,
        pytest.raises(ComponentError, match="returned Model, which lacks lesion, parts") as said,
    ):
        plugins.open_model("plain")
    assert "tabwb.plugin_api.LesionableBackend" in str(said.value)


def test_the_facts_of_a_lesion_after_one_that_ended_three_processes(install: Install) -> None:
    install("dies", DIES)
    with closing(Plugins.load()) as plugins, closing(plugins.open_model("dies")) as backend:
        assert isinstance(backend, LesionableBackend)
        backend.open()
        for _ in range(3):
            with pytest.raises(ComponentError, match="ended unexpectedly"):
                backend.lesion("layer:zero:1")
        assert backend.lesion("mlp:zero:1") == {"lesion": "mlp:zero:1"}
