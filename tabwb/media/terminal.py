"""How every table of results looks in the terminal, and how it is printed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from tabwb.records.words import unfiltered, visible

SIDES = "A", "B"
"""Names of the two sides of a comparison."""
MINIMUM_WIDTH = 70
"""Columns of characters that the table of subtests needs."""


def empty_table() -> Table:
    """Return a table without columns."""
    return Table(box=SIMPLE_HEAD, expand=True, pad_edge=False, padding=(0, 1, 0, 0))


def table(
    *headings: str, first: str | Sequence[str] = "", fold: bool = False, title: str = ""
) -> Table:
    """Return a table with wide columns of words and narrow ones of figures."""
    made = empty_table()
    made.title, made.title_justify, made.title_style = title or None, "left", "bold"
    for words in (first,) if isinstance(first, str) else first:
        made.add_column(words, ratio=1, overflow="fold" if fold else "ellipsis")
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    return made


def sides_table() -> Table:
    """Return a table of items without rows, with a column for each side."""
    made = empty_table()
    made.add_column("item", no_wrap=True)
    for side in SIDES:
        made.add_column(side, ratio=1, overflow="fold")
    return made


@dataclass(frozen=True, slots=True)
class ForWidth:
    """A view that is made for the columns of characters that it gets."""

    make: Callable[[int], RenderableType]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.make(options.max_width)


class _Screen(Console):
    def on_broken_pipe(self) -> None:
        """Let the command end as others do whose reader has enough; rich's own exits with 1."""
        raise BrokenPipeError


def print_view(view: RenderableType) -> None:
    """Print on stdout; what is written there is text of others, no markup of ours."""
    # Markup and emoji are off: "tab-2026:gemini:x" would be printed with an emoji.
    console = _Screen(highlight=False, markup=False, emoji=False, file=unfiltered(sys.stdout))
    # On a narrower terminal lines wrap, which is ugly; narrower columns would cut figures off.
    console.width = max(console.width, MINIMUM_WIDTH)
    for line in console.render_lines(view, pad=False):
        # Rich passes escape sequences in the text on to the terminal.
        shown = [Segment(visible(segment.text), segment.style) for segment in line]
        console.print(Segments([*shown, Segment.line()]), end="", no_wrap=True, crop=False)


def plain_text(view: RenderableType, width: int) -> str:
    """Return a view as text of so many columns of characters, without colours."""
    console = Console(file=StringIO(), width=width, highlight=False, markup=False, emoji=False)
    lines = console.render_lines(view, pad=False)
    texts = ("".join(visible(segment.text) for segment in line).rstrip() for line in lines)
    return "\n".join(texts).rstrip()


INDENT = 2
"""Spaces before the further lines of one text in a cell."""
_WORDS = re.compile(r"(?<= )(?! )")
_PARTS = re.compile(r"(?<=[:,/])(?![ /])|(?=[@+])")
"""In a spec: after a colon, comma or slash; before @ and +."""


def spec_lines(words: str, width: int, indent: int = 0) -> Iterator[str]:
    """Yield words as lines, broken at spaces, and a long word between the parts of a spec.

    Only a long part is cut.

    >>> for line in spec_lines("openai:llama3.2:1b@base_url=http://localhost:11434/v1", 30, 2):
    ...     print(line)
    openai:llama3.2:1b
      @base_url=http://localhost:
      11434/v1
    >>> list(spec_lines("abcdefgh", 5)), list(spec_lines("rules-2 and tab-2026:b", 20))
    (['abcde', 'fgh'], ['rules-2 and', 'tab-2026:b'])
    """
    line = ""
    for part in _parts(words, width - indent):
        if line and cell_len(line) + cell_len(part.rstrip()) > width:
            yield line.rstrip()
            line = " " * indent
        line += part
        while cell_len(line.rstrip()) > width:
            first = chop_cells(line, max(width, indent + 2))[0]
            yield first
            line = " " * indent + line[len(first) :]
    if line.strip():
        yield line.rstrip()


def _parts(words: str, width: int) -> Iterator[str]:
    for word in _WORDS.split(words):
        yield from [word] if cell_len(word.rstrip()) <= width else _PARTS.split(word)


@dataclass(frozen=True, slots=True)
class SpecCell:
    """A cell of a table: each text, with its style, begins a line; see :func:`spec_lines`."""

    texts: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, specs: Iterable[str]) -> SpecCell:
        """Return a cell of specs, one below the other."""
        return cls(tuple((spec, "") for spec in specs))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for words, style in self.texts:
            for line in spec_lines(words, options.max_width, INDENT):
                yield Text(line, style=style, no_wrap=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        parts = [cell_len(part) + INDENT for words, _ in self.texts for part in _parts(words, 0)]
        widest = max((cell_len(words) for words, _ in self.texts), default=0)
        return Measurement(max(parts, default=0), widest).with_maximum(options.max_width)
