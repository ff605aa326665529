"""Results of one administration as they are shown: responses, scores, sessions over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabwb.battery.model import Battery
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import Administration, Trial
from tabwb.report.summaries.counted import effective_statuses
from tabwb.report.summaries.live.summary import summarise
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.summary import Summary
from tabwb.workbench.engine.presenters import (
    Places,
    counted_mark,
    item_of,
    mark_of,
    places_in_subtests,
)
from tabwb.workbench.engine.view_models import Item
from tabwb.workbench.results.item_grid import GridRow, first_judge, grid_of
from tabwb.workbench.results.naming_presenter import NamedResponse, NamingResults, naming_results
from tabwb.workbench.results.profile import Profiles, profiles_of


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
    """The results of one administration."""

    administration: Administration
    battery: Battery
    summary: Summary
    responses: tuple[ResponseRow, ...]
    profiles: Profiles
    """How often each judge found each feature."""
    grid: tuple[GridRow, ...]
    """The items with a mark for each replicate."""
    naming: NamingResults | None = None
    """Of a battery whose pictures are named aloud."""


def results_of(data: AdministrationData, sessions: Sequence[AdministrationData] = ()) -> Results:
    """Return everything that the results page shows.

    Args:
        data: the administration with its battery and trials.
        sessions: of a naming battery all administrations to the speaker, with this one.
    """
    summary = summarise(data.source, interval=True)
    naming, named = naming_results(data, summary.named, sessions)
    statuses = effective_statuses(data.battery, data.trials)
    places = places_in_subtests(data.trials)
    rows = tuple(
        _row(data, trial, status, named.get(trial.plan.number), places)
        for trial, status in zip(data.trials, statuses, strict=True)
    )
    return Results(
        data.administration,
        data.battery,
        summary,
        rows,
        profiles_of(data.battery, summary),
        grid_of(
            data.battery,
            ((row.item.trial, row.glyph) for row in rows),
            first_judge(summary),
        ),
        naming,
    )


STATES = {"open": "not given", "error": "in error", "not-administered": "not administered"}
"""States of a trial in words, where they are not the state's name."""


def _row(
    data: AdministrationData,
    trial: Trial,
    status: ResponseStatus | None,
    named: NamedResponse | None,
    places: Places,
) -> ResponseRow:
    mark = mark_of(trial, data.battery.subtest(trial.plan.subtest).scorers)
    if named is not None:
        mark = counted_mark(mark, named.item)
    item = item_of(data.battery, data.administration.conditions, trial, data.trials, places)
    verdict = STATES.get(mark, mark)
    return ResponseRow(replace(item, status=status), verdict, mark, trial.notes, named)
