"""Judges measured against people, changes between versions, error rates without a known truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from rich.console import Group, RenderableType

from tabwb.agreement.calibration import Calibration
from tabwb.records.words import NONE
from tabwb.report.render.agreement.cells import ends, grouped, remarks, rounded, share, short_names
from tabwb.report.render.printing import ForWidth, table
from tabwb.report.render.wording import chance, figure
from tabwb.report.summaries.agreement.judged import Drift, JudgeAgreement
from tabwb.report.summaries.agreement.rated import Measure
from tabwb.report.summaries.agreement.report import AgreementReport
from tabwb.scoring.estimate import Interval

WIDE = 120
FEATURE = 26
"""Columns of characters for the feature and its prevalence."""
LEAST, LONGEST = 9, 13
"""Columns of characters that the error rates, and the name, of a rater take."""


def calibration_views(report: AgreementReport) -> Iterator[RenderableType]:
    """Yield the calibration of each judge against the consensus."""
    names = short_names(report)
    judges = report.judges or report.alone
    for judge in judges:
        yield ForWidth(partial(_calibration, judge, names[judge.judge], report.rated.features))
    if judges:
        who, task = judges[0].reference, report.task
        resampled = task is not None and task.speakers is not None and task.draws
        yield from remarks(
            [
                f"Against {who}: +/+ both say present, +/- the judge alone, -/+ {who} alone, -/- "
                f"neither. Sensitivity: of what {who} calls present; specificity: of what is "
                "called absent; with 95 % intervals "
                + ("(speakers resampled)." if resampled else "(Jeffreys)."),
                *(_without(one, names[one.judge], report.rated.features) for one in judges),
            ]
        )
    for drift in report.drifts:
        yield _drift(drift, f"{names[drift.first]} to {names[drift.second]}", report.rated.features)
    if report.drifts:
        yield from remarks(
            [
                "appeared: absent by the first, present by the second version. p: McNemar's exact "
                "test, one for each feature, not adjusted."
            ]
        )


def _calibration(
    judge: JudgeAgreement, name: str, measures: Sequence[Measure], width: int
) -> RenderableType:
    wide = width >= WIDE
    headings = ["+/+", "+/-", "-/+", "-/-", "sensitivity", "specificity"]
    headings += ["pos. pred. value", "neg. pred. value"] if wide else []
    title = f"calibration of {name}"
    made = table(*headings, first="feature", title=title)
    for measure, one in zip(measures, judge.calibration, strict=True):
        counts = _counts(one)
        if not any(counts):
            continue
        shares = [one.sensitivity, one.specificity]
        shares += [one.positive_predictive_value, one.negative_predictive_value] if wide else []
        made.add_row(measure.title, *map(str, counts), *map(share, shares))
    return made


def _counts(one: Calibration) -> tuple[int, int, int, int]:
    return one.true_positives, one.false_positives, one.false_negatives, one.true_negatives


def _without(judge: JudgeAgreement, name: str, measures: Sequence[Measure]) -> str:
    """Return which features a judge does not rate where they have a reference, or nothing."""
    pairs = zip(measures, judge.calibration, strict=True)
    titles = [measure.title for measure, one in pairs if not any(_counts(one))]
    return f"Not rated by {name}, or by {judge.reference}: {', '.join(titles)}." if titles else ""


def _drift(drift: Drift, names: str, measures: Sequence[Measure]) -> RenderableType:
    title = f"changes from {names}"
    made = table("n", "appeared", "vanished", "changed", "p", first="feature", title=title)
    for measure, one in zip(measures, drift.features, strict=True):
        cells = str(one.n), str(one.appeared), str(one.vanished), figure(one.changed)
        made.add_row(measure.title, *cells, chance(None if one.test is None else one.test.p))
    return made


def error_rate_views(report: AgreementReport, *, details: bool) -> Iterator[RenderableType]:
    """Yield sensitivity and specificity of every rater by the model of Dawid and Skene."""
    rates = report.error_rates
    if rates is None:
        return
    yield _detailed(report) if details else ForWidth(partial(_rates, report))
    undefined = [
        (measure.title, reason)
        for measure, reason in zip(report.rated.features, rates.reasons, strict=True)
        if reason
    ]
    unsettled = [
        measure.title
        for measure, reason, same in zip(
            report.rated.features, rates.reasons, rates.same_maximum.tolist(), strict=True
        )
        if not reason and same < 2
    ]
    moving = [
        measure.title
        for measure, reason, converged in zip(
            report.rated.features, rates.reasons, rates.converged.tolist(), strict=True
        )
        if not reason and not converged
    ]
    yield from remarks(
        [
            "sensitivity/specificity of each rater, estimated from the ratings alone (Dawid and "
            "Skene 1979; errors of raters are taken as independent: raters who misread the same "
            "guideline alike get rates that are too good)."
            + ("" if details else " Intervals: --details."),
            f"Undefined ({'; '.join(grouped(undefined))})." if undefined else "",
            f"Only one of {rates.starts} starts found the maximum: {', '.join(unsettled)}."
            if unsettled
            else "",
            f"The estimates still changed in the last step: {', '.join(moving)}." if moving else "",
        ]
    )


def _rates(report: AgreementReport, width: int) -> RenderableType:
    """Return as many raters side by side as there is room for, the others below."""
    rates = report.error_rates
    assert rates is not None
    whole = list(short_names(report).values())
    if FEATURE + sum(max(len(name), LEAST) + 2 for name in whole) <= width:
        names, each = whole, len(whole)
    else:
        names = _columns(whole)
        each = max(1, (width - FEATURE) // (max(map(len, names)) + 1))
    blocks: list[RenderableType] = []
    for first in range(0, len(names), each):
        shown = range(first, min(first + each, len(names)))
        title = "" if first else "error rates without a known truth"
        made = table("p", *(names[who] for who in shown), first="feature", title=title)
        for at, measure in enumerate(report.rated.features):
            cells = [
                NONE
                if np.isnan(rates.sensitivity[at, who])
                else f"{rounded(rates.sensitivity[at, who])}/{rounded(rates.specificity[at, who])}"
                for who in shown
            ]
            made.add_row(measure.title, rounded(rates.prevalence[at]), *cells)
        blocks.append(made)
    return Group(*blocks)


def _columns(names: Iterable[str]) -> list[str]:
    """Return names that fit above a column; of those that begin alike the end, else a number.

    >>> _columns(["R1", "tab-2026:judge-v1", "tab-2026:judge-v2"])
    ['       R1', '…026:judge-v1', '…026:judge-v2']
    """
    whole = list(names)
    ways = (
        [f"{name[: LONGEST - 1]}…" for name in whole],
        [f"…{name[1 - LONGEST :]}" for name in whole],
        [f"{name[: LONGEST - 4]}… {number}" for number, name in enumerate(whole, start=1)],
    )
    for way in ways:
        shown = [
            f"{name:>{LEAST}}" if len(name) <= LONGEST else short
            for name, short in zip(whole, way, strict=True)
        ]
        if len(set(shown)) == len(shown):
            break
    return shown


def _detailed(report: AgreementReport) -> RenderableType:
    rates = report.error_rates
    assert rates is not None
    made = table(
        *("sens.", "95 %", "spec.", "95 %"),
        first=("feature", "rater"),
        title="error rates without a known truth",
    )
    for at, measure in enumerate(report.rated.features):
        for who, rater in enumerate(report.rated.raters):
            cells: list[str] = []
            for values, limits in (
                (rates.sensitivity, rates.sensitivity_ends),
                (rates.specificity, rates.specificity_ends),
            ):
                low, high = limits[at, who].tolist()
                interval = None if np.isnan(low) else Interval(low, high)
                cells += [rounded(values[at, who]), ends(interval)]
            made.add_row("" if who else measure.title, rater, *cells)
    return made
