"""Likelihoods of given texts. Imported only where torch is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tabwb.plugin_api.components import Cancel
from tabwb.records.exchange import Likelihood
from tabwb_transformers.engine import Engine, common, log_probabilities, padded
from tabwb_transformers.loading import OutOfMemory
from tabwb_transformers.writing import ROUNDING

CHUNK = 256
"""Tokens of a long text that are read at once, because logits of all would fill the memory."""


def weigh(
    engine: Engine,
    prompt: Sequence[int],
    texts: Sequence[Sequence[int]],
    *,
    places: int,
    limit: int | None,
    cancel: Cancel,
) -> list[Likelihood]:
    r"""Return the likelihood of each text after the prompt: sum of ln p(token | all before it).

    The first token of a text after an empty prompt has nothing before it and is not counted. What
    is longer than the model's limit is read in windows: as soon as one is full, the next begins
    with its second half as context.
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
                likelihood = _alone(engine, prompt, group[0], limit, cancel)
                if likelihood is None:
                    break
                done.append(likelihood)
        except OutOfMemory:
            engine.forget()
            if together == 1:
                raise
            together = max(1, min(together, len(group)) // 2)
    return done


def is_clear(weighed: Sequence[Likelihood], epsilon: float) -> bool:
    """Return whether the lead of the most likely text is larger than rounding.

    A text of n tokens with L = sum of ln p(token) is known to within ROUNDING x epsilon x
    (n + abs(L)): a token's log probability is rounded in units of its own size, of 1 at least.

    >>> sure, close = Likelihood(-2.0, 1), Likelihood(-2.0001, 1)
    >>> is_clear([sure, Likelihood(-2.4, 3)], 2**-23), is_clear([sure, close], 2**-23)
    (True, False)
    """
    first, *others = sorted(weighed, key=lambda likelihood: -likelihood.log_probability)

    def doubt(likelihood: Likelihood) -> float:
        return ROUNDING * epsilon * (likelihood.tokens + abs(likelihood.log_probability))

    return all(
        first.log_probability - other.log_probability > doubt(first) + doubt(other)
        for other in others
    )


def _together(
    engine: Engine, prompt: Sequence[int], texts: Sequence[Sequence[int]]
) -> list[Likelihood]:
    """Score short texts after one prompt, which is read once with their common start.

    Neither is read again for the next call.
    """
    shared = min(common(texts), min(map(len, texts)) - 1) if len(texts) > 1 else 0
    shared = max(shared, 0)
    # The last known token is read with the texts: its logits score the next.
    last = [prompt[-1], *texts[0][:shared]]
    before, known = engine.known(prompt[:-1], last)
    beginning = math.fsum(known[len(known) - shared :]) if shared else 0.0
    rests = [text[shared:] for text in texts]
    ids, given = padded([[last[-1], *rest[:-1]] for rest in rests], engine.device)
    width = ids.shape[1]
    logits = engine.read(before.picked([0] * len(texts)), ids, given, keep=width)
    weighed = []
    for row, rest in enumerate(rests):
        scores = log_probabilities(logits[row, width - len(rest) :], rest)
        weighed.append(Likelihood(beginning + math.fsum(scores), shared + len(rest)))
    return weighed


def _alone(
    engine: Engine, prompt: Sequence[int], text: Sequence[int], limit: int | None, cancel: Cancel
) -> Likelihood | None:
    """Return the likelihood of one text of any length; None once ``cancel`` is set."""
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
        total += math.fsum(log_probabilities(logits, new))
        known += new[:-1]
        read = len(known) if engine.remembers else 0
        if not engine.remembers:
            past = None
        known, left = [*known, new[-1]], left[len(new) :]
    return Likelihood(total, counted)
