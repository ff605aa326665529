"""Groups of administrations with their summaries, chosen and sorted as asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tabwb.analysis.administrations import AdministrationData
from tabwb.battery.model import Battery
from tabwb.records.condition_table import compared
from tabwb.report.key import Sort
from tabwb.report.names import judge_called
from tabwb.report.summaries.grouping import Group
from tabwb.report.summaries.judges import JudgeSummary, Terms
from tabwb.report.summaries.subtests import SubtestSummary
from tabwb.report.summaries.summary import Summary, pool
from tabwb.scoring.estimate import Estimate, item_mean
from tabwb.tasks.task_type import task_type

if TYPE_CHECKING:
    from tabwb.report.summaries.naming import NamedSubtest


def unlike(
    first: Sequence[AdministrationData], second: Sequence[AdministrationData]
) -> tuple[tuple[str, str, str], ...]:
    """Return the conditions beside the examinee that two sides do not share: name, both values."""
    sides = [
        [compared(member.administration.conditions) for member in side] for side in (first, second)
    ]
    names = dict.fromkeys(name for side in sides for given in side for name in given)
    values = {
        name: [
            ", ".join(dict.fromkeys(given.get(name, "none") for given in side)) for side in sides
        ]
        for name in names
    }
    return tuple((name, mine, other) for name, (mine, other) in values.items() if mine != other)


@dataclass(frozen=True, slots=True)
class Grouped:
    """A group with the summary of its responses."""

    group: Group
    summary: Summary

    @property
    def label(self) -> str:
        """The group's name, see :attr:`Group.name`."""
        return self.group.name

    @property
    def battery(self) -> Battery:
        """What its members were given."""
        return self.group.battery

    def judge(self, terms: Terms | None) -> JudgeSummary | None:
        """Return the summary of a judge under these terms, or None."""
        return next((judge for judge in self.summary.judges if judge.terms == terms), None)

    def part(self, subtest: str) -> SubtestSummary | None:
        """Return the summary of a subtest, or None."""
        return next((part for part in self.summary.subtests if part.id == subtest), None)

    def named(self, subtest: str) -> NamedSubtest | None:
        """Return the summary of a subtest that is named aloud, or None."""
        return next((part for part in self.summary.named if part.id == subtest), None)

    @property
    def right(self) -> Estimate:
        """Share right by the exact policy, the mean over the items of all subtests."""
        items = [one for part in self.summary.subtests for one in part.share.by_item["exact"]]
        right, scored = [right for right, _ in items], [n for _, n in items]
        return item_mean(right, scored, "nothing was scored right or wrong")

    def not_judged(self, rater: str) -> int:
        """Return the number of connected texts that a judge has not judged, under any terms."""
        for judge in self.summary.judges:
            if judge.rater == rater:
                return judge.not_judged
        return sum(part.share.n for part in self.summary.subtests if task_type(part.kind).connected)


def summarised(
    groups: Sequence[Group],
    *,
    judge: str | None = None,
    sort: Sort | None = None,
    interval: bool = True,
) -> tuple[Grouped, ...]:
    """Return groups with their summaries."""
    rows = tuple(Grouped(group, pool(group.members, interval=interval)) for group in groups)
    if judge is not None and rows:
        rater = judge_called(judge, (one.rater for row in rows for one in row.summary.judges))
        rows = tuple(replace(row, summary=only_judge(row.summary, rater)) for row in rows)
    return rows if sort is None else in_order(rows, sort)


def in_order(rows: Sequence[Grouped], sort: Sort) -> tuple[Grouped, ...]:
    """Return the groups sorted; equal ones keep their order."""
    if sort == "name":
        return tuple(sorted(rows, key=lambda row: row.label.casefold()))
    if sort == "keys":
        return tuple(sorted(rows, key=_by_keys))
    terms = [judge.terms for row in rows for judge in row.summary.judges]

    def value(row: Grouped) -> float | None:
        if sort == "N":
            return row.summary.answers.n
        if sort == "accuracy":
            return row.right.value
        burdens = {judge.terms: judge.burden.ranked for judge in row.summary.judges}
        return burdens.get(terms[0]) if terms else None

    known = [(amount, row) for row in rows if (amount := value(row)) is not None]
    unknown = [row for row in rows if value(row) is None]
    return (*(row for _, row in sorted(known, key=lambda pair: -pair[0])), *unknown)


def _by_keys(row: Grouped) -> list[tuple[bool, bool, float, str]]:
    """Return what sorts by the values of the keys: numbers, then texts, then no value."""
    return [
        (
            one.value is None,
            isinstance(one.value, str),
            one.value if isinstance(one.value, int | float) else 0.0,
            one.value.casefold() if isinstance(one.value, str) else "",
        )
        for one in row.group.values
    ]


def specs_of(rows: Sequence[Grouped]) -> Iterator[str]:
    """Yield the specs of the models, lesions and judges of groups."""
    for row in rows:
        for member in row.group.members:
            conditions = member.administration.conditions
            yield conditions.examinee
            yield from conditions.judges
            if conditions.lesion is not None:
                yield conditions.lesion
        yield from (judge.rater for judge in row.summary.judges)


def only_judge(summary: Summary, judge: str) -> Summary:
    """Return the summary with the burdens of one rater alone, without what compares judges."""
    return replace(
        summary,
        judges=tuple(given for given in summary.judges if given.rater == judge),
        statistics=tuple(one for one in summary.statistics if one.statistic.judges < 2),
    )
