"""Groups of administrations with their summaries, chosen and sorted as asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tabwb.administer.session.session import IDENTITY
from tabwb.battery.model import Battery
from tabwb.records.condition_table import compared, described, phrase_of
from tabwb.records.errors import UsageError
from tabwb.records.trials import Administration
from tabwb.report.summaries.counted import model_of, name_of
from tabwb.report.summaries.load import AdministrationData, sources_of
from tabwb.report.summaries.summary import Summary, pool
from tabwb.scoring.estimate import Estimate, ratio
from tabwb.tasks.task_type import task_type

By = Literal["administration", "model", "battery", "lesion", "protocol", "family", "tuning"]
Sort = Literal["burden", "name", "N", "accuracy"]


_Facts = tuple[tuple[str, str], ...]
"""Names of conditions with their values."""


@dataclass(frozen=True, slots=True)
class Group:
    """Administrations whose responses are pooled.

    Attributes:
        by: what they have in common (``model``).
        label: its value.
        members: oldest first; all of one battery version, all models or all persons, given under
            like conditions where :func:`grouped` made it.
        apart: conditions (name, value) that tell it from other groups of the same label.
    """

    by: By
    label: str
    members: tuple[AdministrationData, ...]
    apart: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """Its label, with the conditions that tell it from other groups of the same label."""
        if not self.apart:
            return self.label
        apart = ", ".join(phrase_of(name, value) for name, value in self.apart)
        return f"{self.label} ({apart})"

    @property
    def battery(self) -> Battery:
        """The battery that all members were given."""
        return self.members[0].battery

    @property
    def has_model(self) -> bool:
        """Whether its examinees are models."""
        return self.members[0].administration.conditions.kind == "model"

    @property
    def labels(self) -> Mapping[str, str]:
        """What profiles say of the models; without whatever they do not agree on."""
        values = _values(member.administration.conditions.labels for member in self.members)
        return {name: given[0] for name, given in values.items() if len(given) == 1}

    @property
    def tunings(self) -> tuple[str, ...]:
        """What profiles say that the members are tuned to; ``not said`` where one does not."""
        labels = (member.administration.conditions.labels for member in self.members)
        return tuple(dict.fromkeys(given.get("tuning") or "not said" for given in labels))

    @property
    def title(self) -> str:
        """Its name; of a family also the tunings, because its base and instruct models share it."""
        if self.by != "family" or "family" not in self.labels:
            return self.name
        return f"{self.name} (tuning: {', '.join(self.tunings)})"

    @property
    def circumstances(self) -> Mapping[str, tuple[str, ...]]:
        """How its members were given: name to the different values, in order of appearance."""
        return _values(described(member.administration.conditions) for member in self.members)

    @property
    def mixed(self) -> Mapping[str, tuple[str, ...]]:
        """In what its members differ although their responses are pooled."""
        conditions = [member.administration.conditions for member in self.members]
        values = _values({"examinee": model_of(given), **described(given)} for given in conditions)
        if len(values["examinee"]) == 1:
            # The same name, but perhaps other weights.
            values |= _values(_identity(member) for member in self.members)
        return {name: given for name, given in values.items() if len(given) > 1}


def _values(facts: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    values: dict[str, dict[str, None]] = {}
    for given in facts:
        for name, value in given.items():
            values.setdefault(name, {})[value] = None
    return {name: tuple(different) for name, different in values.items()}


def _identity(member: AdministrationData) -> dict[str, str]:
    return {name: member.model_facts[name] for name in IDENTITY if name in member.model_facts}


def unlike(
    first: Sequence[AdministrationData], second: Sequence[AdministrationData]
) -> tuple[tuple[str, str, str], ...]:
    """Return the conditions beside the examinee that two sides do not share: name, both values.

    Args:
        first: administrations of one side.
        second: of the other.
    """
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


def grouped(chosen: Sequence[AdministrationData], by: By) -> tuple[Group, ...]:
    """Return administrations in groups, in order of first appearance.

    Administrations of different batteries or battery versions never share a group, nor do models
    and persons, nor unlike conditions (:func:`~tabwb.records.condition_table.compared`): only what
    ``by`` names is pooled over. By what only models have, each person is a group ``speaker ID``.

    Args:
        chosen: what to group.
        by: ``model`` is the examinee with its lesion, and other weights or templates under one name
            are groups of their own; ``family`` and ``tuning`` are what the model's profile said.
    """
    members: dict[tuple[str, str, str], dict[_Facts, list[AdministrationData]]] = {}
    for member in chosen:
        administration = member.administration
        conditions = administration.conditions
        key = _label(administration, by), administration.battery_hash, conditions.kind
        facts = {} if by == "administration" else compared(conditions)
        if by == "model":
            facts |= _identity(member)
        alike = members.setdefault(key, {})
        alike.setdefault(tuple(sorted(facts.items())), []).append(member)
    return tuple(
        Group(by, label, tuple(group), _apart(dict(facts), [dict(other) for other in alike]))
        for (label, *_), alike in members.items()
        for facts, group in alike.items()
    )


def _apart(facts: Mapping[str, str], alike: Sequence[Mapping[str, str]]) -> _Facts:
    names = dict.fromkeys(name for other in alike for name in other)
    return tuple(
        (name, facts.get(name, "none"))
        for name in names
        if len({other.get(name) for other in alike}) > 1
    )


def _label(administration: Administration, by: By) -> str:
    conditions = administration.conditions
    person = conditions.kind == "speaker"
    if by == "administration":
        return f"#{administration.id} {name_of(conditions)}"
    if by == "battery":
        named = f"{administration.battery} {administration.battery_version}"
        return f"{named}, speakers" if person else named
    if person:
        return f"speaker {conditions.examinee}"
    if by == "model":
        return model_of(conditions)
    if by == "lesion":
        return conditions.lesion or "no lesion"
    if by == "protocol":
        return conditions.protocol.value
    unsaid = f"{model_of(conditions)}, {by} not said" if by == "family" else f"{by} not said"
    return conditions.labels.get(by) or unsaid


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

    @property
    def right(self) -> Estimate:
        """Share right by the exact policy of all answers scored, over all subtests."""
        shares = [subtest.share for subtest in self.summary.subtests]
        right = sum(share.correct["exact"] or 0 for share in shares)
        scored = sum(share.scored for share in shares)
        return ratio(right, scored, "nothing was scored right or wrong")

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
    """Return groups with their summaries.

    Args:
        groups: in any order.
        judge: a rater: burdens of other judges are left away.
        sort: ``name`` ascending; else from high to low, what is undefined last, and so a burden for
            which fewer than half of the responses are usable. Burdens are those of the first terms.
        interval: compute the intervals of burdens too.

    Raises:
        UsageError: the judge has rated none of them.
    """
    rows = tuple(
        Grouped(group, pool(sources_of(group.members), interval=interval)) for group in groups
    )
    if judge is not None and rows:
        raters = dict.fromkeys(given.rater for row in rows for given in row.summary.judges)
        check_judge(judge, list(raters))
        rows = tuple(replace(row, summary=only_judge(row.summary, judge)) for row in rows)
    return rows if sort is None else in_order(rows, sort)


def in_order(rows: Sequence[Grouped], sort: Sort) -> tuple[Grouped, ...]:
    """Return the groups sorted; equal ones keep their order.

    Args:
        rows: the groups.
        sort: see :func:`summarised`.
    """
    if sort == "name":
        return tuple(sorted(rows, key=lambda row: row.label.casefold()))
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


def check_judge(judge: str, raters: Sequence[str]) -> None:
    """Check that a judge is among those who rated.

    Args:
        judge: a rater.
        raters: those who rated.

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
    """Return the summary with the burdens of one rater alone.

    Args:
        summary: with the burdens of all.
        judge: the rater.
    """
    return replace(summary, judges=tuple(given for given in summary.judges if given.rater == judge))
