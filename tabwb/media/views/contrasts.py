"""Differences on the same items for the terminal: two sides, base and instruct, names aloud."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.analysis.draws import compared_caution
from tabwb.analysis.measures import ACCURACY, BURDEN, FEATURE_RATE
from tabwb.analysis.names import judge_names
from tabwb.analysis.paired import AGREE, PAIRED_T, Contrast, Tested
from tabwb.battery.model import Battery
from tabwb.media.terminal import SIDES, sides_table, table
from tabwb.media.wording import (
    both_usable,
    chance,
    figure,
    interval_words,
    numbered,
    signed,
    size_of,
)
from tabwb.records.conditions import title_of
from tabwb.records.words import plural
from tabwb.scoring.detectable import simulated_test
from tabwb.scoring.estimate import Estimand

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Compared, Difference, Pair

NAMED = 5
"""So many items are named; of more their number is told."""
ALL_SCORED = "all scored subtests"
Named = tuple[str, "Contrast | None"]
"""A measure with its name; without a figure a line of words."""


def difference_view(
    difference: Difference, battery: Battery, *, everything: bool = False
) -> RenderableType:
    """Return the comparison: measures, notes, what both sides answered to each item."""
    items, found = difference.items, difference.found
    parts: list[RenderableType] = [
        Text.assemble((f"{side}  ", "bold"), name)
        for side, name in zip(SIDES, (found.first, found.second), strict=True)
    ]
    if items or found.rows:
        parts.append(contrasts_table(measures(found, battery)))
        parts += [Text(note, style="dim") for note in notes(found)]
        alike = sum(not item.differs for item in items)
        parts.append(Text(f"{plural(len(items), 'item')}, {alike} answered alike", style="dim"))
    if shown := [item for item in items if everything or item.differs]:
        made = sides_table()
        for item in shown:
            first = _answered(item.first, item.first_right)
            made.add_row(item.item, first, _answered(item.second, item.second_right))
            made.add_row("", "", "")
        parts.append(made)
    if difference.named:
        from tabwb.media.views.naming import naming_difference

        for named in difference.named:
            parts += naming_difference(named, everything=everything)
    return Group(*parts)


def contrasts_table(named: Iterable[Named], sides: Sequence[str] = SIDES, title: str = "") -> Table:
    """Return differences: means, items and responses; below them the test of each estimand."""
    first, second = sides
    less = f"{first} - {second}" if sides == SIDES else "difference"
    headings = f"{first}\n ", f"{second}\n95 %", f"{less}\np", "items (N)\ncorr."
    made = table(*headings, first="measure, and what it is for", fold=True, title=title)
    for name, row in named:
        if row is None:
            made.add_row(name, *[""] * 4)
            continue
        over, tested = str(row.items), [row.like, row.these]
        if row.families:
            tested, values = [row.like], ("", "", signed(row.difference))
        else:
            over, values = f"{over} ({row.n_first}, {row.n_second})", means(row)
        made.add_row(name, *(Text(cell, style="bold") for cell in (*values, over)))
        for one in tested:
            made.add_row(Text(f"  {one.interval.estimand.value}", style="dim"), "", *tests(one))
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


def measures(
    found: Compared, battery: Battery | None = None, sides: Sequence[str] = SIDES
) -> Iterator[Named]:
    """Yield each measure with its name; without a figure what the judge that follows could use.

    Policies under which an accuracy and its tests are the same are one. Features that are absent on
    both sides are left out, see :func:`notes`.
    """
    names = _judges(found.rows)
    titles = {feature.id: feature.title for feature in battery.features} if battery else {}
    alike: dict[tuple[object, ...], list[Contrast]] = {}
    order = dict.fromkeys(row.subtest for row in found.rows if row.measure is ACCURACY)
    for subtest in order:
        for row in found.rows:
            if row.measure is ACCURACY and row.subtest == subtest:
                key = subtest, row.first, row.second, row.items, row.like, row.these
                alike.setdefault(key, []).append(row)
    for same in alike.values():
        policies = ", ".join(row.policy for row in same)
        yield f"{same[0].title or ALL_SCORED}, share right ({policies})", same[0]
    for row in found.rows:
        rater = names.get(row.rater, row.rater)
        if row.measure is BURDEN:
            yield f"{rater}: {both_usable(row.usable, sides)}", None
            yield f"symptom burden, {rater}, {row.terms}", row
        elif row.measure is FEATURE_RATE and not _absent(row):
            yield f"{titles.get(row.feature, row.feature)}, share of responses, {rater}", row


def means(row: Contrast) -> tuple[str, str, str]:
    """Return the means of A and of B, and their difference."""
    return figure(row.first), figure(row.second), signed(row.difference)


def tests(tested: Tested) -> tuple[str, str, str]:
    """Return the interval, p, and p corrected."""
    p, adjusted = ("" if one is None else chance(one) for one in (tested.p, tested.adjusted))
    return interval_words(tested.interval), p, adjusted


def _absent(row: Contrast) -> bool:
    return not (row.first or row.second)


def _judges(rows: Iterable[Contrast]) -> Mapping[str, str]:
    """Return the short name of each judge that is compared."""
    return judge_names(row.rater for row in rows if row.rater)


def notes(found: Compared) -> Iterator[str]:
    """Yield what must be known to read the table."""
    rows = found.rows
    for name, first, second in found.unlike:
        yield f"A and B also differ in {name}: {first} | {second}"
    yield from _left_out(found)
    if not any(row.items for row in rows):
        return
    yield from reading(rows)
    from tabwb.analysis.contrast import showable  # loads numpy

    main = [(row, showable(row)) for row in rows if row.design is not None]
    shown = [f"{_short(row)} {figure(one.value)}" for row, one in main if one.defined]
    if shown:
        yield (
            "smallest difference from A's mean that is found in 4 of 5 simulated studies by "
            f"{simulated_test(Estimand.PROMPTS_LIKE_THESE)} (the larger p below .05), prompts like "
            "these: " + "; ".join(shown)
        )
    hopeless = [
        f"{_short(row)} ({one.reason})" for row, one in main if row.items > 1 and not one.defined
    ]
    if hopeless:
        yield f"no smallest difference: {'; '.join(hopeless)}"


def _left_out(found: Compared, sides: Sequence[str] = SIDES) -> Iterator[str]:
    """Yield the judges, and what was not compared or not shown."""
    yield from (f"{name}: {spec}" for spec, name in _judges(found.rows).items() if name != spec)
    for side, (shared, n) in zip(sides, found.shared_streams, strict=True):
        if shared:
            yield compared_caution(side, shared, n)
    for rater, why in found.left_out:
        yield f"{rater}: {why}"
    for row in found.rows:
        if items := row.items_left_out:
            named = ", ".join(items) if len(items) <= NAMED else plural(len(items), "item")
            yield f"{row.rater}: not compared, no burden on one side or both: {named}"
    absent = (row.rater for row in found.rows if row.measure is FEATURE_RATE and _absent(row))
    for rater, n in Counter(absent).items():
        yield f"{rater}: {n} features are absent on both sides and not shown"


def reading(rows: Sequence[Contrast], sides: Sequence[str] = SIDES) -> Iterator[str]:
    """Yield how means, intervals and p values were made."""
    yield (
        f"{' and '.join(sides)} are means over the items that both answered, each with the same "
        "weight; N: their responses with a value"
    )
    methods = {row.like.test for row in rows} - {""}
    like = ["sign-flip permutation test over items"] if methods - {PAIRED_T} else []
    if PAIRED_T in methods:
        like.append(
            "paired t over items, with the standard error of the interval, where the sides have "
            "unequal numbers of replicates"
        )
    these = any(row.these.p is not None for row in rows)
    yield (
        f"p: two-sided; prompts like these: {', '.join(like)}"
        f"{'; these prompts: labels permuted within items' * these}. corr.: corrected for the "
        "subtests of a policy (Holm) or the features of a judge (maxT over sign flips from 8 items "
        "on and for these prompts, else Holm)"
    )
    yield AGREE
    least = {row.unit_count: row.smallest_p for row in rows if row.smallest_p is not None}
    if least:
        yield "smallest p that the items can give, prompts like these: " + "; ".join(
            f"{count} {p:.3g}" + (" (never below .05)" if p > 0.05 else "")
            for count, p in sorted(least.items(), key=lambda one: -one[1])
        )


def _short(row: Contrast) -> str:
    return f"symptom burden, {row.rater}" if row.terms else row.subtest or ALL_SCORED


# ------------------------------------------------------------------ base and instruct models

TUNINGS = "base", "instruct"


def pair_parts(pairs: Sequence[Pair]) -> Iterator[tuple[str, RenderableType]]:
    """Yield base and instruct models of one battery, then means over families, with their names."""
    from tabwb.analysis.contrast import over_families  # loads numpy

    for pair in pairs:
        yield f"{pair.family}, {size_of(pair.parameters)}", pair_view(pair)
    below: list[RenderableType] = []
    if families := over_families(pairs):
        names = _judges(families)
        named = [
            (f"{_measure(row, names)}, {len(row.families)} families like these", row)
            for row in families
        ]
        title = "base - instruct over families"
        below.append(contrasts_table(named, TUNINGS, title))
    rows = [row for pair in pairs for row in pair.found.rows]
    if rows:
        lines = "\n".join(reading(rows, TUNINGS))
        below.append(Text(f"{lines}\n", style="dim"))
        yield "Families" if families else "How to read it", Group(*below)


def pair_view(pair: Pair) -> RenderableType:
    """Return a base and an instruct model: each measure with the difference, then the notes."""
    found = pair.found
    title = f"{pair.family}, {size_of(pair.parameters)}: base - instruct"
    title += f", lesion {pair.lesion}" if pair.lesion else ""
    said = [
        f"base {found.first}: {numbered(pair.base_from)}",
        f"instruct {found.second}: {numbered(pair.instruct_from)}",
    ]
    said += [
        f"Not comparable: {title_of(name)} differs too ({base} | {instruct})"
        for name, base, instruct in found.unlike
    ]
    if pair.unsaid:
        said.append(f"not included, because no profile states the family: {numbered(pair.unsaid)}")
    said += _left_out(found, TUNINGS)
    shown = Text(title, style="bold")
    made = (
        shown if found.unlike else contrasts_table(measures(found, None, TUNINGS), TUNINGS, title)
    )
    return Group(made, Text("\n".join(said) + "\n", style="dim"))


def _measure(row: Contrast, names: Mapping[str, str]) -> str:
    if row.terms is None:
        return f"{row.title}, share right (exact)"
    return f"symptom burden, {names.get(row.rater, row.rater)}, {row.terms}"
