"""The scores of a running administration: only what the score panel shows, and only what changed.

The numbers are those of :func:`tabwb.report.summaries.summary.pool`; a test compares both.
"""

from __future__ import annotations

from collections import Counter

from tabwb.report.summaries.counted import CountedResponse, Source, counted
from tabwb.report.summaries.judges import JudgeSummary, summarise_judges
from tabwb.report.summaries.subtests import SubtestCount, decider, share_of


class LiveSummary:
    """Summarises one administration again and again while it runs."""

    def __init__(self) -> None:
        self._judged: list[CountedResponse] = []
        self._judges: tuple[JudgeSummary, ...] = ()

    def of(self, source: Source) -> tuple[tuple[SubtestCount, ...], tuple[JudgeSummary, ...]]:
        """Return the counts of each subtest, and the burden of each judge without intervals.

        Burdens are computed only when a response that judges rate is new or was rated again.
        """
        rows = counted([source])
        in_scope = [row for row in rows if _is_for_judges(row)]
        if in_scope != self._judged:
            self._judged = in_scope
            self._judges = summarise_judges(source.battery, [source], rows)
        return _subtest_counts(source, rows), self._judges


def _is_for_judges(row: CountedResponse) -> bool:
    scorers = row.subtest.scorers
    return row.subtest.task.connected or any(
        rating.rater not in scorers for rating in row.trial.ratings
    )


def _subtest_counts(source: Source, rows: list[CountedResponse]) -> tuple[SubtestCount, ...]:
    given = [trial for trial in source.trials if not trial.plan.practice]
    planned = Counter(trial.plan.subtest for trial in given)
    answered = Counter(trial.plan.subtest for trial in given if trial.is_answered)
    counts = []
    for subtest in source.battery.subtests:
        own = [row for row in rows if row.subtest.id == subtest.id]
        share = share_of(own, decider(subtest, own), ("exact",))
        trials = planned[subtest.id], answered[subtest.id]
        right = share.correct["exact"]
        counts.append(SubtestCount(subtest.id, subtest.title, *trials, share.scored, right))
    return tuple(counts)
