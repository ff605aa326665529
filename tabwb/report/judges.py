"""What is said of the responses under each judge: symptom burden with its scope and set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tabwb.battery.model import Battery
from tabwb.records.states import RatingStatus, ResponseKind, ResponseStatus
from tabwb.report.counted import Counted
from tabwb.scoring.burden import Burden, CategoryBurden, RatedResponse, symptom_burden
from tabwb.scoring.text import words

Scope = Literal["connected-text", "all"]


@dataclass(frozen=True, slots=True)
class JudgeScope:
    """Over what a rater's burden is computed.

    Attributes:
        rater: as it stands in the ratings.
        features: the fixed set: every feature that the rater can call present *and* absent.
        scope: ``connected-text``, or ``all`` responses that the rater has rated.
    """

    rater: str
    features: tuple[str, ...]
    scope: Scope = "connected-text"


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """One judge's burden.

    Attributes:
        groupings: grouping to its categories' burdens; the battery's first one is shown first.
    """

    rater: str
    scope: Scope
    burden: Burden
    groupings: Mapping[str, Mapping[str, CategoryBurden]] = field(default_factory=dict)

    @property
    def categories(self) -> Mapping[str, CategoryBurden]:
        """The categories of the first grouping."""
        return self.burden.categories


def summarise_judges(
    battery: Battery,
    rows: Sequence[Counted],
    scopes: Sequence[JudgeScope] = (),
    *,
    interval: bool = False,
) -> tuple[JudgeSummary, ...]:
    """Every judge that rated anything, in order of appearance.

    A rater is a judge when it rated a feature of the battery. Its fixed set and scope are those of
    ``scopes``; without one see :func:`default_scope`.
    """
    given = {scope.rater: scope for scope in scopes}
    return tuple(
        _summarise(
            battery,
            rows,
            given.get(rater) or default_scope(battery, rows, rater),
            interval=interval,
        )
        for rater in _raters(battery, rows)
    )


def default_scope(battery: Battery, rows: Sequence[Counted], rater: str) -> JudgeScope:
    """The set and scope of a rater of which nothing else is known.

    ``rules-1`` has its seven two-sided features. Of any other rater the set is every feature that
    it has not called undefined throughout.
    """
    if rater == "rules-1":
        from tabwb.scoring.rules.features import TWO_SIDED

        known = set(TWO_SIDED)
    else:
        known = {
            rating.measure
            for row in rows
            for rating in row.trial.ratings
            if rating.rater == rater and rating.status is not RatingStatus.UNDEFINED
        }
    return JudgeScope(
        rater, tuple(feature.id for feature in battery.features if feature.id in known)
    )


def _raters(battery: Battery, rows: Sequence[Counted]) -> list[str]:
    features = {feature.id for feature in battery.features}
    found: dict[str, None] = {}
    for row in rows:
        for rating in row.trial.ratings:
            if rating.measure in features and rating.rater not in row.subtest.scorers:
                found[rating.rater] = None
    return list(found)


def _summarise(
    battery: Battery, rows: Sequence[Counted], scope: JudgeScope, *, interval: bool
) -> JudgeSummary:
    # Administrations that this judge has not seen at all are no gap in its work.
    seen = {
        row.source
        for row in rows
        if any(rating.rater == scope.rater for rating in row.trial.ratings)
    }
    responses = [_rated(row, scope) for row in rows if row.source in seen and _in_scope(row, scope)]
    groupings = {
        grouping.id: {category.id: category.features for category in grouping.categories}
        for grouping in battery.groupings
    }
    first = next(iter(groupings.values()), {})
    burden = symptom_burden(responses, scope.features, first, interval=interval)
    return JudgeSummary(
        scope.rater,
        scope.scope,
        burden,
        {
            name: burden.categories
            if categories is first
            else symptom_burden(responses, scope.features, categories).categories
            for name, categories in groupings.items()
        },
    )


def _in_scope(row: Counted, scope: JudgeScope) -> bool:
    if scope.scope == "all":
        return any(rating.rater == scope.rater for rating in row.trial.ratings)
    return row.subtest.response is ResponseKind.CONNECTED_TEXT


def _rated(row: Counted, scope: JudgeScope) -> RatedResponse:
    ratings = {
        rating.measure: rating for rating in row.trial.ratings if rating.rater == scope.rater
    }
    text = row.attempt.response
    statuses = [
        ratings[feature].status if feature in ratings else None for feature in scope.features
    ]
    present: frozenset[str] | None = None
    cause = _cause(row, statuses)
    if not cause:
        present = frozenset(feature for feature in scope.features if ratings[feature].value)
    return RatedResponse(row.cluster, text, len(words(text)), present, cause)


def _cause(row: Counted, statuses: Sequence[RatingStatus | None]) -> str:
    """Why a response has no burden; empty when it has one. The gravest cause is named."""
    if row.attempt.status is ResponseStatus.EMPTY:
        return "no-response"
    if not statuses:
        return "no-feature"
    if None in statuses:
        return "not-rated"
    for failure in (RatingStatus.ERROR, RatingStatus.UNPARSED):
        if failure in statuses:
            return failure.value
    if RatingStatus.UNDEFINED in statuses:
        kind = row.attempt.status or ResponseStatus.OK
        return "undefined" if kind is ResponseStatus.OK else kind.value
    return ""
