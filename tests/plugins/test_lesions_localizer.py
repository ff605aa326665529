"""The localizer on models whose selective units are known, because they were planted."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs tabwb[local]")
import transformers  # noqa: E402
from tabwb_transformers.backend import TransformersModel  # noqa: E402
from tabwb_transformers.lesions import surgery as lesioning  # noqa: E402
from tabwb_transformers.lesions.surgery import Surgery, _measured  # noqa: E402
from tabwb_transformers.options import LocalOptions  # noqa: E402

from tabwb.cli.main import main  # noqa: E402
from tabwb.host.plugins import Plugins  # noqa: E402
from tabwb.lesion import localizer  # noqa: E402
from tabwb.lesion.localizer import (  # noqa: E402
    Condition,
    Items,
    localize,
)
from tabwb.lesion.spec import parse_lesions  # noqa: E402
from tabwb.lesion.taken import planned  # noqa: E402
from tabwb.plugin_api.components import ActivationBackend  # noqa: E402
from tabwb.records.errors import ComponentError, UsageError  # noqa: E402
from tests.plugins.conftest import model, save_model, save_tokenizer  # noqa: E402
from tests.plugins.lesion_models import CONFIGURATIONS, WITH_EXPERTS, made  # noqa: E402
from tests.plugins.test_lesions_exact import place  # noqa: E402

NEURONS = {"0.mlp.neurons": [3, 50], "1.mlp.neurons": [7]}
HEADS = {"1.attention.heads": [1]}
WORDS = ("z in z", "a z", "zz and z too", "one z", "z or not", "the z in zz z")
FIRST = tuple(text.replace("q", "") for text in WORDS)
ITEMS = Items(
    "z-or-q",
    Condition("z", FIRST),
    Condition("q", tuple(text.replace("z", "q") for text in FIRST)),
    "",
)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in which three neurons and a head respond to the letter z, and no other unit."""
    folder = tmp_path_factory.mktemp("planted")
    save_model(folder, num_key_value_heads=2)
    tokenizer = save_tokenizer(folder)
    z, q = (tokenizer(letter)["input_ids"][0] for letter in "zq")
    made = transformers.AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        embedding = made.model.embed_tokens.weight
        embedding[:, :2] = 0
        embedding[q] = embedding[z]
        embedding[z, 0] = embedding[q, 1] = 4.0
        for number, layer in enumerate(made.model.layers):
            attention, network = layer.self_attn, layer.mlp
            for reader in (attention.q_proj, attention.k_proj, attention.v_proj):
                reader.weight[:, :2] = 0
            for reader in (network.gate_proj, network.up_proj):
                reader.weight[:, :2] = 0
                for neuron in NEURONS[f"{number}.mlp.neurons"]:
                    reader.weight[neuron] = 0
                    reader.weight[neuron, 0] = 1.0
                    network.down_proj.weight[:, neuron] = 0
            for writer in (attention.o_proj, network.down_proj):
                writer.weight[:2] = 0
        head = made.model.layers[1].self_attn
        head.v_proj.weight[16:] = 0
        head.v_proj.weight[16:, 0] = 1.0
        head.o_proj.weight[:, 16:] = 0
    made.save_pretrained(folder)
    return folder


@pytest.fixture
def backend(planted: Path) -> Iterator[TransformersModel]:
    opened = model(planted)
    opened.open()
    yield opened
    opened.close()


def spec_of(target: str, amount: float) -> str:
    return f"{target}:zero:{amount!r}@select=localizer"


@pytest.mark.parametrize(
    ("target", "of", "units", "pool"),
    [
        ("mlp.neurons", 128, NEURONS, "mean"),
        ("attention.heads", 4, HEADS, "mean"),
        ("attention.heads", 4, HEADS, "last"),
    ],
)
def test_it_finds_the_planted_units_and_no_other(
    backend: TransformersModel, target: str, of: int, units: dict[str, list[int]], pool: Any
) -> None:
    found = localize(backend.activations, backend.parts(), target, ITEMS, threading.Event(), pool)
    count = sum(map(len, units.values()))
    largest = np.sort(found.t)
    taken = {name: np.flatnonzero(t >= largest[-count]) for name, t in found.scores.items()}
    assert {name: own.tolist() for name, own in taken.items() if len(own)} == units
    assert largest[-count] > 1 and len(largest) == of
    # The others respond alike to both, but for the rounding of sums.
    assert np.abs(largest[:-count]).max() < 0.01


def test_responses_are_those_of_plain_loops(backend: TransformersModel) -> None:
    opened = backend._opened
    assert opened is not None
    inner, text = opened.loaded.model, "the z in zz z"
    ids = torch.tensor([opened.loaded.tokenizer(text)["input_ids"]])
    with torch.inference_mode():
        states = inner(ids, output_hidden_states=True).hidden_states
        layer = inner.model.layers[0]
        # Of the first layer, from its input: attention is what the stream gained on the way.
        seen: list[Any] = []
        handle = layer.post_attention_layernorm.register_forward_hook(
            lambda _, inputs, output: seen.append(output)
        )
        inner(ids)
        handle.remove()
        network = layer.mlp
        gate = torch.nn.functional.silu(seen[0] @ network.gate_proj.weight.T)
        neurons = (gate * (seen[0] @ network.up_proj.weight.T))[0]
    assert len(states) == 3
    (own,) = backend.activations("mlp.neurons", [text], "mean", threading.Event())
    assert own.shape == (128,) and own.dtype == np.float32
    assert own[:64] == pytest.approx(neurons.abs().mean(0).numpy(), rel=1e-5, abs=1e-6)
    (last,) = backend.activations("mlp.neurons", [text], "last", threading.Event())
    assert last[:64] == pytest.approx(neurons[-1].abs().numpy(), rel=1e-5, abs=1e-6)


class Reader:
    """Reads tokens with a bare model, in place of an engine."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def alone(self, ids: list[int]) -> None:
        with torch.inference_mode():
            self.inner(torch.tensor([ids]))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_units_of_each_architecture_are_measured_where_they_are_lesioned(name: str) -> None:
    inner, ids = made(name), [5, 9, 12, 40, 3]
    surgery = Surgery(inner, lambda: None)
    for target, which in (("attention.heads", "o"), ("mlp.neurons", "down")):
        located = surgery.of_target(target)
        if not located:
            assert target == "mlp.neurons" and name in WITH_EXPERTS
            continue
        seen: list[Any] = []
        handle = place(name, inner, 1, which).register_forward_hook(
            lambda _, inputs, output, seen=seen: seen.append(inputs[0][0])
        )
        own = _measured(Reader(inner), located, ids, 2, "mean")  # type: ignore[arg-type]
        handle.remove()
        units = located[1].part.units
        width = seen[0].shape[1] // units
        values = np.array(
            [
                [
                    sum(float(seen[0][token, unit * width + axis]) ** 2 for axis in range(width))
                    ** 0.5
                    for unit in range(units)
                ]
                for token in (2, 3, 4)  # two tokens are the model's own
            ]
        ).mean(0)
        assert own.shape == (3 * units,)
        assert own[units : 2 * units] == pytest.approx(values, rel=1e-4, abs=1e-6)


def test_a_lesion_by_the_localizer_takes_the_planted_units(
    backend: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lesioning, "shipped_items", lambda: ITEMS)
    spec = spec_of("mlp.neurons", 3 / 128) + "+" + spec_of("attention.heads", 0.25)
    facts = backend.lesion(spec)
    assert facts["lesion_units"] == "0.mlp.neurons:3,50;1.mlp.neurons:7+1.attention.heads:1"
    # Measured on the intact model, whatever lesion was there before.
    assert backend.lesion(spec) == facts
    control = backend.lesion("mlp.neurons:zero:0.0234375@select=localizer-control,seed=5")
    units = dict(one.split(":") for one in control["lesion_units"].split(";"))
    assert {name: len(some.split(",")) for name, some in units.items()} == {
        "0.mlp.neurons": 2,
        "1.mlp.neurons": 1,
    }
    assert not {"3", "50"} & set(units["0.mlp.neurons"].split(","))


def test_a_lesion_by_the_localizer_reads_the_intact_model(
    backend: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lesioning, "shipped_items", lambda: ITEMS)
    backend.lesion("mlp.gate:zero:1")  # no neuron responds to anything
    facts = backend.lesion(spec_of("mlp.neurons", 3 / 128))
    assert facts["lesion_units"] == "0.mlp.neurons:3,50;1.mlp.neurons:7"


def test_units_that_cannot_be_measured_are_refused(backend: TransformersModel) -> None:
    with pytest.raises(ComponentError, match="'experts' cannot be measured"):
        list(backend.activations("experts", ["a"], "mean", threading.Event()))
    with pytest.raises(ComponentError, match="no tokens"):
        list(backend.activations("mlp.neurons", [""], "mean", threading.Event()))


def test_a_back_end_without_activations_is_refused() -> None:
    plugins = Plugins.load()
    try:
        assert not isinstance(plugins.open_model("echo"), ActivationBackend)
        error = plugins.no_activations("echo")
        assert isinstance(error, UsageError) and error.allowed == "bundled, transformers"
    finally:
        plugins.close()


@pytest.mark.usefixtures("here")
def test_the_command_the_list_and_the_lesion_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "units.json"
    assert main(["lesion", "localize", "--model", "bundled@threads=1", "--out", str(out)]) == 0
    assert "sentences > nonwords: 19 of 1,920 units" in capsys.readouterr().out
    document = json.loads(out.read_text())
    assert document["items"]["name"] == "language-1"
    assert (
        document["model"]["dtype"] == "float32" and len(document["model"]["weights_sha256"]) == 64
    )
    place = Path(__file__).parents[2] / "plugins" / "tabwb_bundled" / "model"
    own = TransformersModel(str(place), LocalOptions(device="cpu", threads=1))
    own.open()
    by_list = own.lesion(f"mlp.neurons:zero@select=list,file={out}")
    by_localizer = own.lesion(spec_of("mlp.neurons", 0.01))
    assert by_list["lesion_units"] == by_localizer["lesion_units"]


def test_a_plan_names_the_planted_units(
    backend: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(localizer, "shipped_items", lambda: ITEMS)
    lesions = parse_lesions(spec_of("mlp.neurons", 3 / 128))
    scores = localizer.localizer_scores(backend, backend.parts(), lesions, "planted")
    found = planned(lesions, backend.parts(), "planted", scores)
    assert {one.part.name: one.taken.numbers.tolist() for one in found} == NEURONS
    assert localizer.localizer_scores(backend, [], parse_lesions("mlp:zero"), "planted") is None
    with pytest.raises(UsageError, match="'echo' gives no activations"):
        localizer.localizer_scores(object(), [], lesions, "echo")
