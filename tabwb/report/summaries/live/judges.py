"""The burden of each judge of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tabwb.battery.model import Battery
from tabwb.records.ratings import Declaration, Rating, prompt_hash
from tabwb.records.states import RatingStatus, ResponseStatus
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.draws import without_draws
from tabwb.report.summaries.judges import UNUSABLE, JudgeSummary, Terms, groupings_of
from tabwb.report.summaries.live.counted import CountedResponse
from tabwb.scoring.burden import RatedResponse, symptom_burden
from tabwb.scoring.text import words


def summarise_judges(
    sources: Sequence[Source], rows: Sequence[CountedResponse], *, interval: bool = False
) -> tuple[JudgeSummary, ...]:
    """Return every judge that rated anything, in order of appearance.

    A rater is a judge when it declared itself one, or rated a feature of the battery and is not a
    scorer of the subtest. Administrations in which a judge declared different sets, scopes or
    prompts are kept apart: burdens over different sets are not put together.

    Args:
        sources: administrations of one battery.
        rows: their responses that count.
        interval: compute the intervals of burdens too.
    """
    battery = sources[0].battery
    members: dict[Terms, list[CountedResponse]] = {}
    declared: dict[Terms, Declaration | None] = {}
    by_source: dict[int, list[CountedResponse]] = {}
    for row in rows:
        for response in (row, *row.duplicates):
            by_source.setdefault(response.source, []).append(response)
    seen: dict[tuple[int, str], list[CountedResponse]] = {
        (place, rater): []
        for place, own in sorted(by_source.items())
        for rater in _raters(battery, own, sources[place].declarations)
    }
    not_judged: Counter[str] = Counter()
    for rater in dict.fromkeys(rater for _, rater in seen):
        for row in rows:
            # Of answers that count as one the one that this judge has judged stands for all.
            response = row.as_rated_by(rater)
            if _is_judged(response, rater) and (response.source, rater) in seen:
                seen[response.source, rater].append(response)
            elif row.subtest.task.connected:
                not_judged[rater] += 1
    for (place, rater), own in seen.items():
        given = sources[place].declarations.get(rater)
        taken = given or undeclared(battery, by_source[place], rater)
        # In the battery's order; of a feature that it does not have there are no ratings.
        features = tuple(feature.id for feature in battery.features if feature.id in taken.features)
        terms = Terms(rater, features, taken.scope, taken.prompt_hash)
        members.setdefault(terms, []).extend(own)
        declared.setdefault(terms, given)
    strays = _strays(sources)
    return tuple(
        replace(
            _summarise(battery, own, terms, declared[terms], strays, interval=interval),
            not_judged=not_judged[terms.rater],
        )
        for terms, own in members.items()
    )


def undeclared(battery: Battery, rows: Sequence[CountedResponse], rater: str) -> Declaration:
    """Return the terms of a rater that declared none, as in an older store.

    The scope is connected text. The set is every feature that the rater rated there and never left
    undefined in an answer to which it gave any value: a feature that is never found absent is
    thereby left out, unless it was found in every answer.

    Args:
        battery: that was given.
        rows: the responses of one administration.
        rater: who rated them.
    """
    rated: set[str] = set()
    never: set[str] = set()
    for row in rows:
        if not row.subtest.task.connected:
            continue
        given = {
            rating.measure: rating.status for rating in row.trial.ratings if rating.rater == rater
        }
        rated |= set(given)
        if RatingStatus.VALUE in given.values():
            never |= {name for name, kind in given.items() if kind is RatingStatus.UNDEFINED}
    with_verdict = rated - never
    return Declaration(
        rater, tuple(feature.id for feature in battery.features if feature.id in with_verdict)
    )


def _raters(
    battery: Battery, rows: Sequence[CountedResponse], declarations: Mapping[str, Declaration]
) -> list[str]:
    features = {feature.id for feature in battery.features}
    raters: dict[str, None] = {}
    for row in rows:
        for rating in row.trial.ratings:
            declared = declarations.get(rating.rater)
            if (
                rating.measure in features and rating.rater not in row.subtest.scorers
                if declared is None
                else declared.kind != "scorer" and declared.features
            ):
                raters[rating.rater] = None
    return list(raters)


Place = tuple[int, str, int, int]
"""Source, rater, trial, attempt."""


def _strays(sources: Sequence[Source]) -> Mapping[Place, str]:
    strays: dict[Place, str] = {}
    for place, source in enumerate(sources):
        for judged in source.judged:
            call = judged.judgement
            declared = source.declarations.get(call.rater)
            if call.repeat or declared is None:
                continue
            where = (place, call.rater, judged.trial, judged.attempt)
            # A later verdict takes the place of an earlier one.
            strays.pop(where, None)
            if call.prompt_text != declared.prompt_text:
                strays[where] = prompt_hash(call.prompt_text) or "none"
    return strays


def _summarise(
    battery: Battery,
    rows: Sequence[CountedResponse],
    terms: Terms,
    declared: Declaration | None,
    strays: Mapping[Place, str],
    *,
    interval: bool,
) -> JudgeSummary:
    judged = tuple((row, _rated(row, terms)) for row in rows if _in_scope(row, terms))
    responses = [response for _, response in judged]
    places = [
        (row.source, terms.rater, row.trial.plan.number, row.attempt.number) for row, _ in judged
    ]
    groupings = groupings_of(battery)
    first = next(iter(groupings.values()), {})
    burden = symptom_burden(responses, terms.features, first, interval=interval)
    if any(row.shares_stream for row, _ in judged):
        burden = replace(burden, intervals=tuple(map(without_draws, burden.intervals)))
    return JudgeSummary(
        terms.rater,
        terms.scope,
        burden,
        caution=declared.caution if declared else "",
        prompt_hash=terms.prompt_hash,
        declared=declared is not None,
        groupings={
            name: burden.categories
            if categories is first
            else symptom_burden(responses, terms.features, categories).categories
            for name, categories in groupings.items()
        },
        other_prompts=Counter(strays[place] for place in places if place in strays),
    )


def _is_judged(row: CountedResponse, rater: str) -> bool:
    return not row.usable or any(rating.rater == rater for rating in row.trial.ratings)


def _in_scope(row: CountedResponse, terms: Terms) -> bool:
    if row.subtest.task.connected:
        return True
    return terms.scope == "all" and any(rating.rater == terms.rater for rating in row.trial.ratings)


def _rated(row: CountedResponse, terms: Terms) -> RatedResponse:
    ratings = {
        rating.measure: rating for rating in row.trial.ratings if rating.rater == terms.rater
    }
    text = row.attempt.response
    cause = _cause(row, terms, ratings)
    present = None if cause else frozenset(name for name in terms.features if ratings[name].value)
    return RatedResponse(
        row.cluster, text, len(words(text)), present, cause, row.unusable, row.fixed
    )


def _cause(row: CountedResponse, terms: Terms, ratings: Mapping[str, Rating]) -> str:
    """Return why a response has no burden, the gravest cause; empty when it has one."""
    if row.status is ResponseStatus.EMPTY:
        return "no-response"
    if row.unusable:
        return row.unusable
    given = [ratings.get(feature) for feature in terms.features]
    statuses = [None if rating is None else rating.status for rating in given]
    if not statuses:
        return "no-feature"
    if None in statuses:
        return "not-rated"
    for failure in (RatingStatus.ERROR, RatingStatus.UNPARSED):
        if failure in statuses:
            return failure.value
    undefined = (rating for rating in given if rating and rating.status is RatingStatus.UNDEFINED)
    reasons = {rating.measure: rating.reason for rating in undefined}
    for reason in reasons.values():
        if (named := reason.partition(":")[0]) in UNUSABLE:
            return named
    for feature, reason in reasons.items():
        if reason:
            return f"{feature} undefined: {reason}"
    return "undefined" if reasons else ""
