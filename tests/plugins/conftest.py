"""Tiny models with random weights that are made on the spot, and ways to ask them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tabwb_transformers.backend import TransformersModel
from tabwb_transformers.options import TransformersOptions

from tabwb.administer.session.drive import pieces
from tabwb.records.exchange import Decoding, Message, Reply, Request

CHAT = (
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def save_tokenizer(folder: Path, *, chat: str | None = None) -> Any:
    """A tokenizer of single bytes."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"<eos>": 0, **{letter: number for number, letter in enumerate(alphabet, 1)}}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<eos>")
    tokenizer.chat_template = chat
    tokenizer.save_pretrained(folder)
    return tokenizer


def save_model(folder: Path, *, chat: str | None = None, kind: str = "Llama", **more: Any) -> Path:
    """A model of two layers over that tokenizer."""
    import torch
    import transformers

    tokenizer = save_tokenizer(folder, chat=chat)
    torch.manual_seed(5)
    shape = {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 256,
        "initializer_range": 0.5,
    }  # fmt: skip
    configuration = getattr(transformers, f"{kind.removesuffix('LMHead')}Config")(
        vocab_size=len(tokenizer), bos_token_id=None, eos_token_id=0, **{**shape, **more}
    )
    made = getattr(transformers, f"{kind}Model", None) if kind.endswith("LMHead") else None
    made = made or getattr(transformers, f"{kind.removesuffix('Text')}ForCausalLM")
    made(configuration).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base model: no chat template."""
    return save_model(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def chatty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a chat template."""
    return save_model(tmp_path_factory.mktemp("chatty"), chat=CHAT)


@pytest.fixture
def opened(base: Path) -> Iterator[TransformersModel]:
    backend = model(base)
    backend.open()
    end_at(backend, frozenset())  # random weights end a reply anywhere
    yield backend
    backend.close()


def end_at(backend: TransformersModel, tokens: frozenset[int]) -> None:
    assert backend._opened is not None
    backend._opened.terms = replace(backend._opened.terms, ends=tokens)


def model(folder: Path | str, **options: Any) -> TransformersModel:
    return TransformersModel(str(folder), TransformersOptions(device="cpu", **options))


def asked(text: str = "Which one barks?", **decoding: Any) -> Request:
    return Request((Message("user", text),), Decoding(**{"max_tokens": 24, **decoding}))


def answer(
    backend: TransformersModel, request: Request, cancel: threading.Event | None = None
) -> Reply:
    *said, reply = pieces(backend, request, cancel or threading.Event())
    assert isinstance(reply, Reply)
    assert "".join(map(str, said)) == reply.text
    return reply
