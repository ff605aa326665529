"""What is shown of one administration while it runs."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.frame import Memory, Table, prepare
from tabwb.analysis.statistics.accuracy import subtest_counts
from tabwb.analysis.statistics.burden import Judge, judges_in
from tabwb.analysis.statistics.results import Results
from tabwb.records.trials import Trial


class RunningSummary:
    """Summarises one administration again and again: only what is new is taken into columns.

    Attributes:
        unusable: the numbers of the trials whose features are undefined, whoever rates them.
    """

    def __init__(self) -> None:
        self.unusable: frozenset[int] = frozenset()
        self._memory = Memory()
        self._taken: Sequence[Trial] = ()
        self._judged: object = None
        self._judges: tuple[Judge, ...] = ()

    def of(self, source: AdministrationData) -> Results:
        """Return the counts of each subtest, and the burden of each judge without intervals.

        Burdens are computed only when a response that judges rate is new or was rated again.
        """
        changed = self._memory.again(self._taken, source.trials)
        self._taken = source.trials
        table = Table(prepare(self._memory.columns(), [source]), [0], [source])
        self.unusable = frozenset(
            table.columns.trials[~table.usable[table.representative]].tolist()
        )
        scorers = {subtest.id: subtest.scorers for subtest in source.battery.subtests}
        is_judged = any(
            source.battery.subtest(trial.plan.subtest).task.connected
            or any(rating.rater not in scorers[trial.plan.subtest] for rating in trial.ratings)
            for trial in changed
        )
        # An answer to another subtest can make connected text a repeated answer.
        statuses = table.status[table.connected].tobytes()
        if is_judged or statuses != self._judged:
            self._judged, self._judges = statuses, judges_in(table)
        battery = source.battery
        return Results(
            (), subtest_counts(table), battery=battery, parts=battery.subtests, judges=self._judges
        )
