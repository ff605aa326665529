"""Base and instruct models of one family and size: how far apart they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import fsum

from tabwb.report.summaries.counted import counted
from tabwb.report.summaries.groups import Grouped, unlike
from tabwb.report.summaries.judges import Terms, alike
from tabwb.report.summaries.load import sources_of
from tabwb.report.summaries.paired import Place, Side, compare_sides, right, side_of
from tabwb.report.summaries.subtests import decider
from tabwb.report.summaries.summary import Json, pool
from tabwb.scoring.difference_interval import LEAST_FAMILIES, family_interval
from tabwb.scoring.estimate import Estimate, EstimatedInterval
from tabwb.scoring.usable import Usable

SAID = {"family", "tuning", "parameters"}
"""What a profile must say of a model for it to stand in a pair."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One measure of both models.

    Attributes:
        measure: ``symptom burden`` or ``accuracy`` (share right by the exact policy).
        subtest: its id; empty for a burden.
        title: of the subtest, or empty.
        rater: the judge or scorer.
        terms: of a burden: under which both were judged; None for an accuracy.
        base, instruct: mean over the items that both have a value for, of each side's mean over
            its responses to the item.
        n_base, n_instruct: responses to those items that have a value.
        items: how many those are.
        like, these: 95 % intervals of base - instruct, for prompts like these and for these
            prompts.
        usable: of a burden: how many responses of each side are usable, and why the others are not.
        differences: of item means, by item; floor: the least variance of their mean.
    """

    measure: str
    subtest: str
    title: str
    rater: str
    terms: Terms | None
    base: Estimate
    instruct: Estimate
    n_base: int
    n_instruct: int
    items: int
    like: EstimatedInterval
    these: EstimatedInterval
    usable: tuple[Usable, ...] = ()
    differences: Mapping[Place, float] = field(default_factory=dict, repr=False)
    floor: float = 0.0

    @property
    def difference(self) -> float | None:
        """Base - instruct; None where either is undefined."""
        if self.base.value is None or self.instruct.value is None:
            return None
        return self.base.value - self.instruct.value


@dataclass(frozen=True, slots=True)
class Pair:
    """A base and an instruct model.

    Attributes:
        battery: id and version of what both were given.
        family, parameters: as the profiles say.
        lesion: the one that both have, or None.
        base, instruct: the names of the groups.
        base_from, instruct_from: the administrations that count, by number.
        unsaid: administrations of the same models that do not count here, because no profile said
            what they are when they were given.
        gaps: burdens, one for each judge and its terms; then accuracies.
        left_out: raters of which a burden cannot be compared, with the reason.
        unlike: conditions beside the model that the two do not share: name to both values. Where
            there are any, the two are not comparable and there are no gaps.
        shared_streams: for base and instruct, how many responses were drawn from a random stream
            that others share, of how many (:mod:`tabwb.report.summaries.draws`).
    """

    battery: str
    family: str
    parameters: str
    lesion: str | None
    base: str
    instruct: str
    base_from: tuple[int, ...]
    instruct_from: tuple[int, ...]
    unsaid: tuple[int, ...]
    gaps: tuple[Gap, ...]
    left_out: tuple[tuple[str, str], ...]
    unlike: tuple[tuple[str, str, str], ...]
    shared_streams: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))

    def to_json(self) -> Json:
        """As plain data; what is undefined is None."""
        return {
            "battery": self.battery,
            "family": self.family,
            "parameters": int(self.parameters) if self.parameters.isdecimal() else None,
            "lesion": self.lesion,
            "base": self.base,
            "instruct": self.instruct,
            "base_from": list(self.base_from),
            "instruct_from": list(self.instruct_from),
            "unsaid": list(self.unsaid),
            "differences": [_gap(each) for each in self.gaps],
            "left_out": [{"rater": rater, "reason": why} for rater, why in self.left_out],
            "unlike": {
                name: {"base": base, "instruct": instruct} for name, base, instruct in self.unlike
            },
            "shared_streams": {
                side: shared
                for side, (shared, _) in zip(("base", "instruct"), self.shared_streams, strict=True)
            },
        }


def kindred(models: Sequence[Grouped]) -> tuple[tuple[Grouped, Grouped], ...]:
    """Every base model with every instruct model of its family, size, lesion and battery.

    Args:
        models: groups by model. What a model is comes from the labels that its profile gave the
            administration (``family``, ``tuning``, ``parameters``); without them, or where they
            disagree within a group, there is no pair. Groups that were given under like conditions
            are paired; one that has no such partner is paired with the others, as not comparable.
            Trials are not looked at.
    """
    sides: dict[str, list[Grouped]] = {"base": [], "instruct": []}
    for one in models:
        labels = one.group.labels
        if labels.keys() >= SAID and labels.get("tuning") in sides:
            sides[labels["tuning"]].append(one)
    kin = [
        (base, instruct)
        for base, instruct in product(sides["base"], sides["instruct"])
        if _kin(base) == _kin(instruct)
    ]
    like = [
        (base, instruct)
        for base, instruct in kin
        if not unlike(base.group.members, instruct.group.members)
    ]
    partners = [one for pair in like for one in pair]
    return (
        *like,
        *(pair for pair in kin if not any(one is partner for one in pair for partner in partners)),
    )


def pairs_of(models: Sequence[Grouped]) -> tuple[Pair, ...]:
    """What :func:`kindred` models differ in.

    Only administrations count whose profile said what the model is: those given to the same model
    by its bare spec are named (``unsaid``).
    """
    return tuple(_pair(base, instruct) for base, instruct in kindred(models))


def _said(one: Grouped) -> Grouped:
    """The group with only the members that are labelled."""
    members = tuple(
        each for each in one.group.members if each.administration.conditions.labels.keys() >= SAID
    )
    if len(members) == len(one.group.members):
        return one
    summary = pool(sources_of(members))
    raters = {judge.rater for judge in one.summary.judges}
    judges = tuple(judge for judge in summary.judges if judge.rater in raters)
    return Grouped(replace(one.group, members=members), replace(summary, judges=judges))


def _numbers(one: Grouped) -> tuple[int, ...]:
    return tuple(each.administration.id for each in one.group.members)


def _kin(one: Grouped) -> tuple[str | None, ...]:
    labels = one.group.labels
    lesion = one.group.members[0].administration.conditions.lesion
    return one.battery.content_hash, labels["family"], labels["parameters"], lesion


def _pair(base: Grouped, instruct: Grouped) -> Pair:
    whole = {*_numbers(base), *_numbers(instruct)}
    base, instruct = _said(base), _said(instruct)
    differing = unlike(base.group.members, instruct.group.members)
    gaps, left_out = ((), ()) if differing else _gaps(base, instruct)
    labels, lesion = base.group.labels, base.group.members[0].administration.conditions.lesion
    return Pair(
        f"{base.battery.id} {base.battery.version}",
        labels["family"],
        labels["parameters"],
        lesion,
        base.label,
        instruct.label,
        _numbers(base),
        _numbers(instruct),
        tuple(sorted(whole - {*_numbers(base), *_numbers(instruct)})),
        gaps,
        left_out,
        differing,
        (_shared(base), _shared(instruct)),
    )


def _shared(one: Grouped) -> tuple[int, int]:
    return one.summary.answers.shared_streams, one.summary.answers.n


def _gaps(base: Grouped, instruct: Grouped) -> tuple[tuple[Gap, ...], tuple[tuple[str, str], ...]]:
    """Burdens, then accuracies; and the raters whose burdens cannot be compared."""
    same, left_out = alike(base.summary.judges, instruct.summary.judges)
    sources = [sources_of(side.group.members) for side in (base, instruct)]
    burdens = [
        _gap_of(
            "symptom burden",
            mine.terms,
            *(
                side_of(((row, rated.burden) for row, rated in judge.judged), own)
                for judge, own in zip((mine, theirs), sources, strict=True)
            ),
            rater=mine.rater,
            usable=(mine.burden.usable, theirs.burden.usable),
        )
        for mine, theirs in same
    ]
    rows = [counted(own) for own in sources]
    accuracies = []
    for subtest in base.battery.subtests:
        own = [[row for row in side if row.subtest.id == subtest.id] for side in rows]
        rater = decider(subtest, [*own[0], *own[1]])
        if rater is not None:
            accuracies.append(
                _gap_of(
                    "accuracy",
                    None,
                    *(
                        side_of(((row, right(row, rater)) for row in given), origin)
                        for given, origin in zip(own, sources, strict=True)
                    ),
                    rater=rater,
                    subtest=subtest.id,
                    title=subtest.title,
                )
            )
    return (*burdens, *accuracies), left_out


def _gap_of(
    measure: str,
    terms: Terms | None,
    base: Side,
    instruct: Side,
    *,
    rater: str,
    subtest: str = "",
    title: str = "",
    usable: tuple[Usable, ...] = (),
) -> Gap:
    found = compare_sides(base, instruct, None if terms is None else len(terms.features))
    return Gap(
        measure,
        subtest,
        title,
        rater,
        terms,
        _mean(found.first),
        _mean(found.second),
        found.n_first,
        found.n_second,
        found.items,
        found.like,
        found.these,
        usable,
        found.differences,
        found.floor,
    )


def _mean(value: float | None) -> Estimate:
    return Estimate(value, "" if value is not None else "no item has a value on both sides")


def _gap(each: Gap) -> Json:
    terms = each.terms
    return {
        "measure": each.measure,
        "subtest": each.subtest or None,
        "rater": each.rater,
        "features": [] if terms is None else list(terms.features),
        "scope": None if terms is None else terms.scope,
        "prompt_hash": None if terms is None else terms.prompt_hash,
        "base": each.base.value,
        "instruct": each.instruct.value,
        "n_base": each.n_base,
        "n_instruct": each.n_instruct,
        "difference": each.difference,
        "items": each.items,
        "usable": [one.to_json() for one in each.usable],
        "interval": _interval(each.like)["interval"],
        "interval_reason": each.like.reason,
        "intervals": [_interval(one) for one in (each.like, each.these)],
        "status": "undefined" if each.difference is None else "value",
    }


def _interval(one: EstimatedInterval) -> Json:
    found = one.interval
    return {
        "estimand": one.estimand.value,
        "interval": None if found is None else [found.low, found.high],
        "interval_reason": one.reason,
    }


@dataclass(frozen=True, slots=True)
class FamilyMean:
    """One measure of base - instruct over families.

    Attributes:
        gap: of one of the pairs: measure, subtest, rater and terms.
        families: those with a pair, in order of appearance.
        items: those for which every family has a difference; the others are left out.
        difference: mean over families and items; several sizes of one family are averaged first.
        interval: for prompts like these, and families like these.
    """

    gap: Gap
    families: tuple[str, ...]
    items: int
    difference: float
    interval: EstimatedInterval

    def to_json(self) -> Json:
        """As plain data."""
        found = self.interval.interval
        return {
            "measure": self.gap.measure,
            "subtest": self.gap.subtest or None,
            "rater": self.gap.rater,
            "families": list(self.families),
            "items": self.items,
            "difference": self.difference,
            "estimand": self.interval.estimand.value,
            "interval": None if found is None else [found.low, found.high],
            "interval_reason": self.interval.reason,
        }


def over_families(pairs: Iterable[Pair]) -> tuple[FamilyMean, ...]:
    """Return the mean of each measure over families that have a pair; three families or more.

    Pairs of different batteries or lesions are not put together. The variance has a floor from the
    draws alone, see :func:`tabwb.scoring.difference_interval.family_interval`.
    """
    measures: dict[tuple[object, ...], dict[str, list[Gap]]] = {}
    for pair in pairs:
        for gap in pair.gaps:
            if gap.differences:
                key = (pair.battery, pair.lesion, gap.measure, gap.subtest, gap.rater, gap.terms)
                measures.setdefault(key, {}).setdefault(pair.family, []).append(gap)
    means = (
        _family_mean(by_family)
        for by_family in measures.values()
        if len(by_family) >= LEAST_FAMILIES
    )
    return tuple(mean for mean in means if mean is not None)


def _family_mean(by_family: dict[str, list[Gap]]) -> FamilyMean | None:
    every = [gap for gaps in by_family.values() for gap in gaps]
    places = [at for at in every[0].differences if all(at in gap.differences for gap in every)]
    if not places:
        return None
    rows = [[_at(gaps, place) for place in places] for gaps in by_family.values()]
    floors = [fsum(gap.floor for gap in gaps) / len(gaps) ** 2 for gaps in by_family.values()]
    terms = every[0].terms
    largest = 1.0 if terms is None else float(len(terms.features))
    return FamilyMean(
        every[0],
        tuple(by_family),
        len(places),
        fsum(fsum(row) for row in rows) / len(rows) / len(places),
        family_interval(rows, fsum(floors) / len(rows) ** 2, largest),
    )


def _at(gaps: Sequence[Gap], place: Place) -> float:
    return fsum(gap.differences[place] for gap in gaps) / len(gaps)
