"""The sessions of one speaker over time: right names, latency, and each item in each session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.media.wording import between, chance
from tabwb.records.words import NONE
from tabwb.workbench.results.naming_presenter import NamingResults, NamingSession
from tabwb.workbench.shell.drawn import interval_bar, scale
from tabwb.workbench.shell.marks import MARKS
from tabwb.workbench.shell.shortening import shortened
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded

if TYPE_CHECKING:
    from tabwb.analysis.change import Change, SetOfItems

MOST = 100
GAP = 3
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
) -> Iterator[Content]:
    label = max(len(f"#{session.number}") for session in sessions) + 2
    bar = max(min(width - label - 12 - 8 - 11 - 9 - 9, 40), 0)
    first = _day(sessions[0].at)
    head = f"{'':<{label}}{'session':<12}{'right':>6}  "
    yield Content.assemble(
        (head, QUIET), scale(bar) if bar else "", (f"{'95 %':>11}{'latency':>9}{'day':>8}", QUIET)
    )
    for session in sessions:
        summary = session.named[place].summary
        one, here = summary.accuracy[0], session.number == shown
        low, high = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
        median = summary.latency_median_s
        latency = NONE if median is None else f"{median:.2f} s"
        days = f"+{(_day(session.at) - first).days}" if session is not sessions[0] else "0"
        mark = f"{'▸' if here else ' '}#{session.number}"
        yield Content.assemble(
            (f"{mark:<{label}}", f"bold {ACCENT}" if here else ""),
            f"{session.at[:10]:<12}",
            (f"{f'{one.correct}/{one.n}' if one.n else NONE:>6}  ", "bold"),
            interval_bar(low, one.rate, high, width=bar) if bar else "",
            f"{between(one.interval):>11}{latency:>9}{days:>8}",
        )


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
    cell = max(map(len, names)) + 1
    label = min(max(map(len, answers)), 20)
    each = label + 1 + cell * len(names)
    columns = max(min((width + GAP) // (each + GAP), len(answers)), 1)
    head = f"{'':<{label + 1}}" + "".join(f"{name:>{cell}}" for name in names)
    per = -(-len(answers) // columns)
    columns = -(-len(answers) // per)
    yield Content.styled((" " * GAP).join([head] * columns), QUIET)
    rows = list(answers.items())
    for at in range(per):
        cells = [
            rows[at + per * column] for column in range(columns) if at + per * column < len(rows)
        ]
        yield Content(" " * GAP).join(
            Content.assemble(
                f"{shortened(item, label):<{label + 1}}",
                *((f"{SIGNS[mark]:>{cell}}", QUIET if mark is None else "") for mark in marks),
            )
            for item, marks in cells
        )
    yield from folded("✓ right, ✗ not right, · without one answer.", width, QUIET)
