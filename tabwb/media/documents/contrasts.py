"""Differences on the same items as a table and as JSON: two sides, groups less one, pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from tabwb.analysis.contrast import (
    Compared,
    Difference,
    Pair,
    Unlike,
    against,
    family_of,
    showable,
)
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.measures import BURDEN, DIFFERENCE
from tabwb.analysis.paired import AGREE, WHOSE_P, Contrast
from tabwb.analysis.plain import Json, picked, plain
from tabwb.analysis.tables.captioned import Captioned, Footnote
from tabwb.analysis.tables.declared import (
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
from tabwb.media.documents.document import interval_json
from tabwb.scoring.detectable import simulated_test
from tabwb.scoring.estimate import Estimand
from tabwb.tables.table import Table, records_table


class Of(NamedTuple):
    """One measure of a pair of sides; the group is the first side, where it is one."""

    pair: Compared
    row: Contrast
    group: Grouped | None = None


def differences_table(difference: Difference) -> Table:
    """Return the accuracies, burdens and features of two sides, over their common items."""
    found = difference.found
    notes = [f"{rater} is left out: {why}" for rater, why in found.left_out]
    if found.unlike:
        unlike = (f"{name}: {first} and {second}" for name, first, second in found.unlike)
        notes.append(f"The sides also differ in {'; '.join(unlike)}.")
    return records_table("differences", TWO_SIDES, _of([found]), notes)


def against_table(rows: Sequence[Grouped], name: str) -> Table:
    """Return every group less the baseline as a table."""
    baseline, others, found = against(rows, name)
    records = _of(found, others)
    order = {subtest.id: at for at, subtest in enumerate(baseline.battery.subtests)}
    records.sort(key=lambda of: order.get(of.row.subtest, -1))
    families = list(dict.fromkeys(family_of(of.row) for of in records))
    records.sort(key=lambda of: families.index(family_of(of.row)))
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
    found = [
        replace(pair.found, first=name(pair.found.first), second=name(pair.found.second))
        for pair in pairs
    ]
    notes = [
        "Differences are means over items. Their intervals are paired t intervals over items, "
        "at least as wide as the draws alone make them.",
        *(
            f"{one.first} - {one.second}: not comparable, {', '.join(names)} "
            f"{'differs' if len(names) == 1 else 'differ'} too."
            for one in found
            if (names := [name for name, _, _ in one.unlike])
        ),
    ]
    made = records_table("base_instruct", TWO_SIDES, _of(found))
    if not len(made):
        return None
    caption = "Base and instruct models of one family and size, over the items that both have."
    return Captioned(made.select(IN_REPORTS), caption, tuple(map(Footnote, notes)))


def _of(compared: Iterable[Compared], groups: Iterable[Grouped] = ()) -> list[Of]:
    pairs = zip_longest(compared, groups)
    return [Of(one, row, group) for one, group in pairs for row in one.rows]


def _unlike(unlike: Unlike) -> str:
    return "; ".join(f"{name}: {mine} | {other}" for name, mine, other in unlike)


def _correction(of: Of) -> str:
    over = "groups and subtests" if of.row.subtest else "groups"
    return of.row.like.correction and f"{of.row.like.correction} over {over}"


_BASELINE = text("baseline", "Baseline", "the group that is subtracted", "pair.second")
_WHAT = (
    text("measure", "Measure", "what was measured", "row.measure.id"),
    text("part", "Subtest", "the subtest; empty for all scored subtests, and for a burden",
         "row.subtest"),
)  # fmt: skip
_VALUES = (
    number("value", "Value", "mean over items of the group", "row.first"),
    number("baseline_value", "Baseline", "mean over items of the baseline", "row.second"),
    measured(DIFFERENCE, "row.difference"),
    *ends("difference_", LIKE, "row.like.interval.interval"),
    p_value("p", "p", f"of no difference, {LIKE}", "row.like.p"),
    text("test", "Test", WHOSE_P, "row.like.test"),
    p_value("p_adjusted", "corr.", "the same, corrected for its family", "row.like.adjusted"),
    text("correction", "By", "how p_adjusted is corrected", _correction),
    p_value("smallest_p", "Least p", "the least p that sign flips over so many items or clusters "
            "can give; missing with a paired t", "row.smallest_p"),
    *ends("difference_these_", THESE, "row.these.interval.interval"),
    p_value("p_these", "p these", f"of no difference, {THESE}", "row.these.p"),
    p_value("p_these_adjusted", "corr. these",
            "the same, corrected for its family by Holm's method",
            "row.these.adjusted"),
    text("these_reason", "Why none", f"why there is no interval for {THESE}",
         "row.these.interval.reason"),
    whole("n_items", "Items", "that both have a value for", "row.items"),
    whole("n", "N", "responses of the group", "row.n_first"),
    whole("n_baseline", "N baseline", "responses of the baseline", "row.n_second"),
    text("unit", "Unit", "of the values", lambda of: BURDEN.unit if of.row.terms else "share"),
    text("unlike", "Also differ in", "conditions besides the examinee that the two do not share",
         lambda of: _unlike(of.pair.unlike)),
)  # fmt: skip
AGAINST = (
    *group_columns("group"), _BASELINE, *_WHAT,
    text("rater", "Rater", "the judge of a burden", "row.judge"), *_VALUES,
)  # fmt: skip
"""The columns of :func:`against_table`."""
SIDES = (
    text("group", "First", "the first side", "pair.first"),
    text("baseline", "Second", "the second side, which is subtracted", "pair.second"), *_WHAT,
    text("rater", "Rater", "who gave the ratings", "row.rater"),
    text("policy", "Policy", "of an accuracy", "row.policy"),
    text("feature", "Feature", "of a rate", "row.feature"), *_VALUES,
)  # fmt: skip
TWO_SIDES = (
    *SIDES,
    number("smallest_difference", "Detectable", "smallest difference from the first side's mean "
           "that is found in 4 of 5 simulated studies by "
           f"{simulated_test(Estimand.PROMPTS_LIKE_THESE)}: the larger p is below .05",
           lambda of: showable(of.row).value, digits=3),
)  # fmt: skip
"""The columns of :func:`differences_table`."""
IN_REPORTS = (
    "group", "baseline", "measure", "part", "rater", "n_items", "value", "baseline_value",
    "difference", "difference_low", "difference_high",
)  # fmt: skip
"""The columns of :func:`pairs_table`."""


# ------------------------------------------------------------------ JSON


def difference_json(difference: Difference) -> Json:
    """Return what ``diff`` prints with ``--json``; what is undefined is None."""
    found = difference.found
    named: list[Json] = []
    if difference.named:
        from tabwb.media.documents.naming_document import naming_difference_json

        named = list(map(naming_difference_json, difference.named))
    return {
        **picked(found, "first", "second"),
        "compared": [_compared(row) for row in found.rows],
        "items": plain(difference.items),
        **_of_sides(found, "first", "second"),
        **({"naming": named} if named else {}),
    }


def pair_json(pair: Pair) -> Json:
    """Return a base and an instruct model."""
    return {
        "parameters": int(pair.parameters) if pair.parameters.isdecimal() else None,
        **picked(pair, "battery", "family", "lesion"),
        "base": pair.found.first,
        "instruct": pair.found.second,
        **picked(pair, "base_from", "instruct_from", "unsaid"),
        "differences": [_gap(row) for row in pair.found.rows],
        **_of_sides(pair.found, "base", "instruct"),
    }


def mean_json(mean: Contrast) -> Json:
    """Return a mean over families."""
    return {
        **_measured(mean),
        **picked(mean, "families", "items", "difference"),
        **interval_json(mean.like.interval),
    }


def _of_sides(found: Compared, *names: str) -> Json:
    return {
        "left_out": [{"rater": rater, "reason": why} for rater, why in found.left_out],
        "unlike": {name: dict(zip(names, values, strict=True)) for name, *values in found.unlike},
        "shared_streams": dict(zip(names, (n for n, _ in found.shared_streams), strict=True)),
    }


def _measured(row: Contrast) -> Json:
    return {
        "measure": row.measure.title, "subtest": row.subtest or None, "rater": row.rater or None
    }  # fmt: skip


def _terms(row: Contrast) -> Json:
    terms = row.terms
    return {
        "features": [] if terms is None else list(terms.features),
        "scope": None if terms is None else terms.scope,
        "prompt_hash": None if terms is None else terms.prompt_hash,
    }


def _usable(row: Contrast) -> Json:
    return {
        "usable": [usable.to_json() for usable in row.usable],
        "status": "undefined" if row.difference is None else "value",
    }


def _compared(row: Contrast) -> Json:
    least, like = showable(row), row.like
    return {
        **_measured(row),
        "policy": row.policy or None,
        "feature": row.feature or None,
        **picked(row, "items", "first", "second", "difference", "smallest_p", "items_left_out"),
        **_terms(row),
        "p": like.p,
        "test": like.test or None,
        "smallest_difference": least.value,
        "smallest_difference_reason": least.reason,
        "smallest_difference_test": (
            simulated_test(Estimand.PROMPTS_LIKE_THESE) if least.defined else None
        ),
        "estimates": [
            {
                **interval_json(tested.interval),
                "p": tested.p,
                "test": tested.test or None,
                "p_adjusted": tested.adjusted,
                "correction": tested.correction or None,
            }
            for tested in (like, row.these)
        ],
        **_usable(row),
    }


def _gap(row: Contrast) -> Json:
    intervals = [interval_json(tested.interval) for tested in (row.like, row.these)]
    usable = _usable(row)
    return {
        **_measured(row),
        **_terms(row),
        "base": row.first,
        "instruct": row.second,
        "n_base": row.n_first,
        "n_instruct": row.n_second,
        "difference": row.difference,
        "items": row.items,
        "usable": usable["usable"],
        **{name: intervals[0][name] for name in ("interval", "interval_reason")},
        "intervals": intervals,
        "status": usable["status"],
    }
