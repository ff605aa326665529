"""Words on the naming page: one item with its clock, response and verdicts; the scores of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.naming.view_models import Card, NamedItem, NamingNow
from tabwb.workbench.shell.rule_verdicts import verdict_lines
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import (
    ACCENT,
    AMBER,
    MARKS,
    QUIET,
    conditions_words,
    short_spec,
    spread,
)

NO_RESPONSES = {"s": "silent", "d": "dont-know", "r": "refused", "4": "", "enter": "", "space": ""}
"""After key 4: which of the kinds of no response it was, if any."""
OVER = {AdministrationStatus.DONE: "Done", AdministrationStatus.DISCONTINUED: "Discontinued"}
DRAFT = "Transcripts are a draft until a trained listener has heard the recording."


def head(card: Card | None) -> Content:
    """Return target and accepted pronunciations of a picture."""
    if card is None:
        return Content("")
    forms = ", ".join(" ".join(form) for form in card.accepted[:3])
    more = f" and {len(card.accepted) - 3} more" if len(card.accepted) > 3 else ""
    name = Content.assemble((card.target, "bold"), ("  practice" if card.practice else "", AMBER))
    if not card.coded:
        return name
    return Content.assemble(name, ("    accepted ", QUIET), forms, (more, QUIET))


def resting(work: Work, now: NamingNow, device: str) -> Content:
    """Return what is shown while the microphone is closed: what is to be given, how to begin."""
    administration = work.administration
    begun = work.item is not None or work.administration.answered > 0
    title = "Break" if begun else administration.battery_title
    lines = [Content.styled(OVER.get(work.status, title), "bold"), Content("")]
    if work.status in OVER:
        scored = sum(item.standing == "scored" for item in now.items)
        described = sum(item.standing == "given" and bool(item.word) for item in now.items)
        words = "answered" if described else "scored"
        lines.append(Content(f"{scored + described} of {len(now.items)} items {words}"))
        lines.append(_key("space", " shows the results"))
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
        count = plural(now.left_over, "interrupted recording")
        words = f"{count} will be kept when the microphone opens"
        lines.append(Content.styled(words, AMBER))
    if not begun:
        lines += [Content.styled(f"! {notice}", AMBER) for notice in work.notices]
    lines += [
        Content(""),
        _key("space", " opens the microphone: ready"),
        _key("t", "     tests it"),
        _key("f", "     speaker's view"),
        Content(""),
        Content.styled(DRAFT, QUIET),
    ]
    return Content("\n").join(lines)


def _key(key: str, words: str) -> Content:
    return Content.assemble((key, f"bold {ACCENT}"), words)


def _fact(name: str, words: str) -> Content:
    return Content.assemble((f"{name:<16}", QUIET), words)


def responded(now: NamingNow, work: Work) -> Content:
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
        lines.append(Content.styled("● examiner speaks: x ends it", AMBER))
    for number, attempt in enumerate(now.sound.attempts if now.sound else (), 1):
        if phonemes := " ".join(attempt.phonemes):
            by = "   as heard" if attempt.by_ear else "   machine, unchecked"
            lines.append(
                Content.assemble((f"attempt {number}   ", QUIET), (phonemes, "bold"), (by, QUIET))
            )
    if now.remarks:
        lines.append(Content.styled(f"! {now.remarks}", AMBER))
    item = work.item
    if item is not None and item.trial.state in {TrialState.SKIPPED, TrialState.VOID}:
        state, reason = item.trial.state.value, f"  {item.trial.reason}"
        lines.append(Content.assemble((f"{MARKS[state]} {state}", "bold"), (reason, QUIET)))
    elif now.score_words:
        flags = f"  {', '.join(now.flags)}" if now.flags else ""
        code = f"   code {now.code}{flags}" if now.code else ""
        lines.append(Content.assemble(("your score  ", QUIET), (now.score_words, "bold"), code))
    if item is not None:
        lines += [Content.styled(f"note: {note}", QUIET) for note in item.trial.notes]
    return Content("\n").join(lines)


def hint(work: Work, now: NamingNow, *, asks_kind: bool) -> tuple[str, str]:
    """Return what can be done now, with its style.

    Args:
        work: the open administration.
        now: its naming part.
        asks_kind: whether the next key says of which kind no response is.
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
        return f"1 to 5 scores the response{cue}   e repeats the question   s skips", QUIET
    if now.card is None:
        return "ready: space shows the first picture", f"bold {ACCENT}"
    after = "h heard   k code   ← → onset   l listen"
    if not now.card.coded:
        after = "h corrects the text   ← → onset   l listen"
    space = "the last one: space ends" if now.upcoming is None else "space shows the next picture"
    return f"{space}   {after}", QUIET


def _panel_lines(now: NamingNow, width: int, *, costs: bool) -> Iterator[Content]:
    """What the machine says of a response, or why it is not shown."""
    machine = now.machine
    if machine is None:
        if words := _waiting_words(now):
            yield Content.styled(words, QUIET)
        return
    by = short_spec(machine.transcriber)
    title = f"Machine transcript (unchecked), {by}" if by else "Machine transcript (unchecked)"
    if machine.by_ear:
        title = "Rules, over what was heard"
    yield Content.styled(title if now.score else f"{title}, shown before your score", QUIET)
    yield from verdict_lines(machine, width, costs=costs)


def _waiting_words(now: NamingNow) -> str:
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
        """Show the verdicts, with ``costs`` also those of the alignment."""
        if (now, costs) != (self._now, self._costs):
            self._now, self._costs = now, costs
            self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        if self._now is None:
            return Content("")
        return Content("\n").join(_panel_lines(self._now, width, costs=self._costs))


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


GAP = 3
_WORDS = {"open": MARKS["open"], "now": "now", "given": f"{MARKS['given']} to score"}


def standing_words(item: NamedItem) -> str:
    """Return what is shown beside an item's name.

    >>> standing_words(NamedItem("bed", "scored", True)), standing_words(NamedItem("dog", "now"))
    ('✓', 'now')
    >>> standing_words(NamedItem("cat", "scored", False, "semantic"))
    'semantic'
    """
    if item.standing == "given" and item.word:
        return item.word
    if item.standing == "scored":
        if item.word:
            return item.word
        return "-" if item.right is None else MARKS["right" if item.right else "wrong"]
    return _WORDS.get(item.standing, MARKS.get(item.standing, ""))


def tally(items: Sequence[NamedItem]) -> str:
    """Return ``2 of 3 right``, of the items that a person scored right or wrong.

    >>> tally([NamedItem("bed", "scored", True), NamedItem("cat", "scored", False)])
    '1 of 2 right'
    >>> tally([NamedItem("bed", "now")])
    ''
    """
    scored = [item.right for item in items if item.right is not None]
    return f"{sum(scored)} of {len(scored)} right" if scored else ""


def strip(items: Sequence[NamedItem], width: int) -> Content:
    """Return one line: the items around the present item, and how many are right.

    >>> scored, now = NamedItem("bed", "scored", True), NamedItem("cat", "now")
    >>> strip([scored, now, NamedItem("dog", "open")], 44).plain
    'bed ✓   cat now   dog ·         1 of 1 right'
    >>> strip([scored, now, NamedItem("dog", "open")], 30).plain
    '…   cat now   …   1 of 1 right'
    """
    right = Content.styled(tally(items), "bold")
    room = width - right.cell_length - GAP
    parts = []
    for item in items:
        name = (item.name, "bold" if item.standing == "now" else QUIET)
        parts.append(Content.assemble(name, " ", _standing(item)))
    begun = [place for place, item in enumerate(items) if item.standing != "open"]
    first = _present(items, begun[-1] if begun else 0)
    last = first + 1

    def fits(low: int, high: int) -> bool:
        return low >= 0 and high <= len(parts) and _row(parts, low, high).cell_length <= room

    while True:
        if fits(first - 1, last):  # what is done matters more than what is still to come
            first -= 1
        elif fits(first, last + 1):
            last += 1
        else:
            return spread(_row(parts, first, last), right, width)


def _present(items: Sequence[NamedItem], otherwise: int) -> int:
    return next((at for at, item in enumerate(items) if item.standing == "now"), otherwise)


def _row(parts: Sequence[Content], first: int, last: int) -> Content:
    more = [Content.styled("…", QUIET)]
    before, after = more * (first > 0), more * (last < len(parts))
    return Content(" " * GAP).join([*before, *parts[first:last], *after])


def _standing(item: NamedItem) -> Content:
    style = {"now": ACCENT, "open": QUIET}.get(item.standing, "bold")
    return Content.styled(standing_words(item), style)


def naming_lines(items: Sequence[NamedItem], width: int) -> Iterator[Content]:
    """Yield a person's scores so far: how many are right, and what the others were."""
    scored = [item for item in items if item.standing == "scored"]
    counted = [item.right for item in scored if item.right is not None]
    share = f"{sum(counted)} of {len(counted)}" if counted else "-"
    title = Content.styled("Right, as a person scored", "bold")
    yield spread(title, Content.styled(share, "bold"), width)
    yield Content("")
    kinds = Counter(item.word or ("right" if item.right else "error") for item in scored)
    for kind, count in kinds.most_common():
        yield spread(Content(kind), Content(str(count)), width)
    left = Counter(item.standing for item in items if item.standing not in {"scored", "now"})
    if kinds and left:
        yield Content("")
    for standing, count in left.items():
        words = {"open": "still to come", "given": "not scored yet"}.get(standing, standing)
        yield spread(Content.styled(words, QUIET), Content.styled(str(count), QUIET), width)


def column(items: Sequence[NamedItem], width: int, height: int) -> Content:
    """Return the items in lines, as many as there is room for around the present one."""
    first = max(0, min(_present(items, 0) - height // 2, len(items) - height))
    lines = []
    for item in items[first : first + height]:
        now = item.standing == "now"
        name = Content.styled(("▸ " if now else "  ") + item.name, "bold" if now else "")
        lines.append(spread(name, _standing(item), width))
    return Content("\n").join(lines)


class ItemList(WidthAwareWidget):
    """The state of every item: in one line, or one below the other where there is room."""

    DEFAULT_CSS = "ItemList { height: 1fr; width: 1fr; }"

    def __init__(self, *, id: str | None = None, one_line: bool = False) -> None:
        super().__init__(id=id)
        self._one_line = one_line
        self._items: tuple[NamedItem, ...] = ()

    def show(self, items: Sequence[NamedItem]) -> None:
        """Show these items."""
        if tuple(items) != self._items:
            self._items = tuple(items)
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line or lines."""
        if self._one_line:
            return strip(self._items, width)
        return column(self._items, width, max(self.content_size.height, 1))
