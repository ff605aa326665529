"""The size of texts as they are drawn, and lines that fit a width."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from tabwb.media.figures.style import LINE
from tabwb.records.words import common_start

_AFTER = re.compile(r"(?<=[\s:/@,_|+-])(?=\S)")
"""Where a long text may be broken: after a space, or inside a spec after its marks."""


@lru_cache(maxsize=8192)
def text_width(text: str, points: float) -> float:
    """Return the width of one line in inches, without hinting."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=points)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) / 72


def line_height(points: float) -> float:
    """Return the height of a line in inches."""
    return points * LINE / 72


def wrapped(text: str, points: float, width: float, most: int = 0) -> list[str]:
    """Return a text in lines that fit a width; a word too long for it is broken."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for part in _parts(paragraph, points, width):
            if line and text_width((line + part).rstrip(), points) > width:
                lines.append(line.rstrip())
                line = part.lstrip()
            else:
                line += part
        lines.append(line.rstrip())
    if not most or len(lines) <= most:
        return lines
    return _cut(text, points, width, most)


def shortened(text: str, points: float, width: float) -> str:
    """Return a text that fits one line; what does not fit is left out of its middle."""
    return wrapped(text, points, width, 1)[0]


def told_apart(
    texts: Sequence[str], points: float, width: float, most: int
) -> list[tuple[str, ...]]:
    """Return the lines of labels, no two alike where the texts are not.

    Labels that are cut keep what differs between those of one beginning, and lose more of what they
    share; where even that has no room they are numbered.
    """
    lines = {text: tuple(wrapped(text, points, width, most)) for text in texts}
    alike: dict[str, list[str]] = {}
    for text, cut in lines.items():
        if len(cut) == most and "…" in "".join(cut) and "…" not in text:
            alike.setdefault(text.partition(" (")[0], []).append(text)
    for several in alike.values():
        if len(several) > 1:
            lines |= _apart(several, points, width, most)
    if len(set(lines.values())) < len(lines):
        order = {text: f" [{n}]" for n, text in enumerate(lines, 1)}
        lines = {text: tuple(_headed(text, order[text], points, width, most)) for text in lines}
    return [lines[text] for text in texts]


def _apart(
    several: Sequence[str], points: float, width: float, most: int
) -> dict[str, tuple[str, ...]]:
    """Return lines of texts with as much of their common beginning as has room beside the rest."""
    start = common_start(several)
    while start and (several[0][start - 1].isalnum() or several[0][start - 1] in "._"):
        start -= 1  # differ in whole words
    rests = [text[start:] for text in several]
    end = common_start([rest[::-1] for rest in rests])
    while end and rests[0][len(rests[0]) - end].isalnum():
        end -= 1
    made = {}
    for text, rest in zip(several, rests, strict=True):
        middle = rest[: len(rest) - end] + ("…" if end > 1 else rest[len(rest) - end :])
        made[text] = tuple(_headed(text[:start], middle, points, width, most))
    return made


def _headed(head: str, rest: str, points: float, width: float, most: int) -> list[str]:
    """Return lines with the whole of a rest, and as much of the head as has room."""

    def lines(size: int) -> list[str]:
        cut = "…" if size < len(head) else ""
        return wrapped(head[:size] + cut + rest, points, width)

    if len(lines(len(head))) <= most:
        return lines(len(head))
    if len(lines(0)) > most:
        return wrapped(rest, points, width, most)
    fits, too_long = 0, len(head)
    while too_long - fits > 1:
        size = (fits + too_long) // 2
        fits, too_long = (size, too_long) if len(lines(size)) <= most else (fits, size)
    return lines(fits)


def _parts(paragraph: str, points: float, width: float) -> list[str]:
    parts: list[str] = []
    for part in _AFTER.split(paragraph):
        rest = part
        while len(rest) > 1 and text_width(rest.rstrip(), points) > width:
            size = len(rest) - 1
            while size > 1 and text_width(rest[:size], points) > width:
                size -= 1
            parts.append(rest[:size])
            rest = rest[size:]
        parts.append(rest)
    return parts


def _cut(text: str, points: float, width: float, most: int) -> list[str]:
    def lines(kept: int) -> list[str]:
        head = (kept + 1) // 2
        return wrapped(f"{text[:head]}…{text[len(text) - kept + head :]}", points, width)

    fits, too_long = 1, len(text) - 1
    while too_long - fits > 1:
        kept = (fits + too_long) // 2
        fits, too_long = (kept, too_long) if len(lines(kept)) <= most else (fits, kept)
    return lines(fits) if len(lines(fits)) <= most else ["…"]
