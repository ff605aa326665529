"""The pane of an item: its texts, the response, the verdicts, and the line of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widgets import Static

from tabwb.administer.cost import Spending, format_spending
from tabwb.battery.task_type import task_type
from tabwb.records.states import AdministrationStatus, StopReason, TrialState
from tabwb.workbench.engine.view_models import Item, Rest, Work
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.widgets import Flow, Pane
from tabwb.workbench.shell.wording import (
    ACCENT,
    AMBER,
    QUIET,
    conditions_words,
    reasoning_words,
    seconds,
    stopped,
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
