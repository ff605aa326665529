"""The lines of a waveform: bars, marks, marker, attempts, phonemes and the axis in seconds.

Every function takes the window, the stretch that is drawn, and its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import ceil

from textual.content import Content

from tabwb.phonology.inventory import ipa_letters
from tabwb.workbench.shell.envelopes import LEAST_DBFS, Envelope, bars
from tabwb.workbench.shell.rule_verdicts import SIGNS
from tabwb.workbench.shell.sound import AttemptSpan, OnsetMark, Sound, Span, TimedPhoneme
from tabwb.workbench.shell.wording import ACCENT, AMBER, LINE, QUIET

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
