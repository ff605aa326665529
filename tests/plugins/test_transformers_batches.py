"""Many replies at once from a local model: the same texts as one by one, whatever the batch."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tabwb_transformers.backend import TransformersModel
from tabwb_transformers.options import TransformersOptions

from benchmarks.draws import agreement_by_chance, first_words
from tabwb.administer.session.exchange import request_for
from tabwb.administer.session.plan import plan_trials
from tabwb.battery.loader import load_battery
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Reply, Request
from tabwb.records.states import StopReason
from tests.builders import ROOT
from tests.plugins.conftest import answer, asked, end_at, model, save_model

torch = pytest.importorskip("torch", reason="needs tabwb[local]")

ARCHITECTURES: dict[str, dict[str, Any]] = {
    "Llama": {},
    "Mistral": {"sliding_window": 8},
    "Gemma3Text": {"sliding_window": 8, "head_dim": 16},
    "GPT2LMHead": {},
    "Bloom": {},
    "Mpt": {"d_model": 32, "n_layers": 2, "n_heads": 2},
    "Mamba": {"state_size": 4},
}
"""Rotated and learned positions, two kinds of slopes, windows, and none of all that."""


def many(backend: TransformersModel, requests: list[Request]) -> list[Reply]:
    found = dict(backend.reply_many(requests, threading.Event()))
    replies = [found[index] for index in range(len(requests))]
    assert all(isinstance(reply, Reply) for reply in replies), replies
    return [reply for reply in replies if isinstance(reply, Reply)]


def mixed(n: int = 12, seed: int = 2, begin: str = "All of these begin alike. ") -> list[Request]:
    """Prompts and limits of many lengths, some of them several times."""
    draw = random.Random(seed)
    texts = ["".join(draw.choices("abcdefg ", k=draw.randint(1, 25))) for _ in range(n)]
    requests = [asked(begin + text, max_tokens=draw.choice([1, 5, 20, 40])) for text in texts]
    return [*requests, *requests[:2] * 3]


def opened(folder: Path, **options: Any) -> TransformersModel:
    backend = model(folder, **options)
    backend.open()
    end_at(backend, frozenset({101, 70}))  # random weights end a reply anywhere
    return backend


@pytest.fixture
def crowd(base: Path) -> Iterator[TransformersModel]:
    backend = opened(base, batch_size=5)
    yield backend
    backend.close()


def same(one: Reply, other: Reply) -> bool:
    keys = {"rendered_prompt", "template", "protocol", "stop_string"}

    def told(reply: Reply) -> object:
        kept = {key: value for key, value in reply.metadata.items() if key in keys}
        return reply.text, reply.stop_reason, reply.prompt_tokens, reply.reply_tokens, kept

    return told(one) == told(other)


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_replies_of_a_crowd_are_those_given_alone(kind: str, tmp_path: Path) -> None:
    backend = opened(save_model(tmp_path, kind=kind, **ARCHITECTURES[kind]), batch_size=5)
    requests = mixed()
    alone = [answer(backend, request) for request in requests]
    assert len({reply.text for reply in alone}) > 3
    assert all(map(same, many(backend, requests), alone))


def test_a_model_that_cannot_share_or_pad_is_found_out(tmp_path: Path) -> None:
    tried = {}
    for kind in ("Llama", "Mpt", "Mamba"):
        backend = opened(save_model(tmp_path / kind, kind=kind, **ARCHITECTURES[kind]))
        assert backend._opened is not None
        tried[kind] = (backend._opened.engine.crowd, backend._opened.engine.shares)
    assert tried == {"Llama": (True, True), "Mpt": (True, False), "Mamba": (False, False)}


def test_the_bundled_model_writes_the_same_in_batches_of_1_3_and_16() -> None:
    folder = ROOT / "plugins" / "tabwb_bundled" / "model"
    plugins = Plugins.load()
    battery = load_battery(plugins.find_battery("tab"))
    conditions = Conditions("bundled", "model")
    requests = [request_for(battery, conditions, plan) for plan in plan_trials(battery, conditions)]
    plugins.close()
    assert len(requests) == 20
    draw = random.Random(7)
    words = [
        "lion", "drum", "boat", "kite", "horse", "house", "river", "garden", "small", "green",
        "the", "a", "sing", "read",
    ]  # fmt: skip
    forms = ("Please repeat exactly: {}.", "Is the {} green?", "Which one is it? ({})", "Tell: {}")
    for _ in range(10):
        text = draw.choice(forms).format(" ".join(draw.choices(words, k=draw.randint(1, 12))))
        requests.append(asked(text, max_tokens=16))
    texts = []
    for size in (1, 3, 16):
        backend = TransformersModel(
            str(folder), TransformersOptions(device="cpu", threads=1, batch_size=size)
        )
        backend.open()
        texts.append([reply.text for reply in many(backend, requests)])
    assert texts[0] == texts[1] == texts[2]
    assert len(set(texts[0])) > len(requests) / 2


def test_a_choice_closer_than_rounding_is_marked(crowd: TransformersModel) -> None:
    reply = many(crowd, mixed())[0]
    assert reply.metadata["batch_exact"] == "yes"
    assert crowd._opened is not None
    with torch.no_grad():  # every token twice: the best two are always equal
        weights = crowd._opened.loaded.model.lm_head.weight
        weights[1::2] = weights[0:-1:2]
    assert many(crowd, mixed())[0].metadata["batch_exact"] == "no"


def test_half_precision_says_that_batches_may_differ(base: Path) -> None:
    backend = opened(base, dtype="bfloat16", batch_size=4)
    replies = many(backend, mixed())
    assert {reply.metadata["batch_exact"] for reply in replies} == {"no"}


def test_sampled_replies_follow_their_seeds_in_a_crowd_too(crowd: TransformersModel) -> None:
    requests = [asked(temperature=1.3, top_p=0.9, seed=seed) for seed in (1, 2, 3, 1)]
    replies = many(crowd, requests)
    assert all(map(same, replies, [answer(crowd, request) for request in requests]))
    assert replies[0].text == replies[3].text != replies[1].text
    assert "batch_exact" not in replies[0].metadata


def test_stop_strings_end_each_reply_by_itself(crowd: TransformersModel) -> None:
    whole = answer(crowd, asked()).text
    requests = [asked(stop=(whole[4:6],)), asked(), asked("Other", stop=(whole[1:3],))]
    replies = many(crowd, requests)
    assert all(map(same, replies, [answer(crowd, request) for request in requests]))
    assert replies[0].stop_reason is StopReason.STOP_STRING
    assert replies[1].text == whole


def test_finished_replies_cost_nothing_more(
    crowd: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = read_rows(crowd, monkeypatch)
    end_at(crowd, frozenset())
    crowd._options = TransformersOptions(device="cpu", batch_size=8)
    short = [asked(f"{n}", max_tokens=1) for n in range(7)]
    many(crowd, [*short, asked("the long one", max_tokens=30)])
    assert rows[0] == 8
    assert rows[1:] == [1] * 29


def test_one_prompt_of_many_replicates_is_read_once(
    crowd: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = read_tokens(crowd, monkeypatch)
    end_at(crowd, frozenset())
    requests = [asked(temperature=1.0, seed=seed, max_tokens=4) for seed in range(12)]
    replies = many(crowd, requests)
    prompt = replies[0].prompt_tokens
    assert [count for count in tokens if count > 5] == [prompt]


def test_what_all_prompts_begin_with_is_read_once(
    crowd: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = "The same long beginning stands before everything that is asked: "
    requests = [asked(begin + letter, max_tokens=1) for letter in "abcdefgh"]
    tokens = read_tokens(crowd, monkeypatch)
    replies = many(crowd, requests)
    assert replies[0].prompt_tokens is not None
    common = len("Question: " + begin)
    rest = replies[0].prompt_tokens - common
    assert tokens == [common, 5 * rest, 3 * rest]


def test_where_memory_runs_out_the_batch_is_halved(
    crowd: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = [answer(crowd, request) for request in mixed()]
    rows = read_rows(crowd, monkeypatch, most=2)
    assert all(map(same, many(crowd, mixed()), alone))
    assert max(rows) > 2
    assert max(rows[5:]) <= 2


def test_a_prompt_that_never_fits_harms_no_other(
    crowd: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [*mixed(4), asked("x" * 150), asked("y" * 400)]
    alone = [answer(crowd, request) for request in mixed(4)]
    read_rows(crowd, monkeypatch, most_tokens=120)
    found = dict(crowd.reply_many(requests, threading.Event()))
    *others, large, too_long = (found[index] for index in range(len(requests)))
    assert isinstance(large, ComponentError)
    assert "memory ran out" in str(large)
    assert isinstance(too_long, ComponentError)
    assert "leaves no room" in str(too_long)
    for one, expected in zip(others, alone, strict=True):
        assert isinstance(one, Reply)
        assert same(one, expected)


def test_logits_that_are_no_numbers_are_an_error_of_that_reply(crowd: TransformersModel) -> None:
    assert crowd._opened is not None
    with torch.no_grad():
        embedding = crowd._opened.loaded.model.get_input_embeddings().weight
        embedding[crowd._opened.loaded.tokenizer("#")["input_ids"][0]] = float("nan")
    found = dict(crowd.reply_many([asked("fine"), asked("not #")], threading.Event()))
    assert isinstance(found[0], Reply)
    assert "not numbers" in str(found[1])


def test_cancel_leaves_what_is_unanswered(crowd: TransformersModel) -> None:
    cancel = threading.Event()
    requests = [asked(f"{n}", max_tokens=3 if n < 2 else 200) for n in range(6)]
    end_at(crowd, frozenset())
    found = {}
    for index, reply in crowd.reply_many(requests, cancel):
        found[index] = reply
        cancel.set()
    assert set(found) <= {0, 1}
    assert dict(crowd.reply_many(requests, cancel)) == {}


def test_rows_that_reach_the_models_end_do_not_trouble_others(tmp_path: Path) -> None:
    backend = opened(save_model(tmp_path, kind="GPT2LMHead", n_positions=64), batch_size=8)
    end_at(backend, frozenset())
    requests = [asked("x" * n, max_tokens=60) for n in (1, 1, 2, 3, 5, 8, 20, 38)]
    replies = many(backend, requests)
    assert all(map(same, replies, [answer(backend, request) for request in requests]))


def read_rows(
    backend: TransformersModel,
    monkeypatch: pytest.MonkeyPatch,
    *,
    most: int = 1000,
    most_tokens: int = 10**6,
) -> list[int]:
    """How many rows each reading of the model had; memory "runs out" beyond the limits."""
    return _watched(backend, monkeypatch, lambda shape: shape[0], most, most_tokens)


def read_tokens(backend: TransformersModel, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tokens each reading of the model had."""
    return _watched(backend, monkeypatch, lambda shape: shape[0] * shape[1], 1000, 10**6)


def _watched(
    backend: TransformersModel,
    monkeypatch: pytest.MonkeyPatch,
    count: Any,
    most: int,
    most_tokens: int,
) -> list[int]:
    assert backend._opened is not None
    assert backend._opened.engine.crowd  # tried out before anything is counted
    counts: list[int] = []
    forward = backend._opened.loaded.model.forward

    def watched(*inputs: Any, **more: Any) -> Any:
        shape = more["input_ids"].shape
        counts.append(count(shape))
        if shape[0] > most or shape[0] * shape[1] > most_tokens:
            torch.empty(2**60)
        return forward(*inputs, **more)

    monkeypatch.setattr(backend._opened.loaded.model, "forward", watched)
    return counts


BUNDLED = Path(__file__).parents[2] / "plugins" / "tabwb_bundled" / "model"
REPLICATES = 120


def asked_draws(seed: int, *items: str, replicates: int = REPLICATES) -> list[Request]:
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
    said = texts(asked_draws(1000, "ct1", "ct2"))
    assert len(said) == 2 * REPLICATES
    first, second = first_words(said[::2]), first_words(said[1::2])
    together = sum(a == b for a, b in zip(first, second, strict=True)) / REPLICATES
    assert agreement_by_chance(first, second) < 0.06
    assert together < 0.1


def test_neighbouring_seeds_share_no_draw() -> None:
    one, other = (texts(asked_draws(seed, "ct1", replicates=40)) for seed in (1, 2))
    assert sum(a == b for a, b in zip(one[1:], other[:-1], strict=True)) <= 2
    assert len({*one, *other}) > 70


def test_a_sampled_reply_is_the_same_alone_and_in_any_batch() -> None:
    requests = asked_draws(3, "ct1", "ct4", replicates=4)
    alone = texts(requests, batch_size=1)
    assert texts(requests, batch_size=3) == alone
    assert texts(requests[::-1], batch_size=8) == alone[::-1]
