"""The feature profile of each group as a heat map: rates in per cent, undefined ones hatched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING, Any

from tabwb.media.figures.estimates import (
    ESTIMANDS,
    INTERVAL,
    INTERVALS,
    Record,
    chosen_features,
    columns,
    feature_titles,
    interval_cells,
    noted_table,
    records,
    term_titles,
    value_cells,
)
from tabwb.media.figures.kind import FigureKind, FigureOption, Options
from tabwb.media.figures.lettering import line_height, text_width, told_apart, wrapped
from tabwb.media.figures.shades import HATCH, shade, shade_bar
from tabwb.media.figures.style import INK, MARGIN, RULE, SMALL, text_on
from tabwb.records.errors import UsageError
from tabwb.records.words import plural
from tabwb.report.summaries.shown import names_of
from tabwb.scoring.estimate import Estimand
from tabwb.tables.table import Column, Table
from tabwb.tasks.task_type import task_type

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tabwb.media.figures.page import Page
    from tabwb.report.summaries.groups import Grouped
    from tabwb.report.summaries.judges import JudgeSummary, Terms

COLUMNS = columns(
    *("group", "rater"),
    Column("terms", "Terms", "the rater with its feature set and scope"),
    "feature",
    Column("title", "Feature", "the feature's title"),
    Column("category", "Category", "of the battery's first grouping"),
    *("value", *INTERVALS, "n", "n_items", "few_usable", "status", "reason"),
)
NOT_IN_SET = "not in the judge's set"
NOT_JUDGED = "not judged"
LABELS = 0.42
"""Most of the width that labels of rows take."""
UPRIGHT = 1.8
"""Inches that labels of columns take at most."""


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    titles = term_titles(groups)
    if not titles:
        raise UsageError(
            "no judge has judged these administrations, so they have no profile",
            hint="tabwb judge run ID --judge rules",
        )
    if len(titles) > 1:
        raise UsageError(
            "several judges, or one under several terms, have judged these administrations",
            allowed="one judge: " + "; ".join(titles.values()),
            hint="choose one with --judge RATER",
        )
    ((terms, title),) = titles.items()
    groups, without = _with_texts(groups, terms)
    names = feature_titles(groups)
    categories = {
        feature: category.title
        for group in groups
        for grouping in group.battery.groupings[:1]
        for category in grouping.categories
        for feature in category.features
    }
    own_set = [name for name in names if name in terms.features]
    shown = list(names) if options["features"] == "all" else own_set or list(names)
    chosen = chosen_features(groups)
    shown = [name for name in shown if name in chosen] if chosen else shown
    shown.sort(key=lambda name: list(categories).index(name) if name in categories else len(names))
    given: list[Record] = [
        {
            "group": own,
            "rater": terms.rater,
            "terms": title,
            "feature": name,
            "title": names[name],
            "category": categories.get(name),
            **_cells(group.judge(terms), name),
        }
        for own, group in zip(names_of(groups), groups, strict=True)
        for name in shown
    ]
    notes = [
        f"Rate of each feature in per cent: of the responses that have a burden (N), the share in "
        f"which {terms.rater} finds it present; {terms.scope.replace('-', ' ')}.",
        *_set_note(terms, len(own_set), len(names), options),
        *_width_note(given, options),
        *without,
    ]
    return noted_table("profile", COLUMNS, given, notes, groups)


def _with_texts(groups: Sequence[Grouped], terms: Terms) -> tuple[list[Grouped], list[str]]:
    """Return the groups that have responses for a judge, and a sentence on the others."""
    if terms.scope != "connected-text":
        return list(groups), []
    kept = [
        group
        for group in groups
        if group.judge(terms)
        or any(part.share.n for part in group.summary.subtests if task_type(part.kind).connected)
    ]
    left_out = len(groups) - len(kept)
    said = [f"Left out: {plural(left_out, 'group')} without connected text."] if left_out else []
    return kept, said


def _set_note(terms: Terms, own: int, every: int, options: Options) -> list[str]:
    if options["features"] == "all" or not 0 < own < every:
        return []
    return [
        f"The {own} features are the set of {terms.rater}; the battery has {every} "
        "(features=all shows all)."
    ]


def _cells(judge: JudgeSummary | None, feature: str) -> Record:
    if judge is None or feature not in judge.burden.features:
        reason = NOT_JUDGED if judge is None else NOT_IN_SET
        return {"value": None, "status": "undefined", "reason": reason}
    burden = judge.burden
    return {
        **value_cells(burden.rate(feature)),
        **interval_cells(burden.rate_intervals(feature) if burden.n_burden else ()),
        "n": burden.n_burden,
        "n_items": len(burden.sizes),
        "few_usable": burden.usable.few,
    }


def _width_note(given: Sequence[Record], options: Options) -> list[str]:
    prefix = ESTIMANDS[options["interval"]]
    estimand = Estimand.THESE_PROMPTS if prefix else Estimand.PROMPTS_LIKE_THESE
    ends = [(record.get(f"{prefix}low"), record.get(f"{prefix}high")) for record in given]
    widths = [high - low for low, high in ends if low is not None and high is not None]
    if not widths:
        return [f"There is no interval for {estimand.value}."]
    return [
        f"95 % intervals for {estimand.value} are between {100 * min(widths):.0f} and "
        f"{100 * max(widths):.0f} percentage points wide (median {100 * median(widths):.0f})."
    ]


def _draw(table: Table, page: Page, options: Options) -> None:
    given = records(table)
    groups = list(dict.fromkeys(record["group"] for record in given))
    features = list(dict.fromkeys(record["feature"] for record in given))
    cells = {(record["group"], record["feature"]): record for record in given}
    title = {record["feature"]: record["title"] for record in given}
    of = {record["feature"]: record["category"] for record in given}
    marked = {
        record["group"]: f"{record['group']} (few usable)"
        for record in given
        if record["few_usable"]
    }
    names = [marked.get(group, group) for group in groups]
    prefix = ESTIMANDS[options["interval"]]
    starts = [n for n, name in enumerate(features) if n and of[name] != of[features[n - 1]]]
    left = min(LABELS * page.width, max(text_width(title[name], SMALL) for name in features))
    across = (page.width - 2 * MARGIN - left - 0.06) / len(groups)
    counts = [_count(cells[group, name] for name in features) for group in groups]
    if across >= line_height(SMALL) * 1.1:
        values = [[cells[group, name] for group in groups] for name in features]
        titles = [title[name] for name in features]
        _heat_map(page, titles, names, values, counts, prefix, rows_at=starts, by_row=False)
    else:
        values = [[cells[group, name] for name in features] for group in groups]
        titles = [title[name] for name in features]
        _heat_map(page, names, titles, values, counts, prefix, columns_at=starts, by_row=True)


def _heat_map(
    page: Page,
    rows: Sequence[str],
    heads: Sequence[str],
    values: Sequence[Sequence[Record]],
    counts: Sequence[str],
    prefix: str,
    *,
    rows_at: Sequence[int] = (),
    columns_at: Sequence[int] = (),
    by_row: bool,
) -> None:
    named = told_apart(rows, SMALL, LABELS * page.width, 3)
    left = max(text_width(line, SMALL) for lines in named for line in lines)
    start = MARGIN + left + 0.06
    beside = max(text_width(words, SMALL) for words in (*counts, "N")) + 0.08 if by_row else 0.0
    each = (page.width - MARGIN - start - beside) / len(heads)
    whole = text_width("100 (88-100)", SMALL) + 0.08  # a value with its interval
    ends = each >= whole and _has_ends(values, prefix)
    each = min(each, whole if ends else 0.62)
    heights = [max(0.165, len(lines) * line_height(SMALL) + 0.04) for lines in named]
    edges = [0.0, *accumulate(heights)]
    top = _heads(page, heads, start, each)
    for lines, edge, height in zip(named, edges, heights, strict=False):
        size = len(lines) * line_height(SMALL)
        page.lines(MARGIN, top + edge + (height - size) / 2, lines)
    axes = page.axes(start, top, each * len(heads), edges[-1], label="profile")
    axes.set_xlim(0, len(heads))
    axes.set_ylim(edges[-1], 0)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
    fits = each >= text_width("100", SMALL) + 0.02
    for cells, edge, height in zip(values, edges, heights, strict=False):
        for column, record in enumerate(cells):
            _cell(axes, record, (column, edge, height), prefix if ends else None, number=fits)
    for place in rows_at:
        axes.axhline(edges[place], color=INK, linewidth=0.8)
    for place in columns_at:
        axes.axvline(place, color=INK, linewidth=0.8)
    bottom = top + edges[-1]
    if by_row:
        right = start + each * len(heads) + beside
        page.text(right, top - 0.04, "N", SMALL, ha="right")
        for words, edge, height in zip(counts, edges, heights, strict=False):
            page.text(right, top + edge + height / 2, words, ha="right", va="center_baseline")
    else:
        bottom += _counts_below(page, counts, bottom, start, each)
    title = "rate in per cent (95 % interval)" if ends else "rate in per cent"
    end = shade_bar(
        page,
        start,
        bottom + 0.1,
        title,
        undefined=any(record["value"] is None for cells in values for record in cells),
    )
    page.finish(page.caption(end + 0.02))


def _counts_below(
    page: Page, counts: Sequence[str], top: float, start: float, each: float
) -> float:
    """Write N below each column, upright where it does not fit; return the height."""
    widest = max(text_width(words, SMALL) for words in counts)
    upright = widest > each - 0.02
    height = widest + 0.06 if upright else line_height(SMALL) + 0.03
    page.text(MARGIN, top + height / 2, "N", va="center_baseline")
    for n, words in enumerate(counts):
        page.text(
            start + (n + 0.5) * each, top + height / 2, words, ha="center",
            va="center" if upright else "center_baseline", rotation=90 if upright else 0,
        )  # fmt: skip
    return height


def _count(records: Iterable[Record]) -> str:
    """Return the responses behind the rates of a group: one number, because all are over those
    that have a burden.
    """
    known = {record["n"] for record in records if record["n"] is not None}
    return "\u2013".join(str(n) for n in sorted({min(known), max(known)})) if known else "0"


def _has_ends(values: Sequence[Sequence[Record]], prefix: str) -> bool:
    return any(record[f"{prefix}low"] is not None for cells in values for record in cells)


def _heads(page: Page, heads: Sequence[str], start: float, each: float) -> float:
    """Write the heads of columns, upright where they do not fit; return where they end."""
    level = [wrapped(head, SMALL, each - 0.04) for head in heads]
    if max(map(len, level)) <= 2:
        top = MARGIN + max(map(len, level)) * line_height(SMALL) + 0.04
        for n, lines in enumerate(level):
            size = len(lines) * line_height(SMALL)
            page.lines(start + (n + 0.5) * each, top - 0.04 - size, lines, ha="center")
        return top
    most = 2 if each > 2.1 * line_height(SMALL) else 1
    upright = told_apart(heads, SMALL, UPRIGHT, most)
    top = MARGIN + max(text_width(line, SMALL) for lines in upright for line in lines) + 0.04
    for n, head in enumerate(upright):
        for at, line in enumerate(head):
            x = start + (n + 0.5) * each + (at - (len(head) - 1) / 2) * line_height(SMALL)
            page.text(x, top - 0.04, line, rotation=90, ha="center", va="bottom")
    return top


def _cell(
    axes: Axes,
    record: Record,
    place: tuple[float, float, float],
    prefix: str | None,
    *,
    number: bool,
) -> None:
    from matplotlib.patches import Rectangle

    column, edge, height = place
    value = record["value"]
    style: dict[str, Any] = {"edgecolor": RULE, "linewidth": 0.4}
    if value is None:
        style |= {"facecolor": "white", "hatch": HATCH, "gid": "undefined"}
        axes.add_patch(Rectangle((column, edge), 1, height, **style))
        return
    colour = shade(value)
    axes.add_patch(Rectangle((column, edge), 1, height, facecolor=colour, gid="cell", **style))
    words = f"{100 * value:.0f}"
    if prefix is not None and record[f"{prefix}low"] is not None:
        low, high = record[f"{prefix}low"], record[f"{prefix}high"]
        words += f" ({100 * low:.0f}\u2013{100 * high:.0f})"
    if number:
        axes.text(
            column + 0.5, edge + height / 2, words, fontsize=SMALL, ha="center",
            va="center_baseline", color=text_on(colour), gid="value",
        )  # fmt: skip


FIGURE = FigureKind(
    id="profile",
    title="Feature profile",
    shows="The rate of each feature in each group as a heat map, numbers in the cells where they "
    "fit; undefined rates are hatched.",
    data="Administrations with connected text that one judge has judged.",
    table=_table,
    draw=_draw,
    options=(
        INTERVAL,
        FigureOption(
            "features",
            "the set of the judge, or all features of the battery",
            "set",
            ("set", "all"),
        ),
    ),
    judged=True,
)
