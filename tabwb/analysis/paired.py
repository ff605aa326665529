"""Two sides on the same items: values by item, intervals and tests of their difference."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import TYPE_CHECKING, Any

from tabwb.analysis.draws import without_draws
from tabwb.analysis.frame import Place, Side
from tabwb.analysis.measures import DIFFERENCE
from tabwb.plugin_api.extensions import Statistic
from tabwb.records.words import plural
from tabwb.scoring.differences import (
    agreeing,
    difference_interval,
    paired_t_p,
    sampling_floor,
)
from tabwb.scoring.estimate import Estimand, EstimatedInterval
from tabwb.scoring.intervals import cluster_parts, effective_responses
from tabwb.scoring.permutation import (
    MAX_T_FROM,
    holm,
    label_permutation,
    label_permutation_of_rates,
    paired_permutation,
    sign_flip_max_t,
    smallest_p,
)

if TYPE_CHECKING:
    from tabwb.analysis.statistics.results import Terms
    from tabwb.scoring.burden import Usable
    from tabwb.scoring.detectable import Design

UNEQUAL = 1.25
"""How many times as many responses to an item one side may have for signs to be flipped."""
FLIPPED, FLIPPED_DRAWN = "sign flips with t, exact", "sign flips with t, drawn"
PAIRED_T = "paired t, unequal replicates"
LABELS = "labels within items with Welch's t"
WHOSE_P = "whose p it is; 'with t': the larger p of both"
"""What the column *test* of a table of differences holds."""

AGREE = "p is at least that of the interval's own t; where it is .05 or more the interval reaches 0"
"""How p and interval of a row are kept from contradicting each other."""


def together(sides: Iterable[Side]) -> Side:
    """Return the values of several subtests as one side."""
    parts = [side for side in sides if side.values]
    return Side(
        {place: given for part in parts for place, given in part.values.items()},
        bool(parts) and all(part.deterministic for part in parts),
        any(part.shares_stream for part in parts),
        {place: name for part in parts for place, name in part.clusters.items()},
    )


@dataclass(frozen=True, slots=True)
class Tested:
    """A difference for one estimand: its interval, two-sided p, and p ``adjusted`` for the other
    tests of its family by ``correction`` (``Holm``, ``maxT``).
    """

    interval: EstimatedInterval
    p: float | None = None
    test: str = ""
    adjusted: float | None = None
    correction: str = ""

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The ends of the interval; None without one."""
        known = self.interval.interval
        return (None, None) if known is None else (known.low, known.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One measure of the first side less the second, over the items that both have a value for.

    ``first`` and ``second`` are means over these items of a side's mean over its responses to the
    item. The test of ``like`` (prompts like these) is sign flips, or where one side has more than
    :data:`UNEQUAL` times as many responses to an item as the other, paired t with the standard
    error of the interval. Its p is at least that of the interval, which is extended to 0 where p is
    .05 or more (:func:`~tabwb.scoring.differences.agreeing`). ``floor``: the least variance of the
    mean difference, from the draws alone. ``items_left_out``: items that were judged and have no
    burden on one side or both. ``families``: over which the difference is a mean.
    """

    items: int
    difference: float | None
    like: Tested
    these: Tested = Tested(EstimatedInterval(Estimand.THESE_PROMPTS, None, "not tested"))
    first: float | None = None
    second: float | None = None
    n_first: int = 0
    n_second: int = 0
    differences: Mapping[Place, float] = field(default_factory=dict)
    floor: float = 0.0
    clusters: tuple[Hashable, ...] = ()
    measure: Statistic = DIFFERENCE
    subtest: str = ""
    title: str = ""
    rater: str = ""
    policy: str = ""
    feature: str = ""
    terms: Terms | None = None
    usable: tuple[Usable, ...] = ()
    items_left_out: tuple[str, ...] = ()
    design: Design | None = None
    families: tuple[str, ...] = ()

    @property
    def judge(self) -> str:
        """The judge; empty for an accuracy."""
        return self.rater if self.terms else ""

    @property
    def units(self) -> int:
        """How many clusters the items are: as many as items, where the battery declares none."""
        return len(set(self.clusters))

    @property
    def unit_count(self) -> str:
        """Of how many items or clusters signs are flipped, in words."""
        return plural(self.units, "item" if self.units == self.items else "cluster")

    def parts(self, order: Sequence[Place]) -> list[float]:
        """Return the differences whose signs are flipped: of clusters, in an order of the items."""
        own = dict(zip(self.differences, self.clusters, strict=True))
        return cluster_parts([self.differences[at] for at in order], [own[at] for at in order])

    @property
    def flipped(self) -> bool:
        """Whether signs of items were flipped."""
        return self.like.test in (FLIPPED, FLIPPED_DRAWN)

    @property
    def smallest_p(self) -> float | None:
        """The smallest p of sign flips over so many clusters; None where t gave p."""
        return smallest_p(self.units) if self.flipped else None

    def by_labels(self, p: float | None, adjusted: float | None = None) -> Contrast:
        """Return the same with a test of labels within items, for these prompts."""
        interval, p = agreeing(self.these.interval, p)
        if p is None:
            return self
        more = (None, "") if adjusted is None else (max(p, adjusted), "maxT")
        return replace(self, these=Tested(interval, p, LABELS, *more))


def compare_sides(first: Side, second: Side, n_features: int | None, **what: Any) -> Contrast:
    """Return means, intervals and the test of two sides over their shared items.

    ``what`` says what the values are of, as fields of the contrast.
    """
    sides = first, second
    places = [place for place in first.values if place in second.values]
    values = [[side.values[place] for place in places] for side in sides]
    means = [[fsum(given) / len(given) for given in side] for side in values]
    sizes = [[len(given) for given in side] for side in values]
    clusters = tuple(first.clusters.get(place) or place for place in places)
    like, these = (
        difference_interval(
            values[0],
            values[1],
            n_features,
            estimand,
            deterministic=(first.deterministic, second.deterministic),
            extra=_of_calibration(first, second, places),
            clusters=clusters,
        )
        for estimand in (Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_PROMPTS)
    )
    difference, p, test = _tested(means, sizes, n_features, clusters)
    like, p = agreeing(like, p)
    averages = [fsum(side) / len(places) if places else None for side in means]
    return Contrast(
        items=len(places),
        difference=difference,
        like=Tested(like, p, test),
        these=Tested(without_draws(these) if any(one.shares_stream for one in sides) else these),
        first=averages[0],
        second=averages[1],
        n_first=sum(sizes[0]),
        n_second=sum(sizes[1]),
        differences={place: a - b for place, a, b in zip(places, *means, strict=True)},
        floor=sum(
            sampling_floor(mean, effective_responses(own), n_features)
            for mean, own in zip(averages, sizes, strict=True)
            if mean is not None
        ),
        clusters=clusters,
        **what,
    )


def _of_calibration(first: Side, second: Side, places: Sequence[Place]) -> float:
    """Return the variance of the mean difference from the calibration that both sides share."""
    return fsum(
        variance * (fsum(mine[at] - theirs[at] for at in places) / len(places)) ** 2
        for (variance, mine), (_, theirs) in zip(first.calibrated, second.calibrated, strict=True)
        if places
    )


def _tested(
    means: Sequence[Sequence[float]],
    sizes: Sequence[Sequence[int]],
    n_features: int | None,
    clusters: Sequence[Hashable],
) -> tuple[float | None, float | None, str]:
    """Return the mean difference, p, and the test that gives it."""
    first, second = (cluster_parts(side, clusters) for side in means)
    tested = paired_permutation(list(zip(first, second, strict=True)))
    if tested is None:
        return None, None, ""
    unequal = any(max(both) > UNEQUAL * min(both) for both in zip(*sizes, strict=True))
    if not unequal or len(first) < 2:
        return tested.difference, tested.p, FLIPPED if tested.exact else FLIPPED_DRAWN
    n_first, n_second = (effective_responses(side) for side in sizes)
    p = paired_t_p(means[0], means[1], n_first, n_second, n_features, clusters)
    return tested.difference, p, PAIRED_T


def permutes_labels(*sides: Side) -> bool:
    """Return whether labels of responses may be permuted within items: all were drawn alone."""
    return not any(side.deterministic or side.shares_stream for side in sides)


def with_labels(row: Contrast, first: Side, second: Side, n_features: int | None) -> Contrast:
    """Return a comparison with the test of labels within items, where it can be made."""
    if not permutes_labels(first, second):
        return row
    values = [[side.values[place] for place in row.differences] for side in (first, second)]
    if n_features is None:
        counts = [[(int(sum(given)), len(given)) for given in side] for side in values]
        return row.by_labels(label_permutation_of_rates(counts[0], counts[1]))
    single = [[[[value] for value in given] for given in side] for side in values]
    found = label_permutation(single[0], single[1])
    return row.by_labels(None if found is None else found.p[0])


def corrected(family: Sequence[Contrast]) -> list[Contrast]:
    """Return a family of tests with corrected p values.

    For prompts like these by maxT over sign flips, where all comparisons have the same eight items
    or more, so that the sign of an item flips for all at once; otherwise, and where t gave one of
    the p values, by Holm's method; so are those for these prompts. A single test stays as it is:
    Holm's method over one.
    """
    like, these = _holm([one.like for one in family]), _holm([one.these for one in family])
    places = [set(one.differences) for one in family]
    shared = len(family) > 1 and all(place == places[0] for place in places)
    if shared and all(one.flipped for one in family) and family[0].units >= MAX_T_FROM:
        order = list(family[0].differences)
        tested = sign_flip_max_t([one.parts(order) for one in family])
        assert tested is not None
        like = [
            replace(one.like, adjusted=max(p, one.like.p or 0.0), correction="maxT")
            for one, p in zip(family, tested.p, strict=True)
        ]
    return [
        replace(one, like=mine, these=other)
        for one, mine, other in zip(family, like, these, strict=True)
    ]


def _holm(tests: Sequence[Tested]) -> list[Tested]:
    found = iter(holm([one.p for one in tests if one.p is not None]))
    return [
        one if one.p is None else replace(one, adjusted=next(found), correction="Holm")
        for one in tests
    ]
