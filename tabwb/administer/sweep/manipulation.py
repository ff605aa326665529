"""The manipulation check of a lesion: how well the model still predicts a fixed plain text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from tabwb.host.making import opened
from tabwb.lesion.declared import CHECK_TEXT, PERPLEXITY, PERPLEXITY_REASON
from tabwb.plugin_api.components import Cancel, LikelihoodBackend, ModelBackend
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Likelihood, Message, Request

TEXT: Final = "plain-1"
"""The id of the text; another text gets another id."""


@cache
def check_passages() -> tuple[tuple[str, str], ...]:
    """Return prompts with a reply to each: plain English prose, written for this purpose.

    They are replies because a model with a chat template is used in no other way.
    """
    text = (files("tabwb.lesion") / "data" / f"{TEXT}.txt").read_text("utf-8").strip()
    pairs = (block.split("\n") for block in text.split("\n\n"))
    return tuple((prompt, reply) for prompt, reply in pairs)


def perplexity(found: Sequence[Likelihood]) -> float | None:
    """Return the perplexity of texts together: exp(-sum of ln P(text) / sum of tokens).

    It is the number of equally likely tokens that would be as hard to predict.

    >>> texts = [Likelihood(6 * math.log(0.25), tokens=6), Likelihood(2 * math.log(0.25), tokens=2)]
    >>> round(perplexity(texts), 9)
    4.0
    """
    tokens = sum(one.tokens for one in found)
    total = math.fsum(one.log_probability for one in found)
    if not tokens or not math.isfinite(total):
        return None
    try:
        return math.exp(-total / tokens)
    except OverflowError:
        return None


def opened_facts(
    backend: ModelBackend, lesion: str | None, cancel: Cancel, *, perplexity: bool = True
) -> Mapping[str, str]:
    """Open a back end; return what it says of itself, and under a lesion the text's perplexity."""
    facts = opened(backend, cancel)
    if lesion is None or not perplexity:
        return facts
    return {**facts, **manipulation_facts(backend, cancel)}


def manipulation_facts(backend: ModelBackend, cancel: Cancel) -> Mapping[str, str]:
    """Return the perplexity of the fixed text under the model as it is now, as facts to store."""
    if not isinstance(backend, LikelihoodBackend):
        return {PERPLEXITY_REASON: "the back end gives no likelihoods"}
    found: list[Likelihood] = []
    try:
        for prompt, reply in check_passages():
            asked = Request((Message("user", prompt),), Decoding(max_tokens=1))
            found += backend.likelihood(asked, [reply], cancel)
    except ComponentError as error:  # for example, the lesioned model gives no numbers
        return {PERPLEXITY_REASON: str(error), CHECK_TEXT: TEXT}
    if len(found) < len(check_passages()):
        return {}
    value = perplexity(found)
    if value is None:
        return {PERPLEXITY_REASON: "the model gives the text no probability", CHECK_TEXT: TEXT}
    # Six digits: what float32 can tell, and the same after a restart.
    return {PERPLEXITY: f"{value:.6g}", CHECK_TEXT: TEXT}
