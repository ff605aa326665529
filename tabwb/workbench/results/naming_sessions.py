"""The sessions of one speaker over time: right names, latency, and each item in each session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.media.wording import between, chance
from tabwb.records.words import NONE
from tabwb.workbench.results.naming_presenter import NamingResults, NamingSession
from tabwb.workbench.shell.columns import Column, laid, laid_beside
from tabwb.workbench.shell.drawn import MARKS, interval_bar, scale
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded

if TYPE_CHECKING:
    from tabwb.analysis.change import Change, SetOfItems
    from tabwb.scoring.estimate import Interval

MOST = 100
NOTE = (
    "McNemar's exact test, two-sided; corrected for the pairs of sessions by Holm's method. It "
    "takes items as independent and cannot tell a good day from a lasting change."
)
FEW = 8
"""Items of a change that are named."""
SIGNS = {True: MARKS["right"], False: MARKS["wrong"], None: "·"}


def session_lines(results: NamingResults, place: int, shown: int, width: int) -> Iterator[Content]:
    """Yield the sessions of a naming subtest, then item by item what changed."""
    yield from _sessions(results.sessions, place, shown, min(width, MOST))
    change = results.change
    if change is None:
        words = results.unchanged or "One session: there is nothing to compare."
        yield from folded(words, min(width, MOST), QUIET)
        return
    subtest = results.parts[place].subtest.id
    names = [f"#{session.administration}" for session in change.sessions]
    own = [
        one for one in change.sets if {sub for sub, _ in (*one.items, *one.left_out)} == {subtest}
    ]
    whole = next((one for one in own if one.name == subtest), None)
    for one in own:
        if one.name not in {subtest, change.sets[0].name}:
            yield _of_set(change, one.name)
    if whole is not None:
        yield Content("")
        yield from _steps(change, whole, names, min(width, MOST))
    yield Content("")
    yield from _items(change, subtest, names, width)


def _sessions(
    sessions: Sequence[NamingSession], place: int, shown: int, width: int
) -> list[Content]:
    first = _day(sessions[0].at)

    def right(session: NamingSession) -> tuple[int, int, Interval | None]:
        one = session.named[place].summary.accuracy[0]
        return one.correct, one.n, one.interval

    def number(session: NamingSession) -> Content:
        here = session.number == shown
        mark = f"{'▸' if here else ' '}#{session.number}"
        return Content.styled(mark, f"bold {ACCENT}" if here else "")

    def counts(session: NamingSession) -> str:
        correct, n, _ = right(session)
        return f"{correct}/{n}" if n else NONE

    def drawn(session: NamingSession, width: int) -> Content:
        correct, n, interval = right(session)
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        return interval_bar(low, correct / n if n else None, high, width=width)

    def latency(session: NamingSession) -> str:
        median = session.named[place].summary.latency_median_s
        return NONE if median is None else f"{median:.2f} s"

    def days(session: NamingSession) -> str:
        return f"+{(_day(session.at) - first).days}" if session is not sessions[0] else "0"

    columns: Sequence[Column[NamingSession]] = (
        Column("", number),
        Column("session", lambda one: one.at[:10]),
        Column("right", counts, right=True, style="bold"),
        Column(scale, drawn, rank=1, grow=(8, 40)),
        Column("95 %", lambda one: between(right(one)[2]), right=True),
        Column("latency", latency, right=True),
        Column("day", days, right=True),
    )
    return laid(columns, sessions, width)


def _day(at: str) -> date:
    return date.fromisoformat(at[:10])


def _of_set(change: Change, name: str) -> Content:
    shares = "   ".join(f"{one.correct}/{one.n}" for one in change.shares if one.set == name)
    return Content.assemble((f"{name:<14}", QUIET), shares)


def _steps(
    change: Change, whole: SetOfItems, names: Sequence[str], width: int
) -> Iterator[Content]:
    for pair, step in zip(change.pairs, change.steps(whole.name), strict=True):
        if step.p is None:
            continue
        gained, lost = _changed(change, whole, *pair), _changed(change, whole, *reversed(pair))
        words = f"{names[pair[0]]} to {names[pair[1]]}"
        listed = "; ".join(
            f"{len(items)} {verb}{f' ({_few(items)})' if items else ''}"
            for verb, items in (("gained", gained), ("lost", lost))
        )
        p = f"p {chance(step.p)}"
        if step.p_adjusted not in (None, step.p):
            p += f", corrected {chance(step.p_adjusted)}"
        lines = list(folded(f"{listed}; {p}", max(width - 12, 20)))
        yield Content.assemble((f"{words:<12}", "bold"), lines[0])
        yield from (line.pad_left(12) for line in lines[1:])
    yield from folded(NOTE, width, QUIET)


def _few(items: Sequence[str]) -> str:
    more = f", {len(items) - FEW} more" if len(items) > FEW else ""
    return ", ".join(items[:FEW]) + more


def _changed(change: Change, whole: SetOfItems, before: int, after: int) -> list[str]:
    """The items that are wrong in one session and right in the other."""
    return [
        place[1]
        for place in whole.items
        if not change.answers[place][before] and change.answers[place][after]
    ]


def _items(change: Change, subtest: str, names: Sequence[str], width: int) -> Iterator[Content]:
    """Yield a row for each item with a mark for each session, in as many columns as fit."""
    answers = {item: marks for (own, item), marks in change.answers.items() if own == subtest}
    if not answers:
        return
    columns: list[Column[str]] = [Column("", lambda item: item, most=20, least=20)]
    for place, name in enumerate(names):

        def sign(item: str, place: int = place) -> Content:
            mark = answers[item][place]
            return Content.styled(SIGNS[mark], QUIET if mark is None else "")

        columns.append(Column(name, sign, right=True))
    yield from laid_beside(columns, [*answers], width)
    yield from folded("✓ right, ✗ not right, · without one answer.", width, QUIET)
