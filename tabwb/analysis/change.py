"""One participant over several sessions: right answers, item by item, in sets of items."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from io import TextIOWrapper
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import NamedTuple

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.frame import Place
from tabwb.analysis.keys import Filter
from tabwb.analysis.measures import ACCURACY
from tabwb.analysis.selection import Selection, outlined, selected
from tabwb.analysis.statistics.marks import marks_of
from tabwb.analysis.statistics.summary import named_of
from tabwb.analysis.tables.declared import LIKE, ends, measured, number, p_value, text, whole
from tabwb.battery.model import Subtest
from tabwb.records.columns import Column
from tabwb.records.errors import UsageError
from tabwb.records.files import open_file
from tabwb.records.trials import Administration
from tabwb.records.words import separated
from tabwb.scoring.estimate import Interval, clopper_pearson, ratio
from tabwb.scoring.participant_tests import (
    WeightedTest,
    compare_sets,
    mcnemar,
    mcnemar_interval,
    rate_of_change_weights,
    slope_weights,
    weighted_test,
)
from tabwb.scoring.permutation import holm
from tabwb.store.store import Store
from tabwb.tables.table import RecordColumn, Table, records_table, table_of

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
FEW_ITEMS = "fewer than two items with an answer in every session"
NO_ITEM = "no item with an answer in every session"
UNCORRECTED = (
    "No p value is corrected for the number of sets, pairs of sessions and measures; only corr. "
    "(p_adjusted) is, by Holm's method over the pairs of sessions of a set. Sessions are taken as "
    "equally spaced: trend is the slope of the share right for each session."
)
SIDES = (
    "p is two-sided: of a difference McNemar's exact p with Tango's score interval, of a trend or "
    "a rate of change by sign flips over items with the inverted test as its interval, of two sets "
    "Welch's t. one-sided (p_one_sided) is p of more right answers later, of two sets that the "
    "first changes more."
)
SPECIFIC = (
    "A change is specific to treatment only if trend and rate of change (--baselines) both show "
    "it (Howard, Best and Nickels 2015), and, of a trained set, if it exceeds that of an untrained "
    "one."
)
Right = tuple[bool | None, ...]
"""Whether an answer was right, in each session; None without one answer."""


DAY = re.compile(r" \(day (\d+)\)$")


def days_of(dates: Sequence[str]) -> list[int]:
    """Return the days from the first session on; none where a day is not known, or all are one.

    A person who may not be named has days since the first session in place of dates.

    >>> days_of(["2026-01-30", "2026-02-02"]), days_of(["2026-01-30", ""])
    ([0, 3], [])
    >>> days_of(["session 1 (day 0)", "session 2 (day 28)"])
    [0, 28]
    """
    numbered = [DAY.search(given) for given in dates]
    try:
        days = [
            int(found[1]) if found else date.fromisoformat(given).toordinal()
            for given, found in zip(dates, numbered, strict=True)
        ]
    except ValueError:
        return []
    return [day - days[0] for day in days] if days and days[-1] > days[0] else []


@dataclass(frozen=True, slots=True)
class Session:
    """One administration; of pictures named aloud, how many responses a listener's score or code
    decides, and how many the battery's rule on a transcript.
    """

    administration: int
    date: str
    by_listener: int = 0
    by_rule: int = 0


class Share(NamedTuple):
    """Right answers of a set in one session, as a row of the table of sessions; the interval is
    exact, for prompts like these.
    """

    set: str
    session: int
    administration: int
    date: str
    phase: str
    correct: int
    n: int
    left_out: int
    by_listener: int | None
    by_rule: int | None
    accuracy: float | None
    interval: Interval | None
    reason: str


class ChangeTest(NamedTuple):
    """One test of a set, or of two, as a row of the table of change; see :data:`TESTS`."""

    set: str
    other_set: str
    measure: str
    sessions: str
    n_items: int
    left_out: int
    value: float | None = None
    interval: Interval | None = None
    gained: int | None = None
    lost: int | None = None
    t: float | None = None
    df: float | None = None
    p: float | None = None
    mid_p: float | None = None
    p_one_sided: float | None = None
    p_adjusted: float | None = None
    test: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SetOfItems:
    """Items with one answer in every session; left_out: those without."""

    name: str
    items: tuple[Place, ...]
    left_out: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A participant's answers to one battery over sessions, of which ``baselines`` were before
    treatment; ``without``: how many items that others answered have no answer in each.
    """

    participant: str
    battery: str
    version: str
    sessions: tuple[Session, ...]
    answers: Mapping[Place, Right]
    sets: tuple[SetOfItems, ...]
    shares: tuple[Share, ...]
    tests: tuple[ChangeTest, ...]
    baselines: int | None = None
    without: tuple[int, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The places of the sessions that are compared: each with the next, first and last."""
        return _pairs(len(self.sessions))

    def steps(self, name: str) -> list[ChangeTest]:
        """Return the comparisons of :attr:`pairs` over a set of items."""
        return [one for one in self.tests
                if (one.set, one.other_set, one.measure) == (name, "", "difference")]  # fmt: skip

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the tests lack: items without an answer, scores by a listener; empty if nothing."""
        return (*self._left_out(), *self._scored())

    def _scored(self) -> Iterator[str]:
        n = [one.by_rule + one.by_listener for one in self.sessions]
        if rule := sum(one.by_rule for one in self.sessions):
            yield BY_RULE.format(rule=rule, n=sum(n))
        shares = {one.by_rule / own for one, own in zip(self.sessions, n, strict=True) if own}
        if len(shares) > 1:
            each = (
                f"session {at}: {session.by_listener} by a listener, {session.by_rule} by the rule"
                for at, session in enumerate(self.sessions, start=1)
            )
            yield UNLIKE.format(each="; ".join(each))

    def _left_out(self) -> Iterator[str]:
        given = zip(self.sessions, self.without, strict=True)
        lacking = [
            f"session {at} ({', '.join(filter(None, (session.date, f'#{session.administration}')))}"
            f") lacks {n}"
            for at, (session, n) in enumerate(given, start=1)
            if n
        ]
        if left_out := self.sets[0].left_out:
            yield (
                f"{len(left_out)} of {len(self.answers)} items are left out, because they do not "
                f"have exactly one answer in every session: {', '.join(lacking)}. Leave a session "
                "out with --sessions."
            )


def in_order(members: Iterable[AdministrationData]) -> list[AdministrationData]:
    """Return sessions in order of day and number."""
    return sorted(
        members, key=lambda member: (member.administration.session_date, member.administration.id)
    )


def change_of(
    members: Sequence[AdministrationData],
    sets: Mapping[str, Iterable[Place]] | None = None,
    baselines: int | None = None,
) -> Change:
    """Return the change over sessions, which are administrations in order of day and number.

    Only items with exactly one answer in every session count. Sessions are taken as equally spaced.
    """
    ordered = in_order(members)
    first, n = ordered[0].administration, len(ordered)
    examinee = first.conditions.study_id or first.conditions.examinee
    if n < 2:
        raise UsageError(
            f"'{examinee}' has one session with {first.battery}",
            allowed="two sessions or more",
            hint="tabwb results lists administrations",
        )
    if baselines is not None and not 1 <= baselines < n:
        raise UsageError(f"{baselines} sessions before treatment of {n}", allowed=f"1 to {n - 1}")
    answers = answers_of(ordered)
    if not answers:
        raise UsageError(
            f"no answer of '{examinee}' to {first.battery} is scored right or wrong",
            hint=UNSCORED,
        )
    whole = {place for place, right in answers.items() if None not in right}
    named: dict[str, Iterable[Place]] = {ALL_ITEMS: answers, **(sets or {})}
    made = []
    for name, places in named.items():
        own = tuple(places)
        left_out = tuple(place for place in own if place not in whole)
        made.append(SetOfItems(name, tuple(place for place in own if place in whole), left_out))
    given, weights = tuple(map(_session, ordered)), _weights(n, baselines)
    return Change(
        examinee,
        first.battery,
        first.battery_version,
        given,
        answers,
        tuple(made),
        tuple(share for own_set in made for share in _shares(own_set, answers, given, baselines)),
        (
            *(test for own_set in made for test in _tests(own_set, answers, n, weights)),
            *_between(made[1:], answers, n, weights),
        ),
        baselines,
        tuple(sum(right[at] is None for right in answers.values()) for at in range(n)),
    )


def _session(member: AdministrationData) -> Session:
    given = member.administration
    named = [one.summary for one in named_of([member])]
    return Session(
        given.id,
        given.session_date,
        sum(summary.by_listener for summary in named),
        sum(summary.by_rule for summary in named),
    )


def answers_of(ordered: Sequence[AdministrationData]) -> dict[Place, Right]:
    """Return of each item with a verdict whether the answer was right, in each session."""
    given: dict[Place, list[list[bool]]] = {}
    for at, member in enumerate(ordered):
        for marks in marks_of([member]):
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


def _pairs(sessions: int) -> tuple[tuple[int, int], ...]:
    return (*pairwise(range(sessions)), *([(0, sessions - 1)] if sessions > 2 else []))


def _shares(
    own: SetOfItems,
    answers: Mapping[Place, Right],
    sessions: Sequence[Session],
    baselines: int | None,
) -> Iterator[Share]:
    aloud = any(session.by_listener or session.by_rule for session in sessions)
    n = len(own.items)
    for at, session in enumerate(sessions):
        right = sum(bool(answers[place][at]) for place in own.items)
        phase = "" if baselines is None else "before" if at < baselines else "after"
        heard, ruled = (session.by_listener, session.by_rule) if aloud else (None, None)
        share = ratio(right, n, NO_ITEM)
        yield Share(
            own.name, at + 1, session.administration, session.date, phase, right, n,
            len(own.left_out), heard, ruled, share.value, clopper_pearson(right, n), share.reason,
        )  # fmt: skip


Weights = tuple[tuple[str, tuple[float, ...] | None, str], ...]
"""Measure, the weights of the sessions, and why there are none."""


def _weights(sessions: int, baselines: int | None) -> Weights:
    trend = slope_weights(sessions) if sessions >= LEAST_SESSIONS else None
    found: Weights = (("trend", trend, f"trend: fewer than {LEAST_SESSIONS} sessions"),)
    if baselines is None:
        return found
    rate = rate_of_change_weights(baselines, sessions) if baselines > 1 else None
    why = "rate of change: fewer than two sessions before treatment"
    return (*found, ("rate_of_change", rate, why))


def _tests(
    own: SetOfItems, answers: Mapping[Place, Right], sessions: int, weights: Weights
) -> Iterator[ChangeTest]:
    rows = _scores(own, answers)
    n, left_out = len(rows), len(own.left_out)
    steps = []
    for first, second in _pairs(sessions):
        words = f"{first + 1} to {second + 1}"
        made = ChangeTest(own.name, "", "difference", words, n, left_out, reason=NO_ITEM)
        if rows:
            before, after = ([bool(row[at]) for row in rows] for at in (first, second))
            test = mcnemar(before, after)
            made = made._replace(
                value=(sum(after) - sum(before)) / n, gained=test.gained, lost=test.lost,
                p=test.p, mid_p=test.mid_p, reason="",
                interval=mcnemar_interval(test.gained, test.lost, n),
            )  # fmt: skip
        steps.append(made._replace(test="McNemar, exact, two-sided"))
    adjusted = iter(holm([one.p for one in steps if one.p is not None]))
    for one in steps:
        yield one if one.p is None else one._replace(p_adjusted=next(adjusted))
    for measure, given, why in weights:
        made = ChangeTest(own.name, "", measure, f"1 to {sessions}", n, left_out)
        if given is None or n < 2:
            yield made._replace(reason=why if given is None else FEW_ITEMS)
            continue
        found = weighted_test(rows, given)
        yield _tested(
            made._replace(test="sign flips over items, two-sided"),
            replace(found, reason=ALIKE if found.reason else ""),
        )


def _between(
    sets: Sequence[SetOfItems], answers: Mapping[Place, Right], sessions: int, weights: Weights
) -> Iterator[ChangeTest]:
    contrasts = [(measure, given) for measure, given, _ in weights if given is not None]
    if sessions < LEAST_SESSIONS:
        contrasts = [("difference", (-1.0, 1.0))]
    for (measure, given), (first, second) in product(contrasts, combinations(sets, 2)):
        own, other = (_scores(each, answers) for each in (first, second))
        if min(len(own), len(other)) > 1 and not {*first.items} & {*second.items}:
            made = ChangeTest(
                first.name, second.name, measure, f"1 to {sessions}", len(own) + len(other),
                len(first.left_out) + len(second.left_out),
                test=f"Welch's t over items, two-sided ({first.name} - {second.name})",
            )  # fmt: skip
            yield _tested(made, compare_sets(own, other, given))


def _tested(made: ChangeTest, found: WeightedTest) -> ChangeTest:
    """Return a row with what a test over items finds."""
    return made._replace(
        value=found.value, t=found.t, df=found.df, p=found.p, p_one_sided=found.one_sided,
        reason=found.reason, interval=found.interval,
    )  # fmt: skip


def _scores(own: SetOfItems, answers: Mapping[Place, Right]) -> list[list[float]]:
    return [[float(right or 0) for right in answers[place]] for place in own.items]


# ------------------------------------------------------------------ tables


def sessions_table(change: Change) -> Table:
    """Return the right answers in each session and set of items."""
    columns = *_who(change), *SESSIONS
    return records_table("sessions", columns, change.shares, (*change.warnings, CAUTION))


def change_table(change: Change) -> Table:
    """Return the tests of change of each set of items, and between sets."""
    notes = (*change.warnings, CAUTION, SIDES, FORM_OF_THE_DAY, SPECIFIC, UNCORRECTED)
    return records_table("change", (*_who(change), *TESTS), change.tests, notes)


def change_items_table(change: Change) -> Table:
    """Return the answers item by item, with a column for each session."""
    columns = [
        Column("participant", "Participant", "the study ID"),
        Column("part", "Subtest", "the subtest"),
        Column("item", "Item", "the item"),
        Column("sets", "Sets", "sets of items that it belongs to", "list of text"),
        *(
            Column(
                f"session_{number}",
                f"{number}",
                f"whether it was right in session {number} (administration "
                f"{session.administration}, {session.date or 'date not known'})",
                "boolean",
            )
            for number, session in enumerate(change.sessions, start=1)
        ),
    ]
    rows = [
        (
            change.participant,
            *place,
            tuple(own.name for own in change.sets[1:] if place in {*own.items, *own.left_out}),
            *answers,
        )
        for place, answers in change.answers.items()
    ]
    return table_of("change-items", columns, rows, (CAUTION,))


def _who(change: Change) -> tuple[RecordColumn, ...]:
    return (
        text("participant", "Participant", "the study ID", lambda _: change.participant),
        text("battery", "Battery", "the battery's id", lambda _: change.battery),
        text("battery_version", "Version", "the battery's version", lambda _: change.version),
    )


SESSIONS = (
    text("set", "Set", "the set of items"),
    whole("session", "Session", "in order of day, from 1"),
    whole("administration", "Administration", "its number"),
    text("date", "Date", "the day of the session"),
    text("phase", "Phase", "before treatment or after it began, where that was told"),
    whole("correct", "Right", "right answers"),
    whole("n", "Of", "items with one answer in every session"),
    whole("left_out", "Left out", "items of the set without one"),
    whole("by_listener", "By listener", "of pictures named aloud, responses of the session that a "
           "listener's score or code decides"),
    whole("by_rule", "By rule", "responses of the session that the battery's rule on a transcript "
           "decides"),
    measured(ACCURACY),
    *ends("accuracy_", LIKE, "interval"),
    text("reason", "Reason", "why there is no share"),
)  # fmt: skip
"""The columns of :func:`sessions_table`."""
TESTS = (
    text("set", "Set", "the set of items"),
    text("other_set", "Less set", "the set that is subtracted"),
    text("measure", "Measure", "difference of two sessions, trend, or rate of change"),
    text("sessions", "Sessions", "that are compared"),
    whole("n_items", "Items", "with one answer in every session"),
    whole("left_out", "Left out", "items without one"),
    number("value", "Value", "difference of shares right; trend: slope of the share right for each "
           "session, taken as equally spaced; rate of change: the later slope less the earlier"),
    *ends("value_", LIKE, "interval"),
    whole("gained", "Gain", "items right only in the later session"),
    whole("lost", "Loss", "items right only in the earlier session"),
    number("t", "t", "of two sets the statistic of Welch's t test; of a trend or a rate of change "
           "the mean over its standard error, for comparison"),
    number("df", "df", "its degrees of freedom", digits=1),
    p_value("p", "p", "of no change, two-sided"),
    p_value("mid_p", "mid-p", "the same, with half the weight of what was observed"),
    p_value("p_one_sided", "one-sided", "p of the same test, one-sided: more right answers "
            "later, or a larger change of the first set; of a difference there is none"),
    p_value("p_adjusted", "corr.", "p corrected by Holm's method over the pairs of sessions of a "
            "set; other tests are not corrected"),
    text("test", "Test", "how p was computed"),
    text("reason", "Reason", "why there is no test"),
)  # fmt: skip
"""The columns of :func:`change_table`."""


# ------------------------------------------------------------------ sessions and sets, as named


Where = str | Iterable[str | Filter] | Mapping[str, object]


def members_of(
    store: Store,
    participant: str,
    battery: str | None = None,
    *,
    sessions: str | None = None,
    where: Where = (),
    primary: str = "",
) -> tuple[AdministrationData, ...]:
    """Return the sessions of a participant that are compared, with their answers.

    Args:
        store: that has them.
        participant: study ID.
        battery: its id, if there are sessions of several.
        sessions: numbers of administrations or days, with commas between.
        where: filters, as those of results, also on items.
        primary: whose ratings count.
    """
    selection = Selection.of(where=where, primary=primary)
    own = chosen_sessions(sessions_of(store, participant, battery, selection), sessions)
    return selected(store, [one.id for one in own], selection)


def sessions_of(
    store: Store, participant: str, battery: str | None = None, selection: Selection | None = None
) -> list[Administration]:
    """Return the administrations of a participant with answers, all of one battery version."""
    own = [one for one in store.administrations() if one.conditions.study_id == participant]
    if own and selection is not None:
        chosen_of = outlined(store, [one.id for one in own], selection)
        own = [data.administration for data in chosen_of]
    if not own:
        known = dict.fromkeys(
            one.conditions.study_id for one in store.administrations() if one.conditions.study_id
        )
        raise UsageError(
            f"there is no session of '{participant}'",
            allowed=", ".join(filter(None, known)) or "none: the store has no session of a person",
            hint="tabwb speaker list",
        )
    names = dict.fromkeys(one.battery for one in own)
    several = [
        name for name in names if sum(one.battery == name for one in own if one.answered) > 1
    ]
    if battery is None and len(names) > 1 and len(several) == 1:
        battery = several[0]
    if battery is None and len(names) > 1:
        raise UsageError(
            f"'{participant}' has sessions of several batteries",
            allowed=", ".join(names),
            hint="--battery ID",
        )
    chosen = [one for one in own if one.answered and battery in (None, one.battery)]
    if not chosen:
        raise UsageError(
            f"'{participant}' has no answers to '{battery or own[0].battery}'",
            allowed=", ".join(names),
        )
    versions = dict.fromkeys(one.battery_version for one in chosen)
    if len({one.battery_hash for one in chosen}) > 1:
        raise UsageError(
            f"'{participant}' was given several versions of {chosen[0].battery}: "
            + ", ".join(versions),
            allowed="sessions with one version",
        )
    return chosen


def chosen_sessions(sessions: Sequence[Administration], named: str | None) -> list[Administration]:
    """Return the sessions that a person names by the administration's number or by day."""
    if named is None:
        return list(sessions)
    wanted = [one.removeprefix("#") for one in separated(named)]
    known = {name for one in sessions for name in (str(one.id), one.session_date) if name}
    for name in wanted or [named]:
        if name not in known:
            raise UsageError(
                f"there is no session '{name}'",
                allowed=", ".join(f"#{one.id} ({one.session_date})" for one in sessions),
                hint="--sessions N,N or --sessions YYYY-MM-DD,YYYY-MM-DD",
            )
    return [one for one in sessions if {str(one.id), one.session_date} & set(wanted)]


def named_sets(
    members: Sequence[AdministrationData], sets: str | None
) -> Mapping[str, tuple[Place, ...]]:
    """Return the sets of items that a person names, by name."""
    subtests = members[0].battery.subtests
    if sets is None:
        return {}
    if not sets.endswith(".csv"):
        tags = dict.fromkeys(separated(sets))
        return sets_of_tags(subtests, list(tags))
    file = Path(sets)
    try:
        with TextIOWrapper(open_file(file), encoding="utf-8-sig", newline="") as lines:
            return sets_of_rows(subtests, list(csv.DictReader(lines)), file.name)
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"'{sets}' cannot be read: {problem}", where="--sets") from problem


def tags_as_sets(subtests: Sequence[Subtest]) -> tuple[str, ...]:
    """Return the tags that divide a battery's items into sets, such as trained and untrained.

    They do where there are two to four of them, no item has two, and each has two items or more.

    >>> from tabwb.battery.model import Item
    >>> items = [Item(f"i{n}", "", tags=(tag,)) for n, tag in enumerate(["a", "a", "b", "b"])]
    >>> tags_as_sets([Subtest("s", "S", "free", items=tuple(items))])
    ('a', 'b')
    """
    items = [item for subtest in subtests for item in subtest.items]
    numbers = Counter(tag for item in items for tag in item.tags)
    divide = 2 <= len(numbers) <= 4 and min(numbers.values()) > 1
    return tuple(numbers) if divide and all(len(item.tags) < 2 for item in items) else ()


def sets_of_tags(subtests: Sequence[Subtest], tags: Sequence[str]) -> dict[str, tuple[Place, ...]]:
    """Return sets of items from the items' tags in the battery."""
    items = [((subtest.id, item.id), item) for subtest in subtests for item in subtest.items]
    known = dict.fromkeys(tag for _, item in items for tag in item.tags)
    for tag in tags:
        if tag not in known:
            raise UsageError(
                f"no item of the battery has the tag '{tag}'",
                allowed=", ".join(known) or "the battery has no tags: name a CSV file of sets",
                hint="--sets FILE.csv with the columns item, set",
            )
    return {tag: tuple(place for place, item in items if tag in item.tags) for tag in tags}


def sets_of_rows(
    subtests: Sequence[Subtest], rows: Iterable[Mapping[str, str]], name: str
) -> dict[str, tuple[Place, ...]]:
    """Return sets of items from the rows of a file."""
    places: dict[str, list[Place]] = {}
    for subtest in subtests:
        for item in subtest.items:
            places.setdefault(item.id, []).append((subtest.id, item.id))
    sets: dict[str, list[Place]] = {}
    for line, row in enumerate(rows, start=2):
        if row.get("item") is None or row.get("set") is None:
            raise UsageError(f"{name} line {line}: no column 'item' or 'set'", allowed="item, set")
        wanted = (row.get("subtest") or "").strip()
        found = [
            place
            for place in places.get(row["item"].strip(), ())
            if not wanted or place[0] == wanted
        ]
        if not found:
            raise UsageError(
                f"{name} line {line}: the battery has no item '{row['item']}'"
                + (f" in '{wanted}'" if wanted else ""),
                allowed=", ".join(list(places)[:12]) + (" ..." if len(places) > 12 else ""),
            )
        if len(found) > 1:
            raise UsageError(
                f"{name} line {line}: '{row['item']}' is an item of several subtests",
                hint="add a column subtest",
            )
        if row["set"].strip():
            sets.setdefault(row["set"].strip(), []).append(found[0])
    return {name: tuple(dict.fromkeys(own)) for name, own in sets.items()}
