"""The summary of each subtest over the columns of a group."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.frame import (
    NOT_RATED,
    Column,
    Given,
    Table,
    alike,
    measured_of,
    status_counts,
    usable_of,
)
from tabwb.analysis.paired import Side
from tabwb.battery.model import Subtest
from tabwb.records.ratings import MeasureKind
from tabwb.report.summaries.subtests import (
    AnswerKind,
    Measured,
    SubtestCount,
    SubtestSummary,
    summarise_subtest,
)
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.lexical import MEASURES as LEXICAL
from tabwb.scoring.lexical import defined_at
from tabwb.store.columns import Ints, Places, distinct


def right_side(table: Table, number: int, scorer: str, policy: str = "exact") -> Side:
    """Return which answers to a subtest are right, by item."""
    rows = np.flatnonzero(table.counts & (table.subtest == number))
    values = table.verdict(scorer, policy, rows).values
    return table.side(rows, np.where(np.isnan(values), np.nan, values == 1.0))


def decider(subtest: Subtest, number: int, tables: Sequence[Table]) -> str | None:
    """Return the first of a subtest's scorers that gives verdicts on its answers, or None.

    Verdicts are what a scorer declared as such, whatever the values are.
    """
    for scorer in subtest.scorers:
        for table in tables:
            rows = np.flatnonzero(table.counts & (table.subtest == number))
            if (table.verdict(scorer, "exact", rows).statuses != NOT_RATED).any():
                return scorer
    return None


def subtest_counts(table: Table) -> tuple[SubtestCount, ...]:
    """Return how many answers to each subtest are right."""
    counts = []
    for number, subtest in enumerate(table.battery.subtests):
        scorer = decider(subtest, number, [table])
        rows = np.flatnonzero(table.counts & (table.subtest == number))
        values = table.verdict(scorer, "exact", rows).values if scorer else np.empty(0)
        values = values[~np.isnan(values)]
        right = int((values == 1.0).sum()) if len(values) else None
        planned = sum(planned.get(subtest.id, 0) for planned in table.planned)
        answered = int((table.subtest == number).sum())
        counts.append(
            SubtestCount(subtest.id, subtest.title, planned, answered, len(values), right)
        )
    return tuple(counts)


def summarise_subtests(
    table: Table, chosen: Collection[str] | None = None
) -> tuple[SubtestSummary, ...]:
    """Return the summary of each subtest of the battery."""
    return tuple(
        _summarise(table, number, subtest)
        for number, subtest in enumerate(table.battery.subtests)
        if chosen is None or subtest.id in chosen
    )


def _summarise(table: Table, number: int, subtest: Subtest) -> SubtestSummary:
    rows = np.flatnonzero(table.counts & (table.subtest == number))
    scorer = decider(subtest, number, [table])
    examinees = Places[str]()
    who = np.array([examinees[source.examinee] for source in table.sources])
    asked, _, _ = alike(
        (who[table.source[rows]], len(examinees)), (table.place[rows], len(table.known))
    )
    sources = distinct(table.source[rows]).tolist()
    protocols = {table.sources[place].protocol for place in sources}
    return summarise_subtest(
        subtest,
        _kinds(table, subtest, rows, scorer),
        planned=sum(planned.get(subtest.id, 0) for planned in table.planned),
        answered=int((table.subtest == number).sum()),
        asked=len(asked),
        protocol=protocols.pop() if len(protocols) == 1 else None,
        statuses=status_counts(table, rows),
        usable=usable_of(table, rows),
        measures=_measures(table, subtest, rows, scorer),
    )


def _kinds(table: Table, subtest: Subtest, rows: Ints, scorer: str | None) -> list[AnswerKind]:
    columns, closed = table.columns, subtest.task.closed
    clusters, names = table.clusters
    given = [table.verdict(scorer, policy, rows) for policy in POLICIES] if scorer else []
    verdicts: list[Column] = []
    for one in given:
        known = ~np.isnan(one.values)
        verdicts.append((np.where(known, 1 + (one.values == 1.0), 0), 3))
        if closed:
            verdicts.append((np.where(known, one.reasons, 0), int(one.reasons.max(initial=0)) + 1))
    first, times, _ = alike(
        (table.place[rows], len(table.known)),
        (columns.options[table.rows[rows]], len(columns.shown)),
        (clusters[rows], len(names)),
        (table.fixed[rows], 2),
        (table.shared[rows], 2),
        *verdicts,
    )
    at = rows[first]
    read = [_verdicts(table, one, first, closed) for one in given] or [[None] * len(at)] * 3
    return [
        AnswerKind(table.item(place), columns.shown[shown], names[cluster], verdicts, *others)
        for place, shown, cluster, verdicts, *others in zip(
            table.place[at].tolist(),
            columns.options[table.rows[at]].tolist(),
            clusters[at].tolist(),
            zip(*read, strict=True),
            table.fixed[at].tolist(),
            table.shared[at].tolist(),
            times.tolist(),
            strict=True,
        )
    ]


def _verdicts(table: Table, given: Given, at: Ints, closed: bool) -> list[tuple[bool, str] | None]:
    values, reasons = given.values[at], given.reasons[at].tolist()
    texts = [table.columns.reasons.get(reason, "") if closed else "" for reason in reasons]
    return [
        None if value is None else (value == 1.0, text)
        for value, text in zip(_plain(values), texts, strict=True)
    ]


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    missing = np.isnan(values).tolist()
    return [None if gone else value for value, gone in zip(values.tolist(), missing, strict=True)]


def _measures(table: Table, subtest: Subtest, rows: Ints, scorer: str | None) -> list[Measured]:
    text, usable = subtest.task.connected, table.usable[rows]
    verdicts = [
        {source.verdict_measure(scorer, policy) for policy in POLICIES} if scorer else set()
        for source in table.sources
    ]
    made: list[tuple[tuple[int, int, int], Measured]] = []
    for rater in subtest.scorers:
        columns = table.columns.ratings.get(rater)
        if columns is None:
            continue
        sizes = table.measure(rater, "words", rows).values
        order = table.order(rater)
        for rank, (measure, ratings) in enumerate(columns.measures.items()):
            given = table.spread(ratings, rows)
            rated = given.statuses != NOT_RATED
            if rater == scorer:  # a verdict of one administration may be a measure of another
                rated &= ~np.array([measure in own for own in verdicts])[table.source[rows]]
            if text or measure in LEXICAL:
                rated &= usable
            own = np.flatnonzero(rated)
            if not len(own):
                continue
            values = given.values[own]
            if not all(defined_at(measure, size) for size in (0.0, 1e9)):
                different, which = np.unique(sizes[own], return_inverse=True)
                known = np.array([defined_at(measure, size) for size in _plain(different)])
                values = np.where(known[which], values, np.nan)
            first = int(rows[own[0]])
            order_of = first, int(order[first]), rank
            kinds: set[MeasureKind] = {
                table.sources[place].measures_of(rater).get(measure, "number")
                for place in distinct(table.source[rows[own]]).tolist()
            }
            kind: MeasureKind = kinds.pop() if len(kinds) == 1 else "number"
            made.append((order_of, measured_of(values, rater, measure, kind)))
    return [given for _, given in sorted(made, key=itemgetter(0))]
