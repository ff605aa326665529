"""The burden of each judge over the columns of a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.frame import NOT_RATED, Table, alike, side_of, unusable, usable_of
from tabwb.analysis.paired import Place, Side
from tabwb.records.ratings import CALIBRATED, Declaration, prompt_hash
from tabwb.records.states import RatingStatus
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
from tabwb.scoring.burden import RatedCounts
from tabwb.scoring.calibrated import Calibration
from tabwb.store.columns import STATUSES, Bools, Ints, Places, distinct, small
from tabwb.store.verdicts import STATUSES as RATING_STATUSES

VALUE = RATING_STATUSES.index(RatingStatus.VALUE)
UNDEFINED = RATING_STATUSES.index(RatingStatus.UNDEFINED)
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRows:
    """The responses in a judge's scope, each as it counts into the burden.

    Attributes:
        rows: of the table; a duplicate stands for the response as which it counts.
        names: of the items, and ``items``: places in these.
        present: of shape (rows, features of the judge), which are present: bool, or of a calibrated
            judge the probability that people find them.
        has_burden: whether a row has a burden; else its ``present`` says nothing.
        fixed: whether nothing was drawn; shared: whether it shares a random stream.
        clusters: of the battery's items.
        spreads: of a calibrated judge, by feature, the relative variance of p(1) - p(0).
    """

    rows: Ints
    names: Sequence[Place]
    items: Ints
    present: Bools | Floats
    has_burden: Bools
    fixed: Bools
    shared: Bools
    clusters: Mapping[Place, str]
    spreads: tuple[float, ...] = ()

    @property
    def burdens(self) -> Side:
        """The burdens by item."""
        return self.side(range(self.present.shape[1]))

    def side(self, features: Sequence[int]) -> Side:
        """Return how many of some features are present in responses with a burden, by item."""
        made = self._side_of(self.present[:, features].sum(axis=1, dtype=np.float64))
        if not self.spreads:
            return made
        parts = [(self.spreads[at], self._side_of(self.present[:, at])) for at in features]
        means = [
            (spread, {place: fsum(given) / len(given) for place, given in part.values.items()})
            for spread, part in parts
        ]
        return replace(made, calibrated=tuple(means))

    def _side_of(self, values: NDArray[Any]) -> Side:
        given = np.where(self.has_burden, values, np.nan)
        return side_of(self.names, self.items, given, self.fixed, self.shared, self.clusters)


def summarise_judges(table: Table, *, interval: bool = False) -> tuple[JudgeSummary, ...]:
    """Return every judge that rated anything, in order of appearance; then people by code."""
    by_place = _raters(table)
    connected = table.connected[table.counts]
    members: dict[Terms, list[Ints]] = {}
    declared: dict[Terms, Declaration | None] = {}
    not_judged: Counter[str] = Counter()
    seen: dict[tuple[int, str], Ints] = {}
    for rater in dict.fromkeys(rater for raters in by_place.values() for rater in raters):
        chosen = table.chosen(rater)
        # People rate samples: a response that they did not get is not theirs, usable or not.
        person = np.array([_is_person(source, rater) for source in table.sources])
        judged = ~table.usable[chosen] & ~person[table.source[chosen]]
        judged |= table.order(rater)[chosen] >= 0
        known = np.zeros(len(table.sources), bool)
        known[[place for place, raters in by_place.items() if rater in raters]] = True
        belongs = judged & known[table.source[chosen]]
        not_judged[rater] = int((~belongs & connected).sum())
        own = chosen[belongs]
        for place in np.flatnonzero(known).tolist():
            seen[place, rater] = own[table.source[own] == place]
    for place, raters in by_place.items():
        for rater in raters:
            given = table.sources[place].declarations.get(rater)
            taken = given or undeclared(rater, _rated(table, place, rater))
            terms = terms_of(table.battery, rater, taken)
            members.setdefault(terms, []).append(seen[place, rater])
            declared.setdefault(terms, given)
    return tuple(
        _summarise(
            table,
            np.concatenate(own),
            terms,
            declared[terms],
            not_judged[terms.rater],
            interval=interval,
        )
        for terms, own in sorted(
            members.items(), key=lambda one: order_of(one[0].rater, declared[one[0]])
        )
    )


def _is_person(source: AdministrationData, rater: str) -> bool:
    declared = source.declarations.get(rater)
    return declared is not None and declared.kind == "person"


def _raters(table: Table) -> dict[int, list[str]]:
    features = {feature.id for feature in table.battery.features}
    # Duplicates stand after the response as which they count.
    rank = np.argsort(np.lexsort((np.arange(len(table)), table.representative)))
    scored = {
        scorer: np.array([scorer in subtest.scorers for subtest in table.battery.subtests])
        for scorer in table.columns.ratings
    }
    first_rated: dict[int, list[tuple[int, int, str]]] = {}
    for rater, columns in table.columns.ratings.items():
        order = table.order(rater)
        rows = np.flatnonzero(order >= 0)
        place = table.source[rows]
        free = np.zeros(len(rows), bool)
        on_feature: Bools | None = None
        for at in distinct(place).tolist():
            declaration = table.sources[at].declarations.get(rater)
            here = place == at
            if declaration is not None:
                free[here] = declaration.kind != "scorer" and bool(declaration.features)
                continue
            if on_feature is None:
                rated = np.zeros(len(table), bool)
                for measure, ratings in columns.measures.items():
                    if measure in features:
                        rated |= table.spread(ratings).statuses != NOT_RATED
                on_feature = rated[rows] & ~scored[rater][table.subtest[rows]]
            free[here] = on_feature[here]
        for at in distinct(place[free]).tolist():
            own = np.flatnonzero(free & (place == at))
            first = rows[own[np.argmin(rank[rows[own]])]]
            first_rated.setdefault(at, []).append((int(rank[first]), int(order[first]), rater))
    return {at: [rater for *_, rater in sorted(first_rated[at])] for at in sorted(first_rated)}


def _rated(table: Table, place: int, rater: str) -> set[str]:
    """Return what belongs to the set of a rater that declared none; see ``undeclared``."""
    rows = np.flatnonzero((table.source == place) & table.connected)
    statuses = {
        measure: table.spread(ratings, rows).statuses
        for measure, ratings in table.columns.ratings[rater].measures.items()
    }
    valued = np.zeros(len(rows), bool)
    for given in statuses.values():
        valued |= given == VALUE
    return {
        measure
        for measure, given in statuses.items()
        if (given != NOT_RATED).any() and not (valued & (given == UNDEFINED)).any()
    }


def _summarise(
    table: Table,
    own: Ints,
    terms: Terms,
    declared: Declaration | None,
    not_judged: int,
    *,
    interval: bool,
) -> JudgeSummary:
    inside = table.connected[own]
    if terms.scope == "all":
        inside |= table.order(terms.rater)[own] >= 0
    rows = own[inside]
    present = np.zeros((len(rows), len(terms.features)), bool)
    causes, names = _rate(table, rows, terms, present)
    scores, calibration = _calibrated(table, rows, terms, present)
    return summarise_judge(
        table.battery,
        terms,
        declared,
        replace(_counts(table, rows, terms, present, causes, names), calibration=calibration),
        shared=bool(table.shared[rows].any()),
        other_prompts=_other_prompts(table, rows, terms),
        not_judged=not_judged,
        judged=JudgedRows(
            small(rows),
            table.columns.places,
            small(table.place[rows]),
            scores,
            causes == 0,
            table.fixed[rows],
            table.shared[rows],
            table.battery.clusters,
            tuple(one.relative_variance for one in calibration.values()),
        ),
        interval=interval,
    )


def _calibrated(
    table: Table, rows: Ints, terms: Terms, present: Bools
) -> tuple[Bools | Floats, Mapping[str, Calibration]]:
    """Return what each feature of each response counts, and of a calibrated judge by what.

    Its ``present`` becomes that of the judge itself.
    """
    known = table.columns.ratings[terms.rater].calibration
    if not known:
        return present, {}
    scores = np.zeros(present.shape)
    for at, feature in enumerate(terms.features):
        scores[:, at] = np.nan_to_num(table.measure(terms.rater, feature, rows).values)
        verdict = table.measure(terms.rater.removeprefix(CALIBRATED), feature, rows).values
        present[:, at] = verdict == 1
    return scores, {feature: known[feature] for feature in terms.features}


def _rate(table: Table, rows: Ints, terms: Terms, present: Bools) -> tuple[Ints, Places[str]]:
    """Set which features are present, and return why responses have no burden.

    Of each response it is a place in the causes; 0 where it has a burden.
    """
    # Responses that lack the values of the same features, for the same reasons, are alike.
    which: Ints = np.zeros(len(rows), np.int64)
    kinds: list[tuple[tuple[str, RatingStatus | None, str], ...]] = [()]
    for at, feature in enumerate(terms.features):
        given = table.measure(terms.rater, feature, rows)
        present[:, at] = ~np.isnan(given.values) & (given.values != 0)
        if not (given.statuses != VALUE).any():
            continue
        told = np.where(given.statuses == UNDEFINED, given.reasons.astype(np.int64) + 1, 0)
        first, _, following = alike(
            (which, len(kinds)),
            (given.statuses - NOT_RATED, len(RATING_STATUSES) + 1),
            (told, int(told.max()) + 1),
        )
        kinds = [
            kinds[before]
            if status == VALUE
            else (*kinds[before], _lacking(table, feature, status, reason - 1))
            for before, status, reason in zip(
                which[first].tolist(),
                given.statuses[first].tolist(),
                told[first].tolist(),
                strict=True,
            )
        ]
        which = following
    names = Places[str]({"": 0})
    causes = np.array([names[cause_of_ratings(terms.features, kind)] for kind in kinds])[which]
    spoilt = unusable(table, rows)
    of_status = np.array([names[cause_of_status(status)] for status in STATUSES])
    return np.where(spoilt < 0, causes, of_status[spoilt]), names


def _lacking(
    table: Table, feature: str, status: int, reason: int
) -> tuple[str, RatingStatus | None, str]:
    known = None if status == NOT_RATED else RATING_STATUSES[status]
    return feature, known, table.columns.reasons.get(reason, "")


def _counts(
    table: Table, rows: Ints, terms: Terms, present: Bools, causes: Ints, names: Places[str]
) -> RatedCounts:
    own, given = rows[causes == 0], present[causes == 0]
    clusters, known = table.clusters
    first, times, _ = alike((clusters[own], len(known)), *((column, 2) for column in given.T))
    profiles: dict[Hashable, dict[frozenset[str], int]] = {}
    for cluster, profile, n in zip(
        clusters[own[first]].tolist(), given[first].tolist(), times.tolist(), strict=True
    ):
        features = frozenset(compress(terms.features, profile))
        profiles.setdefault(known[cluster], {})[features] = n
    without = np.bincount(causes[causes > 0], minlength=len(names)).tolist()
    lost = np.bincount(clusters[rows[~table.usable[rows]]], minlength=len(known)).tolist()
    usable = table.usable[rows]
    return RatedCounts(
        profiles,
        no_burden={cause: n for cause, n in zip(names, without, strict=True) if n},
        n_distinct=len(distinct(table.text[rows])),
        words=int(table.columns.responses.sizes[table.text[rows][usable]].sum()),
        usable=usable_of(table, rows),
        fixed=bool(len(own)) and bool(table.fixed[own].all()),
        clusters=table.battery.clusters,
        lost={known[at]: int(n) for at, n in enumerate(lost) if n},
    )


def _other_prompts(table: Table, rows: Ints, terms: Terms) -> Mapping[str, int]:
    columns = table.columns.ratings[terms.rater]
    judged, prompts = table.values_at(columns.judged, columns.prompts)
    used = np.full(len(table), -1, np.int64)
    used[judged] = prompts
    own = rows[used[rows] >= 0]
    size = int(used.max(initial=0)) + 1
    first, times, _ = alike((table.source[own], len(table.sources)), (used[own], size))
    counts: Counter[str] = Counter()
    for place, number, n in zip(
        table.source[own[first]].tolist(), used[own[first]].tolist(), times.tolist(), strict=True
    ):
        declared = table.sources[place].declarations.get(terms.rater)
        prompt = table.columns.prompts[number]
        if declared is not None and prompt != declared.prompt_text:
            counts[prompt_hash(prompt) or "none"] += n
    return counts
