"""Base and instruct models of one family and size compared, and the mean over families."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import fsum

from tabwb.report.measures import ACCURACY, BURDEN
from tabwb.report.plain import Json, picked, plain
from tabwb.report.summaries.groups import Grouped, unlike
from tabwb.report.summaries.judges import Terms, alike
from tabwb.report.summaries.load import sources_of
from tabwb.report.summaries.paired import Paired, compare_sides
from tabwb.report.summaries.summary import interval_json, pool
from tabwb.scoring.burden import Usable
from tabwb.scoring.differences import LEAST_FAMILIES, family_interval
from tabwb.scoring.estimate import EstimatedInterval
from tabwb.scoring.intervals import by_cluster

LABELS = {"family", "tuning", "parameters"}
"""What a profile must say of a model for it to belong to a pair."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One measure of a base and an instruct model, over the items that both have a value for.

    Attributes:
        measure: title of the burden or of the accuracy (policy ``exact``).
        subtest, title: of an accuracy; empty for a burden.
        rater: the judge or scorer.
        terms, usable: of a burden: under which both were judged, and how many responses are usable.
        sides: base is the first.
    """

    measure: str
    subtest: str
    title: str
    rater: str
    terms: Terms | None
    sides: Paired
    usable: tuple[Usable, ...] = ()

    @property
    def difference(self) -> float | None:
        """Base - instruct; None without shared items."""
        if self.sides.first is None or self.sides.second is None:
            return None
        return self.sides.first - self.sides.second


@dataclass(frozen=True, slots=True)
class Pair:
    """A base and an instruct model; base, instruct are the groups' names with whole specs.

    Attributes:
        battery: id and version of what both were given.
        family, parameters: as the profiles say.
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
        """Return plain data; what is undefined is None."""
        base, instruct = self.shared_streams
        return {
            "parameters": int(self.parameters) if self.parameters.isdecimal() else None,
            **picked(
                self,
                *("battery", "family", "lesion", "base", "instruct"),
                *("base_from", "instruct_from", "unsaid"),
            ),
            "differences": [_gap(gap) for gap in self.gaps],
            "left_out": [{"rater": rater, "reason": why} for rater, why in self.left_out],
            "unlike": {
                name: {"base": mine, "instruct": theirs} for name, mine, theirs in self.unlike
            },
            "shared_streams": {"base": base[0], "instruct": instruct[0]},
        }


def kindred(models: Sequence[Grouped]) -> tuple[tuple[Grouped, Grouped], ...]:
    """Return every base model with every instruct model of its family, size, lesion and battery.

    What a model is comes from the labels that its profile gave the administration; without them, or
    where they disagree within a group, there is no pair. Groups that were given under like
    conditions are paired; one that has no such partner is paired with the others, as not
    comparable.
    """
    sides: dict[str, list[Grouped]] = {"base": [], "instruct": []}
    for model in models:
        labels = model.group.labels
        if labels.keys() >= LABELS and labels.get("tuning") in sides:
            sides[labels["tuning"]].append(model)
    couples = product(sides["base"], sides["instruct"])
    kin = [(base, instruct) for base, instruct in couples if _kin(base) == _kin(instruct)]
    like = [
        (base, instruct)
        for base, instruct in kin
        if not unlike(base.group.members, instruct.group.members)
    ]
    paired = {id(group) for pair in like for group in pair}
    return (*like, *(pair for pair in kin if not any(id(group) in paired for group in pair)))


def pairs_of(models: Sequence[Grouped]) -> tuple[Pair, ...]:
    """Return the differences of :func:`kindred` models, where a profile said what they are."""
    return tuple(_pair(base, instruct) for base, instruct in kindred(models))


def _labelled(model: Grouped) -> Grouped:
    members = tuple(
        member
        for member in model.group.members
        if member.administration.conditions.labels.keys() >= LABELS
    )
    if len(members) == len(model.group.members):
        return model
    summary = pool(sources_of(members))
    raters = {judge.rater for judge in model.summary.judges}
    judges = tuple(judge for judge in summary.judges if judge.rater in raters)
    return Grouped(replace(model.group, members=members), replace(summary, judges=judges))


def _numbers(model: Grouped) -> tuple[int, ...]:
    return tuple(member.administration.id for member in model.group.members)


def _kin(model: Grouped) -> tuple[str, str, str, str | None]:
    labels, conditions = model.group.labels, model.group.members[0].administration.conditions
    return model.battery.content_hash, labels["family"], labels["parameters"], conditions.lesion


def _pair(base: Grouped, instruct: Grouped) -> Pair:
    whole = {*_numbers(base), *_numbers(instruct)}
    base, instruct = _labelled(base), _labelled(instruct)
    numbers = _numbers(base), _numbers(instruct)
    differing = unlike(base.group.members, instruct.group.members)
    gaps, left_out = ((), ()) if differing else gaps_of(base, instruct)
    _, family, parameters, lesion = _kin(base)
    return Pair(
        f"{base.battery.id} {base.battery.version}",
        family,
        parameters,
        lesion,
        base.group.whole_name,
        instruct.group.whole_name,
        *numbers,
        tuple(sorted(whole - {*numbers[0], *numbers[1]})),
        gaps,
        left_out,
        differing,
        (_shared(base), _shared(instruct)),
    )


def _shared(model: Grouped) -> tuple[int, int]:
    return model.summary.answers.shared_streams, model.summary.answers.n


def gaps_of(
    base: Grouped, instruct: Grouped
) -> tuple[tuple[Gap, ...], tuple[tuple[str, str], ...]]:
    """Return the differences of two groups, and raters that are not compared with the reason."""
    from tabwb.report.summaries.columns.subtests import accuracy_sides
    from tabwb.report.summaries.columns.table import table_of

    same, left_out = alike(base.summary.judges, instruct.summary.judges)
    gaps = []
    for judges in same:
        terms = judges[0].terms
        sides = compare_sides(judges[0].rows.burdens, judges[1].rows.burdens, len(terms.features))
        usable = tuple(judge.burden.usable for judge in judges)
        gaps.append(Gap(BURDEN.title, "", "", terms.rater, terms, sides, usable))
    tables = (table_of(sources_of(model.group.members)) for model in (base, instruct))
    for subtest, rater, first, second in accuracy_sides(*tables):
        sides = compare_sides(first, second, None)
        gaps.append(Gap(ACCURACY.title, subtest.id, subtest.title, rater, None, sides))
    return tuple(gaps), left_out


def _gap(gap: Gap) -> Json:
    terms, sides = gap.terms, gap.sides
    return {
        "measure": gap.measure,
        "subtest": gap.subtest or None,
        "rater": gap.rater,
        "features": [] if terms is None else list(terms.features),
        "scope": None if terms is None else terms.scope,
        "prompt_hash": None if terms is None else terms.prompt_hash,
        "base": sides.first,
        "instruct": sides.second,
        "n_base": sides.n_first,
        "n_instruct": sides.n_second,
        "difference": gap.difference,
        "items": sides.items,
        "usable": [usable.to_json() for usable in gap.usable],
        "interval": plain(sides.like.interval),
        "interval_reason": sides.like.reason,
        "intervals": [interval_json(interval) for interval in (sides.like, sides.these)],
        "status": "undefined" if gap.difference is None else "value",
    }


@dataclass(frozen=True, slots=True)
class FamilyMean:
    """One measure of base - instruct over families.

    Attributes:
        gap: of one of the pairs: measure, subtest, rater and terms.
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
        """Return plain data."""
        return {
            "measure": self.gap.measure,
            "subtest": self.gap.subtest or None,
            "rater": self.gap.rater,
            **picked(self, "families", "items", "difference"),
            **interval_json(self.interval),
        }


def over_families(pairs: Iterable[Pair]) -> tuple[FamilyMean, ...]:
    """Return the mean of each measure over families that have a pair; three families or more.

    Pairs of different batteries or lesions are not put together. The variance has a floor from the
    draws alone, see :func:`tabwb.scoring.differences.family_interval`.
    """
    measures: dict[tuple[object, ...], dict[str, list[Gap]]] = {}
    for pair in pairs:
        for gap in pair.gaps:
            if gap.sides.differences:
                key = (pair.battery, pair.lesion, gap.measure, gap.subtest, gap.rater, gap.terms)
                measures.setdefault(key, {}).setdefault(pair.family, []).append(gap)
    enough = (by_family for by_family in measures.values() if len(by_family) >= LEAST_FAMILIES)
    return tuple(mean for mean in map(_family_mean, enough) if mean is not None)


def _family_mean(by_family: dict[str, list[Gap]]) -> FamilyMean | None:
    every = [gap for gaps in by_family.values() for gap in gaps]
    places = [
        at for at in every[0].sides.differences if all(at in gap.sides.differences for gap in every)
    ]
    if not places:
        return None
    rows = [
        [fsum(gap.sides.differences[place] for gap in gaps) / len(gaps) for place in places]
        for gaps in by_family.values()
    ]
    own = dict(zip(every[0].sides.differences, every[0].sides.clusters, strict=True))
    clustered = [by_cluster(row, [own[place] for place in places]) for row in rows]
    floors = [fsum(gap.sides.floor for gap in gaps) / len(gaps) ** 2 for gaps in by_family.values()]
    terms = every[0].terms
    largest = 1.0 if terms is None else float(len(terms.features))
    return FamilyMean(
        every[0],
        tuple(by_family),
        len(places),
        fsum(fsum(row) for row in rows) / len(rows) / len(places),
        family_interval(clustered, fsum(floors) / len(rows) ** 2, largest),
    )
