"""Words on the naming page: the item with its clock, the response with the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from tabwb.analysis.tables.said import SCORES
from tabwb.phonology.inventory import to_ipa
from tabwb.records.naming import SCORE_KEYS
from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.naming.rest import key_lines, read_aloud
from tabwb.workbench.naming.view_models import Card, NamingNow
from tabwb.workbench.shell.columns import short_spec
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.rule_verdicts import verdict_lines
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET

NO_RESPONSES = {"s": "silent", "d": "dont-know", "r": "refused", "4": "", "enter": "", "space": ""}
"""After key 4: which of the kinds of no response it was, if any."""
LEAST_SPEC = 12
SCORE_WORDS = [(key, SCORES[score]) for key, score in SCORE_KEYS.items()]
WAITING_KEYS = (
    ("r", "you repeat the question"),
    ("m", "a new attempt begins"),
    ("x", "you speak: on, off"),
    ("s", "skip, with a reason"),
)


def written(phonemes: Sequence[str], *, ipa: bool) -> str:
    """Return phonemes in IPA between slashes, or in ARPAbet.

    >>> written(("D", "AO", "G"), ipa=True), written(("D", "AO", "G"), ipa=False)
    ('/dɔɡ/', 'D AO G')
    """
    return f"/{to_ipa(phonemes)}/" if ipa else " ".join(phonemes)


def head(card: Card | None, *, hidden: bool, ipa: bool) -> Content:
    """Return target and accepted pronunciations of a picture."""
    if card is None:
        return Content("")
    practice = ("  practice" if card.practice else "", AMBER)
    if hidden:
        return Content.assemble(("name hidden: H shows it", QUIET), practice)
    forms = ", ".join(written(form, ipa=ipa) for form in card.accepted[:3])
    more = f" and {len(card.accepted) - 3} more" if len(card.accepted) > 3 else ""
    name = Content.assemble((card.target, "bold"), practice)
    if not card.coded:
        return name
    return Content.assemble(name, ("    accepted ", QUIET), forms, (more, QUIET))


def responded(now: NamingNow, work: Work, *, ipa: bool) -> Content:
    """Return cue, attempts and the person's score, one line each."""
    lines: list[Content] = []
    if now.card is not None and now.card.trouble:
        lines.append(Content.styled(f"! {now.card.trouble}", AMBER))
    if now.card is not None and now.card.prompt:
        lines.append(Content.assemble(("ask  ", QUIET), now.card.prompt))
    if now.cues_given:
        cue = now.cues[now.cues_given - 1]
        counts = "counts" if cue.counts else "does not count"
        place, kind = f"cue {now.cues_given} of {len(now.cues)}  ", f"  {cue.kind}, {counts}"
        lines.append(Content.assemble((place, QUIET), (cue.text, "bold"), (kind, QUIET)))
    if now.examiner_speaks:
        lines.append(Content.styled("examiner speaks: x ends it", AMBER))
    if now.remarks:
        lines.append(Content.styled(f"! {now.remarks}", AMBER))
    item = work.item
    if item is not None and item.trial.state in {TrialState.SKIPPED, TrialState.VOID}:
        state, reason = item.trial.state.value, f"  {item.trial.reason}"
        lines.append(Content.assemble((f"{MARKS[state]} {state}", "bold"), (reason, QUIET)))
    elif now.score_words:
        flags = f"  {', '.join(now.flags)}" if now.flags else ""
        lines.append(Content.assemble(("your score  ", QUIET), (now.score_words, "bold")))
        if now.code:
            lines.append(Content.assemble(("code        ", QUIET), (now.code, "bold"), flags))
        elif now.score == "error":
            lines.append(Content.styled("code        k chooses it", QUIET))
    lines += list(_attempts(now, ipa=ipa))
    if item is not None:
        lines += [Content.styled(f"note: {note}", QUIET) for note in item.trial.notes]
    return Content("\n").join(lines)


def _attempts(now: NamingNow, *, ipa: bool) -> Iterator[Content]:
    """The attempts with what was said; the alignment shows one alone already."""
    attempts = now.sound.attempts if now.sound is not None else ()
    machine = now.machine
    if len(attempts) < 2 and machine is not None and (machine.aligned or not machine.by_ear):
        return
    for number, attempt in enumerate(attempts, 1):
        if attempt.phonemes:
            by = "   as heard" if attempt.by_ear else "   machine, unchecked"
            said = written(attempt.phonemes, ipa=ipa)
            yield Content.assemble((f"attempt {number}   ", QUIET), (said, "bold"), (by, QUIET))


def hint(work: Work, now: NamingNow, *, asks_kind: bool) -> tuple[str, str]:
    """Return the state of the session in words, with its style; the footer has the keys."""
    if asks_kind:
        return "no response: s silent  d don't know  r refused  4 no kind  esc back", AMBER
    if now.microphone == "opening":
        return "… opening the microphone", QUIET
    match work.status:
        case AdministrationStatus.DONE:
            return "✓ complete: space shows the results", f"bold {ACCENT}"
        case AdministrationStatus.DISCONTINUED:
            return "■ discontinued: space shows the results, u takes it back", AMBER
        case AdministrationStatus.PAUSED:
            why = f": {work.reason}" if work.reason else ""
            return f"‖ paused{why}: space opens the microphone and continues", AMBER
    if now.microphone == "closed":
        return "", QUIET  # the page itself says how to begin
    if now.waits:
        if now.card is not None and not now.card.coded:
            return "▸ the picture is being described: 1 ends the description", QUIET
        return "▸ the picture is shown: 1 to 5 score the response", QUIET
    if now.ends:
        met = now.ends.partition(":")[0]
        return f"{met}: space asks whether the subtest ends", f"bold {AMBER}"
    if now.card is None:
        return "ready: space shows the first picture", f"bold {ACCENT}"
    if now.upcoming is None:
        follows = "ends" if work.upcoming is None else "gives the next item, which is typed"
        return f"the last picture was shown: space {follows}", f"bold {ACCENT}"
    return "space shows the next picture", QUIET


def _panel_lines(now: NamingNow, width: int, *, costs: bool, ipa: bool) -> Iterator[Content]:
    """The keys of a response; after its score what the machine says, or why it does not."""
    machine = now.machine
    if machine is None:
        if words := _waiting_words(now):
            yield Content.styled(words, QUIET)
        if not now.score:
            yield from _before_score(now, width)
        elif now.instructions:
            yield Content("")
            yield from read_aloud(now.instructions, width)
        return
    title = "Machine transcript (unchecked)"
    room = width - len(title) - 2
    if machine.transcriber and room >= LEAST_SPEC:
        title += f", {short_spec(machine.transcriber, room)}"
    if machine.by_ear:
        title = "Rules, over what was heard"
    yield Content.styled(title if now.score else f"{title}, shown before your score", QUIET)
    yield from verdict_lines(machine, width, costs=costs, ipa=ipa)


def _before_score(now: NamingNow, width: int) -> Iterator[Content]:
    """The keys of a response."""
    if not now.waits:
        return
    if now.card is not None and not now.card.coded:
        yield from key_lines("1", "ends the description", width)
    else:
        for key, words in SCORE_WORDS:
            yield from key_lines(key, words, width)
    if now.cues_given < len(now.cues):
        cue = now.cues[now.cues_given]
        counts = "counts" if cue.counts else "does not count"
        words = f"cue {now.cues_given + 1} of {len(now.cues)}: {cue.kind}, {counts}"
        yield from key_lines("c", words, width)
    for key, words in WAITING_KEYS:
        yield from key_lines(key, words, width)


def _waiting_words(now: NamingNow) -> str:
    if now.listening:
        return now.listening
    if now.hidden:
        return "the machine's words are hidden until you score"
    if now.score and not now.transcriber:
        return "no transcriber in this administration"
    return ""


class MachinePanel(WidthAwareWidget):
    """What the machine says of the response."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: tuple[NamingNow, bool, bool] | None = None

    def show(self, now: NamingNow, *, costs: bool, ipa: bool) -> None:
        """Show the verdicts."""
        if (shown := (now, costs, ipa)) != self._shown:
            self._shown = shown
            self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        if self._shown is None:
            return Content("")
        now, costs, ipa = self._shown
        return Content("\n").join(_panel_lines(now, width, costs=costs, ipa=ipa))


class HeardField(Input):
    """What a person heard."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_back", "Keys", show=False, priority=True)
    ]
    HELP = """\
# Heard

What you heard: a word (*dog*), or phonemes in IPA (*dɔɡ*) or ARPAbet (*D AO G*). It says more than
any rule: with it the machine can propose further codes. **enter** keeps it, **esc** returns to
the commands.
"""

    def action_give_back(self) -> None:
        """Leave the field."""
        self.screen.query_one("#naming-page").focus()
