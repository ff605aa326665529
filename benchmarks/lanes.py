"""Measure what conditions of a sweep cost side by side in one batch, beside one by one."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.lesions import random_llama, tab_requests
from benchmarks.measure import Cost
from benchmarks.rows import Result
from tabwb.records.errors import ComponentError

AMOUNTS = (0.25, 0.3, 0.4, 0.5)
KINDS = {
    "heads and neurons": ("attention.heads:zero:{amount}", "mlp.neurons:zero:{amount}"),
    "masks of attention": ("attention:zero:{amount}",),
    "masks of the feed-forward network": ("mlp:zero:{amount}",),
    "masks of one projection": ("mlp.down:zero:{amount}@layers=1",),
}
TOKENS = {"bundled": 256, "100M": 32}
"""The most tokens of a reply."""


def lanes(rounds: int) -> Iterator[Result]:
    """Yield the cost of TAB under one condition, in float32 on one thread.

    The bundled model and a Llama of 100 million random parameters. In each round the same
    conditions are given one by one and in batches of 4, 8 and 16 (of the large model 4, with short
    replies). All are CPU seconds of one condition, without its perplexity and the store.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    bundled = Path(str(files("tabwb_bundled") / "model"))
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder)
        random_llama(bundled, large)
        yield from _rows("bundled", bundled, (4, 8, 16), rounds)
        yield from _rows("100M", large, (4,), 1)


def _rows(name: str, path: Path, counts: Sequence[int], rounds: int) -> Iterator[Result]:
    import torch
    from tabwb_transformers.backend import TransformersModel
    from tabwb_transformers.options import TransformersOptions

    options = TransformersOptions(device="cpu", threads=1, dtype="float32")
    backend = TransformersModel(str(path), options)
    backend.open()
    torch.set_num_threads(1)
    requests = tab_requests(TOKENS[name])
    for kind, forms in KINDS.items():
        specs = [
            forms[number % len(forms)].format(amount=AMOUNTS[number % 4])
            + (",seed=" if "@" in forms[0] else "@seed=")
            + str(number)
            for number in range(counts[-1])
        ]
        if 0 in backend.lanes(specs):
            continue
        alone: list[float] = []
        beside: dict[int, list[float]] = {count: [] for count in counts}
        same: dict[int, str] = {}
        for _ in range(rounds):
            seconds, expected = _alone(backend, specs, requests)
            alone.append(seconds)
            for count in counts:
                seconds, found = _beside(backend, specs, requests, count)
                beside[count].append(seconds)
                equal = sum(a == b for a, b in zip(expected, found, strict=True))
                same[count] = f"{equal} of {len(expected)}"
        for count, several in beside.items():
            what = f"{kind}, {name}, {count} side by side; texts equal: {same[count]}"
            yield Result(what, "", _median(several), (("one by one", _median(alone)),))
    backend.close()


def _alone(backend: Any, specs: Sequence[str], requests: Sequence[Any]) -> tuple[float, list[str]]:
    """Return the CPU seconds of one condition, and all texts."""
    began, texts = time.process_time(), []
    for spec in specs:
        backend.lesion(spec)
        texts += _texts(backend.reply_many(requests, threading.Event()))
    backend.lesion("")
    return (time.process_time() - began) / len(specs), texts


def _beside(
    backend: Any, specs: Sequence[str], requests: Sequence[Any], count: int
) -> tuple[float, list[str]]:
    began, texts = time.process_time(), []
    for first in range(0, len(specs), count):
        some = specs[first : first + count]
        asked = [(lane, request) for lane in range(len(some)) for request in requests]
        texts += _texts(backend.reply_lanes(some, asked, threading.Event()))
    return (time.process_time() - began) / len(specs), texts


def _texts(replies: Any) -> list[str]:
    found = dict(replies)
    if wrong := [one for one in found.values() if isinstance(one, ComponentError)]:
        raise wrong[0]
    return [found[index].text for index in range(len(found))]


def _median(seconds: Sequence[float]) -> Cost:
    middle = sorted(seconds)[len(seconds) // 2]
    return Cost(middle, middle)
