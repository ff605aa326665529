"""The table of results: one row for each group and measure, with its intervals.

All other tables, figures and reports of groups are cut from it, or made from the same summaries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from tabwb.analysis.grouping import Grouped
from tabwb.analysis.keys import key_of
from tabwb.analysis.measures import (
    FEATURE_RATE,
)
from tabwb.analysis.statistics.results import Result
from tabwb.analysis.tables.declared import LIKE, THESE, ends, number, text, truth, whole
from tabwb.records.columns import Column
from tabwb.records.declared_conditions import ColumnType
from tabwb.tables.table import RecordColumn, Series, Table, records_table

NOTES = (
    "One row for each group and measure. low and high are the ends of the 95 % interval for "
    "prompts like these, these_low and these_high for exactly these prompts; without a value they "
    "are missing, and reason says why a value is.",
)


class Placed(NamedTuple):
    """A result with its group."""

    row: Grouped
    result: Result


def results_table(rows: Sequence[Grouped]) -> Table:
    """Return every value of groups as a table: :data:`COLUMNS`, then a column for each key."""
    columns = (*COLUMNS, *_key_columns(rows))
    return records_table(
        "results", columns, (Placed(row, found) for row in rows for found in row.results), NOTES
    )


def _key_columns(rows: Sequence[Grouped]) -> Iterator[RecordColumn]:
    """Yield ``by_KEY``, the value of each key by which the groups were made."""
    for at, id_ in enumerate(rows[0].group.keys if rows and rows[0].group.values else ()):
        key = key_of(id_)
        found = [row.group.values[at].told for row in rows]
        number: ColumnType = "integer" if all(isinstance(one, int) for one in found) else "number"
        texts = key.kind != "number" or any(isinstance(one, str) for one in found)
        yield RecordColumn(
            Column(f"by_{id_.replace('-', '_')}", _headed(key.title), key.meaning,
                   "text" if texts else number),
            _key_value(at, texts=texts),
        )  # fmt: skip
    if any(row.group.called for row in rows):  # names have only what tells lesions apart
        yield text("lesion", "Lesion", "the lesion of the group, whole", "row.group.lesion")


def _headed(title: str) -> str:
    return title[:1].upper() + title[1:]


def _key_value(at: int, *, texts: bool) -> Any:
    def value(given: Placed) -> object:
        found = given.row.group.values[at].told
        return found if found is None or not texts else str(found)

    return value


def _status(given: Placed) -> str:
    return "value" if given.result.value.defined else "undefined"


def _of_usable(name: str) -> Callable[[Placed], Any]:
    return lambda given: getattr(given.result.usable, name, None)


COLUMNS = (
    text("group", "Group", "the name of the group", "row.label"),
    text("by", "By", "what the administrations of a group have in common", "row.group.by"),
    text("battery", "Battery", "the battery's id", "row.battery.id"),
    text("battery_version", "Version", "the battery's version", "row.battery.version"),
    text("part", "Subtest", "the subtest; empty for a value over all responses", "result.part"),
    text("rater", "Rater", "who gave the ratings, where it is not the subtest's first scorer",
         "result.rater"),
    text("measure", "Measure", "what was measured", "result.measure"),
    text("feature", "Feature", "the feature, category, tag or kind of foil", "result.feature"),
    text("policy", "Policy", "how exactly answers must match: exact, normalised, extracted",
         "result.policy"),
    number("value", "Value", "the estimate", "result.value.value"),
    *ends("", LIKE, "result.interval"),
    *ends("these_", THESE, "result.these"),
    number("bound_low", "Lower bound", "if no unusable response had a feature; where more than "
           "a tenth are unusable", lambda given: getattr(given.result.bounds, "low", None)),
    number("bound_high", "Upper bound", "if each of these had all features",
           lambda given: getattr(given.result.bounds, "high", None)),
    RecordColumn(Column("unit", "Unit", "of the value"), attrgetter("result.declared.unit")),
    whole("n", "N", "responses behind the value", "result.n"),
    whole("n_items", "Items", "items that these responses answer", "result.n_items"),
    whole("n_usable", "Usable", "usable responses of those the measure is about",
          _of_usable("usable")),
    whole("n_responses", "Of", "responses that the measure is about", _of_usable("n")),
    truth("few_usable", "Few usable", "fewer than half are usable: not to be ranked",
          _of_usable("few")),
    text("status", "Status", "value or undefined", _status),
    text("reason", "Reason", "why the value is undefined",
         lambda given: "" if given.result.value.defined else given.result.value.reason),
)  # fmt: skip
"""The columns, each with the function that takes its value from a :class:`Placed`."""

FEATURE_NOTES = (
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
    return Table("features", columns, series, FEATURE_NOTES)
