"""Quantised weights against a second derivation: plain loops in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from tabwb_transformers.lesions.surgery import Surgery  # noqa: E402

from tabwb.lesion.spec import parse_lesions  # noqa: E402
from tests.plugins.lesion_models import FUSED, WITH_EXPERTS, made  # noqa: E402
from tests.plugins.test_lesions_exact import entry, fused_columns  # noqa: E402


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
