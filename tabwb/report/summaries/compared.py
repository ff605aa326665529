"""What is compared of two sides: accuracies under every policy, burdens, each feature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tabwb.battery.model import Battery
from tabwb.report import measures
from tabwb.report.summaries.counted import CountedResponse, Source
from tabwb.report.summaries.judges import JudgeSummary, Terms, alike
from tabwb.report.summaries.paired import Paired, Place, Side, compare_sides, right, side_of
from tabwb.report.summaries.subtests import decider
from tabwb.scoring.burden import RatedResponse, Usable
from tabwb.scoring.burden_interval import effective_responses
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.detectable import Design, detectable_accuracy, detectable_burden
from tabwb.scoring.estimate import Estimate, EstimatedInterval
from tabwb.scoring.label_permutation import label_permutation, label_permutation_of_rates
from tabwb.scoring.multiplicity import holm
from tabwb.scoring.permutation import MAX_T_FROM, sign_flip_max_t, smallest_p

LABELS = "labels within items"
ACCURACY, BURDEN, RATE = measures.ACCURACY.title, measures.BURDEN.title, measures.FEATURE_RATE.title
NOT_ASKED = "only for burdens and accuracies"


@dataclass(frozen=True, slots=True)
class Tested:
    """A difference for one estimand.

    Attributes:
        interval: of first - second, or the reason why there is none.
        p: two-sided; None where there is no test.
        test: ``sign flip, exact``, ``sign flip, drawn`` or ``labels within items``; empty without.
        adjusted: p corrected for the other tests of its family, or None.
        correction: ``Holm`` or ``maxT``; empty without.
    """

    interval: EstimatedInterval
    p: float | None = None
    test: str = ""
    adjusted: float | None = None
    correction: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure of both sides over the items that both have.

    Attributes:
        measure: ``accuracy``, ``symptom burden`` or ``feature rate``.
        subtest: its id; empty for a judge's measure and for all scored subtests together.
        rater: the scorer or judge; empty for all scored subtests together.
        policy: of an accuracy, else empty.
        feature: of a feature rate, else empty.
        sides: the means of both over the items that both have.
        like, these: for prompts like these, and for these prompts.
        showable: the smallest difference that so many items and replicates show for prompts like
            these, with power .8 at .05, the first side's mean being what it is.
        terms: of a judge's measure: under which both sides were judged; None for an accuracy.
        usable: of a judge's measure: how many responses of each side are usable, and why the others
            are not; empty for an accuracy.
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


def accuracies(
    battery: Battery,
    rows: tuple[Sequence[CountedResponse], Sequence[CountedResponse]],
    sources: tuple[Sequence[Source], Sequence[Source]],
) -> Iterator[Compared]:
    """Yield accuracies under each policy: all scored subtests together, then each by itself.

    The p values of a policy's subtests are corrected by Holm's method; the pooled test is a test
    of its own. A policy under which nothing has a verdict is left out.

    Args:
        battery: that both sides were given.
        rows: the responses of both sides that count.
        sources: the administrations of both sides.
    """
    raters = {
        subtest.id: rater
        for subtest in battery.subtests
        if (rater := _decider(subtest.id, battery, rows)) is not None
    }
    for policy in POLICIES:
        sides = tuple(
            {
                subtest: side_of(
                    (
                        (row, right(row, rater, policy))
                        for row in given
                        if row.subtest.id == subtest
                    ),
                    own,
                )
                for subtest, rater in raters.items()
            }
            for given, own in zip(rows, sources, strict=True)
        )
        scored = [one for one in raters if any(side[one].values for side in sides)]
        if not scored:
            continue
        if len(scored) > 1:
            yield _accuracy("", "", policy, *(_together(side, scored) for side in sides))
        alone = [
            _accuracy(one, raters[one], policy, *(side[one] for side in sides)) for one in scored
        ]
        yield from _corrected(alone)


def _decider(
    subtest: str,
    battery: Battery,
    rows: tuple[Sequence[CountedResponse], Sequence[CountedResponse]],
) -> str | None:
    given = [row for side in rows for row in side if row.subtest.id == subtest]
    return decider(next(one for one in battery.subtests if one.id == subtest), given)


def _together(sides: dict[str, Side], subtests: Sequence[str]) -> Side:
    values = {place: given for one in subtests for place, given in sides[one].values.items()}
    drawn = any(sides[one].values and not sides[one].deterministic for one in subtests)
    return Side(
        values, bool(values) and not drawn, any(sides[one].shares_stream for one in subtests)
    )


def _accuracy(subtest: str, rater: str, policy: str, first: Side, second: Side) -> Compared:
    found = compare_sides(first, second, None)
    mean = 0.5 if found.first is None else min(found.first, 1 - found.first)
    showable = detectable_accuracy(_design(first, second), accuracy=mean)
    made = _compared(found, ACCURACY, subtest, rater, policy=policy, showable=showable)
    if not _permutes_labels(first, second):
        return made
    places = [place for place in first.values if place in second.values]
    counts = (
        [(int(sum(side.values[at])), len(side.values[at])) for at in places]
        for side in (first, second)
    )
    p = label_permutation_of_rates(*counts)
    return made if p is None else replace(made, these=replace(made.these, p=p, test=LABELS))


def _permutes_labels(first: Side, second: Side) -> bool:
    """Return whether both sides drew responses independently, so that labels can be permuted."""
    return not any(side.deterministic or side.shares_stream for side in (first, second))


def _corrected(alone: Sequence[Compared]) -> Iterator[Compared]:
    """Yield the members of a family with their p values corrected by Holm's method."""
    like, these = (_holm([one.like for one in alone]), _holm([one.these for one in alone]))
    for one, for_like, for_these in zip(alone, like, these, strict=True):
        yield replace(one, like=for_like, these=for_these)


def _holm(tests: Sequence[Tested]) -> Iterator[Tested]:
    adjusted = iter(holm([one.p for one in tests if one.p is not None]))
    for one in tests:
        if one.p is None:
            yield one
        else:
            yield replace(one, adjusted=next(adjusted), correction="Holm")


def burdens(
    judges: tuple[Sequence[JudgeSummary], Sequence[JudgeSummary]],
    sources: tuple[Sequence[Source], Sequence[Source]],
) -> tuple[list[Compared], tuple[tuple[str, str], ...]]:
    """Return the burdens and feature rates of the judges that judged both sides alike.

    Only responses that have a burden are compared, of each feature too. The features of one judge
    are a family: from eight items on their sign-flip tests are corrected by maxT, below that by
    Holm's method; there, where both sides drew several answers to an item, labels are permuted
    within items as well, corrected by maxT, for these prompts only.

    Args:
        judges: the burdens of both sides.
        sources: the administrations of both sides.

    Returns:
        What is compared, and the raters that are left out with the reason.
    """
    pairs, left_out = alike(*judges)
    compared: list[Compared] = []
    for mine, theirs in pairs:
        usable = mine.burden.usable, theirs.burden.usable
        found = _of_judge((mine, theirs), sources)
        compared += (replace(each, usable=usable) for each in found)
    return compared, left_out


def _of_judge(
    judges: tuple[JudgeSummary, JudgeSummary],
    sources: tuple[Sequence[Source], Sequence[Source]],
) -> Iterator[Compared]:
    terms = judges[0].terms
    n_features = len(terms.features)
    sides = _sides(judges, sources, lambda rated: rated.burden)
    found = compare_sides(*sides, n_features)
    mean = 1.0 if found.first is None else found.first
    showable = detectable_burden(_design(*sides), n_features, burden=mean)
    burden = _compared(found, BURDEN, "", terms.rater, showable=showable, terms=terms)
    judged = {(row.subtest.id, row.item.id) for judge in judges for row, _ in judge.judged}
    left_out = tuple(item for _, item in sorted(judged - found.differences.keys()))
    burden = replace(burden, items_left_out=left_out)
    rates = [
        _compared(
            compare_sides(*_sides(judges, sources, partial(_has, name)), None),
            RATE,
            "",
            terms.rater,
            feature=name,
            terms=terms,
        )
        for name in terms.features
    ]
    if found.items >= MAX_T_FROM:
        yield burden
        yield from _max_t(rates, judges)
        return
    rates = list(_corrected(rates))
    labels = None
    if _permutes_labels(*sides):
        profiles = _profiles(judges)
        labels = label_permutation(*profiles)
        burdens = label_permutation(
            *([[[sum(each)] for each in item] for item in side] for side in profiles)
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
    judges: tuple[JudgeSummary, JudgeSummary],
    sources: tuple[Sequence[Source], Sequence[Source]],
    value: Callable[[RatedResponse], float | None],
) -> tuple[Side, Side]:
    first, second = (
        side_of(((row, value(rated)) for row, rated in judge.judged), own)
        for judge, own in zip(judges, sources, strict=True)
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
            sum(each[at] for each in one) / len(one) - sum(each[at] for each in other) / len(other)
            for one, other in zip(*profiles, strict=True)
        ]
        for at in range(len(rates))
    ]
    found = sign_flip_max_t(differences)
    for at, rate in enumerate(rates):
        adjusted = None if found is None else found.p[at]
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
    one, other = sides
    shared = [place for place in one if place in other]
    return [one[place] for place in shared], [other[place] for place in shared]


def _compared(
    found: Paired,
    measure: str,
    subtest: str,
    rater: str,
    *,
    policy: str = "",
    feature: str = "",
    showable: Estimate | None = None,
    terms: Terms | None = None,
) -> Compared:
    test = found.test
    like = Tested(found.like)
    if test is not None:
        like = Tested(found.like, test.p, "sign flip, exact" if test.exact else "sign flip, drawn")
    return Compared(
        measure,
        subtest,
        rater,
        policy,
        feature,
        found,
        like,
        Tested(found.these),
        showable or Estimate(None, NOT_ASKED),
        terms,
    )


def _design(first: Side, second: Side) -> Design:
    """Return the shared items, and responses to each: those of the side that has fewer."""
    places = [place for place in first.values if place in second.values]
    if not places:
        return Design(0, 1)
    replicates = min(
        effective_responses([len(side.values[place]) for place in places]) / len(places)
        for side in (first, second)
    )
    return Design(len(places), replicates)
