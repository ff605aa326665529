"""The item pane: one item, what came back, what was made of it. It owns the keys of a trial."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.commands import bindings
from tabwb.workbench.snapshots import Item, Scores, Verdict, Work
from tabwb.workbench.widgets.answer_field import AnswerField
from tabwb.workbench.widgets.painted import Flow, Line
from tabwb.workbench.widgets.score_panel import CompactScores
from tabwb.workbench.wording import (
    ACCENT,
    AMBER,
    MARKS,
    QUIET,
    asks_for,
    bar,
    conditions_words,
    name_of,
    seconds,
    stopped,
)

OPTION_GAP = 4
TALL = 32
"""From so many lines up words to the administrator of a model are shown."""


class ItemBody(VerticalScroll, can_focus=False):
    """What scrolls when an item or an answer is long."""


class TrialPage(Vertical, can_focus=True):
    """One administration, item by item."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("trial")]
    HELP = """\
# Item

The item before the examinee, the answer as it comes, and the verdict of each policy: *exact*
decides; *normalised* forgives case, quotes and one final stop; *extracted* looks for the one option
that is named anywhere.

- **space** gives the next item; **a** gives all that are left
- **r** asks again: a new attempt, and the new one counts
- **s** skips, **v** declares void, **d** discontinues: each asks for a reason
- **u** takes back, **n** writes a note, **p** pauses, **esc** stops a model in mid-answer
- **i** shows the exact prompt as it is sent, **h** hides or shows verdicts

Every answer is on disk before the next item goes out.
"""

    class Answered(Message):
        """A person recorded an answer."""

        def __init__(self, text: str, latency_s: float) -> None:
            self.text = text
            self.latency_s = latency_s
            super().__init__()

    def __init__(self) -> None:
        super().__init__(id="trial-page", classes="page")
        self._work: Work | None = None
        self._narrow = False
        self._pausing = False
        self._shown: dict[str, Content] = {}
        self._drawn_at = 0.0
        self._drawn: tuple[int, int] | None = None
        self.sent_shown = False
        self.verdicts_shown: bool | None = None

    def compose(self) -> ComposeResult:
        """Head, body, answer, hint, compact scores."""
        yield Line(id="trial-head")
        yield Line(id="trial-subtest")
        with ItemBody(id="trial-body"):
            yield Static(id="instructions", markup=False)
            yield Static(id="prompt", markup=False)
            yield Flow(id="options")
            yield Static(id="sent", markup=False)
            yield Static(id="reply", markup=False)
            yield AnswerField()
            yield Flow(id="verdicts")
            yield Static(id="findings", markup=False)
            yield Static(id="administrator", markup=False)
        yield Static(id="trial-hint")
        yield CompactScores()

    # ---------------------------------------------------------------- what is shown

    @property
    def hidden(self) -> bool:
        """Whether verdicts are hidden: while a person types, unless shown by choice."""
        if self.verdicts_shown is not None:
            return not self.verdicts_shown
        return self._work is not None and self._work.administration.conditions.kind == "speaker"

    def show(self, work: Work, *, narrow: bool, pausing: bool) -> None:
        """Show an administration as it stands."""
        before = self._work
        if before is None or before.administration.id != work.administration.id:
            self.verdicts_shown = None
            self.sent_shown = False
            self._drawn = None
        self._work, self._narrow, self._pausing = work, narrow, pausing
        self._show_head(work)
        self._show_item(work)
        self._show_hint(work)
        compact = self.query_one(CompactScores)
        compact.display = narrow
        compact.show(work.scores, hidden=self.hidden)
        self._show_answer_field(work)

    def scores(self) -> Scores:
        """The scores to show beside the item."""
        return self._work.scores if self._work else Scores()

    def stream(self, text: str) -> None:
        """Show a reply as it comes."""
        self._put("#reply", text)
        self.query_one(ItemBody).scroll_end(animate=False)

    def _show_head(self, work: Work) -> None:
        one, item = work.administration, work.item
        number = Content.styled(f"#{one.id}", "bold")
        place = f"item {item.place[0]} of {item.place[1]}" if item else f"{one.planned} items"
        subtest = item.subtest if item else ""
        progress = (
            Content.assemble(
                bar(item.in_subtest[0] / item.in_subtest[1], 12),
                f"  {item.in_subtest[0]} of {item.in_subtest[1]}",
            )
            if item
            else Content("")
        )
        head, second = self.query_one("#trial-head", Line), self.query_one("#trial-subtest", Line)
        if self._narrow:
            right = Content.assemble((subtest, "bold"), "  ", progress)
            head.show(Content.assemble(number, "   ", place), right)
            second.display = False
            return
        facts = " · ".join([name_of(one), *conditions_words(one)])
        head.show(Content.assemble(number, "  ", (facts, QUIET)), place)
        second.display = True
        second.show(Content.styled(subtest, "bold"), progress)

    def _show_item(self, work: Work) -> None:
        item = work.item
        person = work.administration.conditions.kind == "speaker"
        self._put("#instructions", item.instructions if item and person else "")
        prompt = item.prompt if item else work.administration.battery_title
        self._put("#prompt", prompt if not item or not self.sent_shown else "")
        options = item.options if item and not self.sent_shown else ()
        self.query_one("#options", Flow).show([options], OPTION_GAP)
        self._put("#sent", f"sent, exactly:\n{item.sent}" if item and self.sent_shown else "")
        self._put("#reply", self._reply(work))
        gap = 6 if self.size.width >= 84 and not self._narrow else 3
        self.query_one("#verdicts", Flow).show([row for row in self._verdicts(work) if row], gap)
        self._put("#findings", self._findings(item) if item else self._opening(work))
        text = f"to the administrator: {item.administrator}" if item and item.administrator else ""
        roomy = person or (not self._narrow and self.app.size.height >= TALL)
        self._put("#administrator", work.disclaimer if not item else text if roomy else "")

    def _opening(self, work: Work) -> Content:
        one = work.administration
        lines = [("given to", one.conditions.examinee)]
        lines.append(("conditions", ", ".join(conditions_words(one))))
        lines += [
            (name.replace("_", " "), f"{int(value):,}" if value.isdecimal() else value)
            for name, value in work.facts
            if len(value) < 60
        ]
        width = max(len(name) for name, _ in lines)
        return Content("\n").join(
            [Content.assemble((f"{name:<{width}}   ", QUIET), value) for name, value in lines]
        )

    def _put(self, selector: str, content: str | Content) -> None:
        shown = Content(content) if isinstance(content, str) else content
        before = self._shown.get(selector)
        if before is None or not shown.is_same(before):
            self._shown[selector] = shown
            widget = self.query_one(selector, Static)
            widget.display = bool(shown)
            widget.update(shown)

    def _reply(self, work: Work) -> Content | str:
        item = work.item
        if work.asking:
            return Content.styled("…", QUIET)
        if item is None or work.awaiting:
            return ""
        attempt = item.attempt
        if attempt is not None:
            cut = "  [cut at " + str(item.token_limit) + " tokens]"
            if attempt.stop_reason.value != "length":
                cut = ""
            if not attempt.response.strip():
                return Content.styled("(no response)", QUIET)
            return Content.assemble(attempt.response, (cut, AMBER))
        if item.trial.state in {TrialState.SKIPPED, TrialState.VOID}:
            glyph = MARKS[item.trial.state.value]
            return Content.assemble(
                (f"{glyph} {item.trial.state.value}", "bold"), (f"  {item.trial.reason}", QUIET)
            )
        if item.error:
            return Content.assemble(("! in error", f"bold {AMBER}"), f"  {item.error}")
        return ""

    def _verdicts(self, work: Work) -> Iterator[list[Content]]:
        item = work.item
        if item is None or work.asking or work.awaiting or item.attempt is None:
            return
        latency = seconds(item.attempt.latency_s)
        person = work.administration.conditions.kind == "speaker"
        if person and self.hidden:
            yield [Content.styled("● recorded", "bold"), Content.styled(latency, QUIET)]
            return
        yield [_verdict(one, person=person) for one in item.verdicts]
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

    def _findings(self, item: Item | None) -> Content | str:
        if item is None:
            return ""
        lines = [] if item.attempt is None or self.hidden else list(item.findings)
        lines += [f"note: {note}" for note in item.trial.notes]
        return Content("\n").join([Content.styled(line, QUIET) for line in lines])

    def _show_hint(self, work: Work) -> None:
        self._put("#trial-hint", Content.styled(*self._hint(work)))

    def _hint(self, work: Work) -> tuple[str, str]:
        person = work.administration.conditions.kind == "speaker"
        if work.loading:
            return f"… loading {work.loading}", QUIET
        if self._pausing:
            return "‖ pausing after this answer   esc stops it now", AMBER
        match work.status:
            case AdministrationStatus.DONE:
                return "✓ done   space shows the results", "bold $accent"
            case AdministrationStatus.DISCONTINUED:
                return "■ discontinued   space shows the results, u takes it back", AMBER
            case AdministrationStatus.PAUSED:
                why = f": {work.reason}" if work.reason else ""
                return f"‖ paused{why}   space goes on", AMBER
        if work.asking:
            auto = "   » auto-run, a ends it" if work.auto else "   esc stops it"
            return f"▸ answering{auto}", QUIET
        if work.auto and not person:
            return "» auto-run   a ends it", QUIET
        if person and work.awaiting:
            kind = asks_for(work.item.kind) if work.item else ""
            if self.query_one(AnswerField).has_focus:
                return f"asked for: {kind}   enter records   esc gives the keys back", QUIET
            return "enter goes back to the answer", QUIET
        if work.item is None:
            return "space gives the first item" + ("" if person else ", a gives all"), QUIET
        if work.item.error:
            return "r asks again   space goes on; this item comes again at the end", AMBER
        return f"space gives the next item   {work.remaining} left", QUIET

    # ---------------------------------------------------------------- a person types

    def _show_answer_field(self, work: Work) -> None:
        field = self.query_one(AnswerField)
        person = work.administration.conditions.kind == "speaker"
        wanted = person and work.awaiting and work.status is AdministrationStatus.RUNNING
        if not wanted:
            if field.display:
                had = field.has_focus
                field.display = False
                self._drawn = None
                if had:
                    self.focus()
            return
        assert work.item is not None
        shown = (
            work.administration.id,
            len(work.item.trial.attempts) * 100_000 + work.item.place[0],
        )
        if shown != self._drawn:
            self._drawn = shown
            field.text = ""
            field.display = True
            self._drawn_at = 0.0
            self.query_one(ItemBody).scroll_home(animate=False)
            # The clock starts when the frame that holds the item has been written.
            self.call_after_refresh(self._item_drawn)
            if self.screen.focused is None or self in self.screen.focused.ancestors_with_self:
                field.focus()

    def _item_drawn(self) -> None:
        self._drawn_at = time.monotonic()

    def on_answer_field_recorded(self, event: AnswerField.Recorded) -> None:
        """Pass the answer on with its latency."""
        event.stop()
        now = time.monotonic()
        self.post_message(self.Answered(event.text, now - (self._drawn_at or now)))

    def on_answer_field_given_back(self, event: AnswerField.GivenBack) -> None:
        """Take the keys."""
        event.stop()
        self.focus()

    def on_descendant_focus(self) -> None:
        """The hint depends on who has the keys."""
        if self._work is not None:
            self._show_hint(self._work)

    def on_descendant_blur(self) -> None:
        """The hint depends on who has the keys."""
        if self._work is not None:
            self.call_after_refresh(self._hint_if_here)

    def _hint_if_here(self) -> None:
        if self._work is not None and self.query("#trial-hint"):
            self._show_hint(self._work)

    def record_answer(self) -> None:
        """Record what stands in the field."""
        self.query_one(AnswerField).action_record()

    def enter_answer(self) -> None:
        """Put the cursor into the field."""
        field = self.query_one(AnswerField)
        if field.display:
            field.focus()


def _verdict(one: Verdict, *, person: bool) -> Content:
    """One policy's verdict: a glyph and a word, without colour for a person."""
    mark = "- none" if one.right is None else "✓ right" if one.right else "✗ wrong"
    style = "bold"
    if not person and one.right is not None:
        style = f"bold {ACCENT}" if one.right else f"bold {AMBER}"
    return Content.assemble((f"{one.measure} ", QUIET), (mark, style))
