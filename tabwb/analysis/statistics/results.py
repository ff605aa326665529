"""The results of a group: one row for each value, found by what was measured.

Tables, documents, figures and pages of groups take every value from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tabwb.records.ratings import MeasureKind
from tabwb.report.summaries.judges import JudgeSummary, Terms
from tabwb.report.summaries.statistics import StatisticResult
from tabwb.scoring.burden import Usable
from tabwb.scoring.estimate import Estimate, EstimatedInterval, Interval

EXACT = "exact"
Rater = str | Terms
"""A rater by name, or by the terms under which it judged where it judged under several."""


@dataclass(frozen=True)
class Result:
    """One value of a group.

    Attributes:
        part: the subtest's id; empty for a value over all responses.
        rater: who gave the ratings; empty where there is none. terms: of a judge.
        measure, feature, policy: what was measured, of which feature, category, tag or kind of
            foil (else empty), and under which policy (else empty).
        n: responses with a value; n_items: the items that they belong to, None where not counted.
        total: the sum of what was counted in these: right answers, errors, responses with the
            feature; None where no answer could be counted.
        usable: of the responses that the measure is about.
        kind: what the values of a scorer's further measure are, as it declared.
        statistic: of a plugin, its declaration and the value that it gave.
        ends: returns the intervals, one for each estimand; they are computed when first read.
    """

    measure: str
    value: Estimate
    part: str = ""
    rater: str = ""
    feature: str = ""
    policy: str = ""
    n: int = 0
    n_items: int | None = None
    total: float | None = None
    usable: Usable | None = None
    bounds: Interval | None = None
    kind: MeasureKind = "number"
    statistic: StatisticResult | None = None
    terms: Terms | None = None
    ends: Callable[[], Sequence[EstimatedInterval]] = field(default=tuple, compare=False)

    @cached_property
    def intervals(self) -> tuple[EstimatedInterval, ...]:
        """The 95 % intervals: for prompts like these, then for exactly these prompts."""
        return tuple(self.ends())

    @property
    def interval(self) -> Interval | None:
        """The interval for prompts like these, or None."""
        return self.intervals[0].interval if self.intervals else None

    @property
    def interval_reason(self) -> str:
        """Why there is no such interval, else empty."""
        return self.intervals[0].reason if self.intervals else self.value.reason

    @property
    def these(self) -> Interval | None:
        """The interval for exactly these prompts, or None."""
        return self.intervals[1].interval if len(self.intervals) > 1 else None


class Results(Sequence[Result]):
    """The results of a group, in order; counts are found too, but stand in no table of results.

    Attributes:
        judges: in order.
    """

    def __init__(
        self,
        rows: Iterable[Result],
        counts: Iterable[Result] = (),
        judges: Sequence[JudgeSummary] = (),
    ) -> None:
        self.rows, self.counts, self.judges = tuple(rows), tuple(counts), tuple(judges)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        return self.rows[at]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.rows)

    @cached_property
    def _by_key(self) -> Mapping[tuple[object, ...], Result]:
        found: dict[tuple[object, ...], Result] = {}
        for row in (*self.rows, *self.counts):
            for rater in (row.rater, row.terms):
                found.setdefault(
                    (row.measure, row.part, rater, row.feature, row.policy or EXACT), row
                )
        return found

    def find(
        self,
        measure: str,
        part: str = "",
        rater: Rater = "",
        feature: str = "",
        policy: str = EXACT,
    ) -> Result | None:
        """Return the row or count of a measure, or None; of one without policies it is *exact*."""
        return self._by_key.get((measure, part, rater, feature, policy))

    def value(self, measure: str, *key: Any, **named: Any) -> float | None:
        """Return the value of a measure, or None where it is undefined or not there."""
        found = self.find(measure, *key, **named)
        return None if found is None else found.value.value

    def interval(self, measure: str, *key: Any, **named: Any) -> Interval | None:
        """Return the interval of a measure for prompts like these, or None."""
        found = self.find(measure, *key, **named)
        return None if found is None else found.interval

    def n(self, measure: str, *key: Any, **named: Any) -> int:
        """Return how many responses have a value of a measure."""
        found = self.find(measure, *key, **named)
        return 0 if found is None else found.n

    def of(self, measure: str, part: str = "", rater: Rater = "") -> dict[str, Result]:
        """Return feature (category, tag, kind of foil, status, cause) to its row or count.

        Of rows under several policies it is that of *exact*; a row without a feature is left out.
        """
        return {
            str(key[3]): row
            for key, row in self._by_key.items()
            if key[:3] == (measure, part, rater) and key[4] == EXACT and key[3]
        }
