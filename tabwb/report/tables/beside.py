"""Tables of a report that only some studies have: measures of texts, names, statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tabwb.battery.model import Battery
from tabwb.report.measures import LATENCY, measure_of
from tabwb.report.summaries.groups import Grouped
from tabwb.report.tables.captioned import Captioned
from tabwb.report.tables.group_names import GroupNames, snake
from tabwb.scoring.naming.summary import RATING_SOURCES, NamingAccuracy
from tabwb.tables.table import Column, table_of


def naming_tables(rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the accuracies of each naming subtest, by what decides whether a name is right.

    Args:
        rows: groups of one battery.
        names: of groups.
    """
    titles = {named.id: named.title for row in rows for named in row.summary.named}
    for subtest, title in titles.items():
        declared = [*names.columns(rows), Column("items", "Items", "items answered", "integer")]
        for basis in RATING_SOURCES:
            measure = measure_of(basis)
            column, end = snake(basis), "end of the exact 95 % interval of"
            declared += [
                Column(column, measure.title, measure.meaning, "number", measure.unit, 2),
                Column(f"{column}_low", "Low", f"lower {end} {column}", "number", "", 2),
                Column(f"{column}_high", "High", f"upper {end} {column}", "number", "", 2),
            ]
        declared.append(Column("latency", "Latency", LATENCY.meaning, "number", LATENCY.unit, 2))
        values = [
            [
                *names.cells(row),
                named.summary.statuses.get("answered", 0),
                *_shares(named.summary.accuracy),
                named.summary.latency_median_s,
            ]
            for row in rows
            for named in row.summary.named
            if named.id == subtest
        ]
        caption = f"{title}: names that are right, median latency in seconds."
        yield Captioned(table_of(f"naming_{snake(subtest)}", declared, values), caption)


def _shares(accuracy: Sequence[NamingAccuracy]) -> Iterator[float | None]:
    by_basis = {own.basis: own for own in accuracy}
    for basis in RATING_SOURCES:
        share = by_basis.get(basis)
        interval = None if share is None else share.interval
        yield None if share is None else share.rate
        yield None if interval is None else interval.low
        yield None if interval is None else interval.high


def measure_tables(
    battery: Battery, rows: Sequence[Grouped], names: GroupNames
) -> Iterator[Captioned]:
    """Yield the means of further measures of each subtest, such as lexical diversity.

    Args:
        battery: with the subtests.
        rows: groups that were given it.
        names: of groups.
    """
    for subtest in battery.subtests:
        parts = [
            next((part for part in row.summary.subtests if part.id == subtest.id), None)
            for row in rows
        ]
        found = {
            name: measured
            for part in parts
            if part is not None
            for name, measured in part.measures.items()
            if measured.measure not in subtest.task.errors
        }
        if not found:
            continue
        declared = list(names.columns(rows))
        for name in found:
            measure, column = measure_of(name), snake(name)
            meaning = measure.meaning or measure.title
            told = f"mean of: {meaning}"
            declared += [
                Column(
                    column,
                    measure.title[:1].upper() + measure.title[1:],
                    told,
                    "number",
                    measure.unit,
                    2,
                ),
                Column(f"{column}_n", "N", f"responses for which {column} is defined", "integer"),
            ]
        values = []
        for row, part in zip(rows, parts, strict=True):
            cells: list[Any] = [*names.cells(row)]
            for name in found:
                measured = None if part is None else part.measures.get(name)
                cells += [measured and measured.mean.value, measured and measured.n]
            values.append(cells)
        caption = f"{subtest.title}: means over the responses for which a measure is defined."
        yield Captioned(table_of(f"measures_{snake(subtest.id)}", declared, values), caption)


def statistics_tables(rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the table of the statistics of plugins, if there are some.

    Args:
        rows: groups of one battery.
        names: of groups.
    """
    values: list[list[Any]] = [
        [
            *names.cells(row), found.statistic.title, found.part or None, value.of or None,
            value.value, value.low, value.high, found.statistic.unit or None, value.n,
        ]
        for row in rows
        for found in row.summary.statistics
        for value in found.values
    ]  # fmt: skip
    if not values:
        return
    declared = [
        *names.columns(rows),
        Column("statistic", "Statistic", "the title of the statistic"),
        Column("part", "Subtest", "the subtest; empty: all responses"),
        Column("of", "Of", "what the value belongs to"),
        Column("value", "Value", "the value", "number", "", 2),
        Column("value_low", "Low", "lower end of its 95 % interval", "number", "", 2),
        Column("value_high", "High", "upper end of its 95 % interval", "number", "", 2),
        Column("unit", "Unit", "of the value"),
        Column("n", "N", "responses behind it", "integer"),
    ]
    yield Captioned(table_of("statistics", declared, values), "Statistics of plugins.")
