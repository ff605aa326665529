"""Measure what it costs to apply and restore lesions, beside the copy of the bytes they touch."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.measure import Cost, call, interleaved
from benchmarks.rows import Result
from tabwb.lesion.taken import Planned

LESIONS = {
    "half of the heads": ("attention.heads:zero:0.5", "2 x copy"),
    "half of the neurons": ("mlp.neurons:zero:0.5", "2 x copy"),
    "30 % of all projections": ("projections:zero:0.3", "10 x copy, 5 % of generation"),
    "30 % of all projections scaled": ("projections:scale:0.3@factor=0.5", ""),
    "30 % of all projections, noise": ("projections:noise:0.3@sigma=0.5", ""),
}
SHAPES = {
    "10m": (256, 768, 12, 8, 8),
    "100m": (768, 2304, 13, 12, 12),
    "1b": (2048, 8192, 16, 32, 8),
}
"""Hidden size, that of the network, layers, heads, key-value heads; 1b is that of Llama 3.2 1B."""


def lesions(rounds: int) -> Iterator[Result]:
    """Yield the rows of applying and restoring lesions, and of the battery under each.

    The bundled model and a Llama of 100 million random parameters, one thread, in one process. The
    copy is that of the touched tensors into new memory (``clone``). Generation is 20 replies of at
    most 32 tokens by the intact model, one for each item of TAB, in one batch: less than TAB takes.
    All times are CPU seconds of one thread.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    bundled = Path(str(files("tabwb_bundled") / "model"))
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder)
        random_llama(bundled, large)
        for name, path in (("bundled", bundled), ("100M", large)):
            for dtype in ("float32", "bfloat16"):
                yield from _rows(name, path, dtype, rounds)


def random_llama(
    like: Path, folder: Path, size: str = "100m", dtype: str = "float32", device: str = "cpu"
) -> None:
    """Write a Llama of random parameters.

    Args:
        like: folder of the model that has the tokenizer.
        folder: to be written to.
        size: one of :data:`SHAPES`.
        dtype: of the weights.
        device: where the numbers are drawn.
    """
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(like)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    hidden, intermediate, layers, heads, key_value_heads = SHAPES[size]
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_value_heads,
        eos_token_id=tokenizer.eos_token_id,
    )
    with torch.device(device):
        model = LlamaForCausalLM(config)
    model.to(getattr(torch, dtype)).save_pretrained(folder)


def _rows(name: str, path: Path, dtype: Any, rounds: int) -> Iterator[Result]:
    import torch
    from tabwb_transformers.backend import TransformersModel
    from tabwb_transformers.options import TransformersOptions

    from tabwb.lesion.spec import parse_lesions
    from tabwb.lesion.taken import kept, planned

    options = TransformersOptions(device="cpu", threads=1, dtype=dtype)
    backend = TransformersModel(str(path), options)
    backend.open()
    torch.set_num_threads(1)
    requests = tab_requests(max_tokens=32)

    def answer() -> None:
        for _ in backend.reply_many(requests, threading.Event()):
            pass

    generation = _cpu(call(answer, 1))
    for what, (spec, budget) in LESIONS.items():
        size = kept(planned(parse_lesions(spec), backend.parts(), name))
        touched = _touched(backend, planned(parse_lesions(spec), backend.parts(), name))

        def lesion(spec: str = spec) -> None:
            backend.lesion(spec)
            backend.lesion("")

        own, copy = interleaved(
            lambda lesion=lesion: call(lesion, 3),  # type: ignore[misc]
            lambda touched=touched: call(lambda: [one.clone() for one in touched], 3),  # type: ignore[misc]
            rounds=rounds,
        )
        yield Result(
            f"{what}, {name}, {dtype}, {size / 2**20:,.0f} MiB touched",
            budget,
            _cpu(own),
            (("copy", _cpu(copy)), ("generation", generation)),
        )
    backend.close()


def _touched(backend: Any, plan: Sequence[Planned]) -> list[Any]:
    """Return the tensors that a lesion copies."""
    tensors = dict(backend._ready().loaded.model.named_parameters())
    return [tensors[name].detach() for name in {name for one in plan for name in one.part.tensors}]


def _cpu(cost: Cost) -> Cost:
    return Cost(cost.cpu_s, cost.cpu_s)


def tab_requests(max_tokens: int) -> list[Any]:
    """Return the requests of TAB, each item once, with a limit of tokens."""
    from tabwb.administer.session.exchange import request_for
    from tabwb.administer.session.plan import plan_trials
    from tabwb.battery.loader import load_battery
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.conditions import Conditions
    from tabwb.records.exchange import Decoding

    plugins = Plugins.load()
    battery = load_battery(plugins.find_battery("tab"))
    decoding = Decoding(max_tokens=max_tokens)
    conditions = Conditions("bundled", "model", decoding=decoding, token_limits="run")
    requests = [request_for(battery, conditions, plan) for plan in plan_trials(battery, conditions)]
    plugins.close()
    return requests
