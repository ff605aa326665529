"""This less that on the same items: one function for every design, which is a list of pairs.

Two administrations, groups and a baseline, base and instruct models, and families of these are
designs. :func:`contrast` compares the two sides of one pair; a design corrects p values over the
family of tests that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData, name_of
from tabwb.analysis.frame import Table, first_of, table_of
from tabwb.analysis.grouping import Grouped, unlike
from tabwb.analysis.judged import JudgedRows, summarise_judges
from tabwb.analysis.paired import (
    PAIRED_T,
    Paired,
    Place,
    Side,
    Tested,
    compare_sides,
    corrected,
    permutes_labels,
    together,
    with_labels,
)
from tabwb.analysis.subtests import decider, right_side
from tabwb.records.errors import UsageError
from tabwb.report.measures import ACCURACY, BURDEN, FEATURE_RATE, Measure
from tabwb.report.summaries.judges import JudgeSummary, Terms, alike
from tabwb.report.summaries.summary import pool
from tabwb.scoring.burden import Usable
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.detectable import ACCURACY as ACCURACY_BASE
from tabwb.scoring.detectable import BURDEN as BURDEN_BASE
from tabwb.scoring.detectable import Design, design_of, detectable_accuracy, detectable_burden
from tabwb.scoring.differences import LEAST_FAMILIES, family_interval
from tabwb.scoring.estimate import Estimate, EstimatedInterval
from tabwb.scoring.intervals import by_cluster
from tabwb.scoring.permutation import MAX_T_FROM, label_permutation

if TYPE_CHECKING:
    from tabwb.report.summaries.naming import NamedDifference

NOT_ASKED = "only for burdens, and for accuracies under the policy exact"
NOT_SIMULATED = "not simulated for unequal numbers of replicates"
NO_ITEMS = "no item has a value on both sides"
Unlike = tuple[tuple[str, str, str], ...]
"""Conditions besides the examinee that two sides do not share: name, both values."""
LeftOut = tuple[tuple[str, str], ...]
"""What cannot be compared, with the reason."""
Counts = tuple[int, int]
"""How many, of how many."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """One measure of the first side less the second; empty texts do not apply.

    Attributes:
        subtest, title: empty for all scored subtests together.
        rater: the deciding scorer, or the judge.
        terms, usable: of a judge: under which both sides were judged; usable responses of each.
        items_left_out: of a burden: items that were judged and have no burden on one side or both.
        design: items and replicates of both; None where :attr:`showable` does not apply.
    """

    measure: Measure
    sides: Paired
    subtest: str = ""
    title: str = ""
    rater: str = ""
    policy: str = ""
    feature: str = ""
    terms: Terms | None = None
    usable: tuple[Usable, ...] = ()
    items_left_out: tuple[str, ...] = ()
    design: Design | None = None

    @property
    def like(self) -> Tested:
        """For prompts like these."""
        return self.sides.like

    @property
    def these(self) -> Tested:
        """For exactly these prompts."""
        return self.sides.these

    @property
    def judge(self) -> str:
        """The judge; empty for an accuracy."""
        return self.rater if self.terms else ""

    @property
    def showable(self) -> Estimate:
        """The smallest difference that the test finds with power .8 for prompts like these.

        The first side's mean is taken as what it is; see :mod:`tabwb.scoring.detectable`.
        """
        if self.design is None or self.like.test == PAIRED_T:
            return Estimate(None, NOT_ASKED if self.design is None else NOT_SIMULATED)
        first = self.sides.first
        if self.terms is None:
            mean = ACCURACY_BASE if first is None else min(first, 1 - first)
            return detectable_accuracy(self.design, accuracy=mean)
        mean = BURDEN_BASE if first is None else first
        return detectable_burden(self.design, len(self.terms.features), burden=mean)


@dataclass(frozen=True)
class Rows:
    """One side of a pair: responses of one battery, and who judged them."""

    sources: Sequence[AdministrationData]
    judged: Sequence[JudgeSummary] | None = None

    @classmethod
    def of(cls, group: Grouped) -> Rows:
        """Return the responses of a group, with the judges that it is limited to."""
        return cls(group.group.members, group.summary.judges)

    @cached_property
    def table(self) -> Table:
        """The responses as columns."""
        return table_of(self.sources)

    @cached_property
    def judges(self) -> Sequence[JudgeSummary]:
        """Its judges."""
        return summarise_judges(self.table) if self.judged is None else self.judged

    @property
    def shared(self) -> Counts:
        """How many responses were drawn from a random stream that others share, of how many."""
        table = self.table
        return int(table.shared[table.counts].sum()), int(table.counts.sum())


def contrast(
    first: Rows,
    second: Rows,
    *,
    policies: Sequence[str] = ("exact",),
    pooled: bool = True,
    features: bool = False,
    labels: bool = True,
) -> tuple[list[Contrast], LeftOut]:
    """Return each measure of the first side less the second, and raters that are left out.

    Accuracies by policy: all scored subtests ``pooled``, a separate test, then each by itself, a
    family. Of several policies one under which nothing has a verdict is left out. Then the burdens
    of judges that judged both sides alike, and the rates of their ``features``, which are a family:
    below eight items, where both sides drew several answers to an item, labels are permuted within
    items for all features at once, corrected by maxT. Other ``labels`` are permuted measure by
    measure. Responses to an item are averaged first, because they are not independent.
    """
    made: list[Contrast] = []
    for policy in policies:
        drop = len(policies) > 1
        made += _accuracies(first.table, second.table, policy, pooled, labels, drop=drop)
    judges, left_out = alike(first.judges, second.judges)
    for pair in judges:
        made += _of_judge(*pair, features=features, labels=labels)
    return made, left_out


def correct(family: Sequence[Contrast]) -> list[Contrast]:
    """Return a family of tests with corrected p values, see :func:`corrected`."""
    found = corrected([one.sides for one in family])
    return [replace(one, sides=sides) for one, sides in zip(family, found, strict=True)]


def _accuracies(
    first: Table, second: Table, policy: str, pooled: bool, labels: bool, *, drop: bool
) -> Iterator[Contrast]:
    tables = first, second
    found: list[tuple[dict[str, Any], list[Side]]] = []
    for number, subtest in enumerate(first.battery.subtests):
        if scorer := decider(subtest, number, tables):
            sides = [right_side(table, number, scorer, policy) for table in tables]
            if any(side.values for side in sides) or not drop:
                named = {"subtest": subtest.id, "title": subtest.title, "rater": scorer}
                found.append((named, sides))
    if pooled and len(found) > 1:
        both = [together(sides[at] for _, sides in found) for at in (0, 1)]
        yield _accuracy({}, both, policy, labels)
    yield from correct([_accuracy(named, sides, policy, labels) for named, sides in found])


def _accuracy(named: dict[str, Any], sides: Sequence[Side], policy: str, labels: bool) -> Contrast:
    paired = compare_sides(sides[0], sides[1], None)
    if labels:
        paired = with_labels(paired, sides[0], sides[1], None)
    design = _design(*sides) if policy == "exact" else None
    return Contrast(ACCURACY, paired, **named, policy=policy, design=design)


def _of_judge(
    first: JudgeSummary, second: JudgeSummary, *, features: bool, labels: bool
) -> Iterator[Contrast]:
    terms, n = first.terms, len(first.terms.features)
    usable = first.burden.usable, second.burden.usable
    sides = first.rows.burdens, second.rows.burdens
    paired = compare_sides(*sides, n)
    rates: list[Paired] = []
    if features:
        rates = corrected(
            [compare_sides(first.rows.side([at]), second.rows.side([at]), None) for at in range(n)]
        )
        if paired.units < MAX_T_FROM and permutes_labels(*sides):
            found = label_permutation(*_profiles(first.rows, second.rows))
            if found is not None:
                paired = paired.by_labels(found.total_p)
                tests = zip(rates, found.p, found.adjusted, strict=True)
                rates = [rate.by_labels(p, adjusted) for rate, p, adjusted in tests]
    elif labels:
        paired = with_labels(paired, *sides, n)
    judged = {one.rows.names[at] for one in (first, second) for at in np.unique(one.rows.items)}
    lacking = tuple(item for _, item in sorted(judged - paired.differences.keys()))
    design = _design(*sides)
    yield Contrast(
        BURDEN, paired, rater=terms.rater, terms=terms, usable=usable, items_left_out=lacking,
        design=design,
    )  # fmt: skip
    for name, rate in zip(terms.features, rates, strict=False):
        yield Contrast(
            FEATURE_RATE, rate, rater=terms.rater, feature=name, terms=terms, usable=usable
        )


def _profiles(first: JudgedRows, second: JudgedRows) -> list[list[list[list[float]]]]:
    """Return of both sides, by shared item, which features each response with a burden has."""
    sides = [_by_item(judged) for judged in (first, second)]
    shared = [place for place in sides[0] if place in sides[1]]
    return [[side[place].tolist() for place in shared] for side in sides]


def _by_item(judged: JudgedRows) -> dict[Place, NDArray[np.float64]]:
    items = judged.items[judged.has_burden]
    present = judged.present[judged.has_burden].astype(np.float64)
    return {judged.names[at]: present[items == at] for at in first_of(items)}


def _design(first: Side, second: Side) -> Design:
    places = [place for place in first.values if place in second.values]
    if not places:
        return Design(0, 1)
    sides = (
        design_of({place: len(side.values[place]) for place in places}, first.clusters)
        for side in (first, second)
    )
    return min(sides, key=lambda design: design.replicates)


# ------------------------------------------------------------------ two administrations


@dataclass(frozen=True, slots=True)
class SideBySide:
    """What both sides said to one item, and the share right by the exact policy."""

    subtest: str
    item: str
    prompt: str
    expected: str | None
    first: tuple[str, ...]
    second: tuple[str, ...]
    first_right: float | None
    second_right: float | None

    @property
    def differs(self) -> bool:
        """Whether the two sides said different things."""
        return set(self.first) != set(self.second)


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sides of a design, by name, and what is found of them.

    Attributes:
        shared_streams: for each side, how many responses were drawn from a random stream that
            others share, of how many (:mod:`tabwb.analysis.draws`).
    """

    first: str
    second: str
    rows: tuple[Contrast, ...]
    left_out: LeftOut = ()
    unlike: Unlike = ()
    shared_streams: tuple[Counts, Counts] = ((0, 0), (0, 0))


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that is said of two sides: measures, items answered in text or named aloud."""

    found: Compared
    items: tuple[SideBySide, ...]
    named: tuple[NamedDifference, ...] = ()


def difference(
    first: Sequence[AdministrationData],
    second: Sequence[AdministrationData],
    labels: tuple[str, str],
    differing: Unlike = (),
) -> Difference:
    """Compare two sides, each of one or more administrations of one battery."""
    batteries = {source.battery.content_hash: source.battery for source in (*first, *second)}
    battery, *others = batteries.values()
    if others:
        names = " and ".join(f"{given.id} {given.version}" for given in batteries.values())
        raise UsageError(
            f"only administrations of one battery can be compared, not {names}",
            hint="tabwb results lists the battery of each",
        )
    sides = Rows(first), Rows(second)
    rows, left_out = contrast(*sides, policies=POLICIES, features=True)
    shared = sides[0].shared, sides[1].shared
    return Difference(
        Compared(*labels, tuple(rows), left_out, differing, shared),
        tuple(_side_by_side(sides[0].table, sides[1].table)),
        _named(first, second) if battery.coded else (),
    )


def _named(
    first: Sequence[AdministrationData], second: Sequence[AdministrationData]
) -> tuple[NamedDifference, ...]:
    from tabwb.report.summaries.naming import naming_difference

    return naming_difference(first, second)


def members_compared(
    first: Sequence[AdministrationData],
    second: Sequence[AdministrationData],
    labels: tuple[str, str] | None = None,
) -> Difference:
    """Compare two sides with the conditions that they do not share."""
    labels = labels or (_label(first), _label(second))
    return difference(first, second, labels, unlike(first, second))


def _label(side: Sequence[AdministrationData]) -> str:
    numbers = ", ".join(f"#{data.administration.id}" for data in side)
    names = dict.fromkeys(name_of(data.administration.conditions) for data in side)
    return f"{numbers} {', '.join(names)}"


def _side_by_side(*tables: Table) -> Iterator[SideBySide]:
    for number, subtest in enumerate(tables[0].battery.subtests):
        if subtest.task.coded:
            continue
        scorer = decider(subtest, number, tables)
        said = [_said(table, number, scorer) for table in tables]
        for item in subtest.items:
            place = subtest.id, item.id
            if any(place in side for side in said):
                (mine, right), (theirs, other) = (side.get(place, ((), None)) for side in said)
                yield SideBySide(*place, item.prompt, item.expected, mine, theirs, right, other)


def _said(
    table: Table, number: int, scorer: str | None
) -> dict[Place, tuple[tuple[str, ...], float | None]]:
    """Return, by item of a subtest, the different responses and the share of them that is right."""
    right = {} if scorer is None else right_side(table, number, scorer).values
    rows = np.flatnonzero(table.counts & (table.subtest == number))
    given = {}
    for at in np.unique(table.place[rows]).tolist():
        place = table.columns.places[at]
        texts = first_of(table.text[rows[table.place[rows] == at]])
        values = right.get(place, ())
        given[place] = (
            tuple(table.columns.responses[text] for text in texts),
            fsum(values) / len(values) if values else None,
        )
    return given


# ------------------------------------------------------------------ groups


def baseline_of(rows: Sequence[Grouped], name: str) -> Grouped:
    """Return the group that is named: its name, its spec, what one key calls it, or a part.

    Of each kind of names only one group may have it.
    """
    found = [row for row in rows if name in _names(row)]
    found = found or [row for row in rows if name in {one.cell for one in row.group.values}]
    found = found or [row for row in rows if any(name in known for known in _names(row))]
    if len(found) != 1:
        raise UsageError(
            f"{'several groups are' if found else 'no group is'} named '{name}'",
            allowed=", ".join(f"'{row.label}'" for row in found or rows) or "no group",
            hint="--baseline NAME",
        )
    return found[0]


def _names(row: Grouped) -> set[str]:
    return {row.label, *(name_of(one.administration.conditions) for one in row.group.members)}


def groups_compared(
    pairs: Iterable[tuple[Grouped, Grouped]], *, labels: bool, pooled: bool
) -> list[Compared]:
    """Return pairs of groups of one battery: accuracies, and burdens judged alike."""
    known: dict[int, Rows] = {}
    made = []
    for first, second in pairs:
        base = known.setdefault(id(second), Rows.of(second))
        rows, left_out = contrast(Rows.of(first), base, pooled=pooled, labels=labels)
        differing = unlike(first.group.members, second.group.members)
        made.append(Compared(first.label, second.label, tuple(rows), left_out, differing))
    return made


def over(compared: Sequence[Compared], family: Callable[[Contrast], Hashable]) -> list[Compared]:
    """Return pairs with p values corrected over families of tests, whatever pair they are of."""
    families: dict[Hashable, list[tuple[int, int]]] = {}
    for at, one in enumerate(compared):
        for place, row in enumerate(one.rows):
            families.setdefault(family(row), []).append((at, place))
    made = [list(one.rows) for one in compared]
    for places in families.values():
        found = correct([compared[at].rows[place] for at, place in places])
        for (at, place), row in zip(places, found, strict=True):
            made[at][place] = row
    return [replace(one, rows=tuple(rows)) for one, rows in zip(compared, made, strict=True)]


def against(rows: Sequence[Grouped], name: str) -> tuple[Grouped, list[Grouped], list[Compared]]:
    """Return the baseline, every other group of its battery, and each of these less it.

    A family of tests is one measure over all groups; the accuracies of the subtests by themselves
    are one family over groups and subtests.
    """
    baseline = baseline_of(rows, name)
    others = [row for row in rows if row is not baseline]
    others = [row for row in others if row.battery.content_hash == baseline.battery.content_hash]
    if not others:
        raise UsageError(
            "there is no other group of this battery to compare with the baseline",
            hint="--by model, or name more administrations",
        )
    found = groups_compared([(row, baseline) for row in others], labels=True, pooled=True)
    return (
        baseline,
        others,
        over(found, lambda one: (one.measure.id, one.judge, bool(one.subtest))),
    )


# ------------------------------------------------------------------ base and instruct models

LABELS = {"family", "tuning", "parameters"}
"""What a profile must say of a model for it to belong to a pair."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A base and an instruct model.

    Attributes:
        battery: id and version of what both were given.
        family, parameters: as the profiles say.
        base_from, instruct_from: the administrations that count, by number.
        unsaid: administrations of the same models that do not count here, because no profile said
            what they are when they were given.
        found: burdens, one for each judge and its terms; then accuracies. Where the two do not
            share conditions beside the model they are not comparable and there are none.
    """

    battery: str
    family: str
    parameters: str
    lesion: str | None
    base_from: tuple[int, ...]
    instruct_from: tuple[int, ...]
    unsaid: tuple[int, ...]
    found: Compared


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
    summary = pool(members)
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
    differing = unlike(base.group.members, instruct.group.members)
    numbers = _numbers(base), _numbers(instruct)
    rows: list[Contrast] = []
    left_out: LeftOut = ()
    if not differing:
        rows, left_out = contrast(Rows.of(base), Rows.of(instruct), pooled=False, labels=False)
    streams = [(one.summary.answers.shared_streams, one.summary.answers.n)
               for one in (base, instruct)]  # fmt: skip
    _, family, parameters, lesion = _kin(base)
    found = Compared(
        base.group.whole_name, instruct.group.whole_name, burdens_first(rows), left_out, differing,
        (streams[0], streams[1]),
    )  # fmt: skip
    return Pair(
        f"{base.battery.id} {base.battery.version}", family, parameters, lesion, *numbers,
        tuple(sorted(whole - {*numbers[0], *numbers[1]})), found,
    )  # fmt: skip


def burdens_first(rows: Iterable[Contrast]) -> tuple[Contrast, ...]:
    """Return contrasts with those of judges before accuracies."""
    return tuple(sorted(rows, key=lambda row: row.terms is None))


@dataclass(frozen=True, slots=True)
class FamilyMean:
    """One measure of base - instruct over families.

    Attributes:
        row: of one of the pairs: measure, subtest, rater and terms.
        items: those for which every family has a difference; the others are left out.
        difference: mean over families and items; several sizes of one family are averaged first.
        interval: for prompts like these, and families like these.
    """

    row: Contrast
    families: tuple[str, ...]
    items: int
    difference: float
    interval: EstimatedInterval


def over_families(pairs: Iterable[Pair]) -> tuple[FamilyMean, ...]:
    """Return the mean of each measure over families that have a pair; three families or more.

    Pairs of different batteries or lesions are not put together. The variance has a floor from the
    draws alone, see :func:`tabwb.scoring.differences.family_interval`.
    """
    measures: dict[tuple[object, ...], dict[str, list[Contrast]]] = {}
    for pair in pairs:
        for row in pair.found.rows:
            if row.sides.differences:
                what = row.measure, row.subtest, row.rater, row.terms
                of = measures.setdefault((pair.battery, pair.lesion, *what), {})
                of.setdefault(pair.family, []).append(row)
    enough = (by_family for by_family in measures.values() if len(by_family) >= LEAST_FAMILIES)
    return tuple(mean for mean in map(_family_mean, enough) if mean is not None)


def _family_mean(by_family: dict[str, list[Contrast]]) -> FamilyMean | None:
    every = [row.sides for rows in by_family.values() for row in rows]
    first = every[0]
    places = [at for at in first.differences if all(at in one.differences for one in every)]
    if not places:
        return None
    rows = [
        [fsum(row.sides.differences[place] for row in given) / len(given) for place in places]
        for given in by_family.values()
    ]
    own = dict(zip(first.differences, first.clusters, strict=True))
    clustered = [by_cluster(row, [own[place] for place in places]) for row in rows]
    floors = [
        fsum(row.sides.floor for row in given) / len(given) ** 2 for given in by_family.values()
    ]
    row = next(iter(by_family.values()))[0]
    largest = 1.0 if row.terms is None else float(len(row.terms.features))
    return FamilyMean(
        row,
        tuple(by_family),
        len(places),
        fsum(fsum(row) for row in rows) / len(rows) / len(places),
        family_interval(clustered, fsum(floors) / len(rows) ** 2, largest),
    )
