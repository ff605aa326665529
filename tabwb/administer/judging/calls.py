"""What judging consists of: calls with their keys, limits, estimates and what was spent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from tabwb.administer.limits import Limits
from tabwb.host.prices import Price, cost_of
from tabwb.plugin_api.components import Judge, ModelJudge, Response
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Request
from tabwb.records.ratings import Judgement
from tabwb.records.states import RatingStatus
from tabwb.records.trials import Trial
from tabwb.records.words import plural


@dataclass(frozen=True, slots=True)
class Target:
    """One answer to judge.

    Attributes:
        key: SHA-256 (hex) of judge and exact request.
        repeat: 0 for the judgement that counts.
        prompt_tokens: estimated, of all its requests.
        reply_limit: the most tokens that its replies may have.
    """

    trial: int
    attempt: int
    response: Response
    key: str
    repeat: int
    prompt_tokens: int
    reply_limit: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """The calls, tokens and money of judging.

    Attributes:
        to_ask: calls, each of one request (a repair would be a second one).
        from_store: verdicts that are stored already for the same call.
        duplicates: answers whose text another one of these has; they share its verdict.
        judged: answers that this judge has judged before and that stay as they are.
        cost: US dollars, or None where the price is unknown.
        reply_tokens_at_most, cost_at_most: each reply as long as it may be, reasoning included, and
            each asked for as often as it may be.
    """

    to_ask: int
    from_store: int
    duplicates: int
    judged: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None
    reply_tokens_at_most: int = 0
    cost_at_most: float | None = None


_FAILED = frozenset({RatingStatus.ERROR, RatingStatus.UNPARSED})


@dataclass(slots=True)
class Tally:
    """What judging has taken so far.

    Attributes:
        judged: judgements recorded.
        from_store: of these, those that asked nothing.
        in_error, unparsed: of these, those without a verdict.
        problem: why the first of these has none.
        cost: US dollars, or None where the price or the tokens are unknown.
        cost_at_most: US dollars, a call whose tokens are unknown counted with all that it may take;
            what a limit is held against.
    """

    price: Price | None = None
    judged: int = 0
    from_store: int = 0
    in_error: int = 0
    unparsed: int = 0
    repaired: int = 0
    problem: str = ""
    requests: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float | None = 0.0
    cost_at_most: float = 0.0

    def add(self, judgement: Judgement, reserved: float = 0.0) -> None:
        """Count one judgement."""
        statuses = {rating.status for rating in judgement.ratings}
        self.judged += 1
        self.from_store += judgement.requests == 0
        self.in_error += RatingStatus.ERROR in statuses
        self.unparsed += RatingStatus.UNPARSED in statuses
        self.repaired += judgement.repaired and RatingStatus.UNPARSED not in statuses
        failed = [rating.reason for rating in judgement.ratings if rating.status in _FAILED]
        self.problem = self.problem or next(filter(None, failed), "")
        self.requests += judgement.requests
        if not judgement.requests:
            return
        self.prompt_tokens += judgement.prompt_tokens or 0
        self.reply_tokens += judgement.reply_tokens or 0
        spent = cost_of(self.price, judgement.prompt_tokens, judgement.reply_tokens)
        self.cost = None if self.cost is None or spent is None else self.cost + spent
        self.cost_at_most += reserved if spent is None else spent


@dataclass(slots=True)
class Work:
    """The targets of one administration, sorted by what has to be done for them."""

    ask: dict[tuple[str, int], list[Target]] = field(default_factory=dict)
    take: list[tuple[Target, Judgement]] = field(default_factory=list)
    judged: int = 0


def has_verdict(trial: Trial, rater: str) -> bool:
    """Return whether a rater has judged a trial's counting answer; a failed call gives no
    verdict.
    """
    statuses = {rating.status for rating in trial.ratings if rating.rater == rater}
    return bool(statuses) and RatingStatus.ERROR not in statuses


def request_key(judge: Judge, requests: Sequence[Request], response: Response) -> str:
    """Return the SHA-256 (hex) of the judge and of exactly what it is shown.

    The judge's whole prompt counts, also what is not sent at first (the words of a repair) or not
    at all (a threshold). Answers of the same text have the same key unless the judge is shown the
    item's prompt.
    """
    content: list[object] = [
        judge.rater,
        judge.prompt_text if isinstance(judge, ModelJudge) else "",
        [
            [
                [[message.role, message.content] for message in request.messages],
                request.decoding.max_tokens,
                request.decoding.temperature,
                0,  # in place of the seed, by which the verdicts on one response differ
            ]
            for request in requests
        ]
        or [response.text, response.prompt, response.status.value],
    ]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def format_estimate(estimate: Estimate, price: Price | None) -> str:
    """Return what judging would take, in one line.

    >>> format_estimate(Estimate(5, 0, 2, 1, 6000, 950, None), None)[:50]
    '5 to ask, 2 of the same text, 1 judged already, ab'
    >>> format_estimate(Estimate(5, 0, 0, 0, 0, 0, 0.0), None)  # a judge that asks no model
    '5 to judge'
    >>> format_estimate(Estimate(0, 3, 0, 5, 0, 0, 0.0), None)
    '0 to ask, 3 from the store, 5 judged already'
    """
    asks = estimate.prompt_tokens or not estimate.to_ask
    parts = [f"{estimate.to_ask} to {'ask' if asks else 'judge'}"]
    others = {
        "of the same text": estimate.duplicates,
        "from the store": estimate.from_store,
        "judged already": estimate.judged,
    }
    parts += [f"{count} {name}" for name, count in others.items() if count]
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


def format_spent(tally: Tally) -> str:
    """Return what judging has taken so far."""
    parts = [plural(tally.requests, "request")]
    if tokens := tally.prompt_tokens + tally.reply_tokens:
        parts.append(f"{tokens:,} tokens")
    if tally.cost is None:
        parts.append("cost unknown")
    elif tally.cost:
        parts.append(f"{tally.cost:.4f} USD")
    return ", ".join(parts)


def format_tally(tally: Tally) -> str:
    """Return what judging has done, in one line, and the first failure in a second."""
    parts = [f"judged {tally.judged}"]
    if tally.judged and tally.from_store == tally.judged and not tally.requests:
        parts = [plural(tally.judged, "verdict"), "no model requests needed"]
    elif tally.from_store:
        parts.append(f"{tally.from_store} of them without a model request")
    counts = {"repaired": tally.repaired, "unparsed": tally.unparsed, "in error": tally.in_error}
    parts += [f"{count} {name}" for name, count in counts.items() if count]
    words = ", ".join([*parts, format_spent(tally)] if tally.requests else parts)
    return f"{words}\nthe first without a verdict: {tally.problem}" if tally.problem else words


def check_limits(judge: Judge, limits: Limits) -> None:
    """Refuse a limit under which not one answer could be judged."""
    most = judge.most_requests if isinstance(judge, ModelJudge) else 1
    if limits.requests is not None and limits.requests < most:
        raise UsageError(
            f"at most {plural(limits.requests, 'request')} is not enough for one answer: "
            f"'{judge.rater}' may take {most}, a second one where a reply cannot be read",
            allowed=f"{most} or more",
        )
