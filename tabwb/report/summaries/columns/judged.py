"""The burden of each judge over the columns of a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.records.ratings import Declaration, prompt_hash
from tabwb.records.states import RatingStatus
from tabwb.report.summaries.columns.prepared import Bools
from tabwb.report.summaries.columns.table import (
    EMPTY,
    NOT_RATED,
    Table,
    distinct,
    side_of,
    unusable,
    usable_of,
)
from tabwb.report.summaries.draws import without_draws
from tabwb.report.summaries.judges import UNUSABLE, JudgeSummary, Terms, groupings_of
from tabwb.report.summaries.paired import Place, Side
from tabwb.scoring.burden import (
    NO_BURDEN,
    NO_USABLE,
    Burden,
    CategoryBurden,
)
from tabwb.scoring.estimate import Estimand, Estimate, EstimatedInterval, ratio
from tabwb.scoring.intervals import burden_interval
from tabwb.store.column_ratings import Ints, small
from tabwb.store.column_rows import STATUSES, Places
from tabwb.store.write import STATUSES as RATING_STATUSES

VALUE, UNDEFINED, UNPARSED, ERROR = (RATING_STATUSES.index(status) for status in (
    RatingStatus.VALUE, RatingStatus.UNDEFINED, RatingStatus.UNPARSED, RatingStatus.ERROR
))  # fmt: skip
_NAMES = [status.value for status in STATUSES]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRows:
    """The responses in a judge's scope, each as it counts into the burden.

    Attributes:
        rows: of the table; a duplicate stands for the response as which it counts.
        names: of the items, and ``items``: places in these.
        present: bool of shape (rows, features of the judge): which are present.
        has_burden: whether a row has a burden; else its ``present`` says nothing.
        fixed: whether nothing was drawn; shared: whether it shares a random stream.
    """

    rows: Ints
    names: Sequence[Place]
    items: Ints
    present: Bools
    has_burden: Bools
    fixed: Bools
    shared: Bools

    @property
    def burdens(self) -> Side:
        """The burdens by item."""
        return self.side(self.present.sum(axis=1))

    def side(self, values: NDArray[Any]) -> Side:
        """Return values of the responses with a burden, one for each row, by item."""
        given = np.where(self.has_burden, values, np.nan)
        return side_of(self.names, self.items, given, self.fixed, self.shared)


def summarise_judges(table: Table, *, interval: bool = False) -> tuple[JudgeSummary, ...]:
    """Return every judge that rated anything, in order of appearance.

    Args:
        table: the group.
        interval: compute the intervals of burdens too.
    """
    by_place = _raters(table)
    connected = np.array([subtest.task.connected for subtest in table.battery.subtests])
    counted = np.flatnonzero(table.counts)
    members: dict[Terms, list[Ints]] = {}
    declared: dict[Terms, Declaration | None] = {}
    not_judged: Counter[str] = Counter()
    known_features = [feature.id for feature in table.battery.features]
    seen: dict[tuple[int, str], Ints] = {}
    for rater in dict.fromkeys(rater for raters in by_place.values() for rater in raters):
        chosen = table.chosen(rater)
        rated = np.zeros(len(table), bool)
        rated[table.rated_rows(rater)[0]] = True
        judged = ~table.usable[chosen] | rated[chosen]
        known = np.zeros(len(table.sources), bool)
        known[[place for place, raters in by_place.items() if rater in raters]] = True
        belongs = judged & known[table.source[chosen]]
        not_judged[rater] = int((~belongs & connected[table.subtest[counted]]).sum())
        own = chosen[belongs]
        for place in np.flatnonzero(known).tolist():
            seen[place, rater] = own[table.source[own] == place]
    for place, raters in by_place.items():
        for rater in raters:
            given = table.sources[place].declarations.get(rater)
            declaration = given or _undeclared(table, place, rater)
            features = tuple(id_ for id_ in known_features if id_ in declaration.features)
            terms = Terms(rater, features, declaration.scope, declaration.prompt_hash)
            members.setdefault(terms, []).append(seen[place, rater])
            declared.setdefault(terms, given)
    return tuple(
        replace(
            _summarise(table, np.concatenate(own), terms, declared[terms], interval=interval),
            not_judged=not_judged[terms.rater],
        )
        for terms, own in members.items()
    )


def _raters(table: Table) -> dict[int, list[str]]:
    features = {feature.id for feature in table.battery.features}
    # Duplicates stand after the response as which they count.
    order = np.lexsort((np.arange(len(table)), table.representative))
    rank = np.empty(len(table), np.int64)
    rank[order] = np.arange(len(table))
    scored = {
        scorer: np.array([scorer in subtest.scorers for subtest in table.battery.subtests])
        for scorer in table.columns.ratings
    }
    first_rated: dict[int, list[tuple[int, int, str]]] = {}
    for rater, columns in table.columns.ratings.items():
        rows, first = table.rated_rows(rater)
        place = table.source[rows]
        free = np.zeros(len(rows), bool)
        on_feature: Bools | None = None
        for at in np.unique(place).tolist():
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
        for at in np.unique(place[free]).tolist():
            own = np.flatnonzero(free & (place == at))
            best = own[np.argmin(rank[rows[own]])]
            first_rated.setdefault(at, []).append((int(rank[rows[best]]), int(first[best]), rater))
    return {at: [rater for *_, rater in sorted(first_rated[at])] for at in sorted(first_rated)}


def _undeclared(table: Table, place: int, rater: str) -> Declaration:
    connected = np.array([subtest.task.connected for subtest in table.battery.subtests])
    rows = np.flatnonzero((table.source == place) & connected[table.subtest])
    statuses = {
        measure: table.spread(ratings, rows).statuses
        for measure, ratings in table.columns.ratings[rater].measures.items()
    }
    valued = np.zeros(len(rows), bool)
    for given in statuses.values():
        valued |= given == VALUE
    known = {
        measure
        for measure, given in statuses.items()
        if (given != NOT_RATED).any() and not (valued & (given == UNDEFINED)).any()
    }
    features = (feature.id for feature in table.battery.features)
    return Declaration(rater, tuple(feature for feature in features if feature in known))


def _summarise(
    table: Table, own: Ints, terms: Terms, declared: Declaration | None, *, interval: bool
) -> JudgeSummary:
    connected = np.array([subtest.task.connected for subtest in table.battery.subtests])
    rated = np.zeros(len(table), bool)
    rated[table.rated_rows(terms.rater)[0]] = True
    scope = connected[table.subtest[own]] | (terms.scope == "all") & rated[own]
    rows = own[scope]
    present, causes = _present(table, rows, terms)
    burden = _burden(table, rows, present, causes, terms.features, interval=interval)
    categories = {
        name: {
            category: _category(present[causes.codes == 0], terms.features, frozenset(members))
            for category, members in grouping.items()
        }
        for name, grouping in groupings_of(table.battery).items()
    }
    burden = replace(burden, categories=next(iter(categories.values()), {}))
    if table.shared[rows].any():
        burden = replace(burden, intervals=tuple(map(without_draws, burden.intervals)))
    return JudgeSummary(
        terms.rater,
        terms.scope,
        burden,
        caution=declared.caution if declared else "",
        prompt_hash=terms.prompt_hash,
        declared=declared is not None,
        groupings=categories,
        other_prompts=_other_prompts(table, rows, terms),
        judged=JudgedRows(
            small(rows),
            table.columns.places,
            small(table.place[rows]),
            present,
            causes.codes == 0,
            table.fixed[rows],
            table.shared[rows],
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Causes:
    """Why responses have no burden: a place in ``names`` for each; 0 where it has one."""

    codes: Ints
    names: tuple[str, ...]


def _present(table: Table, rows: Ints, terms: Terms) -> tuple[Bools, _Causes]:
    """Return which features are present, (responses x features), and why there is no burden."""
    features, n = terms.features, len(rows)
    present = np.zeros((n, len(features)), bool)
    unparsed, failed, missing = (np.zeros(n, bool) for _ in range(3))
    # Of each response the features that are undefined, with the ids of their reasons.
    pattern: Ints = np.zeros(n, np.int64)
    patterns = [tuple[tuple[int, int], ...]()]
    for at, feature in enumerate(features):
        given = table.measure(terms.rater, feature, rows)
        present[:, at] = ~np.isnan(given.values) & (given.values != 0)
        unparsed |= given.statuses == UNPARSED
        failed |= given.statuses == ERROR
        missing |= given.statuses == NOT_RATED
        undefined = np.where(given.statuses == UNDEFINED, given.reasons.astype(np.int64) + 1, 0)
        if undefined.any():
            size = int(undefined.max()) + 1
            codes, _, pattern = distinct(pattern * size + undefined, len(patterns) * size)
            patterns = [
                (*patterns[before], (at, reason - 1)) if reason else patterns[before]
                for before, reason in (divmod(code, size) for code in codes.tolist())
            ]
    names = Places[str]({"": 0})
    causes = np.array([names[_undefined(table, terms, own)] for own in patterns])[pattern]
    causes[unparsed] = names[RatingStatus.UNPARSED.value]
    causes[failed] = names[RatingStatus.ERROR.value]
    causes[missing] = names["not-rated"]
    if not features:
        causes[:] = names["no-feature"]
    spoilt = unusable(table, rows)
    causes = np.where(spoilt < 0, causes, np.array([names[name] for name in _NAMES])[spoilt])
    causes[table.status[rows] == EMPTY] = names["no-response"]
    return present, _Causes(causes, tuple(names))


def _undefined(table: Table, terms: Terms, undefined: Sequence[tuple[int, int]]) -> str:
    """Return why features are undefined, given their places and the ids of the reasons."""
    named, words = "", ""
    for at, number in undefined:
        reason = table.columns.reasons.get(number, "")
        status = reason.partition(":")[0]
        if not named and status in UNUSABLE:
            named = status
        if not words and reason:
            words = f"{terms.features[at]} undefined: {reason}"
    return named or words or ("undefined" if undefined else "")


def _burden(
    table: Table,
    rows: Ints,
    present: Bools,
    causes: _Causes,
    features: Sequence[str],
    *,
    interval: bool,
) -> Burden:
    has = causes.codes == 0
    profiles = present[has]
    sizes = profiles.sum(axis=1)
    clusters, names = table.clusters
    own = clusters[rows[has]]
    # Items in the order of their text, as ``symptom_burden`` has them.
    by_text = sorted(range(len(names)), key=lambda at: str(names[at]))
    used = [at for at in by_text if (own == at).any()]
    fixed = bool(has.any()) and bool(table.fixed[rows[has]].all())
    intervals: tuple[EstimatedInterval, ...] = ()
    if interval:
        values = [sizes[own == at].astype(float).tolist() for at in used]
        intervals = tuple(
            burden_interval(values, len(features), estimand, deterministic=fixed)
            for estimand in Estimand
        )
    usable = table.usable[rows]
    missing = np.bincount(causes.codes[~has], minlength=len(causes.names)).tolist()
    without = {name: n for name, n in zip(causes.names, missing, strict=True) if n}
    counts = np.bincount(own, minlength=len(names))
    hits = {
        name: np.bincount(own, weights=profiles[:, at], minlength=len(names))
        for at, name in enumerate(features)
    }
    return Burden(
        features=tuple(features),
        n_responses=len(rows),
        n_distinct=len(np.unique(table.text[rows])),
        words_mean=ratio(
            int(table.prepared.words[table.text[rows][usable]].sum()), int(usable.sum()), NO_USABLE
        ),
        n_burden=int(has.sum()),
        no_burden=dict(sorted(without.items())),
        symptom_burden=ratio(int(sizes.sum()), int(has.sum()), NO_BURDEN),
        intervals=intervals,
        present={name: int(profiles[:, at].sum()) for at, name in enumerate(features)},
        usable=usable_of(table, rows),
        hits={name: tuple(int(of[at]) for at in used) for name, of in hits.items()},
        sizes=tuple(int(counts[at]) for at in used),
        fixed=fixed,
    )


def _category(profiles: Bools, features: Sequence[str], members: frozenset[str]) -> CategoryBurden:
    own = [at for at, feature in enumerate(features) if feature in members]
    if not own:
        nothing = Estimate(None, "the rater's set has no feature of this category")
        return CategoryBurden(nothing, nothing, 0)
    sizes = profiles[:, own].sum(axis=1)
    return CategoryBurden(
        count=ratio(int(sizes.sum()), len(sizes), NO_BURDEN),
        rate=ratio(int((sizes > 0).sum()), len(sizes), NO_BURDEN),
        of=len(own),
    )


def _other_prompts(table: Table, rows: Ints, terms: Terms) -> Mapping[str, int]:
    columns = table.columns.ratings[terms.rater]
    judged, prompts = table.values_at(columns.judged, columns.prompts)
    used = np.full(len(table), -1, np.int64)
    used[judged] = prompts
    own = rows[used[rows] >= 0]
    size = int(used.max(initial=0)) + 1
    codes, times, _ = distinct(table.source[own] * size + used[own], len(table.sources) * size)
    counts: Counter[str] = Counter()
    for (place, number), n in zip(
        (divmod(code, size) for code in codes.tolist()), times.tolist(), strict=True
    ):
        declared = table.sources[place].declarations.get(terms.rater)
        prompt = table.columns.prompts[number]
        if declared is not None and prompt != declared.prompt_text:
            counts[prompt_hash(prompt) or "none"] += n
    return counts
