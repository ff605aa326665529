"""The summary of each subtest over the columns of a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import itemgetter

import numpy as np

from tabwb.battery.model import Item, Subtest
from tabwb.report.measures import SUBTEST_MEASURES, ScoredAnswers
from tabwb.report.summaries.columns.prepared import PROTOCOLS
from tabwb.report.summaries.columns.table import (
    NOT_RATED,
    Table,
    distinct,
    first_of,
    is_verdict,
    measured_of,
    plain,
    status_counts,
    usable_of,
)
from tabwb.report.summaries.paired import Side
from tabwb.report.summaries.subtests import (
    Measured,
    Share,
    SubtestSummary,
    Verdict,
    baselines_of,
    errors_by_foil,
    positions_of,
)
from tabwb.scoring.choice import POLICIES, Position, StoredAnswer, read_reason
from tabwb.scoring.estimate import Estimate
from tabwb.scoring.lexical import MEASURES as LEXICAL
from tabwb.scoring.lexical import defined_at
from tabwb.scoring.yes_no import YES
from tabwb.store.column_ratings import Ints


def accuracy_sides(first: Table, second: Table) -> Iterator[tuple[Subtest, str, Side, Side]]:
    """Yield each subtest with verdicts on any side: its deciding scorer, and right answers.

    Args:
        first: responses of one side.
        second: of the other.
    """
    tables = first, second
    for number, subtest in enumerate(first.battery.subtests):
        scorer = decider(subtest, number, tables)
        if scorer is not None:
            one, other = (right_side(table, number, scorer) for table in tables)
            yield subtest, scorer, one, other


def right_side(table: Table, number: int, scorer: str, policy: str = "exact") -> Side:
    """Return which answers to a subtest are right, by item.

    Args:
        table: with the answers.
        number: the place of the subtest in the battery.
        scorer: that decides.
        policy: under which they are right.
    """
    rows = np.flatnonzero(table.counts & (table.subtest == number))
    values = table.verdict(scorer, policy, rows).values
    return table.side(rows, np.where(np.isnan(values), np.nan, values == 1.0))


def decider(subtest: Subtest, number: int, tables: Iterable[Table]) -> str | None:
    """Return the first of a subtest's scorers that gives verdicts on its answers, or None.

    Verdicts are 1 and 0: a scorer whose deciding measure has another value gives none here.

    Args:
        subtest: of the battery.
        number: its place there.
        tables: with the answers.
    """
    for scorer in subtest.scorers:
        verdicts = []
        for table in tables:
            rows = np.flatnonzero(table.counts & (table.subtest == number))
            given = table.verdict(scorer, "exact", rows)
            verdicts.append(given.values[given.statuses != NOT_RATED])
        values = np.concatenate(verdicts)
        if len(values) and is_verdict(values):
            return scorer
    return None


def summarise_subtests(
    table: Table, chosen: Collection[str] | None = None
) -> tuple[SubtestSummary, ...]:
    """Return the summary of each subtest of the battery.

    Args:
        table: of responses.
        chosen: ids of the subtests that are summarised; None: all.
    """
    return tuple(
        _Subtest(table, number, subtest).summary()
        for number, subtest in enumerate(table.battery.subtests)
        if chosen is None or subtest.id in chosen
    )


class _Subtest:
    """One subtest: its rows are places in the table, of responses that count."""

    def __init__(self, table: Table, number: int, subtest: Subtest) -> None:
        self.table, self.subtest = table, subtest
        self.number = number
        self.rows = np.flatnonzero(table.counts & (table.subtest == number))
        self.places = table.place[self.rows]
        options = table.columns.options[table.rows[self.rows]].astype(np.int64)
        bound = len(table.columns.shown)
        cells, self.times, self.cell = distinct(
            self.places * bound + options, len(table.known) * bound
        )
        self.cells = [
            (table.item(place), table.columns.shown[options])
            for place, options in (divmod(cell, bound) for cell in cells.tolist())
        ]
        self.decider = decider(subtest, number, [table])
        self.by_policy = {
            policy: table.verdict(self.decider, policy, self.rows)
            for policy in POLICIES
            if self.decider
        }

    def summary(self) -> SubtestSummary:
        table, subtest, rows = self.table, self.subtest, self.rows
        share = self._share(np.arange(len(rows)))
        verdicts = self._verdicts()
        protocols = {PROTOCOLS.index(table.sources[place].protocol)
                     for place in np.unique(table.source[rows]).tolist()}  # fmt: skip
        protocol = PROTOCOLS[protocols.pop()] if len(protocols) == 1 else None
        baselines = self._baselines()
        yes = self._yes() if subtest.task.answers else None
        items = [table.item(place) for place in first_of(self.places)]
        scored = {
            policy: ScoredAnswers(
                n=share.n,
                accuracy=share.accuracy(policy),
                pairs=[pair for item, _, answer, n in given
                       for pair in [(item.expected or "", answer.chosen)] * n],
                guessing=baselines.get("guessing"),
                protocol=protocol,
                yes=yes,
            )
            for policy, (given, _) in verdicts.items()
        }  # fmt: skip
        tags = dict.fromkeys(tag for item in items for tag in item.tags)
        tagged = {tag: np.array([one is not None and tag in one[2].tags for one in table.known])
                  for tag in tags}  # fmt: skip
        examinees = [source.examinee for source in table.sources]
        n = len(table.known)
        given, _, _ = distinct(table.source[rows] * n + self.places, len(examinees) * n)
        given_items = {(examinees[code // n], code % n) for code in given.tolist()}
        return SubtestSummary(
            id=subtest.id,
            title=subtest.title,
            kind=subtest.response,
            planned=sum(planned.get(subtest.id, 0) for planned in table.planned),
            answered=int((table.subtest == self.number).sum()),
            share=share,
            baselines=baselines,
            estimates={
                measure.id: {policy: measure.compute(scored[policy]) for policy in measure.policies}
                for measure in SUBTEST_MEASURES
                if measure.compute is not None
            },
            by_tag={
                tag: self._share(np.flatnonzero(own[self.places])) for tag, own in tagged.items()
            },
            by_foil=errors_by_foil({policy: given for policy, (given, _) in verdicts.items()})
            if subtest.task.options
            else {},
            measures=self._measures(),
            statuses=status_counts(table, rows),
            repeated=len(rows) - len(given_items),
            usable=usable_of(table, rows),
            positions=self._positions(verdicts) if subtest.task.options else (),
        )

    def _share(self, own_rows: Ints) -> Share:
        """Return right answers of some of the rows, by their places."""
        table, rows = self.table, self.rows[own_rows]
        clusters, names = table.clusters
        items: dict[str, tuple[tuple[int, int], ...]] = {}
        for policy in POLICIES:
            values = (
                self.by_policy[policy].values[own_rows]
                if self.decider is not None
                else np.full(len(rows), np.nan)
            )
            known = ~np.isnan(values)
            right = values[known] == 1.0
            own = clusters[rows][known]
            sizes = np.bincount(own, minlength=len(names))
            hits = np.bincount(own, weights=right, minlength=len(names))
            items[policy] = tuple(
                (int(hits[at]), int(sizes[at])) for at in np.flatnonzero(sizes).tolist()
            )
        fixed = bool(len(rows)) and bool(table.fixed[rows].all())
        return Share(len(rows), items, fixed, bool(table.shared[rows].any()))

    def _verdicts(self) -> dict[str, tuple[list[Verdict], Ints]]:
        """Return, by policy, the different verdicts, and of each row the place of its own or -1."""
        made: dict[str, tuple[list[Verdict], Ints]] = {}
        read: dict[tuple[int, int, int], StoredAnswer] = {}
        for policy in POLICIES:
            verdicts: list[Verdict] = []
            own = np.full(len(self.rows), -1)
            made[policy] = verdicts, own
            if self.decider is None or not self.subtest.task.closed:
                continue
            given = self.by_policy[policy]
            values, reasons = given.values, given.reasons
            known = np.flatnonzero(~np.isnan(values))
            ids, _, reason = distinct(reasons[known], int(reasons.max(initial=0)) + 1)
            size = max(len(ids), 1)
            codes, times, places = distinct(
                (self.cell[known] * 2 + (values[known] == 1.0)) * size + reason,
                len(self.cells) * 2 * size,
            )
            kept = np.full(len(codes), -1)
            for at, (code, n) in enumerate(zip(codes.tolist(), times.tolist(), strict=True)):
                cell, right, number = code // size // 2, code // size % 2, int(ids[code % size])
                item, shown = self.cells[cell]
                if item.expected is None:
                    continue
                key = cell, right, number
                if key not in read:
                    read[key] = self._answer(item, shown, bool(right), number)
                kept[at] = len(verdicts)
                verdicts.append((item, shown, read[key], n))
            own[known] = kept[places]
        return made

    def _answer(self, item: Item, shown: tuple[str, ...], right: bool, reason: int) -> StoredAnswer:
        answers = self.subtest.task.answers
        options = item.options or answers if answers else shown
        text = self.table.columns.reasons.get(reason, "")
        return read_reason(right, text, item.expected or "", options, item.foils)

    def _yes(self) -> str:
        return next((item.options[0] for item, _ in self.cells if item.options), YES)

    def _baselines(self) -> dict[str, Estimate]:
        task = self.subtest.task
        keyed: Counter[tuple[str, tuple[str, ...]]] = Counter()
        for (item, shown), n in zip(self.cells, self.times.tolist(), strict=True):
            if item.expected is not None:
                keyed[item.expected, shown] += n
        return baselines_of(task, keyed, self._yes())

    def _positions(
        self, verdicts: Mapping[str, tuple[list[Verdict], Ints]]
    ) -> tuple[Position, ...]:
        exact, own = verdicts["exact"]
        right = np.array([answer.error is None for _, _, answer, _ in exact] + [False])[own]
        given, places = verdicts["extracted"]
        rows = np.flatnonzero(places >= 0)
        codes, times, _ = distinct(places[rows] * 2 + right[rows], 2 * len(given))
        counts: Counter[tuple[tuple[str, ...], str, bool, str | None]] = Counter()
        for code, n in zip(codes.tolist(), times.tolist(), strict=True):
            item, shown, answer, _ = given[code // 2]
            counts[shown, item.expected or "", bool(code % 2), answer.chosen] += n
        return positions_of(counts)

    def _measures(self) -> dict[str, Measured]:
        table, text = self.table, self.subtest.task.connected
        usable = table.usable[self.rows]
        deciding = {
            next(iter(declaration.features), "")
            for source in table.sources
            if (declaration := source.declarations.get(self.decider or "")) is not None
            and declaration.kind == "scorer"
        }
        made: list[tuple[tuple[int, int, int], str, str, Measured]] = []
        for rater in self.subtest.scorers:
            columns = table.columns.ratings.get(rater)
            if columns is None:
                continue
            sizes = table.measure(rater, "words", self.rows).values
            place = np.zeros(len(table), np.int64)
            at, order = table.rated_rows(rater)
            place[at] = order
            for rank, (measure, ratings) in enumerate(columns.measures.items()):
                # A deciding measure of one administration may be a further one of another.
                if rater == self.decider and measure in POLICIES:
                    continue
                given = table.spread(ratings, self.rows)
                rated = given.statuses != NOT_RATED
                if rater == self.decider and measure in deciding:
                    rated &= ~np.isin(table.source[self.rows], self._deciders(measure))
                if text or measure in LEXICAL:
                    rated &= usable
                own = np.flatnonzero(rated)
                if not len(own):
                    continue
                values = given.values[own]
                if not all(defined_at(measure, size) for size in (0.0, 1e9)):
                    different, which = np.unique(sizes[own], return_inverse=True)
                    known = np.array([defined_at(measure, size) for size in plain(different)])
                    values = np.where(known[which], values, np.nan)
                first = int(self.rows[own[0]])
                order_of = first, int(place[first]), rank
                made.append((order_of, rater, measure, measured_of(values, rater, measure)))
        made.sort(key=itemgetter(0))
        shared = Counter(measure for _, _, measure, _ in made)
        return {
            measure if shared[measure] == 1 else f"{rater}: {measure}": given
            for _, rater, measure, given in made
        }

    def _deciders(self, measure: str) -> list[int]:
        return [
            place
            for place, source in enumerate(self.table.sources)
            if (declaration := source.declarations.get(self.decider or "")) is not None
            and declaration.kind == "scorer"
            and next(iter(declaration.features), "") == measure
        ]
