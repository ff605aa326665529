"""Protocol ``likelihood``: which option the likelihoods of a back end make the answer."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from tabwb.plugin_api.components import Cancel, LikelihoodBackend, ModelBackend
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Likelihood, Reply, Request
from tabwb.records.states import Protocol, StopReason
from tabwb.scoring.choice import choose_by_likelihood

LOG_PROBABILITIES = "option_log_probabilities"
"""Metadata key: JSON list, natural logarithms in the order of the options; null for -infinity."""
TOKENS = "option_tokens"
"""Metadata key: JSON list, the number of tokens of each option, in the same order."""
OPTIONS = "options_weighed"
"""Metadata key: JSON list, the options themselves, in the order in which they were shown."""


def is_weighed(request: Request) -> bool:
    """Return whether the answer to a request is the most likely of its options.

    >>> is_weighed(Request((), protocol=Protocol.LIKELIHOOD, options=("a", "b")))
    True
    >>> is_weighed(Request((), protocol=Protocol.LIKELIHOOD))
    False
    """
    return request.protocol is Protocol.LIKELIHOOD and bool(request.options)


def gives_likelihoods(backend: ModelBackend) -> TypeGuard[LikelihoodBackend]:
    """Return whether a back end has ``likelihood``."""
    return isinstance(backend, LikelihoodBackend)


def pieces(backend: ModelBackend, request: Request, cancel: Cancel) -> Iterator[object]:
    """Yield what a back end answers to one request: pieces of text, waits, then one reply."""
    if is_weighed(request) and gives_likelihoods(backend):
        reply = chosen(backend, request, cancel)
        if reply.text:
            yield reply.text
        yield reply
        return
    yield from backend.reply(request, cancel)


def chosen(backend: LikelihoodBackend, request: Request, cancel: Cancel) -> Reply:
    """Return the option with the highest summed log probability as the reply."""
    started = time.monotonic()
    options = request.options
    weighed = backend.likelihood(request, options, cancel)
    latency = time.monotonic() - started
    if len(weighed) < len(options) and cancel.is_set():
        return Reply("", StopReason.CANCELLED, latency)
    _check(options, weighed)
    by_option = dict(zip(options, weighed, strict=True))
    choice = choose_by_likelihood(by_option)
    metadata: dict[str, str] = {}
    for likelihood in weighed:
        metadata |= likelihood.metadata
    logs = (likelihood.log_probability for likelihood in weighed)
    sums = [round(value, 6) if math.isfinite(value) else None for value in logs]
    metadata |= {
        "protocol": Protocol.LIKELIHOOD.value,
        "sampled": "no",
        OPTIONS: json.dumps(options, ensure_ascii=False),
        LOG_PROBABILITIES: json.dumps(sums),
        TOKENS: json.dumps([likelihood.tokens for likelihood in weighed]),
        "choice_per_token": choice.per_token,
        "choice_per_character": choice.per_character,
    }
    counted = (likelihood.prompt_tokens for likelihood in weighed)
    return Reply(
        choice.by_sum,
        StopReason.END,
        latency,
        first_piece_s=latency,
        prompt_tokens=next((tokens for tokens in counted if tokens is not None), None),
        reply_tokens=by_option[choice.by_sum].tokens,
        metadata=metadata,
    )


def _check(options: Sequence[str], weighed: Sequence[Likelihood]) -> None:
    if len(weighed) != len(options):
        raise ComponentError(
            f"the back end gave {len(weighed)} likelihoods for {len(options)} options"
        )
    for option, likelihood in zip(options, weighed, strict=True):
        if not isinstance(likelihood, Likelihood):
            raise ComponentError(
                f"the back end gave {type(likelihood).__name__} for option '{option}'",
                allowed="tabwb.records.exchange.Likelihood",
            )
        if math.isnan(likelihood.log_probability) or likelihood.log_probability == math.inf:
            raise ComponentError(
                f"the log probability of option '{option}' is {likelihood.log_probability}",
                allowed="a natural logarithm: a finite number, or -inf",
            )
    if all(likelihood.log_probability == -math.inf for likelihood in weighed):
        raise ComponentError("every option has probability 0, so that none is the most likely")
