"""The summary of each subtest over the columns of a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

import numpy as np

from tabwb.battery.model import Subtest
from tabwb.report.measures import SUBTEST_MEASURES, ScoredAnswers
from tabwb.report.summaries.columns.prepared import PROTOCOLS
from tabwb.report.summaries.columns.table import (
    NOT_RATED,
    Table,
    first_of,
    is_verdict,
    plain,
    status_counts,
    unusable,
)
from tabwb.report.summaries.paired import Side
from tabwb.report.summaries.subtests import (
    UNLISTED,
    FoilErrors,
    Measured,
    Share,
    SubtestSummary,
    measured,
)
from tabwb.scoring.burden import count_usable
from tabwb.scoring.choice import POLICIES, UNTOLD, Position, StoredAnswer, positions, read_reason
from tabwb.scoring.estimate import Estimate, always_first, always_yes, guessing_rate
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
    values = table.verdict(scorer, policy).values[rows]
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
            given = table.verdict(scorer, "exact")
            own = table.counts & (table.subtest == number) & (given.statuses != NOT_RATED)
            verdicts.append(given.values[own])
        values = np.concatenate(verdicts)
        if len(values) and is_verdict(values):
            return scorer
    return None


def summarise_subtests(table: Table) -> tuple[SubtestSummary, ...]:
    """Return the summary of each subtest of the battery."""
    return tuple(
        _Subtest(table, number, subtest).summary()
        for number, subtest in enumerate(table.battery.subtests)
    )


class _Subtest:
    """One subtest: its rows are places in the table, of responses that count."""

    def __init__(self, table: Table, number: int, subtest: Subtest) -> None:
        self.table, self.subtest = table, subtest
        self.number = number
        self.rows = np.flatnonzero(table.counts & (table.subtest == number))
        self.places = table.place[self.rows]
        self.options = table.columns.options[table.rows[self.rows]]
        self.decider = decider(subtest, number, [table])
        self.by_policy = {
            policy: table.verdict(self.decider, policy) for policy in POLICIES if self.decider
        }

    def summary(self) -> SubtestSummary:
        table, subtest, rows = self.table, self.subtest, self.rows
        share = self._share(rows)
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
                pairs=[(table.item(place).expected or "", verdict.chosen)
                       for place, verdict, _ in given],
                guessing=baselines.get("guessing"),
                protocol=protocol,
                yes=yes,
            )
            for policy, given in verdicts.items()
        }  # fmt: skip
        tags = dict.fromkeys(tag for item in items for tag in item.tags)
        tagged = {tag: np.array([one is not None and tag in one[2].tags for one in table.known])
                  for tag in tags}  # fmt: skip
        examinees = [source.examinee for source in table.sources]
        given_items = {
            (examinees[place], item)
            for place, item in set(
                zip(table.source[rows].tolist(), self.places.tolist(), strict=True)
            )
        }
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
            by_tag={tag: self._share(rows[own[self.places]]) for tag, own in tagged.items()},
            by_foil=self._by_foil(verdicts) if subtest.task.options else {},
            measures=self._measures(),
            statuses=status_counts(table, rows),
            repeated=len(rows) - len(given_items),
            usable=count_usable(unusable(table, rows)),
            positions=self._positions(verdicts) if subtest.task.options else (),
        )

    def _share(self, rows: Ints) -> Share:
        table = self.table
        clusters, names = table.clusters
        items: dict[str, tuple[tuple[int, int], ...]] = {}
        for policy in POLICIES:
            values = (
                self.by_policy[policy].values[rows]
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

    def _verdicts(self) -> dict[str, list[tuple[int, StoredAnswer, int]]]:
        """Return, by policy, the place, the stored verdict and the row of each answer with one."""
        stored: dict[str, list[tuple[int, StoredAnswer, int]]] = {policy: [] for policy in POLICIES}
        task = self.subtest.task
        if self.decider is None or not task.closed:
            return stored
        reasons = self.table.columns.reasons
        read: dict[tuple[int, int, float, int], StoredAnswer] = {}
        for policy in POLICIES:
            given = self.by_policy[policy]
            values = given.values[self.rows]
            known = np.flatnonzero(~np.isnan(values))
            for at, place, options, value, reason in zip(
                known.tolist(),
                self.places[known].tolist(),
                self.options[known].tolist(),
                values[known].tolist(),
                given.reasons[self.rows][known].tolist(),
                strict=True,
            ):
                key = (place, options, value, reason)
                answer = read.get(key)
                if answer is None:
                    item = self.table.item(place)
                    if item.expected is None:
                        continue
                    shown = self.table.columns.shown[options]
                    if task.answers:
                        shown = item.options or task.answers
                    answer = read[key] = read_reason(
                        value == 1.0, reasons.get(reason, ""), item.expected, shown, item.foils
                    )
                stored[policy].append((place, answer, at))
        return stored

    def _yes(self) -> str:
        items = [self.table.item(place) for place in first_of(self.places)]
        return next((item.options[0] for item in items if item.options), YES)

    def _baselines(self) -> dict[str, Estimate]:
        task, shown = self.subtest.task, self.table.columns.shown
        keyed = [
            (expected, shown[options])
            for place, options in zip(self.places.tolist(), self.options.tolist(), strict=True)
            if (expected := self.table.item(place).expected) is not None
        ]
        if task.options:
            return {
                "always_first": always_first(keyed),
                "guessing": guessing_rate(len(options) for _, options in keyed),
            }
        if task.answers:
            return {
                "always_yes": always_yes((key for key, _ in keyed), self._yes()),
                "guessing": guessing_rate(
                    len(options) or len(task.answers) for _, options in keyed
                ),
            }
        return {}

    def _positions(
        self, verdicts: Mapping[str, Sequence[tuple[int, StoredAnswer, int]]]
    ) -> tuple[Position, ...]:
        exact = {at: answer.error is None for _, answer, at in verdicts["exact"]}
        shown = self.table.columns.shown
        made = positions(
            (
                shown[int(self.options[at])],
                self.table.item(place).expected or "",
                exact.get(at, False),
                answer.chosen,
            )
            for place, answer, at in verdicts["extracted"]
        )
        return made if sum(position.keyed > 0 for position in made) > 1 else ()

    def _by_foil(
        self, verdicts: Mapping[str, Sequence[tuple[int, StoredAnswer, int]]]
    ) -> dict[str, FoilErrors]:
        scored = [(self.table.item(place), at) for place, _, at in verdicts["exact"]]
        counts = {
            policy: Counter(answer.error for _, answer, _ in given)
            for policy, given in verdicts.items()
        }
        foils = dict.fromkeys(kind for item, _ in scored for kind in item.foils.values())
        offering = {kind: sum(kind in item.foils.values() for item, _ in scored) for kind in foils}
        for kind in UNLISTED:
            offering.setdefault(kind, len(scored))
        shown = self.table.columns.shown
        offering["other-option"] = sum(
            len(shown[int(self.options[at])]) > len(item.foils) + 1 for item, at in scored
        )
        untold = max(count[UNTOLD] for count in counts.values())
        if untold:
            offering[UNTOLD] = untold
        return {
            kind: FoilErrors({policy: counts[policy][kind] for policy in POLICIES}, of)
            for kind, of in offering.items()
        }

    def _measures(self) -> dict[str, Measured]:
        table, text = self.table, self.subtest.task.connected
        usable = table.usable[self.rows]
        deciding = {
            next(iter(declaration.features), "")
            for source in table.sources
            if (declaration := source.declarations.get(self.decider or "")) is not None
            and declaration.kind == "scorer"
        }
        made: list[tuple[tuple[int, int, int], str, str, list[float | None]]] = []
        for rater in self.subtest.scorers:
            columns = table.columns.ratings.get(rater)
            if columns is None:
                continue
            sizes = table.measure(rater, "words").values[self.rows]
            place = np.zeros(len(table), np.int64)
            at, order = table.rated_rows(rater)
            place[at] = order
            for rank, (measure, ratings) in enumerate(columns.measures.items()):
                # A deciding measure of one administration may be a further one of another.
                if rater == self.decider and measure in POLICIES:
                    continue
                given = table.spread(ratings)
                rated = given.statuses[self.rows] != NOT_RATED
                if rater == self.decider and measure in deciding:
                    rated &= ~np.isin(table.source[self.rows], self._deciders(measure))
                if text or measure in LEXICAL:
                    rated &= usable
                own = np.flatnonzero(rated)
                if not len(own):
                    continue
                values = given.values[self.rows][own]
                if not all(defined_at(measure, size) for size in (0.0, 1e9)):
                    known = [defined_at(measure, size) for size in plain(sizes[own])]
                    values = np.where(known, values, np.nan)
                first = int(self.rows[own[0]])
                made.append((
                    (first, int(place[first]), rank), rater, measure,
                    plain(values),
                ))  # fmt: skip
        made.sort(key=itemgetter(0))
        shared = Counter(measure for _, _, measure, _ in made)
        return {
            measure if shared[measure] == 1 else f"{rater}: {measure}": measured(
                values, rater, measure
            )
            for _, rater, measure, values in made
        }

    def _deciders(self, measure: str) -> list[int]:
        return [
            place
            for place, source in enumerate(self.table.sources)
            if (declaration := source.declarations.get(self.decider or "")) is not None
            and declaration.kind == "scorer"
            and next(iter(declaration.features), "") == measure
        ]
