"""What judging takes and has done, in words, for both interfaces."""

from __future__ import annotations

from tabwb.administer.judging.calls import Estimate, Tally
from tabwb.plugin_api.remote.prices import Price
from tabwb.records.words import plural


def told(estimate: Estimate, price: Price | None) -> str:
    """Return what judging would take, in one line.

    Args:
        estimate: of :meth:`Judging.estimate`.
        price: of the model's tokens, or None.

    >>> told(Estimate(5, 0, 2, 1, 6000, 950, None), None)[:50]
    '5 to ask, 2 of the same text, 1 judged already, ab'
    >>> told(Estimate(5, 0, 0, 0, 0, 0, 0.0), None)  # a judge that asks no model
    '5 to judge'
    >>> told(Estimate(0, 3, 0, 5, 0, 0, 0.0), None)
    '0 to ask, 3 from the store, 5 judged already'
    """
    asks = estimate.prompt_tokens or not estimate.to_ask
    parts = [f"{estimate.to_ask} to {'ask' if asks else 'judge'}"]
    if estimate.twins:
        parts.append(f"{estimate.twins} of the same text")
    if estimate.from_store:
        parts.append(f"{estimate.from_store} from the store")
    if estimate.judged:
        parts.append(f"{estimate.judged} judged already")
    if estimate.to_ask and estimate.prompt_tokens:
        parts.append(
            f"about {estimate.prompt_tokens:,} tokens sent and {estimate.reply_tokens:,} received"
            + _at_most(f"{estimate.reply_tokens_at_most:,}", estimate.reply_tokens_at_most)
        )
        if estimate.cost is None:
            parts.append("cost unknown (no price; see prices.toml)")
        elif estimate.cost:
            most = estimate.cost_at_most or 0.0
            parts.append(f"about {estimate.cost:.2g} USD{_at_most(f'{most:.2g}', most)} ({price})")
    return ", ".join(parts)


def _at_most(words: str, most: float) -> str:
    return f" (at most {words})" if most else ""


def spent(tally: Tally) -> str:
    """What judging has taken so far."""
    parts = [plural(tally.requests, "request")]
    if tokens := tally.prompt_tokens + tally.reply_tokens:
        parts.append(f"{tokens:,} tokens")
    if tally.cost is None:
        parts.append("cost unknown")
    elif tally.cost:
        parts.append(f"{tally.cost:.4f} USD")
    return ", ".join(parts)


def summed(tally: Tally) -> str:
    """What judging has done, in one line; why it failed, where it did, in a second."""
    parts = [f"judged {tally.judged}"]
    if tally.judged and tally.from_store == tally.judged and not tally.requests:
        parts = [plural(tally.judged, "verdict"), "no model requests needed"]
    elif tally.from_store:
        parts.append(f"{tally.from_store} of them without a model request")
    for count, what in (
        (tally.repaired, "repaired"),
        (tally.unparsed, "unparsed"),
        (tally.in_error, "in error"),
    ):
        if count:
            parts.append(f"{count} {what}")
    words = ", ".join([*parts, spent(tally)] if tally.requests else parts)
    return f"{words}\nthe first without a verdict: {tally.problem}" if tally.problem else words
