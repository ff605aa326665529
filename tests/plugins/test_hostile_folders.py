"""Model folders that were made to do harm, or are broken in ways that looked like it."""

from __future__ import annotations

import json
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tabwb_transformers import prompts
from tabwb_transformers.loading import check_folder, least_parameters

from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Message, Request
from tests.plugins.conftest import model, save_model

HELLO = Request((Message("user", "Which one barks?"),))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return save_model(tmp_path / "model")


def changed(folder: Path, **values: Any) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["../outside.safetensors", "/etc/passwd", "a/b.safetensors", ".."])
def test_an_index_names_no_file_outside_the_folder(small: Path, name: str) -> None:
    shutil.move(small / "model.safetensors", small.parent / "outside.safetensors")
    index = {"metadata": {}, "weight_map": {"model.embed_tokens.weight": name}}
    (small / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(ComponentError, match="outside the model's folder"):
        model(small).open()


@pytest.mark.parametrize(
    "values",
    [
        {"num_hidden_layers": 5_000},
        {"num_hidden_layers": 10**9},
        {"hidden_size": 10**6, "head_dim": 8},
        {"vocab_size": 10**9},
    ],
)
def test_a_configuration_larger_than_its_weights_is_refused_at_once(
    small: Path, values: dict[str, int]
) -> None:
    began = time.monotonic()
    with pytest.raises(ComponentError) as caught:
        model(changed(small, **values)).open()
    assert time.monotonic() - began < 30
    assert "describes" in str(caught.value)


@pytest.mark.parametrize(
    "kind", ["Llama", "Qwen2", "GPT2", "GPTNeoX", "Gemma2", "Mixtral", "OPT", "Bloom"]
)
def test_the_lower_bound_holds_for_real_architectures(kind: str) -> None:
    import transformers

    sizes = {"vocab_size": 300, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    sizes |= {"intermediate_size": 32, "num_key_value_heads": 1, "head_dim": 16, "ffn_dim": 32}
    known = getattr(transformers, f"{kind}Config")().to_dict()
    names = {
        "hidden_size": "n_embd",
        "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head",
    }
    wanted = {key: value for key, value in sizes.items() if key in known}
    wanted |= {names[key]: sizes[key] for key in names if names[key] in known}
    wanted |= {"word_embed_proj_dim": 64} if kind == "OPT" else {}
    configuration = getattr(transformers, f"{kind}Config")(**wanted)
    name = "GPT2LMHeadModel" if kind == "GPT2" else f"{kind}ForCausalLM"
    made = getattr(transformers, name)(configuration)
    least = least_parameters(configuration.to_dict())
    assert 0 < least <= made.num_parameters()


def test_weights_that_lack_a_parameter_are_refused(small: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = small / "model.safetensors"
    weights = load_file(path)
    del weights[next(name for name in weights if "q_proj" in name)]
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(ComponentError, match="lack parameters"):
        model(small).open()


@pytest.mark.parametrize("content", ["[1]", "{", "[" * 100_000])
def test_a_broken_configuration_is_named(small: Path, content: str) -> None:
    (small / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(ComponentError) as caught:
        check_folder(small)
    assert "config.json" in str(caught.value)


def test_a_chat_template_that_loops_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompts, "TEMPLATE_S", 0.5)
    loops = "".join("{% for a in range(300) %}" for _ in range(3))
    backend = model(save_model(tmp_path / "model", chat=loops + "x" + "{% endfor %}" * 3))
    backend.open()
    for _ in range(2):
        began = time.monotonic()
        with pytest.raises(ComponentError, match="did not finish within"):
            list(backend.reply(HELLO, threading.Event()))
        assert time.monotonic() - began < 30
