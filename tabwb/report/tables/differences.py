"""The table of a comparison: one row for each measure that both sides have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tabwb.report.measures import ACCURACY, BURDEN, FEATURE_RATE
from tabwb.report.summaries.compared import Compared
from tabwb.report.summaries.difference import Difference
from tabwb.report.tables.declared import p_value
from tabwb.tables.table import Column, Table, records_table

Row = tuple[Difference, Compared]
IDS = {measure.title: measure.id for measure in (ACCURACY, BURDEN, FEATURE_RATE)}


def differences_table(compared: Difference) -> Table:
    """Return one row for each accuracy, burden and feature of two sides, over their common items.

    Args:
        compared: the two sides.
    """
    unlike = [f"{name}: {first} and {second}" for name, first, second in compared.unlike]
    notes = [f"{rater} is left out: {why}" for rater, why in compared.left_out]
    if unlike:
        notes.append(f"The sides also differ in {'; '.join(unlike)}.")
    return records_table(
        "differences", COLUMNS, ((compared, row) for row in compared.compared), notes
    )


def _of_row(name: str) -> Callable[[Row], Any]:
    return lambda row: getattr(row[1], name) or None


def _of_sides(name: str) -> Callable[[Row], Any]:
    return lambda row: getattr(row[1].sides, name)


def _end(estimand: str, end: str) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        interval = getattr(row[1], estimand).interval.interval
        return None if interval is None else float(getattr(interval, end))

    return value


def _tested(estimand: str, name: str) -> Callable[[Row], Any]:
    return lambda row: getattr(getattr(row[1], estimand), name)


def _number(name: str, title: str, meaning: str) -> Column:
    return Column(name, title, meaning, "number", digits=3)


COLUMNS = (
    (Column("first", "First", "the first side"), lambda row: row[0].first),
    (Column("second", "Second", "the second side"), lambda row: row[0].second),
    (
        Column("measure", "Measure", "its id, as in the table of results"),
        lambda row: IDS.get(row[1].measure, row[1].measure),
    ),
    (Column("part", "Subtest", "missing: all together"), _of_row("subtest")),
    (Column("rater", "Rater", "who gave the ratings"), _of_row("rater")),
    (Column("policy", "Policy", "of an accuracy"), _of_row("policy")),
    (Column("feature", "Feature", "of a rate"), _of_row("feature")),
    (
        Column("n_items", "Items", "items that both sides have a value for", "integer"),
        _of_sides("items"),
    ),
    (_number("first_value", "First", "mean over these items, first side"), _of_sides("first")),
    (_number("second_value", "Second", "mean over these items, second side"), _of_sides("second")),
    (_number("difference", "Difference", "first minus second"), lambda row: row[1].difference),
    (
        _number("low", "Low", "lower end of the 95 % interval, prompts like these"),
        _end("like", "low"),
    ),
    (
        _number("high", "High", "upper end of the 95 % interval, prompts like these"),
        _end("like", "high"),
    ),
    p_value("p", "p", "prompts like these", _tested("like", "p")),
    (Column("test", "Test", "which gave p"), _tested("like", "test")),
    p_value(
        "p_adjusted",
        "p adjusted",
        "for the other tests of its family, prompts like these",
        _tested("like", "adjusted"),
    ),
    (
        _number("these_low", "Low", "lower end of the 95 % interval, these prompts"),
        _end("these", "low"),
    ),
    (
        _number("these_high", "High", "upper end of the 95 % interval, these prompts"),
        _end("these", "high"),
    ),
    p_value("these_p", "p", "these prompts", _tested("these", "p")),
    p_value(
        "these_p_adjusted",
        "p adjusted",
        "for the other tests, these prompts",
        _tested("these", "adjusted"),
    ),
    p_value(
        "smallest_p",
        "Smallest p",
        "the smallest p that sign flips over these items can give; missing where t gave p",
        lambda row: row[1].smallest_p,
    ),
    (
        _number("smallest_difference", "Showable", "smallest difference that the design can show"),
        lambda row: row[1].showable.value,
    ),
)
