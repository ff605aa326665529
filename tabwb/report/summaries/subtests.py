"""The summary of one subtest: right answers, measures beside them, errors by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

from tabwb.battery.model import Subtest
from tabwb.records.states import ResponseKind
from tabwb.report.measures import SUBTEST_MEASURES, ScoredAnswers
from tabwb.report.summaries.counted import CountedResponse, Source
from tabwb.report.summaries.draws import without_draws
from tabwb.scoring.burden import NONE_COUNTED, Usable, count_usable
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
    ratio,
)
from tabwb.scoring.intervals import rate_interval
from tabwb.scoring.lexical import MEASURES as LEXICAL
from tabwb.scoring.lexical import defined_at
from tabwb.scoring.yes_no import YES

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


def summarise_subtest(
    subtest: Subtest, sources: Sequence[Source], rows: Sequence[CountedResponse]
) -> SubtestSummary:
    """Return the summary of one subtest.

    Args:
        subtest: of the battery.
        sources: the administrations.
        rows: their responses to the subtest that count.
    """
    given = (trial for source in sources for trial in source.trials if not trial.plan.practice)
    trials = [trial for trial in given if trial.plan.subtest == subtest.id]
    rater = decider(subtest, rows)
    share = _share_of(rows, rater)
    verdicts = _verdicts(subtest, rows, rater)
    protocols = {sources[row.source].protocol for row in rows}
    protocol = protocols.pop() if len(protocols) == 1 else None
    baselines = _baselines(subtest, rows)
    tags = dict.fromkeys(tag for row in rows for tag in row.item.tags)
    scored = {
        policy: ScoredAnswers(
            n=share.n,
            accuracy=share.accuracy(policy),
            pairs=[(row.item.expected or "", answer.chosen) for row, answer in given],
            guessing=baselines.get("guessing"),
            protocol=protocol,
            yes=_yes(rows) if subtest.task.answers else None,
        )
        for policy, given in verdicts.items()
    }
    return SubtestSummary(
        id=subtest.id,
        title=subtest.title,
        kind=subtest.response,
        planned=len(trials),
        answered=sum(trial.is_answered for trial in trials),
        share=share,
        baselines=baselines,
        estimates={
            measure.id: {policy: measure.compute(scored[policy]) for policy in measure.policies}
            for measure in SUBTEST_MEASURES
            if measure.compute is not None
        },
        by_tag={
            tag: _share_of([row for row in rows if tag in row.item.tags], rater) for tag in tags
        },
        by_foil=_by_foil(verdicts) if subtest.task.options else {},
        measures=_measures(subtest, rows, rater),
        statuses=dict(Counter(row.status.value for row in rows if row.status)),
        repeated=len(rows) - len({(sources[row.source].examinee, row.item.id) for row in rows}),
        usable=count_usable(row.unusable for row in rows),
        positions=_positions(verdicts) if subtest.task.options else (),
    )


def decider(subtest: Subtest, rows: Iterable[CountedResponse]) -> str | None:
    """Return the first of the subtest's scorers that gives verdicts on these responses, or None.

    Verdicts are 1 and 0: a scorer whose deciding measure has another value gives none here.

    Args:
        subtest: of the battery.
        rows: responses to it.
    """
    given = list(rows)
    for scorer in subtest.scorers:
        verdicts = [verdict for row in given if (verdict := row.verdict(scorer)) is not None]
        if verdicts and all(verdict.value in (None, 0.0, 1.0) for verdict in verdicts):
            return scorer
    return None


def _share_of(rows: Sequence[CountedResponse], rater: str | None) -> Share:
    by_item: dict[str, tuple[tuple[int, int], ...]] = {}
    for policy in POLICIES:
        values: dict[tuple[str, ...], list[float]] = {}
        for row in rows:
            rating = None if rater is None else row.verdict(rater, policy)
            if rating is not None and rating.value is not None:
                values.setdefault(row.cluster, []).append(rating.value)
        by_item[policy] = tuple(
            (given.count(1.0), len(given)) for _, given in sorted(values.items())
        )
    fixed = bool(rows) and all(row.fixed for row in rows)
    return Share(len(rows), by_item, fixed, any(row.shares_stream for row in rows))


_Verdicts = Mapping[str, list[tuple[CountedResponse, StoredAnswer]]]
"""By policy, what the stored verdicts say, without answers that have none."""


def _verdicts(subtest: Subtest, rows: Sequence[CountedResponse], rater: str | None) -> _Verdicts:
    verdicts: _Verdicts = {policy: [] for policy in POLICIES}
    if rater is None or not subtest.task.closed:
        return verdicts
    for row in rows:
        expected, options = row.item.expected, row.options
        if expected is None:
            continue
        if subtest.task.answers:
            options = row.item.options or subtest.task.answers
        for policy in POLICIES:
            rating = row.verdict(rater, policy)
            if rating is not None and rating.value is not None:
                correct = rating.value == 1.0
                answer = read_reason(correct, rating.reason, expected, options, row.item.foils)
                verdicts[policy].append((row, answer))
    return verdicts


def _yes(rows: Sequence[CountedResponse]) -> str:
    return next((row.item.options[0] for row in rows if row.item.options), YES)


def _baselines(subtest: Subtest, rows: Sequence[CountedResponse]) -> dict[str, Estimate]:
    keyed = [(row.item.expected, row) for row in rows if row.item.expected is not None]
    if subtest.task.options:
        return {
            "always_first": always_first((key, row.options) for key, row in keyed),
            "guessing": guessing_rate(len(row.options) for _, row in keyed),
        }
    if subtest.task.answers:
        return {
            "always_yes": always_yes((key for key, _ in keyed), _yes(rows)),
            "guessing": guessing_rate(
                len(row.options) or len(subtest.task.answers) for _, row in keyed
            ),
        }
    return {}


def _positions(verdicts: _Verdicts) -> tuple[Position, ...]:
    exact = {id(row): answer.error is None for row, answer in verdicts["exact"]}
    made = positions(
        (row.options, row.item.expected or "", exact.get(id(row), False), answer.chosen)
        for row, answer in verdicts["extracted"]
    )
    return made if sum(position.keyed > 0 for position in made) > 1 else ()


def _by_foil(verdicts: _Verdicts) -> dict[str, FoilErrors]:
    scored = [row for row, _ in verdicts["exact"]]
    counts = {
        policy: Counter(answer.error for _, answer in given) for policy, given in verdicts.items()
    }
    foils = dict.fromkeys(kind for row in scored for kind in row.item.foils.values())
    offering = {kind: sum(kind in row.item.foils.values() for row in scored) for kind in foils}
    for kind in UNLISTED:
        offering.setdefault(kind, len(scored))
    offering["other-option"] = sum(len(row.options) > len(row.item.foils) + 1 for row in scored)
    untold = max(count[UNTOLD] for count in counts.values())
    if untold:
        offering[UNTOLD] = untold
    return {
        kind: FoilErrors({policy: counts[policy][kind] for policy in POLICIES}, of)
        for kind, of in offering.items()
    }


def _measures(
    subtest: Subtest, rows: Sequence[CountedResponse], decides: str | None
) -> dict[str, Measured]:
    """Return the further measures; words, diversity and connected text over usable responses."""
    text = subtest.task.connected
    values: dict[tuple[str, str], list[float | None]] = {}
    for row in rows:
        sizes = {
            rating.rater: rating.value for rating in row.trial.ratings if rating.measure == "words"
        }
        verdicts = (*POLICIES, row.deciding.get(decides, "")) if decides else ()
        for rating in row.trial.ratings:
            if rating.rater not in subtest.scorers:
                continue
            if not row.usable and (text or rating.measure in LEXICAL):
                continue
            if rating.rater != decides or rating.measure not in verdicts:
                defined = defined_at(rating.measure, sizes.get(rating.rater))
                value = rating.value if defined else None
                values.setdefault((rating.rater, rating.measure), []).append(value)
    shared = Counter(measure for _, measure in values)
    return {
        measure if shared[measure] == 1 else f"{rater}: {measure}": measured(given, rater, measure)
        for (rater, measure), given in values.items()
    }


def measured(
    values: Sequence[float | None],
    rater: str = "",
    measure: str = "",
    add: Callable[[Iterable[float]], float] = sum,
) -> Measured:
    """Return counts and sum of values; None where a value is undefined.

    Args:
        values: of all responses.
        rater: who measured.
        measure: its name.
        add: returns the sum.
    """
    known = [value for value in values if value is not None]
    nonzero = sum(value != 0 for value in known)
    return Measured(len(known), add(known), nonzero, len(values) - len(known), rater, measure)


def other_measures(
    sources: Sequence[Source], rows: Sequence[CountedResponse]
) -> Mapping[str, Mapping[str, Measured]]:
    """Return the means of what raters measured that are judges without features: by rater, by name.

    Args:
        sources: the administrations.
        rows: their responses that count.
    """
    values: dict[str, dict[str, list[float | None]]] = {}
    for row in rows:
        if not row.usable:
            continue
        counted: set[str] = set()
        for response in (row, *row.duplicates):
            declarations = sources[response.source].declarations
            ratings = [rating for rating in response.trial.ratings if rating.rater not in counted]
            for rating in ratings:
                declared = declarations.get(rating.rater)
                if declared is not None and declared.kind == "judge" and not declared.features:
                    given = values.setdefault(rating.rater, {})
                    given.setdefault(rating.measure, []).append(rating.value)
            counted.update(rating.rater for rating in ratings)
    return {
        rater: {name: measured(given, add=fsum) for name, given in measures.items()}
        for rater, measures in values.items()
    }
