"""This less that on the same items: one function for every design, which is a list of pairs.

Two administrations, groups and a baseline, base and instruct models, and families of these are
designs. :func:`contrasts` compares the two sides of each pair; a design corrects p values over the
family of tests that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData, name_of
from tabwb.analysis.frame import Place, Side, Table, first_of, table_of
from tabwb.analysis.grouping import Group, Grouped, unlike
from tabwb.analysis.measures import ACCURACY, BURDEN, FEATURE_RATE
from tabwb.analysis.paired import (
    PAIRED_T,
    Contrast,
    Tested,
    compare_sides,
    corrected,
    permutes_labels,
    together,
    with_labels,
)
from tabwb.analysis.statistics.accuracy import decider, right_side
from tabwb.analysis.statistics.burden import Judge, JudgedRows, comparable
from tabwb.analysis.statistics.summary import pool
from tabwb.records.errors import UsageError
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.detectable import ACCURACY as ACCURACY_BASE
from tabwb.scoring.detectable import BURDEN as BURDEN_BASE
from tabwb.scoring.detectable import Design, design_of, detectable_accuracy, detectable_burden
from tabwb.scoring.differences import LEAST_FAMILIES, family_interval
from tabwb.scoring.estimate import Estimate
from tabwb.scoring.intervals import by_cluster
from tabwb.scoring.permutation import MAX_T_FROM, label_permutation

if TYPE_CHECKING:
    from tabwb.analysis.statistics.naming import NamedDifference

NOT_ASKED = "only for burdens, and for accuracies under the policy exact"
NOT_SIMULATED = "not simulated for unequal numbers of replicates"
NO_ITEMS = "no item has a value on both sides"
Unlike = tuple[tuple[str, str, str], ...]
"""Conditions besides the examinee that two sides do not share: name, both values."""
Counts = tuple[int, int]
"""How many, of how many."""
Family = Callable[[Contrast], Hashable]
"""Returns of which family a test is: its p is corrected for the others."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sides of a design, by name, and what is found of them; raters left out with the reason.

    ``shared_streams``: for each side, how many responses were drawn from a random stream that
    others share, of how many (:mod:`tabwb.analysis.draws`).
    """

    first: str
    second: str
    rows: tuple[Contrast, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    unlike: Unlike = ()
    shared_streams: tuple[Counts, Counts] = ((0, 0), (0, 0))


def contrasts(
    pairs: Sequence[tuple[Grouped, Grouped]],
    family: Family | None = None,
    *,
    policies: Sequence[str] = ("exact",),
    pooled: bool = False,
    features: bool = False,
    labels: bool = False,
    only_alike: bool = False,
) -> list[Compared]:
    """Return each measure of the first side of each pair less the second.

    Accuracies by policy: all scored subtests ``pooled``, a separate test, then each by itself, a
    family. Of several policies one under which nothing has a verdict is left out. Then the burdens
    of judges that judged both sides alike, and the rates of their ``features``, which are a family:
    below eight items, where both sides drew several answers to an item, labels are permuted within
    items for all features at once, corrected by maxT. Other ``labels`` are permuted measure by
    measure. Responses to an item are averaged first, because they are not independent. p values are
    corrected over a ``family`` anew, whatever pair a test is of. With ``only_alike`` sides that do
    not share their conditions are not compared.
    """
    tables: dict[int, Table] = {}
    made: list[Compared] = []
    for sides in pairs:
        members = [side.group.members for side in sides]
        differing = unlike(*members)
        rows: list[Contrast] = []
        left_out: tuple[tuple[str, str], ...] = ()
        if not (only_alike and differing):
            for side, own in zip(sides, members, strict=True):
                tables.setdefault(id(side), table_of(own))
            both = [tables[id(side)] for side in sides]
            for policy in policies:
                rows += _accuracies(both, policy, pooled, labels, drop=len(policies) > 1)
            judges, left_out = comparable(*(side.results.judges for side in sides))
            for pair in judges:
                rows += of_judge(*pair, features=features, labels=labels)
        shared = [
            (side.results.number("shared_streams"), side.results.number("responses"))
            for side in sides
        ]
        names = [side.label for side in sides]
        made.append(
            Compared(names[0], names[1], tuple(rows), left_out, differing, (shared[0], shared[1]))
        )
    return made if family is None else over(made, family)


def over(compared: Sequence[Compared], family: Family) -> list[Compared]:
    """Return pairs with p values corrected over families of tests, whatever pair they are of."""
    families: dict[Hashable, list[tuple[int, int]]] = {}
    for at, one in enumerate(compared):
        for place, row in enumerate(one.rows):
            families.setdefault(family(row), []).append((at, place))
    made = [list(one.rows) for one in compared]
    for places in families.values():
        found = corrected([compared[at].rows[place] for at, place in places])
        for (at, place), row in zip(places, found, strict=True):
            made[at][place] = row
    return [replace(one, rows=tuple(rows)) for one, rows in zip(compared, made, strict=True)]


def _accuracies(
    tables: Sequence[Table], policy: str, pooled: bool, labels: bool, *, drop: bool
) -> Iterator[Contrast]:
    found: list[tuple[dict[str, Any], list[Side]]] = []
    for number, subtest in enumerate(tables[0].battery.subtests):
        if scorer := decider(subtest, number, tables):
            sides = [right_side(table, number, scorer, policy) for table in tables]
            if any(side.values for side in sides) or not drop:
                named = {"subtest": subtest.id, "title": subtest.title, "rater": scorer}
                found.append((named, sides))
    if pooled and len(found) > 1:
        both = [together(sides[at] for _, sides in found) for at in (0, 1)]
        yield _accuracy({}, both, policy, labels)
    yield from corrected([_accuracy(named, sides, policy, labels) for named, sides in found])


def _accuracy(named: dict[str, Any], sides: Sequence[Side], policy: str, labels: bool) -> Contrast:
    design = _design(sides) if policy == "exact" else None
    what = {"measure": ACCURACY, "policy": policy, "design": design, **named}
    row = compare_sides(sides[0], sides[1], None, **what)
    return with_labels(row, sides[0], sides[1], None) if labels else row


def of_judge(
    first: Judge, second: Judge, *, features: bool = False, labels: bool = False
) -> Iterator[Contrast]:
    """Yield the burden of a judge of both sides, then the rates of its features."""
    terms, n, judges = first.terms, len(first.terms.features), (first, second)
    of = partial(
        compare_sides,
        rater=terms.rater,
        terms=terms,
        usable=tuple(judge.burden.usable for judge in judges),
    )
    sides = [judge.rows.burdens for judge in judges]
    burden = of(sides[0], sides[1], n, measure=BURDEN, design=_design(sides))
    judged = {judge.rows.names[at] for judge in judges for at in np.unique(judge.rows.items)}
    lacking = tuple(item for _, item in sorted(judged - burden.differences.keys()))
    burden = replace(burden, items_left_out=lacking)
    rates: list[Contrast] = []
    if features:
        rates = corrected(
            [
                of(first.rows.side([at]), second.rows.side([at]), None, measure=FEATURE_RATE,
                   feature=name)
                for at, name in enumerate(terms.features)
            ]
        )  # fmt: skip
        if burden.units < MAX_T_FROM and permutes_labels(*sides):
            found = label_permutation(*_profiles(first.rows, second.rows))
            if found is not None:
                burden = burden.by_labels(found.total_p)
                tests = zip(rates, found.p, found.adjusted, strict=True)
                rates = [rate.by_labels(p, adjusted) for rate, p, adjusted in tests]
    elif labels:
        burden = with_labels(burden, sides[0], sides[1], n)
    yield from (burden, *rates)


def _profiles(*sides: JudgedRows) -> list[list[list[list[float]]]]:
    """Return of both sides, by shared item, which features each response with a burden has."""
    found: list[dict[Place, NDArray[np.float64]]] = []
    for judged in sides:
        items = judged.items[judged.has_burden]
        present = judged.present[judged.has_burden].astype(np.float64)
        found.append({judged.names[at]: present[items == at] for at in first_of(items)})
    shared = [place for place in found[0] if place in found[1]]
    return [[side[place].tolist() for place in shared] for side in found]


def _design(sides: Sequence[Side]) -> Design:
    places = [place for place in sides[0].values if place in sides[1].values]
    if not places:
        return Design(0, 1)
    clusters = sides[0].clusters
    designs = [
        design_of({place: len(side.values[place]) for place in places}, clusters) for side in sides
    ]
    return min(designs, key=lambda design: design.replicates)


def showable(row: Contrast) -> Estimate:
    """Return the smallest difference that the test finds with power .8 for prompts like these.

    The first side's mean is taken as what it is; see :mod:`tabwb.scoring.detectable`.
    """
    if row.design is None or row.like.test == PAIRED_T:
        return Estimate(None, NOT_ASKED if row.design is None else NOT_SIMULATED)
    first = row.first
    if row.terms is None:
        mean = ACCURACY_BASE if first is None else min(first, 1 - first)
        return detectable_accuracy(row.design, accuracy=mean)
    mean = BURDEN_BASE if first is None else first
    return detectable_burden(row.design, len(row.terms.features), burden=mean)


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
class Difference:
    """Everything that is said of two sides: measures, items answered in text or named aloud."""

    found: Compared
    items: tuple[SideBySide, ...]
    named: tuple[NamedDifference, ...] = ()


def members_compared(
    first: Sequence[AdministrationData],
    second: Sequence[AdministrationData],
    labels: Sequence[str] = ("", ""),
) -> Difference:
    """Compare two sides, each of one or more administrations of one battery.

    A side without a label is called by its administrations.
    """
    batteries = {source.battery.content_hash: source.battery for source in (*first, *second)}
    battery, *others = batteries.values()
    if others:
        names = " and ".join(f"{given.id} {given.version}" for given in batteries.values())
        raise UsageError(
            f"only administrations of one battery can be compared, not {names}",
            hint="tabwb results lists the battery of each",
        )
    sides = [
        Grouped(Group("administration", name, tuple(members)), pool(members))
        for name, members in zip(map(_label, labels, (first, second)), (first, second), strict=True)
    ]
    (found,) = contrasts(
        [(sides[0], sides[1])], policies=POLICIES, pooled=True, features=True, labels=True
    )
    named: tuple[NamedDifference, ...] = ()
    if battery.coded:
        from tabwb.analysis.statistics.naming import naming_difference

        named = naming_difference(first, second)
    return Difference(found, tuple(_side_by_side(table_of(first), table_of(second))), named)


def _label(asked: str, side: Sequence[AdministrationData]) -> str:
    if asked:
        return asked
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


# ------------------------------------------------------------------ groups less one


def baseline_of(rows: Sequence[Grouped], name: str) -> Grouped:
    """Return the group that is named: its name, its spec, what one key calls it, or a part.

    Of each kind of names only one group may have it.
    """

    def names(row: Grouped) -> set[str]:
        members = row.group.members
        return {row.label, *(name_of(one.administration.conditions) for one in members)}

    found = [row for row in rows if name in (row.label, row.group.whole_name)]
    found = found or [row for row in rows if name in names(row)]
    found = found or [row for row in rows if name in {one.cell for one in row.group.values}]
    found = found or [row for row in rows if any(name in known for known in names(row))]
    if len(found) != 1:
        raise UsageError(
            f"{'several groups are' if found else 'no group is'} named '{name}'",
            allowed=", ".join(f"'{row.label}'" for row in found or rows) or "no group",
            hint="--baseline NAME",
        )
    return found[0]


def against(rows: Sequence[Grouped], name: str) -> tuple[Grouped, list[Grouped], list[Compared]]:
    """Return the baseline, every other group of its battery, and each of these less it.

    A family of tests is one measure over all groups; the accuracies of the subtests by themselves
    are one family over groups and subtests.
    """
    baseline = baseline_of(rows, name)
    battery = baseline.battery.content_hash
    others = [row for row in rows if row is not baseline and row.battery.content_hash == battery]
    if not others:
        raise UsageError(
            "there is no other group of this battery to compare with the baseline",
            hint="--by model, or name more administrations",
        )
    pairs = [(row, baseline) for row in others]
    return baseline, others, contrasts(pairs, family_of, pooled=True, labels=True)


def family_of(row: Contrast) -> tuple[str, str, bool]:
    """Return the family of a test among groups less a baseline."""
    return row.measure.id, row.judge, bool(row.subtest)


# ------------------------------------------------------------------ base and instruct models

LABELS = {"family", "tuning", "parameters"}
"""What a profile must say of a model for it to belong to a pair."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A base and an instruct model; where their conditions differ, nothing is compared.

    ``base_from`` and ``instruct_from`` are the administrations that count, ``unsaid`` those of the
    same models that do not, because no profile said what they are when they were given.
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
    said = [model for model in models if model.group.labels.keys() >= LABELS]
    sides = (
        [model for model in said if model.group.labels["tuning"] == tuning]
        for tuning in ("base", "instruct")
    )
    kin = [(base, instruct) for base, instruct in product(*sides) if _kin(base) == _kin(instruct)]
    like = [pair for pair in kin if not unlike(*(side.group.members for side in pair))]
    paired = {id(group) for pair in like for group in pair}
    return (*like, *(pair for pair in kin if not any(id(group) in paired for group in pair)))


def _kin(model: Grouped) -> tuple[str, str, str, str | None]:
    labels, conditions = model.group.labels, model.group.members[0].administration.conditions
    return model.battery.content_hash, labels["family"], labels["parameters"], conditions.lesion


def pairs_of(models: Sequence[Grouped]) -> tuple[Pair, ...]:
    """Return the differences of :func:`kindred` models, where a profile said what they are."""
    whole = kindred(models)
    labelled = [(_labelled(base), _labelled(instruct)) for base, instruct in whole]
    found = contrasts(labelled, only_alike=True)
    return tuple(map(_pair, whole, labelled, found))


def _pair(whole: Sequence[Grouped], sides: Sequence[Grouped], found: Compared) -> Pair:
    base, instruct = sides
    numbers = _numbers(base), _numbers(instruct)
    given = {number for side in whole for number in _numbers(side)}
    found = replace(
        found,
        first=base.group.whole_name,
        second=instruct.group.whole_name,
        rows=of_means(found.rows),
    )
    _, family, parameters, lesion = _kin(base)
    return Pair(
        f"{base.battery.id} {base.battery.version}", family, parameters, lesion, *numbers,
        tuple(sorted(given - {*numbers[0], *numbers[1]})), found,
    )  # fmt: skip


def _labelled(model: Grouped) -> Grouped:
    members = tuple(
        member
        for member in model.group.members
        if member.administration.conditions.labels.keys() >= LABELS
    )
    if len(members) == len(model.group.members):
        return model
    raters = {judge.rater for judge in model.results.judges}
    results = pool(members).only_judges(raters)
    return Grouped(replace(model.group, members=members), results)


def _numbers(model: Grouped) -> tuple[int, ...]:
    return tuple(member.administration.id for member in model.group.members)


def of_means(rows: Iterable[Contrast]) -> tuple[Contrast, ...]:
    """Return contrasts, burdens first, each with the difference of the two means that are shown.

    The mean of the differences may miss that by a rounding error.
    """
    made = (
        row
        if row.first is None or row.second is None
        else replace(row, difference=row.first - row.second)
        for row in rows
    )
    return tuple(sorted(made, key=lambda row: row.terms is None))


def over_families(pairs: Iterable[Pair]) -> tuple[Contrast, ...]:
    """Return the mean of each measure over families that have a pair; three families or more.

    A mean is over families and the items for which every family has a difference; several sizes of
    one family are averaged first. Its interval is for prompts and families like these. Pairs of
    different batteries or lesions are not put together. The variance has a floor from the draws
    alone, see :func:`tabwb.scoring.differences.family_interval`.
    """
    measures: dict[tuple[object, ...], dict[str, list[Contrast]]] = {}
    for pair in pairs:
        for row in pair.found.rows:
            if row.differences:
                what = row.measure, row.subtest, row.rater, row.terms
                of = measures.setdefault((pair.battery, pair.lesion, *what), {})
                of.setdefault(pair.family, []).append(row)
    enough = (by_family for by_family in measures.values() if len(by_family) >= LEAST_FAMILIES)
    return tuple(mean for mean in map(_family_mean, enough) if mean is not None)


def _family_mean(by_family: dict[str, list[Contrast]]) -> Contrast | None:
    every = [row for rows in by_family.values() for row in rows]
    first = every[0]
    places = [at for at in first.differences if all(at in one.differences for one in every)]
    if not places:
        return None
    rows = [
        [fsum(row.differences[place] for row in given) / len(given) for place in places]
        for given in by_family.values()
    ]
    own = dict(zip(first.differences, first.clusters, strict=True))
    clustered = [by_cluster(row, [own[place] for place in places]) for row in rows]
    floors = [fsum(row.floor for row in given) / len(given) ** 2 for given in by_family.values()]
    largest = 1.0 if first.terms is None else float(len(first.terms.features))
    return Contrast(
        items=len(places),
        difference=fsum(fsum(row) for row in rows) / len(rows) / len(places),
        like=Tested(family_interval(clustered, fsum(floors) / len(rows) ** 2, largest)),
        measure=first.measure,
        subtest=first.subtest,
        title=first.title,
        rater=first.rater,
        terms=first.terms,
        families=tuple(by_family),
    )
