"""Marks of trials: one glyph for each state, the same in all widgets."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from tabwb.workbench.engine.view_models import SubtestScore
from tabwb.workbench.shell.drawn import bar
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET

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
