"""The burden of each group with its interval, a panel for each judge and its terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabwb.media.figures.estimates import (
    INTERVAL,
    INTERVALS,
    Record,
    columns,
    feature_titles,
    features_note,
    interval_cells,
    interval_note,
    mark_legend,
    mark_of,
    noted_table,
    records,
    term_titles,
    value_cells,
)
from tabwb.media.figures.forest import Panel, forest
from tabwb.media.figures.kind import FigureKind, Options
from tabwb.records.errors import UsageError
from tabwb.report.summaries.cautions import bounds_words
from tabwb.report.summaries.shown import names_of
from tabwb.tables.table import Column, Table

if TYPE_CHECKING:
    from tabwb.media.figures.page import Page
    from tabwb.report.summaries.groups import Grouped

COLUMNS = columns(
    *("group", "rater"),
    Column("terms", "Terms", "the rater with its feature set and scope"),
    Column("n_features", "Features", "number of features in the set", "integer"),
    *("value", *INTERVALS, "n", "n_items", "n_usable", "n_responses", "few_usable"),
    *("status", "reason"),
)


def _table(groups: Sequence[Grouped], options: Options) -> Table:
    titles = term_titles(groups)
    if not titles:
        raise UsageError(
            "no judge has judged these administrations, so they have no burden",
            hint="tabwb judge run ID --judge rules",
        )
    given: list[Record] = []
    bounds: list[str] = []
    for terms, title in titles.items():
        for name, group in zip(names_of(groups), groups, strict=True):
            record: Record = {
                "group": name,
                "rater": terms.rater,
                "terms": title,
                "n_features": len(terms.features),
                "status": "undefined",
                "reason": "not judged under these terms",
            }
            if judge := group.judge(terms):
                burden = judge.burden
                bounds += (f"{name}: {words}" for words in bounds_words(burden))
                record |= value_cells(burden.symptom_burden)
                record |= interval_cells(burden.intervals)
                record |= {
                    "n": burden.n_burden,
                    "n_items": len(burden.sizes),
                    "n_usable": burden.usable.usable,
                    "n_responses": burden.usable.n,
                    "few_usable": burden.usable.few,
                }
            given.append(record)
    names = feature_titles(groups)
    notes = [
        "Symptom burden, the mean number of features present per response.",
        *dict.fromkeys(features_note(terms, names) for terms in titles),
        *interval_note(options, (record.get("n_items") for record in given)),
        "N: responses with a burden, of all judged.",
        *([f"Bounds of the burden: {'; '.join(bounds)}."] if bounds else []),
    ]
    return noted_table("burden", COLUMNS, given, notes, groups)


def _draw(table: Table, page: Page, options: Options) -> None:
    given = records(table)
    labels = list(dict.fromkeys(record["group"] for record in given))
    panels = []
    for title in dict.fromkeys(record["terms"] for record in given):
        own = [record for record in given if record["terms"] == title]
        panels.append(
            Panel(
                title,
                f"symptom burden (of {own[0]['n_features']} features)",
                [mark_of(row, record, options) for row, record in enumerate(own)],
                cells=[_counts(record) for record in own],
                head="N",
            )
        )
    forest(page, labels, panels, mark_legend(given, options))


def _counts(record: Record) -> str:
    return "" if record["n"] is None else f"{record['n']} of {record['n_responses']}"


FIGURE = FigureKind(
    id="burden",
    title="Symptom burden with 95 % intervals",
    shows="The symptom burden of each group with its interval; one panel for each judge, "
    "feature set and scope.",
    data="Administrations with connected text that a judge has judged.",
    table=_table,
    draw=_draw,
    options=(INTERVAL,),
    judged=True,
)
