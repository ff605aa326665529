"""Two models side by side as lines: differences with drawn intervals, the answers to one item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.analysis.measures import BURDEN
from tabwb.analysis.paired import Contrast, Tested
from tabwb.media.views.contrasts import Named, means, notes, tests
from tabwb.media.wording import figure
from tabwb.workbench.shell.drawn import interval_bar
from tabwb.workbench.shell.word_difference import Piece, side_by_side, styled, word_difference
from tabwb.workbench.shell.wording import ACCENT, LINE, QUIET, folded, spread

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Compared, SideBySide

WIDE = 100
"""From so many columns on a measure and its test are in one line."""
FIGURES = (7, 7, 8)
"""Columns of A, B and A - B."""
TESTS = (19, 8, 8)
"""Columns of the interval, p and corrected p."""
AXIS = (20, 48)
"""The least and the most columns of a drawn interval in a wide window."""
BESIDE = 60
"""From so many columns on the two answers are side by side."""
MOST_COLUMNS = 72
"""The most columns of one answer."""
MOST_ANSWERS = 5
"""So many different responses of each side to one item are shown."""


def difference_lines(found: Compared, compared: Sequence[Named], width: int) -> Iterator[Content]:
    """Yield each measure with its difference, the drawn interval and the test; then notes."""
    rows = [row for _, row in compared if row is not None]
    burdens = [row for row in rows if row.measure is BURDEN]
    ends = [
        abs(end)
        for row in burdens
        for end in (row.difference, *row.like.ends, *row.these.ends)
        if end
    ]
    most = max(ends, default=1.0)
    room = width - sum(FIGURES) - sum(TESTS) - 2
    longest = max((len(name) for name, _ in compared), default=0)
    axis = min(max(room - longest, AXIS[0]), AXIS[1])
    wide = width >= WIDE
    name = room - axis
    if wide and compared:
        heads = _right(("A", "B", "A - B"), FIGURES)
        scale = f"{'A lower':<{axis // 2}}{'A higher':>{axis - axis // 2}}"
        said = _right(("95 %", "p", "corr."), TESTS)
        yield Content.styled(f"{'measure':<{name}}{heads}  {scale}{said}", QUIET)
    for title, row in compared:
        if row is None:
            yield from folded(title, width, QUIET)
        elif wide:
            yield from _wide(title, row, most, name, axis)
        else:
            yield from _narrow(title, row, most, width)
    reasons = {tests(row.these)[0] for row in rows if row.these.ends[0] is None} - {""}
    if compared:
        yield Content("")
        told = ["│ no difference; intervals are for prompts like these unless said otherwise"]
        if burdens:
            told.append(f"axis of burdens from {-most:.2f} to +{most:.2f}, of shares from -1 to +1")
        told += [f"these prompts: {reason}" for reason in sorted(reasons)]
        for note in (*told, *notes(found)):
            yield from folded(note, min(width, 100), QUIET)


def _right(words: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f"{word:>{width}}" for word, width in zip(words, widths, strict=True))


def _narrow(title: str, row: Contrast, most: float, width: int) -> Iterator[Content]:
    yield from folded(title, width)
    figures = _right(means(row), FIGURES)
    drawn = _bar(row, row.like, most, width - len(figures) - 2)
    yield Content.assemble((figures, "bold"), "  ", drawn)
    for tested in (row.like, row.these):
        if tested is row.like or tested.ends[0] is not None:
            interval, p, adjusted = tests(tested)
            what = "95 %" if tested is row.like else tested.interval.estimand.value
            told = [f"p {p}"] * bool(p) + [f"corrected {adjusted}"] * bool(adjusted)
            yield from folded(f"{what} {', '.join((interval, *told))}", width, QUIET, 2)


def _wide(title: str, row: Contrast, most: float, name: int, axis: int) -> Iterator[Content]:
    yield Content.assemble(
        Content(title).truncate(name - 1, ellipsis=True).pad_right(0),
        " " * max(name - min(Content(title).cell_length, name - 1), 0),
        (_right(means(row), FIGURES), "bold"),
        "  ",
        _bar(row, row.like, most, axis),
        _right(tests(row.like), TESTS),
    )
    if row.these.ends[0] is not None:
        words = f"  {row.these.interval.estimand.value}"
        blank = " " * (name + sum(FIGURES) - len(words))
        told = (_right(tests(row.these), TESTS), QUIET)
        drawn = _bar(row, row.these, most, axis)
        yield Content.assemble((words + blank, QUIET), "  ", drawn, told)


def _bar(row: Contrast, tested: Tested, most: float, width: int) -> Content:
    """Return a difference with its interval around 0, which has its own stroke."""
    end = most if row.measure is BURDEN else 1.0
    low, high = tested.ends
    value = row.difference
    drawn = interval_bar(low, value, high, width=width, lowest=-end, highest=end)
    zero = round((width - 1) / 2)
    sign = {" ": ("│", LINE), "─": ("┼", ACCENT)}.get(drawn.plain[zero])
    return Content.assemble(drawn[:zero], sign, drawn[zero + 1 :]) if sign else drawn


def mark_of(responses: Sequence[str], right: float | None) -> str:
    """Return the sign of a side's responses to an item: the share right of several.

    >>> mark_of(["boat"], 1.0), mark_of(["boat"], None), mark_of(["a", "b"], 0.5), mark_of([], None)
    ('✓', '●', '0.50', '·')
    """
    if not responses:
        return "·"
    return {None: "●", 1.0: "✓", 0.0: "✗"}.get(right, figure(right))


def answer_lines(item: SideBySide, width: int) -> Iterator[Content]:
    """Yield an item with the responses of both sides, words underlined that the other one lacks."""
    yield from folded(item.prompt.replace("\n", " "), min(width, 100), QUIET)
    if item.expected:
        yield from folded(f"expected: {item.expected}", width, QUIET)
    room = min((width - 3) // 2, MOST_COLUMNS)
    beside = width >= BESIDE
    for at in range(min(max(len(item.first), len(item.second)), MOST_ANSWERS) or 1):
        yield Content("")
        texts = [side[at] if at < len(side) else None for side in (item.first, item.second)]
        pieces: list[tuple[Piece, ...]] = [(Piece(text or "", False),) for text in texts]
        told = ""
        if texts[0] is not None and texts[1] is not None:
            found = word_difference(texts[0], texts[1])
            pieces = [found.first, found.second]
            told = found.words.replace("the first", "A").replace("the second", "B")
        column = room if beside else min(width, MOST_COLUMNS)
        first = _side("A", item, texts[0], pieces[0], column)
        second = _side("B", item, texts[1], pieces[1], column)
        yield from side_by_side(first, second, room) if beside else (*first, *second)
        yield from folded(told, width, QUIET)
    for name, side in (("A", item.first), ("B", item.second)):
        if len(side) > MOST_ANSWERS:
            yield Content.styled(f"{name}: {len(side) - MOST_ANSWERS} other responses", QUIET)


def _side(
    name: str, item: SideBySide, text: str | None, pieces: Sequence[Piece], width: int
) -> list[Content]:
    given, right = (
        (item.first, item.first_right) if name == "A" else (item.second, item.second_right)
    )
    mark = Content(mark_of(given, right))
    head = spread(Content.styled(name, f"bold {ACCENT}"), mark, width)
    if text is None:
        return [head, Content.styled("not answered" if not given else "-", QUIET)]
    return [head, *(styled(pieces, width) if text else [Content.styled("(nothing)", QUIET)])]
