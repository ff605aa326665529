"""How many rows fit into memory: the keys and values that a model really keeps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs tabwb[local]")
transformers = pytest.importorskip("transformers", reason="needs tabwb[local]")
from tabwb_transformers.cache import _row_bytes, default_places  # noqa: E402

SIZES: dict[str, Any] = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 6,
    "num_attention_heads": 4, "num_key_value_heads": 2, "pad_token_id": 0,
}  # fmt: skip
GEMMA4: dict[str, Any] = {
    "vocab_size_per_layer_input": 64,
    "hidden_size_per_layer_input": 8,
    "head_dim": 16,
    "global_head_dim": 32,
}


@pytest.mark.parametrize("name", ["Llama", "Gemma2", "Gemma4Text"])
def test_the_bytes_of_a_row_are_those_of_its_cache(name: str) -> None:
    kind = getattr(transformers, f"{name}Config", None)
    if kind is None:
        pytest.skip(f"this version of transformers has no {name}")
    config = kind(**SIZES, **(GEMMA4 if name == "Gemma4Text" else {}))
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.inference_mode():
        cache = model(torch.tensor([[5, 9, 12, 40, 3]]), use_cache=True).past_key_values
    kept = sum(
        tensor.numel() * tensor.element_size()
        for layer in cache.layers
        for tensor in (layer.keys, layer.values)
    )
    assert _row_bytes(model, 5) == kept
    assert default_places(model, torch.device("cpu"), 5) == 16


def test_an_unknown_configuration_has_no_size() -> None:
    assert _row_bytes(SimpleNamespace(config=SimpleNamespace(), dtype=torch.float32), 5) is None
