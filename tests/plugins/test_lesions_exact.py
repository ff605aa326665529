"""Lesions against a second derivation: hooks on activations, and plain loops over named tensors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tabwb_transformers.lesions.surgery import Surgery, _count, act, clear, unpacked

from tabwb.lesion.spec import parse_lesions, stored_form
from tabwb.records.errors import ComponentError, UsageError
from tests.plugins.lesion_models import CONFIGURATIONS, FUSED, WITH_EXPERTS, made

torch = pytest.importorskip("torch")


TOKENS = torch.tensor([[5, 9, 12, 40, 3, 3, 17]])
DENSE = [name for name in CONFIGURATIONS if name not in WITH_EXPERTS]
_PLACES = {  # layers, attention, o, network, down
    "gpt-neox": ("gpt_neox.layers", "attention", "dense", "mlp", "dense_4h_to_h"),
    "gpt2": ("transformer.h", "attn", "c_proj", "mlp", "c_proj"),
    "phi": ("model.layers", "self_attn", "dense", "mlp", "fc2"),
}


def place(name: str, model: Any, layer: int, which: str) -> Any:
    layers, attention, o, network, down = _PLACES.get(
        name, ("model.layers", "self_attn", "o_proj", "mlp", "down_proj")
    )
    own = model.get_submodule(layers)[layer]
    paths = {
        "layer": "",
        "attention": attention,
        "o": f"{attention}.{o}",
        "down": f"{network}.{down}",
    }
    return own.get_submodule(paths[which])


def logits(model: Any) -> Any:
    with torch.inference_mode():
        return model(TOKENS).logits


@contextmanager
def hooked(handle: Any) -> Iterator[None]:
    try:
        yield
    finally:
        handle.remove()


def silenced_inputs(module: Any, first: int, last: int) -> Any:
    def hook(_: Any, inputs: Any) -> Any:
        (states,) = inputs
        states = states.clone()
        states[..., first:last] = 0
        return (states,)

    return module.register_forward_pre_hook(hook)


def lesioned(model: Any, spec: str) -> tuple[Surgery, dict[str, str]]:
    surgery = Surgery(model, lambda: None)
    return surgery, dict(surgery.apply(parse_lesions(spec)))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_head_without_output_is_its_part_of_the_input_of_o_set_to_0(name: str) -> None:
    model = made(name)
    o = place(name, model, 1, "o")
    width = (o.weight.shape[0] if name == "gpt2" else o.weight.shape[1]) // 4
    with hooked(silenced_inputs(o, 2 * width, 3 * width)):
        expected = logits(model)
    lesioned(model, "attention.heads:zero@layers=1,heads=2")
    assert torch.equal(logits(model), expected)
    assert not torch.equal(expected, logits(made(name)))


@pytest.mark.parametrize("name", DENSE)
def test_a_neuron_without_output_is_its_input_of_down_set_to_0(name: str) -> None:
    model = made(name)
    down = place(name, model, 2, "down")
    with hooked(silenced_inputs(down, 7, 8)):
        expected = logits(model)
    lesioned(model, "mlp.neurons:zero@layers=-1,neurons=7")
    torch.testing.assert_close(logits(model), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_layer_that_adds_nothing_gives_on_what_it_was_given(name: str) -> None:
    model = made(name)

    def hook(_: Any, inputs: Any, output: Any) -> Any:
        return (inputs[0], *output[1:]) if isinstance(output, tuple) else inputs[0]

    with hooked(place(name, model, 1, "layer").register_forward_hook(hook)):
        expected = logits(model)
    lesioned(model, "layer:zero@layers=1")
    torch.testing.assert_close(logits(model), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in CONFIGURATIONS if name not in FUSED])
@pytest.mark.parametrize("letter", "qkv")
def test_a_projection_without_weights_gives_its_bias(name: str, letter: str) -> None:
    model = made(name)
    projection = place(name, model, 0, "attention").get_submodule(f"{letter}_proj")

    def hook(module: Any, _: Any, output: Any) -> Any:
        zero = torch.zeros_like(output)
        return zero if module.bias is None else zero + module.bias

    with hooked(projection.register_forward_hook(hook)):
        expected = logits(model)
    lesioned(model, f"attention.{letter}:zero@layers=0")
    torch.testing.assert_close(logits(model), expected, rtol=0, atol=1e-6)


def fused_columns(name: str, letter: str) -> list[int]:
    """Return which results of the fused projection are those of q, k or v, by plain loops."""
    if name == "gpt-neox":  # of each of 4 heads: 8 of q, 8 of k, 8 of v
        return [24 * head + 8 * "qkv".index(letter) + i for head in range(4) for i in range(8)]
    if name == "gpt2":
        return [32 * "qkv".index(letter) + i for i in range(32)]
    first, count = {"q": (0, 32), "k": (32, 16), "v": (48, 16)}[letter]
    return list(range(first, first + count))


@pytest.mark.parametrize("name", FUSED)
@pytest.mark.parametrize("letter", "qkv")
def test_a_part_of_a_fused_projection_gives_its_bias(name: str, letter: str) -> None:
    model = made(name)
    path = {"phi3": "qkv_proj", "gpt-neox": "query_key_value", "gpt2": "c_attn"}[name]
    fused = place(name, model, 0, "attention").get_submodule(path)
    columns = fused_columns(name, letter)

    def hook(module: Any, _: Any, output: Any) -> Any:
        output = output.clone()
        output[..., columns] = 0 if module.bias is None else module.bias[columns]
        return output

    with hooked(fused.register_forward_hook(hook)):
        expected = logits(model)
    lesioned(model, f"attention.{letter}:zero@layers=0")
    torch.testing.assert_close(logits(model), expected, rtol=0, atol=1e-6)


class PlainSfc64:
    """The generator of PractRand in Python's own numbers, and the hash that seeds it."""

    def __init__(self, seed: int, name: str, purpose: str) -> None:
        import hashlib

        text = f"tabwb-lesion-1\0{purpose}\0{seed}\0{name}".encode()
        digest = hashlib.blake2b(text, digest_size=24).digest()
        self.a, self.b, self.c = (
            int.from_bytes(digest[at : at + 8], "little") for at in (0, 8, 16)
        )
        self.counter = 1
        for _ in range(12):
            self.next64()

    def next64(self) -> int:
        most = 2**64 - 1
        result = (self.a + self.b + self.counter) & most
        self.counter = (self.counter + 1) & most
        self.a = self.b ^ (self.b >> 11)
        self.b = (self.c + (self.c << 3)) & most
        self.c = ((((self.c << 24) | (self.c >> 40)) & most) + result) & most
        return result

    def halves(self, count: int) -> list[int]:
        found: list[int] = []
        while len(found) < count:
            whole = self.next64()
            found += [whole & (2**32 - 1), whole >> 32]
        return found[:count]


def entry(name: str, model: Any, letter: str, row: int, column: int) -> tuple[str, tuple[int, ...]]:
    """Return where the weight from an input (column) to a result (row) of a projection is kept."""
    if name not in FUSED:
        return f"model.layers.1.self_attn.{letter}_proj.weight", (row, column)
    at = fused_columns(name, letter)[row]
    if name == "gpt2":
        return "transformer.h.1.attn.c_attn.weight", (column, at)
    if name == "gpt-neox":
        return "gpt_neox.layers.1.attention.query_key_value.weight", (at, column)
    return "model.layers.1.self_attn.qkv_proj.weight", (at, column)


@pytest.mark.parametrize("name", ["llama", "qwen3", "olmo2", *FUSED])
@pytest.mark.parametrize("letter", "qkv")
def test_single_weights_are_those_of_the_plain_generator(name: str, letter: str) -> None:
    model = made(name)
    expected = {key: value.clone() for key, value in model.state_dict().items()}
    columns = 32
    if name in FUSED:
        rows = len(fused_columns(name, letter))
    else:
        rows = expected[f"model.layers.1.self_attn.{letter}_proj.weight"].shape[0]
    draws = PlainSfc64(7, f"1.attention.{letter}", "units").halves(rows * columns)
    taken = 0
    for row in range(rows):
        for column in range(columns):
            if draws[row * columns + column] < round(0.3 * 2**32):
                key, at = entry(name, model, letter, row, column)
                expected[key][at] = 0.0
                taken += 1
    _, facts = lesioned(model, f"attention.{letter}:zero:0.3@layers=1,seed=7")
    assert int(facts["lesion_parameters"]) == taken > 0
    for key, value in model.state_dict().items():
        assert torch.equal(value, expected[key]), key


@pytest.mark.parametrize("name", WITH_EXPERTS)
def test_an_expert_adds_nothing(name: str) -> None:
    model = made(name)
    expected = {key: value.clone() for key, value in model.state_dict().items()}
    for key, value in expected.items():
        if key.startswith("model.layers.2.mlp.experts.down_proj"):
            value[3] = 0.0
    lesioned(model, "experts:zero@layers=2,experts=-1")
    for key, value in model.state_dict().items():
        assert torch.equal(value, expected[key]), key


@pytest.mark.parametrize("name", WITH_EXPERTS)
def test_the_gate_of_experts(name: str) -> None:
    model = made(name)
    _, facts = lesioned(model, "mlp.gate:zero@layers=1")
    both = model.state_dict()["model.layers.1.mlp.experts.gate_up_proj"]
    half = both[:, :, ::2] if name == "gpt-oss" else both[:, : both.shape[1] // 2]
    rest = both[:, :, 1::2] if name == "gpt-oss" else both[:, both.shape[1] // 2 :]
    assert not half.any() and rest.all()
    assert int(facts["lesion_parameters"]) == half.numel()


def weights(model: Any) -> Any:
    return model.state_dict()["model.layers.0.self_attn.o_proj.weight"]


def test_operations_do_what_they_say() -> None:
    whole = weights(made("llama")).double()
    changed = {}
    for spec in ("zero", "mean", "scale", "noise", "shuffle", "swap"):
        model = made("llama")
        more = {"scale": ",factor=0.5", "noise": ",sigma=2"}.get(spec, "")
        lesioned(model, f"attention.o:{spec}:0.4@layers=0,seed=3{more}")
        changed[spec] = weights(model).double()
    taken = changed["zero"] == 0
    assert 0.3 < taken.double().mean() < 0.5
    for spec, now in changed.items():
        assert torch.equal(now[~taken], whole[~taken]), spec
    assert torch.allclose(changed["mean"][taken], whole.mean())
    assert torch.allclose(changed["scale"][taken], whole[taken] / 2)
    noise = (changed["noise"] - whole)[taken]
    assert float(noise.std()) == pytest.approx(2 * float(whole.std(correction=0)), rel=0.15)
    for spec in ("shuffle", "swap"):
        assert torch.equal(changed[spec][taken].sort().values, whole[taken].sort().values)
        assert not torch.equal(changed[spec], whole)
    # Swapping the same pairs again gives the original.
    model = made("llama")
    twice = "attention.o:swap:0.4@layers=0,seed=3"
    lesioned(model, f"{twice}+{twice}")
    assert torch.equal(weights(model).double(), whole)


def test_norms_of_gemma_multiply_by_1_plus_their_weights() -> None:
    model = made("gemma2")
    lesioned(model, "norm:zero@layers=1")
    norm = model.model.layers[1].input_layernorm
    assert not norm(torch.ones(1, 32)).any()
    model = made("gemma2")
    before = model.model.layers[1].input_layernorm(torch.ones(1, 32))
    lesioned(model, "norm:scale@layers=1,factor=0.5")
    after = model.model.layers[1].input_layernorm(torch.ones(1, 32))
    torch.testing.assert_close(after, before / 2)


def test_pruning_takes_the_smallest() -> None:
    model = made("llama")
    before = weights(model)
    lesioned(model, "attention.o:prune:0.25@layers=0")
    after = weights(model)
    count = before.numel() // 4
    order = before.abs().reshape(-1).argsort(stable=True)
    assert set((after == 0).reshape(-1).nonzero()[:, 0].tolist()) == set(order[:count].tolist())


def test_masks_are_nested_and_do_not_depend_on_the_rest() -> None:
    masks = []
    for spec in (
        "attention.q:zero:0.1@seed=5",
        "attention.q:zero:0.3@seed=5",
        "mlp.down:zero:0.9@seed=1+attention.q:zero:0.3@layers=1,seed=5",
        "attention.q:zero:0.3@seed=6",
    ):
        model = made("llama")
        lesioned(model, spec)
        masks.append(model.state_dict()["model.layers.1.self_attn.q_proj.weight"] == 0)
    assert masks[0].sum() < masks[1].sum()
    assert not (masks[0] & ~masks[1]).any()
    assert torch.equal(masks[1], masks[2])
    assert not torch.equal(masks[1], masks[3])


@pytest.mark.parametrize("name", ["llama", "tied", "gpt2", "gpt-oss"])
def test_restoring_is_exact_and_lesions_do_not_stack(name: str) -> None:
    model = made(name)
    surgery = Surgery(model, lambda: None)
    intact, tensors = surgery.fingerprint(), dict(model.named_parameters())
    surgery.apply(parse_lesions("attention.heads:zero:0.5@seed=2"))
    once = surgery.fingerprint()
    surgery.apply(parse_lesions("attention.q:noise:0.5@sigma=1+embedding:zero:0.2"))
    surgery.apply(parse_lesions("attention.heads:zero:0.5@seed=2"))
    assert surgery.fingerprint() == once != intact
    surgery.restore()
    assert surgery.fingerprint() == intact
    assert all(parameter is tensors[key] for key, parameter in model.named_parameters())


@pytest.mark.parametrize(
    ("step", "spec"), [("clear", "zero:0.5"), ("act", "scale:0.5@factor=0.5"), ("act", "zero:1")]
)
def test_a_lesion_that_fails_in_the_middle_leaves_the_model_intact(
    monkeypatch: pytest.MonkeyPatch, step: str, spec: str
) -> None:
    from tabwb_transformers.lesions import surgery as module

    model = made("llama")
    surgery = Surgery(model, lambda: None)
    intact = surgery.fingerprint()
    done, calls = getattr(module, step), []

    def failing(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        done(*arguments)

    monkeypatch.setattr(module, step, failing)
    with pytest.raises(KeyboardInterrupt):
        surgery.apply(parse_lesions(f"attention.q:{spec}"))
    assert len(calls) == 3 and surgery.fingerprint() == intact


def test_the_head_of_tied_embeddings_is_lesioned_alone() -> None:
    model = made("tied")
    assert model.lm_head.weight is model.model.embed_tokens.weight
    surgery, _ = lesioned(model, "head:zero")
    assert not logits(model).any() and model.model.embed_tokens.weight.any()
    surgery.apply(parse_lesions("embedding:zero"))
    assert model.lm_head.weight.any() and not model.model.embed_tokens.weight.any()
    surgery.restore()
    assert model.lm_head.weight is model.model.embed_tokens.weight


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("attention.heads:zero@heads=4", "the head 4, which is not there"),
        ("attention.q:zero@layers=3", "the layer 3, which is not there"),
        ("attention.q:zero@layers=-4", "the layer -4, which is not there"),
        ("experts:zero", "finds no 'experts'"),
        ("mlp.in:zero", "finds no 'mlp.in'"),
        ("attention.heads:zero:0.1", "takes less than half of one head"),
        ("layer:zero:0.1", "takes less than half of one layer"),
    ],
)
def test_what_is_not_there_is_an_error(spec: str, words: str) -> None:
    model = made("llama")
    surgery = Surgery(model, lambda: None)
    intact = surgery.fingerprint()
    with pytest.raises(UsageError, match=words):
        surgery.apply(parse_lesions(f"attention.o:zero+{spec}"))
    assert surgery.fingerprint() == intact


def test_unknown_architectures_and_weights_that_are_no_plain_numbers_are_refused() -> None:
    import transformers

    bloom = transformers.AutoModelForCausalLM.from_config(
        transformers.BloomConfig(vocab_size=64, hidden_size=32, n_layer=1, n_head=4)
    )
    with pytest.raises(ComponentError, match="not derived for the architecture 'bloom'"):
        Surgery(bloom, lambda: None)
    with torch.device("meta"):
        far = transformers.AutoModelForCausalLM.from_config(CONFIGURATIONS["llama"]())
    with pytest.raises(ComponentError, match="not plain numbers in memory"):
        Surgery(far, lambda: None)
    model = made("llama")
    model.is_quantized = True
    with pytest.raises(ComponentError, match="quantised"):
        Surgery(model, lambda: None)


def test_each_architecture_that_is_not_refused_is_tested() -> None:
    from tabwb_transformers.lesions.anatomy import FAMILIES

    assert {make().model_type for make in CONFIGURATIONS.values()} == set(FAMILIES)


(ZERO,) = parse_lesions("mlp.down:zero:0.3")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("is_turned", [False, True])
def test_masked_weights_become_0_and_the_others_keep_their_bits(
    dtype: Any, is_turned: bool
) -> None:
    # More than is cleared at once, in rows of which the last block is smaller.
    weights = torch.randn(300, 700, generator=torch.Generator().manual_seed(1)).to(dtype)
    weights[0, :4] = torch.tensor([torch.nan, torch.inf, -0.0, 1e-45])
    taken = torch.rand(weights.shape, generator=torch.Generator().manual_seed(2)) < 0.3
    expected = torch.where(taken, torch.zeros((), dtype=dtype), weights)
    if is_turned:
        weights, expected, taken = weights.mT, expected.mT, taken.mT
    copy = torch.empty_like(weights)
    clear(weights, taken, copy)
    act(ZERO, weights, taken, "0.mlp.down", 0.0)
    bits = torch.uint8
    for found in (copy, weights):
        assert torch.equal(found.contiguous().view(bits), expected.contiguous().view(bits))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(700,), (20, 35), (7, 5, 20)])
def test_units_become_0_and_the_others_keep_their_bits(dtype: Any, shape: tuple[int, ...]) -> None:
    # Units along the columns, as neurons are in the last projection.
    weights = torch.randn(*shape[1:], shape[0], generator=torch.Generator().manual_seed(1)).to(
        dtype
    )
    expected = weights.clone()
    expected[..., [0, 3, 6]] = 0
    (lesion,) = parse_lesions("mlp.neurons:zero:0.3")
    act(lesion, weights.movedim(-1, 0), torch.tensor([0, 3, 6]), "0.mlp.neurons", 0.0)
    assert torch.equal(weights.view(torch.uint8), expected.view(torch.uint8))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_masked_weights_are_scaled_and_rounded_once(dtype: Any, offset: float) -> None:
    weights = torch.randn(300, 700, generator=torch.Generator().manual_seed(1)).to(dtype)
    taken = torch.rand(weights.shape, generator=torch.Generator().manual_seed(2)) < 0.3
    wide = weights if dtype == torch.float64 else weights.float()
    expected = weights.clone()
    expected[taken] = ((wide[taken] + offset) * 0.3 - offset).to(dtype)
    (lesion,) = parse_lesions("mlp.down:scale:0.3@factor=0.3")
    act(lesion, weights, taken, "0.mlp.down", offset)
    assert torch.equal(weights, expected)


@pytest.mark.parametrize("count", [1, 8, 9, 1000])
def test_a_packed_mask_arrives_whole(count: int) -> None:
    mask = np.random.default_rng(count).random(count) < 0.5
    assert np.array_equal(unpacked(torch.from_numpy(np.packbits(mask)), count).numpy(), mask)


def test_a_lesion_on_a_device_waits_for_nothing() -> None:
    weights = torch.empty(300, 700, dtype=torch.bfloat16, device="meta")
    mask = torch.empty(300, 700, dtype=torch.bool, device="meta")
    units = torch.empty(3, dtype=torch.int64, device="meta")
    with pytest.raises((RuntimeError, NotImplementedError)):
        mask.sum().item()
    for taken in (mask, units):
        copy = torch.empty_like(weights)
        clear(weights, taken, copy)
        act(ZERO, weights, taken, "0.mlp.down", 0.0)
    # The number of masked weights stays on the device until all parts are under way.
    assert isinstance(_count(weights, mask), torch.Tensor) and _count(weights, units) == 3 * 700


def test_masks_drawn_in_several_threads_are_the_same() -> None:
    from tests.plugins.lesion_models import made

    surgery = Surgery(made("llama"), lambda: None)
    lesions = parse_lesions("projections:zero:0.3@seed=5+norm:scale:0.5@factor=2")
    threads = torch.get_num_threads()
    found = []
    try:
        for count in (1, 3):
            torch.set_num_threads(count)
            facts = surgery.apply(lesions)
            found.append((facts, surgery.fingerprint()))
    finally:
        torch.set_num_threads(threads)
    assert found[0] == found[1]


def rounded(row: list[float], bits: int) -> list[Fraction]:
    """Return a row of weights rounded to steps of its largest value over 2^(bits-1) - 1."""
    step = max(abs(Fraction(weight)) for weight in row) / (2 ** (bits - 1) - 1)
    return [round(Fraction(weight) / step) * step for weight in row]


def quantised(name: str, spec: str, dtype: Any = torch.float32) -> tuple[Any, Any]:
    """Return the weights of a model before and after, by their names."""
    model = made(name, dtype)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    Surgery(model, lambda: None).apply(parse_lesions(spec))
    return before, model.state_dict()


def close(found: Any, expected: list[Fraction], step: float) -> None:
    wanted = torch.tensor([float(one) for one in expected], dtype=torch.float64)
    assert (found.double() - wanted).abs().max() < 1e-5 * step


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("name", ["llama", "qwen3", "olmo2", *FUSED])
def test_each_row_of_outputs_has_its_own_step(name: str, bits: int) -> None:
    before, after = quantised(name, f"attention.k:quantise@bits={bits},layers=1")
    key = "model.layers.1.self_attn.k_proj.weight"
    outputs = len(fused_columns(name, "k") if name in FUSED else before[key])
    changed = set()
    for output in range(outputs):
        places = [entry(name, None, "k", output, column) for column in range(32)]
        key = places[0][0]
        changed.add(key)
        row = torch.stack([before[key][at] for _, at in places])
        found = torch.stack([after[key][at] for _, at in places])
        close(found, rounded(row.tolist(), bits), float(row.abs().max()))
        assert len(set(found.tolist())) <= 2**bits - 1
    for key, value in after.items():
        assert torch.equal(value, before[key]) == (key not in changed), key


@pytest.mark.parametrize("name", WITH_EXPERTS)
def test_each_output_of_each_expert_has_its_own_step(name: str) -> None:
    before, after = quantised(name, "mlp.down:quantise@bits=3,layers=0")
    (key,) = (key for key in before if key.endswith("layers.0.mlp.experts.down_proj"))
    # gpt-oss keeps (expert, input, output), the others (expert, output, input).
    old, new = (each[key].mT if name == "gpt-oss" else each[key] for each in (before, after))
    for expert in range(4):
        for output in (0, 7, 31):
            row = old[expert, output]
            close(new[expert, output], rounded(row.tolist(), 3), float(row.abs().max()))


def test_the_step_is_that_of_the_whole_row_whichever_weights_are_taken() -> None:
    before, after = quantised("llama", "attention.o:quantise:0.4@bits=4,layers=0,seed=3")
    _, zeroed = quantised("llama", "attention.o:zero:0.4@layers=0,seed=3")
    key = "model.layers.0.self_attn.o_proj.weight"
    for old, new, mark in zip(before[key], after[key], zeroed[key], strict=True):
        expected = [
            one if taken else Fraction(weight)
            for weight, one, taken in zip(
                old.tolist(), rounded(old.tolist(), 4), (mark == 0).tolist(), strict=True
            )
        ]
        close(new, expected, float(old.abs().max()))


def test_of_gemmas_norms_one_plus_the_weight_is_rounded_and_a_norm_is_one_row() -> None:
    before, after = quantised("gemma2", "norm:quantise@bits=3,layers=0")
    key = "model.layers.0.input_layernorm.weight"
    row = (before[key] + 1.0).tolist()
    close(after[key] + 1.0, rounded(row, 3), max(map(abs, row)))


def test_bfloat16_is_rounded_once_more_and_rows_of_zeros_stay() -> None:
    model = made("llama", torch.bfloat16)
    weight = model.state_dict()["model.layers.0.mlp.down_proj.weight"]
    weight[5] = 0.0
    old = weight.clone()
    surgery = Surgery(model, lambda: None)
    surgery.apply(parse_lesions("mlp.down:quantise@bits=4,layers=0"))
    new = model.state_dict()["model.layers.0.mlp.down_proj.weight"]
    assert not new[5].any()
    expected = [float(one) for one in rounded(old[6].tolist(), 4)]
    assert torch.equal(new[6], torch.tensor(expected).to(torch.bfloat16))
    surgery.restore()
    assert torch.equal(model.state_dict()["model.layers.0.mlp.down_proj.weight"], old)


UNITS = {"0.mlp.neurons": [3, 40], "2.mlp.neurons": [7], "1.attention.heads": [2]}


def spec_of(folder: Path, target: str, more: str = "") -> str:
    path = folder / "units.json"
    path.write_text(json.dumps({"format": 1, "units": UNITS}))
    return f"{target}@select=list,file={path}{more}"


def test_listed_units_become_0_and_nothing_else(tmp_path: Path) -> None:
    model, expected = made("llama"), made("llama").state_dict()
    for layer, neurons in ((0, [3, 40]), (2, [7])):
        expected[f"model.layers.{layer}.mlp.down_proj.weight"][:, neurons] = 0
    expected["model.layers.1.self_attn.o_proj.weight"][:, 16:24] = 0  # the third of four heads
    text = "+".join(spec_of(tmp_path, f"{one}:zero") for one in ("mlp.neurons", "attention.heads"))
    facts = Surgery(model, lambda: None).apply(stored_form(text))
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    assert facts["lesion_units"] == "0.mlp.neurons:3,40;2.mlp.neurons:7+1.attention.heads:2"
    assert facts["lesion_parameters"] == str(3 * 32 + 8 * 32)


@pytest.mark.parametrize("operation", ["mean", "scale", "noise", "shuffle", "swap"])
def test_other_operations_change_the_listed_units_alone(tmp_path: Path, operation: str) -> None:
    model, before = made("gpt2"), made("gpt2").state_dict()
    option = {"scale": ",factor=0.5", "noise": ",sigma=1"}.get(operation, "")
    text = spec_of(tmp_path, f"mlp.neurons:{operation}", f"{option},layers=0")
    Surgery(model, lambda: None).apply(stored_form(text))
    changed = {
        name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])
    }
    place = "transformer.h.0.mlp.c_proj.weight"
    assert changed == {place}
    rows = (model.state_dict()[place] != before[place]).any(1).nonzero()[:, 0]
    assert rows.tolist() == [3, 40]


def test_a_list_that_changed_is_refused_and_the_model_intact(tmp_path: Path) -> None:
    model = made("llama")
    (lesion,) = stored_form(spec_of(tmp_path, "mlp.neurons:zero"))
    Path(lesion.file).write_text('{"format": 1, "units": {"0.mlp.neurons": [1]}}')
    with pytest.raises(UsageError, match="has changed"):
        Surgery(model, lambda: None).apply([lesion])
    assert all(
        torch.equal(tensor, other)
        for tensor, other in zip(
            model.state_dict().values(), made("llama").state_dict().values(), strict=True
        )
    )
