"""From the records of an administration to its results as they are shown."""

from __future__ import annotations

from tabwb.records.trials import Trial
from tabwb.report.cautions import cautions
from tabwb.report.load import Loaded
from tabwb.report.subtests import SubtestSummary
from tabwb.report.summary import summarise
from tabwb.report.wording import baselines_of, between, count, remarks, right_of
from tabwb.workbench.describe import item_of, mark_of, scores_of
from tabwb.workbench.snapshots import ResponseRow, Results, SubtestRow


def results_of(one: Loaded, *, interval: bool = True) -> Results:
    """Everything that the results page shows.

    Args:
        one: the administration with its battery and trials.
        interval: bootstrap the burden too.
    """
    conditions = one.administration.conditions
    summary = summarise(
        one.battery,
        one.trials,
        conditions,
        declarations=one.declarations,
        judged=one.judged,
        interval=interval,
    )
    return Results(
        administration=one.administration,
        disclaimer=one.battery.disclaimer,
        version=one.battery.version,
        subtests=tuple(_row(subtest) for subtest in summary.subtests),
        scores=scores_of(one.battery, one.trials, summary, person=conditions.kind == "speaker"),
        responses=tuple(_response(one, trial) for trial in one.trials),
        cautions=tuple(cautions(one.battery, summary, model=conditions.kind == "model")),
    )


def _response(one: Loaded, trial: Trial) -> ResponseRow:
    subtest = one.battery.subtest(trial.plan.subtest)
    mark = mark_of(trial, subtest.scorers)
    return ResponseRow(
        item=item_of(one.battery, one.administration.conditions, trial, one.trials),
        verdict="not given" if mark == "not-administered" else mark,
        glyph=mark,
        notes=trial.notes,
    )


def _row(subtest: SubtestSummary) -> SubtestRow:
    share, right, notes = subtest.share, right_of(subtest), tuple(remarks(subtest))
    if not share.scored:
        return SubtestRow(subtest.title, right, "", "", "", "", notes)
    return SubtestRow(
        title=subtest.title,
        right=right,
        interval=between(share.interval()),
        normalised=count(share.correct["normalised"]),
        extracted=count(share.correct["extracted"]),
        baseline=baselines_of(subtest),
        notes=notes,
    )
