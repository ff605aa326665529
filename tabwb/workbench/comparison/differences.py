"""Two models side by side as lines: differences with drawn intervals, the answers to one item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from tabwb.analysis.measures import BURDEN
from tabwb.analysis.paired import Contrast, Tested
from tabwb.media.views.contrasts import Named, means, notes, tests
from tabwb.media.wording import figure
from tabwb.workbench.shell.columns import Column, Heading, laid
from tabwb.workbench.shell.drawn import interval_bar
from tabwb.workbench.shell.wording import (
    ACCENT,
    LINE,
    QUIET,
    Piece,
    folded,
    side_by_side,
    spread,
    styled,
    word_difference,
)

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Compared, SideBySide

WIDE = 100
"""From so many columns on a measure and its test are in one line."""
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
    if width >= WIDE and compared:
        yield from laid(_columns(most), [*_rows(compared, width)], width)
    else:
        for title, row in compared:
            if row is None:
                yield from folded(title, width, QUIET)
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


class _Row(NamedTuple):
    """A line of the table: one test of a measure."""

    title: str
    row: Contrast
    tested: Tested

    @property
    def again(self) -> bool:
        """Whether the line above has the same measure, for prompts like these."""
        return self.tested is not self.row.like


def _rows(compared: Sequence[Named], width: int) -> Iterator[_Row | Heading]:
    for title, row in compared:
        if row is None:
            yield from map(Heading, folded(title, width, QUIET))
            continue
        yield _Row(title, row, row.like)
        if row.these.ends[0] is not None:
            yield _Row(f"  {row.these.interval.estimand.value}", row, row.these)


def _columns(most: float) -> Iterator[Column[_Row]]:
    """Yield the columns of a wide table; the axis of burdens ends at ``most``."""
    yield Column("measure", lambda one: _told(one, one.title), least=20)
    for at, head in enumerate(("A", "B", "A - B")):
        yield Column(head, partial(_mean, at), right=True, style="bold")
    yield Column(
        lambda width: spread(Content("A lower"), Content("A higher"), width).stylize(QUIET),
        lambda one, width: _bar(one.row, one.tested, most, width),
        grow=AXIS,
    )
    for at, head in enumerate(("95 %", "p", "corr.")):
        yield Column(head, partial(_test, at), right=True)


def _told(one: _Row, words: str) -> Content:
    return Content.styled(words, QUIET if one.again else "")


def _mean(at: int, one: _Row) -> str:
    return "" if one.again else means(one.row)[at]


def _test(at: int, one: _Row) -> Content:
    return _told(one, tests(one.tested)[at])


def _narrow(title: str, row: Contrast, most: float, width: int) -> Iterator[Content]:
    yield from folded(title, width)
    figures = "  ".join(f"{words:>6}" for words in means(row))
    drawn = _bar(row, row.like, most, width - len(figures) - 2)
    yield Content.assemble((figures, "bold"), "  ", drawn)
    for tested in (row.like, row.these):
        if tested is row.like or tested.ends[0] is not None:
            interval, p, adjusted = tests(tested)
            what = "95 %" if tested is row.like else tested.interval.estimand.value
            told = [f"p {p}"] * bool(p) + [f"corrected {adjusted}"] * bool(adjusted)
            yield from folded(f"{what} {', '.join((interval, *told))}", width, QUIET, 2)


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
