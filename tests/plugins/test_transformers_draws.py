"""Sampled replies of a local model: independent of each other, and the same when asked again."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from tabwb_transformers.backend import TransformersModel
from tabwb_transformers.options import TransformersOptions

from benchmarks.draws import agreement_by_chance, first_words
from tabwb.administer.session.exchange import request_for
from tabwb.administer.session.plan import plan_trials
from tabwb.battery.loader import load_battery
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding, Reply, Request

torch = pytest.importorskip("torch", reason="needs tabwb[local]")

BUNDLED = Path(__file__).parents[2] / "plugins" / "tabwb_bundled" / "model"
REPLICATES = 120


def asked(seed: int, *items: str, replicates: int = REPLICATES) -> list[Request]:
    plugins = Plugins.load()
    battery = load_battery(plugins.find_battery("tab"))
    plugins.close()
    conditions = Conditions(
        "bundled",
        "model",
        seed=seed,
        replicates=replicates,
        decoding=Decoding(max_tokens=4, temperature=2.5),
        token_limits="run",
    )
    return [
        request_for(battery, conditions, plan)
        for plan in plan_trials(battery, conditions)
        if plan.item in items
    ]


def texts(requests: Sequence[Request], batch_size: int = 64) -> list[str]:
    backend = TransformersModel(str(BUNDLED), TransformersOptions(batch_size=batch_size))
    found = dict(backend.reply_many(requests, threading.Event()))
    backend.close()
    replies = [found[index] for index in range(len(requests))]
    return [reply.text for reply in replies if isinstance(reply, Reply)]


def test_items_of_one_replicate_are_drawn_independently() -> None:
    """With one stream for all items of a replicate about a third of the first words agreed."""
    said = texts(asked(1000, "ct1", "ct2"))
    assert len(said) == 2 * REPLICATES
    first, second = first_words(said[::2]), first_words(said[1::2])
    together = sum(a == b for a, b in zip(first, second, strict=True)) / REPLICATES
    assert agreement_by_chance(first, second) < 0.06
    assert together < 0.1


def test_neighbouring_seeds_share_no_draw() -> None:
    one, other = (texts(asked(seed, "ct1", replicates=40)) for seed in (1, 2))
    assert sum(a == b for a, b in zip(one[1:], other[:-1], strict=True)) <= 2
    assert len({*one, *other}) > 70


def test_a_sampled_reply_is_the_same_alone_and_in_any_batch() -> None:
    requests = asked(3, "ct1", "ct4", replicates=4)
    alone = texts(requests, batch_size=1)
    assert texts(requests, batch_size=3) == alone
    assert texts(requests[::-1], batch_size=8) == alone[::-1]
