"""The tables of one participant over sessions: sessions, change, items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabwb.report.measures import ACCURACY
from tabwb.report.summaries.change import (
    CAUTION,
    FORM_OF_THE_DAY,
    Change,
    SessionShare,
    SetOfItems,
)
from tabwb.report.tables.declared import LIKE, ends, measured, number, p_value, text, whole
from tabwb.scoring.estimate import Interval
from tabwb.tables.table import Column, Table, records_table, table_of

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


@dataclass(frozen=True, slots=True)
class _Share:
    change: Change
    own: SetOfItems
    share: SessionShare


@dataclass(frozen=True, slots=True)
class _Test:
    change: Change
    set: str
    other: str
    measure: str
    sessions: str
    items: int
    value: float | None
    interval: Interval | None = None
    gained: int | None = None
    lost: int | None = None
    t: float | None = None
    df: float | None = None
    p: float | None = None
    mid_p: float | None = None
    one_sided: float | None = None
    adjusted: float | None = None
    left_out: int = 0
    test: str = ""
    reason: str = ""


def sessions_table(change: Change) -> Table:
    """Return the right answers in each session and set of items."""
    found = (_Share(change, own, share) for own in change.sets for share in own.shares)
    return records_table("sessions", SESSIONS, found, (*change.warnings, CAUTION))


def change_table(change: Change) -> Table:
    """Return the tests of change of each set of items, and between sets."""
    notes = (*change.warnings, CAUTION, SIDES, FORM_OF_THE_DAY, SPECIFIC, UNCORRECTED)
    return records_table("change", TESTS, _tests(change), notes)


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


def _tests(change: Change) -> Iterator[_Test]:
    for own in change.sets:
        n = len(own.items)
        for step in own.steps:
            made = step.test
            yield _Test(
                change, own.name, "", "difference", f"{step.first} to {step.second}", step.items,
                step.difference.value, step.interval.interval,
                None if made is None else made.gained, None if made is None else made.lost,
                p=None if made is None else made.p, mid_p=None if made is None else made.mid_p,
                adjusted=step.adjusted,
                left_out=len(own.left_out), test="McNemar, exact, two-sided",
                reason=step.difference.reason,
            )  # fmt: skip
        every = f"1 to {len(change.sessions)}"
        for measure, test, reason in (
            ("trend", own.trend, own.trend_reason),
            ("rate_of_change", own.rate_of_change, own.rate_reason),
        ):
            if measure == "rate_of_change" and change.baselines is None:
                continue
            if test is None:
                yield _Test(change, own.name, "", measure, every, n, None, reason=reason,
                            left_out=len(own.left_out))  # fmt: skip
            else:
                yield _Test(
                    change, own.name, "", measure, every, n, test.mean, test.interval, t=test.t,
                    df=test.df, p=test.p, one_sided=test.one_sided,
                    left_out=len(own.left_out), test="sign flips over items, two-sided",
                    reason=test.reason,
                )  # fmt: skip
    left_out = {own.name: len(own.left_out) for own in change.sets}
    sizes = {own.name: len(own.items) for own in change.sets}
    for pair in change.between:
        yield _Test(
            change, pair.first, pair.second, pair.measure.replace(" ", "_"),
            f"1 to {len(change.sessions)}", sizes[pair.first] + sizes[pair.second],
            pair.test.difference, pair.test.interval, t=pair.test.t, df=pair.test.df, p=pair.test.p,
            one_sided=pair.test.one_sided, left_out=left_out[pair.first] + left_out[pair.second],
            test=f"Welch's t over items, two-sided ({pair.first} - {pair.second})",
            reason=pair.test.reason,
        )  # fmt: skip


def _of_naming(given: _Share, name: str) -> int | None:
    """Return a count of the session's responses; None where nothing was named aloud."""
    sessions = given.change.sessions
    if not any(session.by_listener or session.by_rule for session in sessions):
        return None
    found: int = getattr(sessions[given.share.session - 1], name)
    return found


_WHO = (
    text("participant", "Participant", "the study ID", lambda given: given.change.participant),
    text("battery", "Battery", "the battery's id", lambda given: given.change.battery),
    text("battery_version", "Version", "the battery's version", lambda given: given.change.version),
)
SESSIONS = (
    *_WHO,
    text("set", "Set", "the set of items", lambda given: given.own.name),
    whole("session", "Session", "in order of day, from 1", lambda given: given.share.session),
    whole("administration", "Administration", "its number",
          lambda given: given.change.sessions[given.share.session - 1].administration),
    text("date", "Date", "the day of the session",
         lambda given: given.change.sessions[given.share.session - 1].date),
    text("phase", "Phase", "before treatment or after it began, where that was told",
         lambda given: None if given.change.baselines is None else
         "before" if given.share.session <= given.change.baselines else "after"),
    whole("correct", "Right", "right answers", lambda given: given.share.right),
    whole("n", "Of", "items with one answer in every session", lambda given: given.share.of),
    whole("left_out", "Left out", "items of the set without one",
          lambda given: len(given.own.left_out)),
    whole("by_listener", "By listener", "of pictures named aloud, responses of the session that a "
          "listener's score or code decides", lambda given: _of_naming(given, "by_listener")),
    whole("by_rule", "By rule", "responses of the session that the battery's rule on a transcript "
          "decides", lambda given: _of_naming(given, "by_rule")),
    measured(ACCURACY, lambda given: given.share.share.value),
    *ends("accuracy_", LIKE, lambda given: given.share.interval),
    text("reason", "Reason", "why there is no share", lambda given: given.share.share.reason),
)  # fmt: skip
"""The columns of :func:`sessions_table`."""
TESTS = (
    *_WHO,
    text("set", "Set", "the set of items", lambda given: given.set),
    text("other_set", "Less set", "the set that is subtracted", lambda given: given.other),
    text("measure", "Measure", "difference of two sessions, trend, or rate of change",
         lambda given: given.measure),
    text("sessions", "Sessions", "that are compared", lambda given: given.sessions),
    whole("n_items", "Items", "with one answer in every session", lambda given: given.items),
    whole("left_out", "Left out", "items without one", lambda given: given.left_out),
    number("value", "Value", "difference of shares right; trend: slope of the share right for each "
           "session, taken as equally spaced; rate of change: the later slope less the earlier",
           lambda given: given.value),
    *ends("value_", LIKE, lambda given: given.interval),
    whole("gained", "Gain", "items right only in the later session",
          lambda given: given.gained),
    whole("lost", "Loss", "items right only in the earlier session", lambda given: given.lost),
    number("t", "t", "of two sets the statistic of Welch's t test; of a trend or a rate of change "
           "the mean over its standard error, for comparison", lambda given: given.t),
    number("df", "df", "its degrees of freedom", lambda given: given.df, digits=1),
    p_value("p", "p", "of no change, two-sided", lambda given: given.p),
    p_value("mid_p", "mid-p", "the same, with half the weight of what was observed",
            lambda given: given.mid_p),
    p_value("p_one_sided", "one-sided", "p of the same test, one-sided: more right answers later, "
            "or a larger change of the first set; of a difference there is none",
            lambda given: given.one_sided),
    p_value("p_adjusted", "corr.", "p corrected by Holm's method over the pairs of sessions of a "
            "set; other tests are not corrected", lambda given: given.adjusted),
    text("test", "Test", "how p was computed", lambda given: given.test),
    text("reason", "Reason", "why there is no test", lambda given: given.reason),
)  # fmt: skip
"""The columns of :func:`change_table`."""
