"""What the page of spoken naming shows: level and clock, items, the response, words at rest."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input

from tabwb.analysis.tables.said import SCORES
from tabwb.phonology.inventory import to_ipa
from tabwb.records.naming import SCORE_KEYS
from tabwb.records.speakers import SCOPES, Scope
from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.naming.view_models import Card, NamedItem, NamingNow
from tabwb.workbench.shell.columns import short_spec
from tabwb.workbench.shell.commands import Command, key_label
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.rule_verdicts import verdict_lines
from tabwb.workbench.shell.sound import LEAST_DBFS
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import (
    ACCENT,
    AMBER,
    QUIET,
    conditions_words,
    folded,
    spread,
    wrapped,
)

if TYPE_CHECKING:
    from tabwb.speech.level import Level


OVER = {AdministrationStatus.DONE: "Complete", AdministrationStatus.DISCONTINUED: "Discontinued"}
DRAFT = "Transcripts are a draft until a trained listener has heard the recording."
FACT = 16
KEY = 7


def rest_title(work: Work, now: NamingNow) -> str:
    """Return the title of the page at rest."""
    if now.microphone == "open":
        return "Ready"
    begun = work.item is not None or work.administration.answered > 0
    return OVER.get(work.status, "Break" if begun else work.administration.battery_title)


def resting(work: Work, now: NamingNow, device: str, width: int) -> Iterator[Content]:
    """Yield what is shown while no picture is: what is to be given, how to begin."""
    administration = work.administration
    begun = work.item is not None or administration.answered > 0
    if work.status in OVER:
        scored = sum(item.standing == "scored" for item in now.items)
        described = sum(item.standing == "given" and bool(item.word) for item in now.items)
        words = "answered" if described else "scored"
        yield Content(f"{scored + described} of {len(now.items)} items {words}")
        if work.reason:
            yield from folded(work.reason, width)
        yield Content("")
        yield from key_lines("space", "shows the results", width)
        return
    if not begun and now.microphone != "open":
        yield from _fact("participant", administration.conditions.examinee, width)
        if words := ", ".join(conditions_words(administration)):
            yield from _fact("conditions", words, width)
        yield from _fact("transcriber", short_spec(now.transcriber) or "none", width)
    left = sum(item.standing == "open" for item in now.items)
    yield from _fact("pictures", f"{left} to show", width)
    yield from _fact("microphone", device or "the system's default", width)
    if now.left_over:
        count = plural(now.left_over, "interrupted recording")
        yield from folded(f"{count} will be kept when the microphone opens", width, AMBER)
    if not begun:
        for notice in work.notices:
            yield from folded(f"! {notice}", width, AMBER)
    if now.instructions:
        yield Content("")
        yield from read_aloud(now.instructions, width)
    yield Content("")
    if now.lacking:
        yield from key_lines("C", "records the participant's consent: first", width)
    yield from key_lines("space", _next_step(now), width)
    if now.microphone != "open":
        yield from key_lines("T", "tests the microphone", width)
    yield from key_lines("f", "speaker's view: the picture alone on this screen", width)
    yield from key_lines("F", "the picture in its own window, full screen", width)
    yield from folded("A second terminal shows it with tabwb --speaker-view.", width, QUIET)
    yield Content("")
    yield from folded(DRAFT, width, QUIET)


def _next_step(now: NamingNow) -> str:
    if now.microphone == "open":
        return "shows the first picture: time 0 of its latency"
    return "then opens the microphone" if now.lacking else "opens the microphone"


def consent_words(lacking: Sequence[Scope]) -> str:
    """Return what the participant is asked to agree to, and what scoring later needs besides."""
    later = "To correct scores in the results later, 'rate' is needed too: Participants, c."
    return "\n".join([*(f"{scope}: {SCOPES[scope]}" for scope in lacking), "", later])


def space_word(work: Work, now: NamingNow) -> str:
    """Return what space does now, in one word."""
    if now.microphone == "open":
        if now.ends:
            return "Ask"
        if now.upcoming is not None:
            return "Show"
        return "End" if work.upcoming is None else "Next"
    if work.status in OVER:
        return "Results"
    return "Continue" if work.administration.answered else "Microphone"


def read_aloud(instructions: str, width: int) -> Iterator[Content]:
    """Yield the instructions that the administrator reads to the participant."""
    yield Content.styled("Read aloud before the next picture", QUIET)
    yield from folded(f"“{instructions}”", width, "bold")


def key_lines(key: str, words: str, width: int) -> Iterator[Content]:
    """Yield a key and what it does, with the words in their own column."""
    first, *rest = wrapped(words, max(width - KEY, KEY)) or [""]
    yield Content.assemble((f"{key:<{KEY}}", f"bold {ACCENT}"), first)
    yield from (Content(" " * KEY + line) for line in rest)


def shown_keys(commands: Sequence[Command]) -> Callable[[int], Iterator[Content]]:
    """Return a function of the width that yields the commands with their keys."""

    def lines(width: int) -> Iterator[Content]:
        for command in commands:
            yield from key_lines(key_label(command.key), command.help, width)

    return lines


def _fact(name: str, words: str, width: int) -> Iterator[Content]:
    first, *rest = wrapped(words, max(width - FACT, FACT)) or [""]
    yield Content.assemble((f"{name:<{FACT}}", QUIET), first)
    yield from (Content(" " * FACT + line) for line in rest)


TICK_S = 1 / 15
"""So often level and waveform are drawn while a microphone is open."""
CELLS = 10
QUIET_DBFS = -40.0
"""Speech that never comes above this is too quiet to be transcribed well."""
NO_SIGNAL_DBFS = -120.0
"""Below the noise of any microphone: the input is muted or not connected."""
CLIP_HELD_S = 2.0
"""The clip light stays on for so long."""


def level_words(level: Level | None, *, clipped: bool = False) -> Content:
    """Return bar, figure and word; the level is None before sound arrives.

    >>> from tabwb.speech.level import Level
    >>> level_words(Level(-14.2)).plain
    'level ━━━━━━━╌╌╌  -14 dBFS  ok'
    >>> level_words(Level(-90.0)).plain, level_words(Level(-0.0), clipped=True).plain
    ('level ╌╌╌╌╌╌╌╌╌╌  -90 dBFS  quiet', 'level ━━━━━━━━━━    0 dBFS  ! clipped')
    >>> level_words(None).plain, level_words(Level(-144.0)).plain
    ('level ╌╌╌╌╌╌╌╌╌╌  no sound yet', 'level ╌╌╌╌╌╌╌╌╌╌  no signal')
    """
    if level is None:
        return Content.assemble(("level ", QUIET), ("╌" * CELLS, QUIET), ("  no sound yet", QUIET))
    if level.peak_dbfs <= NO_SIGNAL_DBFS:
        return Content.assemble(("level ", QUIET), ("╌" * CELLS, QUIET), ("  no signal", AMBER))
    share = (level.peak_dbfs - LEAST_DBFS) / -LEAST_DBFS
    full = max(0, min(CELLS, int(share * CELLS)))
    hot = clipped or level.clipped
    if hot:
        word, style = "! clipped", f"bold {AMBER}"
    elif level.peak_dbfs < QUIET_DBFS:
        word, style = "quiet", QUIET
    else:
        word, style = "ok", QUIET
    return Content.assemble(
        ("level ", QUIET),
        ("━" * full, AMBER if hot else ACCENT),
        ("╌" * (CELLS - full), QUIET),
        f" {round(level.peak_dbfs):4d} dBFS  ",
        (word, style),
    )


class LevelMeter(WidthAwareWidget):
    """Shows the level; the clip light stays on for a moment."""

    DEFAULT_CSS = "LevelMeter { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clipped_at = float("-inf")
        self._words = level_words(None)

    def show(self, level: Level) -> None:
        """Show this level."""
        now = time.monotonic()
        if level.clipped:
            self._clipped_at = now
        words = level_words(level, clipped=now - self._clipped_at < CLIP_HELD_S)
        if not words.is_same(self._words):
            self._words = words
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line."""
        words = self._words if self._words.cell_length <= width else self._words[len("level ") :]
        return words.truncate(width)


CLOCK_TICK_S = 0.1


def clock_words(elapsed_s: float | None, limit_s: float | None) -> Content:
    """Return the limit and the time; past the limit the word *limit* becomes amber.

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
        self._ticking = self.set_interval(CLOCK_TICK_S, self._tick, pause=True)

    def run(self, elapsed: Callable[[], float | None], limit_s: float | None) -> None:
        """Show a running time and the limit."""
        self._elapsed, self._limit_s = elapsed, limit_s
        if self._ticking is not None:
            self._ticking.resume()
        self._tick()

    def stand(self, elapsed_s: float | None, limit_s: float | None) -> None:
        """Show a time that does not change."""
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


GAP = 3
NOW = "▸"
LATENCY_FROM = 26
"""The least columns of the list for the latency of each item."""
TOOLTIP = """\
▸ picture shown   ✓ right   ✗ wrong   ● not scored   · to come
› skipped   ∅ void   - not administered   ! in error"""


def standing_words(item: NamedItem) -> str:
    """Return what is shown beside an item's name.

    >>> standing_words(NamedItem("bed", "scored", True)), standing_words(NamedItem("dog", "now"))
    ('✓', '▸')
    >>> standing_words(NamedItem("cat", "scored", False, "semantic"))
    '✗ semantic'
    """
    if item.standing == "now":
        return NOW
    if item.standing == "given":
        return item.word or f"{MARKS['given']} to score"
    if item.standing != "scored":
        return MARKS.get(item.standing, "")
    mark = "-" if item.right is None else MARKS["right" if item.right else "wrong"]
    return f"{mark} {item.word}".rstrip()


def tally(items: Sequence[NamedItem]) -> str:
    """Return ``2 of 3 right``, of the items that a person scored right or wrong.

    >>> tally([NamedItem("bed", "scored", True), NamedItem("cat", "scored", False)])
    '1 of 2 right'
    >>> tally([NamedItem("bed", "now")])
    ''
    """
    scored = [item.right for item in items if item.right is not None]
    return f"{sum(scored)} of {len(scored)} right" if scored else ""


def strip(items: Sequence[NamedItem], width: int, *, hidden: bool) -> Content:
    """Return one line: the items up to the present one, how many are left, how many are right.

    >>> scored, now = NamedItem("bed", "scored", True), NamedItem("cat", "now")
    >>> to_come = NamedItem("dog", "open")
    >>> strip([scored, now, to_come], 44, hidden=True).plain
    '1 bed ✓   2 ▸   1 left          1 of 1 right'
    >>> strip([scored, now, to_come], 35, hidden=False).plain
    '…   2 cat ▸   1 left   1 of 1 right'
    """
    right = Content.styled(tally(items), "bold")
    begun = [at for at, item in enumerate(items) if item.standing != "open"]
    left = len(items) - len(begun)
    parts = [
        Content.assemble(*_titled(at + 1, items[at], hidden=hidden), " ", _standing(items[at]))
        for at in begun
    ]
    end = [Content.styled(f"{left} left", QUIET)] if left else []
    gap = Content(" " * GAP)
    room = width - right.cell_length - GAP
    first = max(len(parts) - 1, 0)
    more = [Content.styled("…", QUIET)]
    while first > 0:
        row = gap.join([*more * (first > 1), *parts[first - 1 :], *end])
        if row.cell_length > room:
            break
        first -= 1
    return spread(gap.join([*more * (first > 0), *parts[first:], *end]), right, width)


def _titled(number: int, item: NamedItem, *, hidden: bool) -> list[tuple[str, str]]:
    """The number of an item and, where it may be read, its name."""
    now = item.standing == "now"
    name = [] if now and hidden else [(f" {item.name}", "bold" if now else "")]
    return [(str(number), QUIET), *name]


def _present(items: Sequence[NamedItem]) -> int:
    begun = [at for at, item in enumerate(items) if item.standing != "open"]
    return next(
        (at for at, item in enumerate(items) if item.standing == "now"), max(begun, default=0)
    )


def _standing(item: NamedItem) -> Content:
    style = {"now": ACCENT, "open": QUIET}.get(item.standing, "bold")
    return Content.styled(standing_words(item), style)


def score_lines(items: Sequence[NamedItem], width: int) -> Iterator[Content]:
    """Yield a person's scores so far: how many are right, the others, and below errors their
    codes.
    """
    scored = [item for item in items if item.standing == "scored"]
    counted = [item.right for item in scored if item.right is not None]
    if not scored:
        return
    share = f"{sum(counted)}/{len(counted)}" if counted else "-"
    yield spread(Content.styled("Right, by ear", "bold"), Content.styled(share, "bold"), width)
    said = [
        (item, item.word if item.word and not item.is_code else "right" if item.right else "error")
        for item in scored
    ]
    kinds = Counter(kind for _, kind in said)
    codes = Counter((kind, item.word) for item, kind in said if item.is_code)
    for kind, count in kinds.most_common():
        yield spread(Content(kind), Content(str(count)), width)
        for (of, code), n in codes.most_common():
            if of == kind:
                yield spread(Content.styled(f"  {code}", QUIET), Content(str(n)), width)
    times = sorted(item.latency_s for item in scored if item.latency_s is not None)
    if times:
        middle = (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2
        yield spread(Content("median latency"), Content(f"{middle:.2f} s"), width)
    left = Counter(item.standing for item in items if item.standing not in {"scored", "now"})
    for standing, count in left.items():
        words = {"open": "to come", "given": "not scored"}.get(standing, standing)
        yield spread(Content.styled(words, QUIET), Content.styled(str(count), QUIET), width)


def column(items: Sequence[NamedItem], width: int, height: int, *, hidden: bool) -> Content:
    """Return the items in lines, as many as there is room for around the present one.

    Args:
        items: all of them; those to come have no name.
        width: columns; from :data:`LATENCY_FROM` on with latencies in seconds.
        height: lines.
        hidden: whether the name of the picture that is shown is hidden too.
    """
    first = max(0, min(_present(items) - height // 2, len(items) - height))
    digits = len(str(len(items)))
    lines = []
    for number, item in enumerate(items[first : first + height], first + 1):
        readable = item.standing != "open" and not (item.standing == "now" and hidden)
        name = Content.assemble(
            (f"{number:>{digits}} ", QUIET),
            (item.name if readable else "", "bold" if item.standing == "now" else ""),
        )
        right = _standing(item)
        if width >= LATENCY_FROM:
            time = "" if item.latency_s is None else f"{item.latency_s:.2f}"
            right = Content.assemble(right, (f"{time:>6}", QUIET))
        lines.append(spread(name, right, width))
    return Content("\n").join(lines)


class ItemList(WidthAwareWidget):
    """The state of every item: in one line, or one below the other where there is room."""

    DEFAULT_CSS = "ItemList { height: 1fr; width: 1fr; }"

    def __init__(self, *, id: str | None = None, one_line: bool = False) -> None:
        super().__init__(id=id)
        self.tooltip = TOOLTIP
        self._one_line = one_line
        self._shown: tuple[tuple[NamedItem, ...], bool] = (), True

    def show(self, items: Sequence[NamedItem], *, hidden: bool = True) -> None:
        """Show these items."""
        if (shown := (tuple(items), hidden)) != self._shown:
            self._shown = shown
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line or lines."""
        items, hidden = self._shown
        if self._one_line:
            return strip(items, width, hidden=hidden)
        height = max(self.content_size.height, 1)
        scores = list(score_lines(items, width))
        if len(items) + len(scores) + 1 > height and len(scores) > height // 2:
            scores = []
        rows = column(items, width, max(height - len(scores) - bool(scores), 1), hidden=hidden)
        return Content("\n").join([rows, *([Content(""), *scores] if scores else [])])


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
