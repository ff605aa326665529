"""The table of differences: all groups less one, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabwb.report.measures import BURDEN, DIFFERENCE
from tabwb.report.summaries.against import Differences, differences_from
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.paired import AGREE, WHOSE_P
from tabwb.report.tables.declared import (
    LIKE,
    THESE,
    ends,
    group_columns,
    measured,
    number,
    p_value,
    text,
    whole,
)
from tabwb.tables.table import Table, records_table


def against_table(rows: Sequence[Grouped], baseline: str) -> Table:
    """Return every group less the baseline as a table."""
    found = differences_from(rows, baseline)
    notes = (
        f"Differences are group - baseline; the baseline is {found.baseline}. Responses to an item "
        "are averaged first; only items that both have count. Burdens are compared only if the "
        "same rater judged both over the same features, in the same scope, with the same prompt.",
        "The interval, p and corr. (p_adjusted) are for prompts like these, by sign flips over "
        "items, or by paired t with the interval's standard error where the sides have unequal "
        "numbers of replicates; those with 'these' in their titles are for exactly these "
        f"prompts, by labels within items. {AGREE}. "
        "A family is one measure over all groups; subtests by themselves are a family over groups "
        "and subtests.",
        *_also(found),
        *(f"left out: {name}: {why}" for name, why in found.left_out),
    )
    records = [(found.baseline, row) for row in found.rows]
    return records_table("group-differences", COLUMNS, records, notes)


def _also(found: Differences) -> Iterator[str]:
    """Yield in what groups and baseline differ besides the examinee."""
    groups = {row.group.label: row.unlike for row in found.rows if row.unlike}
    for label, unlike in groups.items():
        words = "; ".join(f"{name}: {mine} | {other}" for name, mine, other in unlike)
        yield f"{label} and the baseline also differ in {words}"


def _unlike(given: object) -> str:
    row = given[1]  # type: ignore[index]
    return "; ".join(f"{name}: {mine} | {other}" for name, mine, other in row.unlike)


COLUMNS = (
    *group_columns(lambda given: given[1].group),
    text("baseline", "Baseline", "the group that is subtracted", lambda given: given[0]),
    text("measure", "Measure", "what was measured", lambda given: given[1].measure),
    text("part", "Subtest", "the subtest; empty for all scored subtests, and for a burden",
         lambda given: given[1].subtest),
    text("rater", "Rater", "the judge of a burden", lambda given: given[1].rater),
    number("value", "Value", "mean over items of the group", lambda given: given[1].sides.first),
    number("baseline_value", "Baseline", "mean over items of the baseline",
           lambda given: given[1].sides.second),
    measured(DIFFERENCE, lambda given: given[1].sides.difference),
    *ends("difference_", LIKE, lambda given: given[1].sides.like.interval),
    p_value("p", "p", f"of no difference, {LIKE}", lambda given: given[1].p),
    text("test", "Test", WHOSE_P, lambda given: given[1].sides.method),
    p_value("p_adjusted", "corr.", "the same, corrected for its family",
            lambda given: given[1].adjusted),
    text("correction", "By", "how p_adjusted is corrected", lambda given: given[1].correction),
    p_value("smallest_p", "Least p",
            "the least p that sign flips over so many items or clusters can give; missing with a "
            "paired t",
            lambda given: given[1].sides.smallest_p),
    *ends("difference_these_", THESE, lambda given: given[1].sides.these.interval),
    p_value("p_these", "p these", f"of no difference, {THESE}", lambda given: given[1].p_these),
    p_value("p_these_adjusted", "corr. these",
            "the same, corrected for its family by Holm's method",
            lambda given: given[1].adjusted_these),
    text("these_reason", "Why none", f"why there is no interval for {THESE}",
         lambda given: given[1].sides.these.reason),
    whole("n_items", "Items", "that both have a value for", lambda given: given[1].sides.items),
    whole("n", "N", "responses of the group", lambda given: given[1].sides.n_first),
    whole("n_baseline", "N baseline", "responses of the baseline",
          lambda given: given[1].sides.n_second),
    text("unit", "Unit", "of the values",
         lambda given: BURDEN.unit if given[1].measure == BURDEN.id else "share"),
    text("unlike", "Also differ in", "conditions besides the examinee that the two do not share",
         _unlike),
)  # fmt: skip
"""The columns, each with its function of (baseline, difference)."""
