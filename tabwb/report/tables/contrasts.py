"""The tables of differences on the same items: two sides, groups less one, base and instruct."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tabwb.analysis.contrast import Compared, Contrast, Difference, Pair, Unlike, against
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.paired import AGREE, WHOSE_P
from tabwb.report.measures import BURDEN, DIFFERENCE
from tabwb.report.tables.captioned import Captioned, Footnote
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
from tabwb.scoring.detectable import simulated_test
from tabwb.scoring.estimate import Estimand
from tabwb.tables.table import Table, records_table


class Of(NamedTuple):
    """One measure of a pair of sides; the group is the first side, where it is one."""

    pair: Compared
    row: Contrast
    group: Grouped | None = None
    name: str = ""


def differences_table(difference: Difference) -> Table:
    """Return the accuracies, burdens and features of two sides, over their common items."""
    found = difference.found
    notes = [f"{rater} is left out: {why}" for rater, why in found.left_out]
    if found.unlike:
        unlike = (f"{name}: {first} and {second}" for name, first, second in found.unlike)
        notes.append(f"The sides also differ in {'; '.join(unlike)}.")
    return records_table("differences", DIFFERENCES, _of([found]), notes)


def against_table(rows: Sequence[Grouped], name: str) -> Table:
    """Return every group less the baseline as a table."""
    baseline, others, found = against(rows, name)
    records = [
        Of(one, row, group) for group, one in zip(others, found, strict=True) for row in one.rows
    ]
    order = {subtest.id: at for at, subtest in enumerate(baseline.battery.subtests)}
    records.sort(key=lambda of: order.get(of.row.subtest, -1))
    families = list(dict.fromkeys(map(_family, records)))
    records.sort(key=lambda of: families.index(_family(of)))
    notes = (
        f"Differences are group - baseline; the baseline is {baseline.label}. Responses to an item "
        "are averaged first; only items that both have count. Burdens are compared only if the "
        "same rater judged both over the same features, in the same scope, with the same prompt.",
        "The interval, p and corr. (p_adjusted) are for prompts like these, by sign flips over "
        "items, or by paired t with the interval's standard error where the sides have unequal "
        "numbers of replicates; those with 'these' in their titles are for exactly these "
        f"prompts, by labels within items. {AGREE}. "
        "A family is one measure over all groups; subtests by themselves are a family over groups "
        "and subtests.",
        *(
            f"{one.first} and the baseline also differ in {_unlike(one.unlike)}"
            for one in found
            if one.unlike
        ),
        *(
            f"left out: {row.label}: another battery or version"
            for row in rows
            if row.battery.content_hash != baseline.battery.content_hash
        ),
        *(f"left out: {one.first}, {who}: {why}" for one in found for who, why in one.left_out),
    )
    return records_table("group-differences", AGAINST, records, notes)


def pairs_table(pairs: Sequence[Pair], name: Callable[[str], str] = str) -> Captioned | None:
    """Return the differences of base and instruct models; None where no pair can be compared."""
    titles = [f"{name(pair.found.first)} - {name(pair.found.second)}" for pair in pairs]
    records = [
        Of(pair.found, row, name=title)
        for pair, title in zip(pairs, titles, strict=True)
        for row in pair.found.rows
    ]
    if not records:
        return None
    notes = [
        "Differences are means over items. Their intervals are paired t intervals over items, "
        "at least as wide as the draws alone make them."
    ]
    for pair, title in zip(pairs, titles, strict=True):
        if names := [name for name, _, _ in pair.found.unlike]:
            differ = "differs" if len(names) == 1 else "differ"
            notes.append(f"{title}: not comparable, {', '.join(names)} {differ} too.")
    caption = "Base and instruct models of one family and size, over the items that both have."
    made = records_table("base_instruct", BASE_INSTRUCT, records)
    return Captioned(made, caption, tuple(map(Footnote, notes)))


def _of(compared: Iterable[Compared]) -> Iterator[Of]:
    return (Of(one, row) for one in compared for row in one.rows)


def _family(of: Of) -> tuple[str, str, bool]:
    return of.row.measure.id, of.row.judge, bool(of.row.subtest)


def _unlike(unlike: Unlike) -> str:
    return "; ".join(f"{name}: {mine} | {other}" for name, mine, other in unlike)


def _correction(of: Of) -> str:
    over = "groups and subtests" if of.row.subtest else "groups"
    return of.row.like.correction and f"{of.row.like.correction} over {over}"


# ------------------------------------------------------------------ columns


_LIKE, _THESE = "row.like.interval.interval", "row.these.interval.interval"
_LEAST = (
    "the least p that sign flips over so many items or clusters can give; missing with a paired t"
)
DIFFERENCES = (
    text("first", "First", "the first side", "pair.first"),
    text("second", "Second", "the second side", "pair.second"),
    text("measure", "Measure", "its id, as in the table of results", "row.measure.id"),
    text("part", "Subtest", "missing: all together", "row.subtest"),
    text("rater", "Rater", "who gave the ratings", "row.rater"),
    text("policy", "Policy", "of an accuracy", "row.policy"),
    text("feature", "Feature", "of a rate", "row.feature"),
    whole("n_items", "Items", "items that both sides have a value for", "row.sides.items"),
    number("first_value", "First", "mean over these items, first side", "row.sides.first",
           digits=3),
    number("second_value", "Second", "mean over these items, second side", "row.sides.second",
           digits=3),
    number("difference", "Difference", "first minus second", "row.sides.difference", digits=3),
    *ends("", LIKE, _LIKE, 3),
    p_value("p", "p", LIKE, "row.like.p"),
    text("test", "Test", WHOSE_P, "row.like.test"),
    p_value("p_adjusted", "p adjusted", f"for the other tests of its family, {LIKE}",
            "row.like.adjusted"),
    *ends("these_", THESE, _THESE, 3),
    p_value("these_p", "p", THESE, "row.these.p"),
    p_value("these_p_adjusted", "p adjusted", f"for the other tests, {THESE}",
            "row.these.adjusted"),
    p_value("smallest_p", "Smallest p", _LEAST, "row.sides.smallest_p"),
    number("smallest_difference", "Detectable", "smallest difference from the first side's mean "
           "that is found in 4 of 5 simulated studies by "
           f"{simulated_test(Estimand.PROMPTS_LIKE_THESE)}: the larger p is below .05",
           "row.showable.value", digits=3),
)  # fmt: skip
"""The columns of :func:`differences_table`."""
AGAINST = (
    *group_columns("group"),
    text("baseline", "Baseline", "the group that is subtracted", "pair.second"),
    text("measure", "Measure", "what was measured", "row.measure.id"),
    text("part", "Subtest", "the subtest; empty for all scored subtests, and for a burden",
         "row.subtest"),
    text("rater", "Rater", "the judge of a burden", "row.judge"),
    number("value", "Value", "mean over items of the group", "row.sides.first"),
    number("baseline_value", "Baseline", "mean over items of the baseline", "row.sides.second"),
    measured(DIFFERENCE, "row.sides.difference"),
    *ends("difference_", LIKE, _LIKE),
    p_value("p", "p", f"of no difference, {LIKE}", "row.like.p"),
    text("test", "Test", WHOSE_P, "row.like.test"),
    p_value("p_adjusted", "corr.", "the same, corrected for its family", "row.like.adjusted"),
    text("correction", "By", "how p_adjusted is corrected", _correction),
    p_value("smallest_p", "Least p", _LEAST, "row.sides.smallest_p"),
    *ends("difference_these_", THESE, _THESE),
    p_value("p_these", "p these", f"of no difference, {THESE}", "row.these.p"),
    p_value("p_these_adjusted", "corr. these",
            "the same, corrected for its family by Holm's method",
            "row.these.adjusted"),
    text("these_reason", "Why none", f"why there is no interval for {THESE}",
         "row.these.interval.reason"),
    whole("n_items", "Items", "that both have a value for", "row.sides.items"),
    whole("n", "N", "responses of the group", "row.sides.n_first"),
    whole("n_baseline", "N baseline", "responses of the baseline", "row.sides.n_second"),
    text("unit", "Unit", "of the values", lambda of: BURDEN.unit if of.row.terms else "share"),
    text("unlike", "Also differ in", "conditions besides the examinee that the two do not share",
         lambda of: _unlike(of.pair.unlike)),
)  # fmt: skip
"""The columns of :func:`against_table`."""
BASE_INSTRUCT = (
    text("pair", "Base - instruct", "the names of the two models", "name"),
    text("measure", "Measure", "symptom burden, or accuracy under the policy exact",
         "row.measure.title"),
    text("part", "Subtest or judge", "the subtest of an accuracy, the judge of a burden",
         lambda of: of.row.title or of.row.rater),
    whole("items", "Items", "items for which both have a value", "row.sides.items"),
    number("base", "Base", "mean over these items", "row.sides.first"),
    number("instruct", "Instruct", "mean over these items", "row.sides.second"),
    number("difference", "Difference", "base - instruct, mean over these items",
           "row.sides.of_means"),
    *ends("difference_", LIKE, _LIKE),
)  # fmt: skip
"""The columns of :func:`pairs_table`."""
