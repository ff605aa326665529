"""The accuracy of each group in each subtest with its interval, beside the baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tabwb.records.errors import UsageError
from tabwb.report.figures.estimates import (
    INTERVAL,
    INTERVALS,
    Record,
    batteries_note,
    columns,
    interval_cells,
    interval_note,
    mark_legend,
    mark_of,
    records,
    rows_of,
    undefined_note,
    value_cells,
)
from tabwb.report.figures.forest import Panel, Tick, forest
from tabwb.report.figures.kind import FigureKind, FigureOption, Options
from tabwb.report.figures.labels import names_of, shared_note
from tabwb.report.figures.style import INK
from tabwb.report.measures import BASELINES
from tabwb.scoring.choice import POLICIES
from tabwb.tables.table import Column, Table, table_of

if TYPE_CHECKING:
    from tabwb.report.figures.page import Page
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
_TICK: dict[str, Any] = {"color": INK, "linestyle": "none", "markeredgewidth": 0.8}
TICKS = {
    "guessing": {**_TICK, "marker": "|", "markersize": 8.0},
    "always_first": {**_TICK, "marker": 7, "markersize": 4.0, "markerfacecolor": "white"},
    "always_yes": {**_TICK, "marker": 6, "markersize": 4.0, "markerfacecolor": "white"},
}
"""Marks of baselines. They differ in form and lie above, below and across the line of a row, so
that equal ones can be seen side by side. 6 and 7 are matplotlib's carets that end at the line."""
SHIFTS = {"always_first": -0.2, "always_yes": 0.2}
"""How far from the line, in parts of the distance between rows."""


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    policy = options["policy"]
    parts = {
        subtest.id: subtest.title
        for group in groups
        for subtest in group.summary.subtests
        if subtest.share.of(policy)
    }
    if not parts:
        raise UsageError("nothing was scored right or wrong in these administrations")
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
            for subtest in group.summary.subtests:
                if subtest.id == part:
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
        *undefined_note([{"value": None, **record} for record in given]),
        *shared_note(groups),
        batteries_note(groups),
    ]
    return table_of("accuracy", COLUMNS, rows_of(COLUMNS, given), notes)


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
                [
                    Tick(row, record[name], style, SHIFTS.get(name, 0.0))
                    for row, record in enumerate(own)
                    for name, style in TICKS.items()
                    if record[name] is not None
                ],
                [str(record["n"] or "") for record in own],
                "N",
                (0.0, 1.0),
            )
        )
    legend = [
        (TICKS[measure.id], measure.title)
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
