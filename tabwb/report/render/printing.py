"""How every table of results looks in the terminal, and how it is printed."""

from __future__ import annotations

import sys

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.table import Table

from tabwb.records.visible import unfiltered, visible

MINIMUM_WIDTH = 70
"""Columns of characters that the table of subtests needs."""


def table(*headings: str, first: str = "", fold: bool = False, title: str = "") -> Table:
    """A table with one wide column of words and narrow ones of figures.

    Args:
        headings: of the columns of figures.
        first: heading of the column of words before them.
        fold: break words that are too long anywhere, such as specs.
        title: above the table, or empty.
    """
    made = Table(
        box=SIMPLE_HEAD,
        expand=True,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title=title or None,
        title_justify="left",
        title_style="bold",
    )
    made.add_column(first, ratio=1, overflow="fold" if fold else "ellipsis")
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    return made


def print_view(view: RenderableType) -> None:
    """Print on stdout; what is written there is text of others, no markup of ours."""
    # A spec is no markup: "tab-2026:gemini:x" would be printed with the sign of the zodiac.
    console = Console(highlight=False, markup=False, emoji=False, file=unfiltered(sys.stdout))
    # On a narrower terminal lines wrap, which is ugly; narrower columns would cut figures off.
    console.width = max(console.width, MINIMUM_WIDTH)
    for line in console.render_lines(view, pad=False):
        # Rich passes escape sequences in the text on to the terminal.
        shown = [Segment(visible(segment.text), segment.style) for segment in line]
        console.print(Segments([*shown, Segment.line()]), end="", no_wrap=True, crop=False)
