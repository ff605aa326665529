"""The burden of each judge of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tabwb.records.ratings import prompt_hash
from tabwb.records.states import RatingStatus
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.judges import (
    JudgeSummary,
    Terms,
    cause_of_ratings,
    cause_of_status,
    order_of,
    summarise_judge,
    terms_of,
    undeclared,
)
from tabwb.report.summaries.live.counted import CountedResponse
from tabwb.scoring.burden import RatedResponse, count_rated
from tabwb.scoring.text import words


def summarise_judges(
    source: Source, rows: Sequence[CountedResponse], *, interval: bool = False
) -> tuple[JudgeSummary, ...]:
    """Return every judge that rated anything, in order of appearance; then people by code.

    A rater is a judge when it declared itself one, or rated a feature of the battery and is not a
    scorer of the subtest.
    """
    every = [response for row in rows for response in (row, *row.duplicates)]
    strays = _strays(source)
    return tuple(
        _summarise(source, rows, rater, every, strays, interval=interval)
        for rater in sorted(
            _raters(source, every),
            key=lambda rater: order_of(rater, source.declarations.get(rater)),
        )
    )


def _raters(source: Source, rows: Sequence[CountedResponse]) -> list[str]:
    features = {feature.id for feature in source.battery.features}
    raters: dict[str, None] = {}
    for row in rows:
        for rating in row.trial.ratings:
            declared = source.declarations.get(rating.rater)
            if (
                rating.measure in features and rating.rater not in row.subtest.scorers
                if declared is None
                else declared.kind != "scorer" and declared.features
            ):
                raters[rating.rater] = None
    return list(raters)


def _rated(rows: Sequence[CountedResponse], rater: str) -> set[str]:
    """Return what belongs to the set of a rater that declared none; see ``undeclared``."""
    rated: set[str] = set()
    never: set[str] = set()
    for row in rows:
        if row.subtest.task.connected:
            given = {name: rating.status for name, rating in row.rated_by(rater).items()}
            rated |= set(given)
            if RatingStatus.VALUE in given.values():
                never |= {name for name, kind in given.items() if kind is RatingStatus.UNDEFINED}
    return rated - never


def _strays(source: Source) -> Mapping[tuple[str, int, int], str]:
    """Return the verdicts under another prompt than declared: rater, trial, attempt to its hash."""
    strays: dict[tuple[str, int, int], str] = {}
    for judged in source.judged:
        call = judged.judgement
        declared = source.declarations.get(call.rater)
        if call.repeat or declared is None:
            continue
        where = (call.rater, judged.trial, judged.attempt)
        # A later verdict takes the place of an earlier one.
        strays.pop(where, None)
        if call.prompt_text != declared.prompt_text:
            strays[where] = prompt_hash(call.prompt_text) or "none"
    return strays


def _summarise(
    source: Source,
    rows: Sequence[CountedResponse],
    rater: str,
    every: Sequence[CountedResponse],
    strays: Mapping[tuple[str, int, int], str],
    *,
    interval: bool,
) -> JudgeSummary:
    declared = source.declarations.get(rater)
    terms = terms_of(source.battery, rater, declared or undeclared(rater, _rated(every, rater)))
    responses: list[RatedResponse] = []
    other_prompts: Counter[str] = Counter()
    not_judged, shared = 0, False
    for row in rows:
        # Of answers that count as one the one that this judge has judged stands for all.
        response = row.as_rated_by(rater)
        connected, ratings = row.subtest.task.connected, response.rated_by(rater)
        if response.usable and not ratings:
            not_judged += connected
        elif connected or (terms.scope == "all" and ratings):
            responses.append(_response(response, terms))
            shared |= response.shares_stream
            place = rater, response.trial.plan.number, response.attempt.number
            if place in strays:
                other_prompts[strays[place]] += 1
    return summarise_judge(
        source.battery,
        terms,
        declared,
        replace(count_rated(responses), clusters=source.battery.clusters),
        shared=shared,
        other_prompts=other_prompts,
        not_judged=not_judged,
        interval=interval,
    )


def _response(row: CountedResponse, terms: Terms) -> RatedResponse:
    given, text = row.rated_by(terms.rater), row.attempt.response
    if not row.usable and row.status is not None:
        cause = cause_of_status(row.status)
    else:
        ratings = ((name, given.get(name)) for name in terms.features)
        lacking = [
            (name, None, "") if rating is None else (name, rating.status, rating.reason)
            for name, rating in ratings
            if rating is None or rating.status is not RatingStatus.VALUE
        ]
        cause = cause_of_ratings(terms.features, lacking)
    return RatedResponse(
        (row.subtest.id, row.item.id),
        text,
        len(words(text)),
        present=None if cause else frozenset(one for one in terms.features if given[one].value),
        cause=cause,
        unusable=row.unusable,
        fixed=row.fixed,
    )
