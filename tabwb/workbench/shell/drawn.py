"""Numbers drawn with characters (intervals, shares, series, shaded cells), and marks of trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, log10
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.records.columns import fixed
from tabwb.records.words import NONE
from tabwb.workbench.engine.view_models import SubtestScore
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET

if TYPE_CHECKING:
    pass


STEPS = "▁▂▃▄▅▆▇█"
"""Bars of one cell, from the smallest value to the largest."""
EIGHTHS = "▏▎▍▌▋▊▉█"
"""Parts of a cell, from one eighth to the whole."""
VALUE, FEW, BASELINE, BOTH = "●", "○", "◆", "◈"
"""Marks of an estimate, of one that rests on few responses, of a baseline, and of a baseline in the
cell of an estimate or of the end of its interval."""
TICKS = 5
"""Parts between the ticks of an axis, at most."""
DARKEST = 45
"""Most per cent of the accent in a shaded cell: text on it keeps a contrast of 4.5:1."""


def interval_bar(
    low: float | None,
    value: float | None,
    high: float | None,
    *,
    width: int,
    lowest: float = 0.0,
    highest: float = 1.0,
    baseline: float | Iterable[float] | None = None,
    few: bool = False,
) -> Content:
    """Return an estimate with its interval on an axis, ``├───●───┤``, and ``◆`` for a baseline.

    A baseline covers the line, and the estimate covers the ends; ``◈`` is the estimate or an end in
    the cell of a baseline.

    >>> interval_bar(0.1, 0.6, 0.9, width=11).plain, interval_bar(None, 1.0, None, width=5).plain
    (' ├────●──┤ ', '    ●')
    >>> interval_bar(0.0, 0.2, 0.4, width=11, baseline=0.5).plain
    '├─●─┤◆     '
    >>> interval_bar(0.0, 0.5, 1.0, width=5, baseline=(0.5, 1.0)).plain
    '├─◈─◈'
    >>> interval_bar(None, None, None, width=4).plain
    '    '
    """
    if width < 1:
        return Content("")
    span = highest - lowest

    def place(figure: float) -> int:
        share = (figure - lowest) / span if span > 0 else 0.0
        return round(min(max(share, 0.0), 1.0) * (width - 1))

    marks = [(" ", "")] * width
    if value is not None and low is not None and high is not None:
        first, last = place(low), place(high)
        marks[first : last + 1] = [("─", ACCENT)] * (last - first + 1)
        marks[first], marks[last] = ("├", ACCENT), ("┤", ACCENT)
    baselines = [baseline] if isinstance(baseline, int | float) else list(baseline or ())
    for at in map(place, baselines):
        on_end = marks[at][0] in ("├", "┤", BOTH)
        marks[at] = (BOTH, ACCENT) if on_end else (BASELINE, "$foreground")
    if value is not None:
        at = place(value)
        mark = BOTH if at in map(place, baselines) else FEW if few else VALUE
        marks[at] = (mark, f"bold {ACCENT}")
    return Content.assemble(*marks)


def scale(width: int, *, highest: float = 1.0) -> Content:
    """Return the head of a column of :func:`interval_bar`: 0 and the value at the right end.

    >>> scale(12).plain, scale(9, highest=2.5).plain
    ('0          1', '0    2.50')
    """
    right = f"{highest:g}" if highest == int(highest) else fixed(highest, 2)
    return Content.styled(f"0{right:>{max(width - 1, 1)}}", QUIET)


def round_ticks(low: float, high: float) -> list[float]:
    """Return round places within limits.

    >>> round_ticks(0.0, 1.0), round_ticks(3.2, 8.9)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [4.0, 6.0, 8.0])
    """
    rough = (high - low) / TICKS
    power = 10.0 ** floor(log10(rough))
    part = next(power * by for by in (1, 2, 2.5, 5, 10) if power * by >= rough * 0.999)
    first = -floor(-low / part + 1e-9)
    return [round(number * part, 12) for number in range(first, floor(high / part + 1e-9) + 1)]


def share_bar(value: float | None, width: int) -> Content:
    """Return a bar for a share from 0 to 1, exact to an eighth of a cell.

    A share above 0 has at least the thinnest part, so that it is never drawn as 0.

    >>> share_bar(0.5, 4).plain, share_bar(0.53, 4).plain, share_bar(0.001, 4).plain
    ('██  ', '██▏ ', '▏   ')
    >>> share_bar(0.0, 4).plain, share_bar(None, 4).plain
    ('    ', '-   ')
    """
    if value is None:
        return Content.styled(f"{NONE:<{width}}", QUIET)
    eighths = round(min(max(value, 0.0), 1.0) * width * 8) or int(value > 0)
    full, part = divmod(eighths, 8)
    words = "█" * full + (EIGHTHS[part - 1] if part else "")
    return Content.styled(f"{words:<{width}}", ACCENT)


def bar(share: float, width: int) -> Content:
    """Return a thin bar, exact to half a cell.

    >>> bar(0.5, 4).plain, bar(0.625, 4).plain, bar(0.0, 4).plain
    ('━━╌╌', '━━╸╌', '╌╌╌╌')
    """
    halves = round(max(0.0, min(1.0, share)) * width * 2)
    full, half = divmod(halves, 2)
    return Content.assemble(("━" * full + "╸" * half, ACCENT), ("╌" * (width - full - half), QUIET))


def spark(values: Sequence[float | None], width: int, *, highest: float) -> Content:
    """Return a small profile: a bar for each value, from 0 up.

    >>> spark([0.0, 0.5, None, 1.0], 8, highest=1.0).plain, spark([], 8, highest=1.0).plain
    ('▁▅ █', '')
    >>> spark([0.0, 1.0, 1.0, 1.0], 2, highest=1.0).plain, spark([0.5, 1.0], 8, highest=2.0).plain
    ('▅█', '▃▅')
    """
    columns = min(len(values), width)
    means: list[float | None] = []
    for column in range(columns):
        first, last = column * len(values) // columns, (column + 1) * len(values) // columns
        known = [value for value in values[first:last] if value is not None]
        means.append(sum(known) / len(known) if known else None)
    return Content.styled(
        "".join(" " if mean is None else step(mean / highest) for mean in means), ACCENT
    )


def step(share: float) -> str:
    """Return the bar of one cell for a share from 0 to 1.

    >>> step(0.0), step(0.5), step(1.0)
    ('▁', '▅', '█')
    """
    return STEPS[round(min(max(share, 0.0), 1.0) * (len(STEPS) - 1) + 1e-9)]


ZERO = "·"
"""A cell of 0: quiet, so that the others are seen."""


def heat(value: float | None, *, width: int = 4) -> Content:
    """Return a cell whose ground is darker in the accent the larger a share is.

    It has the number where that fits, otherwise a bar; both can be read without the shade.

    >>> heat(0.25).plain, heat(0.25, width=6).plain, heat(0.25, width=1).plain, heat(None).plain
    ('0.25', '0.25 ▃', '▃', ' -  ')
    >>> heat(0.0, width=5).plain
    '  ·  '
    """
    if not value:
        return Content.styled(f"{NONE if value is None else ZERO:^{width}}", QUIET)
    number, bar = fixed(value, 2), step(value)
    shown = next(
        (form for form in (f"{number} {bar}", number) if len(form) <= width), f"{bar:^{width}}"
    )
    return Content.styled(f"{shown:^{width}}", heat_style(value))


def heat_style(share: float) -> str:
    """Return the style of a cell for a share from 0 to 1: the page's text on a shade of the accent.

    >>> heat_style(0.0), heat_style(1.0)
    ('$foreground on $accent 4%', '$foreground on $accent 45%')
    """
    return f"$foreground on {ACCENT} {round(4 + (DARKEST - 4) * min(max(share, 0.0), 1.0))}%"


MARKS = {
    "right": "✓",
    "wrong": "✗",
    "given": "●",
    "open": "·",
    "error": "!",
    "skipped": "›",
    "void": "∅",
    "not-administered": "-",
}


def glyph_and_style(mark: str, *, hidden: bool = False, person: bool = False) -> tuple[str, str]:
    """Return the glyph of a trial's state, with its style.

    >>> glyph_and_style("wrong"), glyph_and_style("wrong", hidden=True)
    (('✗', '$foreground'), ('●', '$accent'))
    """
    if hidden and mark in {"right", "wrong"}:
        mark = "given"
    right = "$foreground" if person else ACCENT
    styles = {"right": right, "given": ACCENT, "wrong": "$foreground", "error": AMBER}
    return MARKS[mark], styles.get(mark, QUIET)


def marks(subtest: SubtestScore, *, hidden: bool = False, person: bool = False) -> Content:
    """Return one mark for each trial, or a bar for many trials."""
    if not subtest.marks:
        return bar(subtest.given / subtest.planned if subtest.planned else 0.0, 10)
    return Content(" ").join(
        Content.styled(*glyph_and_style(mark, hidden=hidden, person=person))
        for mark in subtest.marks
    )


def compact(subtests: Sequence[SubtestScore], burden: str, width: int, *, hidden: bool) -> Content:
    """Return the live scores in one line: ``word 2/3   sentence -   burden 1.60 over 7``.

    Where it is narrow the pieces move together; subtests that do not fit even so are left out from
    the far end, with ``…`` in their place. The current one never is.
    """

    def part(subtest: SubtestScore) -> Content:
        if hidden or subtest.right is None:
            words = f"{subtest.given} given" if subtest.given else "-"
        else:
            words = f"{subtest.right}/{subtest.scored}"
        return Content.assemble(
            (subtest.short, "$foreground" if subtest.current else QUIET), " ", (words, "bold")
        )

    tail = [] if hidden or not burden else [Content.styled(burden, ACCENT)]
    for gap in ("   ", "  "):
        line = Content(gap).join([*map(part, subtests), *tail])
        if line.cell_length <= width:
            return line
    chosen = list(subtests)
    tail.insert(0, Content.styled("…", QUIET))
    while len(chosen) > 1:
        chosen.remove(next(subtest for subtest in reversed(chosen) if not subtest.current))
        line = Content("  ").join([*map(part, chosen), *tail])
        if line.cell_length <= width:
            break
    return line.truncate(width, ellipsis=True)
