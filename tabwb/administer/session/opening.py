"""A model opened: whether it is the one that began, its check under a lesion, a first try."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from tabwb.host.making import opened
from tabwb.host.plugins import Plugins
from tabwb.host.prices import Price, cost_of
from tabwb.lesion.declared import CHECK_TEXT, PERPLEXITY, PERPLEXITY_REASON, UNITS_HASH
from tabwb.plugin_api.components import Cancel, LikelihoodBackend, ModelBackend
from tabwb.records.classes import dataclass
from tabwb.records.conditions import FUNCTION, Conditions
from tabwb.records.errors import ComponentError, TabwbError, UsageError
from tabwb.records.exchange import Decoding, Likelihood, Message, Reply, Request, Wait
from tabwb.records.specs import options_that_count, parse_spec
from tabwb.records.trials import HASHES, IDENTITY

TEXT: Final = "plain-1"
"""The id of the text of the manipulation check of a lesion; another text gets another id."""


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


PROMPT = "Say hello."
MOST_TOKENS = 32


@dataclass(frozen=True, slots=True)
class Tried:
    """What a model did with one prompt, after ``opened_s`` seconds of loading or reaching it."""

    model: str
    facts: Mapping[str, str]
    opened_s: float
    prompt: str
    reply: Reply
    price: Price | None

    @property
    def cost(self) -> float | None:
        """US dollars of this try, or None where unknown."""
        return cost_of(self.price, self.reply.prompt_tokens, self.reply.reply_tokens)


def try_model(
    plugins: Plugins,
    spec: str,
    cancel: Cancel,
    *,
    prompt: str = PROMPT,
    max_tokens: int = MOST_TOKENS,
    on_wait: Callable[[Wait], object] = lambda wait: None,
) -> Tried:
    """Open the model that a spec names, ask it one question and close it again."""
    price = plugins.price(spec)
    backend = plugins.open_model(spec)
    started = time.monotonic()
    try:
        facts = dict(opened(backend, cancel))
        opened_s = time.monotonic() - started
        request = Request((Message("user", prompt),), Decoding(max_tokens=max_tokens))
        reply: Reply | None = None
        for piece in backend.reply(request, cancel):
            if isinstance(piece, Wait) and piece.seconds:
                on_wait(piece)
            elif isinstance(piece, Reply):
                reply = piece
    finally:
        backend.close()
    if reply is None:
        raise ComponentError(f"'{spec}' ended without a reply")
    return Tried(str(plugins.resolve("models", spec)[1]), facts, opened_s, prompt, reply, price)


def stand_in(plugins: Plugins, conditions: Conditions, spec: str) -> str:
    """Return the resolved spec of a model that is to continue an administration."""
    began = conditions.examinee
    if conditions.kind != "model" or began.startswith(FUNCTION):
        what = "a person" if conditions.kind != "model" else f"the function '{began}'"
        raise UsageError(f"the examinee is {what}: '{spec}' cannot continue for it")
    found = plugins.resolve("models", spec)[1]
    before, now = options_that_count(parse_spec(began)), options_that_count(found)
    for key in dict.fromkeys((*before, *now)):
        if before.get(key) != now.get(key):
            raise UsageError(
                f"'{found}' cannot continue for '{began}': option '{key}' is "
                f"{now.get(key, 'not given')} and was {before.get(key, 'not given')}",
                hint="options of the model are conditions: give those it began with",
            )
    return str(found)


def check_same(
    earlier: Mapping[str, str], now: Mapping[str, str], *, began: str, spec: str
) -> None:
    """Check that a model is the one that an administration began with."""
    weights, *_ = HASHES
    alike = weights in now and earlier.get(weights) == now[weights]
    if spec != began and earlier:
        for key in HASHES:
            was, found = earlier.get(key), now.get(key)
            if found != was and (key == weights or was is not None):
                raise _other(began, spec, key, was, found)
            if found is None and key == weights:
                raise TabwbError(
                    f"whether '{spec}' is '{began}' is not known: their weights have no hash",
                    allowed="a model in a folder",
                )
    for key in (*IDENTITY, *HASHES, UNITS_HASH):
        was, found = earlier.get(key, now.get(key)), now.get(key)
        if was == found or (key == "model" and alike):
            continue
        if spec != began:
            raise _other(began, spec, key, was, found)
        raise TabwbError(
            f"the model is not the one this administration began with: {key} was {was} and is "
            f"{found or 'unknown'}",
            hint="restore the recorded answers as they were, or begin a new administration"
            if key == "file_sha256"
            else "begin a new administration for the changed model",
        )


def _other(began: str, spec: str, key: str, was: str | None, found: str | None) -> TabwbError:
    return TabwbError(
        f"'{spec}' is not the model that this administration began with, '{began}': {key} is "
        f"{found or 'unknown'} and was {was or 'not recorded'}",
        hint="give the folder with the same weights and tokenizer, or begin a new administration",
    )
