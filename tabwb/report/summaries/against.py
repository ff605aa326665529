"""All groups against one: differences, item by item, with p values corrected over the groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tabwb.records.errors import UsageError
from tabwb.report.measures import ACCURACY, BURDEN
from tabwb.report.summaries.counted import name_of
from tabwb.report.summaries.groups import Grouped, unlike
from tabwb.report.summaries.judges import alike
from tabwb.report.summaries.load import sources_of
from tabwb.report.summaries.paired import Paired, Side, compare_sides, corrected, together
from tabwb.scoring.differences import agreeing
from tabwb.scoring.permutation import (
    holm,
    label_permutation,
    label_permutation_of_rates,
)


@dataclass(frozen=True, slots=True)
class Against:
    """One measure of a group less that of the baseline, over the items that both have.

    Attributes:
        measure: id of the accuracy (policy *exact*) or of the burden.
        subtest: empty for all scored subtests together, and for a burden.
        rater: of a burden, else empty.
        unlike: conditions besides the examinee that the two do not share: name, both values.
        adjusted: p for prompts like these, corrected.
        p_these, adjusted_these: labels within items, for these prompts, and corrected by Holm.
        correction: of ``adjusted``: ``maxT`` or ``Holm``, and over what.
    """

    group: Grouped
    measure: str
    subtest: str
    rater: str
    sides: Paired
    unlike: tuple[tuple[str, str, str], ...]
    p_these: float | None
    adjusted: float | None = None
    adjusted_these: float | None = None
    correction: str = ""

    @property
    def p(self) -> float | None:
        """Of no difference, for prompts like these; None without shared items."""
        return None if self.sides.test is None else self.sides.test.p


@dataclass(frozen=True, slots=True)
class Differences:
    """All groups less one.

    Attributes:
        left_out: groups, or a group's judges, that cannot be compared, with the reason.
    """

    baseline: str
    rows: tuple[Against, ...]
    left_out: tuple[tuple[str, str], ...]


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


def differences_from(rows: Sequence[Grouped], name: str) -> Differences:
    """Return every group less the baseline: accuracies, and burdens judged alike.

    A family of tests is one measure over all groups; the accuracies of the subtests by themselves
    are one family over groups and subtests. It is corrected by maxT over sign flips where all
    comparisons have the same eight items or more, so that the sign of an item flips for all groups
    at once; otherwise, and where t gave one of the p values, by Holm's method. p values for these
    prompts take Holm's method.
    """
    baseline = baseline_of(rows, name)
    others = [row for row in rows if row is not baseline]
    left_out = [
        (row.label, "another battery or version")
        for row in others
        if row.battery.content_hash != baseline.battery.content_hash
    ]
    others = [row for row in others if row.battery.content_hash == baseline.battery.content_hash]
    if not others:
        raise UsageError(
            "there is no other group of this battery to compare with the baseline",
            hint="--by model, or name more administrations",
        )
    made: list[Against] = []
    for row in others:
        made += _accuracies(row, baseline)
        judged, without = _burdens(row, baseline)
        made += judged
        left_out += [(f"{row.label}, {rater}", why) for rater, why in without]
    families: dict[tuple[str, str, bool], list[Against]] = {}
    order = {subtest.id: at for at, subtest in enumerate(baseline.battery.subtests)}
    for one in sorted(made, key=lambda one: order.get(one.subtest, -1)):
        alone = one.measure == ACCURACY.id and bool(one.subtest)
        families.setdefault((one.measure, one.rater, alone), []).append(one)
    found = [one for family in families.values() for one in _corrected(family)]
    return Differences(baseline.label, tuple(found), tuple(left_out))


def _accuracies(row: Grouped, baseline: Grouped) -> Iterator[Against]:
    from tabwb.report.summaries.columns.subtests import accuracy_sides
    from tabwb.report.summaries.columns.table import table_of

    tables = [table_of(sources_of(given.group.members)) for given in (row, baseline)]
    sides = [(subtest.id, first, second) for subtest, _, first, second in accuracy_sides(*tables)]
    if len(sides) > 1:
        pooled = together(first for _, first, _ in sides), together(other for *_, other in sides)
        yield _compared(row, baseline, ACCURACY.id, "", "", pooled, None)
    for subtest, first, second in sides:
        yield _compared(row, baseline, ACCURACY.id, subtest, "", (first, second), None)


def _burdens(row: Grouped, baseline: Grouped) -> tuple[list[Against], tuple[tuple[str, str], ...]]:
    pairs, left_out = alike(row.summary.judges, baseline.summary.judges)
    made = [
        _compared(
            row, baseline, BURDEN.id, "", one.rater, (one.rows.burdens, other.rows.burdens),
            len(one.terms.features),
        )
        for one, other in pairs
    ]  # fmt: skip
    return made, left_out


def _compared(
    row: Grouped,
    baseline: Grouped,
    measure: str,
    subtest: str,
    rater: str,
    sides: tuple[Side, Side],
    n_features: int | None,
) -> Against:
    paired = compare_sides(*sides, n_features)
    these, p_these = agreeing(paired.these, _labels(sides, paired, n_features))
    return Against(
        row,
        measure,
        subtest,
        rater,
        replace(paired, these=these),
        unlike(row.group.members, baseline.group.members),
        p_these,
    )


def _labels(sides: tuple[Side, Side], paired: Paired, n_features: int | None) -> float | None:
    if any(side.deterministic or side.shares_stream for side in sides):
        return None
    values = [[side.values[place] for place in paired.differences] for side in sides]
    if n_features is None:
        counts = [[(int(sum(given)), len(given)) for given in side] for side in values]
        return label_permutation_of_rates(counts[0], counts[1])
    single = [[[[value] for value in given] for given in side] for side in values]
    found = label_permutation(single[0], single[1])
    return None if found is None else found.p[0]


def _corrected(family: Sequence[Against]) -> list[Against]:
    over = "groups and subtests" if family[0].subtest else "groups"
    these = iter(holm([one.p_these for one in family if one.p_these is not None]))
    family = [
        one if one.p_these is None else replace(one, adjusted_these=next(these)) for one in family
    ]
    adjusted, method = corrected([one.sides for one in family])
    return [
        one if p is None else replace(one, adjusted=p, correction=f"{method} over {over}")
        for one, p in zip(family, adjusted, strict=True)
    ]
