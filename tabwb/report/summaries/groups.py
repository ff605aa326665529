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
        told = ", ".join(phrase_of(name, value) for name, value in self.apart)
        return f"{self.label} ({told})"

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
        said: dict[str, set[str]] = {}
        for one in self.members:
            for name, value in one.administration.conditions.labels.items():
                said.setdefault(name, set()).add(value)
        return {name: values.pop() for name, values in said.items() if len(values) == 1}

    @property
    def tunings(self) -> tuple[str, ...]:
        """What profiles say that the members are tuned to; ``not said`` where one does not."""
        said = (one.administration.conditions.labels.get("tuning") for one in self.members)
        return tuple(dict.fromkeys(each or "not said" for each in said))

    @property
    def title(self) -> str:
        """Its name; of a family also the tunings that are pooled in it.

        A table's row is called so, because base and instruct models share the one of their family.
        """
        if self.by != "family" or "family" not in self.labels:
            return self.name
        return f"{self.name} (tuning: {', '.join(self.tunings)})"

    @property
    def circumstances(self) -> Mapping[str, tuple[str, ...]]:
        """How its members were given: name to the different values, in order of appearance."""
        return _values(described(one.administration.conditions) for one in self.members)

    @property
    def mixed(self) -> Mapping[str, tuple[str, ...]]:
        """In what its members differ although their responses are pooled."""
        told = _values(
            {"examinee": _named(one), **described(one.administration.conditions)}
            for one in self.members
        )
        if len(told["examinee"]) == 1:
            # The same name, but perhaps other weights.
            told |= _values(_identity(one) for one in self.members)
        return {name: values for name, values in told.items() if len(values) > 1}


def _values(told: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    values: dict[str, dict[str, None]] = {}
    for facts in told:
        for name, value in facts.items():
            values.setdefault(name, {})[value] = None
    return {name: tuple(found) for name, found in values.items()}


def _identity(one: AdministrationData) -> dict[str, str]:
    return {name: one.model_facts[name] for name in IDENTITY if name in one.model_facts}


def _named(one: AdministrationData) -> str:
    return model_of(one.administration.conditions)


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
    names = dict.fromkeys(name for side in sides for told in side for name in told)
    values = {
        name: [", ".join(dict.fromkeys(told.get(name, "none") for told in side)) for side in sides]
        for name in names
    }
    return tuple((name, mine, other) for name, (mine, other) in values.items() if mine != other)


def grouped(chosen: Sequence[AdministrationData], by: By) -> tuple[Group, ...]:
    """Return administrations in groups, in order of first appearance.

    Administrations of different batteries or battery versions never share a group, nor do models
    and persons, nor unlike conditions (:func:`~tabwb.records.condition_table.compared`): only what
    ``by`` names is pooled over. Seeds, replicates and options that change no answer may differ. A
    person has no lesion or family: by what only models have, each person is a group ``speaker ID``.

    Args:
        chosen: what to group.
        by: ``model`` is the examinee with its lesion; ``family`` and ``tuning`` are what the
            model's profile said when it was given. A model of no known family is a group of its
            own. By model, other weights or templates under one name are groups of their own too.
    """
    members: dict[
        tuple[str, str, str], dict[tuple[tuple[str, str], ...], list[AdministrationData]]
    ] = {}
    for one in chosen:
        administration = one.administration
        key = _label(administration, by), administration.battery_hash
        told = {} if by == "administration" else compared(one.administration.conditions)
        if by == "model":
            told |= _identity(one)
        alike = members.setdefault((*key, administration.conditions.kind), {})
        alike.setdefault(tuple(sorted(told.items())), []).append(one)
    return tuple(
        Group(by, label, tuple(group), _apart(dict(told), [dict(each) for each in alike]))
        for (label, *_), alike in members.items()
        for told, group in alike.items()
    )


def _apart(
    told: Mapping[str, str], alike: Sequence[Mapping[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Return the conditions of one group that others of the same label do not share."""
    names = dict.fromkeys(name for each in alike for name in each)
    return tuple(
        (name, told.get(name, "none"))
        for name in names
        if len({each.get(name) for each in alike}) > 1
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
    said = conditions.labels.get(by)
    if not said and by == "family":
        return f"{model_of(conditions)}, {by} not said"
    return said or f"{by} not said"


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
        """Return the number of connected texts that a judge has not judged, under any terms."""
        for judge in self.summary.judges:
            if judge.rater == rater:
                return judge.not_judged
        return sum(
            subtest.share.n
            for subtest in self.summary.subtests
            if task_type(subtest.kind).connected
        )


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
    """Return the groups sorted; equal ones keep their order.

    Args:
        made: the groups.
        sort: see :func:`summarised`.
    """
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
    return replace(summary, judges=tuple(one for one in summary.judges if one.rater == judge))
