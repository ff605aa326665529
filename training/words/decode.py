"""Decode a model's outputs to phonemes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import torch
from transformers import Wav2Vec2BertForCTC

from training.words.features import log_mel, normalise, pad
from training.words.pronunciations import BLANK, LABELS, Phonemes
from training.words.recordings import Samples


def greedy(best: Iterable[int]) -> Phonemes:
    """Read phonemes off the best label of every frame.

    >>> greedy([0, 1, 1, 0, 1, 2])
    ('AA', 'AA', 'AE')
    """
    return tuple(LABELS[number] for number, _ in groupby(best) if number != BLANK)


def hear(model: Wav2Vec2BertForCTC, clips: Sequence[Samples], size: int = 64) -> list[Phonemes]:
    """Transcribe clips with greedy decoding, in their order."""
    order = sorted(range(len(clips)), key=lambda i: len(clips[i]))
    heard: list[Phonemes] = [()] * len(clips)
    model.eval()
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        features, mask = pad([normalise(log_mel(clips[i])) for i in chosen])
        with torch.inference_mode():
            best = model(input_features=features, attention_mask=mask).logits.argmax(-1)
        for i, row, length in zip(chosen, best.tolist(), mask.sum(1).tolist(), strict=True):
            heard[i] = greedy(row[:length])
    return heard
