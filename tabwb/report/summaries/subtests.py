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
from tabwb.scoring.lexical import MEASURES as LEXICAL
from tabwb.scoring.lexical import defined_at
from tabwb.scoring.rate_interval import rate_interval
from tabwb.scoring.yes_no import YES

NOT_SCORED = "nothing was scored right or wrong here"
UNLISTED = ("other-option", "ambiguous", "no-option")
"""Kinds of error beside the battery's foil kinds."""


@dataclass(frozen=True, slots=True)
class Share:
    """Right answers out of those scored, under the three policies.

    Attributes:
        n: answers counted.
        scored: answers with a verdict of the deciding scorer under the policy ``exact``.
        correct: by policy; None where no answer has a verdict.
        scored_by: by policy, answers with a verdict under it; a policy that is missing has
            ``scored`` of them.
        by_item: by policy, (right, answers with a verdict) of each item.
        fixed: whether nothing was drawn.
        shared: whether some were drawn from random streams that others share.
    """

    n: int
    scored: int
    correct: Mapping[str, int | None]
    scored_by: Mapping[str, int] = field(default_factory=dict)
    by_item: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    fixed: bool = False
    shared: bool = False

    def of(self, policy: str = "exact") -> int:
        """Return how many answers have a verdict under a policy."""
        return self.scored_by.get(policy, self.scored)

    def interval(self, policy: str = "exact") -> Interval | None:
        """Return the 95 % interval for prompts like these, or None."""
        found = self.intervals(policy)
        return found[0].interval if found else None

    def intervals(self, policy: str = "exact") -> tuple[EstimatedInterval, ...]:
        """Return the 95 % intervals, one for each estimand; none where nothing has a verdict.

        With one answer to each item the first is the exact (Clopper-Pearson) interval; with
        replicates it is the beta-binomial one, from counts per item.
        """
        right = self.correct[policy]
        if right is None:
            return ()
        items = self.by_item.get(policy, ())
        hits, sizes = [hits for hits, _ in items], [n for _, n in items]
        these = rate_interval(hits, sizes, Estimand.THESE_PROMPTS, deterministic=self.fixed)
        if self.shared:
            (these,) = without_draws([these])
        if all(n == 1 for n in sizes):
            exact = clopper_pearson(right, self.of(policy))
            return EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, exact), these
        return rate_interval(hits, sizes), these

    def accuracy(self, policy: str = "exact") -> Estimate:
        """Return the share right of the answers with a verdict under the policy."""
        right = self.correct[policy]
        return ratio(right or 0, self.of(policy) if right is not None else 0, NOT_SCORED)


@dataclass(frozen=True, slots=True)
class FoilErrors:
    """Errors of one kind.

    Attributes:
        errors: by policy.
        of: answers scored to items that offer such a foil (all of them for ``ambiguous``,
            ``no-option``; those with such an error for ``untold``).
    """

    errors: Mapping[str, int]
    of: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A further measure of one scorer over the responses of a subtest.

    Attributes:
        rater, measure: who measured what; measures of two raters are never put together.
        n: responses with a value.
        total: sum of the values.
        nonzero: responses with another value than 0.
        undefined: responses without a value.
    """

    n: int
    total: float
    nonzero: int
    undefined: int
    rater: str = ""
    measure: str = ""

    @classmethod
    def of(
        cls,
        values: Sequence[float | None],
        rater: str = "",
        measure: str = "",
        add: Callable[[Iterable[float]], float] = sum,
    ) -> Measured:
        """Return the counts and the sum of values.

        Args:
            values: of all responses; None where undefined.
            rater: who measured.
            measure: its name.
            add: returns the sum.
        """
        known = [value for value in values if value is not None]
        return cls(
            n=len(known),
            total=add(known),
            nonzero=sum(value != 0 for value in known),
            undefined=len(values) - len(known),
            rater=rater,
            measure=measure,
        )

    @property
    def mean(self) -> Estimate:
        """Mean of the values."""
        return ratio(self.total, self.n, "undefined for every response")


@dataclass(frozen=True, slots=True)
class SubtestCount:
    """Counts of one subtest.

    Attributes:
        id: of the subtest.
        title: of the subtest.
        planned: its trials without practice.
        answered: its trials with an answer that counts.
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
        repeated: answers beyond the first one to an item by the same examinee.
        baselines: ``always_first``, ``always_yes``, ``guessing``, those that apply.
        estimates: id of a measure of :data:`~tabwb.report.measures.SUBTEST_MEASURES` to its value
            by policy.
        by_tag: tag to shares; by_foil: kind of error to counts.
        measures: further measures of the subtest's scorers (``insertion``, ``ttr``), each of one
            rater; where two raters give one of the same name, the names are ``RATER: MEASURE``.
        statuses: response status under which they count, to number of responses.
        usable: how many are usable; means of measures are over these.
        positions: of choices whose key did not always stand at one place: right answers by the
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
        share = self.share
        right = share.correct["exact"]
        return SubtestCount(self.id, self.title, self.planned, self.answered, share.scored, right)

    def estimate(self, measure: str, policy: str = "exact") -> Estimate:
        """Return the value of a measure.

        Args:
            measure: its id.
            policy: under which answers are right.
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
    trials = [
        trial
        for source in sources
        for trial in source.trials
        if trial.plan.subtest == subtest.id and not trial.plan.practice
    ]
    rater = decider(subtest, rows)
    share = _share(rows, rater)
    verdicts = _verdicts(subtest, rows, rater)
    protocols = {sources[row.source].protocol for row in rows}
    protocol = protocols.pop() if len(protocols) == 1 else None
    baselines = _baselines(subtest, rows)
    tags = dict.fromkeys(tag for row in rows for tag in row.item.tags)
    scored = {
        policy: ScoredAnswers(
            n=share.n,
            accuracy=share.accuracy(policy),
            pairs=[(row.item.expected or "", verdict.chosen) for row, verdict in given],
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
        by_tag={tag: _share([row for row in rows if tag in row.item.tags], rater) for tag in tags},
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
        found = [verdict for row in given if (verdict := row.verdict(scorer)) is not None]
        if found and all(verdict.value in (None, 0.0, 1.0) for verdict in found):
            return scorer
    return None


def _share(rows: Sequence[CountedResponse], rater: str | None) -> Share:
    correct: dict[str, int | None] = {}
    scored: dict[str, int] = {}
    items: dict[str, tuple[tuple[int, int], ...]] = {}
    for policy in POLICIES:
        given = [] if rater is None else [row.verdict(rater, policy) for row in rows]
        values = [rating.value for rating in given if rating and rating.value is not None]
        correct[policy] = sum(value == 1.0 for value in values) if values else None
        scored[policy] = len(values)
        counts: dict[tuple[str, ...], list[float]] = {}
        for row, rating in zip(rows, given, strict=False):
            if rating is not None and rating.value is not None:
                counts.setdefault(row.cluster, []).append(rating.value)
        items[policy] = tuple(
            (sum(value == 1.0 for value in counts[cluster]), len(counts[cluster]))
            for cluster in sorted(counts)
        )
    fixed = bool(rows) and all(row.fixed for row in rows)
    shared = any(row.shares_stream for row in rows)
    return Share(len(rows), scored["exact"], correct, scored, items, fixed, shared)


def _verdicts(
    subtest: Subtest, rows: Sequence[CountedResponse], rater: str | None
) -> dict[str, list[tuple[CountedResponse, StoredAnswer]]]:
    """Return, by policy, what the stored verdicts say, without answers that have none."""
    found: dict[str, list[tuple[CountedResponse, StoredAnswer]]] = {
        policy: [] for policy in POLICIES
    }
    if rater is None or not subtest.task.closed:
        return found
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
                verdict = read_reason(correct, rating.reason, expected, options, row.item.foils)
                found[policy].append((row, verdict))
    return found


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


def _positions(
    verdicts: Mapping[str, Sequence[tuple[CountedResponse, StoredAnswer]]],
) -> tuple[Position, ...]:
    exact = {id(row): found.error is None for row, found in verdicts["exact"]}
    made = positions(
        (row.options, row.item.expected or "", exact.get(id(row), False), found.chosen)
        for row, found in verdicts["extracted"]
    )
    return made if sum(one.keyed > 0 for one in made) > 1 else ()


def _by_foil(
    verdicts: Mapping[str, Sequence[tuple[CountedResponse, StoredAnswer]]],
) -> dict[str, FoilErrors]:
    scored = [row for row, _ in verdicts["exact"]]
    counts = {
        policy: Counter(found.error for _, found in given) for policy, given in verdicts.items()
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
    """Return the further measures; those of language are over usable responses only.

    These are all measures of connected text, and words and diversity everywhere; others (errors of
    repetition) are counted in every answer, as right answers are.
    """
    text = subtest.task.connected
    values: dict[tuple[str, str], list[float | None]] = {}
    for row in rows:
        sizes = {one.rater: one.value for one in row.trial.ratings if one.measure == "words"}
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
        measure if shared[measure] == 1 else f"{rater}: {measure}": Measured.of(
            given, rater, measure
        )
        for (rater, measure), given in values.items()
    }


@dataclass(frozen=True, slots=True)
class OtherMeasures:
    """The measures of one rater that declared no features.

    Attributes:
        rater: its name in the ratings.
        measures: by name, over the usable responses that the rater has rated.
    """

    rater: str
    measures: Mapping[str, Measured]


def other_measures(
    sources: Sequence[Source], rows: Sequence[CountedResponse]
) -> tuple[OtherMeasures, ...]:
    """Return the means of what raters measured that are judges without features.

    Args:
        sources: the administrations.
        rows: their responses that count.
    """
    values: dict[str, dict[str, list[float | None]]] = {}
    for row in rows:
        if not row.usable:
            continue
        counted: set[str] = set()
        for one in (row, *row.duplicates):
            declarations = sources[one.source].declarations
            found = [rating for rating in one.trial.ratings if rating.rater not in counted]
            for rating in found:
                said = declarations.get(rating.rater)
                if said is not None and said.kind == "judge" and not said.features:
                    given = values.setdefault(rating.rater, {})
                    given.setdefault(rating.measure, []).append(rating.value)
            counted.update(rating.rater for rating in found)
    return tuple(
        OtherMeasures(
            rater, {name: Measured.of(given, add=fsum) for name, given in measures.items()}
        )
        for rater, measures in values.items()
    )
