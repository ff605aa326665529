"""Measure what a condition of a sweep costs beside generation alone, also on an accelerator.

``python -m benchmarks condition [--device cuda] [--parameters 1b] [--dtype bfloat16]``: a Llama of
random parameters answers each item of TAB once in one batch, intact and under lesions.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.models import SHAPES, random_llama, tab_requests
from tabwb.records.exchange import Reply

LESIONS = (
    "attention.heads:zero:0.5", "mlp.neurons:zero:0.5", "mlp.down:zero:0.3@layers=0",
    "attention:zero:0.3", "projections:zero:0.3",
)  # fmt: skip
BUDGET = 1.1


def main(arguments: Sequence[str]) -> None:
    """Measure and print one line for each lesion."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks condition", description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:0 ... or mps")
    parser.add_argument("--parameters", choices=SHAPES, default="100m")
    parser.add_argument("--dtype", default="float32", help="float32, bfloat16, float16")
    parser.add_argument("--threads", type=int, help="of the processor; default: those of torch")
    parser.add_argument("--tokens", type=int, default=256, help="the most tokens of a reply")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with tempfile.TemporaryDirectory() as folder:
        bundled = Path(str(files("tabwb_bundled") / "model"))
        random_llama(bundled, Path(folder), options.parameters, options.dtype, options.device)
        _measure(folder, options)


def _measure(folder: str, options: Any) -> None:
    from tabwb_transformers.backend import TransformersModel
    from tabwb_transformers.options import TransformersOptions

    from tabwb.administer.session.exchange import manipulation_facts

    backend = TransformersModel(
        folder,
        TransformersOptions(device=options.device, dtype=options.dtype, threads=options.threads),
    )
    facts = backend.open()
    backend.parts()
    requests = tab_requests(options.tokens)
    cancel = threading.Event()

    def clock(function: Callable[[], object]) -> float:
        _wait_for(facts["device"])
        began = time.perf_counter()
        function()
        _wait_for(facts["device"])
        return time.perf_counter() - began

    def answer() -> int:
        tokens = 0
        for _, reply in backend.reply_many(requests, cancel):
            assert isinstance(reply, Reply), reply
            tokens += reply.reply_tokens or 0
        return tokens

    answer()  # allocations and kernels of the first run are not those of a sweep
    print(
        f"{int(facts['parameters']):,} parameters, {facts['dtype']}, {facts['device']}, "
        f"{facts['threads']} threads, {len(requests)} replies of at most {options.tokens} tokens\n"
    )
    print("| lesion | generation | lesion and restore | against generation | perplexity |")
    print("|---|---:|---:|---:|---:|")
    for spec in LESIONS:
        taken: list[tuple[float, ...]] = []
        for _ in range(options.rounds):
            intact = clock(answer)
            own = clock(lambda spec=spec: backend.lesion(spec))  # type: ignore[misc]
            # Other weights end replies elsewhere, so that generation is that of the intact model.
            weighed = clock(lambda: manipulation_facts(backend, cancel))
            own += clock(lambda: backend.lesion(""))
            taken.append((intact, own, weighed))
        intact, own, weighed = map(statistics.median, zip(*taken, strict=True))
        ratio = (intact + own) / intact
        print(
            f"| {spec} | {intact:.2f} s | {own * 1000:.1f} ms "
            f"| {ratio:.3f} x ({'within' if ratio < BUDGET else 'beyond'} {BUDGET} x) "
            f"| {weighed:.2f} s |",
            flush=True,
        )
    backend.close()


def _wait_for(device: str) -> None:
    """Wait until an accelerator has done what it was given: calls return before."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.synchronize()
    elif device == "mps":
        torch.mps.synchronize()
