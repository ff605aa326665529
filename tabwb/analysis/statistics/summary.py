"""Every result of a group of administrations of one battery, pooled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from tabwb.analysis.administrations import AdministrationData, raters_of, subtests_of
from tabwb.analysis.frame import NOT_RATED, Table, first_of, status_counts, table_of, usable_of
from tabwb.analysis.measures import WORDS_MEAN
from tabwb.analysis.statistics.accuracy import mean_of, subtest_results
from tabwb.analysis.statistics.burden import judges_in
from tabwb.analysis.statistics.results import (
    Found,
    Result,
    Results,
    count,
    counts_of,
    usable_counts,
)
from tabwb.records.languages import NO_SPACES, is_unspaced_language
from tabwb.records.ratings import FailedRater
from tabwb.records.states import RatingStatus
from tabwb.scoring.burden import NO_USABLE
from tabwb.scoring.estimate import Estimate, ratio
from tabwb.store.columns import distinct
from tabwb.store.verdicts import STATUSES as RATING_STATUSES

if TYPE_CHECKING:
    from tabwb.analysis.statistics.naming import NamedSubtest

ALOUD = "all were named aloud"
ERROR = RATING_STATUSES.index(RatingStatus.ERROR)


def pool(sources: Sequence[AdministrationData], *, interval: bool = False) -> Results:
    """Return the results of administrations of one battery: responses are pooled, not averaged."""
    if len({(source.battery.id, source.battery.content_hash) for source in sources}) != 1:
        raise ValueError("only administrations of one battery version can be pooled")
    table, chosen = table_of(sources), subtests_of(sources)
    judges = tuple(
        judge
        for judge in judges_in(table, interval=interval)
        if chosen is None or judge.burden.n_responses or judge.not_judged
    )
    parts = [
        (number, subtest)
        for number, subtest in enumerate(table.battery.subtests)
        if chosen is None or subtest.id in chosen
    ]
    found, named = list(_of_answers(table)), named_of(table.sources)
    for number, subtest in parts:
        found += subtest_results(table, number, subtest)
        found += ((row, True) for one in named if one.id == subtest.id for row in one.results())
    for judge in judges:
        found += ((row, True) for row in judge.results())
    found += _of_others(table)
    found += ((row, False) for judge in judges for row in judge.counts())
    if interval and table.frame.statistics:
        from tabwb.analysis.statistics.plugins import statistics_of

        found += ((row, True) for row in statistics_of(table))
    return Results(
        (row for row, is_value in found if is_value),
        (row for row, is_value in found if is_value is False),
        (row for row, is_value in found if is_value is None),
        battery=table.battery,
        parts=tuple(subtest for _, subtest in parts),
        judges=judges,
        named=named,
        failed=_failures(table),
        raters=raters_of(table.sources, _rated_by(table)),
    )


def named_of(sources: Sequence[AdministrationData]) -> tuple[NamedSubtest, ...]:
    """Return what is said of the pictures that a speaker named."""
    if not sources[0].battery.coded or not sources[0].is_speaker:
        return ()
    from tabwb.analysis.statistics.naming import named_subtests

    chosen = subtests_of(sources)
    named = named_subtests([replace(source, trials=source.own_trials) for source in sources])
    return named if chosen is None else tuple(one for one in named if one.id in chosen)


def _of_answers(table: Table) -> Iterator[Found]:
    """Yield what is said of all responses that count, whatever the subtest."""
    rows = np.flatnonzero(table.counts)
    columns, texts, usable = table.columns, table.text[rows], usable_of(table, rows)
    able, blank = table.usable[rows], columns.responses.blank[texts]
    written = ~(blank & able)  # what is named aloud has no text
    words, n_texts = int(columns.responses.sizes[texts[able]].sum()), int((written & able).sum())
    mean = (
        Estimate(None, NO_SPACES)
        if is_unspaced_language(table.battery.language)
        else ratio(words, n_texts, ALOUD if usable.usable else NO_USABLE)
    )
    yield Result(WORDS_MEAN.id, mean, n=n_texts, usable=usable), True
    causes = columns.notes["cause"][table.rows[rows]]
    silent = causes[blank & (causes >= 0)]
    inexact = columns.notes["batch_exact"][table.rows[rows]]
    no = columns.noted.index("no") if "no" in columns.noted else -2
    again = ~table.counts & ~table.fixed[table.representative]
    kept = np.array([source.keeps_reasoning for source in table.sources])
    reasoned = columns.responses.thinks[texts] & ~kept[table.source[rows]]
    different = len(distinct(texts[written])) if written.any() or not len(rows) else None
    for made in (
        *usable_counts(usable),
        *counts_of("status", status_counts(table, rows)),
        *counts_of(
            "empty", {columns.noted[one]: int((silent == one).sum()) for one in first_of(silent)}
        ),
        count("distinct", different, why=ALOUD),
        count("inexact", int((inexact == no).sum())),
        count("shared_streams", int(table.shared[rows].sum())),
        count("repeated_draws", int(again.sum())),
        count("with_reasoning", int(reasoned.sum())),
    ):
        yield made, False


def _of_others(table: Table) -> Iterator[Found]:
    """Yield the means of what judges without features measured."""
    made: list[tuple[tuple[int, int], list[Found]]] = []
    coded = np.array([subtest.task.coded for subtest in table.battery.subtests])
    for rater, columns in table.columns.ratings.items():
        declared = [source.declarations.get(rater) for source in table.sources]
        featureless = [
            one is not None and one.kind == "judge" and not one.features for one in declared
        ]
        if not any(featureless):
            continue
        counted = np.flatnonzero(table.counts)
        chosen, order = table.chosen(rater), table.order(rater)
        own = (
            table.usable[counted]
            & ~coded[table.subtest[counted]]
            & (order[chosen] >= 0)
            & np.array(featureless)[table.source[chosen]]
        )
        rows = chosen[own]
        if not len(rows):
            continue
        measures: list[tuple[int, int, list[Found]]] = []
        for rank, (measure, ratings) in enumerate(columns.measures.items()):
            given = table.spread(ratings, rows)
            mine = np.flatnonzero(given.statuses != NOT_RATED)
            if len(mine):
                named = Result(measure, Estimate(0.0), rater=rater)
                found = list(mean_of(given.values[mine], named))
                measures.append((int(mine[0]), rank, found))
        measures.sort(key=itemgetter(0, 1))
        place = int(counted[own][0]), int(order[rows[0]])
        made.append((place, [one for *_, found in measures for one in found]))
    for _, found in sorted(made, key=itemgetter(0)):
        yield from found


def _failures(table: Table) -> tuple[FailedRater, ...]:
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
        reason: dict[int, str] = {}
        for ratings in columns.measures.values():
            spread = table.spread(ratings)
            for row in np.flatnonzero((spread.statuses == ERROR) & table.counts).tolist():
                text = table.columns.reasons.get(int(spread.reasons[row]), "")
                reason[row] = reason.get(row) or text
        if reason:
            first = min(reason)
            rated = int((table.counts & (order >= 0)).sum())
            failure = FailedRater(rater, len(reason), rated, reason[first])
            made.append(((first, int(order[first])), failure))
    return tuple(failure for _, failure in sorted(made, key=itemgetter(0)))


def _rated_by(table: Table) -> dict[str, set[int]]:
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
