"""Measure generated tokens per second of local models, compared with lm-evaluation-harness.

lm-evaluation-harness is measured if it is installed (``pip install lm-eval accelerate peft``);
tabwb does not need it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.resources import files

from benchmarks.measure import call, interleaved
from benchmarks.rows import Result
from tabwb.records.exchange import Reply, Request

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
    from tabwb.plugin_api.registry.plugins import Plugins
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
