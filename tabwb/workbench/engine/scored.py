"""The scores of one stored administration, as lists of administrations show them."""

from __future__ import annotations

from collections.abc import Iterator

from tabwb.analysis.administrations import AdministrationData, load_administrations, load_columns
from tabwb.analysis.statistics.results import Results
from tabwb.records.errors import TabwbError
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration
from tabwb.scoring.estimate import Interval
from tabwb.store.store import Store
from tabwb.workbench.engine.presenters import named_scores, scores_of
from tabwb.workbench.engine.view_models import ScoredAdministration

MOST_TRIALS = 400
"""Of more trials than this columns are read: that takes 0.2 s for 14,000, trials 1.5 s."""


def scored_or_problem(
    store: Store, administration: Administration, primary: str
) -> ScoredAdministration:
    """Return the scores of an administration, or why they cannot be read: others are still
    shown.
    """
    try:
        return scored(store, administration, primary)
    except TabwbError as error:
        return ScoredAdministration(administration, problem=str(error))


def scored(store: Store, administration: Administration, primary: str) -> ScoredAdministration:
    """Return the scores of an administration."""
    from tabwb.analysis.statistics.summary import pool  # imports numpy, which takes 0.1 s

    many = administration.planned > MOST_TRIALS
    load = load_columns if many else load_administrations
    (data,) = load(store, [administration.id], primary=primary)
    results = pool([data])
    person = administration.conditions.kind == "speaker"
    scores = scores_of(
        data.battery, data.trials, results, person=person, declared=data.declarations
    )
    return ScoredAdministration(
        administration,
        named_scores(scores, results.named),
        dict(_intervals(results)),
        tuple(_unjudged(data, results)),
    )


def _intervals(results: Results) -> Iterator[tuple[str, Interval]]:
    """Yield title and interval of each subtest with a share right; of pictures a person's score."""
    named = {one.title: results.interval("outcome", one.id) for one in results.named}
    for part in results.parts:
        interval = named.get(part.title, part.right.interval)
        if interval is not None:
            yield part.title, interval


def _unjudged(data: AdministrationData, results: Results) -> Iterator[tuple[str, int]]:
    """Yield judges of the conditions, and judges that began, with the responses left to each."""
    if data.administration.status is not AdministrationStatus.DONE:
        return
    connected = sum(
        part.number("answered") for part in results.parts if part.subtest.task.connected
    )
    declared = data.declarations
    begun = [
        one.rater
        for one in results.judges
        if 0 < one.not_judged < connected
        and one.rater in declared
        and declared[one.rater].kind == "judge"
    ]
    for judge in dict.fromkeys([*data.administration.conditions.judges, *begun]):
        own = [one.not_judged for one in results.judges if one.rater == judge]
        left = min(own) if own else connected
        if left:
            yield judge, left
