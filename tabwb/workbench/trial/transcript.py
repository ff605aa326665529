"""Beside the item: the running transcript, how far it is, the scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content
from textual.events import Click, MouseMove
from textual.timer import Timer

from tabwb.records.states import StopReason, TrialState
from tabwb.records.words import NONE, plural
from tabwb.workbench.engine.presenters import Pace, Row, Transcript, short_titles
from tabwb.workbench.engine.view_models import Scores, SubtestScore, Work
from tabwb.workbench.shell.columns import GAP, Column, Fitted, Heading
from tabwb.workbench.shell.drawn import bar, glyph_and_style, marks, spark
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import (
    ACCENT,
    QUIET,
    folded,
    key_lines,
    seconds,
    sentence,
    spread,
)

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge


NEXT = "▸"
"""The glyph of the current item while it waits for its response."""
LEAST_PROMPT = 12
"""The least columns of prompt and response."""
NONE_YET = (
    "Given items are listed here. Items to come are not, because the participant may see this "
    "screen."
)
KEYS = (
    ("space", "gives the next item; the participant sees it alone"),
    ("enter", "records the answer that was typed"),
    ("esc", "gives the examiner the keys; a second esc shows this page"),
    ("a", "gives the next item after each answer"),
)
"""What is done with which key while a person types."""


class Given(NamedTuple):
    """What the transcript shows of an administration.

    Attributes:
        number: of the administration.
        current: number of the current trial, or None before the first.
        waits: the current trial waits for its response.
        hidden: verdicts are hidden.
        person: a person answers: items to come are not shown, no verdict has a colour.
        streamed: the response that is arriving.
    """

    number: int = 0
    transcript: Transcript | None = None
    current: int | None = None
    waits: bool = False
    hidden: bool = False
    person: bool = False
    streamed: str = ""


class TranscriptList(RowList):
    """Lists the items with their responses, below the titles of their subtests."""

    def __init__(self, choose: Callable[[int | None], object]) -> None:
        super().__init__(id="transcript", opens=False)
        self._choose = choose
        """Called with the item that was chosen; None: the current one, and those that follow."""
        self._given = Given()
        self._listed: list[Row | Heading] = []
        self._structure: tuple[object, ...] = ()

    def show_given(self, given: Given, chosen: int | None) -> None:
        """Show an administration."""
        self._given = given
        transcript = given.transcript
        rows = () if transcript is None else transcript.rows
        shown = [row for row in rows if _is_listed(row, given)] if given.person else rows
        structure = (given.number, len(shown))
        self.none = _none_of_person if given.person else lambda width: ()
        if structure != self._structure:
            self._structure = structure
            self._listed = [*_headed(shown, given)]
        else:
            fresh = iter(shown)
            self._listed = [
                one if isinstance(one, Heading) else next(fresh) for one in self._listed
            ]
        cursor = given.current if chosen is None else chosen
        places = (at for at, row in enumerate(self._listed) if _number(row) == cursor)
        with self.prevent(RowList.Highlighted):  # nobody has chosen it
            self.show(self._columns_of(len(rows)), self._listed, current=next(places, 0))

    def _columns_of(self, n: int) -> Sequence[Column[Row]]:
        """Return columns whose width does not depend on the rows: these change while they run."""
        edge, latency = len(str(n)) + 2, 8
        return (
            Column("", self._sign, grow=(edge, edge)),
            Column("", self._prompt, grow=(LEAST_PROMPT, 400)),
            Column("", self._response, grow=(LEAST_PROMPT, 600)),
            Column("", self._features, rank=1, grow=(11, 11)),
            Column("", _latency, grow=(latency, latency), right=True, style=QUIET),
        )

    def _waits(self, row: Row) -> bool:
        return self._given.waits and _number(row) == self._given.current

    def _sign(self, row: Row, width: int) -> Content:
        given, waits = self._given, self._waits(row)
        glyph = glyph_of_row(row, waits=waits, hidden=given.hidden, person=given.person)
        number = f"{_number(row):>{width - 2}} "
        return Content.assemble((number, "bold" if _number(row) == given.current else QUIET), glyph)

    def _prompt(self, row: Row, width: int) -> Content:
        plan, transcript = row.trial.plan, self._given.transcript
        assert transcript is not None
        words = transcript.battery.subtest(plan.subtest).item(plan.item).prompt or plan.prompt
        return _one_line(words, width, QUIET)

    def _response(self, row: Row, width: int) -> Content:
        waits = self._waits(row)
        quiet = QUIET if row.mark in {"open", "not-administered"} and not waits else ""
        return _one_line(self._given.streamed if waits else _response(row), width, quiet)

    def _features(self, row: Row, width: int) -> Content:
        if not row.judged or self._given.hidden or row.trial.state is not TrialState.ANSWERED:
            return Content("")
        words = plural(sum(next(iter(row.judged.values())).values()), "feature")
        return Content.styled(words, QUIET)

    def line_of(self, row: Row | Heading, fitted: Fitted[Row]) -> Content:
        """Return the line of an item; an error has the room that it needs."""
        if isinstance(row, Heading) or row.mark != "error":
            return fitted.line(row)
        sign, words = self._sign(row, fitted.measured[0].width), _response(row)
        room = max(fitted.width - sign.cell_length - len(words) - 2 * GAP, LEAST_PROMPT)
        prompt = self._prompt(row, room).truncate(room, ellipsis=True)
        line = Content(" " * GAP).join([sign, prompt.pad_right(room - prompt.cell_length)])
        return Content.assemble(line, " " * GAP, words).truncate(fitted.width, ellipsis=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave enter to the page: it returns to the participant."""
        return action != "select" and super().check_action(action, parameters)

    def action_edge(self, row: int) -> None:
        """Go to the first item, or return to the current one."""
        if row:
            self._choose(None)
        else:
            super().action_edge(row)

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Choose the item under the cursor."""
        event.stop()
        number = _number(self._listed[event.row])
        self._choose(None if number == self._given.current else number)


def _none_of_person(width: int) -> Iterator[Content]:
    """Yield what is shown before the first item of a person."""
    width = min(width, 100)
    yield from folded(NONE_YET, width)
    yield Content("")
    yield from key_lines(KEYS, width)


def _number(row: Row | Heading) -> int | None:
    return None if isinstance(row, Heading) else row.trial.plan.number


def _headed(rows: Sequence[Row], given: Given) -> Iterator[Row | Heading]:
    """Yield rows below the titles of their subtests."""
    if given.transcript is None:
        return
    titles = {subtest.id: subtest.title for subtest in given.transcript.battery.subtests}
    starts = {at for at, row in enumerate(rows) if not at or _part(row) != _part(rows[at - 1])}
    headed = len(starts) * 2 <= len(rows) or len(starts) == 1
    replicated = bool(rows) and rows[-1].trial.plan.replicate > 0
    for at, row in enumerate(rows):
        plan = row.trial.plan
        if headed and at in starts:
            words = titles.get(plan.subtest, plan.subtest)
            words += f"   replicate {plan.replicate + 1}" if replicated else ""
            words += "   practice" if plan.practice else ""
            yield Heading(Content.styled(words, f"bold {QUIET}"))
        yield row


def _is_listed(row: Row, given: Given) -> bool:
    """Return whether a row of a person is listed: nobody reads on the screen what is to come."""
    return row.mark != "open" or row.trial.plan.number == given.current


def _part(row: Row) -> tuple[str, int, bool]:
    return row.trial.plan.subtest, row.trial.plan.replicate, row.trial.plan.practice


def glyph_of_row(row: Row, *, waits: bool, hidden: bool, person: bool) -> tuple[str, str]:
    """Return the glyph of a trial with its style."""
    if waits:
        return NEXT, f"bold {ACCENT}"
    return glyph_and_style(row.mark, hidden=hidden, person=person)


def _response(row: Row) -> str:
    trial = row.trial
    counting = trial.counting
    if trial.state is TrialState.ANSWERED and counting is not None:
        cut = " [cut]" if counting.stop_reason is StopReason.LENGTH else ""
        return (counting.response.strip() or "(no response)") + cut
    if trial.state in {TrialState.SKIPPED, TrialState.VOID}:
        return f"{trial.state.value}: {trial.reason}"
    if row.mark == "error":
        return f"error: {trial.attempts[-1].error}"
    return ""


def _latency(row: Row, width: int) -> str:
    counting = row.trial.counting
    answered = row.trial.state is TrialState.ANSWERED and counting is not None
    return seconds(counting.latency_s) if answered and counting is not None else ""


def _one_line(text: str, width: int, style: str) -> Content:
    """Return the beginning of a text in one line."""
    return Content.styled(" ".join(text[: 4 * width].split()), style)


TICK_S = 0.5
MOST_MARKS = 240
"""With more trials than this a subtest has a bar instead of one mark for each trial."""
LEAST_BAR, MOST_BAR = 10, 40
BAR = 12
"""Columns of the bar of one subtest."""


def clock(seconds: float) -> str:
    """Return a duration as minutes and seconds, or hours.

    >>> clock(0.4), clock(74.6), clock(3723)
    ('0:00', '1:14', '1:02:03')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def pace_words(pace: Pace, now: float) -> list[str]:
    """Return elapsed time, remaining time and speed, in words; what is not known is left out.

    >>> pace_words(Pace(12.0, 100.0, 21.0, 61.7), 102.5)
    ['0:14 elapsed', 'about 0:18 left', '62 tokens/s']
    >>> pace_words(Pace(), 5.0)
    []
    """
    asked = 0.0 if pace.since is None else now - pace.since
    words = []
    if pace.asked_s or pace.since is not None:
        words.append(f"{clock(pace.asked_s + asked)} elapsed")
    if pace.left_s:
        words.append(f"about {clock(max(pace.left_s - asked, 1.0))} left")
    if pace.tokens_per_s is not None:
        rate = pace.tokens_per_s
        words.append(f"{rate:.0f} tokens/s" if rate >= 10 else f"{rate:.1f} tokens/s")
    return words


class ProgressLine(WidthAwareWidget):
    """One line: items given, bar, time, tokens per second."""

    def __init__(self) -> None:
        super().__init__(id="trial-progress")
        self._given, self._planned = 0, 0
        self._pace: Pace | None = None
        self._ticking: Timer | None = None

    def on_mount(self) -> None:
        """Create the timer of the clock."""
        self._ticking = self.set_interval(TICK_S, self.refresh, pause=True)

    def show(self, work: Work) -> None:
        """Show how far an administration is; the clock runs while the model is asked."""
        rows = () if work.transcript is None else work.transcript.rows
        self._given, self._planned = len(rows) - work.remaining, len(rows)
        self._pace = work.pace
        if self._ticking is not None:
            running = work.pace is not None and work.pace.since is not None
            (self._ticking.resume if running else self._ticking.pause)()
        self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line; what does not fit is left out from its end."""
        count = Content.styled(f"{self._given} of {self._planned} given", "bold")
        words = [] if self._pace is None else pace_words(self._pace, time.monotonic())
        while words and count.cell_length + len("   ".join(words)) + LEAST_BAR + 6 > width:
            words.pop()
        tail = "   ".join(words)
        room = width - count.cell_length - len(tail) - 3 - 3 * bool(tail)
        share = self._given / self._planned if self._planned else 0.0
        line = Content.assemble(count, "   ", bar(share, max(min(room, MOST_BAR), 4)))
        return Content.assemble(line, "   " if tail else "", (tail, QUIET))


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark: where it is drawn, and of which trial."""

    line: int
    column: int
    row: Row


class ItemMap(WidthAwareWidget):
    """One mark for each item, by subtest; a click shows the item."""

    HELP = """\
# Items

One mark for each item: ✓ right, ✗ wrong, ● given (nothing to be right or wrong), ▸ current, · not
given, › skipped, ∅ void, ! needs attention, - not administered. A click on a mark shows the item.
"""

    def __init__(self, choose: Callable[[int], object]) -> None:
        super().__init__(id="item-map")
        self._choose = choose
        """Called with the trial whose mark was clicked."""
        self._transcript: Transcript | None = None
        self._subtests: Sequence[SubtestScore] = ()
        self._current: int | None = None
        self._shown: int | None = None
        self._waits = self._hidden = self._person = False
        self._marks: list[Mark] = []

    def show(self, work: Work, shown: int | None, *, hidden: bool) -> None:
        """Show the items of an administration."""
        lines = self._marks[-1].line if self._marks else 0
        self._transcript = work.transcript
        self._subtests = work.scores.subtests
        self._current = None if work.item is None else work.item.place[0]
        self._shown, self._hidden, self._person = shown, hidden, work.of_person
        self._waits = work.awaiting or (work.asking and not work.together)
        self.paint(self.content_size.width)
        changed = lines != (self._marks[-1].line if self._marks else 0) or not self.size.height
        self.refresh(layout=changed)

    def paint(self, width: int) -> Content:
        """Return the marks, subtests beside each other where they fit."""
        self._marks = []
        lines: list[Content] = []
        line, used = Content(""), 0
        for label, group in self._groups():
            if used and used + 4 + len(label) + len(group) > width:
                lines.append(line)
                line, used = Content(""), 0
            gap = "   " if used else ""
            line = Content.assemble(line, gap, (f"{label} ", QUIET))
            used = line.cell_length
            for mark in group:
                if used >= width > 0:
                    lines.append(line)
                    line, used = Content("  "), 2
                if isinstance(mark, Row):
                    self._marks.append(Mark(len(lines), used, mark))
                line = Content.assemble(line, self._mark(mark) if isinstance(mark, Row) else mark)
                used += 1
        return Content("\n").join([*lines, line])

    def _groups(self) -> Iterator[tuple[str, Sequence[Row | Content]]]:
        transcript = self._transcript
        if transcript is None:
            return
        if len(transcript.rows) > MOST_MARKS:
            for one in self._subtests:
                drawn = bar(one.given / one.planned if one.planned else 0.0, BAR)
                yield one.short, [drawn[at] for at in range(BAR)]
            return
        by_subtest: dict[str, list[Row]] = {}
        for row in transcript.rows:
            by_subtest.setdefault(row.trial.plan.subtest, []).append(row)
        short = short_titles(tuple(subtest.title for subtest in transcript.battery.subtests))
        for name, rows in by_subtest.items():
            yield short[transcript.battery.subtest(name).title], rows

    def _mark(self, row: Row) -> Content:
        number = row.trial.plan.number
        waits = self._waits and number == self._current
        glyph, style = glyph_of_row(row, waits=waits, hidden=self._hidden, person=self._person)
        return Content.styled(glyph, f"{style} reverse" if number == self._shown else style)

    def _at(self, event: Click | MouseMove) -> Row | None:
        offset = event.get_content_offset(self)
        if offset is None:
            return None
        places = {(mark.column, mark.line): mark.row for mark in self._marks}
        return places.get((offset.x, offset.y))

    def on_click(self, event: Click) -> None:
        """Show the item whose mark was clicked."""
        if (row := self._at(event)) is not None:
            self._choose(row.trial.plan.number)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say in a tooltip which item the mark under the mouse is of."""
        row = self._at(event)
        if row is None:
            self.tooltip = None
            return
        hides = self._hidden and row.mark in {"right", "wrong"}
        words = {"open": "not given", "error": "in error", "not-administered": "not administered"}
        state = "given" if hides else words.get(row.mark, row.mark)
        self.tooltip = f"item {row.trial.plan.number}: {state}"


MOST_RESPONSES = 12
"""The number of responses in a small profile, the latest ones."""
HIDDEN = "Verdicts are hidden while a person types; esc, then t shows them."


class LiveView(NamedTuple):
    """What is shown.

    Attributes:
        rows: the trials that the profiles are made of.
        hidden: only which items were given.
    """

    scores: Scores
    rows: Sequence[Row]
    hidden: bool = False


def live_lines(view: LiveView, width: int) -> Iterator[Content]:
    """Yield subtests, then burden and features of each judge."""
    if not view.scores.subtests:
        yield Content.styled("Scores appear here as responses arrive.", QUIET)
        return
    for subtest in view.scores.subtests:
        yield from _subtest(subtest, view, width)
    if view.hidden:
        yield Content("")
        yield from folded(HIDDEN, width, QUIET)
        return
    for judge in view.scores.judges:
        yield Content("")
        yield from _judge(judge, view, width)


def _subtest(subtest: SubtestScore, view: LiveView, width: int) -> Iterator[Content]:
    style = "bold" if subtest.current else ""
    count = f"{subtest.given}/{subtest.planned} given"
    if subtest.right is not None and not view.hidden:
        count = f"{subtest.right}/{subtest.scored} right"
    name = Content.styled(subtest.title, style)
    yield spread(name, Content.styled(count, style), width)
    row = marks(subtest, hidden=view.hidden, person=view.scores.person)
    if row.cell_length <= width:
        yield row


def _judge(judge: Judge, view: LiveView, width: int) -> Iterator[Content]:
    # not before the first frame
    from tabwb.analysis.statistics.results import cause_in_words
    from tabwb.media.wording import number

    titles, burden = view.scores.titles, judge.burden
    usable = f"{burden.usable.usable}/{burden.usable.n} usable"
    yield spread(
        Content.styled("Features", f"bold {ACCENT}"),
        Content.styled(f"{judge.rater}   {usable}", QUIET),
        width,
    )
    unusable = view.scores.unusable
    judged: list[Mapping[str, bool]] = [
        {} if row.trial.plan.number in unusable else row.judged[judge.rater]
        for row in view.rows
        if judge.rater in row.judged
    ]
    latest, n = judged[-MOST_RESPONSES:], burden.n_burden
    room = max(min(len(latest), MOST_RESPONSES, width - 24), 0)
    features = judge.features
    counts = [_found(one, burden.features) for one in latest]
    highest = max((count for count in counts if count is not None), default=0.0)
    whole = Content.assemble(
        spark(counts, room, highest=max(highest, 4.0)), f"  {number(burden.symptom_burden):>5}"
    )
    yield spread(Content.styled("symptom burden", "bold"), whole.stylize("bold"), width)
    for feature in sorted(features, key=lambda name: -burden.present.get(name, 0)):
        count = burden.present.get(feature, 0)
        profile = spark([_found(one, (feature,)) for one in latest], room, highest=1.0)
        style = "" if count else QUIET
        told = f"{count}/{n}" if n else NONE
        share = Content.assemble(profile, (f"  {told:>5}", style))
        yield spread(Content.styled(titles.get(feature, feature), style), share, width)
    if judged:
        yield Content("")
        for cause, count in burden.no_burden.items():
            words = f"{count} without a burden: {cause_in_words(cause)}."
            yield from folded(words, width, QUIET)
        words = f"A bar for each of the latest {len(latest)} responses: high where present, "
        words += "none where undefined."
        yield from folded(words, width, QUIET)
    if judge.caution:
        yield from folded(sentence(judge.caution), width, QUIET)


def _found(judged: Mapping[str, bool], features: Iterable[str]) -> float | None:
    """Return how many of some features are present; None where one of them has no value."""
    verdicts = [judged.get(feature) for feature in features]
    return None if None in verdicts else float(sum(filter(None, verdicts)))
