"""Judgements: one call of a judge behind which a model stands, with everything that came back."""

from __future__ import annotations

from dataclasses import dataclass

from tabwb.records.ratings import Rating
from tabwb.records.states import StopReason


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge said of one response, once.

    Attributes:
        rater: the judge's resolved spec.
        ratings: one for each measure.
        repeat: 0 for the judgement whose ratings count; 1 and up ask the same again to see how far
            the judge agrees with itself.
        prompt_text: everything that is put to the model besides the response (canonical JSON).
        raw: the model's own words, unaltered.
        first_raw: the words that could not be read before a repair was asked for; else empty.
        repaired, structured: see :class:`tabwb.plugin_api.components.Verdict`.
        stop_reason: why the last reply ended.
        requests: how many requests were sent; 0 where the verdict was taken from another one.
        prompt_tokens, reply_tokens: of all requests together, or None where not counted.
        latency_s: seconds, of all requests together.
        key: SHA-256 (hex) of judge and exact request: what makes two calls the same call.
        same_as: id of the earlier judgement of the same key that this one was taken from, or None.
        id: in the store; 0 before it is there.
        recorded_at: UTC, ISO 8601; empty before it is there.
    """

    rater: str
    ratings: tuple[Rating, ...]
    repeat: int = 0
    prompt_text: str = ""
    raw: str = ""
    first_raw: str = ""
    repaired: bool = False
    structured: bool = False
    stop_reason: StopReason = StopReason.END
    requests: int = 1
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    latency_s: float = 0.0
    key: str = ""
    same_as: int | None = None
    id: int = 0
    recorded_at: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement with the attempt that it judges.

    Attributes:
        trial, attempt: numbers of the trial and of the attempt within it.
    """

    trial: int
    attempt: int
    judgement: Judgement
