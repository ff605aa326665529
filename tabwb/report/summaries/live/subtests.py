"""The answers to a subtest of a session, counted, and what else its raters measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum

from tabwb.battery.model import Subtest
from tabwb.records.ratings import MeasureKind, Rating
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.live.counted import CountedResponse
from tabwb.report.summaries.subtest_counts import AnswerKind, CountedSubtest
from tabwb.report.summaries.subtests import Measured
from tabwb.scoring.burden import count_usable
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.lexical import MEASURES as LEXICAL
from tabwb.scoring.lexical import defined_at


def count_subtest(
    subtest: Subtest, source: Source, rows: Sequence[CountedResponse]
) -> CountedSubtest:
    """Return the answers to one subtest, counted."""
    own = [row for row in rows if row.subtest.id == subtest.id]
    given = [trial for trial in source.trials if not trial.plan.practice]
    trials = [trial for trial in given if trial.plan.subtest == subtest.id]
    scorer = decider(subtest, source, own)
    return CountedSubtest(
        planned=len(trials),
        answered=sum(trial.is_answered for trial in trials),
        kinds=_kinds(subtest, source, own, scorer),
        asked=len({row.item.id for row in own}),
        protocol=source.protocol if own else None,
        statuses=Counter(row.status.value for row in own if row.status),
        usable=count_usable(row.unusable for row in own),
        measures=_measures(subtest, source, own, scorer),
    )


def decider(subtest: Subtest, source: Source, rows: Sequence[CountedResponse]) -> str | None:
    """Return the first of the subtest's scorers that gives verdicts on these responses, or None.

    Verdicts are what a scorer declared as such, whatever the values are.
    """
    for scorer in subtest.scorers:
        if deciding(source, scorer, rows):
            return scorer
    return None


def deciding(source: Source, scorer: str, rows: Sequence[CountedResponse]) -> list[Rating]:
    """Return the ratings of responses by the measure with a scorer's verdicts."""
    measure = source.verdict_measure(scorer)
    given = (row.rated_by(scorer).get(measure) for row in rows)
    return [rating for rating in given if rating is not None]


def _kinds(
    subtest: Subtest, source: Source, rows: Sequence[CountedResponse], scorer: str | None
) -> list[AnswerKind]:
    names = [source.verdict_measure(scorer or "", policy) for policy in POLICIES]
    closed = subtest.task.closed
    items = {item.id: item for item in subtest.items}
    kinds: Counter[tuple[str, tuple[str, ...], tuple[tuple[bool, str] | None, ...], bool, bool]] = (
        Counter()
    )
    for row in rows:
        given = {} if scorer is None else row.rated_by(scorer)
        ratings = (given.get(name) for name in names)
        verdicts = tuple(
            None
            if rating is None or rating.value is None
            else (rating.value == 1.0, rating.reason if closed else "")
            for rating in ratings
        )
        key = row.item.id, row.trial.plan.options, verdicts, row.fixed, row.shares_stream
        kinds[key] += 1
    return [
        AnswerKind(items[item], shown, (subtest.id, item), verdicts, fixed, shared, n)
        for (item, shown, verdicts, fixed, shared), n in kinds.items()
    ]


def _measures(
    subtest: Subtest, source: Source, rows: Sequence[CountedResponse], decides: str | None
) -> list[Measured]:
    """Return the further measures; words, diversity and connected text over usable responses."""
    text = subtest.task.connected
    verdicts = {source.verdict_measure(decides, policy) for policy in POLICIES} if decides else ()
    values: dict[tuple[str, str], list[float | None]] = {}
    for row in rows:
        sizes = {
            rating.rater: rating.value for rating in row.trial.ratings if rating.measure == "words"
        }
        for rating in row.trial.ratings:
            if rating.rater not in subtest.scorers:
                continue
            if not row.usable and (text or rating.measure in LEXICAL):
                continue
            if rating.rater != decides or rating.measure not in verdicts:
                defined = defined_at(rating.measure, sizes.get(rating.rater))
                value = rating.value if defined else None
                values.setdefault((rating.rater, rating.measure), []).append(value)
    return [
        _measured(given, rater, measure, source.measures_of(rater).get(measure, "number"))
        for (rater, measure), given in values.items()
    ]


def other_measures(
    source: Source, rows: Sequence[CountedResponse]
) -> Mapping[str, Mapping[str, Measured]]:
    """Return the means of what raters measured that are judges without features: by rater, by
    name.
    """
    raters = {
        rater
        for rater, declared in source.declarations.items()
        if declared.kind == "judge" and not declared.features
    }
    values: dict[str, dict[str, list[float | None]]] = {}
    for row in rows if raters else ():
        if row.subtest.task.coded or not row.usable:
            continue
        counted: set[str] = set()
        for response in (row, *row.duplicates):
            ratings = [rating for rating in response.trial.ratings if rating.rater not in counted]
            for rating in ratings:
                if rating.rater in raters:
                    given = values.setdefault(rating.rater, {})
                    given.setdefault(rating.measure, []).append(rating.value)
            counted.update(rating.rater for rating in ratings)
    return {
        rater: {name: _measured(given) for name, given in measures.items()}
        for rater, measures in values.items()
    }


def _measured(
    values: Sequence[float | None],
    rater: str = "",
    measure: str = "",
    kind: MeasureKind = "number",
) -> Measured:
    known = [value for value in values if value is not None]
    nonzero = sum(value != 0 for value in known)
    unknown = len(values) - len(known)
    return Measured(len(known), fsum(known), nonzero, unknown, rater, measure, kind)
