"""The page on which a model is given a battery: progress, transcript, the item that is shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.events import DescendantFocus, Key
from textual.widget import Widget
from textual.widgets import Static

from tabwb.records.states import AdministrationStatus
from tabwb.workbench.engine.messages import Streamed
from tabwb.workbench.engine.view_models import UNFINISHED, Item, Work
from tabwb.workbench.shell.commands import Situation
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.docks import CompactScores, ShownScores
from tabwb.workbench.shell.frame import Hint
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.pane import Pane
from tabwb.workbench.shell.width_aware import Flow
from tabwb.workbench.shell.wording import AMBER, head_words, name_of
from tabwb.workbench.trial.item_view import (
    PERSON_NEXT,
    AnswerField,
    Keys,
    RunLine,
    findings,
    hint,
    opening,
    reply,
    verdict_rows,
)
from tabwb.workbench.trial.live_scores import LiveView, live_lines
from tabwb.workbench.trial.progress import ItemMap, ProgressLine
from tabwb.workbench.trial.transcript import Given, TranscriptList

OPTION_GAP = 4
TALL = 32
"""The least lines for showing words to the administrator of a model."""


class ItemBody(VerticalScroll):
    """The item that is shown; scrolls."""


def _above(focused: Widget | None) -> Sequence[DOMNode]:
    """Return what is focused and everything around it."""
    return () if focused is None else focused.ancestors_with_self


class TrialPage(Page):
    """Gives an administration item by item."""

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
- **i** shows the exact prompt as it is sent, **h** hides or shows verdicts, **j** shows the judges'
  verdicts

✓ right, ✗ wrong, ● given (nothing to be right or wrong), ▸ current, · not given, › skipped, ∅ void,
! needs attention, - not administered.

Every response is on disk before the next item is given.
"""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._work: Work | None = None
        self._queued = False
        """A model's turn was asked for and has not begun."""
        self._pausing = False
        """A pause follows the answer under way."""
        self._shown: dict[str, Content] = {}
        """The texts that are shown, by the selector of their widget."""
        self._narrow = False
        """Whether the scores are in one line below the item."""
        self._drawn_at = 0.0
        self._drawn: tuple[int, int, int] | None = None
        self._chosen: int | None = None
        """Number of an earlier or later item that is shown; None: the current one."""
        self._looked_up: Item | None = None
        self._streamed = ""
        self._message = ""
        self._facts = ""
        """Name and conditions of the open administration."""
        self.person_has_keys = False
        self.sent_shown = False
        self.verdicts_shown: bool | None = None

    def compose(self) -> ComposeResult:
        """Yield progress, transcript, the item shown, hint, compact scores."""
        yield Pane(ProgressLine(), ItemMap(), id="trial-overview")
        yield Pane(TranscriptList(), title="Transcript", id="trial-transcript", main=True)
        with Pane(title="Item", id="trial-item"), ItemBody(id="trial-body"):
            yield Static(id="instructions", markup=False)
            yield Static(id="prompt", markup=False)
            yield Flow(id="options")
            yield Static(id="sent", markup=False)
            yield Static(id="reply", markup=False)
            yield AnswerField()
            yield Flow(id="verdicts")
            yield Static(id="findings", markup=False)
            yield Static(id="administrator", markup=False)
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
            self.person_has_keys = False
            self._drawn = self._chosen = None
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
        self._show_answer_field(work)

    def stream(self, message: Streamed) -> None:
        """Show a reply as it comes."""
        if self.display and self._work is not None and self._work.asking:
            self._streamed = message.text
            self._show_transcript(self._work)
            if self._chosen is None:
                self._put("#reply", message.text)
                self.query_one(ItemBody).scroll_end(animate=False)

    def on_mount(self) -> None:
        """Follow the reply as it comes, and whether nothing was typed."""
        self.desk.listen(Streamed, self.stream)
        self.watch(self.query_one(AnswerField), "nothing_typed", self._show_hint, init=False)

    def shown_scores(self) -> ShownScores:
        """Return the scores, hidden while a person types."""
        work = self.desk.work
        if work is None or work.transcript is None or self.hidden:
            return ShownScores() if work is None else ShownScores(work.scores, hidden=self.hidden)
        view = LiveView(work.scores, work.transcript.rows)
        return ShownScores(work.scores, special=(live_lines, view))

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

    def hints(self) -> Sequence[Hint] | None:
        """Return the footer's hints while a person types or between two answers."""
        focused, run = self.screen.focused, self.desk.perform
        shared = (Hint("F1", "Help", partial(run, "help.focused")),)
        if isinstance(focused, AnswerField):
            return (
                Hint("enter", "Record", focused.action_record),
                Hint("esc", "Keys", self.take_keys),
                Hint("ctrl+j", "New line"),
                *shared,
                Hint("ctrl+p", "Commands", partial(run, "help.commands")),
            )
        if not self.person_has_keys or self._work is None or self not in _above(focused):
            return None
        between = (Hint("esc", "Commands", self.take_keys), *shared)
        if self._work.status is AdministrationStatus.DONE:
            return between
        return (Hint("space", "Next item", partial(run, "administer.next")), *between)

    def focus_inside(self) -> None:
        """Focus the transcript, or the answer field."""
        self.query_one(TranscriptList).focus()
        self.answer()

    def failed(self) -> None:
        """Let an answer that was not recorded be given again."""
        self._queued = False
        self.query_one(AnswerField).read_only = False

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
        self.query_one(ItemBody).scroll_home(animate=False)
        self.desk.show_foot()

    @on(TranscriptList.Chosen)
    @on(ItemMap.Clicked)
    def _item_chosen(self, event: TranscriptList.Chosen | ItemMap.Clicked) -> None:
        event.stop()
        work = self._work
        if work is None or work.transcript is None:
            return
        number = event.number
        to_come = number is not None and work.transcript.rows[number - 1].mark == "open"
        if not (work.of_person and to_come):  # nobody reads on the screen what is to come
            self.choose(number)

    def _show_all(self, work: Work) -> None:
        shown = self.shown or work
        self._show_overview(work)
        self._show_transcript(work)
        self._show_item(shown)
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
        self.query_one(TranscriptList).show(given, self._chosen)

    def _show_item(self, work: Work) -> None:
        item = work.item
        title = "Before the first item"
        if item is not None:
            at, of = item.in_subtest
            title = f"Item {item.place[0]} of {item.place[1]}   {item.subtest}, {at} of {of}"
        self.query_one("#trial-item", Pane).border_title = title
        self._put("#instructions", item.instructions if item and work.of_person else "")
        prompt = item.prompt if item else work.administration.battery_title
        self._put("#prompt", prompt if not item or not self.sent_shown else "")
        options = item.options if item and not self.sent_shown else ()
        self.query_one("#options", Flow).show([options], OPTION_GAP)
        self._put("#sent", f"sent, exactly:\n{item.sent}" if item and self.sent_shown else "")
        streamed = self._streamed if work.asking and not work.together else ""
        self._put("#reply", streamed or reply(work))
        gap = 6 if self.size.width >= 84 and not self._narrow else 3
        rows = [row for row in verdict_rows(work, hidden=self.hidden) if row]
        self.query_one("#verdicts", Flow).show(rows, gap)
        self._put("#findings", findings(item, hidden=self.hidden) if item else opening(work))
        text = f"to the administrator: {item.administrator}" if item and item.administrator else ""
        roomy = work.of_person or (not self._narrow and self.app.size.height >= TALL)
        self._put("#administrator", work.disclaimer if not item else text if roomy else "")

    def _put(self, selector: str, content: str | Content) -> None:
        shown = Content.from_text(content, markup=False)
        before = self._shown.get(selector)
        if before is None or not shown.is_same(before):
            self._shown[selector] = shown
            widget = self.query_one(selector, Static)
            widget.display = bool(shown)
            widget.update(shown)

    def _show_hint(self) -> None:
        if self._work is None or not self.query(AnswerField):  # the program is being left
            return
        field = self.query_one(AnswerField)
        keys: Keys = "person" if self.person_has_keys else "administrator"
        text, style = hint(
            self._work,
            "field" if field.has_focus else keys,
            pausing=self._pausing,
            nothing_typed=field.nothing_typed,
        )
        if self._chosen is not None and self._work.item is not None:
            text = f"item {self._work.item.place[0]} is current: end returns to it   {text}"
        shown = (self._message, AMBER) if self._message else (text, style)
        self._put("#trial-hint", Content.styled(*shown))

    # ---------------------------------------------------------------- a person types

    def _show_answer_field(self, work: Work) -> None:
        field = self.query_one(AnswerField)
        wanted = work.of_person and work.awaiting and work.status is AdministrationStatus.RUNNING
        if not wanted or work.item is None:
            if field.display:
                had = field.has_focus
                field.display = False
                self._drawn = None
                if had:
                    self.query_one(TranscriptList).focus()
            return
        shown = (work.administration.id, work.item.place[0], len(work.item.trial.attempts))
        if shown != self._drawn:
            self._drawn = shown
            field.empty()
            field.display = True
            self._drawn_at = 0.0
            self.query_one(ItemBody).scroll_home(animate=False)
            # The clock starts when the frame that holds the item has been written.
            self.call_after_refresh(self._item_drawn)
            if self.screen.focused is None or self in _above(self.screen.focused):
                field.focus()

    def _item_drawn(self) -> None:
        self._drawn_at = time.monotonic()

    def on_answer_field_recorded(self, event: AnswerField.Recorded) -> None:
        """Record the answer with its latency."""
        event.stop()
        now = time.monotonic()
        latency_s = now - (self._drawn_at or now)
        self.desk.do(partial(self.desk.sessions.answer, event.text, latency_s))

    @on(AnswerField.GivenBack)
    def take_keys(self) -> None:
        """Give the keys to the administrator."""
        self.person_has_keys = False
        self.query_one(TranscriptList).focus()
        self._show_hint()
        self.desk.show_foot()

    def show_message(self, words: str) -> None:
        """Show a message in place of the hint, until something changes or a key is pressed."""
        self._message = words
        self._show_hint()

    def on_key(self, event: Key) -> None:
        """Ignore most keys of a person between two answers."""
        self._message = ""
        work = self._work
        if not self.person_has_keys or work is None or self.query_one(AnswerField).has_focus:
            return
        over = work.status is AdministrationStatus.DONE
        if event.key == "escape":
            event.stop()
            self.take_keys()
        elif event.key in {"space", "enter"} and not over:
            if event.key == "enter" and not work.awaiting:
                event.stop()
                self.desk.perform("administer.next")
        elif event.is_printable or event.key in {"enter", "tab", "shift+tab"}:
            event.stop()
            enter = "enter goes back to the answer   esc commands"
            self.show_message("" if over else enter if work.awaiting else PERSON_NEXT)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Give the keys to the person when the answer field is focused."""
        if isinstance(event.widget, AnswerField):
            self.person_has_keys = True
        self._show_hint()

    def on_descendant_blur(self) -> None:
        """Update the hint, which depends on the focus."""
        self.call_after_refresh(self._show_hint)

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
        """Put the cursor into the answer field."""
        field = self.query_one(AnswerField)
        if field.display:
            field.focus()

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
            self.desk.sessions.interrupt(loading=bool(self._work and self._work.loading))

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
