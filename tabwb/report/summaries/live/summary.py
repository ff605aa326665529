"""The whole summary of a session at its end, and what is shown of it while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tabwb.administer.session.raters import failed_raters
from tabwb.records.reasoning import holds_reasoning
from tabwb.records.states import RatingStatus
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.judges import JudgeSummary
from tabwb.report.summaries.live.counted import CountedResponse, counted
from tabwb.report.summaries.live.judges import summarise_judges
from tabwb.report.summaries.live.subtests import count_subtest, decider, deciding, other_measures
from tabwb.report.summaries.raters import raters_of
from tabwb.report.summaries.subtest_counts import summarise_subtest
from tabwb.report.summaries.subtests import SubtestCount
from tabwb.report.summaries.summary import Answers, Summary, named_of, with_words
from tabwb.scoring.burden import NO_USABLE, count_usable
from tabwb.scoring.estimate import ratio
from tabwb.scoring.text import words


def summarise(source: Source, *, interval: bool = False) -> Summary:
    """Return the summary of a session, as ``pool`` does."""
    rows = counted(source)
    declared = source.declarations.items()
    asking = frozenset(rater for rater, declaration in declared if declaration.prompt_text)
    summary = Summary(
        subtests=tuple(
            summarise_subtest(subtest, count_subtest(subtest, source, rows))
            for subtest in source.battery.subtests
        ),
        judges=summarise_judges(source, rows, interval=interval),
        answers=_answers(rows, keeps=source.keeps_reasoning),
        others=other_measures(source, rows),
        named=named_of([source]),
        failed=failed_raters([row.trial for row in rows], asking),
        raters=raters_of([source], _rated_by(rows)),
    )
    return with_words(summary, source.battery)


def _rated_by(rows: Sequence[CountedResponse]) -> dict[str, set[int]]:
    given = (rating for row in rows for rating in row.trial.ratings)
    return {one.rater: {0} for one in given if one.status is not RatingStatus.ERROR}


def _answers(rows: Sequence[CountedResponse], *, keeps: bool) -> Answers:
    written = (row for row in rows if row.attempt.response.strip() or not row.usable)
    texts = [row.attempt.response for row in written]  # what is named aloud has none
    usable = [row.attempt.response for row in rows if row.usable]
    empty = [row.attempt.metadata for row in rows if not row.attempt.response.strip()]
    return Answers(
        n=len(rows),
        n_distinct=len(set(texts)) if texts or not rows else None,
        words_mean=ratio(sum(len(words(text)) for text in usable), len(usable), NO_USABLE),
        statuses=dict(Counter(row.status.value for row in rows if row.status)),
        inexact=sum(row.attempt.metadata.get("batch_exact") == "no" for row in rows),
        empty_causes=dict(Counter(noted["cause"] for noted in empty if "cause" in noted)),
        usable=count_usable(row.unusable for row in rows),
        shared_streams=sum(row.shares_stream for row in rows),
        with_reasoning=0 if keeps else sum(map(holds_reasoning, texts)),
    )


class LiveSummary:
    """Summarises one administration again and again while it runs.

    Attributes:
        unusable: the numbers of the trials whose features are undefined, whoever rates them.
    """

    def __init__(self) -> None:
        self.unusable: frozenset[int] = frozenset()
        self._judged: list[CountedResponse] = []
        self._judges: tuple[JudgeSummary, ...] = ()

    def of(self, source: Source) -> tuple[tuple[SubtestCount, ...], tuple[JudgeSummary, ...]]:
        """Return the counts of each subtest, and the burden of each judge without intervals.

        Burdens are computed only when a response that judges rate is new or was rated again.
        """
        rows = counted(source)
        self.unusable = frozenset(
            same.trial.plan.number
            for row in rows
            if not row.usable
            for same in (row, *row.duplicates)
        )
        in_scope = [row for row in rows if _is_for_judges(row)]
        if in_scope != self._judged:
            self._judged = in_scope
            self._judges = summarise_judges(source, rows)
        return _subtest_counts(source, rows), self._judges


def _is_for_judges(row: CountedResponse) -> bool:
    return row.subtest.task.connected or any(
        rating.rater not in row.subtest.scorers for rating in row.trial.ratings
    )


def _subtest_counts(source: Source, rows: Sequence[CountedResponse]) -> tuple[SubtestCount, ...]:
    given = [trial for trial in source.trials if not trial.plan.practice]
    planned = Counter(trial.plan.subtest for trial in given)
    answered = Counter(trial.plan.subtest for trial in given if trial.is_answered)
    counts = []
    for subtest in source.battery.subtests:
        own = [row for row in rows if row.subtest.id == subtest.id]
        rater = decider(subtest, source, own)
        verdicts = [] if rater is None else deciding(source, rater, own)
        values = [each.value for each in verdicts if each.value is not None]
        trials = planned[subtest.id], answered[subtest.id]
        right = values.count(1.0) if values else None
        counts.append(SubtestCount(subtest.id, subtest.title, *trials, len(values), right))
    return tuple(counts)
