"""The burden of each judge with its scope and set, as declared when it judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.draws import without_draws
from tabwb.analysis.frame import NOT_RATED, Place, Side, Table, alike, side_of, unusable, usable_of
from tabwb.analysis.measures import (
    BURDEN,
    CATEGORY_COUNT,
    CATEGORY_RATE,
    FEATURE_RATE,
    WORDS_MEAN,
)
from tabwb.analysis.statistics.results import Result, Terms, count, counts_of, usable_counts
from tabwb.records.languages import NO_SPACES, is_unspaced_language
from tabwb.records.ratings import CALIBRATED, Declaration, is_derived, prompt_hash
from tabwb.records.states import RatingStatus, ResponseStatus
from tabwb.scoring.burden import Burden, CategoryBurden, RatedCounts, burden_of, categories_of
from tabwb.scoring.calibrated import Calibration
from tabwb.scoring.estimate import Estimate
from tabwb.scoring.intervals import Totals
from tabwb.store.columns import STATUSES, Bools, Ints, Places, distinct, small
from tabwb.store.verdicts import STATUSES as RATING_STATUSES

VALUE, UNDEFINED = map(RATING_STATUSES.index, (RatingStatus.VALUE, RatingStatus.UNDEFINED))
Floats = NDArray[np.float64]
UNUSABLE = frozenset(status.value for status in ResponseStatus if not status.usable)
"""Response statuses that a stored reason may begin with."""


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


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge under one set of terms. A rater that judged under several is several judges.

    Attributes:
        judged: the responses in scope; None where they were let go.
        declared: whether set and scope are what the judge declared; else see :func:`_rated`.
        groupings: grouping to its categories' burdens; the battery's first one is shown first.
        other_prompts: SHA-256 of other prompts than the declared one, because judging anew was not
            finished, to how many of the verdicts in scope were given under it.
        not_judged: connected texts that count and that this rater has not judged under any terms;
            they are in no figure of the burden.
        shown: features that tables of features have; empty: all of the set.
    """

    terms: Terms
    burden: Burden
    judged: JudgedRows | None = field(default=None, repr=False, compare=False)
    caution: str = ""
    declared: bool = True
    groupings: Mapping[str, Mapping[str, CategoryBurden]] = field(default_factory=dict)
    other_prompts: Mapping[str, int] = field(default_factory=dict)
    not_judged: int = 0
    shown: tuple[str, ...] = ()

    @property
    def rater(self) -> str:
        """Its id."""
        return self.terms.rater

    @property
    def rows(self) -> JudgedRows:
        """The responses in scope."""
        assert self.judged is not None
        return self.judged

    @property
    def features(self) -> tuple[str, ...]:
        """The features of its set that tables of features have."""
        every = self.terms.features
        return tuple(one for one in every if one in self.shown) if self.shown else every

    def results(self) -> Iterator[Result]:
        """Yield the burden, then the rates of features and of categories."""
        burden = self.burden
        own: dict[str, Any] = {
            "rater": self.rater,
            "terms": self.terms,
            "n": burden.n_burden,
            "n_items": burden.n_items,
            "usable": burden.usable,
        }
        yield Result(BURDEN.id, burden.symptom_burden, **own, total=burden.found,
                     bounds=burden.bounds, ends=lambda: burden.intervals)  # fmt: skip
        for feature in self.features:
            yield Result(
                FEATURE_RATE.id, burden.rate(feature), **own, feature=feature,
                total=burden.present[feature], bounds=burden.rate_bounds(feature),
                ends=partial(burden.rate_intervals, feature) if burden.intervals else tuple,
            )  # fmt: skip
        for name, category in burden.categories.items():
            ends = partial(burden.category_intervals, name)
            yield Result(CATEGORY_COUNT.id, category.count, **own, feature=name,
                         ends=partial(ends, rate=False))  # fmt: skip
            yield Result(CATEGORY_RATE.id, category.rate, **own, feature=name,
                         ends=partial(ends, rate=True))  # fmt: skip

    def counts(self) -> Iterator[Result]:
        """Yield what is counted of its responses."""
        burden = self.burden
        own: dict[str, Any] = {"rater": self.rater, "terms": self.terms}
        yield from usable_counts(burden.usable, **own)
        yield count("distinct", burden.n_distinct, **own)
        yield Result(WORDS_MEAN.id, burden.words_mean, n=burden.usable.usable, **own)
        for name, n in (
            ("features", len(burden.features)),
            ("not_judged", self.not_judged),
            ("most_features", burden.most),
            ("feature_correlation", burden.feature_correlation),
        ):
            yield count(name, n, **own)
        yield from counts_of("no_burden", burden.no_burden, **own)
        yield from counts_of("other_prompts", self.other_prompts, **own)
        sizes = {name: category.of for name, category in burden.categories.items()}
        yield from counts_of("category_size", sizes, **own)


def judges_in(table: Table, *, interval: bool = False) -> tuple[Judge, ...]:
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
        given = (source.declarations.get(rater) for source in table.sources)
        person = np.array([one is not None and one.kind == "person" for one in given])
        judged = ~table.usable[chosen] & ~person[table.source[chosen]]
        judged |= table.order(rater)[chosen] >= 0
        known = np.zeros(len(table.sources), bool)
        known[[place for place, raters in by_place.items() if rater in raters]] = True
        belongs = judged & known[table.source[chosen]]
        not_judged[rater] = int((~belongs & connected).sum())
        own = chosen[belongs]
        own = own[np.argsort(table.source[own], kind="stable")]
        places = np.flatnonzero(known)
        parts = np.split(own, np.searchsorted(table.source[own], places[1:]))
        seen |= {(place, rater): part for place, part in zip(places.tolist(), parts, strict=True)}
    of_declaration: dict[int, Terms] = {}  # by its id(): most administrations have the same one
    for place, raters in by_place.items():
        for rater in raters:
            one = table.sources[place].declarations.get(rater)
            terms = of_declaration.get(id(one))
            if one is None or terms is None:
                taken = one or Declaration(rater, tuple(_rated(table, place, rater)))
                features = tuple(
                    feature.id for feature in table.battery.features if feature.id in taken.features
                )
                terms = Terms(rater, features, taken.scope, taken.prompt_hash)
                of_declaration[id(one)] = terms
            members.setdefault(terms, []).append(seen[place, rater])
            declared.setdefault(terms, one)

    def order(terms: Terms) -> tuple[bool, bool, str]:
        """Judges as they come, people by code, then derived raters."""
        one = declared[terms]
        person = one is not None and one.kind == "person"
        return person, is_derived(terms.rater), terms.rater if person else ""

    return tuple(
        _judge(
            table,
            np.concatenate(members[terms]),
            terms,
            declared[terms],
            not_judged[terms.rater],
            interval=interval,
        )
        for terms in sorted(members, key=order)
    )


def _raters(table: Table) -> dict[int, list[str]]:
    """Return, by place of an administration, the raters whose set has features."""
    features = {feature.id for feature in table.battery.features}
    # Duplicates stand after the response as which they count.
    rank = np.argsort(np.lexsort((np.arange(len(table)), table.representative)))
    first_rated: dict[int, list[tuple[int, int, str]]] = {}
    for rater, columns in table.columns.ratings.items():
        order = table.order(rater)
        rows = np.flatnonzero(order >= 0)
        given = [source.declarations.get(rater) for source in table.sources]
        declared = [
            one is not None and one.kind != "scorer" and bool(one.features) for one in given
        ]
        free = np.array(declared)[table.source[rows]]
        undeclared = np.array([one is None for one in given])[table.source[rows]]
        if undeclared.any():
            rated = np.zeros(len(table), bool)
            for measure, ratings in columns.measures.items():
                if measure in features:
                    rated |= table.spread(ratings).statuses != NOT_RATED
            scores = np.array([rater in one.scorers for one in table.battery.subtests])
            free |= undeclared & rated[rows] & ~scores[table.subtest[rows]]
        own = rows[free]
        own = own[np.argsort(rank[own])]
        places, firsts = np.unique(table.source[own], return_index=True)
        for place, first in zip(places.tolist(), own[firsts].tolist(), strict=True):
            first_rated.setdefault(place, []).append((int(rank[first]), int(order[first]), rater))
    return {at: [rater for *_, rater in sorted(first_rated[at])] for at in sorted(first_rated)}


def _rated(table: Table, place: int, rater: str) -> Iterator[str]:
    """Yield the set of a rater that declared nothing, as in an older store.

    The scope is connected text. The set is every feature that the rater rated there and never left
    undefined in an answer to which it gave any value: a feature that is never found absent is
    thereby left out, unless it was found in every answer.
    """
    rows = np.flatnonzero((table.source == place) & table.connected)
    statuses = {
        measure: table.spread(ratings, rows).statuses
        for measure, ratings in table.columns.ratings[rater].measures.items()
    }
    valued = np.zeros(len(rows), bool)
    for given in statuses.values():
        valued |= given == VALUE
    for measure, given in statuses.items():
        if (given != NOT_RATED).any() and not (valued & (given == UNDEFINED)).any():
            yield measure


def _judge(
    table: Table,
    own: Ints,
    terms: Terms,
    declared: Declaration | None,
    not_judged: int,
    *,
    interval: bool,
) -> Judge:
    inside = table.connected[own]
    if terms.scope == "all":
        inside |= table.order(terms.rater)[own] >= 0
    rows, features = own[inside], terms.features
    present = np.zeros((len(rows), len(features)), bool, order="F")  # read by column
    causes, names = _rate(table, rows, terms, present)
    scores: Bools | Floats = present
    calibration: dict[str, Calibration] = {}
    if known := table.columns.ratings[terms.rater].calibration:
        # Each feature counts its probability; what is present is the judge's own verdict.
        calibration = {feature: known[feature] for feature in features}
        scores = np.zeros(present.shape)
        for at, feature in enumerate(features):
            scores[:, at] = np.nan_to_num(table.measure(terms.rater, feature, rows).values)
            verdict = table.measure(terms.rater.removeprefix(CALIBRATED), feature, rows).values
            present[:, at] = verdict == 1
    counts = _counts(table, rows, terms, present, causes, names, calibration)
    groupings = {
        grouping.id: categories_of(
            counts, features, {one.id: one.features for one in grouping.categories}
        )
        for grouping in table.battery.groupings
    }
    first = next(iter(groupings.values()), {})
    burden = burden_of(counts, features, first, interval=interval)
    if table.shared[rows].any():
        burden = replace(burden, intervals=tuple(map(without_draws, burden.intervals)))
    if is_unspaced_language(table.battery.language):
        burden = replace(burden, words_mean=Estimate(None, NO_SPACES))
    return Judge(
        terms,
        burden,
        JudgedRows(
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
        caution=declared.caution if declared else "",
        declared=declared is not None,
        groupings=groupings,
        other_prompts=_other_prompts(table, rows, terms),
        not_judged=not_judged,
    )


def _rate(table: Table, rows: Ints, terms: Terms, present: Bools) -> tuple[Ints, Places[str]]:
    """Set which features are present, and return why responses have no burden.

    Of each response it is a place in the causes; 0 where it has a burden. It is the status that
    makes the response unusable, else the gravest cause of a feature without a value, the first of
    equal ones.
    """
    names = Places[str]({"": 0})
    causes = np.full(len(rows), 0 if terms.features else names["no-feature"])
    gravest = np.zeros(len(rows), np.int64)
    for at, feature in enumerate(terms.features):
        given = table.measure(terms.rater, feature, rows)
        present[:, at] = ~np.isnan(given.values) & (given.values != 0)
        lacking = np.flatnonzero(given.statuses != VALUE)
        if not len(lacking):
            continue
        told = np.where(given.statuses == UNDEFINED, given.reasons.astype(np.int64) + 1, 0)
        first, _, which = alike(
            (given.statuses[lacking] - NOT_RATED, len(RATING_STATUSES) + 1),
            (told[lacking], int(told.max(initial=0)) + 1),
        )
        for kind, row in enumerate(lacking[first].tolist()):
            status = int(given.statuses[row])
            reason = table.columns.reasons.get(int(told[row]) - 1, "")
            gravity, cause = _cause(feature, status, reason)
            worse = lacking[which == kind]
            worse = worse[gravest[worse] < gravity]
            gravest[worse], causes[worse] = gravity, names[cause]
    spoilt = unusable(table, rows)
    of_status = np.array(
        [names["no-response" if one is ResponseStatus.EMPTY else one.value] for one in STATUSES]
    )
    return np.where(spoilt < 0, causes, of_status[spoilt]), names


def _cause(feature: str, status: int, reason: str) -> tuple[int, str]:
    """Return why a usable response without a value of a feature has no burden, and how grave."""
    if status == NOT_RATED:
        return 6, "not-rated"
    named = RATING_STATUSES[status]
    if named in (RatingStatus.ERROR, RatingStatus.UNPARSED):
        return 5 if named is RatingStatus.ERROR else 4, named.value
    if (unusable := reason.partition(":")[0]) in UNUSABLE:
        return 3, unusable
    return (2, f"{feature} undefined: {reason}") if reason else (1, "undefined")


def _counts(
    table: Table,
    rows: Ints,
    terms: Terms,
    present: Bools,
    causes: Ints,
    names: Places[str],
    calibration: Mapping[str, Calibration],
) -> RatedCounts:
    own, given = rows[causes == 0], present.T[:, causes == 0]
    clusters, known = table.clusters
    pooled = any(len(name) > 2 for name in known)
    items = sorted(distinct(clusters[own]).tolist(), key=lambda item: str(known[item]))
    rank = np.zeros(len(known), np.int64)
    rank[items] = np.arange(len(items))
    place, column = rank[clusters[own]], {name: at for at, name in enumerate(terms.features)}

    def totals(features: Collection[str]) -> list[tuple[Totals, int]]:
        numbers = np.arange(len(features) + 1)
        found = given[[column[name] for name in features]].sum(axis=0, dtype=np.int64)
        code = place * len(numbers) + found
        times = np.bincount(code, minlength=len(items) * len(numbers)).reshape(-1, len(numbers))
        powers = np.stack([numbers**0, numbers, numbers**2, numbers > 0], axis=1)
        return [(Totals(*item), hits) for *item, hits in (times @ powers).tolist()]

    hits = (tuple(np.bincount(place[one], minlength=len(items)).tolist()) for one in given)
    profiles: list[dict[frozenset[str], int]] = [{} for _ in items] if calibration else []
    if calibration:
        first, times, _ = alike((place, len(items)), *((one, 2) for one in given))
        for item, profile, n in zip(
            place[first].tolist(), given.T[first].tolist(), times.tolist(), strict=True
        ):
            profiles[item][frozenset(compress(terms.features, profile))] = n
    without = np.bincount(causes[causes > 0], minlength=len(names)).tolist()
    lost = np.bincount(clusters[rows[~table.usable[rows]]], minlength=len(known)).tolist()
    texts = table.text[rows]
    return RatedCounts(
        [known[item] for item in items],
        totals,
        dict(zip(terms.features, hits, strict=True)),
        most=int(given.sum(axis=0).max(initial=0)),
        no_burden={cause: n for cause, n in zip(names, without, strict=True) if n},
        n_distinct=len(distinct(texts)),
        words=int(table.columns.responses.sizes[texts[table.usable[rows]]].sum()),
        usable=usable_of(table, rows),
        fixed=bool(len(own)) and bool(table.fixed[own].all()),
        clusters={
            name: name[2:] or table.battery.clusters.get((name[0], name[1]), name) for name in known
        }
        if pooled
        else table.battery.clusters,
        of_items={name: name[:2] for name in known} if pooled else {},
        lost={known[at]: int(n) for at, n in enumerate(lost) if n},
        calibration=calibration,
        profiles=profiles,
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


def comparable(
    first: Sequence[Judge], second: Sequence[Judge]
) -> tuple[list[tuple[Judge, Judge]], tuple[tuple[str, str], ...]]:
    """Return judges of two sides that can be compared, and the raters left out with the reason.

    Only burdens of one rater over the same features, scope and prompt are comparable.
    """
    theirs = {judge.terms: judge for judge in second}
    pairs = [(judge, theirs[judge.terms]) for judge in first if judge.terms in theirs]
    both = {judge.terms for judge, _ in pairs}
    alone = [[judge.terms for judge in side if judge.terms not in both] for side in (first, second)]
    left_out = []
    for rater in dict.fromkeys(terms.rater for side in alone for terms in side):
        if any(all(judge.rater != rater for judge in side) for side in (first, second)):
            left_out.append((rater, "judged only one side"))
            continue
        other = (
            "; ".join(str(terms) for terms in side if terms.rater == rater) or "no other"
            for side in alone
        )
        left_out.append((rater, "judged under other terms: {} / {}".format(*other)))
    return pairs, tuple(left_out)
