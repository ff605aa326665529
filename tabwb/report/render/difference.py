"""Two sides compared, as tables: measures and items, subtests that were named aloud."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.battery.model import Battery
from tabwb.records.words import NONE, plural
from tabwb.report.names import judge_names
from tabwb.report.render.naming import BASES
from tabwb.report.render.printing import ForWidth, empty_table, table
from tabwb.report.render.wording import both_usable, chance, figure, interval_words, signed
from tabwb.report.summaries.compared import ACCURACY, BURDEN, RATE, Compared, Tested
from tabwb.report.summaries.difference import Difference
from tabwb.report.summaries.draws import compared_caution
from tabwb.report.summaries.naming import Changed, NamedDifference, NamedPair
from tabwb.report.summaries.paired import AGREE, PAIRED_T
from tabwb.report.tables.said import code_of, heard_or_transcribed, score_of
from tabwb.scoring.detectable import simulated_test
from tabwb.scoring.estimate import Estimand
from tabwb.scoring.naming.summary import NamedItem, right_by


def difference_view(
    difference: Difference,
    battery: Battery,
    *,
    everything: bool = False,
) -> RenderableType:
    """Return the comparison: measures, notes, what both sides answered to each item."""
    items = difference.items
    shown = [item for item in items if everything or item.differs]
    named_sides = (("A", difference.first), ("B", difference.second))
    parts: list[RenderableType] = [
        Text.assemble((f"{side}  ", "bold"), name) for side, name in named_sides
    ]
    if items or difference.compared:
        parts.append(ForWidth(partial(_measures, difference, battery)))
        parts += [Text(note, style="dim") for note in notes(difference)]
        alike = sum(not item.differs for item in items)
        parts.append(Text(f"{len(items)} items, {alike} answered alike", style="dim"))
    if shown:
        made = _sides_table()
        for item in shown:
            first, second = (
                _answered(item.first, item.first_right),
                _answered(item.second, item.second_right),
            )
            made.add_row(item.item, first, second)
            made.add_row("", "", "")
        parts.append(made)
    for named in difference.named:
        parts += naming_views(named, everything=everything)
    return Group(*parts)


def _measures(difference: Difference, battery: Battery, width: int) -> Table:
    compact = width < WIDE
    headings = ("A\n ", "B\n95 %", "A - B\np", "items\ncorr.") if compact else HEADINGS
    made = table(*headings, first="measure, and what it is for", fold=True)
    for line in lines(difference, battery):
        shown = line.cells
        if compact:
            shown = (*shown[:3], shown[6]) if line.leads else ("", *shown[3:6])
        cells = [Text(cell, style="bold" if line.leads else "") for cell in shown]
        made.add_row(Text(line.name, style="" if line.leads else "dim"), *cells)
    return made


def _sides_table() -> Table:
    made = empty_table()
    made.add_column("item", no_wrap=True)
    made.add_column("A", ratio=1, overflow="fold")
    made.add_column("B", ratio=1, overflow="fold")
    return made


def _answered(responses: tuple[str, ...], right: float | None) -> Text:
    if not responses:
        return Text("not answered", style="dim")
    text = Text()
    if right is not None:
        mark = "✓ " if right == 1 else "✗ " if right == 0 else f"{figure(right)} right "
        text.append(mark, style="bold")
    text.append(responses[0] or "(nothing)")
    if len(responses) > 1:
        text.append(f"  (and {len(responses) - 1} other)", style="dim")
    return text


WIDE = 80
"""From so many columns on each figure has its own column."""
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
        value: the difference A - B; low, high: ends of its interval for the estimand.
        share: whether it is a difference of shares, from -1 to 1.
    """

    name: str
    cells: tuple[str, ...]
    leads: bool
    value: float | None = None
    low: float | None = None
    high: float | None = None
    share: bool = True


def lines(difference: Difference, battery: Battery) -> Iterator[Line]:
    """Yield a line for each measure and one below it for each estimand.

    Policies under which an accuracy and its tests are the same share their lines. Features that
    are absent on both sides are left out, see :func:`notes`.
    """
    names = _judges(difference)
    for policies, result in _shown(difference.compared):
        rater = names.get(result.rater, result.rater)
        if result.measure == BURDEN and result.usable:
            yield Line(f"{rater}: {both_usable(result.usable, ('A', 'B'))}", ("",) * 7, True)
        means = figure(result.sides.first), figure(result.sides.second), signed(result.difference)
        cells = (*means, "", "", "", str(result.items))
        yield Line(_name(result, policies, battery, rater), cells, leads=True)
        for tested in (result.like, result.these):
            ends = tested.interval.interval
            yield Line(
                f"  {tested.interval.estimand.value}",
                _cells(tested),
                leads=False,
                value=result.difference,
                low=None if ends is None else ends.low,
                high=None if ends is None else ends.high,
                share=result.measure != BURDEN,
            )


def _shown(compared: Sequence[Compared]) -> Iterator[tuple[tuple[str, ...], Compared]]:
    alike: dict[str, dict[tuple[object, ...], list[Compared]]] = {}
    for result in compared:
        if result.measure == ACCURACY:
            sides = result.sides
            figures = sides.first, sides.second, result.items, result.like, result.these
            alike.setdefault(result.subtest, {}).setdefault(figures, []).append(result)
    for same in (same for by_figures in alike.values() for same in by_figures.values()):
        yield tuple(result.policy for result in same), same[0]
    for result in compared:
        if result.measure == BURDEN or (result.measure == RATE and not _absent(result)):
            yield (), result


def _absent(result: Compared) -> bool:
    return not (result.sides.first or result.sides.second)


def _judges(difference: Difference) -> Mapping[str, str]:
    """Return the short name of each judge that is compared."""
    return judge_names(one.rater for one in difference.compared if one.rater)


def _name(result: Compared, policies: Sequence[str], battery: Battery, rater: str) -> str:
    if result.measure == ACCURACY:
        titles = {subtest.id: subtest.title for subtest in battery.subtests}
        title = titles[result.subtest] if result.subtest else ALL_SCORED
        return f"{title}, share right ({', '.join(policies)})"
    if result.measure == BURDEN:
        return f"symptom burden, {rater}, {result.terms}"
    titles = {feature.id: feature.title for feature in battery.features}
    title = titles.get(result.feature, result.feature)
    return f"{title}, share of responses, {rater}"


def _cells(tested: Tested) -> tuple[str, ...]:
    chances = ("" if p is None else chance(p) for p in (tested.p, tested.adjusted))
    return "", "", "", interval_words(tested.interval), *chances, ""


def notes(difference: Difference) -> Iterator[str]:
    """Yield what must be known to read the table."""
    compared = difference.compared
    yield from (f"{name}: {spec}" for spec, name in _judges(difference).items() if name != spec)
    for name, first, second in difference.unlike:
        yield f"A and B also differ in {name}: {first} | {second}"
    for side, (shared, n) in zip(("A", "B"), difference.shared_streams, strict=True):
        if shared:
            yield compared_caution(side, shared, n)
    for rater, why in difference.left_out:
        yield f"{rater}: {why}"
    for result in compared:
        if result.items_left_out:
            items = result.items_left_out
            named = ", ".join(items) if len(items) <= NAMED else plural(len(items), "item")
            yield f"{result.rater}: not compared, no burden on one side or both: {named}"
    absent = Counter(
        result.rater for result in compared if result.measure == RATE and _absent(result)
    )
    for rater, n in absent.items():
        yield f"{rater}: {n} features are absent on both sides and not shown"
    tested = sorted({result.items for result in compared if result.items})
    if not tested:
        return
    yield "A and B are means over the items that both answered, each with the same weight"
    yield (
        f"p: two-sided; prompts like these: {_like_tests(compared)}; "
        "these prompts: labels permuted within items. corr.: corrected for the subtests of a "
        "policy (Holm) or the features of a judge (maxT over sign flips from 8 items on and for "
        "these prompts, else Holm)"
    )
    yield AGREE
    least = {
        result.sides.unit_count: result.smallest_p
        for result in compared
        if result.smallest_p is not None
    }
    if least:
        yield "smallest p that the items can give, prompts like these: " + "; ".join(
            f"{count} {_exactly(p)}" for count, p in sorted(least.items(), key=lambda one: -one[1])
        )
    main = [result for result in compared if result.measure == BURDEN or result.policy == "exact"]
    shown = [
        f"{_short(result)} {figure(result.showable.value)}"
        for result in main
        if result.showable.defined
    ]
    if shown:
        yield (
            "smallest difference from A's mean that is found in 4 of 5 simulated studies by "
            f"{simulated_test(Estimand.PROMPTS_LIKE_THESE)} (the larger p below .05), prompts like "
            "these: " + "; ".join(shown)
        )
    hopeless = [
        f"{_short(result)} ({result.showable.reason})"
        for result in main
        if result.items > 1 and not result.showable.defined
    ]
    if hopeless:
        yield f"no smallest difference: {'; '.join(hopeless)}"


def _like_tests(compared: Sequence[Compared]) -> str:
    methods = {result.sides.method for result in compared} - {""}
    said = ["sign-flip permutation test over items"] if methods - {PAIRED_T} else []
    if PAIRED_T in methods:
        said.append(
            "paired t over items, with the standard error of the interval, where the sides have "
            "unequal numbers of replicates"
        )
    return ", ".join(said)


def _short(result: Compared) -> str:
    if result.measure == BURDEN:
        return f"symptom burden, {result.rater}"
    return result.subtest or ALL_SCORED


def _exactly(p: float | None) -> str:
    if p is None:
        return NONE
    return f"{p:.3g}" + (" (never below .05)" if p > 0.05 else "")


TEST = (
    "gained: wrong in A and right in B; lost: right in A and wrong in B; p: McNemar's exact test, "
    "two-sided; mid-p: with half the chance of the observed split"
)


def naming_views(difference: NamedDifference, *, everything: bool) -> Iterator[RenderableType]:
    """Yield the views of a subtest that was named aloud: names counted as right, codes, items."""
    headings = ("A right", "B right", "items", "gained", "lost", "p", "mid-p")
    made = table(*headings, first=difference.title)
    for changed in difference.changed:
        made.add_row(*_row(changed))
    yield made
    if left := max((changed.left_out for changed in difference.changed), default=0):
        yield Text(
            f"left out, as a side has no verdict: at most {plural(left, 'item')}", style="dim"
        )
    yield Text(TEST, style="dim")
    codes = table("A", "B", first="code (a person's, else proposed)")
    first, second = difference.codes
    for code in {**first, **second}:
        codes.add_row(code, str(first.get(code, 0)), str(second.get(code, 0)))
    if codes.row_count:
        yield codes
    pairs = difference.pairs
    shown = [pair for pair in pairs if everything or pair.differs]
    alike = sum(not pair.differs for pair in pairs)
    yield Text(f"{plural(len(pairs), 'item')}, {alike} alike in every respect", style="dim")
    if shown:
        yield _named_items(shown)


def _row(changed: Changed) -> tuple[str | Text, ...]:
    counts = map(str, (changed.first, changed.second, changed.items))
    test = changed.test
    if test is None:
        return BASES[changed.basis], *counts, *(NONE,) * 4
    p = Text(chance(test.p), style="bold")
    return BASES[changed.basis], *counts, str(test.gained), str(test.lost), p, chance(test.mid_p)


def _named_items(pairs: list[NamedPair]) -> Table:
    made = _sides_table()
    for pair in pairs:
        made.add_row(pair.item, _side(pair.first), _side(pair.second))
    return made


def _side(responses: tuple[NamedItem, ...]) -> Text:
    if not responses:
        return Text("not given", style="dim")
    return Text("\n").join(map(_response, responses))


def _response(item: NamedItem) -> Text:
    right = right_by(item, "outcome")
    mark = {True: "✓ ", False: "✗ ", None: "? "}[right] if item.status == "answered" else ""
    facts = (heard_or_transcribed(item), score_of(item), code_of(item))
    return Text.assemble((mark, "bold"), ", ".join(fact for fact in facts if fact != NONE) or NONE)
