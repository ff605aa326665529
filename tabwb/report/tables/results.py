"""The table of results: one row for each group and measure, with its intervals.

All other tables, figures and reports of groups are cut from it, or made from the same summaries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tabwb.analysis.grouping import Grouped
from tabwb.analysis.keys import key_of
from tabwb.plugin_api.extensions import StatisticValue
from tabwb.records.condition_kinds import ColumnType
from tabwb.report.measures import (
    ACCURACY,
    BURDEN,
    CATEGORY_COUNT,
    CATEGORY_RATE,
    FEATURE_RATE,
    FOIL_ERRORS,
    SUBTEST_MEASURES,
    WORDS_MEAN,
    YES_RATE,
    measure_of,
)
from tabwb.report.summaries.judges import JudgeSummary
from tabwb.report.summaries.subtests import CORRECTED, Share, SubtestSummary
from tabwb.report.tables.declared import LIKE, THESE, ends, number, text, truth, whole
from tabwb.scoring.burden import Usable
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimand, Estimate, EstimatedInterval, Interval
from tabwb.tables.table import Column, RecordColumn, Series, Table, records_table
from tabwb.tasks.task_type import task_type

NOTES = (
    "One row for each group and measure. low and high are the ends of the 95 % interval for "
    "prompts like these, these_low and these_high for exactly these prompts; without a value they "
    "are missing, and reason says why a value is.",
)


@dataclass(frozen=True, slots=True)
class Result:
    """One value of a group.

    Attributes:
        part: the subtest's id; empty for a value over all responses.
        rater: who gave the ratings; empty where there is none.
        measure, feature, policy: what was measured, of which feature, category, tag or kind of
            foil (else empty), and under which policy (else empty).
        n: responses with a value; n_items: the items that they belong to, None where not counted.
        usable: of the responses that the measure is about.
        unit: of the value; None: that of the measure's declaration.
    """

    row: Grouped
    measure: str
    value: Estimate
    part: str = ""
    rater: str = ""
    feature: str = ""
    policy: str = ""
    intervals: tuple[EstimatedInterval, ...] = ()
    n: int = 0
    n_items: int | None = None
    usable: Usable | None = None
    bounds: Interval | None = None
    unit: str | None = None


def results_table(rows: Sequence[Grouped]) -> Table:
    """Return every value of groups as a table: :data:`COLUMNS`, then a column for each key."""
    columns = (*COLUMNS, *_key_columns(rows))
    return records_table(
        "results", columns, (found for row in rows for found in results_of(row)), NOTES
    )


def _key_columns(rows: Sequence[Grouped]) -> Iterator[RecordColumn]:
    """Yield ``by_KEY``, the value of each key by which the groups were made."""
    for at, id_ in enumerate(rows[0].group.keys if rows and rows[0].group.values else ()):
        key = key_of(id_)
        found = [row.group.values[at].value for row in rows]
        number: ColumnType = "integer" if all(isinstance(one, int) for one in found) else "number"
        texts = key.kind != "number" or any(isinstance(one, str) for one in found)
        yield RecordColumn(
            Column(f"by_{id_.replace('-', '_')}", key.title.capitalize(), key.meaning,
                   "text" if texts else number),
            _key_value(at, texts=texts),
        )  # fmt: skip


def _key_value(at: int, *, texts: bool) -> Any:
    def value(result: Result) -> object:
        found = result.row.group.values[at].value
        return found if found is None or not texts else str(found)

    return value


def results_of(row: Grouped) -> Iterator[Result]:
    """Yield every value of a group."""
    answers = row.summary.answers
    yield Result(
        row, WORDS_MEAN.id, answers.words_mean, n=answers.usable.usable, usable=answers.usable
    )
    for subtest in row.summary.subtests:
        yield from _of_subtest(row, subtest)
    for judge in row.summary.judges:
        yield from _of_judge(row, judge)
    for rater, measures in row.summary.others.items():
        for name, measured in measures.items():
            yield Result(row, name, measured.mean, rater=rater, n=measured.n)
    for result in row.summary.statistics:
        for value in result.values:
            yield Result(
                row,
                result.statistic.id,
                Estimate(value.value, value.reason if value.value is None else ""),
                part=result.part,
                feature=value.of,
                intervals=_interval_of(value),
                n=value.n or 0,
                unit=result.statistic.unit,
            )


def _of_subtest(row: Grouped, subtest: SubtestSummary) -> Iterator[Result]:
    own = Result(row, "", Estimate(0.0), part=subtest.id, usable=subtest.usable)
    if subtest.share.scored:
        yield from _accuracies(own, subtest.share)
        for tag, share in subtest.by_tag.items():
            yield from _accuracies(replace(own, feature=tag), share)
        for name, baseline in subtest.baselines.items():
            yield replace(own, measure=name, value=baseline, n=subtest.share.n)
    for measure in SUBTEST_MEASURES:
        if not subtest.share.scored or (measure.yes_no and not task_type(subtest.kind).answers):
            continue
        said_yes = subtest.said_yes if measure is YES_RATE else None
        for policy, value in subtest.estimates.get(measure.id, {}).items():
            of = said_yes or subtest.share
            intervals = said_yes.intervals(policy) if said_yes else ()
            if measure.id == CORRECTED:
                intervals = subtest.chance_corrected_intervals
            yield replace(
                own, measure=measure.id, value=value, policy=policy, n=of.of(policy),
                intervals=intervals,
                n_items=len(said_yes.by_item[policy]) if said_yes else None,
            )  # fmt: skip
    for kind, errors in subtest.by_foil.items():
        for policy in POLICIES:
            yield replace(
                own, measure=FOIL_ERRORS.id, feature=kind, policy=policy, value=errors.rate(policy),
                intervals=errors.intervals(policy), n=errors.of,
                n_items=len(errors.share.by_item[policy]),
            )  # fmt: skip
    for name, measured in subtest.measures.items():
        yield replace(
            own, measure=measured.measure or name, rater=measured.rater, value=measured.mean,
            n=measured.n,
        )  # fmt: skip


def _accuracies(own: Result, share: Share) -> Iterator[Result]:
    for policy in POLICIES:
        yield replace(
            own,
            measure=ACCURACY.id,
            policy=policy,
            value=share.accuracy(policy),
            intervals=share.intervals(policy),
            n=share.of(policy),
            n_items=len(share.by_item[policy]),
        )


def _of_judge(row: Grouped, judge: JudgeSummary) -> Iterator[Result]:
    burden = judge.burden
    own = Result(
        row,
        BURDEN.id,
        burden.symptom_burden,
        rater=judge.terms.rater,
        intervals=burden.intervals,
        n=burden.n_burden,
        n_items=len(burden.sizes),
        usable=burden.usable,
        bounds=burden.bounds,
    )
    yield own
    for feature in judge.features:
        intervals = burden.rate_intervals(feature) if burden.intervals else ()
        yield replace(
            own, measure=FEATURE_RATE.id, feature=feature, value=burden.rate(feature),
            intervals=intervals, bounds=burden.rate_bounds(feature),
        )  # fmt: skip
    for name, category in burden.categories.items():
        for measure, value in (
            (CATEGORY_COUNT.id, category.count),
            (CATEGORY_RATE.id, category.rate),
        ):
            intervals = burden.category_intervals(name, rate=measure == CATEGORY_RATE.id)
            yield replace(
                own, measure=measure, feature=name, value=value, intervals=intervals, bounds=None
            )


def _interval_of(value: StatisticValue) -> tuple[EstimatedInterval, ...]:
    if value.low is None or value.high is None:
        return ()
    return (EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, Interval(value.low, value.high)),)


def _interval(which: int) -> Callable[[Result], Interval | None]:
    return lambda result: (
        result.intervals[which].interval if len(result.intervals) > which else None
    )


def _of(name: str, field: str) -> Callable[[Result], Any]:
    return lambda result: None if (own := getattr(result, name)) is None else getattr(own, field)


def _unit(result: Result) -> str:
    return measure_of(result.measure).unit if result.unit is None else result.unit


COLUMNS = (
    text("group", "Group", "the name of the group", "row.label"),
    text("by", "By", "what the administrations of a group have in common", "row.group.by"),
    text("battery", "Battery", "the battery's id", "row.battery.id"),
    text("battery_version", "Version", "the battery's version", "row.battery.version"),
    text("part", "Subtest", "the subtest; empty for a value over all responses"),
    text("rater", "Rater", "who gave the ratings, where it is not the subtest's first scorer"),
    text("measure", "Measure", "what was measured"),
    text("feature", "Feature", "the feature, category, tag or kind of foil"),
    text("policy", "Policy", "how exactly answers must match: exact, normalised, extracted"),
    number("value", "Value", "the estimate", "value.value"),
    *ends("", LIKE, _interval(0)),
    *ends("these_", THESE, _interval(1)),
    number("bound_low", "Lower bound", "if no unusable response had a feature; where more than "
           "a tenth are unusable", _of("bounds", "low")),
    number("bound_high", "Upper bound", "if each of these had all features",
           _of("bounds", "high")),
    RecordColumn(Column("unit", "Unit", "of the value"), _unit),
    whole("n", "N", "responses behind the value"),
    whole("n_items", "Items", "items that these responses answer"),
    whole("n_usable", "Usable", "usable responses of those the measure is about",
          _of("usable", "usable")),
    whole("n_responses", "Of", "responses that the measure is about", _of("usable", "n")),
    truth("few_usable", "Few usable", "fewer than half are usable: not to be ranked",
          _of("usable", "few")),
    text("status", "Status", "value or undefined",
         lambda result: "value" if result.value.defined else "undefined"),
    text("reason", "Reason", "why the value is undefined", "value.reason"),
)  # fmt: skip
"""The columns, each with the function that takes its value from a :class:`Result`."""

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
