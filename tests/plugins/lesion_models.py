"""Small models with random weights, one of each architecture that lesions are derived for."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM

_SIZES = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3,
    "num_attention_heads": 4, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
_GROUPED = {**_SIZES, "num_key_value_heads": 2}
_WIDE = {**_GROUPED, "head_dim": 16}
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2}
_SMALL_EXPERTS = {**_EXPERTS, "moe_intermediate_size": 24}
CONFIGURATIONS: dict[str, Callable[[], Any]] = {
    "llama": lambda: transformers.LlamaConfig(**_GROUPED, attention_bias=True, mlp_bias=True),
    "tied": lambda: transformers.LlamaConfig(**_GROUPED, tie_word_embeddings=True),
    "mistral": lambda: transformers.MistralConfig(**_GROUPED),
    "ministral": lambda: transformers.MinistralConfig(**_WIDE),
    "smollm3": lambda: transformers.SmolLM3Config(**_GROUPED),
    "qwen2": lambda: transformers.Qwen2Config(**_GROUPED),
    "qwen3": lambda: transformers.Qwen3Config(**_WIDE),
    "gemma": lambda: transformers.GemmaConfig(**_WIDE),
    "gemma2": lambda: transformers.Gemma2Config(**_WIDE),
    "gemma3": lambda: transformers.Gemma3TextConfig(**_WIDE),
    "olmo": lambda: transformers.OlmoConfig(**_SIZES),
    "olmo2": lambda: transformers.Olmo2Config(**_GROUPED),
    "olmo3": lambda: transformers.Olmo3Config(**_SIZES),
    "phi": lambda: transformers.PhiConfig(**_SIZES),
    "phi3": lambda: transformers.Phi3Config(**_GROUPED),
    "gpt-neox": lambda: transformers.GPTNeoXConfig(**_SIZES),
    "gpt2": lambda: transformers.GPT2Config(
        vocab_size=64, n_embd=32, n_layer=3, n_head=4, bos_token_id=1, eos_token_id=2
    ),
    "mixtral": lambda: transformers.MixtralConfig(**_GROUPED, num_local_experts=4),
    "qwen2-moe": lambda: transformers.Qwen2MoeConfig(
        **_GROUPED, **_SMALL_EXPERTS, shared_expert_intermediate_size=24
    ),
    "qwen3-moe": lambda: transformers.Qwen3MoeConfig(**_GROUPED, **_SMALL_EXPERTS),
    "olmoe": lambda: transformers.OlmoeConfig(**_SIZES, **_EXPERTS),
    "gpt-oss": lambda: transformers.GptOssConfig(
        **_WIDE, num_local_experts=4, num_experts_per_tok=2
    ),
}
WITH_EXPERTS = ("mixtral", "qwen2-moe", "qwen3-moe", "olmoe", "gpt-oss")
FUSED = ("phi3", "gpt-neox", "gpt2")


@cache
def _first(name: str, dtype: torch.dtype) -> Any:
    model = AutoModelForCausalLM.from_config(CONFIGURATIONS[name]()).to(dtype).eval()
    generator = torch.Generator().manual_seed(20_250_101)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(0.3 * noise + 0.05)
    return model


def made(name: str, dtype: torch.dtype = torch.float32) -> Any:
    """Return a model of an architecture; its weights and biases are all random."""
    return deepcopy(_first(name, dtype))
