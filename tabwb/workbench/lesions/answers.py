"""Intact and lesioned answers side by side, with the words that differ marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.records.states import ResponseStatus
from tabwb.workbench.lesions.laboratory import Answer, Pair
from tabwb.workbench.shell.wording import (
    ACCENT,
    AMBER,
    LEAST,
    LESIONED,
    QUIET,
    Piece,
    folded,
    side_by_side,
    spread,
    styled,
    word_difference,
)

BESIDE_FROM = 60
"""From so many columns the two answers are side by side."""
MOST = 72
"""Columns of one answer at most."""
_VERDICTS = {True: ("✓", ACCENT), False: ("✗", AMBER), None: ("-", QUIET)}
NOTE = "underlined words are not in the other answer"


def lines_of(pairs: Sequence[Pair], width: int) -> Iterator[Content]:
    """Yield the answers to items, one below the other."""
    if len(pairs) > 1:
        parts = summary(pairs)
        whole = Content("   ").join(parts)
        one_line = whole.cell_length <= width
        yield from [whole] if one_line else [parts[0], Content("   ").join(parts[1:])]
        yield Content("")
    for pair in pairs:
        yield from _item(pair, width)
        yield Content("")


def summary(pairs: Sequence[Pair]) -> list[Content]:
    """Return how many items were answered differently, and how many are right on each side."""
    both = [pair for pair in pairs if pair.intact is not None and pair.lesioned is not None]
    parts = []
    if both:
        unlike = sum(_text(pair.intact) != _text(pair.lesioned) for pair in both)
        parts.append(f"{unlike} of {len(both)} items answered differently")
    for name, answers in (
        ("intact", [pair.intact for pair in pairs]),
        ("lesioned", [pair.lesioned for pair in pairs]),
    ):
        first = [one.verdicts[0] for one in answers if one is not None and one.verdicts]
        if first:
            right = sum(verdict.right is True for verdict in first)
            parts.append(f"{name} {right} of {len(first)} {first[0].measure}")
    return [Content.styled(part, "bold") for part in parts]


def _item(pair: Pair, width: int) -> Iterator[Content]:
    place = f"{pair.title}  {pair.plan.item}"
    right = f"expected {pair.expected}" if pair.expected else ""
    yield spread(Content.styled(place, f"bold {ACCENT}"), Content.styled(right, QUIET), width)
    yield from folded(pair.plan.prompt.strip(), min(width, 2 * MOST), QUIET)
    width = max(width, LEAST)  # a hidden pane has no columns
    column = min((width - 3) // 2, MOST)
    beside = width >= BESIDE_FROM and bool(pair.lesion)
    room = column if beside else min(width, MOST)
    intact, lesioned = _sides(pair)
    left = _answer("intact", "", pair.intact, intact, room)
    if not pair.lesion:
        yield from left
        return
    right_side = _answer(f"{LESIONED} lesioned", pair.lesion, pair.lesioned, lesioned, room)
    if not beside:
        yield from (*left, *right_side)
    else:
        yield from side_by_side(left, right_side, room)
    if pair.intact is not None and pair.lesioned is not None:
        difference = word_difference(pair.intact.text, pair.lesioned.text)
        words = difference.words.replace("the first", "intact").replace("the second", "lesioned")
        yield from folded(words, width, QUIET)


def _sides(pair: Pair) -> tuple[Sequence[Piece], Sequence[Piece]]:
    first, second = _text(pair.intact), _text(pair.lesioned)
    if pair.intact is None or pair.lesioned is None:  # nothing is marked before both are there
        return [Piece(first, False)], [Piece(second, False)]
    found = word_difference(first, second)
    return found.first, found.second


def _text(answer: Answer | None) -> str:
    return "" if answer is None else answer.text


def _answer(
    name: str, lesion: str, answer: Answer | None, pieces: Sequence[Piece], width: int
) -> list[Content]:
    """Return the lines of one answer: whose it is, verdicts, the text."""
    awaited = Content.styled("…" if answer is None else "", QUIET)
    head = spread(Content.styled(name, f"bold {AMBER}" if lesion else "bold"), awaited, width)
    lines = [head, *styled(pieces, width)]
    if answer is not None:
        notes = [] if answer.status is ResponseStatus.OK else [answer.status.value]
        notes += ["cut at the token limit"] if answer.cut else []
        if notes:
            lines.append(Content.styled(f"[{', '.join(notes)}]", QUIET))
        if answer.verdicts:
            lines.append(Content("  ").join(
                Content.assemble((f"{verdict.measure} ", QUIET), _VERDICTS[verdict.right])
                for verdict in answer.verdicts
            ))  # fmt: skip
    return lines
