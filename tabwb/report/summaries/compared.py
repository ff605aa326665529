"""What is compared of two sides: accuracies under every policy, burdens, each feature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from tabwb.battery.model import Battery
from tabwb.report import measures
from tabwb.report.summaries.counted import CountedResponse
from tabwb.report.summaries.judges import JudgeSummary, Terms, alike
from tabwb.report.summaries.paired import Paired, Place, Side, compare_sides, right, side_of
from tabwb.report.summaries.subtests import decider
from tabwb.scoring.burden import RatedResponse, Usable
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.differences import Design, detectable_accuracy, detectable_burden
from tabwb.scoring.estimate import Estimate, EstimatedInterval
from tabwb.scoring.intervals import effective_responses
from tabwb.scoring.permutation import (
    MAX_T_FROM,
    holm,
    label_permutation,
    label_permutation_of_rates,
    sign_flip_max_t,
    smallest_p,
)

LABELS = "labels within items"
ACCURACY, BURDEN, RATE = measures.ACCURACY.title, measures.BURDEN.title, measures.FEATURE_RATE.title
NOT_ASKED = Estimate(None, "only for burdens and accuracies")

_T = TypeVar("_T")
BothSides = tuple[Sequence[_T], Sequence[_T]]


@dataclass(frozen=True, slots=True)
class Tested:
    """A difference for one estimand.

    Attributes:
        interval: of first - second, or the reason why there is none.
        p: two-sided; None where there is no test.
        test: ``sign flip, exact``, ``sign flip, drawn`` or ``labels within items``; empty without.
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
        showable: the smallest difference that so many items and replicates show for prompts like
            these, with power .8 at .05, the first side's mean being what it is.
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
    showable: Estimate
    terms: Terms | None = None
    usable: tuple[Usable, ...] = ()
    items_left_out: tuple[str, ...] = ()

    @property
    def items(self) -> int:
        """How many items both sides have a value for."""
        return self.sides.items

    @property
    def smallest_p(self) -> float | None:
        """The smallest p value that a sign-flip test over so many items can give."""
        return smallest_p(self.items) if self.items else None

    @property
    def difference(self) -> float | None:
        """First - second; None without shared items."""
        return None if self.sides.test is None else self.sides.test.difference


def accuracies(battery: Battery, rows: BothSides[CountedResponse]) -> Iterator[Compared]:
    """Yield accuracies under each policy: all scored subtests together, then each by itself.

    The p values of a policy's subtests are corrected by Holm's method; the pooled test is a test of
    its own. A policy under which nothing has a verdict is left out.

    Args:
        battery: that both sides were given.
        rows: the responses of both sides that count.
    """
    raters: dict[str, str] = {}
    for subtest in battery.subtests:
        given = [row for side in rows for row in side if row.subtest.id == subtest.id]
        if rater := decider(subtest, given):
            raters[subtest.id] = rater
    for policy in POLICIES:
        sides = tuple(
            {
                subtest: side_of(
                    (row, right(row, rater, policy)) for row in given if row.subtest.id == subtest
                )
                for subtest, rater in raters.items()
            }
            for given in rows
        )
        scored = [subtest for subtest in raters if any(side[subtest].values for side in sides)]
        if len(scored) > 1:
            yield _accuracy("", "", policy, *(_together(side, scored) for side in sides))
        alone = [
            _accuracy(subtest, raters[subtest], policy, *(side[subtest] for side in sides))
            for subtest in scored
        ]
        yield from _corrected(alone)


def _together(sides: dict[str, Side], subtests: Sequence[str]) -> Side:
    parts = [sides[subtest] for subtest in subtests]
    values = {place: given for part in parts for place, given in part.values.items()}
    drawn = any(part.values and not part.deterministic for part in parts)
    return Side(values, bool(values) and not drawn, any(part.shares_stream for part in parts))


def _accuracy(subtest: str, rater: str, policy: str, first: Side, second: Side) -> Compared:
    paired = compare_sides(first, second, None)
    mean = 0.5 if paired.first is None else min(paired.first, 1 - paired.first)
    showable = detectable_accuracy(_design(first, second), accuracy=mean)
    made = _compared(paired, ACCURACY, subtest, rater, policy=policy, showable=showable)
    if not _permutes_labels(first, second):
        return made
    counts = (
        [(int(sum(side.values[at])), len(side.values[at])) for at in paired.differences]
        for side in (first, second)
    )
    p = label_permutation_of_rates(*counts)
    return made if p is None else replace(made, these=replace(made.these, p=p, test=LABELS))


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
    judges: BothSides[JudgeSummary],
) -> tuple[list[Compared], tuple[tuple[str, str], ...]]:
    """Return burdens and feature rates of judges that judged both sides alike, and who is left out.

    Only responses that have a burden are compared, of each feature too. The features of one judge
    are a family: from eight items on their sign-flip tests are corrected by maxT, below that by
    Holm's method; there, where both sides drew several answers to an item, labels are permuted
    within items as well, corrected by maxT, for these prompts only.
    """
    pairs, left_out = alike(*judges)
    compared = [
        replace(row, usable=(mine.burden.usable, theirs.burden.usable))
        for mine, theirs in pairs
        for row in _of_judge((mine, theirs))
    ]
    return compared, left_out


def _of_judge(judges: tuple[JudgeSummary, JudgeSummary]) -> Iterator[Compared]:
    terms = judges[0].terms
    n_features = len(terms.features)
    sides = _sides(judges, lambda rated: rated.burden)
    paired = compare_sides(*sides, n_features)
    mean = 1.0 if paired.first is None else paired.first
    showable = detectable_burden(_design(*sides), n_features, burden=mean)
    judged = {(row.subtest.id, row.item.id) for judge in judges for row, _ in judge.judged}
    burden = replace(
        _compared(paired, BURDEN, "", terms.rater, showable=showable, terms=terms),
        items_left_out=tuple(item for _, item in sorted(judged - paired.differences.keys())),
    )
    rates = []
    for name in terms.features:
        of_feature = compare_sides(*_sides(judges, partial(_has, name)), None)
        rates.append(_compared(of_feature, RATE, "", terms.rater, feature=name, terms=terms))
    if paired.items >= MAX_T_FROM:
        yield burden
        yield from _max_t(rates, judges)
        return
    rates = list(_corrected(rates))
    labels = None
    if _permutes_labels(*sides):
        profiles = _profiles(judges)
        labels = label_permutation(*profiles)
        burdens = label_permutation(
            *([[[sum(answers)] for answers in item] for item in side] for side in profiles)
        )
        if burdens is not None:
            p = burdens.p[0]
            burden = replace(burden, these=replace(burden.these, p=p, test=LABELS))
    yield burden
    if labels is None:
        yield from rates
        return
    for rate, p, adjusted in zip(rates, labels.p, labels.adjusted, strict=True):
        these = replace(rate.these, p=p, test=LABELS, adjusted=adjusted, correction="maxT")
        yield replace(rate, these=these)


def _sides(
    judges: tuple[JudgeSummary, JudgeSummary], value: Callable[[RatedResponse], float | None]
) -> tuple[Side, Side]:
    first, second = (
        side_of((row, value(rated)) for row, rated in judge.judged) for judge in judges
    )
    return first, second


def _has(feature: str, rated: RatedResponse) -> float | None:
    return None if rated.present is None else float(feature in rated.present)


def _max_t(
    rates: Sequence[Compared], judges: tuple[JudgeSummary, JudgeSummary]
) -> Iterator[Compared]:
    profiles = _profiles(judges)
    differences = [
        [
            sum(row[at] for row in mine) / len(mine) - sum(row[at] for row in theirs) / len(theirs)
            for mine, theirs in zip(*profiles, strict=True)
        ]
        for at in range(len(rates))
    ]
    tested = sign_flip_max_t(differences)
    for at, rate in enumerate(rates):
        adjusted = None if tested is None else tested.p[at]
        yield replace(rate, like=replace(rate.like, adjusted=adjusted, correction="maxT"))


Profiles = list[list[list[float]]]
"""For each shared item, for each response, whether each feature is present."""


def _profiles(judges: tuple[JudgeSummary, JudgeSummary]) -> tuple[Profiles, Profiles]:
    features = judges[0].terms.features
    sides: list[dict[Place, list[list[float]]]] = []
    for judge in judges:
        items: dict[Place, list[list[float]]] = {}
        for row, rated in judge.judged:
            if rated.present is not None:
                given = [float(name in rated.present) for name in features]
                items.setdefault((row.subtest.id, row.item.id), []).append(given)
        sides.append(items)
    shared = [place for place in sides[0] if place in sides[1]]
    return [sides[0][place] for place in shared], [sides[1][place] for place in shared]


def _compared(
    sides: Paired,
    measure: str,
    subtest: str,
    rater: str,
    *,
    policy: str = "",
    feature: str = "",
    showable: Estimate = NOT_ASKED,
    terms: Terms | None = None,
) -> Compared:
    test = sides.test
    like = Tested(sides.like)
    if test is not None:
        like = Tested(sides.like, test.p, "sign flip, exact" if test.exact else "sign flip, drawn")
    these = Tested(sides.these)
    return Compared(measure, subtest, rater, policy, feature, sides, like, these, showable, terms)


def _design(first: Side, second: Side) -> Design:
    places = [place for place in first.values if place in second.values]
    if not places:
        return Design(0, 1)
    replicates = min(
        effective_responses([len(side.values[place]) for place in places]) / len(places)
        for side in (first, second)
    )
    return Design(len(places), replicates)
