"""What is said of all responses of a group: counts, failed raters, other measures."""

from __future__ import annotations

from operator import itemgetter

import numpy as np

from tabwb.analysis.frame import (
    NOT_RATED,
    Table,
    first_of,
    measured_of,
    status_counts,
    usable_of,
)
from tabwb.records.ratings import FailedRater
from tabwb.records.states import RatingStatus
from tabwb.report.summaries.subtests import Measured
from tabwb.report.summaries.summary import Answers
from tabwb.scoring.burden import NO_USABLE
from tabwb.scoring.estimate import ratio
from tabwb.store.columns import distinct
from tabwb.store.verdicts import STATUSES as RATING_STATUSES

ERROR = RATING_STATUSES.index(RatingStatus.ERROR)


def answers_of(table: Table) -> Answers:
    """Return what is said of all responses that count, whatever the subtest."""
    rows = np.flatnonzero(table.counts)
    columns, texts = table.columns, table.text[rows]
    usable = table.usable[rows]
    written = ~(table.columns.responses.blank[texts] & usable)  # what is named aloud has no text
    causes = columns.notes["cause"][table.rows[rows]]
    silent = causes[table.columns.responses.blank[texts] & (causes >= 0)]
    inexact = columns.notes["batch_exact"][table.rows[rows]]
    no = columns.noted.index("no") if "no" in columns.noted else -2
    again = ~table.counts & ~table.fixed[table.representative]
    kept = np.array([source.keeps_reasoning for source in table.sources])
    return Answers(
        n=len(rows),
        n_distinct=len(distinct(texts[written])) if written.any() or not len(rows) else None,
        words_mean=ratio(
            int(table.columns.responses.sizes[texts[usable]].sum()), int(usable.sum()), NO_USABLE
        ),
        statuses=status_counts(table, rows),
        inexact=int((inexact == no).sum()),
        empty_causes={
            columns.noted[cause]: int((silent == cause).sum()) for cause in first_of(silent)
        },
        usable=usable_of(table, rows),
        shared_streams=int(table.shared[rows].sum()),
        repeated_draws=int(again.sum()),
        with_reasoning=int(
            (table.columns.responses.thinks[texts] & ~kept[table.source[rows]]).sum()
        ),
    )


def failures_of(table: Table) -> tuple[FailedRater, ...]:
    """Return the raters with ratings in error; see ``failed_raters``."""
    asking = {
        rater
        for source in table.sources
        for rater, declaration in source.declarations.items()
        if declaration.prompt_text
    }
    made: list[tuple[tuple[int, int], FailedRater]] = []
    for rater, columns in table.columns.ratings.items():
        if rater in asking or not any(
            ratings.has(RatingStatus.ERROR) for ratings in columns.measures.values()
        ):
            continue
        order = table.order(rater)
        failed = np.zeros(len(table), bool)
        reason: dict[int, str] = {}
        for ratings in columns.measures.values():
            spread = table.spread(ratings)
            for row in np.flatnonzero((spread.statuses == ERROR) & table.counts).tolist():
                failed[row] = True
                text = table.columns.reasons.get(int(spread.reasons[row]), "")
                reason[row] = reason.get(row) or text
        rows = np.flatnonzero(failed)
        if not len(rows):
            continue
        first = int(rows[0])
        rated = int((table.counts & (order >= 0)).sum())
        failure = FailedRater(rater, len(rows), rated, reason[first])
        made.append(((first, int(order[first])), failure))
    return tuple(failure for _, failure in sorted(made, key=itemgetter(0)))


def rated_by(table: Table) -> dict[str, set[int]]:
    """Return the raters of responses that count, with the places of the sources that they rated.

    Ratings in error are none.
    """
    found: dict[str, set[int]] = {}
    for rater, columns in table.columns.ratings.items():
        for ratings in columns.measures.values():
            statuses = table.spread(ratings).statuses
            here = table.counts & (statuses != NOT_RATED) & (statuses != ERROR)
            if here.any():
                found.setdefault(rater, set()).update(distinct(table.source[here]).tolist())
            if len(found.get(rater, ())) == len(table.sources):
                break
    return found


def others_of(table: Table) -> dict[str, dict[str, Measured]]:
    """Return, by rater, the means of what judges without features measured."""
    made: list[tuple[tuple[int, int], str, dict[str, Measured]]] = []
    coded = np.array([subtest.task.coded for subtest in table.battery.subtests])
    for rater, columns in table.columns.ratings.items():
        featureless = [
            (declaration := source.declarations.get(rater)) is not None
            and declaration.kind == "judge"
            and not declaration.features
            for source in table.sources
        ]
        if not any(featureless):
            continue
        counted = np.flatnonzero(table.counts)
        chosen = table.chosen(rater)
        order = table.order(rater)
        own = (
            table.usable[counted]
            & ~coded[table.subtest[counted]]
            & (order[chosen] >= 0)
            & np.array(featureless)[table.source[chosen]]
        )
        rows = chosen[own]
        if not len(rows):
            continue
        measures: list[tuple[int, int, str, Measured]] = []
        for rank, (measure, ratings) in enumerate(columns.measures.items()):
            given = table.spread(ratings, rows)
            mine = np.flatnonzero(given.statuses != NOT_RATED)
            if len(mine):
                measures.append((int(mine[0]), rank, measure, measured_of(given.values[mine])))
        measures.sort(key=itemgetter(0, 1))
        first = int(counted[own][0])
        means = {name: given for _, _, name, given in measures}
        made.append(((first, int(order[rows[0]])), rater, means))
    return {rater: means for _, rater, means in sorted(made, key=itemgetter(0))}
