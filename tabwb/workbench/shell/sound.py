"""A recording as it is drawn: its loudness, its stretches, the waveform."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from math import ceil
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import MouseDown, MouseMove, MouseScrollDown, MouseScrollUp, MouseUp
from textual.message import Message
from textual.timer import Timer

from tabwb.phonology.inventory import SILENT, ipa_letters
from tabwb.speech.envelope import Envelope
from tabwb.workbench.shell.rule_verdicts import SIGNS
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, AMBER, LINE, QUIET

if TYPE_CHECKING:
    from tabwb.analysis.statistics.naming import Naming, NamingView
    from tabwb.records.naming import Take


BARS = "▁▂▃▄▅▆▇█"
LEAST_DBFS = -60.0
"""The level meter and the bars of the waveform begin here; a quiet room lies about there."""


def bars(envelope: Envelope, width: int, rows: int = 1) -> list[str]:
    """Return a bar for each column, as high as the loudest part; the lowest row comes last.

    >>> bars(Envelope(0.0, 1.0, (-60.0, -30.0, 0.0, -60.0)), 4)
    ['▁▄█▁']
    >>> bars(Envelope(0.0, 1.0, (-60.0, 0.0)), 4), bars(Envelope(0.0, 1.0, ()), 3)
    (['▁▁██'], ['▁▁▁'])
    >>> bars(Envelope(0.0, 1.0, (-60.0, -30.0, 0.0)), 3, 2)
    ['  █', '▁██']
    """
    peaks = envelope.peaks_dbfs or (LEAST_DBFS,)
    steps = len(BARS) * rows
    heights = []
    for column in range(width):
        first = column * len(peaks) // width
        last = max((column + 1) * len(peaks) // width, first + 1)
        share = (max(peaks[first:last]) - LEAST_DBFS) / -LEAST_DBFS
        heights.append(max(1, min(steps, round(share * steps))))
    cells = " " + BARS
    return [
        "".join(cells[max(0, min(len(BARS), height - row * len(BARS)))] for height in heights)
        for row in reversed(range(rows))
    ]


CONTEXT_S = 1.0
"""So much of the recording is shown before and after a response, so that its limits can move."""
AXIS_S = 20.0
"""The least length of the axis where there is no time limit."""
Span = tuple[float, float]
"""Start and end."""


@dataclass(frozen=True, slots=True)
class OnsetMark:
    """Where speech begins.

    Attributes:
        latency_s: from the picture to there, or None where the picture's time is unknown.
        uncertainty_s: of a measured one; None where a person set it.
        by: who or what says so.
    """

    at_s: float
    latency_s: float | None = None
    uncertainty_s: float | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class AttemptSpan:
    """One spoken attempt.

    Attributes:
        phonemes: ARPAbet, or empty where it is not transcribed.
        marked: a person said that it begins here; else it is a proposal.
        by_ear: whether the phonemes are those of what a listener heard.
    """

    start_s: float
    end_s: float
    phonemes: tuple[str, ...] = ()
    marked: bool = False
    by_ear: bool = False


@dataclass(frozen=True, slots=True)
class TimedPhoneme:
    """One phoneme of the transcript (ARPAbet), or of a transcriber of words one word.

    Attributes:
        steps: how it differs from the target: (operation, the target's phoneme or empty), with
            those that were left out before it, and at the end after it; none: not compared.
    """

    start_s: float
    end_s: float
    phoneme: str
    steps: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Sound:
    """A response over time.

    Attributes:
        envelope: how loud it is; it may hold a part of the recording before and after.
        limits: of the response, which a person can move; None while it is being given.
        picture_s: when the picture was drawn, second 0 of the axis; None where it is not known.
        limit_s: where the time limit ends, or None.
        onset: of the response, or None where none was found.
        attempts: spoken ones.
        marks: (second, label) of cues (``c1``) and of the question asked again (``r``).
        examiner: stretches in which the administrator speaks.
        phonemes: of the transcript, where it has times and may be shown.
        until_s: the axis reaches at least to there, or None.
        response: tells this response from others, or empty while it is being given.
    """

    envelope: Envelope
    limits: Span | None = None
    picture_s: float | None = None
    limit_s: float | None = None
    onset: OnsetMark | None = None
    attempts: tuple[AttemptSpan, ...] = ()
    marks: tuple[tuple[float, str], ...] = ()
    examiner: tuple[Span, ...] = ()
    phonemes: tuple[TimedPhoneme, ...] = ()
    until_s: float | None = None
    response: str = ""

    @property
    def window(self) -> Span:
        """From where to where it can be shown."""
        return self.envelope.start_s, max(self.envelope.end_s, self.until_s or 0.0)

    @property
    def zero_s(self) -> float:
        """Second 0 of the axis."""
        return self.envelope.start_s if self.picture_s is None else self.picture_s


def stretch_around(take: Take, recorded_s: float) -> Span:
    """Return a response with :data:`CONTEXT_S` before and after it, within the recording.

    >>> from tabwb.records.naming import Take
    >>> stretch_around(Take("r1", 0.5, 3.0), 3.25)
    (0.0, 3.25)
    """
    return max(take.start_s - CONTEXT_S, 0.0), max(
        min(take.end_s + CONTEXT_S, recorded_s), take.end_s
    )


def sound_of(naming: Naming, envelope: Envelope, *, revealed: bool) -> Sound | None:
    """Return the response that counts as the waveform shows it; None where nothing was recorded."""
    view, take = naming.view, naming.view.take
    if take is None:
        return None
    picture, limit = take.shown_s, view.rules.time_limit
    return Sound(
        envelope,
        (take.start_s, take.end_s),
        picture,
        None if picture is None or limit is None else picture + limit,
        onset_of(view),
        tuple(_spans(naming, take, revealed=revealed)),
        marks_of(view),
        view.examiner,
        tuple(_phonemes(naming, take)) if revealed and not naming.by_ear else (),
        response=f"{take.recording} {view.trial.plan.number}",
    )


def awaited(view: NamingView) -> Sound | None:
    """Return a response that is being given, before it is heard; None where nothing is recorded.

    The axis reaches from the picture to the time limit, or to :data:`AXIS_S` without one.
    """
    shown_s = None if view.shown is None else view.shown.at_s
    if shown_s is None:
        return None
    limit = view.rules.time_limit
    return Sound(
        Envelope(shown_s, shown_s, ()),
        picture_s=shown_s,
        limit_s=None if limit is None else shown_s + limit,
        marks=marks_of(view),
        examiner=view.examiner,
        until_s=shown_s + (limit or AXIS_S),
    )


def marks_of(view: NamingView) -> tuple[tuple[float, str], ...]:
    """Return when cues were given and the question was asked again: (second, label)."""
    cues = [(cue.at_s, f"c{cue.cue + 1}") for cue in view.cues if cue.at_s is not None]
    asked = view.re_prompted
    again = [(asked.at_s, "r")] if asked is not None and asked.at_s is not None else []
    return tuple(sorted([*cues, *again]))


def onset_of(view: NamingView) -> OnsetMark | None:
    """Return the onset of the response that counts, or None."""
    take, onset_s = view.take, view.onset_s
    if onset_s is None or take is None:
        return None
    uncertainty_s = take.onset_uncertainty_s if onset_s == take.onset_s else None
    return OnsetMark(onset_s, view.latency_s, uncertainty_s, view.onset_by)


def _spans(naming: Naming, take: Take, *, revealed: bool) -> Iterator[AttemptSpan]:
    """The attempts: those of the transcript once it is revealed, before that the marked ones."""
    if revealed:
        for attempt, reading in zip(naming.attempts, naming.spoken, strict=True):
            start, end = take.start_s + attempt.onset_s, take.start_s + attempt.offset_s
            yield AttemptSpan(start, end, attempt.phonemes, by_ear=reading.ear)
        return
    starts = [at for at in naming.view.marks if take.start_s <= at < take.end_s]
    for start, end in pairwise([*starts, take.end_s]):
        yield AttemptSpan(start, end, marked=True)


def _phonemes(naming: Naming, take: Take) -> Iterator[TimedPhoneme]:
    transcript = naming.transcript
    if transcript is None or not transcript.timed:
        return
    said = [segment for segment in transcript.segments if segment.phoneme not in SILENT]
    steps = _steps(naming, [segment.phoneme for segment in said])
    for place, segment in enumerate(said):
        start, end = take.start_s + segment.start_s, take.start_s + segment.end_s
        yield TimedPhoneme(start, end, segment.phoneme, tuple(steps.get(place, ())))


def _steps(naming: Naming, said: list[str]) -> dict[int, list[tuple[str, str]]]:
    """By place of a phoneme that was said: the steps from the target, none without a distance."""
    distance = naming.distance
    judged = [step.hyp for step in distance.features.steps if step.hyp] if distance else []
    if distance is None or not judged or not naming.is_by_sound:
        return {}
    starts = range(len(said) - len(judged) + 1)
    first = next((at for at in starts if said[at : at + len(judged)] == judged), None)
    if first is None:
        return {}  # an article or a filler was left out between them
    steps: dict[int, list[tuple[str, str]]] = {}
    at, last = first, first + len(judged) - 1
    for step in distance.features.steps:
        steps.setdefault(min(at, last), []).append((step.op, step.ref or ""))
        at += bool(step.hyp)
    return steps


STEPS_S = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0)
"""Distances between ticks of the axis."""
TICK_COLUMNS = 8
"""The least columns between two ticks."""


def column_of(at_s: float, window: Span, width: int) -> int:
    """Return the column of a second; the nearest where it lies outside.

    >>> column_of(0.5, (0.0, 1.0), 10), column_of(7.0, (0.0, 1.0), 10)
    (5, 9)
    """
    length = max(window[1] - window[0], 1e-9)
    return max(0, min(width - 1, int((at_s - window[0]) / length * width + 1e-9)))


def second_of(column: float, window: Span, width: int) -> float:
    """Return the second at the left edge of a column.

    >>> second_of(5, (0.0, 1.0), 10)
    0.5
    """
    return window[0] + column / max(width, 1) * (window[1] - window[0])


def inside(at_s: float, window: Span) -> bool:
    """Return whether a second lies in the window."""
    return window[0] <= at_s <= window[1]


def part_of(envelope: Envelope, window: Span) -> Envelope:
    """Return the envelope of another stretch; what lies outside of the first is silent.

    >>> part_of(Envelope(0.0, 1.0, (-9.0, -6.0)), (0.5, 1.5)).peaks_dbfs
    (-6.0, -60.0)
    >>> part_of(Envelope(0.0, 1.0, ()), (0.5, 1.5)).peaks_dbfs
    ()
    """
    peaks = envelope.peaks_dbfs
    if window == (envelope.start_s, envelope.end_s) or not peaks:
        return Envelope(*window, peaks)
    part_s = max(envelope.end_s - envelope.start_s, 1e-9) / len(peaks)
    first = round((window[0] - envelope.start_s) / part_s)
    last = max(round((window[1] - envelope.start_s) / part_s), first + 1)
    before, after = max(min(-first, last - first), 0), max(min(last - len(peaks), last - first), 0)
    kept = peaks[max(first, 0) : max(last, 0)]
    return Envelope(*window, (LEAST_DBFS,) * before + kept + (LEAST_DBFS,) * after)


def bar_rows(sound: Sound, window: Span, width: int, rows: int, played_s: float | None) -> Content:
    """Return the bars: quiet outside of the response and where the examiner speaks, amber past
    the time limit, and the column that is played in reverse.
    """
    styles = [_style(second_of(column + 0.5, window, width), sound) for column in range(width)]
    if played_s is not None and inside(played_s, window):
        at = column_of(played_s, window, width)
        styles[at] = f"reverse {styles[at]}"
    runs = [
        (style, sum(1 for _ in columns)) for style, columns in groupby(styles)
    ]  # a few pieces in place of one for each column
    lines = []
    for row in bars(part_of(sound.envelope, window), width, rows):
        pieces, at = [], 0
        for style, length in runs:
            pieces.append((row[at : at + length], style))
            at += length
        lines.append(Content.assemble(*pieces))
    return Content("\n").join(lines)


def _style(at_s: float, sound: Sound) -> str:
    limits = sound.limits or (sound.envelope.start_s, sound.envelope.end_s)
    if not inside(at_s, limits):
        return LINE
    if any(inside(at_s, spoke) for spoke in sound.examiner):
        return QUIET
    if sound.limit_s is not None and at_s > sound.limit_s:
        return AMBER
    return ACCENT


def marks_line(sound: Sound, window: Span, width: int) -> Content:
    """Return cues, the question asked again, the examiner's voice, the response and the limit.

    >>> sound = Sound(Envelope(0.0, 4.0, ()), (0.0, 3.0), limit_s=3.5, marks=((1.0, "c1"),))
    >>> marks_line(sound, (0.0, 4.0), 40).plain
    '[         c1                  ]    ┊'
    """
    cells = [(" ", "")] * width

    def put(at: int, text: str, style: str) -> None:
        for place, letter in enumerate(text):
            if 0 <= at + place < width:
                cells[at + place] = letter, style

    for start, end in sound.examiner:
        if start < window[1] and end > window[0]:
            first, last = column_of(start, window, width), column_of(end, window, width)
            put(first, ("x" + "─" * (last - first)), QUIET)
    if sound.limit_s is not None and inside(sound.limit_s, window):
        at = column_of(sound.limit_s, window, width)
        beside = [column_of(at_s, window, width) for at_s, _ in sound.marks]
        room = at + 7 <= width and not any(at < column < at + 8 for column in beside)
        put(at, "┊ limit" if room else "┊", AMBER)
    for at_s, sign in zip(sound.limits or (), "[]", strict=False):
        if inside(at_s, window):
            put(column_of(at_s, window, width), sign, "bold")
    for at_s, label in sound.marks:
        if inside(at_s, window):
            put(column_of(at_s, window, width), label, f"bold {ACCENT}")
    return Content.assemble(*cells).rstrip()


def onset_words(onset: OnsetMark) -> str:
    """Return the onset in words: ``onset 0.61 s after picture ±0.05``.

    >>> onset_words(OnsetMark(4.2, 0.611, 0.05, "energy"))
    'onset 0.61 s after picture ±0.05'
    >>> onset_words(OnsetMark(4.2, 0.6, None, "person:R2"))
    'onset 0.60 s after picture, set by person:R2'
    >>> onset_words(OnsetMark(4.2))
    'onset at 4.20 s'
    """
    words = f"onset at {onset.at_s:.2f} s"
    if onset.latency_s is not None:
        words = f"onset {onset.latency_s:.2f} s after picture"
    if onset.uncertainty_s is not None:
        return f"{words} ±{onset.uncertainty_s:.2f}"
    return f"{words}, set by {onset.by}" if onset.by else words


def marker_line(
    at_s: float, words: str, window: Span, width: int, other: float | None = None
) -> Content:
    """Return a marker at its place, with as many words beside it as there is room for.

    >>> onset = "onset 0.50 s after picture ±0.05"
    >>> marker_line(0.5, onset, (0.0, 1.0), 40).plain
    '                    ┃ onset 0.50 s ±0.05'
    >>> marker_line(0.9, "onset at 0.90 s", (0.0, 1.0), 40).plain
    '                    onset at 0.90 s ┃'
    """
    at = column_of(at_s, window, width)
    mark = ("┃" if inside(at_s, window) else " ", f"bold {ACCENT}")
    shorter = words.replace(" after picture", "")
    line = Content.assemble(" " * at, mark)
    for text in (words, shorter, shorter.partition(" ±")[0].partition(",")[0]):
        if at + 2 + len(text) <= width:
            line = Content.assemble(" " * at, mark, " ", (text, QUIET))
            break
        if len(text) + 1 <= at:
            line = Content.assemble(" " * (at - len(text) - 1), (text, QUIET), " ", mark)
            break
    if other is not None and inside(other, window):
        place = column_of(other, window, width)
        if not line.plain[place : place + 1].strip():
            padded = line.pad_right(max(place + 1 - line.cell_length, 0))
            sign = Content.styled("╹", ACCENT)
            line = Content.assemble(padded[:place], sign, padded[place + 1 :]).rstrip()
    return line


def attempts_line(attempts: Sequence[AttemptSpan], window: Span, width: int) -> str:
    """Return each attempt as a bracket with its number; square corners: marked by a person.

    >>> spans = [AttemptSpan(0.1, 0.45), AttemptSpan(0.6, 0.9, marked=True)]
    >>> attempts_line(spans, (0.0, 1.0), 20)
    '  ╰──1───╯  └──2──┘'
    """
    line = [" "] * width
    for number, attempt in enumerate(attempts, 1):
        if attempt.start_s > window[1] or attempt.end_s < window[0]:
            continue
        first = column_of(attempt.start_s, window, width)
        last = max(column_of(attempt.end_s, window, width), first)
        left, right = "└┘" if attempt.marked else "╰╯"
        line[first : last + 1] = "─" * (last - first + 1)
        line[first] = left
        if last > first:
            line[last] = right
        name = str(number)
        if last - first > len(name):
            at = (first + last + 1 - len(name)) // 2
            line[at : at + len(name)] = name
    return "".join(line).rstrip()


def phonemes_line(phonemes: Sequence[TimedPhoneme], window: Span, width: int, *, ipa: bool) -> str:
    """Return the phonemes of the transcript where they lie; ``…`` where there is no room for one.

    >>> said = [TimedPhoneme(0.1, 0.3, "D"), TimedPhoneme(0.3, 0.5, "AO")]
    >>> phonemes_line(said, (0.0, 1.0), 20, ipa=True), phonemes_line(said, (0.0, 1.0), 6, ipa=False)
    ('  d   ɔ', 'D…')
    """
    letters = [one.phoneme for one in phonemes]
    line = ""
    for one, name in zip(phonemes, ipa_letters(letters) if ipa else letters, strict=True):
        if not inside(one.start_s, window):
            continue
        at = column_of(one.start_s, window, width)
        fits = not line or len(line.rstrip("…")) < at
        if fits and at + len(name) <= width:
            line = line.ljust(at) + name
        elif not line.endswith("…") and len(line) < width:
            line += "…"
    return line


def steps_line(phonemes: Sequence[TimedPhoneme], window: Span, width: int, *, ipa: bool) -> str:
    """Return below each phoneme how it differs from the target; see :data:`SIGNS`.

    >>> said = [TimedPhoneme(0.1, 0.3, "D", (("SUB", "K"),)), TimedPhoneme(0.3, 0.5, "AO",
    ...         (("EQ", "AO"), ("DEL", "T")))]
    >>> steps_line(said, (0.0, 1.0), 20, ipa=True), steps_line(said, (0.0, 1.0), 4, ipa=True)
    ('  ~k  =-t', '~k')
    """
    line = ""
    for one in phonemes:
        refs = [ref for _, ref in one.steps]
        names = ipa_letters(refs) if ipa else refs
        text = "".join(
            SIGNS[op] if op in {"EQ", "INS"} else f"{SIGNS[op]}{name}"
            for (op, _), name in zip(one.steps, names, strict=True)
        )
        at = column_of(one.start_s, window, width)
        if text and inside(one.start_s, window) and len(line) <= at and at + len(text) <= width:
            line = line.ljust(at) + text
    return line


def axis_line(zero_s: float, window: Span, width: int) -> str:
    """Return the axis: a tick and a number of seconds at round distances from second 0.

    >>> axis_line(10.0, (10.0, 14.0), 40)
    '╵0 s      ╵1        ╵2        ╵3'
    >>> axis_line(10.0, (10.45, 10.8), 40)
    '     ╵0.5 s      ╵0.6       ╵0.7'
    """
    length = max(window[1] - window[0], 1e-9)
    step = next((step for step in STEPS_S if step / length * width >= TICK_COLUMNS), STEPS_S[-1])
    decimals = 0 if step >= 1 else 1 if step >= 0.1 else 2
    line, unit = "", " s"
    tick = ceil(round((window[0] - zero_s) / step, 6))
    while (at_s := zero_s + tick * step) <= window[1]:
        at = column_of(at_s, window, width)
        label = f"╵{tick * step + 0.0:.{decimals}f}{unit}"
        if len(line) <= at and at + len(label) <= width:
            line, unit = line.ljust(at) + label, ""
        tick += 1
    return line


STEP_S = 0.01
STRIDE_S = 0.05
SETTLED_S = 0.8
"""So long after the last step a moved mark is kept: many steps are one correction."""
EDGE_S = 0.1
"""So much before and after a response is drawn at first; zooming out shows more."""
LEAST_S = 0.2
"""The shortest stretch to which the waveform is zoomed."""
FRAME_S = 1 / 15
"""So often the second that is played is drawn."""
NEAR = 1
"""So many columns beside a mark still take it."""
SAME_S = 0.0015
"""Seconds are kept in thousandths; so much apart they are the same."""
UNSAVED_S = 3.0
"""So long a mark stays where it was moved to without being saved there."""
Handle = Literal["onset", "start", "end"]
ALL: tuple[Handle, ...] = ("onset", "start", "end")
WORDS = {"start": "the response begins", "end": "the response ends"}
TOOLTIP = """\
┃ onset   [ ] limits of the response   ┊ time limit
c1 cue   r asked again   x── examiner speaks
╰─1─╯ attempt, proposed   └─1─┘ attempt, marked
= as the target   ~æ in place of æ   + inserted   -t left out
drag a mark to move it; the wheel zooms"""


class Waveform(WidthAwareWidget, can_focus=True):
    """A response over time, as high as the widget; a mark is moved by keys or by the mouse."""

    DEFAULT_CSS = "Waveform { height: 6; width: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", f"move({-STEP_S})", "Earlier", show=False),
        Binding("right", f"move({STEP_S})", "Later", show=False),
        Binding("shift+left", f"move({-STRIDE_S})", "Earlier", show=False),
        Binding("shift+right", f"move({STRIDE_S})", "Later", show=False),
        Binding("o", "other_mark", "Other mark", show=False),
        Binding("plus,equals_sign", "zoom(0.5)", "Zoom in", show=False),
        Binding("minus", "zoom(2)", "Zoom out", show=False),
        Binding("ctrl+left", "pan(-0.25)", "Earlier part", show=False),
        Binding("ctrl+right", "pan(0.25)", "Later part", show=False),
    ]
    HELP = """\
# Waveform

How loud the response is over time. Second 0 is the picture. **┃** is where speech begins; **[** and
**]** are the limits of the response; **┊** the time limit; **c1** a cue; **r** the question asked
again; **x──** the examiner. Brackets below are attempts: round ones are proposed at pauses, square
ones were marked (**m**). Below the phonemes that were said: **=** as in the target, **~æ** in place
of æ, **+** inserted, **-t** before it t was left out.

- **left**, **right** move the onset by 10 ms, with **shift** by 50 ms; **o** changes to the
  beginning and to the end of the response, and back. A move is kept a moment after the last step,
  and **u** takes it back. A mark can be dragged with the mouse too
- **+** and **-** zoom, **ctrl+left** and **ctrl+right** show another part; the wheel zooms too
"""

    class OnsetMoved(Message):
        """A person has put the onset at this second of the recording."""

        def __init__(self, at_s: float) -> None:
            self.at_s = at_s
            super().__init__()

    class LimitsMoved(Message):
        """A person has set from where to where in the recording the response lies."""

        def __init__(self, start_s: float, end_s: float) -> None:
            self.start_s, self.end_s = start_s, end_s
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.tooltip = TOOLTIP
        self.ipa = True
        """Whether phonemes are shown in IPA; else in ARPAbet."""
        self._sound: Sound | None = None
        self._stretch: Span | None = None
        self._handle: Handle = "onset"
        self._moved: dict[Handle, float] = {}
        self._sent: dict[Handle, float] = {}
        """Where marks were moved to that are being saved."""
        self._settling: Timer | None = None
        self._dragging = False
        self._playing: Callable[[], float | None] | None = None
        self._played_s: float | None = None
        self._following: Timer | None = None

    # ---------------------------------------------------------------- what is shown

    @property
    def sound(self) -> Sound | None:
        """The response that is shown."""
        return self._sound

    def show(self, sound: Sound | None) -> None:
        """Show a response; a mark that is being moved stays until it is kept."""
        before = self._sound
        if sound == before:
            return
        if before is None or sound is None or before.response != sound.response:
            self._drop_move()
            self._sent.clear()
            self._stretch, self._handle = _near_limits(sound), "onset"
        else:
            self._take_saved(before, sound)
        self._sound = sound
        self.refresh()

    def _take_saved(self, before: Sound, sound: Sound) -> None:
        """Forget what is saved now; further moves stay, unless somebody else moved that mark."""
        for handle in ALL:
            is_at, sent = _stored(sound, handle), self._sent.get(handle)
            if is_at == _stored(before, handle):
                continue
            self._sent.pop(handle, None)
            if sent is None or is_at is None or abs(is_at - sent) > SAME_S:
                self._moved.pop(handle, None)

    def follow(self, position: Callable[[], float | None]) -> None:
        """Show the second that is played, until there is none any more."""
        self._playing = position
        if self._following is None:
            self._following = self.set_interval(FRAME_S, self._follow)

    def _follow(self) -> None:
        position = self._playing() if self._playing is not None else None
        if position is None and self._following is not None:
            self._following.stop()
            self._following = self._playing = None
        if position != self._played_s:
            self._played_s = position
            self.refresh()

    @property
    def stretch(self) -> Span:
        """The stretch that is drawn."""
        if self._sound is None:
            return 0.0, 1.0
        return self._stretch or self._sound.window

    # ---------------------------------------------------------------- zoom

    def action_zoom(self, factor: float) -> None:
        """Draw a stretch that is so many times as long, around the mark that can be moved."""
        at = self._place(self._handle)
        self._zoom(factor, sum(self.stretch) / 2 if at is None else at)

    def _zoom(self, factor: float, around_s: float) -> None:
        if self._sound is None:
            return
        low, high = self.stretch
        length = max((high - low) * factor, LEAST_S)
        around = min(max(around_s, low), high)
        share = (around - low) / max(high - low, 1e-9)
        self._show_part(around - share * length, length)

    def action_pan(self, share: float) -> None:
        """Draw a stretch that lies so many of its lengths later."""
        low, high = self.stretch
        self._show_part(low + share * (high - low), high - low)

    def _show_part(self, start_s: float, length_s: float) -> None:
        if self._sound is None:
            return
        low, high = self._sound.window
        if length_s >= high - low:
            self._stretch = None
        else:
            start = min(max(start_s, low), high - length_s)
            self._stretch = start, start + length_s
        self.refresh()

    # ---------------------------------------------------------------- marks that move

    @property
    def handles(self) -> tuple[Handle, ...]:
        """The marks that can be moved now."""
        if self._sound is None or self._sound.limits is None:
            return ()
        return ALL

    def action_other_mark(self) -> None:
        """Move another mark from now on: the onset, the beginning, the end of the response."""
        if self.handles:
            self.keep()
            self._handle = self.handles[(self.handles.index(self._handle) + 1) % 3]
            self._into_view()

    def action_move(self, step_s: float) -> None:
        """Move the chosen mark; an onset stays within the response."""
        at = self._place(self._handle)
        if at is None and self._handle == "onset":
            at = self._place("start")  # no onset was found: a person sets it
        if at is not None and self.handles:
            self._put(at + step_s)
            self._settle()

    def _settle(self) -> None:
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(SETTLED_S, self.keep)

    def _put(self, at_s: float) -> None:
        sound = self._sound
        if sound is None or sound.limits is None:
            return
        envelope, (start, end) = sound.envelope, self._limits(sound.limits)
        low, high = {
            "onset": (start, end),
            "start": (envelope.start_s, end - STEP_S),
            "end": (start + STEP_S, envelope.end_s),
        }[self._handle]
        self._moved[self._handle] = round(max(low, min(high, at_s)), 3)
        self._into_view()

    def _into_view(self) -> None:
        at, (low, high) = self._place(self._handle), self.stretch
        if at is not None and not low <= at <= high:
            self._show_part(at - (high - low) / 2, high - low)
        self.refresh()

    def keep(self) -> None:
        """Keep the mark where it is now, if it was moved."""
        moved, sound = dict(self._moved), self._sound
        self._drop_move()
        if sound is None or sound.limits is None:
            return
        changed = {handle: at for handle, at in moved.items() if at != self._place(handle)}
        if not changed:
            return
        self._sent |= changed
        self.set_timer(UNSAVED_S, partial(self._give_up, changed))
        if "onset" in changed:
            self.post_message(self.OnsetMoved(changed["onset"]))
        if "start" in changed or "end" in changed:
            self.post_message(self.LimitsMoved(*self._limits(sound.limits)))

    def _give_up(self, changed: dict[Handle, float]) -> None:
        """Show marks where they are stored that could not be saved."""
        for handle, at_s in changed.items():
            if self._sent.get(handle) == at_s:
                del self._sent[handle]
                self.refresh()

    def _drop_move(self) -> None:
        if self._settling is not None:
            self._settling.stop()
            self._settling = None
        self._moved.clear()
        self.refresh()

    def _place(self, handle: Handle) -> float | None:
        """Where a mark is now, or None."""
        for places in (self._moved, self._sent):
            if handle in places:
                return places[handle]
        return None if self._sound is None else _stored(self._sound, handle)

    def _limits(self, limits: Span) -> Span:
        """Return the limits as they are moved now."""
        start, end = self._place("start"), self._place("end")
        return limits[0] if start is None else start, limits[1] if end is None else end

    # ---------------------------------------------------------------- mouse

    def on_mouse_down(self, event: MouseDown) -> None:
        """Take the mark at the pointer."""
        width = self.content_size.width
        for handle in self.handles:
            at = self._place(handle)
            if at is None or not inside(at, self.stretch):
                continue
            if abs(column_of(at, self.stretch, width) - event.x) <= NEAR:
                if handle != self._handle:
                    self.keep()
                self._handle, self._dragging = handle, True
                self.capture_mouse()
                self.refresh()
                event.stop()
                return

    def on_mouse_move(self, event: MouseMove) -> None:
        """Move the mark with the pointer."""
        if self._dragging:
            self._put(second_of(event.x, self.stretch, self.content_size.width))

    def on_mouse_up(self, event: MouseUp) -> None:
        """Keep the mark where the button is released."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()
            self.keep()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Zoom in at the pointer."""
        event.stop()
        self._zoom(0.8, second_of(event.x, self.stretch, self.content_size.width))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Zoom out."""
        event.stop()
        self._zoom(1.25, second_of(event.x, self.stretch, self.content_size.width))

    # ---------------------------------------------------------------- drawing

    def paint(self, width: int) -> Content:
        """Return marks, bars, marker, attempts, phonemes and axis, as many as there is room for."""
        height = max(self.content_size.height, 1)
        sound = self._shown()
        if sound is None or width < 1:
            return Content.styled("\n" * (height - 1) + BARS[0] * max(width, 1), QUIET)
        view = self.stretch
        marks = marks_line(sound, view, width)
        attempts = attempts_line(sound.attempts, view, width)
        said = phonemes_line(sound.phonemes, view, width, ipa=self.ipa)
        steps = steps_line(sound.phonemes, view, width, ipa=self.ipa)
        below = [
            (0, self._marker(sound, view, width)),
            (4 if len(sound.attempts) == 1 else 2, Content.styled(attempts, QUIET)),
            (3, Content.styled(said, "bold")),
            (6, Content.styled(steps, ACCENT)),
            (1, Content.styled(axis_line(sound.zero_s, view, width), QUIET)),
        ]
        above = [(5, marks)]
        # Lines give way where there is no room, those that are needed least first.
        ranked = sorted(rank for rank, line in (*above, *below) if line.plain or rank < 2)
        kept = set(ranked[: max(height - (1 if height < 8 else 2), 0)])
        top = [line for rank, line in above if rank in kept]
        bottom = [line for rank, line in below if rank in kept]
        rows = max(height - len(top) - len(bottom), 1)
        bars = bar_rows(sound, view, width, rows, self._played_s)
        return Content("\n").join([*top, bars, *bottom])

    def _marker(self, sound: Sound, view: Span, width: int) -> Content:
        onset = sound.onset
        if self._handle != "onset" and sound.limits is not None:
            at = self._limits(sound.limits)[self._handle == "end"]
            words = f"{WORDS[self._handle]} at {at - sound.zero_s:.2f} s"
            return marker_line(at, words, view, width, onset.at_s if onset else None)
        if onset is None:
            found = "no onset was found" if sound.limits else ""
            return Content.styled(found, QUIET)
        return marker_line(onset.at_s, onset_words(onset), view, width)

    def _shown(self) -> Sound | None:
        """The response with the marks where they are moved to."""
        sound = self._sound
        if sound is None or not (self._moved or self._sent):
            return sound
        if (at := {**self._sent, **self._moved}.get("onset")) is not None:
            latency = None if sound.picture_s is None else at - sound.picture_s
            sound = replace(sound, onset=OnsetMark(at, latency, None, "you"))
        if sound.limits is not None:
            sound = replace(sound, limits=self._limits(sound.limits))
        return sound


def _stored(sound: Sound, handle: Handle) -> float | None:
    """Return where a mark of a response is stored, or None."""
    if handle == "onset":
        return None if sound.onset is None else sound.onset.at_s
    return None if sound.limits is None else sound.limits[handle == "end"]


def _near_limits(sound: Sound | None) -> Span | None:
    """Return a response with a little before and after it; None while it is being given."""
    if sound is None or sound.limits is None:
        return None
    low, high = sound.window
    return max(sound.limits[0] - EDGE_S, low), min(sound.limits[1] + EDGE_S, high)
