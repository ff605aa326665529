"""From the records of an administration to its results as they are shown."""

from __future__ import annotations

from collections.abc import Iterator

from tabwb.records.states import ResponseKind
from tabwb.records.trials import Trial
from tabwb.records.words import MODEL_CAUTION, RESEARCH_ONLY, RULES_CAUTION
from tabwb.report.load import Loaded
from tabwb.report.subtests import SubtestSummary
from tabwb.report.summary import Summary, summarise
from tabwb.scoring.accuracy import Interval
from tabwb.scoring.estimate import Estimate
from tabwb.workbench.describe import item_of, mark_of, scores_of
from tabwb.workbench.snapshots import ResponseRow, Results, SubtestRow

NONE = "-"
_BASELINES = {"always_first": "first option", "always_yes": "always Yes"}


def results_of(one: Loaded, *, interval: bool = True) -> Results:
    """Everything that the results page shows.

    Args:
        one: the administration with its battery and trials.
        interval: bootstrap the burden too.
    """
    conditions = one.administration.conditions
    summary = summarise(one.battery, one.trials, conditions, interval=interval)
    return Results(
        administration=one.administration,
        disclaimer=one.battery.disclaimer,
        version=one.battery.version,
        subtests=tuple(_row(subtest) for subtest in summary.subtests),
        scores=scores_of(one.battery, one.trials, summary, person=conditions.kind == "speaker"),
        responses=tuple(_response(one, trial) for trial in one.trials),
        cautions=tuple(_cautions(one, summary)),
    )


def _cautions(one: Loaded, summary: Summary) -> Iterator[str]:
    if one.administration.conditions.kind == "model":
        yield MODEL_CAUTION
    if any(judge.rater.startswith("rules-") for judge in summary.judges):
        yield f"Verdicts of the rules judge: {RULES_CAUTION}."
    if one.battery.disclaimer:
        yield one.battery.disclaimer
    yield RESEARCH_ONLY


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
    share = subtest.share
    notes = tuple(_notes(subtest)) if share.n else ()
    if not share.scored:
        given = f"{share.n} given" if share.n else NONE
        return SubtestRow(subtest.title, given, "", "", "", "", notes)
    return SubtestRow(
        title=subtest.title,
        right=f"{share.correct['exact']} of {share.scored}",
        interval=_range(share.interval()),
        normalised=_count(share.correct["normalised"]),
        extracted=_count(share.correct["extracted"]),
        baseline=", ".join(
            f"{words} {_number(subtest.baselines[name])}"
            for name, words in _BASELINES.items()
            if name in subtest.baselines
        ),
        notes=notes,
    )


def _notes(subtest: SubtestSummary) -> Iterator[tuple[str, str]]:
    share = subtest.share
    if share.n < subtest.answered:
        yield "counted", f"{share.n} of {subtest.answered}; identical greedy answers count once"
    if share.n > share.scored > 0:
        yield "no verdict", f"{share.n - share.scored} of {share.n}"
    if subtest.kind is ResponseKind.YES_NO:
        policy = "exact" if subtest.yes_rate["exact"].defined else "extracted"
        yield (
            "balanced accuracy",
            f"{_number(subtest.balanced_accuracy[policy])}, "
            f"yes-rate {_number(subtest.yes_rate[policy])} ({policy})",
        )
    if subtest.chance_corrected.defined:
        yield "corrected for chance", _number(subtest.chance_corrected)
    tags = [
        f"{tag.replace('-', ' ')} {tagged.correct['exact']} of {tagged.scored}"
        for tag, tagged in subtest.by_tag.items()
        if tagged.scored
    ]
    if tags:
        yield "right by tag", ", ".join(tags)
    errors = [
        f"{kind.replace('-', ' ')} {foil.errors['exact']} of {foil.of}"
        for kind, foil in subtest.by_foil.items()
        if foil.errors["exact"]
    ]
    if subtest.kind is ResponseKind.VERBATIM:
        errors = [
            f"{name.replace('-', ' ')} {measured.total:g}"
            for name, measured in subtest.measures.items()
            if measured.total
        ]
    elif subtest.measures:
        means = [
            f"{name if name == 'words' else name.upper()} {_number(measured.mean)}"
            for name, measured in subtest.measures.items()
        ]
        yield "mean", ", ".join(means)
    if errors:
        yield "errors", ", ".join(errors)
    odd = [
        f"{status.replace('-', ' ')} {count}"
        for status, count in subtest.statuses.items()
        if status != "ok"
    ]
    if odd:
        yield "responses", ", ".join(odd)


def _number(estimate: Estimate, digits: int = 2) -> str:
    return NONE if estimate.value is None else f"{estimate.value:.{digits}f}"


def _count(count: int | None) -> str:
    return NONE if count is None else str(count)


def _range(interval: Interval | None) -> str:
    return NONE if interval is None else f"{interval.low:.2f}-{interval.high:.2f}"
