"""Lesions side by side in one batch give what each gives alone."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tabwb_transformers.backend import TransformersModel
from tabwb_transformers.lesions import lanes as module
from tabwb_transformers.lesions.lanes import Lanes, most_lanes
from tabwb_transformers.lesions.surgery import Surgery
from tabwb_transformers.options import LocalOptions

from tabwb.host.plugins import Plugins
from tabwb.lesion.spec import parse_lesions
from tabwb.plugin_api.components import LaneBackend, LesionableBackend
from tabwb.records.errors import ComponentError, UsageError
from tabwb.records.exchange import Request
from tests.plugins.conftest import answer, asked, model
from tests.plugins.lesion_models import CONFIGURATIONS, WITH_EXPERTS, made

torch = pytest.importorskip("torch", reason="needs tabwb[local]")


ROUNDING = 1e-5
"""The largest difference of logits, as a share of their range."""
WITHOUT_GATE = ("phi", "gpt-neox", "gpt2")


def specs_of(name: str) -> list[str]:
    """Return lesions by factors and by matrices that an architecture can have side by side."""
    found = [
        "",
        "attention.heads:zero@layers=1,heads=2",
        "attention.heads:scale:0.5@factor=-0.5,seed=3+attention.heads:zero@layers=-1,heads=0",
        "attention.heads:prune:0.5",
        "attention.q:zero:0.5@seed=2+attention.heads:zero:0.25",
        "attention:noise:0.7@sigma=0.5,seed=4",
    ]
    if name not in WITH_EXPERTS:
        found += [
            "mlp.neurons:zero:0.5@seed=5+attention.heads:zero:0.5@seed=5",
            "mlp.neurons:prune:0.5+mlp.neurons:scale:0.9@factor=2,seed=7",
            "mlp:shuffle:0.5@seed=6",
            f"mlp.{'out' if name in WITHOUT_GATE else 'down'}:zero:0.9@seed=8",
        ]
    return found


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_each_row_has_the_logits_of_its_lesion(name: str) -> None:
    model = made(name)
    surgery = Surgery(model, lambda: None)
    before = surgery.fingerprint()
    specs = specs_of(name)
    assert 0 not in [most_lanes(surgery, spec, torch.float32) for spec in specs]
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(3, 64, (2 * len(specs), 9), generator=generator)
    order = torch.randperm(2 * len(specs), generator=generator) % len(specs)  # uneven and mixed
    order[0] = order[1]
    with torch.inference_mode():
        intact = model(input_ids=ids).logits
        expected = torch.empty_like(intact)
        for row, lane in enumerate(order.tolist()):
            surgery.apply(parse_lesions(specs[lane]) if specs[lane] else ())
            expected[row] = model(input_ids=ids[row : row + 1]).logits[0]
        surgery.restore()
        lanes = Lanes(surgery, specs)
        with lanes.in_force():
            lanes.at(order)
            found = model(input_ids=ids).logits
            lanes.at(None)
            assert torch.equal(model(input_ids=ids).logits, intact)
        assert torch.equal(model(input_ids=ids).logits, intact)
    span = float(expected.max() - expected.min())
    assert float((found - expected).abs().max()) <= ROUNDING * span
    different = (expected - intact).abs().amax(dim=(1, 2)) > 100 * ROUNDING * span
    assert different.tolist() == [specs[lane] != "" for lane in order.tolist()]
    assert surgery.fingerprint() == before


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("llama", "norm:zero:0.5"),
        ("llama", "embedding:zero:0.5"),
        ("llama", "head:zero:0.5"),
        ("llama", "layer:zero@layers=1"),  # biases
        ("mixtral", "experts:zero:0.5"),
        ("mixtral", "mlp.down:zero:0.5"),
        ("mixtral", "attention.heads:zero:0.5+experts:zero:0.5"),
    ],
)
def test_other_lesions_are_not_beside_others(name: str, spec: str) -> None:
    surgery = Surgery(made(name), lambda: None)
    before = surgery.fingerprint()
    assert most_lanes(surgery, spec, torch.float32) == 0
    with pytest.raises(ComponentError, match="cannot be side by side"):
        Lanes(surgery, ["", spec])
    assert surgery.fingerprint() == before


def test_lanes_gain_with_small_models_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    model = made("llama")
    surgery = Surgery(model, lambda: None)
    assert most_lanes(surgery, "mlp:zero:0.5", torch.float32) == 16
    assert most_lanes(surgery, "", torch.float32) == 16
    assert most_lanes(surgery, "mlp:zero:0.5", torch.bfloat16) == 1
    # Biases of q, k, v and the network are in no part, those of o and down in the layer's.
    tensors = dict(model.model.layers.named_parameters())
    layers = 4 * sum(
        one.numel()
        for name, one in tensors.items()
        if "bias" not in name or "o_proj" in name or "down_proj" in name
    )
    monkeypatch.setattr(module, "SIZES", {layers - 1: 16, layers: 4})
    assert most_lanes(surgery, "mlp:zero:0.5", torch.float32) == 4
    monkeypatch.setattr(module, "SIZES", {layers - 1: 16})
    assert most_lanes(surgery, "mlp:zero:0.5", torch.float32) == 1
    # Its own matrices take as much as the lesion touches; factors take next to nothing.
    monkeypatch.setattr(module, "MOST_BYTES", layers // 8)
    assert most_lanes(surgery, "mlp:zero:0.5", torch.float32) == 0
    assert most_lanes(surgery, "mlp.neurons:zero:0.5", torch.float32) == 1
    with pytest.raises(UsageError, match="layer 99"):
        most_lanes(surgery, "mlp:zero:0.5@layers=99", torch.float32)


# Long prompts with the same beginning, which is read once for each lesion; one prompt twice.
START = "Please repeat exactly what I am going to say to you now: "
WORDS = ("house.", "house and garden.", "the cat sleeps.", "no.", "house.")
SPECS = [
    "attention.heads:zero:0.5@seed=3", "", "mlp.neurons:zero:0.4@seed=2", "mlp:zero:0.2@seed=2",
    "attention:zero:0.2@seed=9",
]  # fmt: skip


def requests(temperature: float = 0.0) -> list[Request]:
    return [
        asked(START + word, max_tokens=8, seed=number, temperature=temperature)
        for number, word in enumerate(WORDS)
    ]


def texts_of(replies: Iterable[tuple[int, Any]]) -> list[str]:
    return [reply.text for _, reply in sorted(replies, key=lambda pair: pair[0])]


def alone(backend: Any, spec: str, given: Sequence[Request]) -> list[str]:
    backend.lesion(spec)
    return texts_of(backend.reply_many(given, threading.Event()))


def together(backend: Any, specs: Sequence[str], given: Sequence[Request]) -> list[list[str]]:
    both = [(lane, request) for request in given for lane in range(len(specs))]
    texts = texts_of(backend.reply_lanes(specs, both, threading.Event()))
    return [texts[lane :: len(specs)] for lane in range(len(specs))]


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_texts_are_those_of_each_lesion_alone_in_any_company(temperature: float) -> None:
    backend, given = bundled(), requests(temperature)
    expected = [alone(backend, spec, given) for spec in SPECS]
    assert len({str(texts) for texts in expected}) == len(SPECS)
    assert together(backend, SPECS, given) == expected
    assert together(backend, SPECS[2:], given) == expected[2:]
    # The lesion that was set is in force again, and nothing is left of the others.
    assert alone(backend, SPECS[3], given) == expected[3]
    assert together(backend, SPECS[::-1], given) == expected[::-1]
    assert texts_of(backend.reply_many(given, threading.Event())) == expected[3]


def test_a_batch_that_is_refilled_keeps_each_row_under_its_lesion() -> None:
    backend = bundled()
    expected = [alone(backend, spec, requests()) for spec in SPECS]
    backend._options = backend._options.model_copy(update={"batch_size": 3})
    assert together(backend, SPECS, requests()) == expected


def test_a_cancelled_batch_leaves_the_lesion_that_was_set() -> None:
    backend, cancel = bundled(SPECS[0]), threading.Event()
    expected = alone(backend, SPECS[0], requests())
    both = [(lane, request) for request in requests() for lane in range(2)]
    replies = backend.reply_lanes(SPECS[1:3], both, cancel)
    next(replies)
    cancel.set()
    assert len(list(replies)) < len(both) - 1
    assert texts_of(backend.reply_many(requests(), threading.Event())) == expected


def test_a_model_without_weights_has_no_lanes() -> None:
    plugins = Plugins.load()
    try:
        backend = plugins.open_model("echo")
        assert not isinstance(backend, LaneBackend | LesionableBackend)
    finally:
        plugins.close()


BUNDLED = Path(__file__).parents[2] / "plugins" / "tabwb_bundled" / "model"
HALF = "attention.heads:zero:0.5@seed=3"
DOWN = "mlp.down:zero:0.4@seed=2"
# Long prompts with the same beginning, so that the memory of the last prompt is used.
PROMPTS = [START + word for word in ("house.", "house and garden.", "the cat sleeps.", "no.")]


def three_requests() -> list[Request]:
    return [asked(prompt, max_tokens=12, seed=1) for prompt in PROMPTS]


def bundled(lesion: str = "") -> TransformersModel:
    backend = TransformersModel(str(BUNDLED), LocalOptions(device="cpu", threads=1))
    backend.open()
    backend.lesion(lesion)
    return backend


def texts(backend: Any, *, together: bool) -> list[str]:
    if together:
        found = dict(backend.reply_many(three_requests(), threading.Event()))
        return [found[index].text for index in range(len(PROMPTS))]
    return [answer(backend, request).text for request in three_requests()]


def likelihoods(backend: Any) -> list[float]:
    found = [
        backend.likelihood(request, ["yes", "no", "house"], threading.Event())
        for request in three_requests()
    ]
    return [one.log_probability for several in found for one in several]


def test_a_lesion_and_its_end_leave_nothing_in_the_memory_of_prompts() -> None:
    alone = {
        lesion: (texts(bundled(lesion), together=True), likelihoods(bundled(lesion)))
        for lesion in ("", HALF, DOWN)
    }
    assert len({str(found) for found in alone.values()}) == 3
    backend = bundled()
    for lesion in (HALF, "", DOWN, HALF):
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
