"""One participant over several sessions: right answers, item by item, in sets of items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tabwb.records.errors import UsageError
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.marks import marks_of
from tabwb.report.summaries.summary import named_of
from tabwb.scoring.estimate import (
    NO_VALUE,
    Estimand,
    Estimate,
    EstimatedInterval,
    Interval,
    clopper_pearson,
    ratio,
)
from tabwb.scoring.participant_tests import (
    McNemar,
    SetDifference,
    WeightedTest,
    compare_sets,
    mcnemar,
    mcnemar_interval,
    rate_of_change_weights,
    slope_weights,
    weighted_test,
)
from tabwb.scoring.permutation import holm

ALL_ITEMS = "all items"
LEAST_SESSIONS = 3
"""Sessions from which on there is a trend; two are compared by McNemar's test."""
CAUTION = (
    "For research only: these figures describe answers to these items in these sessions and say "
    "nothing about a person's condition or care."
)
FORM_OF_THE_DAY = (
    "A good or a bad day affects all items of a session at once, but the tests take items as "
    "independent: at the level .05 trend and rate of change reject .06 to .16 of true null "
    "hypotheses on average if days differ by an sd of 0.25 to 0.5 logits, and up to .44 with 80 "
    "items (docs/uncertainty.md). McNemar's test of two sessions cannot tell a good day from a "
    "lasting change."
)
BY_RULE = (
    "{rule} of {n} responses are scored by the battery's rule on a transcript alone, and not by a "
    "listener. Such scores are a draft until a trained listener has heard the recording (tabwb "
    "trial score)."
)
UNLIKE = (
    "The sessions are not scored alike ({each}): a difference between them can be one of scoring. "
    "Score all sessions in the same way before you compare them."
)
UNSCORED = (
    "score the responses by ear (tabwb trial score ID ITEM SCORE), or transcribe them (tabwb name "
    "BATTERY --speaker ID --resume ID --transcriber SPEC)"
)
"""What to do where no response has a verdict."""
ALIKE = (
    "every item has the same weighted sum: there is no interval; see McNemar's test of the first "
    "and the last session"
)
"""Why there is no interval."""

Place = tuple[str, str]
"""Subtest and item."""


@dataclass(frozen=True, slots=True)
class Session:
    """One administration.

    Attributes:
        administration: its number.
        date: the day of its answers, empty where it is not known.
        by_listener, by_rule: of pictures named aloud, how many responses a listener's score or code
            decides, and how many the battery's rule on a transcript.
    """

    administration: int
    date: str
    by_listener: int = 0
    by_rule: int = 0


@dataclass(frozen=True, slots=True)
class SessionShare:
    """Right answers of a set in one session; the interval is exact, for prompts like these."""

    session: int
    right: int
    of: int
    share: Estimate
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Step:
    """Two sessions (from 1) compared over the items of a set.

    Attributes:
        difference: share right in the later session less that in the earlier one.
        interval: of the difference, for prompts like these.
        adjusted: p corrected by Holm's method over the steps of the set.
    """

    first: int
    second: int
    items: int
    difference: Estimate
    interval: EstimatedInterval
    test: McNemar | None
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class SetOfItems:
    """What is said of one set of items.

    Attributes:
        items: with one answer in every session; left_out: those without.
        trend, rate_of_change: None where they do not apply, with the reason.
    """

    name: str
    items: tuple[Place, ...]
    left_out: tuple[Place, ...]
    shares: tuple[SessionShare, ...]
    steps: tuple[Step, ...]
    trend: WeightedTest | None
    trend_reason: str
    rate_of_change: WeightedTest | None
    rate_reason: str


@dataclass(frozen=True, slots=True)
class BetweenSets:
    """The change of one set of items compared with that of another; ``measure``: of what."""

    measure: str
    first: str
    second: str
    test: SetDifference


@dataclass(frozen=True, slots=True)
class Change:
    """A participant's answers to one battery over sessions.

    Attributes:
        answers: by (subtest, item), whether it was right in each session; None without one answer.
        baselines: sessions before treatment; None where not told.
        without: for each session, how many items that others answered have no answer in it.
    """

    participant: str
    battery: str
    version: str
    sessions: tuple[Session, ...]
    answers: Mapping[Place, tuple[bool | None, ...]]
    sets: tuple[SetOfItems, ...]
    between: tuple[BetweenSets, ...]
    baselines: int | None = None
    without: tuple[int, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the tests lack: items without an answer, scores by a listener; empty if nothing."""
        return (*self._left_out(), *self._scored())

    def _scored(self) -> Iterator[str]:
        rule = sum(session.by_rule for session in self.sessions)
        n = rule + sum(session.by_listener for session in self.sessions)
        if rule:
            yield BY_RULE.format(rule=rule, n=n)
        shares = {
            session.by_rule / (session.by_rule + session.by_listener)
            for session in self.sessions
            if session.by_rule + session.by_listener
        }
        if len(shares) > 1:
            each = (
                f"session {at}: {session.by_listener} by a listener, {session.by_rule} by the rule"
                for at, session in enumerate(self.sessions, start=1)
            )
            yield UNLIKE.format(each="; ".join(each))

    def _left_out(self) -> tuple[str, ...]:
        whole = self.sets[0]
        if not whole.left_out:
            return ()
        lacking = ", ".join(
            f"session {at} ({', '.join(filter(None, (session.date, f'#{session.administration}')))}"
            f") lacks {n}"
            for at, (session, n) in enumerate(
                zip(self.sessions, self.without, strict=True), start=1
            )
            if n
        )
        return (
            f"{len(whole.left_out)} of {len(self.answers)} items are left out, because they do not "
            f"have exactly one answer in every session: {lacking}. Leave a session out with "
            "--sessions.",
        )


def change_of(
    members: Sequence[AdministrationData],
    sets: Mapping[str, Iterable[Place]] | None = None,
    baselines: int | None = None,
) -> Change:
    """Return the change over sessions, which are administrations in order of day and number.

    Only items with exactly one answer in every session count. Sessions are taken as equally spaced.
    """
    ordered = sorted(
        members, key=lambda member: (member.administration.session_date, member.administration.id)
    )
    first = ordered[0].administration
    if len(ordered) < 2:
        raise UsageError(
            f"'{first.conditions.study_id}' has one session with {first.battery}",
            allowed="two sessions or more",
            hint="tabwb results lists administrations",
        )
    if baselines is not None and not 1 <= baselines < len(ordered):
        raise UsageError(
            f"{baselines} sessions before treatment of {len(ordered)}",
            allowed=f"1 to {len(ordered) - 1}",
        )
    answers = _answers(ordered)
    if not answers:
        raise UsageError(
            f"no answer of '{first.conditions.study_id}' to {first.battery} is scored right or "
            "wrong",
            hint=UNSCORED,
        )
    named = {ALL_ITEMS: tuple(answers), **{name: tuple(own) for name, own in (sets or {}).items()}}
    made = tuple(_set(name, own, answers, len(ordered), baselines) for name, own in named.items())
    return Change(
        first.conditions.study_id or first.conditions.examinee,
        first.battery,
        first.battery_version,
        tuple(map(_session, ordered)),
        answers,
        made,
        tuple(_between(made[1:], answers, len(ordered), baselines)),
        baselines,
        tuple(
            sum(answered[at] is None for answered in answers.values()) for at in range(len(ordered))
        ),
    )


def _session(member: AdministrationData) -> Session:
    given = member.administration
    named = [one.summary for one in named_of([member.source])]
    return Session(
        given.id,
        given.session_date,
        sum(summary.by_listener for summary in named),
        sum(summary.by_rule for summary in named),
    )


def _answers(ordered: Sequence[AdministrationData]) -> dict[Place, tuple[bool | None, ...]]:
    given: dict[Place, list[list[bool]]] = {}
    for at, member in enumerate(ordered):
        for marks in marks_of([member.source]):
            for item, right in zip(marks.item.tolist(), marks.right.tolist(), strict=True):
                place = marks.subtest.id, marks.items[item].id
                given.setdefault(place, [[] for _ in ordered])[at].append(right)
    order = [
        (subtest.id, item.id) for subtest in ordered[0].battery.subtests for item in subtest.items
    ]
    return {
        place: tuple(one[0] if len(one) == 1 else None for one in given[place])
        for place in order
        if place in given
    }


def _set(
    name: str,
    places: Sequence[Place],
    answers: Mapping[Place, tuple[bool | None, ...]],
    sessions: int,
    baselines: int | None,
) -> SetOfItems:
    rows = _complete(places, answers)
    scores = [[float(right) for right in row] for row in rows.values()]
    steps = list(pairwise(range(sessions)))
    if sessions > 2:
        steps.append((0, sessions - 1))
    trend, trend_reason = _weighted(
        scores,
        slope_weights(sessions) if sessions >= LEAST_SESSIONS else None,
        f"trend: fewer than {LEAST_SESSIONS} sessions",
    )
    rate, rate_reason = _weighted(scores, *_rate_weights(sessions, baselines))
    return SetOfItems(
        name,
        tuple(rows),
        tuple(place for place in places if place not in rows),
        tuple(_share(at, [row[at] for row in rows.values()]) for at in range(sessions)),
        _adjusted([_step(a, b, list(rows.values())) for a, b in steps]),
        trend,
        trend_reason,
        rate,
        rate_reason,
    )


def _adjusted(steps: Sequence[Step]) -> tuple[Step, ...]:
    found = iter(holm([step.test.p for step in steps if step.test is not None]))
    return tuple(
        step if step.test is None else replace(step, adjusted=next(found)) for step in steps
    )


def _complete(
    places: Iterable[Place], answers: Mapping[Place, tuple[bool | None, ...]]
) -> dict[Place, tuple[bool, ...]]:
    rows = {}
    for place in places:
        known = tuple(right for right in answers.get(place, (None,)) if right is not None)
        if place in answers and len(known) == len(answers[place]):
            rows[place] = known
    return rows


def _rate_weights(sessions: int, baselines: int | None) -> tuple[tuple[float, ...] | None, str]:
    if baselines is None:
        return (
            None,
            "rate of change: the number of sessions before treatment was not given (--baselines)",
        )
    if baselines < 2:
        return None, "rate of change: fewer than two sessions before treatment"
    return rate_of_change_weights(baselines, sessions), ""


def _weighted(
    scores: Sequence[Sequence[float]], weights: Sequence[float] | None, reason: str
) -> tuple[WeightedTest | None, str]:
    if weights is None:
        return None, reason
    if len(scores) < 2:
        return None, "fewer than two items with an answer in every session"
    made = weighted_test(scores, weights)
    return (replace(made, reason=ALIKE) if made.reason else made), ""


def _share(session: int, right: Sequence[bool]) -> SessionShare:
    n = len(right)
    share = ratio(sum(right), n, "no item with an answer in every session")
    return SessionShare(session + 1, sum(right), n, share, clopper_pearson(sum(right), n))


def _step(first: int, second: int, rows: Sequence[Sequence[bool]]) -> Step:
    before, after = [row[first] for row in rows], [row[second] for row in rows]
    difference = ratio(
        sum(after) - sum(before), len(rows), "no item with an answer in every session"
    )
    if not rows:
        nothing = EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, None, NO_VALUE)
        return Step(first + 1, second + 1, 0, difference, nothing, None)
    test = mcnemar(before, after)
    ends = mcnemar_interval(test.gained, test.lost, len(rows))
    interval = EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, ends)
    return Step(first + 1, second + 1, len(rows), difference, interval, test)


def _between(
    sets: Sequence[SetOfItems],
    answers: Mapping[Place, tuple[bool | None, ...]],
    sessions: int,
    baselines: int | None,
) -> Iterable[BetweenSets]:
    contrasts = [("trend", slope_weights(sessions))]
    if sessions > 2:
        weights, _ = _rate_weights(sessions, baselines)
        contrasts += [("rate of change", weights)] if weights is not None else []
    else:
        contrasts = [("difference", (-1.0, 1.0))]
    for measure, weights in contrasts:
        for at, first in enumerate(sets):
            for second in sets[at + 1 :]:
                own = [
                    [[float(right or 0) for right in answers[place]] for place in each.items]
                    for each in (first, second)
                ]
                if min(map(len, own)) > 1 and not {*first.items} & {*second.items}:
                    test = compare_sets(own[0], own[1], weights)
                    yield BetweenSets(measure, first.name, second.name, test)
