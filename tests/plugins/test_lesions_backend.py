"""Answers under lesions: nothing of other weights is left over, and no answer escapes a lesion."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from tabwb_transformers.backend import TransformersModel
from tabwb_transformers.options import LocalOptions

from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Request
from tests.plugins.conftest import answer, asked, model

torch = pytest.importorskip("torch", reason="needs tabwb[local]")

BUNDLED = Path(__file__).parents[2] / "plugins" / "tabwb_bundled" / "model"
HALF = "attention.heads:zero:0.5@seed=3"
DOWN = "mlp.down:zero:0.4@seed=2"
# Long prompts with the same beginning, so that the memory of the last prompt is used.
START = "Please repeat exactly what I am going to say to you now: "
PROMPTS = [START + word for word in ("house.", "house and garden.", "the cat sleeps.", "no.")]


def requests() -> list[Request]:
    return [asked(prompt, max_tokens=12, seed=1) for prompt in PROMPTS]


def bundled(lesion: str = "") -> TransformersModel:
    backend = TransformersModel(str(BUNDLED), LocalOptions(device="cpu", threads=1))
    backend.open()
    backend.lesion(lesion)
    return backend


def texts(backend: Any, *, together: bool) -> list[str]:
    if together:
        found = dict(backend.reply_many(requests(), threading.Event()))
        return [found[index].text for index in range(len(PROMPTS))]
    return [answer(backend, request).text for request in requests()]


def likelihoods(backend: Any) -> list[float]:
    found = [
        backend.likelihood(request, ["yes", "no", "house"], threading.Event())
        for request in requests()
    ]
    return [one.log_probability for several in found for one in several]


def test_a_lesion_and_its_end_leave_nothing_in_the_memory_of_prompts() -> None:
    alone = {
        lesion: (texts(bundled(lesion), together=True), likelihoods(bundled(lesion)))
        for lesion in ("", HALF, DOWN)
    }
    assert len({str(found) for found in alone.values()}) == 3
    backend = bundled()
    for lesion in ("", HALF, "", DOWN, HALF, ""):
        backend.lesion(lesion)
        assert texts(backend, together=True) == alone[lesion][0], lesion
        assert likelihoods(backend) == pytest.approx(alone[lesion][1], abs=1e-3), lesion
        assert texts(backend, together=False) == alone[lesion][0], lesion


def test_what_is_known_of_the_model_before_a_lesion_is_tried_again() -> None:
    backend = bundled()
    texts(backend, together=True)
    opened = backend._opened
    assert opened is not None and opened.engine._agrees is not None and opened.engine._known
    backend.lesion(HALF)
    assert opened.engine._agrees is None and opened.engine._known is None


def test_facts_say_what_was_changed() -> None:
    facts = bundled().lesion("attention.heads:zero@layers=0,heads=1")
    assert facts == {
        "lesion": "attention.heads:zero:1@layers=0,heads=1",
        "lesion_parameters": "4096",  # 32 inputs of o, 128 results
        "lesion_draws": "tabwb-lesion-1",
    }


def test_a_reply_that_is_cut_off_does_not_end_a_lesion(base: Path) -> None:
    backend = model(base)
    backend.lesion(HALF)  # before the model is loaded
    expected = answer(backend, asked()).text
    cancel = threading.Event()
    pieces = backend.reply(asked(), cancel)
    next(pieces)
    cancel.set()
    list(pieces)
    assert answer(backend, asked()).text == expected
    backend.lesion("")
    assert answer(backend, asked()).text == answer(model(base), asked()).text != expected


def test_a_lesion_that_cannot_be_applied_leaves_no_model_that_answers(base: Path) -> None:
    backend = model(base)
    backend.open()
    with pytest.raises(UsageError, match="layer 99"):
        backend.lesion("attention.q:zero@layers=99")
    for _ in range(2):
        with pytest.raises(UsageError, match="layer 99"):
            answer(backend, asked())
    backend.lesion("")
    assert answer(backend, asked()).text == answer(model(base), asked()).text


def test_the_facts_of_a_lesion_after_one_that_cannot_be_applied_are_there(base: Path) -> None:
    backend = model(base)
    backend.open()
    expected = backend.lesion("attention.q:zero:0.5@seed=3")
    with pytest.raises(UsageError, match="layer 99"):
        backend.lesion("attention.q:zero@layers=99")
    facts = backend.lesion("attention.q:zero:0.5@seed=3")
    assert {key: facts[key] for key in expected} == expected != {}


def test_a_model_without_weights_is_refused() -> None:
    plugins = Plugins.load()
    try:
        with pytest.raises(UsageError, match="'echo' cannot be lesioned") as caught:
            plugins.open_model("echo", HALF)
        assert caught.value.allowed == "bundled, transformers"
    finally:
        plugins.close()
