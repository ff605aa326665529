"""Usable responses and symptom burden: how many features of a fixed set are present on average."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import fsum
from typing import Any

from tabwb.scoring.calibrated import (
    NO_CATEGORY_RATE,
    Calibration,
    calibrated_burden_interval,
    calibrated_rate_interval,
    calibrated_rates,
)
from tabwb.scoring.estimate import (
    Estimand,
    Estimate,
    EstimatedInterval,
    Interval,
    item_mean,
    ratio,
)
from tabwb.scoring.intervals import (
    Totals,
    feature_correlation,
    interval_of_totals,
    rate_interval,
    ratio_of_items,
)


@dataclass(frozen=True, slots=True)
class Usable:
    """Usable responses of all that count, and the response status of the others to their number."""

    usable: int
    n: int
    causes: Mapping[str, int] = field(default_factory=dict)

    @property
    def few(self) -> bool:
        """Whether fewer than half are usable; such a burden is left out of rankings.

        >>> Usable(2, 5).few, Usable(3, 6).few, Usable(0, 0).few
        (True, False, False)
        """
        return 2 * self.usable < self.n

    def to_json(self) -> dict[str, object]:
        """Return as plain data."""
        causes = dict(self.causes)
        return {"usable": self.usable, "n": self.n, "causes": causes, "few_usable": self.few}


NONE_COUNTED = Usable(0, 0)


def count_usable(causes: Iterable[str]) -> Usable:
    """Count responses, given of each the status that makes it unusable, or an empty text.

    A ``Counter`` is taken as so many responses of each.

    >>> count_usable(["", "refused", "", "refused"])
    Usable(usable=2, n=4, causes={'refused': 2})
    """
    counts = Counter(causes)
    usable = counts.pop("", 0)
    return Usable(usable, usable + counts.total(), dict(sorted(counts.items())))


REPEATED_PROMPTS = 3
"""The same text for so many different prompts or more is a repeated answer."""


NO_BURDEN = "no response has a burden"
LARGEST_LOSS = 0.1
"""Share of unusable responses above which :attr:`Burden.bounds` is given."""
NO_FEATURES = "the battery has none of the features that the judge rates"
NO_USABLE = "no usable response"
NOT_IN_SET = "the rater's set has no feature of this category"


@dataclass(frozen=True, slots=True)
class CategoryBurden:
    """Features of one category."""

    count: Estimate
    rate: Estimate
    of: int
    totals: tuple[Totals, ...] = ()
    hits: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Burden:
    """Symptom burden with everything that is printed with it.

    Attributes:
        features: the fixed set, in the battery's order.
        n_responses, n_distinct: responses counted, and how many different texts they are.
        words_mean: mean words of the usable responses, those without burden included.
        n_burden, no_burden: responses that have a burden, and cause to number of the others.
        symptom_burden: the mean of the item means over the ``n_burden`` responses.
        intervals: of the burden, one for each estimand; empty where they were not asked for.
        categories: by id.
        present: feature to number of responses, of ``n_burden``, in which it is present.
        hits: feature to the responses with it, item by item; sizes: responses of each item.
        totals: number of features present in the responses to each item.
        most: the largest number of features present in one response.
        lost: unusable responses of each item, those of ``sizes`` first; then the items that have
            no response with a burden.
        clusters: of each item, where the battery declares any.
        items: where several speakers are pooled: what is said above to be of an item is then of one
            speaker's responses to one; this has the item of each in ``lost``, and ``clusters`` the
            speaker.
        fixed: whether nothing was drawn.
        calibration: of a calibrated judge, by feature. ``hits`` are then of the judge itself, and
            ``present`` the number of responses in which people would find the feature.
    """

    features: tuple[str, ...]
    n_responses: int
    n_distinct: int
    words_mean: Estimate
    n_burden: int
    no_burden: Mapping[str, int]
    symptom_burden: Estimate
    intervals: tuple[EstimatedInterval, ...] = ()
    categories: Mapping[str, CategoryBurden] = field(default_factory=dict)
    present: Mapping[str, float] = field(default_factory=dict)
    usable: Usable = NONE_COUNTED
    hits: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    totals: tuple[Totals, ...] = ()
    most: int = 0
    lost: tuple[int, ...] = ()
    clusters: tuple[Hashable, ...] | None = None
    fixed: bool = False
    calibration: Mapping[str, Calibration] = field(default_factory=dict)
    items: tuple[Hashable, ...] | None = None

    @property
    def counted(self) -> tuple[Hashable, ...] | None:
        """The item of each of ``sizes``, where several speakers are pooled."""
        return None if self.items is None else self.items[: len(self.sizes)]

    @property
    def n_items(self) -> int:
        """How many items have a response with a burden."""
        return len(self.sizes if self.counted is None else set(self.counted))

    @property
    def bounds(self) -> Interval | None:
        """The burden if every unusable response had no feature, and if each had all.

        None where no more than a tenth of the responses are unusable.
        """
        return self._bounds(self.features)

    def rate_bounds(self, feature: str) -> Interval | None:
        """Return the rate of a feature if no unusable response had it, and if all had."""
        return self._bounds((feature,))

    def _bounds(self, features: Sequence[str]) -> Interval | None:
        if sum(self.lost) <= LARGEST_LOSS * self.usable.n:
            return None
        most = len(features)
        totals = [
            fsum(
                n * self.calibration[name].rate(self.hits[name][at] / n)
                if self.calibration  # responses in which people would find it
                else self.hits[name][at]
                for name in features
            )
            for at, n in enumerate(self.sizes)
        ]
        added = [0] * (len(self.lost) - len(totals))
        sizes = [n + lost for n, lost in zip((*self.sizes, *added), self.lost, strict=True)]
        low = item_mean([*totals, *added], sizes, NO_BURDEN, self.items).value
        high = item_mean(
            [own + most * lost for own, lost in zip((*totals, *added), self.lost, strict=True)],
            sizes,
            NO_BURDEN,
            self.items,
        ).value
        return None if low is None or high is None else Interval(low, high)

    @property
    def found(self) -> int:
        """Features found in all responses."""
        return int(sum(item.total for item in self.totals))

    @property
    def feature_correlation(self) -> float | None:
        """The correlation of two features of one response that the interval takes."""
        return feature_correlation(self.totals, len(self.features)) if self.totals else None

    @property
    def n_units(self) -> int:
        """Items, or clusters of items, that the interval for prompts like these is over."""
        return len(self.sizes if self.clusters is None else set(self.clusters))

    @property
    def few_found(self) -> bool:
        """Whether the prior of the correlation of features still counts: from 10 (F 7), 20 (F 19).

        The number of features found is below ``10 + (F - 7) 10/12``.
        """
        return self.found < 10 + (len(self.features) - 7) * 10 / 12

    @property
    def independent_high(self) -> float:
        """The upper limit for prompts like these if features of a response were independent."""
        totals = [item.total for item in self.totals]
        units = range(len(totals)) if self.clusters is None else self.clusters
        return ratio_of_items(totals, self.sizes, len(self.features), 0.0, units, self.counted).high

    @property
    def interval(self) -> Interval | None:
        """The interval for prompts like these, where it was asked for and there is one."""
        return self.intervals[0].interval if self.intervals else None

    @property
    def interval_reason(self) -> str:
        """Why there is no such interval, else empty."""
        return self.intervals[0].reason if self.intervals else "not asked for"

    def rate_intervals(self, feature: str) -> tuple[EstimatedInterval, ...]:
        """Return the intervals of :meth:`rate`, one for each estimand."""
        hits = self.hits[feature]
        if self.calibration:
            known = self.calibration[feature]
            return self._intervals(partial(calibrated_rate_interval, hits, self.sizes, known))
        return self._intervals(partial(rate_interval, hits, self.sizes))

    def _intervals(
        self, interval: Callable[..., EstimatedInterval]
    ) -> tuple[EstimatedInterval, ...]:
        return tuple(
            interval(estimand, deterministic=self.fixed, clusters=self.clusters, items=self.counted)
            for estimand in Estimand
        )

    def category_intervals(self, category: str, *, rate: bool) -> tuple[EstimatedInterval, ...]:
        """Return the intervals of a category's count, or rate, where intervals were asked for.

        A count is a burden over the category's features. A calibrated judge's has none.
        """
        own = self.categories[category]
        if not self.intervals or not own.totals:
            return ()
        if rate:
            return self._intervals(partial(rate_interval, own.hits, self.sizes))
        return self._intervals(partial(interval_of_totals, own.totals, own.of))

    @property
    def ranked(self) -> float | None:
        """The burden where it may be ranked: None where it is undefined or few are usable."""
        return None if self.usable.few else self.symptom_burden.value

    def rate(self, feature: str) -> Estimate:
        """Share of the responses with a burden in which a feature is present, mean of the items."""
        if self.calibration:
            return ratio(self.present[feature], self.n_burden, NO_BURDEN)
        return item_mean(self.hits[feature], self.sizes, NO_BURDEN, self.counted)


@dataclass(frozen=True, slots=True)
class RatedCounts:
    """Responses as one rater saw them.

    ``items`` are those with a burden, in the order of their names. Of each, ``present`` returns
    totals of how many of some features are present, and how many responses have any of them;
    ``hits`` are, of each feature, the responses that have it, and ``most`` is the largest number of
    features of one response. Of a calibrated judge all these are the judge's own, and ``profiles``
    are sets of features with the number of responses that have them. Where several speakers are
    pooled ``items`` are of one item and one speaker, with the item of each in ``of_items`` and the
    speaker in ``clusters``.
    """

    items: Sequence[Hashable]
    present: Callable[[Collection[str]], Sequence[tuple[Totals, int]]]
    hits: Mapping[str, tuple[int, ...]]
    most: int
    no_burden: Mapping[str, int]
    n_distinct: int
    words: int
    usable: Usable
    fixed: bool
    calibration: Mapping[str, Calibration] = field(default_factory=dict)
    profiles: Sequence[Mapping[frozenset[str], int]] = ()
    lost: Mapping[Hashable, int] = field(default_factory=dict)
    clusters: Mapping[Any, Hashable] = field(default_factory=dict)
    of_items: Mapping[Any, Hashable] = field(default_factory=dict)

    def places(self, names: Iterable[Hashable]) -> tuple[Hashable, ...] | None:
        """Return the item of each, where several speakers are pooled."""
        return tuple(self.of_items[name] for name in names) if self.of_items else None


def burden_of(
    counts: RatedCounts,
    features: Sequence[str],
    categories: Mapping[str, CategoryBurden],
    *,
    interval: bool = False,
) -> Burden:
    """Return the symptom burden of responses under one rater.

    ``burden = mean over items of (sum of features present / responses that have a burden)``. A
    response for which any feature of the set is undefined has none and is counted with its cause.
    Source: docs/results.md.
    """
    names = counts.items if features else ()
    totals = tuple(item for item, _ in counts.present(features)) if features else ()
    sizes = tuple(item.n for item in totals)
    clusters = tuple(counts.clusters.get(name, name) for name in names) if counts.clusters else None
    without = sorted(counts.lost.keys() - set(names), key=str) if features else []
    present: dict[str, float] = {name: sum(counts.hits[name]) for name in features}
    items = counts.places(names)
    none = NO_BURDEN if features else NO_FEATURES
    mean = item_mean([item.total for item in totals], sizes, none, items)
    calibration = counts.calibration if names else {}
    made: Callable[..., EstimatedInterval] = partial(interval_of_totals, totals, len(features))
    if calibration:
        rates = calibrated_rates(counts.profiles, calibration, items)
        present = {name: rate * sum(sizes) for name, rate in rates.items()}
        mean = Estimate(fsum(rates.values()))
        made = partial(calibrated_burden_interval, counts.profiles, calibration)
    intervals = tuple(
        made(estimand, deterministic=counts.fixed, clusters=clusters, items=items)
        for estimand in Estimand
        if interval
    )
    return Burden(
        features=tuple(features),
        n_responses=counts.usable.n,
        n_distinct=counts.n_distinct,
        words_mean=ratio(counts.words, counts.usable.usable, NO_USABLE),
        n_burden=sum(sizes),
        no_burden=dict(sorted(counts.no_burden.items())),
        symptom_burden=mean,
        intervals=intervals,
        categories=categories,
        present=present,
        usable=counts.usable,
        hits=counts.hits,
        sizes=sizes,
        totals=totals,
        most=counts.most if features else 0,
        lost=tuple(counts.lost.get(name, 0) for name in (*names, *without)),
        clusters=clusters,
        fixed=counts.fixed,
        calibration=calibration,
        items=counts.places((*names, *without)),
    )


def categories_of(
    counts: RatedCounts, features: Collection[str], categories: Mapping[str, Collection[str]]
) -> dict[str, CategoryBurden]:
    """Return the burden of each category: the same mean over its own features (TAB, table 5)."""
    if counts.calibration:
        items = counts.places(counts.items)
        rates = calibrated_rates(counts.profiles, counts.calibration, items)
        return {
            name: _calibrated_category(rates, frozenset(members) & frozenset(features))
            for name, members in categories.items()
        }
    return {
        name: _category(counts, frozenset(members) & frozenset(features))
        for name, members in categories.items()
    }


def _calibrated_category(rates: Mapping[str, float], members: frozenset[str]) -> CategoryBurden:
    nothing = Estimate(None, NO_CATEGORY_RATE if members else NOT_IN_SET)
    if not members:
        return CategoryBurden(nothing, nothing, 0)
    count = fsum(rates[name] for name in members) if rates else None
    return CategoryBurden(Estimate(count, "" if rates else NO_BURDEN), nothing, len(members))


def _category(counts: RatedCounts, members: frozenset[str]) -> CategoryBurden:
    if not members:
        nothing = Estimate(None, NOT_IN_SET)
        return CategoryBurden(nothing, nothing, 0)
    found = counts.present(members)
    totals, hits = tuple(item for item, _ in found), tuple(n for _, n in found)
    sizes, items = [item.n for item in totals], counts.places(counts.items)
    return CategoryBurden(
        count=item_mean([item.total for item in totals], sizes, NO_BURDEN, items),
        rate=item_mean(hits, sizes, NO_BURDEN, items),
        of=len(members),
        totals=totals,
        hits=hits,
    )
