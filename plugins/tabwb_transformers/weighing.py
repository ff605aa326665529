"""How likely a model finds given tokens. Imported only where torch is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from tabwb.extend.components import Cancel
from tabwb.records.exchange import Likelihood
from tabwb_transformers.engine import Engine, padded
from tabwb_transformers.loading import OutOfMemory
from tabwb_transformers.sampling import not_numbers

CHUNK = 256
"""Tokens of a long text that are read at once: logits of all of them would fill the memory."""


def weigh(
    engine: Engine,
    prompt: Sequence[int],
    texts: Sequence[Sequence[int]],
    *,
    places: int,
    limit: int | None,
    cancel: Cancel,
) -> list[Likelihood]:
    r"""The likelihood of each text after the prompt: sum of ln p(token | everything before it).

    The first token of a text after an empty prompt has nothing before it and is not counted. What
    is longer than the model's limit is read in windows: as soon as one is full, the next begins
    with its second half as context.

    Args:
        engine: reads.
        prompt: tokens; may be empty.
        texts: tokens of each text.
        places: how many texts are read together at most; fewer where memory runs out.
        limit: the most tokens that the model can read, or None.
        cancel: looked at between readings; fewer are returned once it is set.

    Raises:
        ComponentError: memory ran out for a single text, or the logits are no numbers.
    """
    together = places if engine.crowd and prompt else 1
    done: list[Likelihood] = []
    while len(done) < len(texts) and not cancel.is_set():
        group = texts[len(done) : len(done) + together]
        short = max(map(len, group)) <= min(CHUNK, (limit or 2**62) - len(prompt))
        try:
            if together > 1 and short:
                done += _together(engine, prompt, group)
            else:
                one = _alone(engine, prompt, group[0], limit, cancel)
                if one is None:
                    break
                done.append(one)
        except OutOfMemory:
            engine.forget()
            if together == 1:
                raise
            together = max(1, min(together, len(group)) // 2)
    return done


def _together(
    engine: Engine, prompt: Sequence[int], texts: Sequence[Sequence[int]]
) -> list[Likelihood]:
    """Short texts after one prompt, which is read once (and not again for the next call)."""
    # The last token of the prompt is read with the texts: its logits weigh their first token.
    before = engine.known(prompt[:-1])
    rows = before.picked([0] * len(texts))
    ids, given = padded([[prompt[-1], *text[:-1]] for text in texts], engine.device)
    width = ids.shape[1]
    logits = engine.read(rows, ids, given, keep=width)
    weighed = []
    for row, text in enumerate(texts):
        total = _sum(logits[row, width - max(len(text), 1) :][: len(text)], text)
        weighed.append(Likelihood(total, len(text)))
    return weighed


def _alone(
    engine: Engine, prompt: Sequence[int], text: Sequence[int], limit: int | None, cancel: Cancel
) -> Likelihood | None:
    """One text of any length, in the model's own way; None once ``cancel`` is set."""
    known = list(prompt)
    left = list(text)
    if not known:
        known, left = left[:1], left[1:]
    counted, total = len(left), 0.0
    limit = limit or 2**62
    past: Any = None
    read = 0  # how many of the known tokens are in ``past``
    while left:
        if cancel.is_set():
            return None
        if len(known) > limit:
            known, past, read = known[-max(1, limit // 2) :], None, 0
        new = left[: min(CHUNK, limit - len(known) + 1)]
        given = [*known[read:], *new[:-1]]
        past, logits = engine.alone(given, past, keep=len(new))
        total += _sum(logits, new)
        known += new[:-1]
        read = len(known) if engine.remembers else 0
        if not engine.remembers:
            past = None
        known, left = [*known, new[-1]], left[len(new) :]
    return Likelihood(total, counted)


def _sum(logits: torch.Tensor, tokens: Sequence[int]) -> float:
    """The sum of the tokens' log probabilities; ``logits`` has a row for each."""
    if not tokens:
        return 0.0
    scores = torch.log_softmax(logits.float(), dim=-1)
    chosen = scores.gather(1, torch.tensor(tokens, device=logits.device)[:, None])
    total = float(chosen.to("cpu", torch.float64).sum())
    if math.isnan(total):
        raise not_numbers()
    return total
