"""From the answers to a subtest, counted, to its summary.

The answers are counted over columns (:mod:`tabwb.report.summaries.columns.subtests`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tabwb.battery.model import Item, Subtest
from tabwb.records.languages import (
    NO_SPACES,
    is_english,
    is_unspaced_language,
    not_available,
)
from tabwb.records.states import Protocol
from tabwb.report.measures import NEITHER, SUBTEST_MEASURES, ScoredAnswers
from tabwb.report.summaries.subtests import FoilErrors, Measured, Share, SubtestSummary
from tabwb.scoring.burden import Usable
from tabwb.scoring.choice import POLICIES, UNTOLD, Position, StoredAnswer, positions, read_reason
from tabwb.scoring.estimate import Estimate, always_first, always_yes, guessing_rate
from tabwb.tasks.task_type import TaskType

UNLISTED = ("other-option", "ambiguous", "no-option")
"""Kinds of error beside the battery's foil kinds."""


class AnswerKind(NamedTuple):
    """Answers to a subtest that count alike.

    Attributes:
        shown: the options in the order shown.
        cluster: answers in one cluster are not independent: that of the item, or of the speaker
            where several are pooled.
        verdicts: of the deciding scorer under each of :data:`POLICIES`: whether the answer is
            right, with the reason; None where it has none. Only closed tasks need the reasons.
        fixed: whether nothing was drawn; shared: whether the random stream is shared.
        n: how many answers.
    """

    item: Item
    shown: tuple[str, ...]
    cluster: tuple[str, ...]
    verdicts: tuple[tuple[bool, str] | None, ...]
    fixed: bool
    shared: bool
    n: int


@dataclass(frozen=True, slots=True, eq=False)
class CountedSubtest:
    """The answers to one subtest, counted: what its summary is computed from.

    Attributes:
        planned, answered, statuses, usable: see :class:`SubtestSummary`.
        kinds: the answers that count, in the order in which they come first.
        asked: how many different pairs of examinee and item they have.
        protocol: of all administrations with an answer; None where these differ.
        measures: further measures, see :class:`SubtestSummary`.
    """

    planned: int
    answered: int
    kinds: Sequence[AnswerKind]
    asked: int
    protocol: Protocol | None
    statuses: Mapping[str, int]
    usable: Usable
    measures: Sequence[Measured]


def summarise_subtest(subtest: Subtest, counted: CountedSubtest) -> SubtestSummary:
    """Return the summary of one subtest."""
    kinds, task = counted.kinds, subtest.task
    unread = _unread(subtest, kinds)
    share = replace(_share_of(kinds), unread=unread)
    verdicts = _verdicts(subtest, kinds)
    yes = next(iter(subtest.answers), "" if task.answers else None)
    baselines = _baselines(task, kinds, yes)
    tags = dict.fromkeys(tag for kind in kinds for tag in kind.item.tags)
    names = Counter(one.measure for one in counted.measures)
    said_yes = None
    if yes is not None:
        said_yes = replace(_said_yes(verdicts, kinds, yes), unread=unread)
    scored = {
        policy: ScoredAnswers(
            n=share.n,
            accuracy=share.accuracy(policy),
            pairs=_pairs(verdicts[policy]),
            guessing=baselines.get("guessing"),
            protocol=counted.protocol,
            said_yes=None if said_yes is None else said_yes.accuracy(policy, NEITHER),
        )
        for policy in POLICIES
    }
    return SubtestSummary(
        id=subtest.id,
        title=subtest.title,
        kind=subtest.response,
        planned=counted.planned,
        answered=counted.answered,
        share=share,
        baselines=baselines,
        estimates={
            measure.id: {
                policy: Estimate(None, unread[policy])
                if measure.yes_no and task.answers and policy in unread
                else measure.compute(scored[policy])
                for policy in measure.policies
            }
            for measure in SUBTEST_MEASURES
            if measure.compute is not None
        },
        by_tag={
            tag: replace(
                _share_of([kind for kind in kinds if tag in kind.item.tags]), unread=unread
            )
            for tag in tags
        },
        said_yes=said_yes,
        by_foil=_errors_by_foil(verdicts, unread) if task.options else {},
        measures={
            one.measure if names[one.measure] == 1 else f"{one.rater}: {one.measure}": one
            for one in counted.measures
        },
        statuses=counted.statuses,
        repeated=share.n - counted.asked,
        usable=counted.usable,
        positions=_positions(verdicts) if task.options else (),
    )


def _unread(subtest: Subtest, kinds: Sequence[AnswerKind]) -> dict[str, str]:
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


def _share_of(kinds: Sequence[AnswerKind]) -> Share:
    """Return the right answers among answers that count."""
    counts: dict[tuple[str, ...], list[int]] = {}
    for kind in kinds:
        found = counts.setdefault(kind.cluster, [0] * (2 * len(POLICIES)))
        for at, verdict in enumerate(kind.verdicts):
            if verdict is not None:
                found[2 * at] += kind.n * verdict[0]
                found[2 * at + 1] += kind.n
    items = [found for _, found in sorted(counts.items())]
    by_item = {
        policy: tuple((item[2 * at], item[2 * at + 1]) for item in items if item[2 * at + 1])
        for at, policy in enumerate(POLICIES)
    }
    # Of pooled speakers the speaker is the cluster.
    own = {kind.cluster: kind.item.cluster for kind in kinds if len(kind.cluster) > 1}
    names = [own.get(cluster) or cluster for cluster in sorted(counts)]
    clusters = {
        policy: tuple(name for name, item in zip(names, items, strict=True) if item[2 * at + 1])
        for at, policy in enumerate(POLICIES)
        if any(own.values())
    }
    return Share(
        sum(kind.n for kind in kinds),
        by_item,
        clusters=clusters,
        fixed=bool(kinds) and all(kind.fixed for kind in kinds),
        shared=any(kind.shared for kind in kinds),
    )


def _said_yes(verdicts: _Verdicts, kinds: Sequence[AnswerKind], yes: str) -> Share:
    """Return yes among the answers that are yes or no, as so many right answers."""
    chosen = {
        policy: {id(kind): answer.chosen for kind, answer in given}
        for policy, given in verdicts.items()
    }

    def said(kind: AnswerKind) -> Iterator[tuple[bool, str] | None]:
        for policy in POLICIES:
            answer = chosen[policy].get(id(kind))
            yield None if answer is None else (answer == yes, "")

    return _share_of([kind._replace(verdicts=tuple(said(kind))) for kind in kinds])


_Verdicts = Mapping[str, Sequence[tuple[AnswerKind, StoredAnswer]]]
"""By policy, what the stored verdicts say, without answers that have none."""


def _verdicts(subtest: Subtest, kinds: Sequence[AnswerKind]) -> _Verdicts:
    verdicts: dict[str, list[tuple[AnswerKind, StoredAnswer]]] = {name: [] for name in POLICIES}
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
                verdicts[policy].append((kind, read[verdict]))
    return verdicts


def _pairs(
    verdicts: Sequence[tuple[AnswerKind, StoredAnswer]],
) -> Counter[tuple[str, str | None]]:
    pairs: Counter[tuple[str, str | None]] = Counter()
    for kind, answer in verdicts:
        pairs[kind.item.expected or "", answer.chosen] += kind.n
    return pairs


def _errors_by_foil(verdicts: _Verdicts, unread: Mapping[str, str]) -> dict[str, FoilErrors]:
    scored = [kind for kind, _ in verdicts["exact"]]
    found = {
        policy: {id(kind): answer.error for kind, answer in given}
        for policy, given in verdicts.items()
    }
    foils = dict.fromkeys(error for kind in scored for error in kind.item.foils.values())
    offering = {
        error: [kind for kind in scored if error in kind.item.foils.values()] for error in foils
    }
    for error in UNLISTED:
        offering.setdefault(error, scored)
    offering["other-option"] = [
        kind for kind in scored if len(kind.shown) > len(kind.item.foils) + 1
    ]
    untold = [kind for kind in scored if any(one.get(id(kind)) == UNTOLD for one in found.values())]
    if untold:
        offering[UNTOLD] = untold

    def named(kind: AnswerKind, error: str) -> AnswerKind:
        of = (found[policy].get(id(kind), "") for policy in POLICIES)
        told = ((own == error, "") if own != "" else None for own in of)
        return kind._replace(verdicts=tuple(told))

    return {
        error: FoilErrors(
            replace(_share_of([named(kind, error) for kind in kinds]), unread=unread),
            sum(kind.n for kind in kinds),
            told=error != UNTOLD,
        )
        for error, kinds in offering.items()
    }


def _baselines(task: TaskType, kinds: Sequence[AnswerKind], yes: str | None) -> dict[str, Estimate]:
    """Return the baselines that apply to a subtest, ``yes`` being the battery's word for Yes.

    Each item has one weight, as in the accuracy, whatever the number of its responses.
    """
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


def _positions(verdicts: _Verdicts) -> tuple[Position, ...]:
    """Return answers by position, none where the right option was always at one place."""
    counts: Counter[tuple[tuple[str, ...], str, bool, str | None]] = Counter()
    for kind, answer in verdicts["extracted"]:
        exact = kind.verdicts[0]
        right = exact is not None and exact[0]
        counts[kind.shown, kind.item.expected or "", right, answer.chosen] += kind.n
    made = positions(counts)
    return made if sum(position.keyed > 0 for position in made) > 1 else ()
