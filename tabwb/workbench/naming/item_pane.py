"""Parts of the naming page on one item: head, clock, response, hint, rule verdicts, field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.naming.view_models import Card, NamingNow
from tabwb.workbench.shell.rule_verdicts import verdict_lines
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, AMBER, MARKS, QUIET, conditions_words, short_spec

NO_RESPONSES = {"s": "silent", "d": "dont-know", "r": "refused"}
"""After key 4: which of the kinds of no response it was."""
DRAFT = "Transcripts are a draft until a trained listener has heard the recording."


def head(card: Card | None, *, scored: bool) -> Content:
    """Return target and accepted pronunciations.

    Args:
        card: the picture, or None.
        scored: the response has a score.
    """
    if card is None:
        return Content("")
    forms = ", ".join(" ".join(form) for form in card.accepted[:3])
    more = f" and {len(card.accepted) - 3} more" if len(card.accepted) > 3 else ""
    practice = ("  practice", AMBER) if card.practice else ("", "")
    if not card.coded:
        return Content.assemble((card.target, "bold"), practice)
    return Content.assemble(
        (card.target, "bold"), practice, ("    accepted ", QUIET), forms, (more, QUIET)
    )


def resting(work: Work, now: NamingNow, device: str) -> Content:
    """Return what is shown while the microphone is closed: what is to be given, how to begin.

    Args:
        work: the open administration.
        now: its naming part.
        device: the microphone that was chosen, or empty.
    """
    administration = work.administration
    begun = work.item is not None or work.now.answered > 0
    title = {
        AdministrationStatus.DONE: "Done",
        AdministrationStatus.DISCONTINUED: "Discontinued",
    }.get(work.status, "Break" if begun else administration.battery_title)
    lines = [Content.styled(title, "bold"), Content("")]
    if work.status in {AdministrationStatus.DONE, AdministrationStatus.DISCONTINUED}:
        scored = sum(item.standing == "scored" for item in now.items)
        described = sum(item.standing == "given" and bool(item.word) for item in now.items)
        words = "answered" if described else "scored"
        lines.append(Content(f"{scored + described} of {len(now.items)} items {words}"))
        lines.append(Content.assemble(("space", f"bold {ACCENT}"), " shows the results"))
        return Content("\n").join(lines)
    if not begun:
        lines.append(_fact("speaker", administration.conditions.examinee))
        lines.append(_fact("conditions", ", ".join(conditions_words(administration))))
        lines.append(_fact("transcribed by", short_spec(now.transcriber) or "nothing"))
    if now.instructions:
        lines.append(_fact("read aloud", f"“{now.instructions}”"))
    left = sum(item.standing == "open" for item in now.items)
    lines.append(_fact("pictures", f"{left} to show"))
    lines.append(_fact("microphone", device or "the system's own"))
    if now.left_over:
        plural = "recording" if now.left_over == 1 else "recordings"
        lines.append(
            Content.styled(
                f"{now.left_over} interrupted {plural} will be kept when the microphone opens",
                AMBER,
            )
        )
    if not begun:
        lines += [Content.styled(f"! {notice}", AMBER) for notice in work.notices]
    lines.append(Content(""))
    lines.append(Content.assemble(("space", f"bold {ACCENT}"), " opens the microphone: ready"))
    lines.append(Content.assemble(("t", f"bold {ACCENT}"), "     tests it"))
    lines.append(Content.assemble(("f", f"bold {ACCENT}"), "     speaker's view"))
    lines += [Content(""), Content.styled(DRAFT, QUIET)]
    return Content("\n").join(lines)


def _fact(name: str, words: str) -> Content:
    return Content.assemble((f"{name:<16}", QUIET), words)


def responded(now: NamingNow, work: Work) -> Content:
    """Return cue, attempts and the person's score, one line each.

    Args:
        now: the naming part of the administration.
        work: the administration.
    """
    lines = []
    if now.card is not None and now.card.trouble:
        lines.append(Content.styled(f"! {now.card.trouble}", AMBER))
    if now.card is not None and now.card.prompt:
        lines.append(Content.assemble(("ask  ", QUIET), now.card.prompt))
    if now.cues_given:
        cue = now.cues[now.cues_given - 1]
        counts = "counts" if cue.counts else "does not count"
        lines.append(
            Content.assemble(
                (f"cue {now.cues_given} of {len(now.cues)}  ", QUIET),
                (cue.text, "bold"),
                (f"  {cue.kind}, {counts}", QUIET),
            )
        )
    if now.examiner_speaks:
        lines.append(Content.styled("● examiner speaks: x ends it", AMBER))
    for number, attempt in enumerate(now.attempts, 1):
        if attempt.phonemes:
            lines.append(
                Content.assemble(
                    (f"attempt {number}   ", QUIET),
                    (" ".join(attempt.phonemes), "bold"),
                    ("   as heard" if attempt.by_ear else "   machine, unchecked", QUIET),
                )
            )
    if now.sound:
        lines.append(Content.styled(f"! {now.sound}", AMBER))
    item = work.item
    if item is not None and item.trial.state in {TrialState.SKIPPED, TrialState.VOID}:
        state = item.trial.state.value
        lines.append(
            Content.assemble((f"{MARKS[state]} {state}", "bold"), (f"  {item.trial.reason}", QUIET))
        )
    elif now.score_words:
        flags = f"  {', '.join(now.flags)}" if now.flags else ""
        code = f"   code {now.code}{flags}" if now.code else ""
        lines.append(Content.assemble(("your score  ", QUIET), (now.score_words, "bold"), code))
    if item is not None:
        lines += [Content.styled(f"note: {note}", QUIET) for note in item.trial.notes]
    return Content("\n").join(lines)


def hint(work: Work, now: NamingNow, *, asks_kind: bool, moving: bool) -> tuple[str, str]:
    """Return what can be done now, with its style.

    Args:
        work: the open administration.
        now: its naming part.
        asks_kind: the next key says of which kind no response is.
        moving: the onset is being moved.
    """
    if asks_kind:
        return "no response:   s silent   d don't know   r refused   4 only that   esc back", AMBER
    if now.microphone == "opening":
        return "… opening the microphone", QUIET
    match work.status:
        case AdministrationStatus.DONE:
            return "✓ done   space shows the results", f"bold {ACCENT}"
        case AdministrationStatus.DISCONTINUED:
            return "■ discontinued   space shows the results, u takes it back", AMBER
        case AdministrationStatus.PAUSED:
            why = f": {work.reason}" if work.reason else ""
            return f"‖ paused{why}   space opens the microphone and continues", AMBER
    if now.microphone == "closed":
        return "", QUIET  # the page itself says how to begin
    if now.waits:
        if now.card is not None and not now.card.coded:
            return "1 ends the description   e repeats the question   s skips", QUIET
        cue = f"   c cue {now.cues_given + 1}" if now.cues_given < len(now.cues) else ""
        return (
            f"1 to 5 scores the response{cue}   e repeats the question   s skips",
            QUIET,
        )
    if moving:
        return "onset moved: kept in a moment   u takes it back", QUIET
    if now.card is None:
        return "ready: space shows the first picture", f"bold {ACCENT}"
    after = "h heard   k code   ← → onset   l listen"
    if not now.card.coded:
        after = "h corrects the text   ← → onset   l listen"
    if now.upcoming is None:
        return f"the last one: space ends   {after}", QUIET
    return f"space shows the next picture   {after}", QUIET


TICK_S = 0.1


def clock_words(elapsed_s: float | None, limit_s: float | None) -> Content:
    """Return the limit and the time; past the limit the word *limit* becomes amber.

    Args:
        elapsed_s: since the picture was shown, or None.
        limit_s: of the item, or None.

    >>> clock_words(3.21, 20.0).plain, clock_words(20.0, 20.0).plain
    ('limit 20 s     03.2 s', '! limit 20 s   20.0 s')
    >>> clock_words(None, 20.0).plain, clock_words(63.0, None).plain
    ('limit 20 s', '63.0 s')
    """
    time = "" if elapsed_s is None else f"{elapsed_s:04.1f} s"
    if limit_s is None:
        return Content(time)
    limit = f"limit {limit_s:g} s"
    if elapsed_s is None:
        return Content.styled(limit, QUIET)
    if elapsed_s < limit_s:
        return Content.assemble((limit, QUIET), "     ", time)
    return Content.assemble((f"! {limit}", f"bold {AMBER}"), "   ", time)


class ResponseClock(WidthAwareWidget):
    """Ticks while a picture is shown; stands still afterwards."""

    DEFAULT_CSS = "ResponseClock { height: 1; width: 24; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._elapsed: Callable[[], float | None] = lambda: None
        self._limit_s: float | None = None
        self._words = Content("")
        self._ticking: Timer | None = None

    def on_mount(self) -> None:
        """Start the timer, paused until a picture is shown."""
        self._ticking = self.set_interval(TICK_S, self._tick, pause=True)

    def run(self, elapsed: Callable[[], float | None], limit_s: float | None) -> None:
        """Show a running time.

        Args:
            elapsed: seconds since the picture was drawn.
            limit_s: of the item, or None.
        """
        self._elapsed, self._limit_s = elapsed, limit_s
        if self._ticking is not None:
            self._ticking.resume()
        self._tick()

    def stand(self, elapsed_s: float | None, limit_s: float | None) -> None:
        """Show a time that does not change; arguments as for :meth:`run`."""
        if self._ticking is not None:
            self._ticking.pause()
        self._elapsed, self._limit_s = lambda: elapsed_s, limit_s
        self._tick()

    def paint(self, width: int) -> Content:
        """Return the line, at the right."""
        return Content.assemble(" " * max(width - self._words.cell_length, 0), self._words)

    def _tick(self) -> None:
        words = clock_words(self._elapsed(), self._limit_s)
        # Drawing behind a dialog would draw the whole screen each time.
        if self.screen.is_current and not words.is_same(self._words):
            self._words = words
            self.refresh()


def panel_lines(now: NamingNow, width: int, *, costs: bool) -> Iterator[Content]:
    """Yield what the machine says of a response, or why it is not shown.

    Args:
        now: the naming part of the administration.
        width: of a line.
        costs: show the costs of the alignment.
    """
    machine = now.machine
    if machine is None:
        words = waiting_words(now)
        if words:
            yield Content.styled(words, QUIET)
        return
    by = short_spec(machine.transcriber)
    title = f"Machine transcript (unchecked), {by}" if by else "Machine transcript (unchecked)"
    if machine.by_ear:
        title = "Rules, over what was heard"
    yield Content.styled(title if now.score else f"{title}, shown before your score", QUIET)
    yield from verdict_lines(machine, width, costs=costs)


def waiting_words(now: NamingNow) -> str:
    """Return why nothing is shown, or nothing."""
    if now.listening:
        return now.listening
    if now.hidden:
        return "the machine's words are hidden until you have scored"
    if now.score and not now.transcriber:
        return "nothing transcribes in this administration"
    return ""


class MachinePanel(WidthAwareWidget):
    """What the machine says of the response."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._now: NamingNow | None = None
        self._costs = False

    def show(self, now: NamingNow, *, costs: bool) -> None:
        """Show the verdicts; ``costs`` shows the costs of the alignment too."""
        if (now, costs) != (self._now, self._costs):
            self._now, self._costs = now, costs
            self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        if self._now is None:
            return Content("")
        return Content("\n").join(panel_lines(self._now, width, costs=self._costs))


class HeardField(Input):
    """What a person heard."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_back", "Keys", show=False, priority=True)
    ]
    HELP = """\
# Heard

What you heard: a word (*dog*), or phonemes in ARPAbet (*D AO G*) or IPA. It says more than any
rule: with it the machine can propose further codes. **enter** keeps it, **esc** gives the keys
back.
"""

    def action_give_back(self) -> None:
        """Leave the field."""
        self.screen.query_one("#naming-page").focus()
