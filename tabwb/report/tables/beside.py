"""Tables of a report that only some studies have: measures of texts, names, statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tabwb.battery.model import Battery
from tabwb.report.measures import LATENCY, measure_of
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.naming import named_subtests
from tabwb.report.summaries.subtests import Measured
from tabwb.report.tables.captioned import Captioned, Footnote
from tabwb.report.tables.declared import names_right, number, whole
from tabwb.report.tables.group_names import GroupNames, group_table, snake
from tabwb.report.tables.said import borrowed_line, said_table
from tabwb.scoring.naming.summary import RATING_SOURCES, NamingSummary
from tabwb.tables.table import Column, RecordColumn, table_of


def naming_tables(rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the accuracies of each naming subtest, by what decides whether a name is right."""
    titles = {named.id: named.title for row in rows for named in row.summary.named}
    for subtest, title in titles.items():
        own = [row for row in rows if row.named(subtest)]
        table = group_table(f"naming_{subtest}", own, names, [*_naming_columns(subtest)])
        yield Captioned(table, f"{title}: names that are right, median latency in seconds.")


def said_tables(
    members: Sequence[AdministrationData], session: Callable[[AdministrationData], str]
) -> Iterator[Captioned]:
    """Yield what was said to each picture, one table for each session and naming subtest."""
    for member in members:
        if not any(subtest.task.coded for subtest in member.battery.subtests):
            continue
        part = member.part
        shown = {
            (trial.plan.subtest, trial.plan.item)
            for trial in member.source.trials
            if part is None or part.has(trial.plan)
        }
        for named in named_subtests([member.source]):
            items = [item for item in named.items if (named.id, item.item) in shown]
            if items:
                name = f"said_{snake(named.id)}_{member.administration.id}"
                caption = f"{named.title}, {session(member)}: what was said to each picture."
                notes = (borrowed_line(named.summary), f"Rule: {named.rules.rule} decides.")
                yield Captioned(
                    said_table(name, items),
                    caption,
                    tuple(Footnote(note) for note in notes if note),
                )


def _naming_columns(subtest: str) -> Iterator[RecordColumn]:
    def summary(row: Grouped) -> NamingSummary:
        named = row.named(subtest)
        assert named is not None
        return named.summary

    yield whole("items", "Items", "items answered",
                lambda row: summary(row).statuses.get("answered", 0))  # fmt: skip
    for basis in RATING_SOURCES:
        measure = measure_of(basis)
        column = Column(snake(basis), measure.title, measure.meaning, "number", measure.unit, 2)
        yield from names_right(column, subtest, basis)
    yield number("latency", "Latency", LATENCY.meaning,
                 lambda row: summary(row).latency_median_s, unit=LATENCY.unit)  # fmt: skip


def measure_tables(
    battery: Battery, rows: Sequence[Grouped], names: GroupNames
) -> Iterator[Captioned]:
    """Yield the means of further measures of each subtest, such as lexical diversity."""
    for subtest in battery.subtests:
        found = dict.fromkeys(
            name
            for row in rows
            if (part := row.part(subtest.id))
            for name, measured in part.measures.items()
            if measured.measure not in subtest.task.errors
        )
        if not found:
            continue
        columns = [column for name in found for column in _measure_columns(subtest.id, name)]
        caption = f"{subtest.title}: means over the responses for which a measure is defined."
        table = group_table(f"measures_{subtest.id}", rows, names, columns)
        yield Captioned(table, caption)


def _measure_columns(subtest: str, name: str) -> Iterator[RecordColumn]:
    def taken(value: Callable[[Measured], Any]) -> Callable[[Grouped], Any]:
        def cell(row: Grouped) -> Any:
            part = row.part(subtest)
            own = None if part is None else part.measures.get(name)
            return None if own is None else value(own)

        return cell

    measure, column = measure_of(name), snake(name)
    yield number(
        column, measure.title[:1].upper() + measure.title[1:],
        f"mean of: {measure.meaning or measure.title}",
        taken(lambda own: own.mean.value), unit=measure.unit,
    )  # fmt: skip
    yield whole(f"{column}_n", "N", f"responses for which {column} is defined",
                taken(lambda own: own.n))  # fmt: skip


def statistics_tables(rows: Sequence[Grouped], names: GroupNames) -> Iterator[Captioned]:
    """Yield the table of the statistics of plugins, if there are some."""
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
