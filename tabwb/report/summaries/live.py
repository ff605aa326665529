"""The scores of a running administration: only what the score panel shows, and only what changed.

The numbers are those of :func:`tabwb.report.summaries.summary.pool`; a test compares both.
"""

from __future__ import annotations

from tabwb.report.summaries.counted import CountedResponse, Source, counted
from tabwb.report.summaries.judges import JudgeSummary, summarise_judges
from tabwb.report.summaries.subtests import SubtestCount, decider


class LiveSummary:
    """Summarises one administration again and again while it runs."""

    def __init__(self) -> None:
        self._judged: list[CountedResponse] = []
        self._judges: tuple[JudgeSummary, ...] = ()

    def of(self, source: Source) -> tuple[tuple[SubtestCount, ...], tuple[JudgeSummary, ...]]:
        """Return the counts of each subtest, and the burden of each judge without intervals.

        Burdens are computed only when a response that judges rate is new or was rated again.

        Args:
            source: the administration with its trials as they stand.
        """
        rows = counted([source])
        in_scope = [row for row in rows if _is_for_judges(row)]
        if in_scope != self._judged:
            self._judged = in_scope
            self._judges = summarise_judges(source.battery, [source], rows)
        return subtest_counts(source, rows), self._judges


def _is_for_judges(row: CountedResponse) -> bool:
    scorers = row.subtest.scorers
    return row.subtest.task.connected or any(
        rating.rater not in scorers for rating in row.trial.ratings
    )


def subtest_counts(source: Source, rows: list[CountedResponse]) -> tuple[SubtestCount, ...]:
    """Return the counts of each subtest.

    Args:
        source: the administration.
        rows: its responses that count.
    """
    planned: dict[str, int] = {}
    answered: dict[str, int] = {}
    for trial in source.trials:
        if not trial.plan.practice:
            subtest_id = trial.plan.subtest
            planned[subtest_id] = planned.get(subtest_id, 0) + 1
            answered[subtest_id] = answered.get(subtest_id, 0) + trial.is_answered
    counts = []
    for subtest in source.battery.subtests:
        own = [row for row in rows if row.subtest.id == subtest.id]
        rater = decider(subtest, own)
        verdicts = [] if rater is None else [row.verdict(rater) for row in own]
        values = [rating.value for rating in verdicts if rating and rating.value is not None]
        counts.append(
            SubtestCount(
                subtest.id,
                subtest.title,
                planned.get(subtest.id, 0),
                answered.get(subtest.id, 0),
                len(values),
                sum(value == 1.0 for value in values) if values else None,
            )
        )
    return tuple(counts)
