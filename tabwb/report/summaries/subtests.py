"""The summary of one subtest: right answers, measures beside them, errors by kind.

It is computed in :mod:`tabwb.report.summaries.subtest_counts`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from tabwb.records.ratings import MeasureKind
from tabwb.records.states import ResponseKind
from tabwb.report.summaries.draws import without_draws
from tabwb.scoring.burden import NONE_COUNTED, Usable
from tabwb.scoring.choice import Position
from tabwb.scoring.estimate import (
    Estimand,
    Estimate,
    EstimatedInterval,
    Interval,
    clopper_pearson,
    item_mean,
    ratio,
)
from tabwb.scoring.intervals import rate_interval

CORRECTED = "chance_corrected"
"""The measure of accuracy above guessing."""
NOT_SCORED = "nothing was scored right or wrong here"


@dataclass(frozen=True, slots=True)
class Share:
    """Right answers out of those scored (or yes out of yes and no), under the three policies.

    Attributes:
        n: answers counted.
        by_item: by policy, (right, answers with a verdict) of each item that has any.
        fixed: whether nothing was drawn.
        shared: whether some were drawn from random streams that others share.
        clusters: by policy, of each of these items; empty where the battery declares none.
        unread: policy to the reason why it reads no answer in the battery's language.
    """

    n: int
    by_item: Mapping[str, tuple[tuple[int, int], ...]]
    fixed: bool = False
    shared: bool = False
    clusters: Mapping[str, tuple[Hashable, ...]] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def correct(self) -> dict[str, int | None]:
        """By policy, right answers; None where no answer has a verdict."""
        return {
            policy: sum(right for right, _ in items) if items else None
            for policy, items in self.by_item.items()
        }

    @property
    def n_units(self) -> int:
        """Items, or clusters of items, with a verdict under the policy ``exact``."""
        return len(set(self.clusters["exact"]) if self.clusters else self.by_item["exact"])

    @property
    def scored(self) -> int:
        """Answers with a verdict of the deciding scorer under the policy ``exact``."""
        return self.of("exact")

    def of(self, policy: str) -> int:
        """Return how many answers have a verdict under a policy."""
        return sum(n for _, n in self.by_item[policy])

    def interval(self, policy: str = "exact") -> Interval | None:
        """Return the 95 % interval for prompts like these, or None."""
        intervals = self.intervals(policy)
        return intervals[0].interval if intervals else None

    def interval_reason(self, policy: str = "exact") -> str:
        """Return why there is no such interval, else an empty text."""
        intervals = self.intervals(policy)
        return intervals[0].reason if intervals else self.unread.get(policy, NOT_SCORED)

    def intervals(self, policy: str = "exact") -> tuple[EstimatedInterval, ...]:
        """Return the 95 % intervals, one for each estimand; none where nothing has a verdict.

        With one answer to each item the first is the exact (Clopper-Pearson) interval; with
        replicates it is the beta-binomial one, from counts per item. One item has none.
        """
        items = self.by_item[policy]
        if not items:
            return ()
        hits, sizes = [hits for hits, _ in items], [n for _, n in items]
        these = rate_interval(hits, sizes, Estimand.THESE_PROMPTS, deterministic=self.fixed)
        if self.shared:
            these = without_draws(these)
        clusters = self.clusters.get(policy)
        units = len(sizes if clusters is None else set(clusters))
        if units > 1 and units == sum(sizes):
            exact = clopper_pearson(sum(hits), sum(sizes))
            return EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, exact), these
        return rate_interval(hits, sizes, clusters=clusters), these

    def accuracy(self, policy: str = "exact", reason: str = NOT_SCORED) -> Estimate:
        """Return the share right of the answers with a verdict, the mean of the items' shares."""
        items = self.by_item[policy]
        why = self.unread.get(policy, reason)
        return item_mean([right for right, _ in items], [n for _, n in items], why)


@dataclass(frozen=True, slots=True)
class FoilErrors:
    """Errors of one kind, by policy.

    Attributes:
        share: of the answers scored to items that offer such a foil (all of them for ``ambiguous``,
            ``no-option``; those with such an error for ``untold``), these errors as right answers.
        of: how many answers these are.
        told: False for ``untold``, of which all these answers have such an error.
    """

    share: Share
    of: int
    told: bool = True

    @property
    def errors(self) -> dict[str, int | None]:
        """By policy their number; None where it reads no answer in the battery's language."""
        return {
            policy: None if policy in self.share.unread else n or 0
            for policy, n in self.share.correct.items()
        }

    def rate(self, policy: str) -> Estimate:
        """Return the share, the mean of the items' shares."""
        return self.share.accuracy(policy, "no such item")

    def intervals(self, policy: str) -> tuple[EstimatedInterval, ...]:
        """Return the intervals of :meth:`rate`."""
        return self.share.intervals(policy) if self.told else ()


@dataclass(frozen=True, slots=True)
class Measured:
    """A further measure of one scorer over the responses of a subtest, never of two raters.

    Attributes:
        n: responses with a value; undefined: without one.
        nonzero: responses with another value than 0.
        kind: what the values are, as the rater declared.
    """

    n: int
    total: float
    nonzero: int
    undefined: int
    rater: str = ""
    measure: str = ""
    kind: MeasureKind = "number"

    @property
    def mean(self) -> Estimate:
        """Mean of the values."""
        return ratio(self.total, self.n, "undefined for every response")


@dataclass(frozen=True, slots=True)
class SubtestCount:
    """Counts of one subtest, without practice.

    Attributes:
        answered: trials with an answer that counts.
        scored: responses with a verdict.
        right: those that are right (*exact*); None where nothing has a verdict.
    """

    id: str
    title: str
    planned: int
    answered: int
    scored: int
    right: int | None


@dataclass(frozen=True, slots=True)
class SubtestSummary:
    """The summary of one subtest.

    Attributes:
        planned, answered: trials, practice not counted; ``share.n`` is lower than ``answered``
            where identical answers count once.
        baselines: ``always_first``, ``always_yes``, ``guessing``, those that apply.
        estimates: id of one of :data:`~tabwb.report.measures.SUBTEST_MEASURES` to its value by
            policy.
        said_yes: of a yes/no subtest, yes among the answers that are yes or no under the policy.
        by_foil: kind of error to counts.
        measures: further measures of the subtest's scorers (``insertion``, ``ttr``), each of one
            rater; where two raters give one of the same name, the names are ``RATER: MEASURE``.
        statuses: response status under which they count, to number of responses.
        repeated: answers beyond the first one to an item by the same examinee.
        usable: how many are usable; means of measures are over these.
        positions: of choices whose key was not always at one place: right answers by the
            place of the key (``exact``), and answers by their own place (``extracted``).
    """

    id: str
    title: str
    kind: ResponseKind
    planned: int
    answered: int
    share: Share
    baselines: Mapping[str, Estimate]
    estimates: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    by_tag: Mapping[str, Share] = field(default_factory=dict)
    said_yes: Share | None = None
    by_foil: Mapping[str, FoilErrors] = field(default_factory=dict)
    measures: Mapping[str, Measured] = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)
    repeated: int = 0
    usable: Usable = NONE_COUNTED
    positions: tuple[Position, ...] = ()

    @property
    def counts(self) -> SubtestCount:
        """The counts alone."""
        scored, right = self.share.scored, self.share.correct["exact"]
        return SubtestCount(self.id, self.title, self.planned, self.answered, scored, right)

    @property
    def chance_corrected_intervals(self) -> tuple[EstimatedInterval, ...]:
        """The intervals of the accuracy, corrected for guessing; none where it is not defined.

        The correction (x - c) / (1 - c) is monotone, so that the ends can be corrected.
        """
        guessing = self.baselines.get("guessing")
        if guessing is None or guessing.value is None or not self.estimate(CORRECTED).defined:
            return ()
        c = guessing.value
        return tuple(
            replace(
                one,
                interval=one.interval
                and Interval(
                    *((end - c) / (1 - c) for end in (one.interval.low, one.interval.high))
                ),
            )
            for one in self.share.intervals()
        )

    def estimate(self, measure: str, policy: str = "exact") -> Estimate:
        """Return the value of a measure, from the answers that are right under a policy."""
        return self.estimates[measure][policy]
