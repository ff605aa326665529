"""The table of features: the rate of each feature in each group, with its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tabwb.report.measures import FEATURE_RATE
from tabwb.report.summaries.groups import Grouped
from tabwb.report.tables.results import results_table
from tabwb.tables.table import Column, Series, Table

NOTES = (
    "The share of a group's responses in which a judge found a feature. The interval is for "
    "prompts like these, the other one (these_low, these_high) for exactly these prompts: missing "
    "where nothing was drawn (deterministic) or where each item has one response.",
    "A judge's features are over responses with a burden: those in which no feature of its set is "
    "undefined. The intervals are not corrected for their number.",
)
_LEFT_OUT = {"measure", "policy", "part", "unit"}
_NAMES = {
    "value": "rate", "low": "rate_low", "high": "rate_high",
    "these_low": "rate_these_low", "these_high": "rate_these_high",
}  # fmt: skip


def features_table(rows: Sequence[Grouped]) -> Table:
    """Return the rates of features as a table: by judge and feature, a row for each group.

    It is a part of the table of results, with the titles of features.
    """
    results = results_table(rows).where(measure=FEATURE_RATE.id)
    order: dict[tuple[str, str], int] = {}
    keys = zip(results["rater"].to_list(), results["feature"].to_list(), strict=True)
    places = [order.setdefault(key, len(order)) for key in keys]
    results = results.take(np.argsort(np.array(places, np.int64), kind="stable"))
    titles = {feature.id: feature.title for row in rows for feature in row.battery.features}
    feature = results["feature"]
    labels = [titles.get(str(label), str(label)) for label in feature.labels or ()]
    columns: list[Column] = []
    series: dict[str, Series] = {}
    for column in results.columns:
        if column.name in _LEFT_OUT:
            continue
        name = _NAMES.get(column.name, column.name)
        title = "Rate" if name == FEATURE_RATE.id else column.title
        columns.append(replace(column, name=name, title=title))
        series[name] = results[column.name]
        if name == "feature":
            columns.append(Column("title", "Feature", "the title of the feature"))
            series["title"] = Series(feature.values, labels)
    return Table("features", columns, series, NOTES)
