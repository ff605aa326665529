"""What every judge says of one response, as it is shown; made in the worker's thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tabwb.battery.model import Battery
from tabwb.records.ratings import Judged, Judgement, Rating
from tabwb.records.states import RatingStatus, StopReason
from tabwb.records.trials import Trial
from tabwb.report.summaries.disagreements import PROBABILITY


@dataclass(frozen=True, slots=True)
class JudgeSaid:
    """One judge on one response.

    Attributes:
        rater: its spec.
        ratings: by feature.
        probabilities: by feature, of a judge that tells them.
        asked: whether a model was asked.
        marks: what is to be known of the way in which its verdict was had, in words.
        took: requests and tokens, in words.
        raw: the model's own words, or empty.
        first_raw: those that could not be read before it was asked again, or empty.
    """

    rater: str
    ratings: Mapping[str, Rating]
    probabilities: Mapping[str, float] = field(default_factory=dict)
    asked: bool = False
    marks: tuple[str, ...] = ()
    took: tuple[str, ...] = ()
    raw: str = ""
    first_raw: str = ""


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """One response with what every judge says of it.

    Attributes:
        place: its number in the administration.
        prompt: the item's.
        response: as given.
        features: (id, title) of those that some judge has in its set, as the battery lists them.
        judges: in the order in which they judged first.
    """

    place: int
    subtest: str
    prompt: str
    response: str
    features: tuple[tuple[str, str], ...]
    judges: tuple[JudgeSaid, ...]


def judged_response(battery: Battery, trial: Trial, judged: Sequence[Judged]) -> JudgedResponse:
    """Everything that judges say of a trial's counting answer.

    Args:
        battery: the administration's.
        trial: with its ratings.
        judged: the calls of judges that ask a model, of this trial or of more.
    """
    subtest = battery.subtest(trial.plan.subtest)
    titles = {feature.id: feature.title for feature in battery.features}
    by_rater: dict[str, list[Rating]] = {}
    for rating in trial.ratings:
        by_rater.setdefault(rating.rater, []).append(rating)
    attempt = trial.counting
    calls = [
        one.judgement
        for one in judged
        if attempt is not None and (one.trial, one.attempt) == (trial.plan.number, attempt.number)
    ]
    judges = tuple(
        _said(rater, ratings, [call for call in calls if call.rater == rater])
        for rater, ratings in by_rater.items()
        if any(rating.measure in titles for rating in ratings)
    )
    named = {feature for judge in judges for feature in judge.ratings}
    return JudgedResponse(
        place=trial.plan.number,
        subtest=subtest.title,
        prompt=subtest.item(trial.plan.item).prompt,
        response=attempt.response if attempt is not None else "",
        features=tuple((name, title) for name, title in titles.items() if name in named),
        judges=judges,
    )


def _said(rater: str, ratings: Sequence[Rating], calls: Sequence[Judgement]) -> JudgeSaid:
    # The latest call whose verdict counts; the others tell how far the judge agrees with itself.
    counting = next((call for call in reversed(calls) if call.repeat == 0), None)
    return JudgeSaid(
        rater=rater,
        ratings={one.measure: one for one in ratings if not one.measure.endswith(PROBABILITY)},
        probabilities={
            one.measure.removesuffix(PROBABILITY): one.value
            for one in ratings
            if one.measure.endswith(PROBABILITY) and one.value is not None
        },
        asked=counting is not None,
        marks=tuple(_marks(counting, len(calls))) if counting is not None else (),
        took=tuple(_took(counting)) if counting is not None else (),
        raw=counting.raw if counting is not None else "",
        first_raw=counting.first_raw if counting is not None else "",
    )


def _marks(call: Judgement, calls: int) -> Iterator[str]:
    unread = any(one.status is RatingStatus.UNPARSED for one in call.ratings)
    if call.repaired:
        yield "asked again, and not read either" if unread else "repaired: the second reply is read"
    if call.structured:
        yield "structured: the service kept to the schema"
    if call.stop_reason is StopReason.LENGTH:
        yield "the reply was cut at its limit"
    if call.stop_reason is StopReason.REFUSED:
        yield "the service refused"
    if call.same_as is not None:
        yield "copied from an earlier identical call"
    if calls > 1:
        yield f"judged {calls} times; this verdict counts"


def _took(call: Judgement) -> Iterator[str]:
    if call.same_as is not None:
        return
    yield "1 request" if call.requests == 1 else f"{call.requests} requests"
    if call.prompt_tokens is not None and call.reply_tokens is not None:
        yield f"{call.prompt_tokens:,} tokens sent, {call.reply_tokens:,} back"
