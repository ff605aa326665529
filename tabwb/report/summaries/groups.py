"""Groups of administrations with their summaries, chosen and sorted as asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tabwb.battery.model import Battery
from tabwb.records.errors import UsageError
from tabwb.records.states import ResponseKind
from tabwb.report.documents.document import sources_of
from tabwb.report.summaries.load import Group
from tabwb.report.summaries.summary import Summary, pool
from tabwb.scoring.estimate import Estimate, ratio

Sort = Literal["burden", "name", "N", "accuracy"]


@dataclass(frozen=True, slots=True)
class Grouped:
    """A group with the summary of its responses."""

    group: Group
    summary: Summary

    @property
    def label(self) -> str:
        """The group's name, with the conditions that tell it from others of its label."""
        return self.group.name

    @property
    def battery(self) -> Battery:
        """What its members were given."""
        return self.group.battery

    @property
    def right(self) -> Estimate:
        """Share right by the exact policy of all answers scored, over all subtests."""
        shares = [subtest.share for subtest in self.summary.subtests]
        return ratio(
            sum(share.correct["exact"] or 0 for share in shares),
            sum(share.scored for share in shares),
            "nothing was scored right or wrong",
        )

    def not_judged(self, rater: str) -> int:
        """Connected texts that count and that a judge has not judged, under any terms."""
        for judge in self.summary.judges:
            if judge.rater == rater:
                return judge.not_judged
        kind = ResponseKind.CONNECTED_TEXT
        return sum(each.share.n for each in self.summary.subtests if each.kind is kind)


def summarised(
    groups: Sequence[Group],
    *,
    judge: str | None = None,
    sort: Sort | None = None,
    interval: bool = True,
) -> tuple[Grouped, ...]:
    """Groups with their summaries.

    Args:
        groups: in any order.
        judge: a rater: burdens of other judges are left away.
        sort: ``name`` ascending; else from high to low, what is undefined last, and so a
            burden for which fewer than half of the responses are usable. Burdens are those under
            the judge and terms that stand first.
        interval: compute the intervals of burdens too.

    Raises:
        UsageError: the judge has rated none of them.
    """
    made = tuple(
        Grouped(group, pool(sources_of(group.members), interval=interval)) for group in groups
    )
    if judge is not None and made:
        raters = dict.fromkeys(each.rater for one in made for each in one.summary.judges)
        check_judge(judge, list(raters))
        made = tuple(replace(one, summary=only_judge(one.summary, judge)) for one in made)
    return made if sort is None else in_order(made, sort)


def in_order(made: Sequence[Grouped], sort: Sort) -> tuple[Grouped, ...]:
    """The groups sorted, see :func:`summarised`; equal ones stay as they were."""
    if sort == "name":
        return tuple(sorted(made, key=lambda one: one.label.casefold()))
    terms = [judge.terms for one in made for judge in one.summary.judges]

    def value(one: Grouped) -> float | None:
        if sort == "N":
            return one.summary.answers.n
        if sort == "accuracy":
            return one.right.value
        burdens = {each.terms: each.burden.ranked for each in one.summary.judges}
        return burdens.get(terms[0]) if terms else None

    known = [(found, one) for one in made if (found := value(one)) is not None]
    unknown = [one for one in made if value(one) is None]
    return (*(one for _, one in sorted(known, key=lambda pair: -pair[0])), *unknown)


def check_judge(judge: str, raters: Sequence[str]) -> None:
    """Check that a judge is among those who rated.

    Raises:
        UsageError: it is not.
    """
    if judge not in raters:
        raise UsageError(
            f"judge '{judge}' has rated none of these",
            allowed=", ".join(raters) or "no judge has",
            hint=f"tabwb judge run ID --judge {judge}",
        )


def only_judge(summary: Summary, judge: str) -> Summary:
    """The summary with the burdens of one rater alone."""
    return replace(summary, judges=tuple(one for one in summary.judges if one.rater == judge))
