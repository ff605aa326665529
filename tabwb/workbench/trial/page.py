"""The page on which an administration is given."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.reactive import reactive
from textual.timer import Timer
from textual.widgets import Static

from tabwb.administer.cost import Spending, format_spending
from tabwb.battery.task_type import task_type
from tabwb.records.states import AdministrationStatus, StopReason, TrialState
from tabwb.workbench.engine.messages import Streamed
from tabwb.workbench.engine.view_models import UNFINISHED, Item, Rest, Work
from tabwb.workbench.shell.commands import Situation
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.frame import CompactScores, ShownScores
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.widgets import Flow, Pane
from tabwb.workbench.shell.wording import (
    ACCENT,
    AMBER,
    QUIET,
    conditions_words,
    head_words,
    name_of,
    reasoning_words,
    seconds,
    stopped,
)
from tabwb.workbench.trial.participant_view import ParticipantView
from tabwb.workbench.trial.transcript import (
    Given,
    ItemMap,
    LiveView,
    ProgressLine,
    TranscriptList,
    live_lines,
)

_VERDICTS = {
    True: ("✓ right", f"bold {ACCENT}"),
    False: ("✗ wrong", f"bold {AMBER}"),
    None: ("- none", "bold"),
}
"""Words and style of a verdict; of a person no verdict has a colour."""


def opening(work: Work) -> Content:
    """Return what is shown before the first item: examinee, conditions, facts, notices."""
    conditions = ", ".join(conditions_words(work.administration))
    given = work.administration.conditions
    facts = [("given to", given.examinee)]
    facts += [("lesion", given.lesion)] if given.lesion else []
    facts += [("conditions", conditions)] if conditions else []
    facts += [
        (name.replace("_", " "), f"{int(value):,}" if value.isdecimal() else value)
        for name, value in work.facts
        if len(value) < 60
    ]
    width = max(len(name) for name, _ in facts)
    lines = [Content.assemble((f"{name:<{width}}   ", QUIET), value) for name, value in facts]
    lines += [Content.styled(f"! {notice}", AMBER) for notice in work.notices]
    return Content("\n").join(lines)


def reply(work: Work) -> Content | str:
    """Return the response, or the state of an item without one."""
    item = work.item
    if work.of_person and work.awaiting:
        return Content.styled("… the participant types", QUIET)
    if work.asking and not work.together:
        return Content.styled("…", QUIET)
    if item is None or work.awaiting:
        return ""
    attempt = item.attempt
    if attempt is not None:
        if not attempt.response.strip():
            why = attempt.metadata.get("cause", "")
            words = f"(no response: {why})" if why else "(no response)"
            return Content.styled(words, QUIET)
        cut = attempt.stop_reason is StopReason.LENGTH
        limit = f"  [cut at {item.token_limit} tokens]" if cut else ""
        return Content.assemble(attempt.response, (limit, AMBER))
    state = item.trial.state
    if state in {TrialState.SKIPPED, TrialState.VOID}:
        words = f"{MARKS[state.value]} {state.value}"
        return Content.assemble((words, "bold"), (f"  {item.trial.reason}", QUIET))
    if item.error:
        return Content.assemble(("! in error", f"bold {AMBER}"), f"  {item.error}")
    return ""


def verdict_rows(work: Work, *, hidden: bool) -> Iterator[list[Content]]:
    """Yield the verdicts, then further facts; of a person with hidden verdicts only the latency."""
    item = work.item
    waits = work.awaiting or (work.asking and not work.together)
    if item is None or waits or item.attempt is None:
        return
    latency = seconds(item.attempt.latency_s)
    if work.of_person and hidden:
        yield [Content.styled("● recorded", "bold"), Content.styled(latency, QUIET)]
        return
    verdicts = []
    for verdict in item.verdicts:
        words, style = _VERDICTS[verdict.right]
        mark = (words, "bold" if work.of_person else style)
        verdicts.append(Content.assemble((f"{verdict.measure} ", QUIET), mark))
    yield verdicts
    facts = []
    if item.expected is not None and item.verdicts:
        facts.append(Content.assemble(("expected ", QUIET), item.expected))
    if item.foil:
        label = "" if item.foil in {"no-option", "ambiguous"} else "foil: "
        facts.append(Content.assemble((label, QUIET), item.foil.replace("-", " ")))
    facts += [Content(text) for text in (latency, stopped(item)) if text]
    if len(item.trial.attempts) > 1:
        facts.append(Content(f"attempt {item.attempt.number} of {len(item.trial.attempts)}"))
    yield facts


def findings(item: Item, *, hidden: bool) -> Content:
    """Return the reasoning, further measures and features, then the notes."""
    attempt = item.attempt
    lines = [reasoning_words(attempt)] if attempt is not None and attempt.reasoning else []
    lines += [] if attempt is None or hidden else item.findings
    lines += [f"note: {note}" for note in item.trial.notes]
    return Content("\n").join([Content.styled(line, QUIET) for line in lines])


def hint(work: Work, *, pausing: bool, elsewhere: bool = False) -> tuple[str, str]:
    """Return what is happening and what can be done now, with its style."""
    if work.loading:
        return f"… loading {work.loading}", QUIET
    if pausing and work.together:
        return "‖ pausing after the current responses   esc stops them now", AMBER
    if pausing:
        return "‖ pausing after this response   esc stops it now", AMBER
    person = work.of_person
    match work.status:
        case AdministrationStatus.DONE:
            return "✓ complete   space shows the results, F8 goes home", f"bold {ACCENT}"
        case AdministrationStatus.DISCONTINUED:
            return "■ discontinued   space shows the results, u takes it back", AMBER
        case AdministrationStatus.PAUSED:
            why = f": {work.reason}" if work.reason else ""
            return f"‖ paused{why}   space continues", AMBER
    if work.together:
        return "▸ many at once   » auto-run, a ends it   esc stops it", QUIET
    if work.asking:
        auto = "   » auto-run, a ends it" if work.auto else "   esc stops it"
        return f"▸ answering{auto}", QUIET
    if work.auto and not person:
        return "» auto-run   a ends it", QUIET
    if person and work.awaiting:
        kind = task_type(work.item.kind).asks_for if work.item else ""
        where = "shown in the second terminal" if elsewhere else "enter returns to the participant"
        return f"asked for: {kind}   {where}", QUIET
    if work.item is not None and work.item.error:
        return "r asks again   space continues; this item comes again at the end", AMBER
    if work.item is not None:
        return f"space gives the next item   {work.remaining} left", QUIET
    if work.upcoming in {None, 1}:
        return "space gives the first item" + ("" if person else ", a gives all"), QUIET
    left = f", a gives all {work.remaining} that are left"
    if person:
        left = f"   {work.remaining} left"
    return f"space gives item {work.upcoming}{left}", QUIET


TICK_S = 0.25


class RunLine(Static):
    """One line: what a run has used, and a wait while it lasts; hidden while it is empty."""

    DEFAULT_CSS = "RunLine { height: auto; width: 1fr; display: none; }"
    run: reactive[tuple[Spending | None, Rest | None]] = reactive((None, None), init=False)

    def __init__(self) -> None:
        super().__init__(id="run-line", markup=False)
        self._shown = Content("")
        self._ticking: Timer | None = None

    def on_mount(self) -> None:
        """Create the timer of the countdown."""
        self._ticking = self.set_interval(TICK_S, self._paint, pause=True)

    def watch_run(self) -> None:
        """Show the line, and count down while a wait lasts."""
        if self._ticking is not None:
            (self._ticking.pause if self.run[1] is None else self._ticking.resume)()
        self._paint()

    def _paint(self) -> None:
        spending, rest = self.run
        left = rest.until - time.monotonic() if rest is not None else 0.0
        words = words_of(spending, rest.reason if rest else "", left)
        if not words.is_same(self._shown):
            self._shown = words
            self.display = bool(words)
            self.update(words)


def words_of(spending: Spending | None, reason: str, left_s: float) -> Content:
    """Return the line: first the wait, then what was used.

    >>> words_of(Spending(None, 8, 40, 2), "rate limit, attempt 2 of 6", 11.6).plain
    '… rate limit, attempt 2 of 6: 12 s   8 in flight, 42 tokens, cost unknown'
    >>> words_of(Spending(), "rate limit", 0.0).plain
    ''
    """
    pieces = []
    if reason and left_s > 0:
        pieces.append(Content.styled(f"… {reason}: {left_s:.0f} s", AMBER))
    if spending is not None and (words := format_spending(spending)):
        pieces.append(Content.styled(words, QUIET))
    return Content("   ").join(pieces)


OPTION_GAP = 4
TALL = 32
"""The least lines for showing words to the administrator of a model."""


class ItemBody(VerticalScroll):
    """The item; scrolls."""


class ItemPane(Pane):
    """Shows one item of the open administration, or what is known before the first."""

    def __init__(self) -> None:
        super().__init__(title="Item", id="trial-item")
        self._shown: dict[str, Content] = {}
        """The texts that are shown, by the selector of their widget."""

    def compose(self) -> ComposeResult:
        """Yield the parts of an item."""
        with ItemBody(id="trial-body"):
            yield Static(id="instructions", markup=False)
            yield Static(id="prompt", markup=False)
            yield Flow(id="options")
            yield Static(id="sent", markup=False)
            yield Static(id="reply", markup=False)
            yield Flow(id="verdicts")
            yield Static(id="findings", markup=False)
            yield Static(id="administrator", markup=False)

    def show(self, work: Work, streamed: str, *, hidden: bool, sent: bool) -> None:
        """Show the current item."""
        item = work.item
        title = "Before the first item"
        if item is not None:
            at, of = item.in_subtest
            title = f"Item {item.place[0]} of {item.place[1]}   {item.subtest}, {at} of {of}"
        self.border_title = title
        self._put("#instructions", item.instructions if item and work.of_person else "")
        prompt = item.prompt if item else work.administration.battery_title
        self._put("#prompt", prompt if not item or not sent else "")
        options = item.options if item and not sent else ()
        self.query_one("#options", Flow).show([options], OPTION_GAP)
        self._put("#sent", f"sent, exactly:\n{item.sent}" if item and sent else "")
        self.stream(streamed if work.asking and not work.together else reply(work))
        gap = 6 if self.size.width >= 88 else 3
        rows = [row for row in verdict_rows(work, hidden=hidden) if row]
        self.query_one("#verdicts", Flow).show(rows, gap)
        self._put("#findings", findings(item, hidden=hidden) if item else opening(work))
        text = f"to the administrator: {item.administrator}" if item and item.administrator else ""
        roomy = work.of_person or self.app.size.height >= TALL
        self._put("#administrator", work.disclaimer if not item else text if roomy else "")

    def stream(self, response: str | Content) -> None:
        """Show the response so far."""
        self._put("#reply", response)

    def show_beginning(self) -> None:
        """Scroll to the beginning of the item."""
        self.query_one(ItemBody).scroll_home(animate=False)

    def follow_reply(self) -> None:
        """Scroll no further than needed to show the end of the response: the prompt stays."""
        body, reply = self.query_one(ItemBody), self.query_one("#reply")
        self.call_after_refresh(body.scroll_to_widget, reply, animate=False)

    def _put(self, selector: str, content: str | Content) -> None:
        shown = Content.from_text(content, markup=False)
        before = self._shown.get(selector)
        if before is None or not shown.is_same(before):
            self._shown[selector] = shown
            widget = self.query_one(selector, Static)
            widget.display = bool(shown)
            widget.update(shown)


class TrialPage(Page):
    """Gives an administration item by item."""

    SCORES_DOCK = True

    HELP = """\
# Administration

At the top: how many items are given, elapsed and remaining time, and one mark for each item. Below:
the transcript, then the item that is shown, with the response as it arrives and the verdict of each
policy. *Exact* decides; *normalised* ignores case, quotes and one final stop; *extracted* looks for
the one option that is named anywhere.

- **space** gives the next item; **a** gives all that are left
- **up**, **down**, **page up**, **page down**, **home**, or a click on a line or a mark, show
  another item, also while items are given; **end** shows the current one
- **r** asks again: a new attempt, and the new one counts
- **s** skips, **v** declares void, **d** discontinues: each asks for a reason
- **u** takes back, **n** writes a note, **p** pauses, **esc** stops a response; **n** and **v** are
  on the item that is shown
- **i** shows the exact prompt as it is sent, **t** hides or shows verdicts, **j** shows the judges'
  verdicts

✓ right, ✗ wrong, ● given (nothing to be right or wrong), ▸ current, · not given, › skipped, ∅ void,
! needs attention, - not administered.

A participant who types sees the item alone (**f**). Then only **space** and **enter** do something
between two items; **esc** gives the keys to the examiner, a second **esc** shows this page, and
**enter** returns to the participant's view. Verdicts are hidden until **t** shows them.

Every response is on disk before the next item is given.
"""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._work: Work | None = None
        self._queued = False
        """A model's turn was asked for and has not begun."""
        self._pausing = False
        """A pause follows the current answer."""
        self._narrow = False
        """Whether the scores are in one line below the item."""
        self._chosen: int | None = None
        """Number of an earlier or later item that is shown; None: the current one."""
        self._looked_up: Item | None = None
        self._streamed = ""
        self._message = ""
        self._facts = ""
        """Name and conditions of the open administration."""
        self.sent_shown = False
        self.verdicts_shown: bool | None = None
        self.participant = ParticipantView(desk)

    def compose(self) -> ComposeResult:
        """Yield progress, transcript, the item shown, hint, compact scores."""
        yield Pane(ProgressLine(), ItemMap(self._choose), id="trial-overview")
        yield Pane(
            TranscriptList(self._choose), title="Transcript", id="trial-transcript", main=True
        )
        yield ItemPane()
        yield Horizontal(Static(id="trial-hint"), RunLine(), id="trial-foot")
        yield CompactScores()

    # ---------------------------------------------------------------- what is shown

    @property
    def hidden(self) -> bool:
        """Whether verdicts are hidden: while a person types, unless shown by choice."""
        if self.verdicts_shown is not None:
            return not self.verdicts_shown
        return self.desk.work is not None and self.desk.work.of_person

    def update_page(self) -> None:
        """Show the open administration."""
        work, before = self.desk.work, self._work
        if work is None:
            return
        if before is None or before.administration.id != work.administration.id:
            self.verdicts_shown = None
            self.sent_shown = False
            self._chosen = None
            self._facts = " · ".join(
                [name_of(work.administration), *head_words(work.administration)]
            )
        if work.asking or work.status is not AdministrationStatus.RUNNING:
            self._queued = False
        if not work.asking:
            self._pausing, self._streamed = False, ""
        self._message = ""
        self._work = work
        self._narrow = not self.desk.docks.scores_stand
        self._show_all(work)
        self.query_one(RunLine).run = work.spending, work.rest
        self.query_one("#trial-foot").set_class(work.rest is not None, "-waits")
        compact = self.query_one(CompactScores)
        compact.display = self._narrow
        compact.shown = work.scores, self.hidden
        if not work.of_person:
            self.participant.end()
        elif self.participant.is_mounted and self.participant.update_view(work):
            self.participant.open_view()

    def stream(self, message: Streamed) -> None:
        """Show a response as it arrives."""
        if self.display and self._work is not None and self._work.asking:
            self._streamed = message.text
            self._show_transcript(self._work)
            if self._chosen is None:
                pane = self.query_one(ItemPane)
                pane.stream(message.text)
                pane.follow_reply()

    def auto_run_complete(self, number: int) -> None:
        """Show the results, unless the user reads something else: the hint has the key then."""
        if not self.display:
            self.desk.notify(f"#{number} is complete.")
        elif self._chosen is None and self.desk.is_current:
            self.desk.request("results", "show", number)

    async def on_mount(self) -> None:
        """Follow the response as it arrives, and mount the participant's view."""
        self.desk.listen(Streamed, self.stream)
        await self.desk.mount(self.participant)

    def on_hide(self) -> None:
        """Close the participant's view when another page is shown."""
        self.participant.end()

    def shown_scores(self) -> ShownScores | None:
        """Return the scores, hidden while a person types."""
        work = self.desk.work
        if work is None or work.transcript is None:
            return None
        return ShownScores(live_lines, LiveView(work.scores, work.transcript.rows, self.hidden))

    def situation(self, situation: Situation) -> Situation:
        """Return the situation of the item that is shown, with a turn that was asked for."""
        asking = situation.asking or self._queued
        item = self.shown_item()
        if self._chosen is None or item is None:
            return replace(situation, asking=asking, hidden=self.hidden)
        return replace(
            situation,
            asking=asking,
            hidden=self.hidden,
            item=item.place[0],
            state=item.trial.state,
            answered=item.attempt is not None,
            elsewhere=True,
        )

    def focus_inside(self) -> None:
        """Focus the transcript, or the participant's view while it is open."""
        if self.participant.is_open:
            self.participant.open_view()
        else:
            self.query_one(TranscriptList).focus()

    def escape(self) -> bool:
        """Give the keys to the examiner, then leave the participant's view."""
        return self.participant.escape()

    def failed(self) -> None:
        """Let an answer that was not recorded be given again."""
        self._queued = False
        self.participant.sheet.field.read_only = False

    @property
    def shown(self) -> Work | None:
        """The open administration as if the item that is shown were the current one."""
        work = self._work
        if work is None or self._chosen is None or work.transcript is None:
            return work
        item = self._looked_up
        if item is None or item.trial is not work.transcript.rows[self._chosen - 1].trial:
            item = self._looked_up = work.transcript.item(self._chosen)
        return replace(work, item=item, awaiting=False, asking=False)

    def shown_item(self) -> Item | None:
        """Return the item that is shown: commands on one item are on this one."""
        return None if self.shown is None else self.shown.item

    def choose(self, number: int | None) -> None:
        """Show an item; None: the current one, and those that follow."""
        work = self._work
        if work is None:
            return
        current = None if work.item is None else work.item.place[0]
        self._chosen = None if number == current else number
        self._message = ""
        self._show_all(work)
        self.query_one(ItemPane).show_beginning()
        self.desk.show_foot()

    def _choose(self, number: int | None) -> None:
        """Show an item, unless it is to come and a person would read it."""
        work = self._work
        if work is None or work.transcript is None:
            return
        to_come = number is not None and work.transcript.rows[number - 1].mark == "open"
        if not (work.of_person and to_come):  # nobody reads on the screen what is to come
            self.choose(number)

    def _show_all(self, work: Work) -> None:
        shown = self.shown or work
        self._show_overview(work)
        self._show_transcript(work)
        self.query_one(ItemPane).show(
            shown, self._streamed, hidden=self.hidden, sent=self.sent_shown
        )
        self._show_hint()

    def _show_overview(self, work: Work) -> None:
        self.query_one(
            "#trial-overview", Pane
        ).border_title = f"#{work.administration.id}  {self._facts}"
        self.query_one(ProgressLine).show(work)
        self.query_one(ItemMap).show(work, self._chosen, hidden=self.hidden)

    def _show_transcript(self, work: Work) -> None:
        current = None if work.item is None else work.item.place[0]
        given = Given(
            work.administration.id,
            work.transcript,
            current,
            waits=work.awaiting or (work.asking and not work.together),
            hidden=self.hidden,
            person=work.of_person,
            streamed=self._streamed,
        )
        self.query_one(TranscriptList).show_given(given, self._chosen)

    def _show_hint(self) -> None:
        work = self._work
        if work is None or not self.query("#trial-hint"):  # the program is being left
            return
        text, style = hint(work, pausing=self._pausing, elsewhere=self.participant.elsewhere)
        if self._chosen is not None and work.item is not None and work.status in UNFINISHED:
            text = f"item {work.item.place[0]} is current: end returns to it"
        shown = (self._message, AMBER) if self._message else (text, style)
        self.query_one("#trial-hint", Static).update(Content.styled(*shown))

    def show_message(self, words: str) -> None:
        """Show a message in place of the hint, until something changes or a key is pressed."""
        if self.participant.is_open:
            self.participant.show_message(words)
            return
        self._message = words
        self._show_hint()

    def on_key(self, event: Key) -> None:
        """Remove the message."""
        if self._message:
            self._message = ""
            self._show_hint()

    # ---------------------------------------------------------------- commands

    def _turn(self, job: Callable[[], None]) -> None:
        self._chosen = None
        work = self._work
        if work is not None and not work.of_person:
            self._queued = work.status in UNFINISHED
        self.desk.do(job)

    def next(self) -> None:
        """Give the next item."""
        self._turn(self.desk.sessions.next)

    def repeat(self) -> None:
        """Ask again."""
        self._turn(self.desk.sessions.repeat)

    def answer(self) -> None:
        """Return to the participant's view."""
        if self._work is not None and self._work.of_person:
            self.participant.open_view()

    def speaker(self) -> None:
        """Show the participant's view, or the console."""
        if self.participant.is_open:
            self.participant.close_view()
        else:
            self.answer()

    def auto(self) -> None:
        """Switch the auto-run on or off."""
        on = self._work is not None and not self._work.auto
        if not on:
            # The worker sees it before its next turn, whatever else is queued.
            self.desk.sessions.auto = False
        self.desk.do(partial(self.desk.sessions.set_auto, on))

    def stop(self) -> None:
        """Stop the answer, or the loading, that is under way."""
        if not self.desk.docks.leave_drawer():
            self.desk.sessions.interrupt()
            if self._work is not None and self._work.asking:
                self.show_message("… stopping: waits for the model; ctrl+q quits without it")

    def pausing(self) -> None:
        """Show that a pause follows the answer under way."""
        if self._work is not None and self._work.asking:
            self._pausing = True
            self._show_hint()

    def sent(self) -> None:
        """Show or hide the exact prompt."""
        self.sent_shown = not self.sent_shown
        self.update_page()

    def verdicts(self) -> None:
        """Show or hide verdicts."""
        self.verdicts_shown = self.hidden
        self.update_page()
        self.desk.show_frame()
