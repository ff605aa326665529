"""Results of one administration as the page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tabwb.records.states import ResponseStatus
from tabwb.records.trials import Administration, Trial
from tabwb.report.summaries.counted import effective_statuses
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.summary import pool
from tabwb.workbench.engine.presenters import RIGHT, WRONG, item_of, mark_of, scores_of
from tabwb.workbench.engine.view_models import Item, Scores, SubtestScore

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.report.summaries.naming import NamedSubtest
    from tabwb.report.summaries.summary import Summary
    from tabwb.scoring.naming.summary import NamedItem
    from tabwb.workbench.results.naming_results import NamedResponse, NamingResults


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """One trial in the results' list."""

    item: Item
    verdict: str
    glyph: str
    notes: tuple[str, ...] = ()
    named: NamedResponse | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one administration; ``naming`` where pictures were to be named aloud."""

    administration: Administration
    battery: Battery
    summary: Summary
    scores: Scores
    responses: tuple[ResponseRow, ...]
    naming: NamingResults | None = None


def results_of(
    one: AdministrationData, *, interval: bool = True, others: Sequence[AdministrationData] = ()
) -> Results:
    """Everything that the results page shows.

    Args:
        one: the administration with its battery and trials.
        interval: compute the intervals of burdens too.
        others: what else was given to the same speaker, to be seen over time.
    """
    conditions = one.administration.conditions
    summary = pool([one.source], interval=interval)
    naming = None
    if summary.named:
        from tabwb.workbench.results.naming_results import naming_results

        naming = naming_results(one, summary.named, others)
    counts = [subtest.counts for subtest in summary.subtests]
    person = conditions.kind == "speaker"
    scores = scores_of(one.battery, one.trials, counts, summary.judges, person=person)
    return Results(
        administration=one.administration,
        battery=one.battery,
        summary=summary,
        scores=replace(
            scores, subtests=tuple(_with_names(each, summary.named) for each in scores.subtests)
        ),
        responses=tuple(
            _response(one, trial, status, naming)
            for trial, status in zip(
                one.trials, effective_statuses(one.battery, one.trials), strict=True
            )
        ),
        naming=naming,
    )


def _with_names(score: SubtestScore, named: Sequence[NamedSubtest]) -> SubtestScore:
    """A subtest of pictures as a person scored it, and right as the battery counts."""
    one = next((each for each in named if each.title == score.title), None)
    if one is None:
        return score
    found = one.summary.accuracy[0]
    marks = tuple(_counted(*each) for each in zip(score.marks, one.items, strict=False))
    right = found.correct if found.n else None
    return replace(score, marks=marks, scored=found.n, right=right)


def _counted(mark: str, item: NamedItem) -> str:
    """The mark of an item as the battery counts it: marks add up to the count beside them."""
    if item.status != "answered" or item.outcome is None:
        return mark
    return RIGHT if item.outcome == "right" else WRONG


def _response(
    one: AdministrationData,
    trial: Trial,
    status: ResponseStatus | None,
    naming: NamingResults | None,
) -> ResponseRow:
    subtest = one.battery.subtest(trial.plan.subtest)
    mark = mark_of(trial, subtest.scorers)
    named = None if naming is None else naming.responses.get(trial.plan.number)
    if named is not None:
        mark = _counted(mark, named.item)
    item = item_of(one.battery, one.administration.conditions, trial, one.trials)
    return ResponseRow(
        item=replace(item, status=status),
        verdict="not given" if mark == "not-administered" else mark,
        glyph=mark,
        notes=trial.notes,
        named=named,
    )
