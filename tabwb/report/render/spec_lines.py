"""Specs and other long names without spaces, broken at sensible places for narrow columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

INDENT = 2
"""Spaces before the further lines of one text in a cell."""
_BREAKS = re.compile(r"(?<=[ :,/])(?![ /])|(?=[@+])")
"""After a space, colon, comma or slash; before @ and +."""


def spec_lines(words: str, width: int, indent: int = 0) -> Iterator[str]:
    """Break words into lines, between the parts of a spec; only a part too long is cut.

    Args:
        words: a spec, or a sentence with specs.
        width: columns of characters, more than ``indent``.
        indent: spaces before the second line and those after it.

    >>> for line in spec_lines("openai:llama3.2:1b@base_url=http://localhost:11434/v1", 30, 2):
    ...     print(line)
    openai:llama3.2:1b
      @base_url=http://localhost:
      11434/v1
    >>> list(spec_lines("abcdefgh", 5))
    ['abcde', 'fgh']
    """
    line = ""
    for part in _BREAKS.split(words):
        if line and len(line) + len(part.rstrip()) > width:
            yield line.rstrip()
            line = " " * indent
        line += part
        while len(line.rstrip()) > width:
            yield line[:width]
            line = " " * indent + line[width:]
    if line.strip():
        yield line.rstrip()


@dataclass(frozen=True, slots=True)
class SpecCell:
    """A cell of a table: each text begins a line and is broken by :func:`spec_lines`.

    Attributes:
        texts: the words and the style of each.
    """

    texts: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, specs: Iterable[str]) -> SpecCell:
        """Specs, one below the other."""
        return cls(tuple((spec, "") for spec in specs))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines that fit the column."""
        for words, style in self.texts:
            for line in spec_lines(words, options.max_width, INDENT):
                yield Text(line, style=style, no_wrap=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the longest part and the longest text."""
        parts = [len(part) + INDENT for words, _ in self.texts for part in _BREAKS.split(words)]
        widest = max((len(words) for words, _ in self.texts), default=0)
        return Measurement(max(parts, default=0), widest).with_maximum(options.max_width)
