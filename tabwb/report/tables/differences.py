"""The table of a comparison: one row for each measure that both sides have."""

from __future__ import annotations

from collections.abc import Callable

from tabwb.report.measures import ACCURACY, BURDEN, FEATURE_RATE
from tabwb.report.summaries.compared import Compared
from tabwb.report.summaries.difference import Difference
from tabwb.report.summaries.paired import WHOSE_P
from tabwb.report.tables.declared import LIKE, THESE, ends, number, p_value, text, whole
from tabwb.scoring.detectable import simulated_test
from tabwb.scoring.estimate import Estimand, Interval
from tabwb.tables.table import Column, RecordColumn, Table, records_table

Row = tuple[Difference, Compared]
IDS = {measure.title: measure.id for measure in (ACCURACY, BURDEN, FEATURE_RATE)}


def differences_table(compared: Difference) -> Table:
    """Return one row for each accuracy, burden and feature of two sides, over their common
    items.
    """
    unlike = [f"{name}: {first} and {second}" for name, first, second in compared.unlike]
    notes = [f"{rater} is left out: {why}" for rater, why in compared.left_out]
    if unlike:
        notes.append(f"The sides also differ in {'; '.join(unlike)}.")
    return records_table(
        "differences", COLUMNS, ((compared, row) for row in compared.compared), notes
    )


def _interval(estimand: str) -> Callable[[Row], Interval | None]:
    return lambda row: getattr(row[1], estimand).interval.interval


COLUMNS = (
    text("first", "First", "the first side", lambda row: row[0].first),
    text("second", "Second", "the second side", lambda row: row[0].second),
    text("measure", "Measure", "its id, as in the table of results",
         lambda row: IDS.get(row[1].measure, row[1].measure)),
    text("part", "Subtest", "missing: all together", lambda row: row[1].subtest),
    text("rater", "Rater", "who gave the ratings", lambda row: row[1].rater),
    text("policy", "Policy", "of an accuracy", lambda row: row[1].policy),
    text("feature", "Feature", "of a rate", lambda row: row[1].feature),
    whole("n_items", "Items", "items that both sides have a value for",
          lambda row: row[1].sides.items),
    number("first_value", "First", "mean over these items, first side",
           lambda row: row[1].sides.first, digits=3),
    number("second_value", "Second", "mean over these items, second side",
           lambda row: row[1].sides.second, digits=3),
    number("difference", "Difference", "first minus second",
           lambda row: row[1].difference, digits=3),
    *ends("", LIKE, _interval("like"), 3),
    p_value("p", "p", LIKE, lambda row: row[1].like.p),
    RecordColumn(Column("test", "Test", WHOSE_P), lambda row: row[1].like.test),
    p_value("p_adjusted", "p adjusted", f"for the other tests of its family, {LIKE}",
            lambda row: row[1].like.adjusted),
    *ends("these_", THESE, _interval("these"), 3),
    p_value("these_p", "p", THESE, lambda row: row[1].these.p),
    p_value("these_p_adjusted", "p adjusted", f"for the other tests, {THESE}",
            lambda row: row[1].these.adjusted),
    p_value("smallest_p", "Smallest p",
            "the smallest p that sign flips over these items or clusters can give; missing with a "
            "paired t",
            lambda row: row[1].smallest_p),
    number("smallest_difference", "Detectable", "smallest difference from the first side's mean "
           "that is found in 4 of 5 simulated studies by "
           f"{simulated_test(Estimand.PROMPTS_LIKE_THESE)}: the larger p is below .05",
           lambda row: row[1].showable.value, digits=3),
)  # fmt: skip
