"""The results of a naming administration as they are shown: figures, codes, sessions, items."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click, Resize

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.cautions import cautions
from tabwb.analysis.statistics.naming import (
    Confusions,
    CueEffect,
    Latencies,
    NamedSubtest,
    confusions,
    cue_effects,
    latencies,
    named_subtests,
    namings,
)
from tabwb.media.views.naming import BASES, fact_lines
from tabwb.media.wording import between, chances
from tabwb.phonology.distance import feature_changes
from tabwb.phonology.inventory import IPA, phoneme_rank
from tabwb.records.errors import UsageError
from tabwb.records.naming import LimitsSet, OnsetSet
from tabwb.records.ratings import rule_of
from tabwb.records.words import NONE, plural
from tabwb.scoring.estimate import Interval
from tabwb.scoring.naming.summary import NamedItem
from tabwb.scoring.naming.target import right_by_score
from tabwb.tasks.spoken_naming.scores import Naming, named_item
from tabwb.tasks.spoken_naming.views import NamingView
from tabwb.workbench.results.stored import Results
from tabwb.workbench.results.written_summary import NoteLine, accuracy_lines, opening_lines
from tabwb.workbench.shell.columns import Column, laid, laid_beside
from tabwb.workbench.shell.drawn import MARKS, heat_style, interval_bar, scale, share_bar
from tabwb.workbench.shell.rule_verdicts import RuleVerdicts, rule_verdicts, score_words
from tabwb.workbench.shell.widgets import Lines, Pane, WrappedText
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded, seconds

if TYPE_CHECKING:
    from tabwb.analysis.change import Change, SetOfItems


@dataclass(frozen=True, slots=True)
class NamedResponse:
    """One response to a picture.

    Attributes:
        item: what everybody says of it.
        shown: picture and accepted pronunciations, in words.
        by_people: (name, words) of each person's score, of what they heard, of their codes.
        facts: (name, words) of cues, latency, sound.
        by_rules: what the rules say, or None where nothing was transcribed.
        flags: a person's, beside their code.
        listed: whether the list of results shows what the rules say.
        naming: the trial as the rules read it.
        hidden: what others said is hidden from the one who listens.
        corrections: (what, who, when, why) of onset, limits and codes, oldest first.
        transcripts: (transcriber, what was heard) beside the one that is scored.
        scored_by: the IDs of those who scored it; empty for somebody without one.
        said_by: the IDs of those who scored, coded or wrote down a word.
    """

    item: NamedItem
    shown: str
    by_people: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    by_rules: RuleVerdicts | None
    flags: tuple[str, ...]
    listed: bool
    scored_by: tuple[str, ...]
    said_by: tuple[str, ...]
    naming: Naming
    hidden: bool = False
    corrections: tuple[tuple[str, ...], ...] = ()
    transcripts: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def seen_by(self, rater: str) -> NamedResponse:
        """What a rater may see: what others said only once this one has scored too."""
        if rater in self.scored_by or not set(self.said_by) - {rater}:
            return self
        item = self.item
        hidden = NamedItem(item.item, item.target, item.status, latency_s=item.latency_s)
        return replace(
            self,
            item=hidden,
            by_people=(),
            by_rules=None,
            flags=(),
            hidden=True,
            corrections=(),
            transcripts=(),
        )


@dataclass(frozen=True, slots=True)
class NamingPart:
    """The figures of one naming subtest of an administration."""

    subtest: NamedSubtest
    latencies: Latencies
    cues: tuple[CueEffect, ...]
    confusions: Confusions


@dataclass(frozen=True, slots=True)
class NamingSession:
    """One administration of a naming battery to a speaker.

    Attributes:
        at: when it was held, UTC, ISO 8601; one of unknown date: when it was taken in.
        named: its naming subtests, as those of :attr:`NamingResults.parts`.
    """

    number: int
    at: str
    named: tuple[NamedSubtest, ...]


@dataclass(frozen=True, slots=True)
class NamingResults:
    """What the page of a naming administration shows besides its responses.

    Attributes:
        sessions: of the speaker with this battery, oldest first, with this one.
        change: item by item, with a set for each subtest and tag; None: one session, or no name is
            scored.
        unchanged: why there is no change, or empty.
    """

    parts: tuple[NamingPart, ...]
    sessions: tuple[NamingSession, ...]
    change: Change | None = None
    unchanged: str = ""


def naming_results(
    data: AdministrationData,
    named: Sequence[NamedSubtest],
    sessions: Sequence[AdministrationData],
) -> tuple[NamingResults, Mapping[int, NamedResponse]]:
    """Return the results of a naming administration, and each named response by its trial."""
    spoken = [naming for naming in namings(data) if naming.view.item.coded]
    responses = {naming.view.trial.plan.number: _response(naming) for naming in spoken}
    parts = tuple(
        NamingPart(
            subtest,
            latencies(subtest.items),
            cue_effects(subtest.items),
            confusions(one for one in spoken if one.view.trial.plan.subtest == subtest.id),
        )
        for subtest in named
    )
    held = [_session(each, named_subtests([each])) for each in sessions]
    held = held or [_session(data, tuple(named))]
    held.sort(key=lambda session: (session.at, session.number))
    change, reason = _change(sessions)
    return NamingResults(parts, tuple(held), change, reason), responses


def _session(data: AdministrationData, named: tuple[NamedSubtest, ...]) -> NamingSession:
    given = data.administration
    dated = given.conditions.session_date
    at = f"{given.session_date}T00:00:00" if dated else given.created_at
    return NamingSession(given.id, at, named)


def _change(sessions: Sequence[AdministrationData]) -> tuple[Change | None, str]:
    if len(sessions) < 2:
        return None, ""
    from tabwb.analysis.change import change_of, sets_of_tags, tags_as_sets

    subtests = [one for one in sessions[0].battery.subtests if one.task.coded]
    sets = {one.id: tuple((one.id, item.id) for item in one.items) for one in subtests}
    try:
        return change_of(sessions, sets | sets_of_tags(subtests, tags_as_sets(subtests))), ""
    except UsageError as error:
        return None, error.message


def _not_counted(naming: Naming) -> str:
    """Return why a response that a person scored right does not count as right, or nothing."""
    view, outcome = naming.view, named_item(naming).outcome
    by_ear = view.score is not None and right_by_score(view.score.score, view.rules.rule)
    if not by_ear or outcome == "right":
        return ""
    if outcome == "right-after-cue":
        return "after a cue that does not count"
    limit = view.rules.time_limit
    return "" if limit is None else f"late (limit {limit:g} s)"


def _response(naming: Naming) -> NamedResponse:
    view = naming.view
    item, take = view.item, view.take
    by_people: list[tuple[str, str]] = []
    for score in view.scores:
        after = "after the machine's words were shown" if score.after_reveal else ""
        counts = "this one counts" if len(view.scores) > 1 and score == view.score else ""
        words = score_words(score.score, score.reason)
        by_people.append(("score", ", ".join(filter(None, (words, score.by, after, counts)))))
    if (rule := rule_of(view.primary)) is not None and view.scores:
        held = view.score
        words = "open" if held is None else score_words(held.score, held.reason)
        by_people.append(("counts", f"{words}, by the rule '{rule}'"))
    by_people += [("heard", f"{word.text}  ({word.by})") for word in view.words_heard]
    by_people += [
        ("code", f"{', '.join((code.code, *code.flags))}  ({code.by})") for code in view.codes
    ]
    own = () if view.code is None else view.code.flags
    if ruled := naming.flags.difference(own):
        by_people.append(("by rule", ", ".join(sorted(ruled))))
    if words := _not_counted(naming):
        by_people.append(("not counted", words))
    facts = [
        ("cue", f"{cue.kind}, {'counts' if cue.counts else 'does not count'}") for cue in view.cues
    ]
    if view.latency_s is not None:
        facts.append(("latency", f"{seconds(view.latency_s)}  ({view.onset_by})"))
    if take is not None and take.remarks:
        facts.append(("sound", take.remarks))
    accepted = ", ".join(" ".join(form) for form in item.accepted)
    known = bool(naming.transcript or naming.proposal)
    return NamedResponse(
        named_item(naming),
        f"{item.picture}   {item.target}   accepted {accepted}",
        tuple(by_people),
        tuple(facts),
        rule_verdicts(naming) if known else None,
        () if view.code is None else view.code.flags,
        known,
        tuple(score.by.partition(":")[2] for score in view.scores),
        tuple(by.partition(":")[2] for by in view.raters),
        naming,
        corrections=tuple(_corrections(view)),
        transcripts=tuple(
            (other.transcriber, other.phonemes)
            for other in naming.transcripts
            if naming.transcript is not None and other.transcriber != naming.transcript.transcriber
        ),
    )


def _corrections(view: NamingView) -> Iterator[tuple[str, ...]]:
    for made in view.corrections:
        match made:
            case OnsetSet():
                words = f"onset {made.onset_s:.2f} s"
            case LimitsSet():
                words = f"limits {made.start_s:.2f} to {made.end_s:.2f} s"
            case _:
                words = ", ".join((f"code {made.code}", *made.flags))
        yield words, made.by, made.at[:16].replace("T", " "), made.reason


MOST = 100
"""Columns of the longest line."""
BAR = 8, 48
"""Columns of a drawn interval, at least and at most."""


class Share(NamedTuple):
    """A share of names counted as right."""

    name: str
    right: int
    of: int
    interval: Interval | None
    remark: str = ""

    @property
    def counts(self) -> str:
        """How many of how many."""
        return f"{self.right}/{self.of}" if self.of else NONE

    def drawn(self, width: int) -> Content:
        """Return the share with its interval on an axis."""
        low, high = (self.interval.low, self.interval.high) if self.interval else (None, None)
        return interval_bar(low, self.right / self.of if self.of else None, high, width=width)


SHARES: Sequence[Column[Share]] = (
    Column("", lambda one: one.name, least=12, most=30),
    Column("right", lambda one: one.counts, right=True, style="bold"),
    Column(scale, Share.drawn, rank=1, grow=BAR),
    Column("95 %", lambda one: between(one.interval)),
    Column("", lambda one: one.remark, style=QUIET),
)
"""The columns of shares."""


def right_lines(part: NamingPart, width: int) -> Iterator[Content]:
    """Yield right names by each basis and tag with intervals, then what the counts rest on."""
    given = [(BASES[one.basis], one) for one in part.subtest.summary.accuracy]
    given[1:1] = [(f"  {tag}", one) for tag, one in part.subtest.by_tag.items()]
    shares = [
        Share(name, one.correct, one.n, one.interval, f"{one.open} open" if one.open else "")
        for name, one in given
    ]
    yield from laid(SHARES, shares, min(width, MOST))
    for words in fact_lines(part.subtest):
        yield from folded(words, min(width, MOST), QUIET, 0)


def latency_lines(part: NamingPart, width: int) -> Iterator[Content]:
    """Yield the latencies on an axis, right names and others apart, then quartiles."""
    found = part.latencies
    if not found.right and not found.other:
        words = "No response has a latency: the time of the picture is not known."
        yield from folded(words, min(width, MOST), QUIET)
        return
    label = 18
    bar = max(min(width, MOST) - label, BAR[0])
    top = max(found.slowest, 1.0)
    for name, values in (("right names", found.right), ("other responses", found.other)):
        if values:
            yield Content.assemble(f"{name:<{label}}", (_strip(values, bar, top), ACCENT))
    if found.median is not None:
        low, high = found.quartiles or (found.median, found.median)
        drawn = interval_bar(low, found.median, high, width=bar, highest=top)
        yield Content.assemble(f"{'  middle half':<{label}}", drawn)
    yield Content.assemble(f"{'seconds':<{label}}", scale(bar, highest=top))
    if found.median is not None:
        low, high = found.quartiles or (found.median, found.median)
        interval = found.interval
        words = (
            f"Median of {plural(len(found.right), 'right name')} {found.median:.2f} s, middle half "
            f"{low:.2f} to {high:.2f} s"
        )
        if interval is None:
            words += "; fewer than 6 right names give the median no interval"
        else:
            words += f"; 95 % interval of the median {interval.low:.2f} to {interval.high:.2f} s"
        yield from folded(f"{words}. From the picture to the onset.", min(width, MOST), QUIET)


def _strip(values: Sequence[float], width: int, top: float) -> str:
    """Return values on an axis from 0: ``│`` for one response in a column, else how many.

    >>> _strip([0.0, 0.5, 0.5, 1.0], 5, 1.0)
    '│ 2 │'
    """
    counts = [0] * width
    for value in values:
        counts[min(round(value / top * (width - 1)), width - 1)] += 1
    signs = (" " if not n else "│" if n == 1 else str(n) if n < 10 else "+" for n in counts)
    return "".join(signs).rstrip()


def cue_lines(part: NamingPart, width: int) -> Iterator[Content]:
    """Yield the share of right names before any cue and after each kind of cue."""
    if not part.cues:
        yield Content.styled("No cue was given.", QUIET)
        return
    shares = [
        Share(
            f"after a {cue.kind} cue" if cue.kind else "without a cue",
            cue.right,
            cue.of,
            cue.interval,
            "" if cue.counts is not False else "does not count",
        )
        for cue in part.cues
    ]
    yield from laid(SHARES, shares, min(width, MOST))
    words = "Only items that were not named without help are cued, so they are the harder ones."
    yield from folded(words, min(width, MOST), QUIET)


def code_lines(part: NamingPart, width: int) -> Iterator[Content]:
    """Yield how often each code was given, and proposed where no listener decided."""
    summary = part.subtest.summary
    names = dict.fromkeys((*summary.codes, *summary.proposed))
    if not names:
        yield Content.styled("No response has a code.", QUIET)
        return
    total = max((*summary.codes.values(), *summary.proposed.values()))
    columns: list[Column[str]] = [
        Column("", lambda name: name),
        Column(
            "",
            lambda name, width: share_bar(
                (summary.codes.get(name, 0) + summary.proposed.get(name, 0)) / total, width
            ),
            grow=(4, BAR[1]),
        ),
        Column(
            "given", lambda name: str(summary.codes.get(name) or NONE), right=True, style="bold"
        ),
    ]
    if summary.proposed:
        columns.append(
            Column(
                "proposed",
                lambda name: str(summary.proposed.get(name) or NONE),
                right=True,
                style=QUIET,
            )
        )
    yield from laid(columns, [*names], width)


CELL, LABEL = 3, 4
INSERTED, DELETED = "+", "-"
"""Row of phonemes that no target has, and column of phonemes for which nothing was heard."""
LISTED = 8
"""The most errors that are listed."""


def phoneme_lines(found: Confusions, width: int, *, arpabet: bool = False) -> Iterator[Content]:
    """Yield the most frequent errors with the features that change, then the matrix."""
    if not found.responses:
        yield from folded("No response has been transcribed and compared.", width, QUIET)
        yield from _left_out(found, width)
        return

    def written(phoneme: str) -> str:
        return phoneme if arpabet else IPA.get(phoneme, phoneme)

    yield from _errors(found, width, written)
    yield Content("")
    yield from _matrix(found, width, written)
    words = (
        f"Rows: target; columns: heard, in {plural(found.responses, 'response')}. Number: how "
        f"often; shade: share of the target's phoneme. {DELETED} no phoneme heard; {INSERTED} "
        "none in the target."
    )
    yield from folded(words, min(width, MOST), QUIET)
    yield from _left_out(found, width)


def _left_out(found: Confusions, width: int) -> Iterator[Content]:
    if found.other:
        listed = ", ".join(f"{target} ({code or 'no code'})" for target, code in found.other[:6])
        more = f" and {len(found.other) - 6} more" if len(found.other) > 6 else ""
        words = f"Left out, because their code does not describe sounds: {listed}{more}."
        yield from folded(words, min(width, MOST), QUIET)


def _errors(found: Confusions, width: int, written: Callable[[str], str]) -> Iterator[Content]:
    of = found.of
    wrong = sorted(
        ((step, n) for step, n in found.steps.items() if step[0] != step[1]),
        key=lambda each: (-each[1], phoneme_rank(each[0][0]), phoneme_rank(each[0][1])),
    )
    if not wrong:
        total = sum(found.steps.values())
        yield Content(f"All {total} phonemes were heard as in the target.")
    for (target, heard), n in wrong[:LISTED]:
        if target is None:
            step, rest = f"{INSERTED} {written(heard or '')}", f"{n}"
        elif heard is None:
            step, rest = f"{written(target)} {DELETED}", f"{n}/{of[target]}"
        else:
            step, rest = f"{written(target)} ~ {written(heard)}", f"{n}/{of[target]}"
        changes = ""
        if target is not None and heard is not None:
            changes = ", ".join(str(change) for change in feature_changes(target, heard))
        line = Content.assemble((f"{step:<8}", "bold"), f"{rest:>6}   ", (changes, QUIET))
        yield line.truncate(width, ellipsis=True)
    if len(wrong) > LISTED:
        yield Content.styled(f"and {len(wrong) - LISTED} other steps", QUIET)


def _matrix(found: Confusions, width: int, written: Callable[[str], str]) -> Iterator[Content]:
    """Yield the matrix; where it is too wide, only phonemes with errors, in blocks of columns."""
    rows = sorted({target for target, _ in found.steps}, key=phoneme_rank)
    heads = sorted({heard for _, heard in found.steps}, key=phoneme_rank)
    room = max((width - LABEL) // CELL, 1)
    always: list[str] = []
    if len(heads) > room:
        of = found.of
        always = [
            row for row in rows if row is not None and found.steps.get((row, row), 0) == of[row]
        ]
        rows = [row for row in rows if row not in always]
        heads = [head for head in heads if any((row, head) in found.steps for row in rows)]
    for first in range(0, len(heads), room):
        yield from _block(found, rows, heads[first : first + room], written)
    if always:
        listed = ", ".join(f"{written(row)} {found.of[row]}" for row in always)
        yield from folded(f"Always heard as in the target: {listed}", width, QUIET)


def _block(
    found: Confusions,
    rows: Sequence[str | None],
    heads: Sequence[str | None],
    written: Callable[[str], str],
) -> Iterator[Content]:
    names = (f"{DELETED if head is None else written(head):>{CELL - 1}} " for head in heads)
    yield Content.styled(" " * LABEL + "".join(names), QUIET)
    of = found.of
    for row in rows:
        cells: list[tuple[str, str]] = []
        for head in heads:
            n = found.steps.get((row, head), 0)
            if not n:
                cells.append((f"{'·':>{CELL - 1}} ", QUIET))
                continue
            same = row == head
            style = heat_style(n / of[row])
            cells.append((f"{n:>{CELL - 1}} ", style if same else f"bold {style}"))
        name = INSERTED if row is None else written(row)
        yield Content.assemble((f"{name:<{LABEL}}", ACCENT), *cells)


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
    steps = change.steps(whole.name)
    tests = sum(step.p is not None for step in steps)
    for pair, step in zip(change.pairs, steps, strict=True):
        if step.p is None:
            continue
        gained, lost = _changed(change, whole, *pair), _changed(change, whole, *reversed(pair))
        words = f"{names[pair[0]]} to {names[pair[1]]}"
        listed = "; ".join(
            f"{len(items)} {verb}{f' ({_few(items)})' if items else ''}"
            for verb, items in (("gained", gained), ("lost", lost))
        )
        p = chances(step.p, step.p_adjusted, tests)
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


SESSION_ROW = re.compile(r"[▸ ]#(\d+) ")
BESIDE = 126
"""From so many columns on the panes are in two columns."""
PANES = ("right", "latency", "cues", "codes", "others", "items", "sessions", "phonemes")
TITLES = {
    "right": "Right names",
    "latency": "Latency",
    "cues": "Cues",
    "codes": "Codes",
    "others": "Other items",
    "items": "Items",
    "sessions": "Sessions, item by item",
    "phonemes": "Phonemes: target and heard",
}
HELPS = {
    "right": """\
Right names by each source with exact 95 % intervals. *Counted as right* is what all other tables,
tests and figures take: the score of a listener, else the battery's rule. *Open* items have no
verdict of that source.
""",
    "latency": """\
Seconds from the picture to the onset of speech: **│** one response, a digit several. ● is the
median of right names, the line their middle half. For description, not for psychophysics.
""",
    "cues": """\
The share of items that were right without a cue, and after each kind of cue. A right name belongs
to the last cue before it.
""",
    "codes": "How often each code was given, and proposed where no listener decided.\n",
    "others": "The subtests whose items are not named.\n",
    "items": "What was said to each item; **t** shows one by one with its sound.\n",
    "sessions": """\
All sessions of the speaker with this battery, oldest first; **▸** is the one that is shown. Below,
what changed between two sessions, and each item in each session. **left** and **right**, or a click
on a row, open another session.
""",
    "phonemes": """\
The phonemes of the nearest accepted form and what was heard for them, aligned by features. Other
words (cat for dog) are left out here; the figure *confusion* counts them.
""",
}


class FigureText(WrappedText, can_focus=True):
    """Lines of one figure; takes the focus, so that its pane is outlined."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda width: (), id=f"named-{name}")
        self.help_text = f"# {TITLES[name]}\n\n{HELPS[name]}"


class Sessions(FigureText):
    """The sessions; a click on a row, left or right open another one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
    ]

    def __init__(self, opened: Callable[[int], object]) -> None:
        super().__init__("sessions")
        self._opened = opened
        self._numbers: tuple[int, ...] = ()
        self._shown = 0

    def show_sessions(self, numbers: Sequence[int], shown: int, lines: Lines) -> None:
        """Show the lines of sessions."""
        self._numbers, self._shown = tuple(numbers), shown
        self.show(lines)

    def action_step(self, step: int) -> None:
        """Open the session before or after."""
        at = self._numbers.index(self._shown) + step
        if 0 <= at < len(self._numbers):
            self._opened(self._numbers[at])

    def on_click(self, event: Click) -> None:
        """Open the session in the row that was clicked."""
        lines = self.paint(self.content_size.width).plain.splitlines()
        row = lines[event.y] if event.y < len(lines) else ""
        if (found := SESSION_ROW.match(row)) and int(found[1]) in self._numbers:
            self._opened(int(found[1]))


class Panes(VerticalScroll, can_focus=False):
    """The panes, in two columns where there is room."""

    def on_resize(self, event: Resize) -> None:
        """Put the columns beside each other where there is room."""
        self.set_class(event.size.width >= BESIDE, "-beside")


class NamingSummary(Vertical):
    """The panes, and the notes in a line below them."""

    def __init__(self, opened: Callable[[int], object]) -> None:
        super().__init__(id="named-summary")
        self._opened = opened

    def compose(self) -> ComposeResult:
        """Yield the sentence, the panes and the notes."""
        yield WrappedText(lambda width: (), id="named-sentence")
        with Panes(id="named-panes"), Container(id="named-columns"):
            for side in (PANES[:6], PANES[6:]):
                with Vertical(classes="named-column"):
                    for name in side:
                        text = Sessions(self._opened) if name == "sessions" else FigureText(name)
                        yield Pane(text, title=TITLES[name], classes="figure", id=f"pane-{name}")
        yield NoteLine()

    def show(self, results: Results, items: Lines, *, arpabet: bool) -> None:
        """Show results of a naming administration, with the lines of its items."""
        naming = results.naming
        if naming is None:
            return
        from tabwb.media.views.administration import opening_sentence  # loads numpy

        parts = naming.parts
        sentence = opening_sentence(results.battery, results.summary)
        self.query_one("#named-sentence", WrappedText).show(partial(opening_lines, sentence))

        def phonemes(part: NamingPart, width: int) -> Iterator[Content]:
            return phoneme_lines(part.confusions, width, arpabet=arpabet)

        for name, figure in (
            ("right", right_lines),
            ("latency", latency_lines),
            ("cues", cue_lines),
            ("codes", code_lines),
            ("phonemes", phonemes),
        ):
            self._text(name).show(partial(_each, parts, figure))
        number = results.administration.id

        def sessions(part: NamingPart, width: int) -> Iterator[Content]:
            return session_lines(naming, parts.index(part), number, width)

        numbers = [session.number for session in naming.sessions]
        lines = partial(_each, parts, sessions)
        self.query_one(Sessions).show_sessions(numbers, number, lines)
        self.query_one("#pane-cues").display = any(part.cues for part in parts)
        own = {part.subtest.id for part in parts}
        others = [one for one in results.summary.parts if one.id not in own]
        self.query_one("#pane-others").display = bool(others)
        self._text("others").show(partial(accuracy_lines, others))
        self._text("items").show(items)
        told = cautions(results.battery, results.summary, model=False)
        self.query_one(NoteLine).show(tuple(told))

    def to_first_lines(self) -> None:
        """Scroll to the first line."""
        self.query_one(Panes).scroll_home(animate=False)

    def _text(self, name: str) -> FigureText:
        return self.query_one(f"#named-{name}", FigureText)

    def focus_inside(self) -> None:
        """Give the focus to the first pane, unless one has it."""
        if not self.has_focus_within:
            self._text(PANES[0]).focus()


def _each(
    parts: tuple[NamingPart, ...],
    lines: Callable[[NamingPart, int], Iterator[Content]],
    width: int,
) -> Iterator[Content]:
    """Yield the lines of each naming subtest, with its title where there are several."""
    for at, part in enumerate(parts):
        if len(parts) > 1:
            if at:
                yield Content("")
            yield Content.styled(part.subtest.title, "bold")
        yield from lines(part, width)
