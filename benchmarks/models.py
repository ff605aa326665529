"""Measure local models: lesions, conditions side by side, generated tokens, transcribers.

lm-evaluation-harness is measured if it is installed (``pip install lm-eval accelerate peft``);
tabwb does not need it.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.measure import Cost, call, interleaved
from benchmarks.rows import Result
from tabwb.lesion.taken import Planned
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Reply, Request

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
    """Write a Llama of random parameters."""
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
    from tabwb.host.plugins import Plugins
    from tabwb.records.conditions import Conditions
    from tabwb.records.exchange import Decoding

    plugins = Plugins.load()
    battery = load_battery(plugins.find_battery("tab"))
    decoding = Decoding(max_tokens=max_tokens)
    conditions = Conditions("bundled", "model", decoding=decoding, token_limits="run")
    requests = [request_for(battery, conditions, plan) for plan in plan_trials(battery, conditions)]
    plugins.close()
    return requests


BATCH, REPLICATES, MOST_TOKENS = 16, 8, 256


def many_replies(rounds: int) -> Iterator[Result]:
    """Yield the rows of TAB's items in batches: same prompts, same batch size, greedy.

    20 prompts with eight replicates, as in a row of a results table, and 160 different prompts. One
    thread, everything loaded.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    folder = str(files("tabwb_bundled") / "model")
    for what, requests in (("8 replicates of TAB", _replicates()), ("160 prompts", _distinct())):
        yield _compared(what, folder, requests, rounds)


def _compared(what: str, folder: str, requests: Sequence[Request], rounds: int) -> Result:
    import torch
    from tabwb_transformers.backend import TransformersModel
    from tabwb_transformers.options import TransformersOptions

    options = TransformersOptions(device="cpu", threads=1, batch_size=BATCH)
    backend = TransformersModel(folder, options)
    backend.open()
    torch.set_num_threads(1)
    replies: dict[int, Reply] = {}

    def own() -> None:
        for index, reply in backend.reply_many(requests, threading.Event()):
            assert isinstance(reply, Reply), reply
            replies[index] = reply

    own()
    prompts = [replies[n].metadata["rendered_prompt"] for n in range(len(requests))]
    peer = _lm_eval(folder, prompts)
    if peer is None:
        (cost,) = interleaved(lambda: call(own, 1), rounds=rounds)
    else:
        cost, other = interleaved(lambda: call(own, 1), lambda: call(peer, 1), rounds=rounds)
    tokens = sum(reply.reply_tokens or 0 for reply in replies.values())
    name = f"{what}, bundled model, batches of {BATCH}: {tokens / cost.cpu_s:,.0f} tokens/s of CPU"
    budget = "1.2 x lm-evaluation-harness"
    if peer is None:
        return Result(f"{name}; lm-eval is not installed", budget, cost)
    texts = peer()
    alike = sum(replies[n].text.strip() == text.strip() for n, text in enumerate(texts))
    name += (
        f", {other.cpu_s / cost.cpu_s:.1f} x lm-evaluation-harness; "
        f"{alike} of {len(texts)} texts equal"
    )
    return Result(name, budget, cost, (("lm-evaluation-harness", other),))


def _lm_eval(folder: str, prompts: Sequence[str]) -> Callable[[], list[str]] | None:
    """Return the harness with the same model and rendered prompts; None if not installed."""
    try:
        from lm_eval.api.instance import Instance
        from lm_eval.models.huggingface import HFLM
    except ImportError:
        return None
    from transformers import AutoModelForCausalLM, AutoTokenizer, logging

    logging.set_verbosity_error()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    peer = HFLM(
        pretrained=model, tokenizer=tokenizer, batch_size=BATCH, device="cpu", add_bos_token=False
    )
    decoding = {
        "until": [tokenizer.eos_token],
        "max_gen_toks": MOST_TOKENS,
        "do_sample": False,
        "temperature": 0.0,
    }

    def answers() -> list[str]:
        asked = [
            Instance(
                request_type="generate_until", doc={}, arguments=(prompt, dict(decoding)), idx=0
            )
            for prompt in prompts
        ]
        return [str(text) for text in peer.generate_until(asked, disable_tqdm=True)]

    return answers


def _replicates() -> list[Request]:
    from tabwb.administer.session.exchange import request_for
    from tabwb.administer.session.plan import plan_trials
    from tabwb.battery.loader import load_battery
    from tabwb.host.plugins import Plugins
    from tabwb.records.conditions import Conditions

    plugins = Plugins.load()
    battery = load_battery(plugins.find_battery("tab"))
    plugins.close()
    conditions = Conditions("bundled", "model", replicates=REPLICATES)
    requests = [request_for(battery, conditions, one) for one in plan_trials(battery, conditions)]
    return [
        replace(one, decoding=replace(one.decoding, max_tokens=MOST_TOKENS)) for one in requests
    ]


def _distinct() -> list[Request]:
    """Return the prompts with different words after each."""
    import random

    from tabwb.records.exchange import Message

    draw = random.Random(1)
    words = ["lion", "drum", "boat", "kite", "horse", "door", "river", "garden", "winter"]
    changed = []
    for number, request in enumerate(_replicates()):
        more = " ".join(draw.choices(words, k=draw.randint(1, 9)))
        last = request.messages[-1]
        message = Message(last.role, f"{last.content} {more} {number}")
        changed.append(replace(request, messages=(*request.messages[:-1], message)))
    return changed


RATE = 16_000
SECONDS = 4.0
THREADS = 2


def transcription(rounds: int) -> Iterator[Result]:
    """Yield the rows of one clip of 4 s: wav2vec 2.0 base, and the bundled model.

    The weights are random, because they do not affect the time.
    """
    with tempfile.TemporaryDirectory() as folder:
        clip = _noise(Path(folder) / "clip.wav")
        yield from _base(Path(folder), clip, rounds)
        yield from _bundled(clip, rounds)


def _base(folder: Path, clip: Path, rounds: int) -> Iterator[Result]:
    import json

    import torch
    import transformers
    from tabwb_wav2vec2.options import Wav2Vec2Options
    from tabwb_wav2vec2.transcriber import Wav2Vec2Transcriber

    from tabwb.phonology.inventory import PHONEMES
    from tabwb.records.speech import Clip
    from tabwb.speech.files import read_clip

    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    base = folder / "base"
    labels = ("<pad>", "<s>", "</s>", "<unk>", *PHONEMES)
    configuration = transformers.Wav2Vec2Config(vocab_size=len(labels))
    transformers.Wav2Vec2ForCTC(configuration).save_pretrained(base)
    (base / "vocab.json").write_text(json.dumps({label: n for n, label in enumerate(labels)}))
    front = transformers.Wav2Vec2FeatureExtractor(return_attention_mask=False)
    front.save_pretrained(base)
    tokenizer = transformers.Wav2Vec2CTCTokenizer(str(base / "vocab.json"))
    pipeline = transformers.pipeline(
        "automatic-speech-recognition",
        model=transformers.Wav2Vec2ForCTC.from_pretrained(base).eval(),
        feature_extractor=front,
        tokenizer=tokenizer,
        device="cpu",
    )
    samples, _ = read_clip(clip)

    def made(onnx: str) -> Wav2Vec2Transcriber:
        options = Wav2Vec2Options(onnx=onnx, threads=THREADS, device="cpu")  # type: ignore[arg-type]
        transcriber = Wav2Vec2Transcriber(str(base), options, cache=folder)
        transcriber.open()
        return transcriber

    ours = [made(onnx) for onnx in ("no", "fp32", "int8")]
    given = [Clip(str(clip))]
    *costs, plain = interleaved(
        *[
            lambda one=one: call(lambda: list(one.transcribe_many(given, threading.Event())), 1)
            for one in ours
        ],
        lambda: call(lambda: pipeline({"raw": samples, "sampling_rate": RATE}), 1),
        rounds=rounds,
    )
    names = ("torch", "ONNX fp32", "ONNX int8")
    budgets = ("no slower than the pipeline", "", "0.16 s (0.55 x the pipeline)")
    for name, budget, cost in zip(names, budgets, costs, strict=True):
        what = f"wav2vec 2.0 base, clip of 4 s, {THREADS} threads, {name}"
        yield Result(what, budget, cost, (("plain transformers pipeline", plain),))


def _bundled(clip: Path, rounds: int) -> Iterator[Result]:
    from tabwb.host.plugins import Plugins
    from tabwb.records.speech import Clip

    plugins = Plugins.load()
    transcriber = plugins.open_transcriber("bundled-words")
    transcriber.open()
    one, many = [Clip(str(clip))], [Clip(str(clip))] * 16
    alone, together = interleaved(
        lambda: call(lambda: list(transcriber.transcribe_many(one, threading.Event())), 1),
        lambda: call(lambda: list(transcriber.transcribe_many(many, threading.Event())), 1),
        rounds=rounds,
    )
    plugins.close()
    for cost, count in ((alone, 1), (together, 16)):
        share = cost.clock_s / (count * SECONDS)
        yield Result(
            f"bundled-words, {count} x 4 s, in its child (CPU: of the parent only); "
            f"real-time factor {share:.3f}",
            "",
            cost,
        )


def _noise(path: Path) -> Path:
    import numpy as np

    from tabwb.speech.files import write_wav

    samples = np.random.default_rng(0).normal(0, 0.05, int(SECONDS * RATE)).astype(np.float32)
    write_wav(path, samples, RATE)
    return path


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
        yield from _lane_rows("bundled", bundled, (4, 8, 16), rounds)
        yield from _lane_rows("100M", large, (4,), 1)


def _lane_rows(name: str, path: Path, counts: Sequence[int], rounds: int) -> Iterator[Result]:
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
