"""Two sides on the same items: values by item, intervals and tests of their difference."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

from tabwb.records.words import plural
from tabwb.report.summaries.draws import without_draws
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
    PairedTest,
    holm,
    paired_permutation,
    sign_flip_max_t,
    smallest_p,
)

UNEQUAL = 1.25
"""How many times as many responses to an item one side may have for signs to be flipped."""
FLIPPED, FLIPPED_DRAWN = "sign flips with t, exact", "sign flips with t, drawn"
PAIRED_T = "paired t, unequal replicates"
WHOSE_P = "whose p it is; 'with t': the larger p of both"
"""What the column *test* of a table of differences holds."""

AGREE = "p is at least that of the interval's own t; where it is .05 or more the interval reaches 0"
"""How p and interval of a row are kept from contradicting each other."""

Place = tuple[str, str]
"""Subtest and item."""


@dataclass(frozen=True, slots=True)
class Side:
    """Values of one side's responses.

    Attributes:
        values: by item; items without a value are not in it.
        deterministic: nothing was drawn for any of them.
        shares_stream: some were drawn from a random stream that others share
            (:mod:`tabwb.report.summaries.draws`), so that they do not show how much draws differ.
        clusters: of the items that share a theme with others, what the battery calls it.
        calibrated: of a calibrated judge, for each feature the relative variance of p(1) - p(0),
            and the item means of what it adds to the values.
    """

    values: Mapping[Place, tuple[float, ...]]
    deterministic: bool = False
    shares_stream: bool = False
    clusters: Mapping[Place, str] = field(default_factory=dict)
    calibrated: tuple[tuple[float, Mapping[Place, float]], ...] = ()


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
class Paired:
    """A measure of both sides over the items that both have a value for; None without such items.

    Attributes:
        first, second: mean over these items of each side's mean over its responses to the item.
        n_first, n_second: responses behind them.
        like, these: intervals of first - second, for prompts like these and for these prompts.
        test: of the mean difference over items: sign flips, or where one side has more than
            :data:`UNEQUAL` times as many responses to an item as the other, paired t with the
            standard error of the interval ``like``. Its p is at least that of ``like``, which is
            extended to 0 where p is .05 or more (:func:`~tabwb.scoring.differences.agreeing`).
        method: which of them: :data:`FLIPPED`, :data:`FLIPPED_DRAWN` or :data:`PAIRED_T`; empty
            without items.
        differences: of item means, by item.
        floor: the least variance of the mean difference, from the draws alone.
        clusters: of each item, in this order; an item without one is its own.
    """

    items: int
    first: float | None
    second: float | None
    n_first: int
    n_second: int
    like: EstimatedInterval
    these: EstimatedInterval
    test: PairedTest | None
    differences: Mapping[Place, float]
    floor: float
    method: str = ""
    clusters: tuple[Hashable, ...] = ()

    @property
    def units(self) -> int:
        """How many clusters the items are: as many as items, where the battery declares none."""
        return len(set(self.clusters))

    @property
    def unit_count(self) -> str:
        """Of how many items or clusters signs are flipped, in words."""
        return plural(self.units, "item" if self.units == self.items else "cluster")

    def parts(self, order: Sequence[Place] | None = None) -> list[float]:
        """Return the differences whose signs are flipped: of clusters, in the order of the
        items.
        """
        own = dict(zip(self.differences, self.clusters, strict=True))
        places = list(own) if order is None else order
        differences = [self.differences[place] for place in places]
        return cluster_parts(differences, [own[place] for place in places])

    @property
    def difference(self) -> float | None:
        """First - second; None without shared items."""
        return None if self.test is None else self.test.difference

    @property
    def flipped(self) -> bool:
        """Whether signs of items were flipped."""
        return self.method in (FLIPPED, FLIPPED_DRAWN)

    @property
    def smallest_p(self) -> float | None:
        """The smallest p of sign flips over so many clusters; None where t gave p."""
        return smallest_p(self.units) if self.items and self.method != PAIRED_T else None


def compare_sides(first: Side, second: Side, n_features: int | None) -> Paired:
    """Return means, intervals and the test of two sides over their shared items."""
    places = [place for place in first.values if place in second.values]
    values = [[side.values[place] for place in places] for side in (first, second)]
    pairs = [(fsum(a) / len(a), fsum(b) / len(b)) for a, b in zip(*values, strict=True)]
    clusters = tuple(first.clusters.get(place) or place for place in places)
    deterministic = first.deterministic, second.deterministic
    like, these = (
        difference_interval(
            values[0],
            values[1],
            n_features,
            estimand,
            deterministic=deterministic,
            extra=_of_calibration(first, second, places),
            clusters=clusters,
        )
        for estimand in (Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_PROMPTS)
    )
    sizes = [[len(given) for given in side] for side in values]
    test, method = _tested(pairs, sizes, n_features, clusters)
    if test is not None:
        like, p = agreeing(like, test.p)
        test = test if p is None else replace(test, p=p)
    if first.shares_stream or second.shares_stream:
        these = without_draws(these)
    return Paired(
        items=len(pairs),
        first=fsum(a for a, _ in pairs) / len(pairs) if pairs else None,
        second=fsum(b for _, b in pairs) / len(pairs) if pairs else None,
        n_first=sum(map(len, values[0])),
        n_second=sum(map(len, values[1])),
        like=like,
        these=these,
        test=test,
        differences={place: a - b for place, (a, b) in zip(places, pairs, strict=True)},
        floor=sum(
            sampling_floor(
                fsum(pair[at] for pair in pairs) / len(pairs),
                effective_responses(sizes[at]),
                n_features,
            )
            for at in (0, 1)
            if pairs
        ),
        method=method,
        clusters=clusters,
    )


def _of_calibration(first: Side, second: Side, places: Sequence[Place]) -> float:
    """Return the variance of the mean difference from the calibration that both sides share."""
    return fsum(
        variance * (fsum(mine[at] - theirs[at] for at in places) / len(places)) ** 2
        for (variance, mine), (_, theirs) in zip(first.calibrated, second.calibrated, strict=True)
        if places
    )


def _tested(
    pairs: Sequence[tuple[float, float]],
    sizes: Sequence[Sequence[int]],
    n_features: int | None,
    clusters: Sequence[Hashable],
) -> tuple[PairedTest | None, str]:
    """Return the test of the mean difference, and which one it is."""
    first, second = ([pair[at] for pair in pairs] for at in (0, 1))
    units = [cluster_parts(side, clusters) for side in (first, second)]
    tested = paired_permutation(list(zip(*units, strict=True)))
    if tested is None:
        return None, ""
    unequal = any(max(both) > UNEQUAL * min(both) for both in zip(*sizes, strict=True))
    if not unequal or len(units[0]) < 2:
        return tested, FLIPPED if tested.exact else FLIPPED_DRAWN
    n_first, n_second = (effective_responses(side) for side in sizes)
    p = paired_t_p(first, second, n_first, n_second, n_features, clusters)
    return replace(tested, p=p, exact=False), PAIRED_T


def corrected(family: Sequence[Paired]) -> tuple[list[float | None], str]:
    """Return the p values of a family of tests, corrected, and by what: ``maxT`` or ``Holm``.

    maxT over sign flips where all comparisons have the same eight items or more, so that the sign
    of an item flips for all at once; otherwise, and where t gave one of the p values, Holm's
    method. A single test is left as it is: Holm's method over one.
    """
    places = [set(one.differences) for one in family]
    shared = len(family) > 1 and all(place == places[0] for place in places)
    shared = shared and all(one.flipped for one in family)
    if shared and family[0].units >= MAX_T_FROM:
        order = list(family[0].differences)
        tested = sign_flip_max_t([one.parts(order) for one in family])
        assert tested is not None
        alone = [0.0 if one.test is None else one.test.p for one in family]
        return [max(both) for both in zip(tested.p, alone, strict=True)], "maxT"
    found = iter(holm([one.test.p for one in family if one.test is not None]))
    return [None if one.test is None else next(found) for one in family], "Holm"
