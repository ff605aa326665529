"""Differences of groups on the same items: base and instruct models, or groups against one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.analysis.contrast import (
    NO_ITEMS,
    Compared,
    Contrast,
    Pair,
    baseline_of,
    burdens_first,
    groups_compared,
    over,
    over_families,
    pairs_of,
)
from tabwb.analysis.paired import AGREE, PAIRED_T, WHOSE_P
from tabwb.media.figures.estimates import (
    ESTIMANDS,
    INTERVAL,
    INTERVALS,
    Record,
    columns,
    interval_cells,
    interval_note,
    mark_legend,
    mark_of,
    noted_table,
    records,
    terms_title,
    value_cells,
)
from tabwb.media.figures.forest import POINT, Mark, Panel, forest
from tabwb.media.figures.kind import FigureKind, FigureOption, Options
from tabwb.media.figures.style import INK
from tabwb.records.errors import UsageError
from tabwb.records.words import plural
from tabwb.report.measures import ACCURACY, BURDEN
from tabwb.report.summaries.doses import size_words
from tabwb.report.summaries.shown import names_of
from tabwb.scoring.estimate import Estimate
from tabwb.tables.table import Column, Table

if TYPE_CHECKING:
    from tabwb.media.figures.page import Page
    from tabwb.report.summaries.groups import Grouped

COLUMNS = columns(
    Column("comparison", "Comparison", "the two sides"),
    Column("first", "First", "the group on the first side; empty for a mean over families"),
    Column("second", "Second", "the group on the second side; empty for a mean over families"),
    *("rater", "part", "measure"),
    Column("panel", "Panel", "measure and subtest, or judge, under which it is drawn"),
    Column("first_value", "First", "mean over items of the first side", "number", digits=2),
    Column("second_value", "Second", "mean over items of the second side", "number", digits=2),
    *("value", *INTERVALS),
    Column("p", "p", "two-sided, prompts like these", "number", digits=4),
    Column("test", "Test", WHOSE_P),
    Column("p_adjusted", "corr.", "the same, corrected for its family", "number", digits=4),
    Column("correction", "By", "how p_adjusted is corrected, and over how many tests"),
    Column("smallest_p", "Least p", "the smallest p that so many units can give", "number"),
    Column("units", "Units", "items, or clusters of items, whose signs are flipped"),
    "n_items",
    Column("n_first", "N first", "responses of the first side", "integer"),
    Column("n_second", "N second", "responses of the second side", "integer"),
    *("status", "reason"),
)
MEAN = {**POINT, "marker": "s", "markersize": 5.0, "color": INK}
"""Squares: diamonds are values without an interval."""


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    pairs = () if options["against"] else pairs_of(groups)
    compared = (
        _of_groups(groups, options["against"])
        if not pairs
        else [
            (name, pair.found) for name, pair in zip(_pair_names(pairs, groups), pairs, strict=True)
        ]
    )
    heading = _heading(groups, options["against"], pairs=bool(pairs))
    found = over([one for _, one in compared], _family)
    every = [row for one in found for row in one.rows]
    tested = [row for row in every if row.like.p is not None]
    n = Counter(map(_family, tested))
    corrections = {
        _family(row): f"{row.like.correction} over {plural(n[_family(row)], 'test')}"
        for row in tested
        if n[_family(row)] > 1
    }
    given = [
        _record(name, one, row, every, corrections.get(_family(row)))
        for (name, _), one in zip(compared, found, strict=True)
        for row in one.rows
        if _wanted(row, options)
    ]
    given += [
        {
            "comparison": f"mean over {len(mean.families)} families",
            **_place(mean.row, every),
            **value_cells(Estimate(mean.difference)),
            **interval_cells([mean.interval]),
            "n_items": mean.items,
        }
        for mean in over_families(pairs)
        if _wanted(mean.row, options)
    ]
    if not given:
        differing = {name for one in found for name, _, _ in one.unlike}
        raise UsageError(
            "there is nothing to compare"
            + (f": the sides differ in {', '.join(sorted(differing))}" if differing else ""),
            hint="the sides must have been given the same battery and judged alike",
        )
    notes = [
        heading,
        *interval_note(options),
        *_least(given, options),
        *_differing(found),
    ]
    return noted_table("differences", COLUMNS, given, notes, groups, shared=not pairs)


def _heading(groups: Sequence[Grouped], against: str, *, pairs: bool) -> str:
    over = "means over the items for which both have a value."
    if pairs:
        return f"Base − instruct models of one family and size, {over}"
    if against:
        return f"Each group − {against}, {over}"
    first, second = names_of(groups)
    return f"{first} − {second}, {over}"


def _pair_names(pairs: Sequence[Pair], groups: Sequence[Grouped]) -> list[str]:
    """Return a name for each pair: family and size; both sides where several pairs have them."""
    called = {
        group.group.whole_name: name for name, group in zip(names_of(groups), groups, strict=True)
    }
    kin = [_kin(pair) for pair in pairs]
    return [
        name
        if kin.count(name) == 1
        else " − ".join(called.get(one, one) for one in (pair.found.first, pair.found.second))
        for name, pair in zip(kin, pairs, strict=True)
    ]


def _kin(pair: Pair) -> str:
    size = pair.parameters
    name = f"{pair.family} {size_words(int(size)) if size.isdecimal() else size}".strip()
    return f"{name} + {pair.lesion}" if pair.lesion else name


def _of_groups(groups: Sequence[Grouped], against: str) -> list[tuple[str, Compared]]:
    named = dict(zip(names_of(groups), groups, strict=True))
    if not against and len(groups) != 2:
        raise UsageError(
            "no base and instruct models of one family and size are among these, and there are "
            f"{len(groups)} groups",
            hint="choose two groups, or compare all with one of them: --option against=GROUP",
        )
    reference = _reference(groups, against) if against else groups[1]
    own = next(name for name, group in named.items() if group is reference)
    others = {label: group for label, group in named.items() if group is not reference}
    for label, group in others.items():
        if group.battery.content_hash != reference.battery.content_hash:
            raise UsageError(
                f"{label} and {own} were given different batteries or versions",
                hint="choose one: --where battery=...",
            )
    pairs = [(group, reference) for group in others.values()]
    return [
        (
            label if against else f"{label} − {own}",
            replace(one, first=label, second=own, rows=burdens_first(one.rows)),
        )
        for label, one in zip(
            others, groups_compared(pairs, labels=False, pooled=False), strict=True
        )
    ]


def _reference(groups: Sequence[Grouped], against: str) -> Grouped:
    try:
        return baseline_of(groups, against)
    except UsageError as error:
        error.hint = "--option against=GROUP"
        raise


def _wanted(row: Contrast, options: Options) -> bool:
    chosen = options["measure"]
    return chosen in ("all", row.measure.id)


def _family(row: Contrast) -> tuple[str, str]:
    """Return the family of a test: a judge's burden, or all accuracies."""
    return row.measure.id, row.judge


def _place(row: Contrast, every: Sequence[Contrast]) -> Record:
    if row.terms is None:
        return {"part": row.subtest, "measure": row.measure.id, "panel": row.title}
    alone = len({other.terms for other in every if other.rater == row.rater}) == 1
    panel = terms_title(row.terms, alone=alone)
    return {"rater": row.rater, "measure": row.measure.id, "panel": panel}


def _record(
    name: str, compared: Compared, row: Contrast, every: Sequence[Contrast], correction: str | None
) -> Record:
    sides, value, like = row.sides, row.sides.of_means, row.like
    return {
        "comparison": name,
        "first": compared.first,
        "second": compared.second,
        **_place(row, every),
        "first_value": sides.first,
        "second_value": sides.second,
        **value_cells(Estimate(None, NO_ITEMS) if value is None else Estimate(value)),
        **interval_cells([like.interval, row.these.interval]),
        "p": like.p,
        "test": like.test,
        "p_adjusted": like.adjusted,
        "correction": correction,
        "smallest_p": sides.smallest_p,
        "units": sides.unit_count,
        "n_items": sides.items,
        "n_first": sides.n_first,
        "n_second": sides.n_second,
    }


def _least(given: Sequence[Record], options: Options) -> list[str]:
    if ESTIMANDS[options["interval"]]:
        return []
    tested = [record for record in given if record.get("p") is not None]
    least = {
        record["units"]: record["smallest_p"]
        for record in tested
        if record["smallest_p"] is not None
    }
    ordered = sorted(least.items(), key=lambda one: -one[1])
    parts = [f"{_p(p)} over {units}" for units, p in ordered]
    said = []
    if parts:
        said.append(
            f"sign flips over items, the smallest that can be reached is {', '.join(parts)}"
        )
    if any(record["test"] == PAIRED_T for record in tested):
        said.append("paired t over items where the sides have unequal numbers of replicates")
    if not said:
        return []
    corrections: dict[str, dict[str, None]] = {}
    for record in tested:
        if record["correction"]:
            corrections.setdefault(record["correction"], {})[record["measure"]] = None
    how = "; ".join(
        f"{', '.join(measures)} by {by.replace('Holm', 'the method of Holm')}"
        for by, measures in corrections.items()
    )
    return [
        f"p: two-sided, {'; '.join(said)}{', before correction' if how else ''}.",
        *([f"p shown is corrected: {how}; the data of the figure have both."] if how else []),
        f"Intervals use Student's t; {AGREE}.",
    ]


def _differing(compared: Sequence[Compared]) -> list[str]:
    differing: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for one in compared:
        for name, mine, other in one.unlike:
            first, second = differing.setdefault(name, ({}, {}))
            first[mine] = second[other] = None
    said = [
        f"{name} ({', '.join(first)} / {', '.join(second)})"
        for name, (first, second) in differing.items()
    ]
    return [f"The sides also differ in {'; '.join(said)}."] if said else []


def _p(p: float) -> str:
    """Return a p value as papers print it.

    >>> _p(0.0625), _p(0.5), _p(0.00002), _p(1.0)
    ('.0625', '.5', '<.001', '1')
    """
    return "<.001" if p < 0.001 else f"{p:.3g}".removeprefix("0")


def _draw(table: Table, page: Page, options: Options) -> None:
    given = records(table)
    labels = list(dict.fromkeys(record["comparison"] for record in given))
    panels = []
    like = not ESTIMANDS[options["interval"]]
    for title in dict.fromkeys(record["panel"] for record in given):
        own = {record["comparison"]: record for record in given if record["panel"] == title}
        marks = []
        for row, label in enumerate(labels):
            if label not in own:
                marks.append(Mark(row, None, words="not compared"))
                continue
            mark = mark_of(row, own[label], options)
            mean = own[label]["first"] is None
            marks.append(Mark(row, mark.value, mark.low, mark.high, MEAN) if mean else mark)
        measure = next(iter(own.values()))["measure"]
        cells = [
            "" if label not in own or own[label]["p"] is None else _p(own[label]["p_adjusted"])
            for label in labels
        ]
        head = "p corr." if any(record["correction"] for record in own.values()) else "p"
        panels.append(
            Panel(
                title,
                f"difference in {measure}",
                marks,
                cells=cells if like else (),
                head=head if like else "",
                zero=True,
            )
        )
    legend = mark_legend([record for record in given if record["first"] is not None], options)
    means = [record for record in given if record["first"] is None]
    if means:
        words = "mean over families and items"
        end = f"{ESTIMANDS[options['interval']]}low"
        if any(record[end] is not None for record in means):
            words += "; bar: 95 % interval for families and prompts like these"
        reasons = {one["interval_reason"] for one in means if one["low"] is None} - {None}
        legend.append((MEAN, f"{words}; no interval: {', '.join(reasons)}" if reasons else words))
    forest(page, labels, panels, legend)


FIGURE = FigureKind(
    id="differences",
    title="Paired differences with 95 % intervals",
    shows="Differences in burden and accuracy on the same items with their intervals and p values: "
    "base - instruct models of one family and size with the mean over families, or two groups, or "
    "all groups against one.",
    data="Two or more groups that were given one battery; for base and instruct models their "
    "profiles say family, tuning and parameters.",
    table=_table,
    draw=_draw,
    options=(
        INTERVAL,
        FigureOption("measure", "what is compared", "all", ("all", BURDEN.id, ACCURACY.id)),
        FigureOption("against", "the group that all others are compared with"),
    ),
    judged=True,
)
