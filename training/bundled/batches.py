"""Conversations as token ids with a weight per token, packed into batches of similar length."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from transformers import PreTrainedTokenizerFast

from training.bundled.corpus import (
    COPYING_FIRST,
    LONG,
    MIXED,
    QUESTIONS_FIRST,
    QUESTIONS_TOO,
    Mixture,
    assert_clean,
    draw_conversation,
)
from training.bundled.tokenizer import ASSISTANT, END, SYSTEM, USER
from training.bundled.turns import Conversation, Task

# One-word answers would drown among the many tokens of the stories without a greater weight.
_WEIGHTS: dict[Task, float] = {
    "connected": 0.4,
    "choice": 3.0,
    "yes_no": 3.0,
    "repetition": 1.0,
    "small_talk": 0.5,
}
_POOL = 1024
_LONGEST = 1536


@dataclass(frozen=True)
class Example:
    """Token ids and, of the same length, the weight of predicting each of them."""

    ids: tuple[int, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Batch:
    """``ids`` int64 and ``weights`` float32, both (conversations, tokens), padded on the right."""

    ids: torch.Tensor
    weights: torch.Tensor


def encode(conversation: Conversation, tokenizer: PreTrainedTokenizerFast) -> Example:
    """Encode a conversation just as the chat template renders it; only answers count."""
    backend = tokenizer.backend_tokenizer
    number = {token: tokenizer.convert_tokens_to_ids(token) for token in (SYSTEM, USER)}
    answer, end = (tokenizer.convert_tokens_to_ids(token) for token in (ASSISTANT, END))
    ids: list[int] = []
    weights: list[float] = []

    def add(tokens: list[int], weight: float) -> None:
        ids.extend(tokens)
        weights.extend([weight] * len(tokens))

    if conversation.system is not None:
        add([number[SYSTEM], *backend.encode(conversation.system).ids], 0.0)
    for turn in conversation.turns:
        add([number[USER], *backend.encode(turn.user).ids, answer], 0.0)
        add([*backend.encode(turn.assistant).ids, end], _WEIGHTS[turn.task])
    return Example(tuple(ids[:_LONGEST]), tuple(weights[:_LONGEST]))


def _collate(examples: list[Example], pad: int) -> Batch:
    longest = max(len(e.ids) for e in examples)
    ids = torch.full((len(examples), longest), pad, dtype=torch.int64)
    weights = torch.zeros((len(examples), longest))
    for row, example in enumerate(examples):
        ids[row, : len(example.ids)] = torch.tensor(example.ids)
        weights[row, : len(example.ids)] = torch.tensor(example.weights)
    return Batch(ids, weights)


def draw_pool(rng: random.Random, mixture: Mixture, long: float) -> list[Conversation]:
    """Draw conversations of ``mixture``; the share ``long`` of them has up to twenty turns."""
    out = [draw_conversation(rng, LONG if rng.random() < long else mixture) for _ in range(_POOL)]
    assert_clean(out)
    return out


def mixture_at(progress: float, copying: float, refining: bool) -> Mixture:
    """Choose the mixture for the given progress in [0, 1] of the training.

    Up to ``copying`` most turns are repetitions, so that attention heads learn early to copy. A
    second run, which starts from a model that copies, has mostly questions.
    """
    if refining:
        return QUESTIONS_FIRST if progress < 0.6 else QUESTIONS_TOO
    return COPYING_FIRST if progress < copying else MIXED


class BatchStream:
    """Batches of about ``tokens`` tokens each; the training loop sets ``progress``."""

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerFast,
        seed: int,
        tokens: int,
        copying: float,
        refining: bool,
    ) -> None:
        self.progress = 0.0
        self._tokenizer = tokenizer
        self._rng = random.Random(seed)
        self._tokens = tokens
        self._copying = copying
        self._refining = refining

    def __iter__(self) -> Iterator[Batch]:
        pad = self._tokenizer.pad_token_id
        while True:
            mixture = mixture_at(self.progress, self._copying, self._refining)
            long = 0.03 if self._refining or self.progress > 0.35 else 0.0
            pool = draw_pool(self._rng, mixture, long)
            examples = sorted((encode(c, self._tokenizer) for c in pool), key=lambda e: len(e.ids))
            batches: list[list[Example]] = [[]]
            for example in examples:
                if len(example.ids) * (len(batches[-1]) + 1) > self._tokens and batches[-1]:
                    batches.append([])
                batches[-1].append(example)
            self._rng.shuffle(batches)
            for batch in batches:
                yield _collate(batch, pad)
