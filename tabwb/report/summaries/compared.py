"""What is compared of two sides: accuracies under every policy, burdens, each feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tabwb.report import measures
from tabwb.report.summaries.columns.judged import JudgedRows
from tabwb.report.summaries.columns.subtests import decider, right_side
from tabwb.report.summaries.columns.table import Table, first_of
from tabwb.report.summaries.judges import JudgeSummary, Terms, alike
from tabwb.report.summaries.paired import PAIRED_T, Paired, Place, Side, compare_sides, together
from tabwb.scoring.burden import Usable
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.detectable import ACCURACY as ACCURACY_BASE
from tabwb.scoring.detectable import BURDEN as BURDEN_BASE
from tabwb.scoring.detectable import Design, design_of, detectable_accuracy, detectable_burden
from tabwb.scoring.differences import agreeing
from tabwb.scoring.estimate import Estimate, EstimatedInterval
from tabwb.scoring.intervals import cluster_parts
from tabwb.scoring.permutation import (
    MAX_T_FROM,
    holm,
    label_permutation,
    label_permutation_of_rates,
    sign_flip_max_t,
)

LABELS = "labels within items with Welch's t"
ACCURACY, BURDEN, RATE = measures.ACCURACY.title, measures.BURDEN.title, measures.FEATURE_RATE.title
NOT_ASKED = "only for burdens, and for accuracies under the policy exact"
NOT_SIMULATED = "not simulated for unequal numbers of replicates"


@dataclass(frozen=True, slots=True)
class Tested:
    """A difference for one estimand.

    Attributes:
        interval: of first - second, or the reason why there is none.
        p: two-sided; None where there is no test.
        test: ``labels within items``, or the method of :class:`Paired`; empty without.
        adjusted: p corrected for the other tests of its family by ``correction`` (``Holm``,
            ``maxT``).
    """

    interval: EstimatedInterval
    p: float | None = None
    test: str = ""
    adjusted: float | None = None
    correction: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure of both sides over the items that both have; empty texts do not apply.

    Attributes:
        measure: ``accuracy``, ``symptom burden`` or ``feature rate``.
        subtest, rater: empty for all scored subtests together.
        like, these: for prompts like these, and for these prompts.
        design: items and replicates of both; None where :attr:`showable` does not apply.
        terms, usable: of a judge: under which both sides were judged; usable responses of each
            side.
        items_left_out: of a burden: items that were judged and have no burden on one side or both.
    """

    measure: str
    subtest: str
    rater: str
    policy: str
    feature: str
    sides: Paired
    like: Tested
    these: Tested
    design: Design | None = None
    terms: Terms | None = None
    usable: tuple[Usable, ...] = ()
    items_left_out: tuple[str, ...] = ()

    @property
    def showable(self) -> Estimate:
        """The smallest difference that the test finds with power .8 for prompts like these.

        The first side's mean is taken as what it is; see :mod:`tabwb.scoring.detectable`.
        """
        if self.design is None or (self.sides.method == PAIRED_T):
            return Estimate(None, NOT_ASKED if self.design is None else NOT_SIMULATED)
        first = self.sides.first
        if self.terms is None:
            mean = ACCURACY_BASE if first is None else min(first, 1 - first)
            return detectable_accuracy(self.design, accuracy=mean)
        n_features = len(self.terms.features)
        mean = BURDEN_BASE if first is None else first
        return detectable_burden(self.design, n_features, burden=mean)

    @property
    def items(self) -> int:
        """How many items both sides have a value for."""
        return self.sides.items

    @property
    def smallest_p(self) -> float | None:
        """The smallest p of sign flips over so many items; None where t gave p."""
        return self.sides.smallest_p

    @property
    def difference(self) -> float | None:
        """First - second; None without shared items."""
        return self.sides.difference


def accuracies(first: Table, second: Table) -> Iterator[Compared]:
    """Yield accuracies under each policy: all scored subtests together, then each by itself.

    The p values of a policy's subtests are corrected by Holm's method; the pooled test is a
    separate test. A policy under which nothing has a verdict is left out.
    """
    tables = first, second
    raters: dict[str, tuple[int, str]] = {}
    for number, subtest in enumerate(first.battery.subtests):
        if scorer := decider(subtest, number, tables):
            raters[subtest.id] = number, scorer
    for policy in POLICIES:
        sides = tuple(
            {subtest: right_side(table, *rater, policy) for subtest, rater in raters.items()}
            for table in tables
        )
        scored = [subtest for subtest in raters if any(side[subtest].values for side in sides)]
        if len(scored) > 1:
            pooled = (together(side[subtest] for subtest in scored) for side in sides)
            yield _accuracy("", "", policy, *pooled)
        alone = [
            _accuracy(subtest, raters[subtest][1], policy, *(side[subtest] for side in sides))
            for subtest in scored
        ]
        yield from _corrected(alone)


def _accuracy(subtest: str, rater: str, policy: str, first: Side, second: Side) -> Compared:
    paired = compare_sides(first, second, None)
    design = _design(first, second) if policy == "exact" else None
    made = _compared(paired, ACCURACY, subtest, rater, policy=policy, design=design)
    if not _permutes_labels(first, second):
        return made
    counts = (
        [(int(sum(side.values[at])), len(side.values[at])) for at in paired.differences]
        for side in (first, second)
    )
    return _with_labels(made, label_permutation_of_rates(*counts))


def _with_labels(row: Compared, p: float | None, adjusted: float | None = None) -> Compared:
    """Return a row with the test of labels within items, for these prompts."""
    interval, p = agreeing(row.these.interval, p)
    if p is None:
        return row
    if adjusted is None:
        return replace(row, these=Tested(interval, p, LABELS))
    return replace(row, these=Tested(interval, p, LABELS, max(p, adjusted), "maxT"))


def _permutes_labels(first: Side, second: Side) -> bool:
    return not any(side.deterministic or side.shares_stream for side in (first, second))


def _corrected(alone: Sequence[Compared]) -> Iterator[Compared]:
    like, these = (_holm([row.like for row in alone]), _holm([row.these for row in alone]))
    for row, for_like, for_these in zip(alone, like, these, strict=True):
        yield replace(row, like=for_like, these=for_these)


def _holm(tests: Sequence[Tested]) -> Iterator[Tested]:
    adjusted = iter(holm([tested.p for tested in tests if tested.p is not None]))
    for tested in tests:
        if tested.p is None:
            yield tested
        else:
            yield replace(tested, adjusted=next(adjusted), correction="Holm")


def burdens(
    first: Sequence[JudgeSummary], second: Sequence[JudgeSummary]
) -> tuple[list[Compared], tuple[tuple[str, str], ...]]:
    """Return burdens and feature rates of judges that judged both sides alike, and who is left out.

    Only responses that have a burden are compared, of each feature too. The features of one judge
    are a family: from eight items on their sign-flip tests are corrected by maxT, below that, and
    for t tests, by Holm's method; below eight items, where both sides drew several answers to an
    item, labels are permuted within items as well, corrected by maxT, for these prompts only.
    """
    pairs, left_out = alike(first, second)
    compared = [
        replace(row, usable=(mine.burden.usable, theirs.burden.usable))
        for mine, theirs in pairs
        for row in _of_judge((mine, theirs))
    ]
    return compared, left_out


def _of_judge(judges: tuple[JudgeSummary, JudgeSummary]) -> Iterator[Compared]:
    terms = judges[0].terms
    n_features = len(terms.features)
    sides = judges[0].rows.burdens, judges[1].rows.burdens
    paired = compare_sides(*sides, n_features)
    judged = {
        judge.rows.names[at] for judge in judges for at in np.unique(judge.rows.items).tolist()
    }
    burden = replace(
        _compared(paired, BURDEN, "", terms.rater, design=_design(*sides), terms=terms),
        items_left_out=tuple(item for _, item in sorted(judged - paired.differences.keys())),
    )
    rates = []
    for at, name in enumerate(terms.features):
        first, second = (judge.rows.side([at]) for judge in judges)
        of_feature = compare_sides(first, second, None)
        rates.append(_compared(of_feature, RATE, "", terms.rater, feature=name, terms=terms))
    if paired.units >= MAX_T_FROM:
        yield burden
        yield from _max_t(rates, judges) if paired.flipped else _corrected(rates)
        return
    rates = list(_corrected(rates))
    labels = None
    if _permutes_labels(*sides):
        profiles = _profiles(judges)
        labels = label_permutation(*(_lists(side) for side in profiles))
        if labels is not None:
            burden = _with_labels(burden, labels.total_p)
    yield burden
    if labels is None:
        yield from rates
        return
    for rate, p, adjusted in zip(rates, labels.p, labels.adjusted, strict=True):
        yield _with_labels(rate, p, adjusted)


def _max_t(
    rates: Sequence[Compared], judges: tuple[JudgeSummary, JudgeSummary]
) -> Iterator[Compared]:
    means = [
        [[hits / len(answers) for hits in answers.sum(axis=0).tolist()] for answers in side]
        for side in _profiles(judges)
    ]
    differences = [
        cluster_parts(
            [mine[at] - theirs[at] for mine, theirs in zip(*means, strict=True)],
            rates[at].sides.clusters,
        )
        for at in range(len(rates))
    ]
    tested = sign_flip_max_t(differences)
    for at, rate in enumerate(rates):
        adjusted = None if tested is None else max(tested.p[at], rate.like.p or 0.0)
        yield replace(rate, like=replace(rate.like, adjusted=adjusted, correction="maxT"))


Profiles = list[NDArray[np.float64]]
"""Of each shared item: (responses with a burden x features), whether each feature is present."""


def _lists(profiles: Profiles) -> list[list[list[float]]]:
    return [item.tolist() for item in profiles]


def _profiles(judges: tuple[JudgeSummary, JudgeSummary]) -> tuple[Profiles, Profiles]:
    first, second = (_by_item(judge.rows) for judge in judges)
    shared = [place for place in first if place in second]
    return [first[place] for place in shared], [second[place] for place in shared]


def _by_item(judged: JudgedRows) -> dict[Place, NDArray[np.float64]]:
    items = judged.items[judged.has_burden]
    present = judged.present[judged.has_burden].astype(np.float64)
    return {judged.names[at]: present[items == at] for at in first_of(items)}


def _compared(
    sides: Paired,
    measure: str,
    subtest: str,
    rater: str,
    *,
    policy: str = "",
    feature: str = "",
    design: Design | None = None,
    terms: Terms | None = None,
) -> Compared:
    test = sides.test
    like = Tested(sides.like)
    if test is not None:
        like = Tested(sides.like, test.p, sides.method)
    these = Tested(sides.these)
    return Compared(measure, subtest, rater, policy, feature, sides, like, these, design, terms)


def _design(first: Side, second: Side) -> Design:
    places = [place for place in first.values if place in second.values]
    if not places:
        return Design(0, 1)
    sides = (
        design_of({place: len(side.values[place]) for place in places}, first.clusters)
        for side in (first, second)
    )
    return min(sides, key=lambda design: design.replicates)
