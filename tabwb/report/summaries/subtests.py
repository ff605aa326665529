"""The summary of one subtest: right answers, measures beside them, errors by kind.

Answers are counted over columns (:mod:`tabwb.analysis.subtests`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tabwb.analysis.draws import without_draws
from tabwb.battery.model import Item, Subtest
from tabwb.records.languages import (
    NO_SPACES,
    is_english,
    is_unspaced_language,
    not_available,
)
from tabwb.records.ratings import MeasureKind
from tabwb.records.states import Protocol, ResponseKind
from tabwb.report.measures import NEITHER, SUBTEST_MEASURES, ScoredAnswers
from tabwb.scoring.burden import NONE_COUNTED, Usable
from tabwb.scoring.choice import POLICIES, UNTOLD, Position, StoredAnswer, positions, read_reason
from tabwb.scoring.estimate import (
    Estimand,
    Estimate,
    EstimatedInterval,
    Interval,
    always_first,
    always_yes,
    clopper_pearson,
    guessing_rate,
    item_mean,
    ratio,
)
from tabwb.scoring.intervals import rate_interval
from tabwb.tasks.task_type import TaskType

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
    """The summary of one subtest, practice not counted.

    Attributes:
        answered: trials; ``share.n`` is lower where identical answers count once.
        estimates: measure (:data:`~tabwb.report.measures.SUBTEST_MEASURES`) to value by policy.
        said_yes: of a yes/no subtest, yes among the answers that are yes or no under the policy.
        measures: further ones of its scorers (``insertion``, ``ttr``), each of one rater; where two
            give one of the same name, the names are ``RATER: MEASURE``.
        repeated: answers beyond the first one to an item by the same examinee.
        usable: means of measures are over these.
        positions: where the key was not always at one place, right answers by the place of the key
            (``exact``), and answers by their own place (``extracted``).
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


UNLISTED = ("other-option", "ambiguous", "no-option")
"""Kinds of error beside the battery's foil kinds."""


class AnswerKind(NamedTuple):
    """Answers to a subtest that count alike.

    Attributes:
        shown: the options in the order shown.
        cluster: answers in one cluster are not independent: that of the item, or of the speaker
            where several are pooled.
        verdicts: of the deciding scorer under each of :data:`POLICIES`: whether the answer is
            right, with the reason; None where it has none. Only closed tasks need the reasons.
        fixed: whether nothing was drawn; shared: whether the random stream is shared.
        n: how many answers.
    """

    item: Item
    shown: tuple[str, ...]
    cluster: tuple[str, ...]
    verdicts: tuple[tuple[bool, str] | None, ...]
    fixed: bool
    shared: bool
    n: int


def summarise_subtest(
    subtest: Subtest,
    kinds: Sequence[AnswerKind],
    *,
    planned: int,
    answered: int,
    asked: int,
    protocol: Protocol | None,
    statuses: Mapping[str, int],
    usable: Usable,
    measures: Sequence[Measured],
) -> SubtestSummary:
    """Return the summary of one subtest from its answers that count, in the order they came first.

    ``asked`` is how many different pairs of examinee and item they have, ``protocol`` that of all
    administrations with an answer, None where these differ.
    """
    task = subtest.task
    unread = _unread(subtest, kinds)
    share = replace(_share_of(kinds), unread=unread)
    verdicts = _verdicts(subtest, kinds)
    yes = next(iter(subtest.answers), "" if task.answers else None)
    baselines = _baselines(task, kinds, yes)
    names = Counter(one.measure for one in measures)
    said_yes = None if yes is None else replace(_said_yes(verdicts, kinds, yes), unread=unread)
    scored = {
        policy: ScoredAnswers(
            n=share.n,
            accuracy=share.accuracy(policy),
            pairs=_pairs(verdicts[policy]),
            guessing=baselines.get("guessing"),
            protocol=protocol,
            said_yes=None if said_yes is None else said_yes.accuracy(policy, NEITHER),
        )
        for policy in POLICIES
    }
    return SubtestSummary(
        id=subtest.id,
        title=subtest.title,
        kind=subtest.response,
        planned=planned,
        answered=answered,
        share=share,
        baselines=baselines,
        estimates={
            measure.id: {
                policy: Estimate(None, unread[policy])
                if measure.yes_no and task.answers and policy in unread
                else measure.compute(scored[policy])
                for policy in measure.policies
            }
            for measure in SUBTEST_MEASURES
            if measure.compute is not None
        },
        by_tag={
            tag: replace(
                _share_of([kind for kind in kinds if tag in kind.item.tags]), unread=unread
            )
            for tag in dict.fromkeys(tag for kind in kinds for tag in kind.item.tags)
        },
        said_yes=said_yes,
        by_foil=_errors_by_foil(verdicts, unread) if task.options else {},
        measures={
            one.measure if names[one.measure] == 1 else f"{one.rater}: {one.measure}": one
            for one in measures
        },
        statuses=statuses,
        repeated=share.n - asked,
        usable=usable,
        positions=_positions(verdicts) if task.options else (),
    )


def _unread(subtest: Subtest, kinds: Sequence[AnswerKind]) -> dict[str, str]:
    """Return the policies that read none of the scored answers, with the reason: the language."""
    if is_english(subtest.language) or all(kind.verdicts[0] is None for kind in kinds):
        return {}
    unspaced = not subtest.task.closed and is_unspaced_language(subtest.language)
    reason = NO_SPACES if unspaced else not_available(subtest.language)
    return {
        policy: reason
        for at, policy in enumerate(POLICIES)
        if all(kind.verdicts[at] is None for kind in kinds)
    }


def _share_of(kinds: Sequence[AnswerKind]) -> Share:
    """Return the right answers among answers that count."""
    counts: dict[tuple[str, ...], list[int]] = {}
    for kind in kinds:
        found = counts.setdefault(kind.cluster, [0] * (2 * len(POLICIES)))
        for at, verdict in enumerate(kind.verdicts):
            if verdict is not None:
                found[2 * at] += kind.n * verdict[0]
                found[2 * at + 1] += kind.n
    items = [found for _, found in sorted(counts.items())]
    by_item = {
        policy: tuple((item[2 * at], item[2 * at + 1]) for item in items if item[2 * at + 1])
        for at, policy in enumerate(POLICIES)
    }
    # Of pooled speakers the speaker is the cluster.
    own = {kind.cluster: kind.item.cluster for kind in kinds if len(kind.cluster) > 1}
    names = [own.get(cluster) or cluster for cluster in sorted(counts)]
    clusters = {
        policy: tuple(name for name, item in zip(names, items, strict=True) if item[2 * at + 1])
        for at, policy in enumerate(POLICIES)
        if any(own.values())
    }
    return Share(
        sum(kind.n for kind in kinds),
        by_item,
        clusters=clusters,
        fixed=bool(kinds) and all(kind.fixed for kind in kinds),
        shared=any(kind.shared for kind in kinds),
    )


def _said_yes(verdicts: _Verdicts, kinds: Sequence[AnswerKind], yes: str) -> Share:
    """Return yes among the answers that are yes or no, as so many right answers."""
    chosen = {
        policy: {id(kind): answer.chosen for kind, answer in given}
        for policy, given in verdicts.items()
    }

    def said(kind: AnswerKind) -> Iterator[tuple[bool, str] | None]:
        for policy in POLICIES:
            answer = chosen[policy].get(id(kind))
            yield None if answer is None else (answer == yes, "")

    return _share_of([kind._replace(verdicts=tuple(said(kind))) for kind in kinds])


_Verdicts = Mapping[str, Sequence[tuple[AnswerKind, StoredAnswer]]]
"""By policy, what the stored verdicts say, without answers that have none."""


def _verdicts(subtest: Subtest, kinds: Sequence[AnswerKind]) -> _Verdicts:
    verdicts: dict[str, list[tuple[AnswerKind, StoredAnswer]]] = {name: [] for name in POLICIES}
    for kind in kinds if subtest.task.closed else ():
        item, options = kind.item, kind.shown
        if item.expected is None:
            continue
        if subtest.task.answers:
            options = item.options or subtest.possible_answers
        read = {
            verdict: read_reason(*verdict, item.expected, options, item.foils)
            for verdict in set(kind.verdicts)
            if verdict is not None
        }
        for policy, verdict in zip(POLICIES, kind.verdicts, strict=True):
            if verdict is not None:
                verdicts[policy].append((kind, read[verdict]))
    return verdicts


def _pairs(
    verdicts: Sequence[tuple[AnswerKind, StoredAnswer]],
) -> Counter[tuple[str, str | None]]:
    pairs: Counter[tuple[str, str | None]] = Counter()
    for kind, answer in verdicts:
        pairs[kind.item.expected or "", answer.chosen] += kind.n
    return pairs


def _errors_by_foil(verdicts: _Verdicts, unread: Mapping[str, str]) -> dict[str, FoilErrors]:
    scored = [kind for kind, _ in verdicts["exact"]]
    found = {
        policy: {id(kind): answer.error for kind, answer in given}
        for policy, given in verdicts.items()
    }
    foils = dict.fromkeys(error for kind in scored for error in kind.item.foils.values())
    offering = {
        error: [kind for kind in scored if error in kind.item.foils.values()] for error in foils
    }
    for error in UNLISTED:
        offering.setdefault(error, scored)
    offering["other-option"] = [
        kind for kind in scored if len(kind.shown) > len(kind.item.foils) + 1
    ]
    untold = [kind for kind in scored if any(one.get(id(kind)) == UNTOLD for one in found.values())]
    if untold:
        offering[UNTOLD] = untold

    def named(kind: AnswerKind, error: str) -> AnswerKind:
        of = (found[policy].get(id(kind), "") for policy in POLICIES)
        told = ((own == error, "") if own != "" else None for own in of)
        return kind._replace(verdicts=tuple(told))

    return {
        error: FoilErrors(
            replace(_share_of([named(kind, error) for kind in kinds]), unread=unread),
            sum(kind.n for kind in kinds),
            told=error != UNTOLD,
        )
        for error, kinds in offering.items()
    }


def _baselines(task: TaskType, kinds: Sequence[AnswerKind], yes: str | None) -> dict[str, Estimate]:
    """Return the baselines that apply to a subtest, ``yes`` being the battery's word for Yes.

    Each item has one weight, as in the accuracy, whatever the number of its responses.
    """
    given: Counter[str] = Counter()
    for kind in kinds:
        given[kind.item.id] += kind.n
    common = math.lcm(*filter(None, given.values()))
    keyed: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for kind in kinds:
        if (expected := kind.item.expected) is not None and kind.n:
            keyed[expected, kind.shown] += kind.n * (common // given[kind.item.id])
    sizes: Counter[int] = Counter()
    keys: Counter[str] = Counter()
    for (expected, shown), n in keyed.items():
        sizes[len(shown) or (0 if task.options else len(task.answers))] += n
        keys[expected] += n
    if task.options:
        return {"always_first": always_first(keyed), "guessing": guessing_rate(sizes)}
    if task.answers:
        always = {} if not yes else {"always_yes": always_yes(keys, yes)}
        return {**always, "guessing": guessing_rate(sizes)}
    return {}


def _positions(verdicts: _Verdicts) -> tuple[Position, ...]:
    """Return answers by position, none where the right option was always at one place."""
    counts: Counter[tuple[tuple[str, ...], str, bool, str | None]] = Counter()
    for kind, answer in verdicts["extracted"]:
        exact = kind.verdicts[0]
        right = exact is not None and exact[0]
        counts[kind.shown, kind.item.expected or "", right, answer.chosen] += kind.n
    made = positions(counts)
    return made if sum(position.keyed > 0 for position in made) > 1 else ()
