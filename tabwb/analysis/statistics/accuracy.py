"""Right answers of a subtest, what is computed from them, and errors by kind of foil."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.draws import without_draws
from tabwb.analysis.frame import NOT_RATED, Side, Table, alike, status_counts, usable_of
from tabwb.analysis.measures import (
    ACCURACY,
    BALANCED,
    CORRECTED,
    FOIL_ERRORS,
    POSITION_ACCURACY,
    POSITION_SHARE,
    YES_RATE,
)
from tabwb.analysis.statistics.results import Found, Result, count, counts_of, usable_counts
from tabwb.battery.model import Item, Subtest
from tabwb.records.languages import (
    NO_SPACES,
    is_english,
    is_unspaced_language,
    not_available,
)
from tabwb.records.ratings import MeasureKind
from tabwb.scoring.choice import (
    OTHER_OPTION,
    POLICIES,
    UNTOLD,
    StoredAnswer,
    positions,
    read_reason,
)
from tabwb.scoring.estimate import (
    Estimand,
    Estimate,
    EstimatedInterval,
    Interval,
    always_first,
    always_yes,
    chance_corrected,
    clopper_pearson,
    guessing_rate,
    item_mean,
    ratio,
)
from tabwb.scoring.intervals import rate_interval
from tabwb.scoring.lexical import MEASURES as LEXICAL
from tabwb.scoring.lexical import defined_at
from tabwb.scoring.yes_no import balanced_accuracy
from tabwb.store.columns import Ints, Places, distinct

NOT_SCORED = "nothing was scored right or wrong here"
NEITHER = "neither answer was given exactly"
"""Why there is no yes-rate."""
_NOT_YES_NO = Estimate(None, "not a subtest of yes or no")


@dataclass(frozen=True, slots=True)
class Tally:
    """Responses of a kind among others, item by item: an accuracy, a rate, a share of yes.

    Attributes:
        hits, sizes: of each item (of pooled speakers: of each item and speaker) that has any.
        why: why there is no share where no item has any.
        clusters: of each item, else None; of pooled speakers the speaker.
        items: of each of ``sizes``, where several speakers are pooled.
        fixed: whether nothing was drawn; shared: whether some random streams are shared.
    """

    hits: tuple[int, ...]
    sizes: tuple[int, ...]
    why: str = NOT_SCORED
    clusters: tuple[Hashable, ...] | None = None
    fixed: bool = False
    shared: bool = False
    items: tuple[Hashable, ...] | None = None

    @property
    def n_items(self) -> int:
        """Items that have any."""
        return len(self.sizes if self.items is None else set(self.items))

    @property
    def n(self) -> int:
        """All responses."""
        return sum(self.sizes)

    @property
    def n_units(self) -> int:
        """Items, or clusters of items."""
        return len(self.sizes if self.clusters is None else set(self.clusters))

    @property
    def value(self) -> Estimate:
        """The share, the mean of the items' shares."""
        return item_mean(self.hits, self.sizes, self.why, self.items)

    def intervals(self) -> tuple[EstimatedInterval, ...]:
        """Return the 95 % intervals, one for each estimand; none where nothing has a verdict.

        With one answer to each item the first is the exact (Clopper-Pearson) interval; with
        replicates it is the beta-binomial one, from counts per item. One item has none.
        """
        if not self.sizes:
            return ()
        hits, sizes = self.hits, self.sizes
        these = rate_interval(
            hits, sizes, Estimand.THESE_PROMPTS, deterministic=self.fixed, items=self.items
        )
        if self.shared:
            these = without_draws(these)
        if self.n_units > 1 and self.n_units == self.n and self.items is None:
            exact = clopper_pearson(sum(hits), self.n)
            return EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, exact), these
        return rate_interval(hits, sizes, clusters=self.clusters, items=self.items), these

    def result(self, own: Result, measure: str, policy: str, **other: Any) -> Result:
        """Return the row of the share; ``own`` says of what, ``other`` what is unlike."""
        made: dict[str, Any] = {
            "measure": measure,
            "policy": policy,
            "value": self.value,
            "n": self.n,
            "n_items": self.n_items,
            "total": sum(self.hits) if self.sizes else None,
            "ends": self.intervals,
            "tally": self,
        }
        return replace(own, **(made | other))


class Kind(NamedTuple):
    """Answers to a subtest that count alike.

    Attributes:
        shown: the options in the order shown.
        cell: subtest and item, and the speaker where several are pooled.
        verdicts: of the deciding scorer under each of :data:`POLICIES`: whether the answer is
            right, with the reason; None where it has none. Only closed tasks need the reasons.
        fixed: whether nothing was drawn; shared: whether the random stream is shared.
        n: how many answers.
    """

    item: Item
    shown: tuple[str, ...]
    cell: tuple[str, ...]
    verdicts: tuple[tuple[bool, str] | None, ...]
    fixed: bool
    shared: bool
    n: int


Told = Callable[[Kind], bool | None]
"""Whether an answer is of the kind that is counted; None where it is not told."""
Answers = Mapping[str, Mapping[int, StoredAnswer]]
"""By policy, what the stored verdicts say of each :class:`Kind`, by its ``id``."""


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


def right_side(table: Table, number: int, scorer: str, policy: str = "exact") -> Side:
    """Return which answers to a subtest are right, by item."""
    rows = np.flatnonzero(table.counts & (table.subtest == number))
    values = table.verdict(scorer, policy, rows).values
    return table.side(rows, np.where(np.isnan(values), np.nan, values == 1.0))


def subtest_counts(table: Table) -> Iterator[Result]:
    """Yield the accuracy (exact) and the counts of each subtest, without intervals."""
    for number, subtest in enumerate(table.battery.subtests):
        scorer = decider(subtest, number, [table])
        rows = np.flatnonzero(table.counts & (table.subtest == number))
        values = table.verdict(scorer, "exact", rows).values if scorer else np.empty(0)
        values = values[~np.isnan(values)]
        right, n = int((values == 1.0).sum()), len(values)
        share = Estimate(right / n) if n else Estimate(None, NOT_SCORED)
        yield Result(ACCURACY.id, share, subtest.id, n=n, total=right if n else None)
        yield from _counted(table, number, subtest)


def _counted(table: Table, number: int, subtest: Subtest) -> Iterator[Result]:
    planned = sum(planned.get(subtest.id, 0) for planned in table.planned)
    yield count("planned", planned, subtest.id)
    yield count("answered", int((table.subtest == number).sum()), subtest.id)


def subtest_results(table: Table, number: int, subtest: Subtest) -> Iterator[Found]:
    """Yield the results of one subtest; with each whether it is a value, and not a count."""
    rows = np.flatnonzero(table.counts & (table.subtest == number))
    scorer, task = decider(subtest, number, [table]), subtest.task
    kinds = _kinds(table, subtest, rows, scorer)
    answers = _answers(subtest, kinds)
    unread = _unread(subtest, kinds)
    own = Result("", Estimate(0.0), subtest.id, usable=usable_of(table, rows))
    examinees = Places[str]()
    who = np.array([examinees[source.examinee] for source in table.sources])
    asked, _, _ = alike(
        (who[table.source[rows]], len(examinees)), (table.place[rows], len(table.known))
    )
    for made in (
        *_counted(table, number, subtest),
        count("repeated", len(rows) - len(asked), subtest.id),
        count("counted", len(rows), subtest.id),
        *usable_counts(usable_of(table, rows), part=subtest.id),
        *counts_of("status", status_counts(table, rows), part=subtest.id),
    ):
        yield made, False
    by_policy = {
        policy: _tally(kinds, _verdict(at), unread.get(policy, NOT_SCORED))
        for at, policy in enumerate(POLICIES)
    }
    scored = by_policy["exact"].n > 0
    for policy, tally in by_policy.items():
        yield tally.result(own, ACCURACY.id, policy), scored
    for tag in dict.fromkeys(tag for kind in kinds for tag in kind.item.tags):
        tagged = [kind for kind in kinds if tag in kind.item.tags]
        n = sum(kind.n for kind in tagged)
        yield count("counted", n, subtest.id, feature=tag), None
        for at, policy in enumerate(POLICIES):
            tally = _tally(tagged, _verdict(at), unread.get(policy, NOT_SCORED))
            yield tally.result(own, ACCURACY.id, policy, feature=tag), scored or None
    yes = next(iter(subtest.answers), "") if task.answers else None
    baselines = _baselines(subtest, kinds, yes)
    for name, baseline in baselines.items():
        yield replace(own, measure=name, value=baseline, n=len(rows)), scored or None
    sources = distinct(table.source[rows]).tolist()
    protocols = {table.sources[place].protocol for place in sources}
    corrected, ends = Estimate(None, "not a subtest with options"), None
    if (guessing := baselines.get("guessing")) is not None:
        accuracy, protocol = by_policy["exact"], protocols.pop() if len(protocols) == 1 else None
        corrected = (
            chance_corrected(accuracy.value, guessing, protocol)
            if len(rows)
            else Estimate(None, "no item answered")
        )
        if corrected.defined and guessing.value is not None:
            ends = partial(_corrected, accuracy, guessing.value)
    yield (
        replace(own, measure=CORRECTED.id, value=corrected, policy="exact", n=by_policy["exact"].n,
                ends=ends or tuple),
        scored or None,
    )  # fmt: skip
    for made in _of_yes(own, kinds, answers, unread, yes):
        yield made, (scored and yes is not None) or None
    for made in _errors_by_foil(own, answers, unread, kinds) if task.options else ():
        yield made, True
    for made in _positions(own, kinds, answers) if task.options else ():
        yield made, False
    yield from _measures(table, subtest, rows, scorer, own)


def _verdict(at: int) -> Told:
    return lambda kind: None if (given := kind.verdicts[at]) is None else given[0]


def _tally(kinds: Sequence[Kind], told: Told, why: str) -> Tally:
    """Return the answers of which something is true among those of which it is told."""
    counts: dict[tuple[str, ...], list[int]] = {}
    for kind in kinds:
        if (is_hit := told(kind)) is not None:
            found = counts.setdefault(kind.cell, [0, 0])
            found[0] += kind.n * is_hit
            found[1] += kind.n
    names = [name for name in sorted(counts) if counts[name][1]]
    # Of pooled speakers the speaker is the cluster.
    own = {kind.cell: kind.cell[2:] or kind.item.cluster for kind in kinds}
    pooled = any(len(name) > 2 for name in names)
    return Tally(
        tuple(counts[name][0] for name in names),
        tuple(counts[name][1] for name in names),
        why,
        tuple(own.get(name) or name for name in names) if any(own.values()) else None,
        bool(kinds) and all(kind.fixed for kind in kinds),
        any(kind.shared for kind in kinds),
        tuple(name[:2] for name in names) if pooled else None,
    )


def _kinds(table: Table, subtest: Subtest, rows: Ints, scorer: str | None) -> list[Kind]:
    columns, closed = table.columns, subtest.task.closed
    clusters, names = table.clusters
    given = [table.verdict(scorer, policy, rows) for policy in POLICIES] if scorer else []
    codes = [np.where(np.isnan(one.values), 0, 1 + (one.values == 1.0)) for one in given]
    reasons = [np.where(code, one.reasons, 0) for one, code in zip(given, codes, strict=True)]
    first, times, _ = alike(
        (table.place[rows], len(table.known)),
        (columns.options[table.rows[rows]], len(columns.shown)),
        (clusters[rows], len(names)),
        (table.fixed[rows], 2),
        (table.shared[rows], 2),
        *((code, 3) for code in codes),
        *((reason, int(reason.max(initial=0)) + 1) for reason in reasons if closed),
    )
    at = rows[first]
    read = [
        [
            (code == 2, columns.reasons.get(reason, "") if closed else "") if code else None
            for code, reason in zip(own[first].tolist(), why[first].tolist(), strict=True)
        ]
        for own, why in zip(codes, reasons, strict=True)
    ] or [[None] * len(at)] * len(POLICIES)
    return [
        Kind(table.item(place), columns.shown[shown], names[cluster], verdicts, *others)
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


def _unread(subtest: Subtest, kinds: Sequence[Kind]) -> dict[str, str]:
    """Return the policies that read none of the scored answers, with the reason: the language."""
    if is_english(subtest.language) or all(kind.verdicts[0] is None for kind in kinds):
        return {}
    unspaced = not subtest.task.closed and is_unspaced_language(subtest.language)
    reason = NO_SPACES if unspaced else not_available(subtest.language)
    return {
        policy: reason
        for at, policy in enumerate(POLICIES)
        if all(kind.verdicts[at] is None for kind in kinds)
    }


def _answers(subtest: Subtest, kinds: Sequence[Kind]) -> Answers:
    answers: dict[str, dict[int, StoredAnswer]] = {name: {} for name in POLICIES}
    for kind in kinds if subtest.task.closed else ():
        item, options = kind.item, kind.shown
        if item.expected is None:
            continue
        if subtest.task.answers:
            options = item.options or subtest.possible_answers
        read = {
            verdict: read_reason(*verdict, item.expected, options, item.foils)
            for verdict in set(kind.verdicts)
            if verdict is not None
        }
        for policy, verdict in zip(POLICIES, kind.verdicts, strict=True):
            if verdict is not None:
                answers[policy][id(kind)] = read[verdict]
    return answers


def _corrected(accuracy: Tally, c: float) -> list[EstimatedInterval]:
    """Return the intervals corrected for guessing: (x - c) / (1 - c) is monotone."""
    return [
        replace(
            one,
            interval=(ends := one.interval)
            and Interval((ends.low - c) / (1 - c), (ends.high - c) / (1 - c)),
        )
        for one in accuracy.intervals()
    ]


def _of_yes(
    own: Result,
    kinds: Sequence[Kind],
    answers: Answers,
    unread: Mapping[str, str],
    yes: str | None,
) -> Iterator[Result]:
    """Yield the share of yes among the answers that are yes or no, and the balanced accuracy."""
    for policy, read in answers.items():
        if yes is None:
            yield replace(own, measure=YES_RATE.id, policy=policy, value=_NOT_YES_NO)
            yield replace(own, measure=BALANCED.id, policy=policy, value=_NOT_YES_NO)
            continue

        def said(kind: Kind, read: Mapping[int, StoredAnswer] = read) -> bool | None:
            answer = read.get(id(kind))
            return None if answer is None or answer.chosen is None else answer.chosen == yes

        yield _tally(kinds, said, unread.get(policy, NEITHER)).result(own, YES_RATE.id, policy)
    for at, (policy, read) in enumerate(answers.items() if yes is not None else ()):
        # Each item has one weight, as in the accuracy.
        own_read = [(kind, read[id(kind)].chosen) for kind in kinds if id(kind) in read and kind.n]
        given: Counter[str] = Counter()
        for kind, _ in own_read:
            given[kind.item.id] += kind.n
        common = math.lcm(*given.values())
        pairs: Counter[tuple[str, str | None]] = Counter()
        for kind, chosen in own_read:
            pairs[kind.item.expected or "", chosen] += kind.n * (common // given[kind.item.id])
        value = Estimate(None, unread[policy]) if policy in unread else balanced_accuracy(pairs)
        n = sum(kind.n for kind in kinds if kind.verdicts[at] is not None)
        yield replace(own, measure=BALANCED.id, policy=policy, value=value, n=n)


def _errors_by_foil(
    own: Result, answers: Answers, unread: Mapping[str, str], kinds: Sequence[Kind]
) -> Iterator[Result]:
    """Yield the errors of each kind, of the answers scored to items that offer such a foil.

    All of them offer ``ambiguous`` and ``no-option``; of ``untold`` only those with such an error
    are counted, so that it has no interval.
    """
    scored = [kind for kind in kinds if id(kind) in answers["exact"]]
    offering = {
        error: [kind for kind in scored if error in kind.item.foils.values()]
        for error in dict.fromkeys(error for kind in scored for error in kind.item.foils.values())
    }
    for error in (OTHER_OPTION, "ambiguous", "no-option"):
        offering.setdefault(error, scored)
    offering[OTHER_OPTION] = [kind for kind in scored if len(kind.shown) > len(kind.item.foils) + 1]
    untold = [
        kind
        for kind in scored
        if any(id(kind) in read and read[id(kind)].error == UNTOLD for read in answers.values())
    ]
    if untold:
        offering[UNTOLD] = untold
    for error, chosen in offering.items():
        for policy, read in answers.items():

            def named(kind: Kind, error: str = error, read: Any = read) -> bool | None:
                return read[id(kind)].error == error if id(kind) in read else None

            tally = _tally(chosen, named, unread.get(policy, "no such item"))
            yield tally.result(
                own,
                FOIL_ERRORS.id,
                policy,
                feature=error,
                n=sum(kind.n for kind in chosen),
                total=None if policy in unread else sum(tally.hits),
                **({"ends": tuple} if error == UNTOLD else {}),
            )


def _baselines(subtest: Subtest, kinds: Sequence[Kind], yes: str | None) -> dict[str, Estimate]:
    """Return the baselines that apply to a subtest, ``yes`` being the battery's word for Yes.

    Each item has one weight, as in the accuracy, whatever the number of its responses.
    """
    task = subtest.task
    given: Counter[str] = Counter()
    for kind in kinds:
        given[kind.item.id] += kind.n
    common = math.lcm(*filter(None, given.values()))
    keyed: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for kind in kinds:
        if (expected := kind.item.expected) is not None and kind.n:
            keyed[expected, kind.shown] += kind.n * (common // given[kind.item.id])
    sizes: Counter[int] = Counter()
    keys: Counter[str] = Counter()
    for (expected, shown), n in keyed.items():
        sizes[len(shown) or (0 if task.options else len(task.answers))] += n
        keys[expected] += n
    if task.options:
        return {"always_first": always_first(keyed), "guessing": guessing_rate(sizes)}
    if task.answers:
        always = {} if not yes else {"always_yes": always_yes(keys, yes)}
        return {**always, "guessing": guessing_rate(sizes)}
    return {}


def _positions(own: Result, kinds: Sequence[Kind], answers: Answers) -> Iterator[Result]:
    """Yield right answers by the place of the key (exact), and answers by their own (extracted).

    There are none where the right option was always at one place.
    """
    counts: Counter[tuple[tuple[str, ...], str, bool, str | None]] = Counter()
    for kind in kinds:
        if (answer := answers["extracted"].get(id(kind))) is not None:
            exact = kind.verdicts[0]
            right = exact is not None and exact[0]
            counts[kind.shown, kind.item.expected or "", right, answer.chosen] += kind.n
    made = positions(counts)
    if sum(position.keyed > 0 for position in made) < 2:
        return
    for place in made:
        at = replace(own, feature=str(place.number))
        yield replace(at, measure=POSITION_ACCURACY.id, value=place.accuracy, n=place.keyed,
                      total=place.correct)  # fmt: skip
        yield replace(at, measure=POSITION_SHARE.id, value=place.share, n=place.of,
                      total=place.chosen)  # fmt: skip


def _measures(
    table: Table, subtest: Subtest, rows: Ints, scorer: str | None, own: Result
) -> Iterator[Found]:
    """Yield the means of what the scorers of a subtest measured beside their verdicts."""
    text, usable = subtest.task.connected, table.usable[rows]
    verdicts = [
        {source.verdict_measure(scorer, policy) for policy in POLICIES} if scorer else set()
        for source in table.sources
    ]
    made: list[tuple[tuple[int, int, int], list[Found]]] = []
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
            at = np.flatnonzero(rated)
            if not len(at):
                continue
            values = given.values[at]
            if not all(defined_at(measure, size) for size in (0.0, 1e9)):
                different, which = np.unique(sizes[at], return_inverse=True)
                known = [
                    defined_at(measure, None if np.isnan(size) else size)
                    for size in different.tolist()
                ]
                values = np.where(np.array(known)[which], values, np.nan)
            kinds: set[MeasureKind] = {
                table.sources[place].measures_of(rater).get(measure, "number")
                for place in distinct(table.source[rows[at]]).tolist()
            }
            kind: MeasureKind = kinds.pop() if len(kinds) == 1 else "number"
            first = int(rows[at[0]])
            named = replace(own, measure=measure, rater=rater, kind=kind)
            made.append(((first, int(order[first]), rank), list(mean_of(values, named))))
    for _, results in sorted(made, key=itemgetter(0)):
        yield from results


def mean_of(values: NDArray[np.float64], own: Result) -> Iterator[Found]:
    """Yield the mean of values, nan where one is undefined, and counts of them.

    ``own`` says of what; with each result is whether it is a value, and not a count.
    """
    known = values[~np.isnan(values)]
    # A sum of integers is exact in any order.
    whole = bool((known == np.rint(known)).all())
    total = float(known.sum()) if whole else math.fsum(known.tolist())
    mean = ratio(total, len(known), "undefined for every response")
    yield replace(own, value=mean, n=len(known), total=total), True
    of = {"part": own.part, "rater": own.rater, "feature": own.measure}
    yield count("nonzero", int(np.count_nonzero(known)), **of), False
    yield count("undefined", len(values) - len(known), **of), False
