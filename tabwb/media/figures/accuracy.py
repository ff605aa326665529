"""The accuracy of each group in each subtest with its interval, beside the baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tabwb.media.figures.estimates import (
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
    value_cells,
)
from tabwb.media.figures.forest import Panel, Tick, forest
from tabwb.media.figures.kind import FigureKind, FigureOption, Options
from tabwb.media.figures.style import INK, SOFT
from tabwb.records.errors import UsageError
from tabwb.report.measures import BASELINES
from tabwb.report.summaries.shown import names_of
from tabwb.scoring.choice import POLICIES
from tabwb.tables.table import Column, Table

if TYPE_CHECKING:
    from tabwb.media.figures.page import Page
    from tabwb.report.summaries.groups import Grouped

COLUMNS = columns(
    *("group", "part"),
    Column("subtest", "Subtest", "the subtest's title"),
    *("policy", "value", *INTERVALS, "n", "n_items"),
    *(
        Column(measure.id, measure.title, measure.meaning, "number", "share", 2)
        for measure in BASELINES
    ),
    *("status", "reason"),
)
LINES: dict[str, dict[str, Any]] = {
    "always_first": {"color": "#B4B4B4", "linestyle": "-", "linewidth": 3.0},
    "always_yes": {"color": SOFT, "linestyle": "-", "linewidth": 1.4},
    "guessing": {"color": INK, "linestyle": (0, (1, 1)), "linewidth": 0.8},
}
"""Lines of baselines, behind the points. They differ in width, so that equal ones can be seen."""


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    policy = options["policy"]
    parts = {
        subtest.id: subtest.title
        for group in groups
        for subtest in group.summary.subtests
        if subtest.share.of(policy)
    }
    if not parts:
        raise UsageError(
            "no choice, yes/no question or repetition was scored in these administrations",
            hint="names given aloud: tabwb figure change, or tabwb results",
        )
    given: list[Record] = []
    for part, title in parts.items():
        for name, group in zip(names_of(groups), groups, strict=True):
            record: Record = {
                "group": name,
                "part": part,
                "subtest": title,
                "policy": policy,
                "status": "undefined",
                "reason": "not given",
            }
            if subtest := group.part(part):
                share = subtest.share
                record |= value_cells(share.accuracy(policy))
                record |= interval_cells(share.intervals(policy))
                record |= {"n": share.of(policy), "n_items": len(share.by_item[policy])}
                record |= {key: value.value for key, value in subtest.baselines.items()}
            given.append(record)
    notes = [
        f"Accuracy, the share of right responses, policy {policy}.",
        *interval_note(options),
        "N: responses with a verdict.",
    ]
    return noted_table("accuracy", COLUMNS, given, notes, groups)


def _baselines(own: Sequence[Record]) -> list[Tick]:
    """Return one line over all rows for each value of a baseline, or over the rows that have it."""
    made = []
    for name, style in LINES.items():
        rows: dict[float, list[int]] = {}
        for row, record in enumerate(own):
            if record[name] is not None:
                rows.setdefault(record[name], []).append(row)
        for value, having in rows.items():
            whole = len(rows) == 1
            made += [Tick(None, value, style)] if whole else [Tick(n, value, style) for n in having]
    return made


def _draw(table: Table, page: Page, options: Options) -> None:
    given = records(table)
    labels = list(dict.fromkeys(record["group"] for record in given))
    panels = []
    for part in dict.fromkeys(record["part"] for record in given):
        own = [record for record in given if record["part"] == part]
        panels.append(
            Panel(
                own[0]["subtest"],
                "accuracy",
                [mark_of(row, record, options) for row, record in enumerate(own)],
                _baselines(own),
                [str(record["n"] or "") for record in own],
                "N",
                (0.0, 1.0),
            )
        )
    legend = [
        (LINES[measure.id], measure.title)
        for measure in BASELINES
        if any(record[measure.id] is not None for record in given)
    ]
    forest(page, labels, panels, [*mark_legend(given, options), *legend])


FIGURE = FigureKind(
    id="accuracy",
    title="Accuracy by subtest with 95 % intervals",
    shows="The accuracy of each group in each subtest with its interval, and the baselines "
    "guessing, always first option and always Yes.",
    data="Administrations with choices, yes/no questions or repetitions.",
    table=_table,
    draw=_draw,
    options=(
        INTERVAL,
        FigureOption("policy", "how exactly a response must match", "exact", POLICIES),
    ),
)
