"""The results of a group from its summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tabwb.analysis.statistics.results import Result, Results
from tabwb.plugin_api.extensions import StatisticValue
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
)
from tabwb.report.summaries.judges import JudgeSummary
from tabwb.report.summaries.subtests import CORRECTED, Measured, Share, SubtestSummary
from tabwb.report.summaries.summary import Summary
from tabwb.scoring.burden import Usable
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimand, Estimate, EstimatedInterval, Interval
from tabwb.tasks.task_type import task_type


def results_of(summary: Summary) -> Results:
    """Return every value of a summary."""
    return Results(_rows(summary), _counts(summary), summary.judges)


def _rows(summary: Summary) -> Iterator[Result]:
    answers = summary.answers
    yield Result(WORDS_MEAN.id, answers.words_mean, n=answers.usable.usable, usable=answers.usable)
    for subtest in summary.subtests:
        yield from _of_subtest(subtest)
    for judge in summary.judges:
        yield from _of_judge(judge)
    for rater, measures in summary.others.items():
        for name, measured in measures.items():
            yield Result(name, measured.mean, rater=rater, n=measured.n, total=measured.total)
    for result in summary.statistics:
        for value in result.values:
            yield Result(
                result.statistic.id,
                Estimate(value.value, value.reason if value.value is None else ""),
                part=result.part,
                feature=value.of,
                ends=partial(_interval_of, value),
                n=value.n or 0,
                statistic=result,
            )


def _of_subtest(subtest: SubtestSummary) -> Iterator[Result]:
    own = Result("", Estimate(0.0), part=subtest.id, usable=subtest.usable)
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
            made = replace(own, measure=measure.id, value=value, policy=policy, n=of.of(policy))
            if said_yes:
                made = replace(
                    made,
                    n_items=len(said_yes.by_item[policy]),
                    total=said_yes.correct[policy],
                    ends=partial(said_yes.intervals, policy),
                )
            if measure.id == CORRECTED:
                made = replace(made, ends=lambda: subtest.chance_corrected_intervals)
            yield made
    for kind, errors in subtest.by_foil.items():
        for policy in POLICIES:
            yield replace(
                own, measure=FOIL_ERRORS.id, feature=kind, policy=policy, value=errors.rate(policy),
                ends=partial(errors.intervals, policy), n=errors.of,
                n_items=len(errors.share.by_item[policy]), total=errors.errors[policy],
            )  # fmt: skip
    for name, measured in subtest.measures.items():
        yield replace(
            own, measure=measured.measure or name, rater=measured.rater, value=measured.mean,
            n=measured.n, total=measured.total, kind=measured.kind,
        )  # fmt: skip


def _accuracies(own: Result, share: Share) -> Iterator[Result]:
    for policy in POLICIES:
        yield replace(
            own,
            measure=ACCURACY.id,
            policy=policy,
            value=share.accuracy(policy),
            ends=partial(share.intervals, policy),
            n=share.of(policy),
            n_items=len(share.by_item[policy]),
            total=share.correct[policy],
        )


def _of_judge(judge: JudgeSummary) -> Iterator[Result]:
    burden = judge.burden
    own = Result(
        BURDEN.id,
        burden.symptom_burden,
        rater=judge.rater,
        terms=judge.terms,
        n=burden.n_burden,
        n_items=len(burden.sizes),
        total=burden.found,
        usable=burden.usable,
        bounds=burden.bounds,
        ends=lambda: burden.intervals,
    )
    yield own
    for feature in judge.features:
        yield replace(
            own, measure=FEATURE_RATE.id, feature=feature, value=burden.rate(feature),
            total=burden.present[feature], bounds=burden.rate_bounds(feature),
            ends=partial(burden.rate_intervals, feature) if burden.intervals else tuple,
        )  # fmt: skip
    for name, category in burden.categories.items():
        for measure, value in (
            (CATEGORY_COUNT.id, category.count),
            (CATEGORY_RATE.id, category.rate),
        ):
            is_rate = measure == CATEGORY_RATE.id
            yield replace(
                own, measure=measure, feature=name, value=value, bounds=None, total=None,
                ends=partial(burden.category_intervals, name, rate=is_rate),
            )  # fmt: skip


def _interval_of(value: StatisticValue) -> tuple[EstimatedInterval, ...]:
    if value.low is None or value.high is None:
        return ()
    return (EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, Interval(value.low, value.high)),)


def _count(measure: str, n: float | None, why: str = "not counted", **key: Any) -> Result:
    return Result(measure, Estimate(n, why if n is None else ""), **key)


def _several(measure: str, counts: Mapping[str, float], **key: Any) -> Iterator[Result]:
    return (_count(measure, n, feature=feature, **key) for feature, n in counts.items())


def _usable(usable: Usable, **key: Any) -> Iterator[Result]:
    yield _count("responses", usable.n, **key, usable=usable)
    yield _count("usable", usable.usable, **key, usable=usable)
    yield from _several("unusable", usable.causes, **key)


def _counts(summary: Summary) -> Iterator[Result]:
    answers = summary.answers
    yield from _usable(answers.usable)
    yield from _several("status", answers.statuses)
    yield from _several("empty", answers.empty_causes)
    yield _count("distinct", answers.n_distinct, "all were named aloud")
    for name in ("inexact", "shared_streams", "repeated_draws", "with_reasoning"):
        yield _count(name, getattr(answers, name))
    for subtest in summary.subtests:
        part = subtest.id
        for name in ("planned", "answered", "repeated"):
            yield _count(name, getattr(subtest, name), part=part)
        yield _count("counted", subtest.share.n, part=part)
        yield from _usable(subtest.usable, part=part)
        yield from _several("status", subtest.statuses, part=part)
        if not subtest.share.scored:
            own = Result("", Estimate(0.0), part=part, usable=subtest.usable)
            yield from _accuracies(own, subtest.share)
        for place in subtest.positions:
            at: dict[str, Any] = {"part": part, "feature": str(place.number)}
            yield Result("position_accuracy", place.accuracy, n=place.keyed, total=place.correct,
                         **at)  # fmt: skip
            yield Result("position_share", place.share, n=place.of, total=place.chosen, **at)
        yield from _measured(subtest.measures.values(), part=part)
    for rater, measures in summary.others.items():
        named = (replace(one, rater=rater, measure=name) for name, one in measures.items())
        yield from _measured(named)
    for judge in summary.judges:
        yield from _of_judging(judge)


def _measured(measures: Iterable[Measured], **key: Any) -> Iterator[Result]:
    for one in measures:
        own = {"rater": one.rater, "feature": one.measure, **key}
        yield _count("nonzero", one.nonzero, **own)
        yield _count("undefined", one.undefined, **own)


def _of_judging(judge: JudgeSummary) -> Iterator[Result]:
    burden = judge.burden
    own: dict[str, Any] = {"rater": judge.rater, "terms": judge.terms}
    yield from _usable(burden.usable, **own)
    yield _count("distinct", burden.n_distinct, **own)
    yield Result(WORDS_MEAN.id, burden.words_mean, n=burden.usable.usable, **own)
    yield _count("features", len(burden.features), **own)
    yield _count("not_judged", judge.not_judged, **own)
    yield _count("most_features", burden.most, **own)
    yield _count("feature_correlation", burden.feature_correlation, **own)
    yield from _several("no_burden", burden.no_burden, **own)
    yield from _several("other_prompts", judge.other_prompts, **own)
    for name, category in burden.categories.items():
        yield _count("category_size", category.of, feature=name, **own)
