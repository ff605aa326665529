"""The summary of one subtest: right answers, measures beside them, errors by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

from tabwb.battery.model import Item
from tabwb.records.states import ResponseKind
from tabwb.report.summaries.draws import without_draws
from tabwb.scoring.burden import NONE_COUNTED, Usable
from tabwb.scoring.choice import POLICIES, UNTOLD, Position, StoredAnswer, positions
from tabwb.scoring.estimate import (
    Estimand,
    Estimate,
    EstimatedInterval,
    Interval,
    always_first,
    always_yes,
    clopper_pearson,
    guessing_rate,
    ratio,
)
from tabwb.scoring.intervals import rate_interval
from tabwb.tasks.task_type import TaskType

NOT_SCORED = "nothing was scored right or wrong here"
UNLISTED = ("other-option", "ambiguous", "no-option")
"""Kinds of error beside the battery's foil kinds."""


@dataclass(frozen=True, slots=True)
class Share:
    """Right answers out of those scored, under the three policies.

    Attributes:
        n: answers counted.
        by_item: by policy, (right, answers with a verdict) of each item that has any.
        fixed: whether nothing was drawn.
        shared: whether some were drawn from random streams that others share.
    """

    n: int
    by_item: Mapping[str, tuple[tuple[int, int], ...]]
    fixed: bool = False
    shared: bool = False

    @property
    def correct(self) -> dict[str, int | None]:
        """By policy, right answers; None where no answer has a verdict."""
        return {
            policy: sum(right for right, _ in items) if items else None
            for policy, items in self.by_item.items()
        }

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

    def intervals(self, policy: str = "exact") -> tuple[EstimatedInterval, ...]:
        """Return the 95 % intervals, one for each estimand; none where nothing has a verdict.

        With one answer to each item the first is the exact (Clopper-Pearson) interval; with
        replicates it is the beta-binomial one, from counts per item.
        """
        items = self.by_item[policy]
        if not items:
            return ()
        hits, sizes = [hits for hits, _ in items], [n for _, n in items]
        these = rate_interval(hits, sizes, Estimand.THESE_PROMPTS, deterministic=self.fixed)
        if self.shared:
            these = without_draws(these)
        if all(n == 1 for n in sizes):
            exact = clopper_pearson(sum(hits), sum(sizes))
            return EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, exact), these
        return rate_interval(hits, sizes), these

    def accuracy(self, policy: str = "exact") -> Estimate:
        """Return the share right of the answers with a verdict under the policy."""
        return ratio(self.correct[policy] or 0, self.of(policy), NOT_SCORED)


@dataclass(frozen=True, slots=True)
class FoilErrors:
    """Errors of one kind, by policy.

    Attributes:
        of: answers scored to items that offer such a foil (all of them for ``ambiguous``,
            ``no-option``; those with such an error for ``untold``).
    """

    errors: Mapping[str, int]
    of: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A further measure of one scorer over the responses of a subtest, never of two raters.

    Attributes:
        n: responses with a value; undefined: without one.
        nonzero: responses with another value than 0.
    """

    n: int
    total: float
    nonzero: int
    undefined: int
    rater: str = ""
    measure: str = ""

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

    def estimate(self, measure: str, policy: str = "exact") -> Estimate:
        """Return the value of a measure, from the answers that are right under a policy.

        Args:
            measure: its id.
            policy: one of :data:`~tabwb.scoring.choice.POLICIES`.
        """
        return self.estimates[measure][policy]


def measured(
    values: Sequence[float | None],
    rater: str = "",
    measure: str = "",
) -> Measured:
    """Return counts and sum of values; None where a value is undefined.

    Args:
        values: of all responses.
        rater: who measured.
        measure: its name.
    """
    known = [value for value in values if value is not None]
    nonzero = sum(value != 0 for value in known)
    return Measured(len(known), fsum(known), nonzero, len(values) - len(known), rater, measure)


Verdict = tuple[Item, tuple[str, ...], StoredAnswer, int]
"""Item, options shown, what the stored verdict says, and how many answers have it."""


def errors_by_foil(verdicts: Mapping[str, Sequence[Verdict]]) -> dict[str, FoilErrors]:
    """Return the errors of each kind, given the verdicts under each policy."""
    counts: dict[str, Counter[str | None]] = {policy: Counter() for policy in POLICIES}
    for policy, given in verdicts.items():
        for _, _, answer, n in given:
            counts[policy][answer.error] += n
    scored = [(item, shown, n) for item, shown, _, n in verdicts["exact"]]
    total = sum(n for *_, n in scored)
    foils = dict.fromkeys(kind for item, _, _ in scored for kind in item.foils.values())
    offering = {
        kind: sum(n for item, _, n in scored if kind in item.foils.values()) for kind in foils
    }
    for kind in UNLISTED:
        offering.setdefault(kind, total)
    offering["other-option"] = sum(
        n for item, shown, n in scored if len(shown) > len(item.foils) + 1
    )
    untold = max(count[UNTOLD] for count in counts.values())
    if untold:
        offering[UNTOLD] = untold
    return {
        kind: FoilErrors({policy: counts[policy][kind] for policy in POLICIES}, of)
        for kind, of in offering.items()
    }


def baselines_of(
    task: TaskType, keyed: Mapping[tuple[str, tuple[str, ...]], int], yes: str
) -> dict[str, Estimate]:
    """Return the baselines that apply to a subtest.

    Args:
        task: of the subtest.
        keyed: expected answer and options shown, to the number of answers.
        yes: the battery's word for Yes.
    """
    sizes: Counter[int] = Counter()
    keys: Counter[str] = Counter()
    for (expected, shown), n in keyed.items():
        sizes[len(shown) or (0 if task.options else len(task.answers))] += n
        keys[expected] += n
    if task.options:
        return {"always_first": always_first(keyed), "guessing": guessing_rate(sizes)}
    if task.answers:
        return {"always_yes": always_yes(keys, yes), "guessing": guessing_rate(sizes)}
    return {}


def positions_of(
    answers: Mapping[tuple[tuple[str, ...], str, bool, str | None], int],
) -> tuple[Position, ...]:
    """Return answers by position, none where the right option was always at one place.

    Args:
        answers: as :func:`tabwb.scoring.choice.positions` takes them, with their numbers.
    """
    made = positions(answers)
    return made if sum(position.keyed > 0 for position in made) > 1 else ()
