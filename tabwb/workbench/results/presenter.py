"""Results of one administration as they are shown: responses, scores, sessions over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tabwb.analysis.administrations import AdministrationData, is_usable
from tabwb.analysis.statistics.results import Results as GroupResults
from tabwb.battery.model import Battery
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import Administration, Trial
from tabwb.workbench.engine.presenters import (
    Places,
    counted_mark,
    item_of,
    mark_of,
    places_in_subtests,
)
from tabwb.workbench.engine.view_models import Item
from tabwb.workbench.results.item_grid import FirstJudge, GridRow, first_judge, grid_of
from tabwb.workbench.results.scores import Profiles, profiles_of

if TYPE_CHECKING:
    from tabwb.workbench.results.naming_presenter import NamedResponse, NamingResults


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """One trial in the results' list."""

    item: Item
    verdict: str
    glyph: str
    notes: tuple[str, ...] = ()
    named: NamedResponse | None = None
    found: tuple[int, int] | None = None
    """Features that the first judge found, and on how many it has a verdict."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one administration."""

    administration: Administration
    battery: Battery
    summary: GroupResults
    responses: tuple[ResponseRow, ...]
    profiles: Profiles
    """How often each judge found each feature."""
    grid: tuple[GridRow, ...]
    """The items with a mark for each replicate."""
    naming: NamingResults | None = None
    """Of a battery whose pictures are named aloud."""


def results_of(data: AdministrationData, sessions: Sequence[AdministrationData] = ()) -> Results:
    """Return everything that the results page shows."""
    from tabwb.analysis.statistics.summary import pool  # loads numpy

    summary = pool([data], interval=True)
    naming: NamingResults | None = None
    named: Mapping[int, NamedResponse] = {}
    if summary.named:
        from tabwb.workbench.results.naming_presenter import naming_results

        naming, named = naming_results(data, summary.named, sessions)
    from tabwb.analysis.frame import effective_statuses

    statuses = effective_statuses(data.battery, data.trials)
    places = places_in_subtests(data.trials)
    judge = first_judge(summary)
    rows = tuple(
        _row(data, trial, status, named.get(trial.plan.number), places, judge)
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
            ((row.item.trial, row.glyph, row.found) for row in rows),
            judge,
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
    judge: FirstJudge,
) -> ResponseRow:
    subtest = data.battery.subtest(trial.plan.subtest)
    mark = mark_of(trial, subtest.scorers, data.declarations)
    if named is not None:
        mark = counted_mark(mark, named.item)
    item = item_of(
        data.battery,
        data.administration.conditions,
        trial,
        data.trials,
        places,
        data.declarations,
    )
    verdict = STATES.get(mark, mark)
    text = trial.counting.response if trial.counting is not None else ""
    usable = is_usable(status, subtest.response, text)
    found = judge.found_in(trial, usable=usable) if mark == "given" else None
    return ResponseRow(replace(item, status=status), verdict, mark, trial.notes, named, found)
