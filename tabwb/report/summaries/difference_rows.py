"""A comparison as rows of words and its notes: the same in the terminal and in the workbench."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabwb.battery.model import Battery
from tabwb.records.words import plural
from tabwb.report.render.wording import FEW, NONE, chance, figure, signed, usable_words
from tabwb.report.summaries.compared import ACCURACY, BURDEN, RATE, Compared, Tested
from tabwb.report.summaries.difference import Difference
from tabwb.report.summaries.draws import compared_caution
from tabwb.scoring.estimand import DETERMINISTIC, EstimatedInterval
from tabwb.scoring.usable import Usable

HEADINGS = ("A", "B", "A - B", "95 %", "p", "corr.", "items")
NAMED = 5
"""So many items are named; of more their number is told."""
ALL_SCORED = "all scored subtests"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table of measures.

    Attributes:
        name: the measure, or the estimand of the figures.
        cells: under :data:`HEADINGS`.
        leads: whether it is the line of a measure, which lines of its estimands follow.
    """

    name: str
    cells: tuple[str, ...]
    leads: bool


def lines(found: Difference, battery: Battery) -> Iterator[Line]:
    """Yield a line for each measure and one below it for each estimand.

    Policies under which an accuracy and its tests are the same share their lines. Features that
    are absent on both sides are left out, see :func:`notes`.
    """
    for policies, each in _told(found.compared):
        if each.measure == BURDEN and each.usable:
            yield Line(f"{each.rater}: {both_usable(each.usable, ('A', 'B'))}", ("",) * 7, True)
        yield Line(
            _name(each, policies, battery),
            (
                figure(each.first),
                figure(each.second),
                signed(each.difference),
                "",
                "",
                "",
                str(each.items),
            ),
            leads=True,
        )
        for tested in (each.like, each.these):
            yield Line(f"  {tested.interval.estimand.value}", _cells(tested), leads=False)


def _told(compared: Sequence[Compared]) -> Iterator[tuple[tuple[str, ...], Compared]]:
    """Yield measures with the policies that they hold for, accuracies by subtest."""
    subtests = dict.fromkeys(each.subtest for each in compared if each.measure == ACCURACY)
    for subtest in subtests:
        alike: list[tuple[list[str], Compared]] = []
        for each in compared:
            if each.measure != ACCURACY or each.subtest != subtest:
                continue
            for policies, first in alike:
                if _figures(first) == _figures(each):
                    policies.append(each.policy)
                    break
            else:
                alike.append(([each.policy], each))
        for policies, first in alike:
            yield tuple(policies), first
    for each in compared:
        if each.measure == BURDEN or (each.measure == RATE and (each.first or each.second)):
            yield (), each


def _figures(each: Compared) -> tuple[object, ...]:
    return each.first, each.second, each.items, each.like, each.these


def _name(each: Compared, policies: Sequence[str], battery: Battery) -> str:
    if each.measure == ACCURACY:
        titles = {subtest.id: subtest.title for subtest in battery.subtests}
        title = titles[each.subtest] if each.subtest else ALL_SCORED
        return f"{title}, share right ({', '.join(policies)})"
    if each.measure == BURDEN:
        return f"symptom burden, {each.rater}, {each.terms}"
    title = next((one.title for one in battery.features if one.id == each.feature), each.feature)
    return f"{title}, share of responses, {each.rater}"


def both_usable(usable: Sequence[Usable], names: Sequence[str]) -> str:
    """Return how many responses of each side are usable, marked where they are few.

    >>> both_usable((Usable(5, 5), Usable(1, 5, {"refused": 4})), ("A", "B"))
    'A usable 5 of 5; B usable 1 of 5: 4 refused (few usable)'
    """
    return "; ".join(
        f"{name} {usable_words(one)}" + (f" ({FEW})" if one.few else "")
        for name, one in zip(names, usable, strict=True)
    )


def _cells(tested: Tested) -> tuple[str, ...]:
    return (
        "",
        "",
        "",
        interval_words(tested.interval),
        "" if tested.p is None else chance(tested.p),
        "" if tested.adjusted is None else chance(tested.adjusted),
        "",
    )


def interval_words(found: EstimatedInterval) -> str:
    """Return an interval of a difference as words, or a dash where there is none.

    >>> from tabwb.scoring.estimand import Estimand
    >>> interval_words(EstimatedInterval(Estimand.THESE_PROMPTS, None, DETERMINISTIC))
    'deterministic'
    """
    if found.interval is None:
        return DETERMINISTIC if found.deterministic else NONE
    return f"{found.interval.low:+.2f} to {found.interval.high:+.2f}"


def notes(found: Difference) -> Iterator[str]:
    """Yield what must be known to read the table."""
    for name, mine, theirs in found.unlike:
        yield f"A and B also differ in {name}: {mine} | {theirs}"
    for side, (shared, n) in zip(("A", "B"), found.shared_streams, strict=True):
        if shared:
            yield compared_caution(side, shared, n)
    for rater, why in found.left_out:
        yield f"{rater}: {why}"
    for each in found.compared:
        if each.items_left_out:
            items = each.items_left_out
            named = ", ".join(items) if len(items) <= NAMED else plural(len(items), "item")
            yield f"{each.rater}: not compared, no burden on one side or both: {named}"
    for rater in dict.fromkeys(each.rater for each in found.compared if each.measure == RATE):
        absent = [
            each
            for each in found.compared
            if each.measure == RATE and each.rater == rater and not (each.first or each.second)
        ]
        if absent:
            yield f"{rater}: {len(absent)} features are absent on both sides and not shown"
    tested = sorted({each.items for each in found.compared if each.items})
    if not tested:
        return
    yield (
        "p: two-sided; prompts like these: sign-flip permutation test over items; "
        "these prompts: labels permuted within items. corr.: corrected for the subtests of a "
        "policy (Holm) or the features of a judge (maxT from 8 items on and for these prompts, "
        "else Holm)"
    )
    least = {each.items: each.smallest_p for each in found.compared if each.items}
    yield "smallest p that the items can give, prompts like these: " + "; ".join(
        f"{items} items {_exactly(least[items])}" for items in tested
    )
    shown = [
        f"{_short(each)} {figure(each.showable.value)}"
        for each in found.compared
        if each.showable.defined and (each.measure == BURDEN or each.policy == "exact")
    ]
    if shown:
        yield (
            "smallest difference from A's mean that this design shows in 4 of 5 studies, prompts "
            "like these: " + "; ".join(shown)
        )
    hopeless = [
        _short(each)
        for each in found.compared
        if each.items > 1
        and not each.showable.defined
        and (each.measure == BURDEN or each.policy == "exact")
    ]
    if hopeless:
        yield f"too few items or replicates to show any difference: {'; '.join(hopeless)}"


def _short(each: Compared) -> str:
    if each.measure == BURDEN:
        return f"symptom burden, {each.rater}"
    return each.subtest or ALL_SCORED


def _exactly(p: float | None) -> str:
    if p is None:
        return NONE
    return f"{p:.3g}" + (" (never below .05)" if p > 0.05 else "")
