"""The summary of each subtest of a session: right answers, measures beside them, errors by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tabwb.battery.model import Subtest
from tabwb.report.measures import SUBTEST_MEASURES, ScoredAnswers
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.live.counted import CountedResponse
from tabwb.report.summaries.subtests import (
    FoilErrors,
    Measured,
    Share,
    SubtestSummary,
    baselines_of,
    errors_by_foil,
    measured,
    positions_of,
)
from tabwb.scoring.burden import count_usable
from tabwb.scoring.choice import POLICIES, Position, StoredAnswer, read_reason
from tabwb.scoring.estimate import Estimate
from tabwb.scoring.lexical import MEASURES as LEXICAL
from tabwb.scoring.lexical import defined_at
from tabwb.scoring.yes_no import YES


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
    keyed = Counter(
        (row.item.expected, row.options) for row in rows if row.item.expected is not None
    )
    return baselines_of(subtest.task, keyed, _yes(rows))


def _positions(verdicts: _Verdicts) -> tuple[Position, ...]:
    exact = {id(row): answer.error is None for row, answer in verdicts["exact"]}
    return positions_of(
        Counter(
            (row.options, row.item.expected or "", exact.get(id(row), False), answer.chosen)
            for row, answer in verdicts["extracted"]
        )
    )


def _by_foil(verdicts: _Verdicts) -> dict[str, FoilErrors]:
    return errors_by_foil(
        {
            policy: [(row.item, row.options, answer, 1) for row, answer in given]
            for policy, given in verdicts.items()
        }
    )


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
        rater: {name: measured(given) for name, given in measures.items()}
        for rater, measures in values.items()
    }
